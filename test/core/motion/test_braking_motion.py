"""Braking: to rest within limits, on the line it is on."""

import math

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline

from ros2_ik.core import (
    braking_motion,
    even_braking_motion,
    InvalidOptionError,
    InvalidStateError,
    MotionLimits,
)

LIMITS = MotionLimits([1.0, 1.0], [2.0, 4.0], [math.inf, math.inf])


def test_as_far_as_velocity_and_acceleration_say():
    """v^2 / (2 a) for the joint that takes longest."""
    motion = braking_motion(['a', 'b'], [1.0, 0.0], [0.8, 0.2], LIMITS)
    assert motion.duration == pytest.approx(0.4)
    assert motion.goal[0] == pytest.approx(1.16)
    assert (motion.at(motion.duration).velocity == 0).all()


@pytest.mark.parametrize('jerk', [math.inf, 30.0])
def test_within_limits_and_in_step(jerk):
    limits = MotionLimits([1.0, 1.0], [2.0, 4.0], [jerk, jerk])
    motion = braking_motion(['a', 'b'], [1.0, 0.0], [-0.8, 0.4], limits)
    times = np.linspace(0, motion.duration, 500)
    positions = np.array([motion.at(t).position for t in times])
    velocity = np.diff(positions, axis=0) / times[1]
    assert (np.diff(velocity[:, 0]) >= -1e-9).all() and (np.abs(velocity[:, 0]) < 0.81).all()
    assert (np.abs(np.diff(velocity, axis=0)) / times[1] <= limits.acceleration + 1e-6).all()
    moved = positions[1:] - positions[0]
    assert np.allclose(moved[:, 0], -2 * moved[:, 1], atol=1e-12)


def test_at_rest_it_stays():
    motion = braking_motion(['a', 'b'], [1.0, -1.0], [0.0, 0.0], LIMITS)
    assert motion.duration == 0 and motion.goal.tolist() == [1.0, -1.0]
    assert motion.times(0.02).tolist() == [0.02]


@pytest.mark.parametrize('position, velocity', [([math.nan, 0], [0, 0]), ([0, 0], [0, math.inf]),
                                                ([0], [0])])
def test_bad_states(position, velocity):
    with pytest.raises(InvalidStateError, match='at the start'):
        braking_motion(['a', 'b'], position, velocity, LIMITS)


def test_what_slows_down_already_comes_no_farther():
    """What speeds up brakes as if it did not: on the straight way, in step."""
    limits = MotionLimits([1.0], [2.0], [20.0])
    plain = braking_motion(['a'], [1.0], [0.5], limits)
    slowing = braking_motion(['a'], [1.0], [0.5], limits, [-2.0])
    assert plain.goal[0] > slowing.goal[0] + 0.02
    assert slowing.at(0.0).acceleration[0] == pytest.approx(-2.0)
    speeding = braking_motion(['a'], [1.0], [0.5], limits, [2.0])
    assert speeding.goal[0] == pytest.approx(plain.goal[0])


def test_bad_accelerations():
    with pytest.raises(InvalidStateError, match='accelerations at the start'):
        braking_motion(['a', 'b'], [0, 0], [0, 0], LIMITS, [math.nan, 0])


def test_even_braking_as_far_as_velocity_and_acceleration_say():
    motion = even_braking_motion(['a', 'b'], [1.0, 0.0], [0.8, -0.2], LIMITS)
    assert motion.duration == pytest.approx(0.4)
    assert motion.goal == pytest.approx([1.16, -0.04])
    half = motion.at(0.2)
    assert half.position == pytest.approx([1.12, -0.03])
    assert half.velocity == pytest.approx([0.4, -0.1])
    assert half.acceleration == pytest.approx([-2.0, 0.5])


@pytest.mark.parametrize('late', [-0.02, -0.01, 0.0, 0.005, 0.02])
@pytest.mark.parametrize('fast', [1e-4, 0.01, 0.3, 2.0])
def test_who_begins_to_brake_late_stays_within_the_acceleration(fast, late):
    """On the cubic polynomial from where he is then, with the velocity that he has."""
    velocity = np.array([fast, -0.3 * fast])
    motion = even_braking_motion(['a', 'b'], [1.0, 0.0], velocity, LIMITS, 0.02)
    begin = np.array([1.0, 0.0]) + late * velocity
    way = CubicHermiteSpline([0.0, motion.duration], [begin, motion.goal],
                             [velocity, np.zeros(2)])
    worst = np.abs(way.derivative(2)([0.0, motion.duration])).max(axis=0) / LIMITS.acceleration
    assert worst.max() < 1 + 1e-9
    assert abs(late) < 0.02 or worst.max() > 0.99   # and no longer than it must


def test_even_braking_at_rest_stays():
    motion = even_braking_motion(['a'], [1.0], [0.0], MotionLimits([1.0], [1.0], [1.0]), 0.02)
    assert motion.duration == 0 and motion.goal.tolist() == [1.0]


def test_bad_even_braking():
    with pytest.raises(InvalidStateError, match='at the start'):
        even_braking_motion(['a'], [math.nan], [0.0], LIMITS)
    with pytest.raises(InvalidOptionError, match='limits of 2 joints'):
        even_braking_motion(['a'], [0.0], [0.0], LIMITS)
