"""Braking motions come to rest within limits."""

import math

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline
from small_robots import joint, urdf, X

from ros2_ik.core import Motion, MotionLimits, MotionState, Robot, straight_motion
from ros2_ik.core.errors import InvalidStateError
from ros2_ik.core.internals import braking_motion, braking_on_path, stopped_within

SLIDE = urdf(joint('x', 'prismatic', 'base', 'ball', axis=X, limits=(-2.0, 2.0)))
LIMITS = MotionLimits([1.0, 1.0], [2.0, 4.0], [math.inf, math.inf])


def test_braking_from_rest_takes_no_time():
    motion = braking_motion(['a', 'b'], [1.0, -1.0], [0.0, 0.0], LIMITS)
    assert motion.duration == 0 and motion.goal.tolist() == [1.0, -1.0]
    assert motion.times(0.02).tolist() == [0.02]


def test_braking_distance_follows_from_velocity_and_acceleration():
    motion = braking_motion(['a', 'b'], [1.0, 0.0], [0.8, -0.2], LIMITS)
    assert motion.duration == pytest.approx(0.4)
    assert motion.goal == pytest.approx([1.16, -0.04])
    half = motion.at(0.2)
    assert half.position == pytest.approx([1.12, -0.03])
    assert half.velocity == pytest.approx([0.4, -0.1])
    assert half.acceleration == pytest.approx([-2.0, 0.5])


def cubic_extrema(motion, position, velocity):
    """Return the largest acceleration, speed and reverse speed of a cubic to the motion's goal."""
    cubic = CubicHermiteSpline([0.0, motion.duration], [position, motion.goal],
                               [velocity, np.zeros(len(velocity))])
    times = np.linspace(0, motion.duration, 201)
    speeds = cubic(times, 1)
    forward = np.sign(velocity)
    return (np.abs(cubic([0.0, motion.duration], 2)).max(axis=0), np.abs(speeds).max(axis=0),
            -(speeds * forward).min(axis=0))


@pytest.mark.parametrize('lag', [0.02, 0.3])
@pytest.mark.parametrize('stop', np.linspace(0.02, 1.9, 6).tolist())
def test_braking_of_a_robot_behind_its_motion_keeps_the_limits(lag, stop):
    """The state of the robot is that of the motion up to `lag` seconds earlier."""
    limits = MotionLimits([1.0], [2.0], [40.0])
    motion_before = straight_motion(Robot.from_urdf(SLIDE), ['x'], [0.0], [1.5], limits)
    times = np.linspace(stop - lag, stop + 0.02, 9)
    states = [motion_before.at(time) for time in times]
    middle = motion_before.at(stop - lag / 2)
    motion = braking_motion(['x'], middle.position, middle.velocity, limits, states)
    for state in [*states, middle]:
        acceleration, speed, reverse = cubic_extrema(motion, state.position, state.velocity)
        assert acceleration[0] < 2.0 * 1.001 and speed[0] < 1.001
        assert reverse[0] < 1e-6 * (state.velocity[0] > 0) or state.velocity[0] == 0


def circle(time):
    """Return a state on a circle that both joints pass at 0.5 rad/s, reversing on the way."""
    angle = 0.5 * time
    wave = np.array([math.cos(angle), math.sin(angle)])
    return MotionState(wave, 0.5 * wave[::-1] * [-1, 1], -0.25 * wave)


@pytest.mark.parametrize('time', [0.3, 3.0, 6.0, 9.2])
def test_braking_on_a_path_ends_on_the_path_within_the_limits(time):
    motion = Motion(('a', 'b'), 10.0, circle, is_curved=True)
    states = [motion.at(time + late) for late in np.linspace(-0.06, 0.04, 5)]
    braking = braking_on_path(motion, time, states, LIMITS)
    assert braking.duration < 0.7
    assert braking.goal == pytest.approx(motion.at(time + braking.duration / 2).position)
    for position, velocity, _ in states:
        acceleration, speed, _ = cubic_extrema(braking, position, velocity)
        assert (acceleration < LIMITS.acceleration * 1.001).all() and (speed < 1.001).all()
    assert braking_on_path(motion, 9.9, states, LIMITS) is None     # the motion ends earlier


def test_braking_stops_at_bounds():
    """A joint that would cross a bound stops there, earlier than the others."""
    bounds = [-5.0, -5.0], [1.1, 5.0]
    motion = stopped_within(braking_motion(['a', 'b'], [1.0, 0.0], [0.5, 0.9], MotionLimits(
        [1.0, 1.0], [2.0, 1.0], [math.inf, math.inf])), bounds)
    assert motion.goal == pytest.approx([1.1, 0.405]) and motion.duration == pytest.approx(0.9)
    assert motion.rests == pytest.approx([0.4])
    positions = np.array([motion.at(t).position for t in np.linspace(0, 0.9, 200)])
    assert positions[:, 0].max() < 1.1 + 1e-9 and (np.diff(positions, axis=0) > -1e-9).all()
    accelerations = np.array([motion.at(t).acceleration for t in np.linspace(0, 0.9, 200)])
    assert (np.abs(accelerations) < np.array([2.0, 1.0]) * 1.001).all()


@pytest.mark.parametrize('state', [([math.nan, 0], [0, 0]), ([0, 0], [0, math.inf]), ([0], [0])])
def test_malformed_states_are_refused(state):
    with pytest.raises(InvalidStateError, match='at the start'):
        braking_motion(['a', 'b'], *state, LIMITS)
