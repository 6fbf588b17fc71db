"""Pairs of boxes that may be near: none that coal finds near is missing, few others are in."""

import numpy as np
import pinocchio as pin
import pytest
from scenes import scattered

from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.collision.near_pairs import NearPairs
from ros2_ik.core.scene import HalfSpace, SceneObject


@pytest.mark.parametrize('name, root_joint', [
    ('panda', None), ('ur5', None), ('baxter', None), ('xarm7', None), ('talos', 'freeflyer')])
def test_none_is_missing(name, root_joint, load):
    robot = load(name, root_joint)
    scene = scattered(robot, 6, 1).add(SceneObject('floor', [HalfSpace((0, 0, 1), 0.1)]))
    checker = CollisionChecker(robot, scene, 'hull')
    pairs, data, generator = checker._pairs, robot.model.createData(), np.random.default_rng(0)
    margins = generator.uniform(0, 0.05, len(pairs))
    near, placed, found = NearPairs(robot, pairs.items, pairs.pairs, margins), pairs.data, 0
    for _ in range(5):
        q = robot.random_q(generator)
        q.setflags(write=False)
        pin.forwardKinematics(robot.model, data, q)
        pairs.place(data)
        pin.computeDistances(pairs.model, placed)
        distances = np.array([result.min_distance for result in placed.distanceResults])
        numbers = near.at(q)
        assert numbers == sorted(set(numbers))
        within = set(np.flatnonzero(distances <= margins - 1e-6).tolist())
        assert within <= set(numbers)
        least = near.follow(q).least
        assert (least <= distances - margins + 1e-6).all()
        assert set(numbers) == set(np.flatnonzero(~(least > 0)).tolist())
        found += len(within)
    assert found


def test_no_number_is_near(load):
    """What cannot be placed is looked at, not passed over."""
    checker = CollisionChecker(load('ur5'))
    pairs = checker._pairs
    near = NearPairs(checker.robot, pairs.items, pairs.pairs, np.zeros(len(pairs)))
    nowhere = np.full(checker.robot.nq, np.nan)
    assert near.at(nowhere) == list(range(len(pairs)))
    known = near.follow(nowhere, near.follow(checker.robot.neutral))
    assert not (known.least > -1e6).any()
    assert known.nearest == -np.inf


@pytest.mark.parametrize('name, root_joint', [('panda', None), ('talos', 'freeflyer')])
def test_followed_from_what_was_known(name, root_joint, load):
    """No distance is below what is left of the last that was computed, and little is lost."""
    robot = load(name, root_joint)
    checker = CollisionChecker(robot, scattered(robot, 6, 1), 'hull')
    pairs, data, generator = checker._pairs, robot.model.createData(), np.random.default_rng(1)
    margins = generator.uniform(0, 0.05, len(pairs))
    near, placed = NearPairs(robot, pairs.items, pairs.pairs, margins), pairs.data
    q, known, before = robot.random_q(generator), None, None
    for turn in range(12):
        known = near.follow(q, known)
        pin.forwardKinematics(robot.model, data, q)
        pairs.place(data)
        pin.computeDistances(pairs.model, placed)
        distances = np.array([result.min_distance for result in placed.distanceResults]) - margins
        assert (known.least <= distances + 1e-6).all()
        assert known.nearest == known.least.min()
        if before is not None:
            assert (before - distances <= known.closing + 1e-6).all()
        if turn % 4 == 2:
            known.least[:] = distances
        if turn % 4 == 3:    # a short way from there
            assert (known.least >= distances - 2 * known.closing - 1e-6).all()
            assert np.median(known.closing) < 0.1
        before = distances
        q = pin.integrate(robot.model, q, generator.uniform(-0.02, 0.02, robot.nv))
