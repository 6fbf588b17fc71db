"""Conversion of motions to JointTrajectory messages."""

from builtin_interfaces.msg import Duration
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ros2_ik.core import Motion

MIN_INTERVAL = 1e-3   # between two points [s]
# Between two points [s]. Quintic interpolation between them stays within 1e-5 rad of the motion.
PERIOD = 0.03


def trajectory_message(motion: Motion, wait: float = 0.0) -> JointTrajectory:
    """
    Return a motion as a trajectory that starts on receipt (stamp 0).

    With `wait` > 0, the joints first move to the start of the motion within `wait` [s]. No point
    has time 0, which would command a step. The last point has velocity 0.
    """
    times = [*([0.0] if wait else []), *motion.times(PERIOD).tolist()]
    return JointTrajectory(joint_names=list(motion.joints),
                           points=[_point(motion, time, wait) for time in times])


def braking_message(motion: Motion, least: float) -> JointTrajectory:
    """
    Return a trajectory to the end of a braking motion, which takes at least `least` [s].

    The controller interpolates from its current state to the end by a cubic polynomial. Points in
    between would be right for one time of receipt only. Only the times at which some joints stop
    before the end become points as well.
    """
    end = max(motion.duration, PERIOD, least)
    times = {max(time, MIN_INTERVAL) for time in motion.rests if time < end - MIN_INTERVAL}
    points = [_point(motion, time) for time in (*sorted(times), end)]
    for point in points:
        # with accelerations, the controller would interpolate by a quintic polynomial
        point.accelerations = []
    return JointTrajectory(joint_names=list(motion.joints), points=points)


def _point(motion: Motion, time: float, wait: float = 0.0) -> JointTrajectoryPoint:
    state = motion.at(time)
    return JointTrajectoryPoint(
        positions=state.position.tolist(), velocities=state.velocity.tolist(),
        accelerations=state.acceleration.tolist(), time_from_start=duration_message(wait + time))


def duration_message(seconds: float) -> Duration:
    """Return seconds as a Duration message."""
    nanoseconds = round(seconds * 1e9)
    return Duration(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)


def seconds_of(point: JointTrajectoryPoint) -> float:
    """Return the time of a point from the start of its trajectory [s]."""
    return float(point.time_from_start.sec + point.time_from_start.nanosec * 1e-9)
