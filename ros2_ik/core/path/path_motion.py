"""Timed motions along a path, and the search for a motion through poses."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
import math
import time
from typing import NamedTuple

import numpy as np
import scipy

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import instance, positive
from ros2_ik.core.errors import IKError, InvalidOptionError, InvalidStateError
from ros2_ik.core.motion import blocked, Motion, MotionLimits, MotionState
from ros2_ik.core.motion.motion import LIMIT_ROUNDING
from ros2_ik.core.motion.timing import timed
from ros2_ik.core.path.branches import deviation, PathOptions
from ros2_ik.core.path.solve_path import follow_path, Path, start_reason
from ros2_ik.core.path.tool_paths import Waypoints
from ros2_ik.core.problem import accept, IKProblem
from ros2_ik.core.robot import Configuration
from ros2_ik.core.solvers import Budget
from ros2_ik.core.status import Status

# added to joint derivatives w.r.t. the path length (order 1 to 3), to avoid division by zero
MIN_DERIVATIVE = 1e-12
# time between two points of a trajectory [s]; at the default limits, the quintic interpolation of
# ros2_controllers then stays within 1e-5 rad of a straight motion
POINT_PERIOD = 0.03
# number of points above which the time between points is increased
MAX_POINTS = 300
# half the minimum number of points while the tool accelerates to its speed; with fewer points,
# cubic interpolation exceeds the speed limit
RAMP_POINTS = 4
# largest difference between elements of two poses (4, 4) that count as equal [m, 1]
POSE_TOLERANCE = 1e-6


def path_motion(path: Path, limits: MotionLimits, tip_speed: float) -> Motion:
    """
    Return the motion of the active joints along a path, from rest to rest.

    Cubic splines over the path length connect the configurations. The tool moves at up to
    `tip_speed` [m/s] (1 rad of a rotation in place counts as 0.2 m), and stops at sharp corners of
    `Waypoints`. Between two stops, speed, acceleration and jerk along the path have constant
    limits, chosen so that the `limits` of the joints hold everywhere. An infinite jerk limit means
    no limit.

    Raises InvalidStateError for an incomplete path, and if the spline exceeds the allowed
    deviation or the joint limits, or has a contact; a smaller spacing of the path may help.
    """
    tip_speed = positive(tip_speed, 'tip_speed', InvalidOptionError)
    instance(path, Path, 'path', InvalidOptionError)
    instance(limits, MotionLimits, 'limits', InvalidOptionError)
    limits.check_count(len(path.problem.joint_names))
    if not path.success:
        raise InvalidStateError(f'only a complete path has a motion: {path.message}')
    return _reached_motion(path, limits, tip_speed)


def _reached_motion(path: Path, limits: MotionLimits, tip_speed: float) -> Motion:
    """Return the motion along the reached part of a path; see `path_motion`."""
    problem, ends = path.problem, np.searchsorted(path.parameters, path.tool_path.stops)
    q, last = path.q[:, problem.active.indices], len(path.q) - 1
    splines = [scipy.interpolate.CubicSpline(path.parameters[a:b + 1], q[a:b + 1])
               for a, b in pairwise([0, *ends[ends < last], last])]
    for spline in splines:
        _check(path, spline)
    # motions of the path parameter from stop to stop, and the times at which they begin
    segments = [timed(('s',), spline.x[:1], spline.x[-1:], _limits_along(
        spline, limits, tip_speed / _tip_rate(path, spline))) for spline in splines]
    begins = np.cumsum([0.0, *(segment.duration for segment in segments)])

    def state(time: float) -> MotionState:
        k = min(int(np.searchsorted(begins, time, 'right')), len(segments)) - 1
        spline, ((s,), (speed,), (acceleration,)) = splines[k], segments[k].at(time - begins[k])
        first, second = spline(s, 1), spline(s, 2)
        return MotionState(spline(s), first * speed, second * speed**2 + first * acceleration)
    motion = Motion(problem.joint_names, float(begins[-1]), state, tuple(begins[1:-1].tolist()),
                    is_curved=True)
    contact = problem.checker and blocked(problem.checker, motion, path.q[0],
                                          path.options.resolution)
    if contact:
        raise InvalidStateError(f'the motion has a contact at {contact.time:.3g} s: '
                                + ', '.join(map(str, contact.contacts)))
    return motion


def _check(path: Path, spline: 'scipy.interpolate.CubicSpline') -> None:
    """Raise InvalidStateError if the spline leaves the path or the joint limits."""
    problem, q = path.problem, path.q[0].copy()
    # halfway between configurations, where the spline is usually farthest from the path
    for s in (spline.x[1:] + spline.x[:-1]) / 2:
        q[problem.active.indices] = spline(s)
        distance = deviation(problem.with_poses([path.tool_path.pose(float(s))]), q)
        outside = np.maximum(problem.lower - q, q - problem.upper)[problem.active.indices].max()
        if not (distance <= path.options.max_deviation and outside <= LIMIT_ROUNDING):
            raise InvalidStateError(
                f'at {s:.4g} m of the path the motion is {distance:.3g} m from the path, and '
                f'{max(outside, 0.0):.3g} outside of joint limits; valid: a smaller spacing, or '
                'corners rounded by a Spline')


def _tip_rate(path: Path, spline: 'scipy.interpolate.CubicSpline') -> float:
    """Return the largest distance [m] that the tip moves per metre of path length, at least 1."""
    problem, q, rates = path.problem, path.q[0].copy(), [1.0]
    active, robot, error = problem.active, problem.robot, problem.targets[0].function
    # rates above 1 occur where the spline overshoots, at changes between translation and rotation
    for s in np.linspace(spline.x[:-1], spline.x[1:], 4, endpoint=False).ravel():
        q[active.indices] = spline(s)
        J = error.jacobian(Configuration(robot, q, robot.scratch_data()))
        rates.append(float(np.linalg.norm(J[:3, active.v_slice] @ spline(s, 1))))
    return max(rates)


def _limits_along(spline: 'scipy.interpolate.CubicSpline', limits: MotionLimits,
                  tip_speed: float) -> MotionLimits:
    """Return limits of speed v, acceleration a and jerk j along the path, (1,) each."""
    c3, c2, c1, _ = spline.c
    h = np.diff(spline.x)[:, None]
    # bounds (k, n) of the joints' derivatives in each interval, from Bernstein coefficients
    first, second, third = (np.abs(each).max(axis=0) + MIN_DERIVATIVE for each in (
        [c1, c1 + c2 * h, c1 + h * (2 * c2 + 3 * c3 * h)], [2 * c2, 2 * c2 + 6 * c3 * h],
        [6 * c3]))
    # By the chain rule, the joint acceleration is second * v^2 + first * a, and the joint jerk is
    # third * v^3 + 3 * second * v * a + first * j. The term of v alone may use half of the
    # acceleration limit and a third of the jerk limit; a and j use the rest.
    v = min(tip_speed, (limits.velocity / first).min(),
            np.sqrt(limits.acceleration / (2 * second)).min(),
            np.cbrt(limits.jerk / (3 * third)).min())
    left = limits.jerk - third * v**3
    a = min(((limits.acceleration - second * v**2) / first).min(), (left / (6 * second * v)).min())
    j = ((left - 3 * second * v * a) / first).min()
    # with these limits, the tool takes at least 2 * ramp [s] to reach its speed
    ramp = RAMP_POINTS * max(POINT_PERIOD, (spline.x[-1] - spline.x[0]) / (v * MAX_POINTS))
    a = min(a, v / ramp)
    j = min(j, a / ramp)
    return MotionLimits(*(np.array([value]) for value in (v, a, j)))


class TimedPath(NamedTuple):
    """
    Motion along the reached part of a path.

    `fraction` in [0, 1] is the reached share of the path; if it is below 1, `status` and `message`
    give the reason. `states` (k, 3, n) are positions [rad, m], velocities and accelerations of the
    problem's active joints at `times` (k,) [s], beginning at time 0.
    """

    status: Status
    message: str
    fraction: float
    times: Array
    states: Array


class PathSearch:
    """
    Search for a tool motion along lines through waypoints (4, 4); runs in a worker process.

    The motion begins at the start of the `problem`, clamped to the joint limits. The only target
    of the `problem` moves along the lines; the tool stops only at sharp corners. `limits` are the
    limits of the active joints, and `tip_speed` [m/s] is the largest speed of the tool. The
    methods are the same as in `Search`, but a single `run` does the whole search.
    """

    def __init__(self, problem: IKProblem, waypoints: Sequence[Array], limits: MotionLimits,
                 tip_speed: float, options: PathOptions) -> None:
        # clamp the start, because encoders may report positions slightly outside the limits;
        # use the resolved targets: `waypoints` are in the root frame instead of a static frame
        self.problem = problem.replaced(targets=problem.targets,
                                        start=problem.within_limits(problem.start))
        self.waypoints, self.limits, self.tip_speed = waypoints, limits, tip_speed
        self.options = replace(options, hold_start=True)
        self.budget = Budget(time.monotonic() + options.timeout)
        self._found = self._at_start(Status.PREEMPTED, 'cancelled before the search began')

    def run(self, seconds: float = math.inf) -> bool:
        """Run the whole search, whatever `seconds` is; return True, as nothing is left to do."""
        try:
            self._found = self._search()
        except IKError as error:
            # InvalidStateError: joint values exist, but the motion along them is not allowed
            is_refused = isinstance(error, InvalidStateError)
            self._found = self._at_start(
                Status.INVALID_MOTION_PLAN if is_refused else error.status, str(error))
        return True

    def solution(self) -> TimedPath:
        """Return the motion found by `run`."""
        return self._found

    def _at_start(self, status: Status, message: str) -> TimedPath:
        """Return a result without motion: the start alone."""
        start = self.problem.start[self.problem.active.indices]
        return TimedPath(status, message, float(status is Status.SUCCESS), np.zeros(1),
                         np.array([[start, 0 * start, 0 * start]]))

    def _search(self) -> TimedPath:
        problem, target = self.problem, self.problem.targets[0]
        here = Configuration(problem.robot, problem.start, problem.robot.scratch_data())
        poses = [here.transform(target.tip, target.relative_to)]
        for pose in self.waypoints:
            # a free orientation must not add to the path length
            if not target.counted[3:].any():
                pose = np.vstack([np.column_stack([poses[0][:3, :3], pose[:3, 3]]), pose[3]])
            if not np.allclose(pose, poses[-1], rtol=0.0, atol=POSE_TOLERANCE):
                poses.append(pose)
        problem = problem.with_poses(poses[:1])
        if len(poses) == 1:
            if accept(problem, problem.start).accepted:
                return self._at_start(Status.SUCCESS, 'the tool is at the end of the path')
            status, _, text = start_reason(problem)
            return self._at_start(status, text)
        path = follow_path(problem, Waypoints(poses), self.options, self.budget)
        if len(path.q) < 2:
            return self._at_start(path.status, path.message)
        motion = _reached_motion(path, self.limits, self.tip_speed)
        # between two stops, the points have a constant period
        period = max(POINT_PERIOD, motion.duration / MAX_POINTS)
        times = np.concatenate([[0.0], *(
            np.linspace(a, b, math.ceil((b - a) / period) + 1)[1:]
            for a, b in pairwise((0.0, *motion.rests, motion.duration)))])
        return TimedPath(path.status, path.message, path.fraction, times,
                         np.array([motion.at(time) for time in times]))
