"""Timing of the motion along a path, at a constant tool speed within joint limits."""


import numpy as np
import scipy

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import positive
from ros2_ik.core.errors import InvalidOptionError, InvalidStateError
from ros2_ik.core.motion import blocked, Motion, MotionLimits, MotionState
from ros2_ik.core.motion.motion_limits import LIMIT_ROUNDING
from ros2_ik.core.motion.timing import timed
from ros2_ik.core.path.path import Path
from ros2_ik.core.problem import accept

# number of tool speeds tried, in a geometric series
N_SPEEDS = 60
# smallest tool speed tried, relative to the largest
MIN_SPEED_RATIO = 1e-3
# smallest derivative of a joint by the path length that is used as a divisor [rad/m, 1]
MIN_DERIVATIVE = 1e-12


def path_motion(path: Path, limits: MotionLimits, tip_speed: float) -> Motion:
    """
    Return the motion of the active joints along a path, from rest to rest.

    A cubic spline over the path length connects the configurations. The tool moves at up to
    `tip_speed` [m/s] (in rotations in place, 0.2 m count as 1 rad). Speed, acceleration and jerk
    along the path have constant limits, chosen so that the `limits` of the joints hold everywhere.
    An infinite jerk limit means no limit.

    Raises InvalidStateError for a path that is not whole, and if the spline leaves the allowed
    deviation or the joint limits or has a contact; a smaller spacing of the path may help.
    """
    tip_speed = positive(tip_speed, 'tip_speed', InvalidOptionError)
    problem = path.problem
    names = problem.joint_names
    limits.check_count(len(names))
    if not path.success:
        raise InvalidStateError(f'only a whole path can be moved along: {path.message}')
    spline = scipy.interpolate.CubicSpline(path.parameters, path.q[:, problem.active.indices])
    _check(path, spline)
    way = timed(('s',), np.zeros(1), np.zeros(1), _limits_along(spline, limits, tip_speed),
                goal=np.array([path.tool_path.length]))

    def state(time: float) -> MotionState:
        (s,), (speed,), (acceleration,) = way.state(time)
        first, second = spline(s, 1), spline(s, 2)
        return MotionState(spline(s), first * speed, second * speed**2 + first * acceleration)
    motion = Motion(names, way.duration, state)
    contact = problem.checker and blocked(problem.checker, motion, path.q[0],
                                          path.options.resolution)
    if contact:
        raise InvalidStateError(f'the motion has a contact at {contact.time:.3g} s: '
                                + ', '.join(map(str, contact.contacts)))
    return motion


def _limits_along(spline: 'scipy.interpolate.CubicSpline', limits: MotionLimits,
                  tip_speed: float) -> MotionLimits:
    """Return limits of path speed, acceleration and jerk: of those tried, the fastest motion's."""
    first, second, third = _derivatives(spline)
    length, fastest = spline.x[-1], min(tip_speed, float((limits.velocity / first).min()))
    best = np.inf, fastest, fastest, fastest
    # A lower speed v leaves more acceleration a and jerk j along the path, by the chain rule:
    # joint acceleration: second v^2 + first a; jerk: third v^3 + 3 second v a + first j.
    for v in fastest * np.geomspace(1.0, MIN_SPEED_RATIO, N_SPEEDS):
        left = limits.jerk - third * v**3
        a = float(np.minimum((limits.acceleration - second * v**2) / first,
                             left / (6 * second * v)).min())
        j = float(((left - 3 * second * v * a) / first).min())
        # duration of the motion: constant speed, plus one acceleration and one jerk phase
        if a > 0 and j > 0:
            best = min(best, (length / v + v / a + a / j, float(v), a, j))
    if best[0] == np.inf:
        raise InvalidOptionError('the path bends too sharply for the limits of acceleration or '
                                 'jerk; valid: larger limits, or a smoother path')
    return MotionLimits(*(np.array([value]) for value in best[1:]))


def _derivatives(spline: 'scipy.interpolate.CubicSpline') -> tuple[Array, Array, Array]:
    """Return the maxima of the first three derivatives in each interval of a spline, (k, n)."""
    c3, c2, c1, _ = spline.c
    h = np.diff(spline.x)[:, None]
    # the first derivative is largest at an end of the interval or where the second one is zero
    vertex = np.clip(np.divide(-c2, 3 * c3, out=np.zeros_like(c2), where=c3 != 0), 0.0, h)
    first = np.max([np.abs(c1 + t * (2 * c2 + 3 * t * c3)) for t in (0.0, vertex, h)], axis=0)
    second = np.max([np.abs(2 * c2 + 6 * t * c3) for t in (0.0, h)], axis=0)
    return (np.maximum(first, MIN_DERIVATIVE), np.maximum(second, MIN_DERIVATIVE),
            np.abs(6 * c3))


def _check(path: Path, spline: 'scipy.interpolate.CubicSpline') -> None:
    """Raise InvalidStateError if the spline leaves the path or the joint limits."""
    problem, options, q = path.problem, path.options, path.q[0].copy()
    # halfway between configurations, where the spline is farthest from the path
    for s in (path.parameters[1:] + path.parameters[:-1]) / 2:
        q[problem.active.indices] = spline(s)
        error, = accept(problem.again([path.tool_path.pose(float(s))]), q).errors
        outside = np.maximum(problem.lower - q, q - problem.upper)[problem.active.indices].max()
        if not (error.position <= options.max_deviation and outside <= LIMIT_ROUNDING
                and error.orientation <= options.max_rotation):
            raise InvalidStateError(
                f'at {s:.4g} m of the path the motion is {error.position:.3g} m and '
                f'{error.orientation:.3g} rad from the path, and {max(outside, 0.0):.3g} outside '
                'of joint limits; valid: a smaller spacing, or corners rounded by a Spline')
