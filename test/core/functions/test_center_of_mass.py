"""Centre of mass, and its distances to the edges of a support polygon."""

from judge import inverse, pose, TreeJudge
import numpy as np
from oracles import drake
import pytest
from scipy.spatial import ConvexHull

from ros2_ik.core import CenterOfMass, Configuration, InverseKinematics, Robot, SupportPolygon
from ros2_ik.core.errors import InvalidConstraintError, UnknownFrameError


def links_of(robot):
    return TreeJudge(robot.urdf).links


def test_center_of_mass_equals_that_of_drake():
    """ComInPolyhedronConstraint of all bodies, panda_link0 included, in a moving frame."""
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


@pytest.mark.parametrize('name, root', [('mimic_chain', 'fixed'), ('two_arms', 'freeflyer'),
                                        ('nested', 'fixed'), ('turntable', 'planar')])
def test_center_of_mass_is_the_weighted_mean_of_the_links(small, name, root):
    robot = small(name, root)
    judge = TreeJudge(robot.urdf, root)
    at = Configuration(robot, robot.random_q(np.random.default_rng(4)))
    np.testing.assert_allclose(CenterOfMass().value(at), judge.center_of_mass(at.joints))
    np.testing.assert_allclose(CenterOfMass().value(at), at.center_of_mass(), atol=1e-14)
    subset = judge.links[:1] + judge.links[2::2]     # the first link may be fixed
    moments = [judge.masses[link][0] * judge.transform(at.joints, link)
               @ [*judge.masses[link][1], 1] for link in subset]
    expected = sum(moments) / sum(judge.masses[link][0] for link in subset)
    np.testing.assert_allclose(CenterOfMass(subset).value(at), expected[:3], atol=1e-12)
    in_frame = inverse(judge.transform(at.joints, judge.links[-1])) @ expected
    np.testing.assert_allclose(CenterOfMass(subset, judge.links[-1], 'zx').value(at),
                               in_frame[[2, 0]], atol=1e-12)


def test_center_of_mass_of_fixed_links_is_constant(small):
    at = Configuration(small('scara'))
    value, J = CenterOfMass(['base']).evaluate(at)
    np.testing.assert_allclose(value, [0.01, 0.1, -0.01])
    assert J.shape == (3, 4) and not J.any()
    assert CenterOfMass(['base']).joints(at.robot) == set()
    assert CenterOfMass(['base'], 'tip').joints(at.robot) == set(at.robot.joint_names)
    value, J = CenterOfMass(['tip']).evaluate(Configuration(small('all_fixed')))
    assert J.shape == (3, 0) and value.shape == (3,)


def test_center_of_mass_of_robots_without_mass_is_refused(small):
    with pytest.raises(InvalidConstraintError, match="no moving link of robot 'small' has a mass"):
        CenterOfMass().joints(small('all_fixed'))
    massless = Robot.from_urdf('<robot name="r"><link name="a"/></robot>', root_joint='freeflyer')
    for links, message in ((None, 'no moving link'), (['a'], 'none of the links a of robot')):
        with pytest.raises(InvalidConstraintError, match=message):
            CenterOfMass(links).value(Configuration(massless))


def test_malformed_arguments_of_a_center_of_mass_are_refused(small):
    with pytest.raises(InvalidConstraintError, match='A must be'):
        CenterOfMass(A=np.eye(2))
    with pytest.raises(InvalidConstraintError, match="axes is 'xy', but A takes all"):
        CenterOfMass(axes='xy', A=np.eye(3))
    # wrist is a joint
    for arguments in ((['tipp'],), (['wrist'],), (None, 'tipp'), (None, ['tip'])):
        with pytest.raises(UnknownFrameError):
            CenterOfMass(*arguments).joints(small('scara'))


SQUARE = [(0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0)]


def edge_distances(corners, point):
    """Return the distances of a point from each edge [m] by Qhull, sorted."""
    normals = ConvexHull(np.asarray(corners)[:, :2]).equations
    return np.sort(-(normals[:, :2] @ point[:2] + normals[:, 2]))


@pytest.mark.parametrize('name, root', [('mimic_chain', 'fixed'), ('two_arms', 'freeflyer')])
@pytest.mark.parametrize('count', [3, 12])
def test_support_polygon_distances_equal_those_of_qhull(small, name, root, count):
    robot = small(name, root)
    judge = TreeJudge(robot.urdf, root)
    for seed in range(5):
        generator = np.random.default_rng(seed)
        at = Configuration(robot, robot.random_q(generator))
        corners, center = generator.normal(size=(count, 3)), judge.center_of_mass(at.joints)
        np.testing.assert_allclose(np.sort(SupportPolygon(corners).value(at)),
                                   edge_distances(corners, center), atol=1e-12)
        in_frame = inverse(judge.transform(at.joints, judge.links[-1])) @ [*center, 1]
        np.testing.assert_allclose(
            np.sort(SupportPolygon(corners, judge.links[-1]).value(at)),
            edge_distances(corners, in_frame), atol=1e-12)


def test_support_polygon_edges_are_those_of_the_convex_hull():
    """Points in any order; also inside, on an edge, repeated, or 1e-12 m outside."""
    for shift in range(4):
        redundant = [(1, 1, 5), (1, 0, 0), (2, 1, 0), (0.3, 1e-12, 0), (2, 2 - 1e-13, 0)]
        corners = [*np.roll(SQUARE, shift, 0).tolist(), *redundant, *SQUARE]
        function = SupportPolygon(corners)
        assert len(function.labels) == 4 and len(set(function.labels)) == 4
    assert SupportPolygon(SQUARE).labels == ('edge 0-1 [m]', 'edge 1-2 [m]', 'edge 2-3 [m]',
                                             'edge 3-0 [m]')
    # counterclockwise seen from above, for any order of the corners
    assert SupportPolygon(SQUARE[::-1]).labels[0] == 'edge 3-2 [m]'
    assert set(SupportPolygon(SQUARE, None, (0, 0, -1)).labels) == {
        'edge 1-0 [m]', 'edge 2-1 [m]', 'edge 3-2 [m]', 'edge 0-3 [m]'}


@pytest.mark.parametrize('corners, message', [
    ([(0, 0, 0)] * 5, 'span an area'), (SQUARE[:2], 'span an area'),
    ([(0, 0, 0), (1, 1, 3), (2, 2, 9)], 'span an area')])
def test_support_polygon_without_area_is_refused(corners, message):
    with pytest.raises(InvalidConstraintError, match=message):
        SupportPolygon(corners)


def test_unknown_frames_of_a_support_polygon_are_refused(small):
    for arguments in ((None, (0, 0, 1), ['tipp']), ('tipp',)):
        with pytest.raises(UnknownFrameError):
            SupportPolygon(SQUARE, *arguments).joints(small('scara'))


def test_humanoid_reaching_ahead_keeps_its_center_of_mass_in_the_support_polygon(load):
    robot = load('talos', 'freeflyer')
    judge, start = TreeJudge(robot.urdf, 'freeflyer'), robot.to_joints(robot.neutral)
    generator, soles = np.random.default_rng(3), ('left_sole_link', 'right_sole_link')
    hand, shape = 'gripper_left_base_link', [(x, y, 0, 1) for x in (-0.1, 0.1)
                                             for y in (-0.06, 0.06)]
    for _ in range(3):
        feet = [judge.transform(start, sole) for sole in soles]
        feet[1] = feet[1] @ pose((*generator.uniform(-0.1, 0.1, 2), 0.05))
        corners = np.vstack([(T @ np.array(shape).T).T[:, :3] for T in feet])
        target = judge.transform(start, hand)[:3, 3] + generator.uniform(0.2, 0.35, 3)
        ik = InverseKinematics(robot, collisions=False)
        for sole, T in zip(soles, feet, strict=True):
            ik.add_pose_target(sole, T)
        ik.add_constraint(SupportPolygon(corners), 0.03)
        ik.add_position_constraint(hand, [0, 0, 0], None, target, target)
        solution = ik.solve(robot.neutral, random_state=0, timeout=60.0, max_iterations=500)
        assert solution.success, solution.explain()
        center = judge.center_of_mass(solution.joints)
        assert edge_distances(corners, center).min() >= 0.03 - 2e-6
        reached = judge.transform(solution.joints, hand)[:3, 3]
        np.testing.assert_allclose(reached, target, atol=1e-5)
