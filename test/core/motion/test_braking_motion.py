"""Braking motions: to rest within limits, along the same line."""

import math

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline
from small_robots import joint, urdf, X

from ros2_ik.core import MotionLimits, Robot, straight_motion
from ros2_ik.core.errors import InvalidStateError
from ros2_ik.core.internals import braking_motion, stopped_within

SLIDE = urdf(joint('x', 'prismatic', 'base', 'ball', axis=X, limits=(-2.0, 2.0)))
LIMITS = MotionLimits([1.0, 1.0], [2.0, 4.0], [math.inf, math.inf])


def test_braking_at_rest_takes_no_time():
    motion = braking_motion(['a', 'b'], [1.0, -1.0], [0.0, 0.0], LIMITS)
    assert motion.duration == 0 and motion.goal.tolist() == [1.0, -1.0]
    assert motion.times(0.02).tolist() == [0.02]


def test_braking_has_the_distance_of_velocity_and_acceleration():
    motion = braking_motion(['a', 'b'], [1.0, 0.0], [0.8, -0.2], LIMITS)
    assert motion.duration == pytest.approx(0.4)
    assert motion.goal == pytest.approx([1.16, -0.04])
    half = motion.at(0.2)
    assert half.position == pytest.approx([1.12, -0.03])
    assert half.velocity == pytest.approx([0.4, -0.1])
    assert half.acceleration == pytest.approx([-2.0, 0.5])


def begun(motion, position, velocity):
    """Return the largest acceleration and speed of a cubic, and the way back to its end."""
    way = CubicHermiteSpline([0.0, motion.duration], [position, motion.goal],
                             [velocity, np.zeros(len(velocity))])
    times = np.linspace(0, motion.duration, 201)
    speeds = way(times, 1)
    forward = np.sign(velocity)
    return (np.abs(way([0.0, motion.duration], 2)).max(axis=0), np.abs(speeds).max(axis=0),
            -(speeds * forward).min(axis=0))


@pytest.mark.parametrize('lag', [0.02, 0.3])
@pytest.mark.parametrize('stop', np.linspace(0.02, 1.9, 6).tolist())
def test_braking_of_a_robot_behind_its_motion_keeps_the_limits(lag, stop):
    """Its state may be that of any time in the last `lag` seconds."""
    limits = MotionLimits([1.0], [2.0], [40.0])
    way = straight_motion(Robot.from_urdf(SLIDE), ['x'], [0.0], [1.5], limits)
    spots = np.linspace(stop - lag, stop + 0.02, 9)
    states = [way.at(time) for time in spots]
    middle = way.at(stop - lag / 2)
    motion = braking_motion(['x'], middle.position, middle.velocity, limits, states)
    for state in [*states, middle]:
        acceleration, speed, back = begun(motion, state.position, state.velocity)
        assert acceleration[0] < 2.0 * 1.001 and speed[0] < 1.001
        assert back[0] < 1e-6 * (state.velocity[0] > 0) or state.velocity[0] == 0


def test_braking_ends_inside_the_bounds():
    """A joint that would leave them stops at them, earlier."""
    bounds = [-5.0, -5.0], [1.1, 5.0]
    motion = stopped_within(braking_motion(['a', 'b'], [1.0, 0.0], [0.5, 0.9], MotionLimits(
        [1.0, 1.0], [2.0, 1.0], [math.inf, math.inf])), bounds)
    assert motion.goal == pytest.approx([1.1, 0.405]) and motion.duration == pytest.approx(0.9)
    assert motion.rests == pytest.approx([0.4])
    way = np.array([motion.at(t).position for t in np.linspace(0, 0.9, 200)])
    assert way[:, 0].max() < 1.1 + 1e-9 and (np.diff(way, axis=0) > -1e-9).all()
    accelerations = np.array([motion.at(t).acceleration for t in np.linspace(0, 0.9, 200)])
    assert (np.abs(accelerations) < np.array([2.0, 1.0]) * 1.001).all()


@pytest.mark.parametrize('state', [([math.nan, 0], [0, 0]), ([0, 0], [0, math.inf]), ([0], [0])])
def test_malformed_states_are_refused(state):
    with pytest.raises(InvalidStateError, match='at the start'):
        braking_motion(['a', 'b'], *state, LIMITS)
