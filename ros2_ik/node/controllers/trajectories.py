"""Motions as trajectory messages."""

from builtin_interfaces.msg import Duration
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ros2_ik.core import Motion

SHORTEST = 1e-3   # between two points [s]
PERIOD = 0.03   # between points [s]: quintic interpolation stays within 1e-5 rad of the motion


def trajectory_message(motion: Motion, wait: float = 0.0) -> JointTrajectory:
    """
    Write a motion for a joint_trajectory_controller, which begins when it comes (stamp 0).

    It comes to the start within `wait` [s], if that is not 0. No point is at time 0, which would
    be a step; the last one has velocity 0.
    """
    times = [*([0.0] if wait else []), *motion.times(PERIOD).tolist()]
    return JointTrajectory(joint_names=list(motion.joints),
                           points=[_point(motion, time, wait) for time in times])


def braking_message(motion: Motion, least: float) -> JointTrajectory:
    """
    Write where, and when, a motion ends; a controller gets there by a cubic polynomial.

    That takes `least` [s] at least.

    There is nothing between that it could be ahead of or behind, whenever it begins, but for
    joints that rest before the others.
    """
    end = max(motion.duration, PERIOD, least)
    times = {max(time, SHORTEST) for time in motion.rests if time < end - SHORTEST}
    points = [_point(motion, time) for time in (*sorted(times), end)]
    for point in points:
        point.accelerations = []   # with them it would be a polynomial of another degree
    return JointTrajectory(joint_names=list(motion.joints), points=points)


def _point(motion: Motion, time: float, wait: float = 0.0) -> JointTrajectoryPoint:
    state = motion.at(time)
    return JointTrajectoryPoint(
        positions=state.position.tolist(), velocities=state.velocity.tolist(),
        accelerations=state.acceleration.tolist(), time_from_start=duration_message(wait + time))


def duration_message(seconds: float) -> Duration:
    """Write a duration."""
    nanoseconds = round(seconds * 1e9)
    return Duration(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)


def seconds_of(point: JointTrajectoryPoint) -> float:
    """Return the time of a point."""
    return float(point.time_from_start.sec + point.time_from_start.nanosec * 1e-9)
