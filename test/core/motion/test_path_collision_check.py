"""Collisions along a motion, judged by closed forms and python-fcl."""

import math

from fcl_judge import FclJudge
import numpy as np
import pytest
from scenes import collision
from small_robots import joint, urdf, X

from ros2_ik.core import (
    blocked,
    Box,
    collision_checker,
    Motion,
    MotionLimits,
    MotionState,
    Robot,
    Scene,
    SceneObject,
    straight_motion,
)
from ros2_ik.core.errors import InvalidOptionError
from ros2_ik.core.internals import PathCollisionCheck

ARM = tuple(f'panda_joint{i}' for i in range(1, 8))
LIMITS = MotionLimits(np.full(7, 2.0), np.full(7, 3.0), np.full(7, 60.0))

BALL = '<link name="ball">' + collision('<sphere radius="0.1"/>', (0, 0, 0))
SLIDE = urdf(joint('x', 'prismatic', 'base', 'ball', axis=X, limits=(-2.0, 2.0))).replace(
    '<link name="ball">', BALL)


def scene_object(name, shape, *xyz):
    pose = np.eye(4)
    pose[:3, 3] = xyz
    return SceneObject(name, (shape,), pose)


@pytest.fixture(scope='module')
def slide():
    return Robot.from_urdf(SLIDE)


class RecordingChecker:
    """Records the configurations that it checks; without `checker` none has contacts."""

    def __init__(self, robot, checker=None):
        self.robot, self.visited, self.checker = robot, [], checker

    def collides(self, q):
        self.visited.append(q.copy())
        return self.checker is not None and self.checker.collides(q)

    def in_collision(self, q):
        return self.checker.in_collision(q)


def check_slide(robot, scene, start, goal, resolution=0.01):
    motion = straight_motion(robot, ['x'], [start], [goal], MotionLimits([1], [2], [50]))
    return motion, blocked(collision_checker(robot, scene), motion, robot.neutral, resolution)


def test_first_contact_of_a_sphere_with_a_wall_is_found_with_its_time(slide):
    """The sphere of radius 0.1 m touches the face at x = 0.5 m when it is at x = 0.4 m."""
    scene = Scene(slide).add(scene_object('wall', Box((0.2, 1, 1)), 0.6, 0, 0))
    motion, found = check_slide(slide, scene, -0.5, 0.1)
    assert found is None
    motion, found = check_slide(slide, scene, -0.5, 1.5)
    at = float(found.q[0])
    assert 0.4 <= at <= 0.4 + 0.0101
    assert found.fraction == found.time / motion.duration
    assert motion.at(found.time).position[0] == pytest.approx(at)
    assert {found.contacts[0].first, found.contacts[0].second} == {'ball', 'wall'}


@pytest.mark.parametrize('resolution, scale', [(0.1, 1.0), (0.003, 1.0), (0.02, 0.1)])
def test_joints_move_at_most_the_resolution_between_checks(load, resolution, scale):
    robot, random = load('panda'), np.random.default_rng(3)
    start, goal = (random.uniform(robot.lower[:7], robot.upper[:7]) for _ in range(2))
    motion = straight_motion(robot, ARM, start, start + (goal - start) * scale, LIMITS)
    recorder = RecordingChecker(robot)
    assert blocked(recorder, motion, robot.neutral, resolution) is None
    first, last, *between = recorder.visited
    visited = np.array([first, *between, last])[:, :7]
    assert np.abs(np.diff(visited, axis=0)).max() <= resolution
    assert (visited[0] == start).all() and np.allclose(visited[-1], motion.goal)
    length = np.abs(np.diff([motion.at(t).position for t in np.linspace(
        0, motion.duration, 1000)], axis=0)).max(axis=1).sum()
    fewest = length / resolution + motion.duration / 0.05
    assert len(visited) < 1.3 * fewest + 20     # few more checks than necessary


def test_collision_check_in_slices_finds_the_same_contact(load):
    robot = load('panda')
    scene = Scene(robot).add(scene_object('post', Box((0.1, 0.1, 1.2)), 0.28, 0.19, 0.6))
    start = np.array([0, -0.785, 0, -2.356, 0, 1.571, 0.785])
    goal = start + np.array([1.5, 0.3, 0, 0.3, 0, 0, 0])
    motion = straight_motion(robot, ARM, start, goal, LIMITS)
    checker = collision_checker(robot, scene)
    whole, recorder = blocked(checker, motion, robot.neutral), RecordingChecker(robot, checker)
    check, slices = PathCollisionCheck(recorder, motion, robot.neutral), 0
    while not check.run(0.0):
        slices += 1
    assert slices == len(recorder.visited) - 1
    assert whole.time == check.collision.time and 0 < whole.fraction < 1
    assert (whole.q == check.collision.q).all()


@pytest.mark.parametrize('resolution', [0.0, math.nan])
def test_malformed_resolutions_are_refused(slide, resolution):
    with pytest.raises(InvalidOptionError, match='resolution'):
        check_slide(slide, Scene(slide), 0, 1, resolution)


@pytest.mark.parametrize('number', range(3))
def test_checked_motions_agree_with_fcl(load, number):
    """
    The judge checks 120 samples of each motion.

    A corner may enter between two checks: penetration up to 5 mm is allowed.
    """
    robot, random = load('panda'), np.random.default_rng(number)
    scene = Scene(robot)
    for k in range(4):
        angle, far = random.uniform(-3, 3), random.uniform(0.35, 0.7)
        at = far * math.cos(angle), far * math.sin(angle), random.uniform(0.1, 0.8)
        scene = scene.add(scene_object(f'box {k}', Box(random.uniform(0.05, 0.2, 3)), *at))
    checker, judge = collision_checker(robot, scene), FclJudge(robot).surround(scene)
    for _ in range(8):
        start, goal = (random.uniform(robot.lower[:7], robot.upper[:7]) for _ in range(2))
        motion = straight_motion(robot, ARM, start, start + (goal - start) * 0.3, LIMITS)
        found = blocked(checker, motion, robot.neutral, 0.02)
        if found:
            touching = judge.touching(robot.to_joints(found.q))
            assert {frozenset((c.first, c.second)) for c in found.contacts} & touching
            continue
        for time in np.linspace(0, motion.duration, 120):
            q = robot.neutral.copy()
            q[:7] = motion.at(time).position
            for pair in judge.touching(robot.to_joints(q)):
                assert judge.distance(*pair) > -0.005


def jumping_motion(at, first, then, duration=2.0):
    """Return a motion that jumps from `first` to `then` at time `at` [s]."""
    rest = np.zeros(1)
    return Motion(('x',), duration, lambda time: MotionState(
        np.array([first if time < at else then]), rest, rest))


@pytest.mark.timeout(20)
@pytest.mark.parametrize('at', [1e-12, 0.7, 1.999999, 2.0])
def test_motion_with_a_jump_is_refused(slide, at):
    recorder = RecordingChecker(slide)
    check = PathCollisionCheck(recorder, jumping_motion(at, 0.0, 0.5), slide.neutral)
    with pytest.raises(InvalidOptionError, match="jumps at .* joint 'x' from 0 to 0.5"):
        while not check.run(0.01):
            pass
    assert len(recorder.visited) < 300


@pytest.mark.timeout(20)
@pytest.mark.parametrize('motion, text', [
    (jumping_motion(0.7, 0.0, math.nan), "no finite position of joint 'x' at"),
    (jumping_motion(0.7, math.inf, 0.0), "no finite position of joint 'x' at 0 s"),
    (jumping_motion(0.7, 0.0, 0.0, math.inf), 'a duration of inf s'),
    (jumping_motion(0.7, 0.0, 0.0, math.nan), 'a duration of nan s')])
def test_motion_with_nonfinite_position_or_duration_is_refused(slide, motion, text):
    with pytest.raises(InvalidOptionError, match=text):
        PathCollisionCheck(collision_checker(slide, Scene(slide)), motion, slide.neutral).run()
