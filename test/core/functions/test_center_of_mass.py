"""The centre of mass of a robot, or of some of its links."""

from differences import check_jacobian
from judge import inverse, TreeJudge
import numpy as np
from oracles import drake, pink, pink_columns
import pytest

from ros2_ik.core import (
    CenterOfMass,
    Configuration,
    InvalidConstraintError,
    Robot,
    UnknownFrameError,
)


def links_of(robot):
    return TreeJudge(robot.urdf).links


def test_as_drake():
    """ComInPolyhedron of every body, the welded panda_link0 too, in a frame that moves."""
    rows = drake('ComInPolyhedronConstraint')
    assert len(rows) == 6
    for args, at, value, gradient in rows:
        f, J = CenterOfMass(links_of(at.robot), args['expressed_frame']).evaluate(at)
        np.testing.assert_allclose(args['A'] @ f, value, atol=1e-9)
        np.testing.assert_allclose(args['A'] @ J, gradient, atol=1e-9)
        inside = CenterOfMass(links_of(at.robot), args['expressed_frame'], A=args['A'])
        f, J = inside.evaluate(at)
        np.testing.assert_allclose(f, value, atol=1e-9)
        np.testing.assert_allclose(J, gradient, atol=1e-9)


@pytest.mark.parametrize('row', pink('ComTask'))
def test_as_pink(row):
    at = row['at']
    f, J = CenterOfMass().evaluate(at)
    np.testing.assert_allclose(f - row['target']['target_com'], row['error'], atol=1e-9)
    np.testing.assert_allclose(J[:, pink_columns(at.robot)], row['jacobian'], atol=1e-9)


@pytest.mark.parametrize('name, root', [('mimic_chain', 'fixed'), ('two_arms', 'freeflyer'),
                                        ('nested', 'fixed'), ('turntable', 'planar')])
def test_value(small, name, root):
    """By a judge that adds up the links, all of them and some."""
    robot = small(name, root)
    judge = TreeJudge(robot.urdf, root)
    at = Configuration(robot, robot.random_q(np.random.default_rng(4)))
    np.testing.assert_allclose(CenterOfMass().value(at), judge.center_of_mass(at.joints))
    np.testing.assert_allclose(CenterOfMass().value(at), at.center_of_mass(), atol=1e-14)
    some = judge.links[:1] + judge.links[2::2]     # the first may stand still
    places = [judge.masses[link][0] * judge.transform(at.joints, link)
              @ [*judge.masses[link][1], 1] for link in some]
    expected = sum(places) / sum(judge.masses[link][0] for link in some)
    np.testing.assert_allclose(CenterOfMass(some).value(at), expected[:3], atol=1e-12)
    seen = inverse(judge.transform(at.joints, judge.links[-1])) @ expected
    np.testing.assert_allclose(CenterOfMass(some, judge.links[-1], 'zx').value(at),
                               seen[[2, 0]], atol=1e-12)


def test_joints(small):
    """Of the arms that carry the links, and nothing below a frame it is relative to."""
    robot = small('two_arms', 'freeflyer')
    left = {f'left_{i}' for i in range(1, 7)}
    assert CenterOfMass(['left_hand']).joints(robot) == {'root_joint', 'torso', *left}
    assert CenterOfMass(['left_hand'], 'chest').joints(robot) == left
    assert CenterOfMass(['chest'], 'left_c').joints(robot) == {'left_1', 'left_2', 'left_3'}
    assert CenterOfMass().joints(robot) == set(robot.joint_names)


def test_links_that_stand_still(small):
    at = Configuration(small('scara'))
    value, J = CenterOfMass(['base']).evaluate(at)
    np.testing.assert_allclose(value, [0.01, 0.1, -0.01])
    assert J.shape == (3, 4) and not J.any()
    assert CenterOfMass(['base']).joints(at.robot) == set()
    assert CenterOfMass(['base'], 'tip').joints(at.robot) == set(at.robot.joint_names)
    check_jacobian(CenterOfMass(['base'], 'tip'), at.robot, at.q)
    value, J = CenterOfMass(['tip']).evaluate(Configuration(small('all_fixed')))
    assert J.shape == (3, 0) and value.shape == (3,)


def test_no_mass(small):
    with pytest.raises(InvalidConstraintError, match="no moving link of robot 'small' has a mass"):
        CenterOfMass().joints(small('all_fixed'))
    light = Robot.from_urdf('<robot name="r"><link name="a"/></robot>', root_joint='freeflyer')
    for links, words in ((None, 'no moving link'), (['a'], 'none of the links a of robot')):
        with pytest.raises(InvalidConstraintError, match=words):
            CenterOfMass(links).value(Configuration(light))


def test_bad_arguments(small):
    with pytest.raises(InvalidConstraintError, match='axes is'):
        CenterOfMass(axes='xx')
    for A in (np.eye(2), np.zeros((0, 3)), [[1, np.nan, 0]], 'A'):
        with pytest.raises(InvalidConstraintError, match='A must be'):
            CenterOfMass(A=A)
    with pytest.raises(InvalidConstraintError, match="axes is 'xy', but A takes all"):
        CenterOfMass(axes='xy', A=np.eye(3))
    for links in ('tip', [], [3], ['tip', 'tip']):
        with pytest.raises(InvalidConstraintError, match='links'):
            CenterOfMass(links)
    # wrist is a joint
    for arguments in ((['tipp'],), (['wrist'],), (None, 'tipp'), (None, ['tip'])):
        with pytest.raises(UnknownFrameError):
            CenterOfMass(*arguments).joints(small('scara'))


def test_names():
    assert CenterOfMass(axes='zx').labels == ('z [m]', 'x [m]')
    assert CenterOfMass(A=[[1, 0, 0], [0, 1, 0]]).labels == ('row 0 [m]', 'row 1 [m]')
    assert str(CenterOfMass(['a', 'b'])) == 'center_of_mass of a, b'
