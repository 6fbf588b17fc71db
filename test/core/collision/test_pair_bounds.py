"""Bounds of distances from the boxes round things: never above, and exact for upright boxes."""

from judge import pose
import numpy as np
import pinocchio as pin
import pytest
from scenes import scattered, solid

from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.scene import Box, HalfSpace, Scene, SceneObject, Sphere


def bounds_at(checker, q):
    """Give the bound of each of a checker's pairs, and its distance."""
    return checker._pairs.names, checker.nearness.near_pairs.follow(q).least


def least(found, pair):
    return min(d for d, names in zip(found.distance, found.names, strict=True) if names == pair)


@pytest.mark.parametrize('name', ['panda', 'ur5', 'baxter'])
def test_never_above_the_distance(name, load):
    robot = load(name)
    checker = CollisionChecker(robot, scattered(robot, 6, 1), 'hull')
    generator, touching = np.random.default_rng(0), 0
    for _ in range(20):
        q = robot.random_q(generator)
        found = checker.distances(q, np.inf)
        assert len(found.distance) == checker.pair_count
        pairs, bounds = bounds_at(checker, q)
        for pair in set(pairs):
            mine = [b for p, b in zip(pairs, bounds, strict=True) if p == pair]
            assert min(mine) <= least(found, pair) + 1e-6
        touching += found.distance[0] < 0
    assert touching


@pytest.mark.parametrize('x', [0.25, 0.9, 2.0])
def test_exact_for_upright_boxes(x):
    """From overlapping, by the least way out, to a corner away from a corner."""
    robot = solid('one_joint', shapes={'tip': '<box size="0.2 0.4 0.6"/>'}, xyz=(0, 0, 0),
                  rpy=(0, 0, 0))
    at = robot.model.createData()
    pin.framesForwardKinematics(robot.model, at, robot.neutral)
    centre = at.oMf[robot.model.getFrameId('tip')].translation
    offset = np.array([x, x / 2, x / 4])
    scene = Scene(robot).add(SceneObject('box', [Box((0.5, 0.3, 0.2))], pose(centre + offset)))
    _, (bound,) = bounds_at(CollisionChecker(robot, scene), robot.neutral)
    gaps = offset - np.array([0.35, 0.35, 0.4])
    apart = np.linalg.norm(np.maximum(gaps, 0))
    assert bound == pytest.approx(apart if (gaps > 0).any() else gaps.max(), abs=1e-9)


def test_what_has_no_end_is_never_passed_over():
    robot = solid('one_joint', shapes={'tip': '<sphere radius="0.1"/>'}, xyz=(0, 0, 0))
    for normal in ((0, 0, 1), (1, 2, 3)):
        scene = Scene(robot).add(SceneObject('floor', [HalfSpace(normal, -5.0)]))
        scene = scene.add(SceneObject('ball', [Sphere(0.1)], pose((9, 9, 9))))
        checker = CollisionChecker(robot, scene)
        found = checker.distances(robot.neutral, np.inf)
        pairs, bounds = bounds_at(checker, robot.neutral)
        for pair, bound in zip(pairs, bounds, strict=True):
            assert bound <= least(found, pair) + 1e-9
