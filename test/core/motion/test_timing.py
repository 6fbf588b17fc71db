"""Timed motions stay within limits from any start, judged by differences of positions."""

import math

import numpy as np
import pytest

from ros2_ik.core import braking_motion, MotionLimits, Robot, straight_motion

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


def check(motion, limits, start, speed, step=1e-4):
    """Judge by differences of positions alone; accelerations may jump where jerk is free."""
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
def test_from_rest_within_limits_to_the_goal(number):
    start, goal, _, limits = random_case(number)
    motion = straight_motion(GANTRY, JOINTS, start, goal, limits)
    check(motion, limits, start, np.zeros(3))
    assert np.allclose(motion.goal, goal, atol=1e-12)


@pytest.mark.parametrize('number', range(12))
def test_to_rest_within_limits(number):
    start, _, speed, limits = random_case(number)
    motion = braking_motion(JOINTS, start, speed, limits)
    check(motion, limits, start, speed)


@pytest.mark.parametrize('number', range(12))
def test_to_rest_from_an_acceleration_comes_no_farther(number):
    start, _, speed, limits = random_case(4 * (number // 3) + number % 3)    # finite jerk
    slowing = -np.sign(speed) * limits.acceleration * np.random.default_rng(number).random(3)
    plain = braking_motion(JOINTS, start, speed, limits)
    motion = braking_motion(JOINTS, start, speed, limits, slowing)
    assert np.allclose(motion.at(0.0).velocity, speed)
    assert np.allclose(motion.at(0.0).acceleration, slowing)
    times = np.linspace(0.0, motion.duration, 2000)
    states = [motion.at(time) for time in times]
    accelerations = np.array([state.acceleration for state in states])
    assert (np.abs(accelerations) <= limits.acceleration + 1e-9).all()
    assert (np.abs(np.diff(accelerations, axis=0)) <= limits.jerk * times[1] + 1e-9).all()
    shift = np.diff([state.position for state in states], axis=0)
    middle = np.array([state.velocity for state in states])
    assert np.allclose(shift, (middle[1:] + middle[:-1]) / 2 * times[1],
                       atol=limits.acceleration.max() * times[1]**2)
    assert motion.duration <= plain.duration + 1e-9


def test_joints_arrive_together():
    limits = MotionLimits([1.0] * 3, [2.0] * 3, [20.0] * 3)
    motion = straight_motion(GANTRY, JOINTS, np.zeros(3), [2.0, 1.0, -0.5], limits)
    before = motion.at(motion.duration - 0.05)
    assert (np.abs(before.velocity) > 1e-5).all()
