"""Straight motions: limits, goals, and the shorter turn of continuous joints."""

import math

import numpy as np
import pytest

from ros2_ik.core import MotionLimits, Robot, straight_motion
from ros2_ik.core.errors import InvalidOptionError, InvalidStateError, JointLimitError
from ros2_ik.core.internals import braking_motion

ARM = tuple(f'panda_joint{i}' for i in range(1, 8))
HOME = np.array([0, -0.785, 0, -2.356, 0, 1.571, 0.785])
LIMITS = MotionLimits(np.array([2.1, 2.1, 2.1, 2.1, 2.6, 2.6, 2.6]), np.full(7, 3.0),
                      np.full(7, 60.0))


def random_position(robot, random):
    """Return values of the arm's joints, 0.05 rad or more within their limits."""
    joints = [robot.joint(name) for name in ARM]
    return np.array([random.uniform(one.lower + 0.05, one.upper - 0.05) for one in joints])


@pytest.mark.parametrize('start, goal, moved', [
    (3.0, -3.0, math.tau - 6.0), (-3.0, 3.0, 6.0 - math.tau), (7.0, 0.5, math.tau - 6.5),
    (0.0, 1.0, 1.0), (0.2, 20 * math.pi, -0.2)])
def test_continuous_joints_turn_the_shorter_way(small, start, goal, moved):
    robot, limits = small('swivel'), MotionLimits([1.0], [1.0], [10.0])
    motion = straight_motion(robot, ['table'], [start], [goal], limits)
    assert motion.goal[0] == pytest.approx(start + moved, abs=1e-12)
    assert abs(moved) <= math.pi
    turned = [motion.at(t).position[0] - start for t in np.linspace(0, motion.duration, 50)]
    assert min(turned) >= min(moved, 0) - 1e-12 and max(turned) <= max(moved, 0) + 1e-12


@pytest.mark.parametrize('goal', [0.3, 1e-9, 0.0])
def test_sample_times_of_a_motion_are_positive_and_increasing(small, goal):
    robot, limits = small('scara'), MotionLimits([1.0], [1.0], [10.0])
    motion = straight_motion(robot, ['wrist'], [0.0], [goal], limits)
    times = motion.times(0.02)
    assert times[0] > 1e-3 and (np.diff(times) > 1e-6).all()
    assert (np.diff(times) <= 0.02 + 1e-4).all() and times[-1] >= motion.duration
    assert motion.at(times[-1])[:2] == (pytest.approx([goal], abs=1e-12), [0])
    assert (motion.at(-math.inf).position, motion.at(math.inf).position) == (0.0, motion.goal)
    with pytest.raises(InvalidOptionError, match='time must be a number .* not nan'):
        motion.at(math.nan)


@pytest.mark.parametrize('changed, error, text', [
    ({'goal': 1}, JointLimitError, "'panda_joint4' is at 1"),
    ({'goal': math.nan}, InvalidStateError, 'the goal'),
    ({'start': math.nan}, InvalidStateError, 'positions at the start'),
    ({'start': 0.5}, JointLimitError, "'panda_joint4' is at 0.5")])
def test_malformed_starts_and_goals_are_refused(load, changed, error, text):
    given = {'start': HOME.copy(), 'goal': HOME.copy()}
    for name, value in changed.items():
        given[name][3] = value
    with pytest.raises(error, match=text):
        straight_motion(load('panda'), ARM, given['start'], given['goal'], LIMITS)


def test_straight_motion_of_a_joint_of_several_values_is_refused(small):
    with pytest.raises(InvalidOptionError, match="'fly' is floating"):
        straight_motion(small('nested'), ['fly'], [0], [0], MotionLimits([1], [1], [1]))


def test_start_slightly_outside_the_limits_is_accepted(load):
    robot, joint = load('panda'), load('panda').joint('panda_joint4')
    start = HOME.copy()
    start[3] = joint.upper + 5e-4
    motion = straight_motion(robot, ARM, start, HOME, LIMITS)
    assert max(motion.at(t).position[3] for t in np.linspace(0, motion.duration, 99)) \
        <= start[3] + 1e-12
    start[3] = joint.upper + 2e-3
    with pytest.raises(JointLimitError, match="'panda_joint4'"):
        straight_motion(robot, ARM, start, HOME, LIMITS)


@pytest.mark.parametrize('field', ['velocity', 'acceleration', 'jerk'])
@pytest.mark.parametrize('value', [0.0, math.nan, 'fast'])
def test_malformed_limits_are_refused(field, value):
    with pytest.raises(InvalidOptionError, match=field):
        MotionLimits(**{'velocity': [1.0], 'acceleration': [1.0], 'jerk': [1.0], field: [value]})


def test_motion_without_jerk_limit_is_trapezoidal(small):
    """1 m at 1 m/s and 2 m/s^2: accelerate, cruise and brake for 0.5 s each."""
    limits = MotionLimits([1.0], [2.0], [math.inf])
    motion = straight_motion(small('gantry'), ['x'], [-0.5], [0.5], limits)
    assert motion.duration == pytest.approx(1.5)
    assert motion.at(0.5).position[0] == pytest.approx(-0.25)
    assert motion.at(0.5).velocity[0] == pytest.approx(1.0)
    slow = straight_motion(small('gantry'), ['x'], [-0.5], [0.5], limits.scaled(0.5, 0.25))
    assert slow.duration == pytest.approx(3.0)


def test_part_of_a_motion_equals_the_motion_of_its_joints(load):
    goal = HOME + 0.3
    whole = straight_motion(load('panda'), ARM, HOME, goal, LIMITS)
    part = whole.select((ARM[3], ARM[0]))
    assert part.joints == (ARM[3], ARM[0])
    assert np.allclose(part.at(0.3).position, whole.at(0.3).position[[3, 0]])
    assert np.allclose(part.goal, goal[[3, 0]])


def test_motion_from_rest_to_rest_is_straight_and_exact(load):
    """Random motions, and one that ruckig bends if it times all joints together."""
    robot, random = load('panda'), np.random.default_rng(0)
    limits = MotionLimits([2.17, 2.17, 2.17, 2.17, 2.6, 2.6, 2.6], [2.955] * 7, [60.0] * 7)
    ends = [(random_position(robot, random), random_position(robot, random)) for _ in range(50)]
    ends.append(([-0.5173395794261929, -0.8537745265402639, 1.8511851385160747, -1.380744272004074,
                  0.5777864434290347, 3.315557228954511, 1.9368649191925627],
                 [-0.6747281694441262, 0.9551493440141018, -1.7421425057380149,
                  -2.656306839216845, 0.9285873573519862, 2.026658850919115,
                  -1.7107166460451453]))
    for start, goal in ends:
        motion = straight_motion(robot, ARM, start, goal, limits)
        way = np.array(goal) - start
        end = motion.at(motion.duration)
        assert np.allclose(motion.at(0.0).position, start, atol=1e-12)
        assert np.allclose(end.position, goal, atol=1e-12)
        assert not end.velocity.any() and not end.acceleration.any()
        assert (motion.at(motion.duration + 5).position == end.position).all()
        for time in np.linspace(0.0, motion.duration, 50):
            done = motion.at(time).position - start
            assert np.abs(done - way * (done @ way) / (way @ way)).max() < 1e-9


JOINTS = ('x', 'y', 'z')
GANTRY = Robot.from_urdf('<robot name="r"><link name="l0"/>' + ''.join(
    f'<link name="l{i}"/><joint name="{name}" type="prismatic"><parent link="l{i - 1}"/>'
    f'<child link="l{i}"/><limit lower="-9" upper="9" velocity="1" effort="1"/>'
    f'<axis xyz="1 0 0"/></joint>' for i, name in enumerate(JOINTS, 1)) + '</robot>')


def random_case(number):
    """Return a start, a goal, a velocity within limits, and limits."""
    random = np.random.default_rng(number)
    limits = MotionLimits(*random.uniform([[0.3], [0.5], [2.0]], [[3.0], [6.0], [90.0]], (3, 3)))
    if number % 4 == 3:
        limits = MotionLimits(limits.velocity, limits.acceleration, np.full(3, math.inf))
    start, goal = random.uniform(-2, 2, (2, 3)) * 10.0 ** random.integers(-3, 1)
    speed = random.uniform(-1, 1, 3) * limits.velocity * (random.random(3) < 0.7)
    return start, goal, speed, limits


def assert_within_limits(motion, limits, start, speed, step=1e-4):
    """Check differences of positions; acceleration may jump without a jerk limit."""
    times = np.arange(-step, motion.duration + 3 * step, step)
    positions = np.array([motion.at(time).position if time >= 0 else start + speed * time
                          for time in times])
    velocity = np.diff(positions, axis=0) / step
    acceleration = np.diff(velocity, axis=0) / step
    assert (np.abs(velocity) <= np.maximum(limits.velocity, np.abs(speed)) + 1e-6).all()
    assert (np.abs(acceleration) <= limits.acceleration + 1e-4).all()
    if np.isfinite(limits.jerk).all():
        jerk = np.diff(acceleration, axis=0) / step
        assert (np.abs(jerk) <= limits.jerk * 1.01 + 1).all()
    assert np.allclose(motion.at(0.0).position, start, atol=1e-12)
    assert np.abs(velocity[-2:]).max() < 1e-6


@pytest.mark.parametrize('number', range(12))
def test_motion_from_rest_keeps_the_limits_and_reaches_the_goal(number):
    start, goal, _, limits = random_case(number)
    motion = straight_motion(GANTRY, JOINTS, start, goal, limits)
    assert_within_limits(motion, limits, start, np.zeros(3))
    assert np.allclose(motion.goal, goal, atol=1e-12)


@pytest.mark.parametrize('number', range(12))
def test_braking_motion_keeps_the_limits(number):
    start, _, speed, limits = random_case(number)
    limits = MotionLimits(limits.velocity, limits.acceleration, np.full(3, math.inf))
    assert_within_limits(braking_motion(JOINTS, start, speed, limits), limits, start, speed)
