"""Validation and parsing of trajectories as in joint_trajectory_controller."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from trajectory_msgs.msg import JointTrajectory

from ros2_ik.core import Array
from ros2_ik.mock.controllers.trajectory import Knot

if TYPE_CHECKING:
    from builtin_interfaces.msg import Duration, Time

REST_SPEED = float(np.finfo(np.float32).eps)   # velocity that counts as 0 [rad/s, m/s]


def refusal(message: JointTrajectory, joints: Sequence[str], now: int) -> str:
    """
    Return why the controller refuses a trajectory, or ''.

    `now` is the controller's time [ns]. Like the real controller, this does not check limits, NaN,
    duplicate names, and the distance from the current state.
    """
    return (_wrong_names(message, joints) or _wrong_time(message, now) or _moving_end(message)
            or _wrong_sizes(message))


def _wrong_names(message: JointTrajectory, joints: Sequence[str]) -> str:
    names = message.joint_names
    if not names:
        return 'no joint names'
    if len(names) != len(joints):
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


def _moving_end(message: JointTrajectory) -> str:
    fast = [velocity for velocity in message.points[-1].velocities if abs(velocity) > REST_SPEED]
    return f'the last point has velocities: {fast}' if fast else ''


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


def read_knots(message: JointTrajectory, joints: Sequence[str]) -> list[Knot]:
    """Return the points of a valid trajectory, in the controller's joint order."""
    # index of each joint of the message in the controller's order
    order = [joints.index(name) for name in message.joint_names]

    def ordered(values: Sequence[float]) -> Array:
        # A duplicate name hides another joint, which gets 0 here. The real controller commands an
        # arbitrary position for that joint.
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
