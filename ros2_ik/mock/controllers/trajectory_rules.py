"""What joint_trajectory_controller refuses, and how it reads what it takes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ros2_ik.core import Array
from ros2_ik.mock.controllers.trajectory import Knot

STILL = float(np.finfo(np.float32).eps)   # velocity that counts as none


def refusal(message: JointTrajectory, joints: Sequence[str], now: int, partial: bool,
            moving_end: bool) -> str:
    """
    Return why the controller refuses a trajectory; '' when it does not.

    `now`: its clock, in nanoseconds. `partial`: allow_partial_joints_goal, `moving_end`:
    allow_nonzero_velocity_at_trajectory_end. It looks neither at limits nor for NaN, duplicate
    names or distance from the present state.
    """
    return (_wrong_names(message, joints, partial) or _wrong_time(message, now)
            or _moving_end(message, moving_end) or _wrong_sizes(message))


def _wrong_names(message: JointTrajectory, joints: Sequence[str], partial: bool) -> str:
    names = message.joint_names
    if not names:
        return 'no joint names'
    if len(names) != len(joints) and not (partial and len(names) < len(joints)):
        return f'{len(names)} joint names, the controller has {len(joints)} joints'
    unknown = [name for name in names if name not in joints]
    return f'joints of others: {unknown}; its own: {list(joints)}' if unknown else ''


def _wrong_time(message: JointTrajectory, now: int) -> str:
    if not message.points:
        return 'no points'
    times = [nanoseconds(point.time_from_start) for point in message.points]
    for i, (before, after) in enumerate(zip(times, times[1:], strict=False)):
        if after <= before:
            return (f'time_from_start does not increase: point {i} has {before * 1e-9:g} s, '
                    f'point {i + 1} has {after * 1e-9:g} s')
    stamp = nanoseconds(message.header.stamp)
    late = now - stamp - times[-1]
    return f'it ended {late * 1e-9:.3f} s ago, by header.stamp' if stamp and late > 0 else ''


def _moving_end(message: JointTrajectory, allowed: bool) -> str:
    fast = [velocity for velocity in message.points[-1].velocities if abs(velocity) > STILL]
    return f'the last point has velocities: {fast}' if fast and not allowed else ''


def _wrong_sizes(message: JointTrajectory) -> str:
    count = len(message.joint_names)
    for i, point in enumerate(message.points):
        if len(point.positions) != count:
            return f'point {i} has {len(point.positions)} positions for {count} joints'
        for field in ('velocities', 'accelerations'):
            if len(getattr(point, field)) not in (0, count):
                return f'point {i} has {len(getattr(point, field))} {field} for {count} joints'
        if point.effort:
            return f'point {i} has effort, and no joint has an effort command interface'
    return ''


def read_knots(message: JointTrajectory, joints: Sequence[str],
               commanded: Sequence[float]) -> list[Knot]:
    """
    Put a trajectory that is not refused into the controller's order.

    Joints of a partial goal that are not named hold their last command.
    """
    order = [joints.index(name) for name in message.joint_names]
    # a duplicate hides another joint, which the real controller sends wherever its memory says
    rest = np.array(commanded) if len(order) < len(joints) else np.zeros(len(joints))
    return [_knot(point, order, rest) for point in message.points]


def _knot(point: JointTrajectoryPoint, order: list[int], rest: Array) -> Knot:
    def ordered(values: Sequence[float], start: Array) -> Array:
        full = start.copy()
        full[order] = values
        return full
    still = np.zeros(len(rest))
    velocity = ordered(point.velocities, still) if point.velocities else None
    acceleration = ordered(point.accelerations, still) if point.accelerations else None
    return Knot(nanoseconds(point.time_from_start), ordered(point.positions, rest), velocity,
                acceleration)


def nanoseconds(time: Any) -> int:
    """Return a Time or Duration message in nanoseconds."""
    return int(time.sec) * 10**9 + int(time.nanosec)
