"""How far inside the area it stands on a robot has its centre of mass."""

from judge import inverse, pose, TreeJudge
import numpy as np
import pytest
from scipy.spatial import ConvexHull

from ros2_ik.core import (
    Configuration,
    InvalidConstraintError,
    InverseKinematics,
    SupportPolygon,
    UnknownFrameError,
)

SQUARE = [(0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0)]
TILTED = pose((0.1, 0.2, 0.3), (0.4, -0.3, 0.8))


def distances(corners, point):
    """Return how far inside each edge a point is (scipy's hull, Qhull), sorted."""
    normals = ConvexHull(np.asarray(corners)[:, :2]).equations
    return np.sort(-(normals[:, :2] @ point[:2] + normals[:, 2]))


@pytest.mark.parametrize('name, root', [('mimic_chain', 'fixed'), ('two_arms', 'freeflyer')])
@pytest.mark.parametrize('count', [3, 12])
def test_value(small, name, root, count):
    """By Qhull and a judge that adds up the links; seen from the root and from a frame."""
    robot = small(name, root)
    judge = TreeJudge(robot.urdf, root)
    for seed in range(5):
        generator = np.random.default_rng(seed)
        at = Configuration(robot, robot.random_q(generator))
        corners, c = generator.normal(size=(count, 3)), judge.center_of_mass(at.joints)
        np.testing.assert_allclose(np.sort(SupportPolygon(corners).value(at)),
                                   distances(corners, c), atol=1e-12)
        seen = inverse(judge.transform(at.joints, judge.links[-1])) @ [*c, 1]
        np.testing.assert_allclose(
            np.sort(SupportPolygon(corners, judge.links[-1]).value(at)),
            distances(corners, seen), atol=1e-12)


def test_up(small):
    """A polygon that is tilted with its up is the same one, seen from a frame that is."""
    robot = small('two_arms', 'freeflyer')
    at = Configuration(robot, robot.random_q(np.random.default_rng(0)))
    corners = np.random.default_rng(1).normal(size=(7, 3))
    turned = corners @ TILTED[:3, :3].T + TILTED[:3, 3]
    c = inverse(TILTED) @ [*TreeJudge(robot.urdf, 'freeflyer').center_of_mass(at.joints), 1]
    np.testing.assert_allclose(np.sort(SupportPolygon(turned, None, TILTED[:3, 2]).value(at)),
                               distances(corners, c), atol=1e-12)


def test_only_corners_of_the_hull_make_edges():
    """In whatever order; points inside, on an edge, given twice, or a hair off are none."""
    for shift in range(4):
        more = [(1, 1, 5), (1, 0, 0), (2, 1, 0), (0.3, 1e-12, 0), (2, 2 - 1e-13, 0)]
        corners = [*np.roll(SQUARE, shift, 0).tolist(), *more, *SQUARE]
        function = SupportPolygon(corners)
        assert len(function.labels) == 4 and len(set(function.labels)) == 4
    assert SupportPolygon(SQUARE).labels == ('edge 0-1 [m]', 'edge 1-2 [m]', 'edge 2-3 [m]',
                                             'edge 3-0 [m]')
    # that is counterclockwise whatever the order; from below it is the other way round
    assert SupportPolygon(SQUARE[::-1]).labels[0] == 'edge 3-2 [m]'
    assert set(SupportPolygon(SQUARE, None, (0, 0, -1)).labels) == {
        'edge 1-0 [m]', 'edge 2-1 [m]', 'edge 3-2 [m]', 'edge 0-3 [m]'}


@pytest.mark.parametrize('size', [1e-6, 1.0, 1e5])
def test_size_does_not_matter(size):
    assert len(SupportPolygon(size * np.array(SQUARE)).labels) == 4
    assert len(SupportPolygon(size * np.array(SQUARE) + [1, 1, 0]).labels) == 4


@pytest.mark.parametrize('corners, words', [
    ([], 'corners must be rows of 3'), ([(0, 0)], 'corners must be rows of 3'),
    ([(0, 0, 0)] * 5, 'span an area'), (SQUARE[:2], 'span an area'),
    ([(0, 0, 0), (1, 1, 3), (2, 2, 9)], 'span an area'), (None, 'corners'), ('corners', 'corners'),
    ([(0, 0, 0), (1, 0, 0), (0, np.nan, 0)], 'corners'),
    ([(0, 0, 0), (1e200, 0, 0), (0, 1e200, 0)], 'up to 1e')])
def test_bad_corners(corners, words):
    with pytest.raises(InvalidConstraintError, match=words):
        SupportPolygon(corners)


def test_bad_arguments(small):
    for up in ((0, 0, 0), (0, 1), 'z', None):
        with pytest.raises(InvalidConstraintError, match='up'):
            SupportPolygon(SQUARE, None, up)
    for arguments in ((None, (0, 0, 1), ['tipp']), ('tipp',)):
        with pytest.raises(UnknownFrameError):
            SupportPolygon(SQUARE, *arguments).joints(small('scara'))


def test_a_humanoid_keeps_its_balance(load):
    """On both feet, one of them raised, with a hand far ahead; Qhull and the link masses judge."""
    robot = load('talos', 'freeflyer')
    judge, start = TreeJudge(robot.urdf, 'freeflyer'), robot.to_joints(robot.neutral)
    generator, soles = np.random.default_rng(3), ('left_sole_link', 'right_sole_link')
    hand, shape = 'gripper_left_base_link', [(x, y, 0, 1) for x in (-0.1, 0.1)
                                             for y in (-0.06, 0.06)]
    for _ in range(3):
        feet = [judge.transform(start, sole) for sole in soles]
        feet[1] = feet[1] @ pose((*generator.uniform(-0.1, 0.1, 2), 0.05))
        corners = np.vstack([(T @ np.array(shape).T).T[:, :3] for T in feet])
        ahead = judge.transform(start, hand)[:3, 3] + generator.uniform(0.2, 0.35, 3)
        ik = InverseKinematics(robot, collisions=False)
        for sole, T in zip(soles, feet, strict=True):
            ik.add_pose_target(sole, T)
        ik.add_support_polygon_constraint(corners, 0.03)
        ik.add_position_constraint(hand, [0, 0, 0], None, ahead, ahead)
        solution = ik.solve(robot.neutral, random_state=0, timeout=60.0,
                            max_iterations=500)
        assert solution.success, solution.explain()
        c = judge.center_of_mass(solution.joints)
        assert distances(corners, c).min() >= 0.03 - 2e-6
        np.testing.assert_allclose(judge.transform(solution.joints, hand)[:3, 3], ahead, atol=1e-5)
