"""Validation and interpolation of trajectories as in joint_trajectory_controller."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from scipy.interpolate import BPoly
from trajectory_msgs.msg import JointTrajectory

from ros2_ik.core import Array

if TYPE_CHECKING:
    from builtin_interfaces.msg import Duration, Time

MAX_END_SPEED = float(np.finfo(np.float32).eps)   # end velocity that counts as 0 [rad/s, m/s]
SECONDS_PER_NANOSECOND = 1e-9


class Knot(NamedTuple):
    """A point of a trajectory: time [ns], positions and derivatives (n,) of the joints."""

    time: int
    position: Array
    velocity: Array | None = None
    acceleration: Array | None = None


class Trajectory:
    """
    Motion from a state through knots; knot times [ns] count from `stamp` (0: from the start).

    Interpolation between two knots is linear with positions only, cubic if both have velocities,
    and quintic if both have accelerations as well. At the last knot, the joints come to rest.
    """

    def __init__(self, knots: Sequence[Knot], stamp: int = 0) -> None:
        self._given, self._stamp = list(knots), stamp
        self._knots: list[Knot] = []
        self._segment: tuple[int, BPoly] | None = None

    @property
    def has_started(self) -> bool:
        """True after a call of `begin`."""
        return bool(self._knots)

    def begin(self, now: int, position: Array, velocity: Array, is_continuous: Sequence[bool],
              time_lag: int = 0) -> None:
        """
        Start the motion at time `now` [ns] from positions and velocities, (n,) each.

        If the first knot is in the past, the motion starts between knots. `time_lag` [ns] is the
        delay of `now` behind the clock of the stamp. Joints with `is_continuous` True move
        to the first knot by at most half a turn.
        """
        start = self._stamp - time_lag if self._stamp else now
        first = self._given[0].position
        # shift the knots of continuous joints by whole turns, so that the first is near the start
        turns = np.round((position - first) / (2 * np.pi)) * (2 * np.pi)
        shift = np.where(np.array(is_continuous) & np.isfinite(turns), turns, 0.0)
        self._knots = [knot._replace(time=start + knot.time, position=knot.position + shift)
                       for knot in self._given]
        # begin with a motion from the start to the first knot
        if now < self._knots[0].time:
            self._knots.insert(0, Knot(now, position, velocity))

    @property
    def end(self) -> int:
        """Time of the last knot [ns]; `begin` must have been called."""
        return self._knots[-1].time

    def sample(self, now: int) -> tuple[Array, Array]:
        """Return positions and velocities, (n,) each, at a time [ns]."""
        # before the first knot and after the last one, the joints rest
        i = bisect_right(self._knots, now, key=lambda knot: knot.time) - 1
        if i < 0 or i == len(self._knots) - 1:
            knot = self._knots[max(i, 0)]
            return knot.position, np.zeros(len(knot.position))
        if self._segment is None or self._segment[0] != i:
            self._segment = i, _polynomial(self._knots[i], self._knots[i + 1])
        seconds = (now - self._knots[i].time) * SECONDS_PER_NANOSECOND
        polynomial = self._segment[1]
        return polynomial(seconds), polynomial(seconds, 1)


def _polynomial(start: Knot, end: Knot) -> BPoly:
    ends = [[start.position], [end.position]]
    if start.velocity is not None and end.velocity is not None:
        ends = [[*ends[0], start.velocity], [*ends[1], end.velocity]]
        if start.acceleration is not None and end.acceleration is not None:
            ends = [[*ends[0], start.acceleration], [*ends[1], end.acceleration]]
    # the number of derivatives at both ends determines the degree
    return BPoly.from_derivatives([0.0, (end.time - start.time) * SECONDS_PER_NANOSECOND], ends)


def invalid_reason(message: JointTrajectory, joints: Sequence[str], now: int) -> str:
    """
    Return why the controller rejects a trajectory, or ''.

    `now` is the node clock's time [ns]. Like the real controller, this does not check limits, NaN,
    duplicate names or the distance from the current state.
    """
    names, points = message.joint_names, message.points
    if len(names) != len(joints) or not {*names} <= {*joints}:
        return f'joint names {[*names]}; this controller has {[*joints]}'
    if not points:
        return 'no points'
    for i, point in enumerate(points):
        sizes = [len(getattr(point, field)) for field in (
            'positions', 'velocities', 'accelerations', 'effort')]
        allowed = ((len(names),), (0, len(names)), (0, len(names)), (0,))
        if not all(size in valid for size, valid in zip(sizes, allowed, strict=True)):
            return (f'point {i} has {sizes} positions, velocities, accelerations and efforts for '
                    f'{len(names)} joints without effort interface')
    times = [nanoseconds(point.time_from_start) for point in points]
    if any(after <= before for before, after in zip(times, times[1:], strict=False)):
        return 'time_from_start does not increase'
    if any(abs(velocity) > MAX_END_SPEED for velocity in points[-1].velocities):
        return f'the last point has velocities {[*points[-1].velocities]}'
    stamp = nanoseconds(message.header.stamp)
    late = now - stamp - times[-1]
    return f'it ended {late * 1e-9:.3f} s ago, by header.stamp' if stamp and late > 0 else ''


def read_knots(message: JointTrajectory, joints: Sequence[str]) -> list[Knot]:
    """Return the points of a valid trajectory, in the controller's joint order."""
    # index of each joint of the message in the controller's order
    order = [joints.index(name) for name in message.joint_names]

    def ordered(values: Sequence[float]) -> Array:
        # If a name appears twice, another joint is missing and gets 0 here. The real controller
        # commands an arbitrary position for the missing joint.
        full = np.zeros(len(joints))
        full[order] = values
        return full
    return [Knot(nanoseconds(point.time_from_start), ordered(point.positions),
                 ordered(point.velocities) if point.velocities else None,
                 ordered(point.accelerations) if point.accelerations else None)
            for point in message.points]


def nanoseconds(time: 'Time | Duration') -> int:
    """Return a Time or Duration message as nanoseconds."""
    return int(time.sec) * 10**9 + int(time.nanosec)
