"""
Motions along a path, at a constant tool speed within joint limits.

`PathSearch` is the search for a motion through poses, which a worker process can run.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
import math
import time
from typing import NamedTuple

import numpy as np
import pinocchio as pin
import scipy

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import positive
from ros2_ik.core.errors import IKError, InvalidOptionError, InvalidStateError
from ros2_ik.core.motion import blocked, Motion, MotionLimits, MotionState
from ros2_ik.core.motion.motion import LIMIT_ROUNDING
from ros2_ik.core.motion.timing import timed
from ros2_ik.core.path.path import Path, PathOptions
from ros2_ik.core.path.solve_path import follow_path, start_reason
from ros2_ik.core.path.tool_paths import ROTATION_LENGTH, Waypoints
from ros2_ik.core.problem import accept, IKProblem
from ros2_ik.core.robot import Robot
from ros2_ik.core.solvers import Budget
from ros2_ik.core.solvers.serialization import pack, unpack
from ros2_ik.core.status import Status

# number of tool speeds tried, in a geometric series
N_SPEEDS = 60
# smallest tool speed tried, relative to the largest
MIN_SPEED_RATIO = 1e-3
# smallest derivative of a joint by the path length that is used as a divisor [rad/m, 1]
MIN_DERIVATIVE = 1e-12
# time between two points [s]; interpolation with accelerations is then within 1e-5 rad
PERIOD = 0.03
# number of points above which the period is increased
MAX_POINTS = 300
# distance below which two poses are equal [m]
EQUAL = 1e-6
# change of direction at a corner above which the tool stops there [rad]
SHARP = 0.3


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
    limits.check_count(len(path.problem.joint_names))
    if not path.success:
        raise InvalidStateError(f'only a whole path can be moved along: {path.message}')
    return _reached_motion(path, limits, tip_speed)


def _reached_motion(path: Path, limits: MotionLimits, tip_speed: float) -> Motion:
    """Return the motion along the reached part of a path; see `path_motion`."""
    problem, names = path.problem, path.problem.joint_names
    spline = scipy.interpolate.CubicSpline(path.parameters, path.q[:, problem.active.indices])
    _check(path, spline)
    way = timed(('s',), np.zeros(1), np.zeros(1), _limits_along(spline, limits, tip_speed),
                goal=path.parameters[-1:])

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


class TimedPath(NamedTuple):
    """
    Motion along the reached part of a path.

    `fraction` in [0, 1] is the reached share of the path; if below 1, `status` and `message` have
    the reason. `states` (k, 3, n) are positions [rad, m], velocities and accelerations of `joints`
    at `times` (k,) [s], beginning at time 0.
    """

    status: Status
    message: str
    fraction: float
    joints: tuple[str, ...]
    times: Array
    states: Array


class PathSearch:
    """
    The search for a motion of a tool along lines through poses (4, 4).

    The motion begins at the start of the `problem`, which must be at the first pose. The one
    target of the `problem` moves along the lines; the tool stops only at sharp corners. `limits`
    are those of the active joints, `tip_speed` [m/s] is the largest speed of the tool. The
    methods are the same as in `Search`, but one `run` is the whole search.
    """

    def __init__(self, problem: IKProblem, poses: Sequence[Array], limits: MotionLimits,
                 tip_speed: float, options: PathOptions) -> None:
        self.problem, self.poses, self.limits = problem, poses, limits
        self.tip_speed, self.options = tip_speed, options
        self.budget = Budget(time.monotonic() + options.timeout)
        self._motions = list[Motion]()
        self._result, self._fraction = (Status.PREEMPTED, 'cancelled before the search began'), 0.0

    def question(self) -> bytes:
        """Return the search as bytes for `of_question` in another process."""
        robot = self.problem.robot
        return pack((robot, self.problem.question(), self.poses, self.limits, self.tip_speed,
                     self.options, self.budget.deadline), robot.plain)

    @classmethod
    def of_question(cls, robot: Robot, data: bytes) -> 'PathSearch':
        """Return a new search from the bytes of `question`."""
        framed, question, *arguments, deadline = unpack(data, robot)
        search = cls(IKProblem(framed, **question), *arguments)
        # processes of one computer share the clock
        search.budget = replace(search.budget, deadline=deadline)
        return search

    def run(self, seconds: float = math.inf) -> bool:
        """Search for the motion; `seconds` is ignored. Returns True: the search is finished."""
        q = self.problem.start
        try:
            parts = _parts(self.poses)
            total = sum(part.length for part in parts)
            self._result = Status.SUCCESS, f'the whole path of {total:.4g} m is reached'
            first = self.problem.again([self.poses[0]])
            if not parts and not accept(first, q).accepted:
                status, _, text = start_reason(first)
                self._result = status, text
            # each part begins at the last configuration of the part before
            for part in parts:
                left = max(self.budget.deadline - time.monotonic(), 1e-3)
                path = follow_path(self.problem.varied(start=q), part, replace(
                    self.options, timeout=left, cancel=self.budget.cancelled, hold_start=True))
                if len(path.q) > 1:
                    self._motions.append(_reached_motion(path, self.limits, self.tip_speed))
                    self._fraction += path.parameters[-1] / total
                if not path.success:
                    self._result = path.status, path.message
                    break
                q = path.q[-1]
        # joint values exist, but the motion along them is not allowed
        except InvalidStateError as error:
            self._result = Status.INVALID_MOTION_PLAN, str(error)
        except IKError as error:
            self._result = error.status, str(error)
        return True

    def solution(self) -> TimedPath:
        """Return the motion found by `run`, sampled with a constant period."""
        start = self.problem.start[self.problem.active.indices]
        times, states, begin = [0.0], [np.array([start, 0 * start, 0 * start])], 0.0
        period = max(PERIOD, sum(motion.duration for motion in self._motions) / MAX_POINTS)
        for motion in self._motions:
            moments = motion.times(period)
            times += (begin + moments).tolist()
            states += [np.array(motion.at(moment)) for moment in moments]
            begin = times[-1]
        fraction = 1.0 if self._result[0] is Status.SUCCESS else self._fraction
        return TimedPath(*self._result, fraction, self.problem.joint_names, np.array(times),
                         np.array(states))


def _parts(poses: Sequence[Array]) -> list[Waypoints]:
    """Return the paths between consecutive sharp corners, without repeated poses."""
    kept = [poses[0], *(pose for before, pose in pairwise(poses)
                        if np.linalg.norm(_displacement(before, pose)) > EQUAL)]
    lines = [_displacement(*pair) for pair in pairwise(kept)]
    # sharp: the angle between consecutive displacements exceeds SHARP
    corners = [i for i, (before, after) in enumerate(pairwise(lines), 1) if before @ after
               < math.cos(SHARP) * np.linalg.norm(before) * np.linalg.norm(after)]
    return [Waypoints(kept[a:b + 1]) for a, b in pairwise([0, *corners, len(lines)]) if lines]


def _displacement(start: Array, end: Array) -> Array:
    """Return translation and rotation (6,) [m] between poses; 1 rad counts as 0.2 m."""
    turn = start[:3, :3] @ pin.log3(start[:3, :3].T @ end[:3, :3])
    return np.concatenate([end[:3, 3] - start[:3, 3], ROTATION_LENGTH * turn])
