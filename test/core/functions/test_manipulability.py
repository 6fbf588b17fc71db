"""How far a frame is from a singularity."""

from differences import check_jacobian
from judge import numeric_jacobian
import numpy as np
from oracles import pink
import pytest

from ros2_ik.core import (
    Configuration,
    InvalidConstraintError,
    Manipulability,
    Robot,
    UnknownFrameError,
)

ROWS = {'all': slice(0, 6), 'position': slice(0, 3), 'orientation': slice(3, 6),
        'xy': [0, 1], 'xz': [0, 2], 'yz': [1, 2]}


@pytest.mark.parametrize('row', pink('ManipulabilityTask'))
def test_as_pink(row):
    f, J = Manipulability(row['args']['frame']).evaluate(row['at'])
    np.testing.assert_allclose(f, [row['manipulability']], atol=1e-9)
    np.testing.assert_allclose(J, row['jacobian'], atol=1e-9)


@pytest.mark.parametrize('rows', ROWS)
@pytest.mark.parametrize('relative', [None, 'right_d'])
def test_value(small, rows, relative):
    """By a Jacobian of differences."""
    robot = small('two_arms')
    q = robot.random_q(np.random.default_rng(2))

    def pose_at(q):
        return Configuration(robot, q).transform('left_hand', relative)
    J = numeric_jacobian(robot, q, pose_at)[ROWS[rows]]
    value = Manipulability('left_hand', relative, rows).value(Configuration(robot, q))
    np.testing.assert_allclose(value, [np.sqrt(np.linalg.det(J @ J.T))], rtol=1e-6)


def test_two_links(small):
    """Yoshikawa's example: l1 l2 |sin q2|, here across the plane by a slide."""
    text = small('planar_2r').urdf.replace('<joint name="shoulder"', '''
        <link name="rail"/><joint name="rail" type="prismatic"><parent link="rail"/>
        <child link="base"/><axis xyz="0 0 2"/><limit lower="-1" upper="1" velocity="1"
        effort="1"/></joint><joint name="shoulder"''')
    robot = Robot.from_urdf(text)
    function = Manipulability('tip', rows='position')
    for angle in (0.3, np.pi / 2, -2):
        f, J = function.evaluate(Configuration(robot, {'shoulder': 0.7, 'elbow': angle}))
        np.testing.assert_allclose(f, [0.5 * 0.4 * abs(np.sin(angle))])
        expected = 0.5 * 0.4 * np.cos(angle) * np.sign(angle)
        np.testing.assert_allclose(J[0, robot.joint('elbow').velocity_index], expected,
                                   atol=1e-15)
        assert np.abs(J).sum() == pytest.approx(abs(expected))


@pytest.mark.parametrize('rows', ROWS)
def test_jacobian(load, small, rows):
    several = [(load('ur5'), 'tool0', 'forearm_link'),
               (small('two_arms', 'planar'), 'left_hand', 'right_hand'),
               (small('turntable', 'freeflyer'), 'tip', 'wheel'),
               (small('mimic_chain', 'freeflyer'), 'tip', 'base')]
    for robot, frame, other in several:
        q = robot.random_q(np.random.default_rng(1))
        for relative in (None, other):
            check_jacobian(Manipulability(frame, relative, rows), robot, q)


@pytest.mark.parametrize('frame, rows', [('left_hand', 'all'), ('left_e', 'position')])
def test_at_a_singularity(small, frame, rows):
    """The stretched arm: value and gradient are zero, and not far from there they are not."""
    robot = small('two_arms')
    function = Manipulability(frame, 'chest', rows)
    names = [f'left_{i}' for i in range(1, 7)]
    stretched = dict(zip(names, (0.3, 0.2, 0, 0.4, 0.5, 0.6), strict=True))
    f, J = function.evaluate(Configuration(robot, stretched))
    assert 0 <= f[0] < 1e-12
    np.testing.assert_array_equal(J, np.zeros((1, robot.nv)))
    for bend in (1e-6, -1e-6):
        f, J = function.evaluate(Configuration(robot, stretched | {'left_3': bend}))
        assert f[0] > 1e-9
        assert J[0, robot.joint('left_3').velocity_index] * np.sign(bend) > 1e-3


def test_several_ranks_short(small):
    """Two of the chain's directions are lost at once, and rounding makes no gradient of it."""
    at = Configuration(small('zero_links'), np.zeros(7))
    f, J = Manipulability('tip').evaluate(at)
    assert f[0] < 1e-12 and np.abs(J).max() == 0


@pytest.mark.parametrize('name', ['planar_2r', 'all_fixed'])
def test_fewer_joints_than_rows(small, name):
    robot = small(name)
    function = Manipulability('tip')
    f, J = function.evaluate(Configuration(robot))
    assert f.shape == (1,) and J.shape == (1, robot.nv)
    assert f[0] == 0 and not J.any()


def test_joints(small):
    robot = small('two_arms', 'freeflyer')
    assert Manipulability('left_c', 'chest').joints(robot) == {'left_1', 'left_2', 'left_3'}
    assert Manipulability('chest').joints(robot) == {'root_joint', 'torso'}


def test_bad_arguments(small):
    for rows in ('', 'xyz', 'yx', None, 3, ['all'], slice(0, 3)):
        with pytest.raises(InvalidConstraintError, match='rows is .*; valid: all, position'):
            Manipulability('tip', rows=rows)
    for frames in (('tipp', None), ('tip', 'tipp'), (None, None)):
        with pytest.raises(UnknownFrameError):
            Manipulability(*frames).joints(small('scara'))
        with pytest.raises(UnknownFrameError):
            Manipulability(*frames).value(Configuration(small('scara')))
