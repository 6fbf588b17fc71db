"""Motion along a path: constant speed of the tool, from rest to rest, within joint limits."""


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

N_SPEEDS = 60       # tool speeds that are tried, in a geometric series
SLOWEST = 1e-3      # the last of them, as a part of the first
STILL = 1e-12       # smaller derivatives of joints count as this [rad, m per m]


def path_motion(path: Path, limits: MotionLimits, tip_speed: float) -> Motion:
    """
    Return the motion of the moving joints along a path, at a constant speed of the tool.

    The configurations are connected by a cubic spline over the path's length, which the tool
    follows from rest to rest at up to `tip_speed` [m/s] (along rotations in place 0.2 m count as
    a radian). Speed, acceleration and jerk along the path are the same everywhere: such that the
    `limits` of the joints hold at the tightest place. Infinite limits of the jerk leave it free.

    Raises InvalidStateError for a path that is not whole, and where the spline leaves the path's
    deviation or the joint limits, or touches: solve the path with a smaller spacing.
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
        raise InvalidStateError(f'the motion touches at {contact.time:.3g} s: '
                                + ', '.join(map(str, contact.contacts)))
    return motion


def _limits_along(spline: 'scipy.interpolate.CubicSpline', limits: MotionLimits,
                  tip_speed: float) -> MotionLimits:
    """Return the limits along s with which the motion is shortest, of those tried."""
    first, second, third = _derivatives(spline)
    length, fastest = spline.x[-1], min(tip_speed, float((limits.velocity / first).min()))
    best = np.inf, fastest, fastest, fastest
    for v in fastest * np.geomspace(1.0, SLOWEST, N_SPEEDS):
        # joint acceleration: second v^2 + first a; jerk: third v^3 + 3 second v a + first j
        left = limits.jerk - third * v**3
        a = float(np.minimum((limits.acceleration - second * v**2) / first,
                             left / (6 * second * v)).min())
        j = float(((left - 3 * second * v * a) / first).min())
        if a > 0 and j > 0:
            best = min(best, (length / v + v / a + a / j, float(v), a, j))
    if best[0] == np.inf:
        raise InvalidOptionError('the path bends too sharply for the limits of acceleration or '
                                 'jerk; valid: larger limits, or a smoother path')
    return MotionLimits(*(np.array([value]) for value in best[1:]))


def _derivatives(spline: 'scipy.interpolate.CubicSpline') -> tuple[Array, Array, Array]:
    """Return the largest first three derivatives in each piece of a cubic spline, (k, n) each."""
    c3, c2, c1, _ = spline.c
    h = np.diff(spline.x)[:, None]
    # the first derivative is largest at an end of a piece, or where the second one vanishes
    vertex = np.clip(np.divide(-c2, 3 * c3, out=np.zeros_like(c2), where=c3 != 0), 0.0, h)
    first = np.max([np.abs(c1 + t * (2 * c2 + 3 * t * c3)) for t in (0.0, vertex, h)], axis=0)
    second = np.max([np.abs(2 * c2 + 6 * t * c3) for t in (0.0, h)], axis=0)
    return np.maximum(first, STILL), np.maximum(second, STILL), np.abs(6 * c3)


def _check(path: Path, spline: 'scipy.interpolate.CubicSpline') -> None:
    """Raise InvalidStateError where the spline leaves the path or the joint limits."""
    problem, options, q = path.problem, path.options, path.q[0].copy()
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
