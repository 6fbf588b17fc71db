"""Adapter to the topic of a joint_trajectory_controller."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
import math
from typing import Any, ClassVar

from action_msgs.msg import GoalStatus, GoalStatusArray
from builtin_interfaces.msg import Duration
import numpy as np
from rclpy.qos import DurabilityPolicy, QoSProfile
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ros2_ik.core import Motion, MotionState
from ros2_ik.core.internals import POINT_PERIOD
from ros2_ik.node.controllers.controller import (
    braked,
    BrakingLimits,
    Controller,
    MAX_LEAD,
    nearest_time,
)
from ros2_ik.node.controllers.topics import CommandTopic
from ros2_ik.node.motion.tracking import Tracking, tracking
from ros2_ik.node.servo.messages import Knot, ServoOutput
from ros2_ik.node.state.motion_clock import nanoseconds

MIN_INTERVAL = 1e-3     # minimum time between the points of a braking trajectory [s]
STATUS = '/_action/status'    # suffix of an action's status topic
STATUS_QOS = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
ACTIVE = (GoalStatus.STATUS_ACCEPTED, GoalStatus.STATUS_EXECUTING, GoalStatus.STATUS_CANCELING)
MAX_OWN_GOALS = 100    # stored goals; a controller lists fewer in one status message
# two clients' commands less than this apart may reach the controller in either order [s]
SIMULTANEOUS = 0.1
MAX_START_DELAY = 60.0      # maximum time from the receipt of a trajectory to its stamp [s]
END_SPEED = 1e-6    # trajectories that end faster may be rejected by controllers [rad/s, m/s]
# maximum time until a controller receives a braking trajectory, on a busy computer [s]
RECEIVE_DELAY = 0.04
# distance from the commanded path up to which measured joints count as on the path [rad, m]
PATH_TOLERANCE = 0.01
# delay of the joints [s] above which braking starts from the measured, not from a commanded state
TYPICAL_DELAY = 0.06
N_BRAKING_STATES = 7    # number of commanded states from which braking may start


@dataclass(frozen=True)
class TrajectoryOutput(ServoOutput):
    """
    Encodes servo commands as short, overlapping trajectories of recent and upcoming steps.

    Points have absolute times, so the time of receipt does not matter. Each trajectory ends at
    rest, in case no further message arrives.
    """

    message_type = JointTrajectory
    ahead = 0.06
    n_node_subscriptions = 1    # to detect commands of other clients

    def affects_joints(self, message: JointTrajectory) -> bool:
        # controllers reject a trajectory without points
        return bool(message.points) and not set(self.joints).isdisjoint(message.joint_names)

    def message(self, knots: Sequence[Knot]) -> JointTrajectory:
        message, begin = JointTrajectory(joint_names=list(self.joints)), knots[0].time
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(begin, 10**9)
        message.points = [JointTrajectoryPoint(
            positions=knot.position.tolist(), velocities=knot.velocity.tolist(),
            time_from_start=duration_message((knot.time - begin) * 1e-9))
            for knot in knots]
        return message


class JointTrajectoryController(Controller):
    """
    Sends each motion as one JointTrajectory; commands of other clients take precedence.

    A goal of the controller's action that is not in `own_goals` is another client's.

    A controller interpolates from the measured state, which lags by the delay of the motors, or
    from its last commanded state. A braking trajectory therefore has points only where joints come
    to rest, and stays within the limits from either state.
    """

    default_topic = '{}/joint_trajectory'
    is_action: ClassVar[bool] = False    # True: `topic` names an action
    receive_delay = RECEIVE_DELAY

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        namespace, context = self.topic.rpartition('/')[0], self.context
        # A trajectory on the topic replaces a goal's trajectory. The servo always uses the topic:
        # if it sent each step as a goal, each goal would abort the previous one.
        self._commands = CommandTopic(
            context, JointTrajectory, f'{namespace}/joint_trajectory' if self.is_action
            else self.topic, 10, self.on_foreign_command)
        # the goal states need no action of control_msgs: their type is in action_msgs
        self._action = self.topic if self.is_action else f'{namespace}/follow_joint_trajectory'
        self._goal_states = context.node.create_subscription(
            GoalStatusArray, f'{self._action}{STATUS}', self._on_goal_states, STATUS_QOS,
            callback_group=context.callback_group)
        self.own_goals = deque[bytes](maxlen=MAX_OWN_GOALS)   # UUIDs
        self._has_foreign_goal = False   # another client's goal is active
        # end of another client's trajectory on the motion clock [s]
        self._foreign_until = -math.inf
        self._sent_at = -math.inf        # time of the last sent motion, motion clock [s]

    @property
    def output(self) -> TrajectoryOutput:
        return TrajectoryOutput(self._commands.name, self.joints)

    def _on_goal_states(self, message: GoalStatusArray) -> None:
        # The newest goal replaces the others, which may still be listed as active. Of goals with
        # equal stamps, the last is the newest: servers list goals in the order of acceptance.
        newest = max((goal.goal_info for goal in reversed(message.status_list)
                      if goal.status in ACTIVE),
                     key=lambda goal: (goal.stamp.sec, goal.stamp.nanosec), default=None)
        self._has_foreign_goal = bool(
            newest and newest.goal_id.uuid.tobytes() not in self.own_goals)
        if self._has_foreign_goal:
            self.release_to_other_client(self._action)

    def unavailable_reason(self) -> str:
        return self.foreign_motion_reason() or self._commands.no_subscriber_reason()

    def foreign_motion_reason(self) -> str:
        """Return the reason to reject motions if another client's motion is under way, else ''."""
        if self.foreign_goal:
            return f'nothing was moved: another client has a goal under way on {self.foreign_goal}'
        # joint_states do not suffice: a moving arm is at rest for a moment when it reverses
        remaining = self._foreign_until - self.context.clock.now()
        if remaining > 0:
            return ('nothing was moved: a trajectory of another client, or of a servo whose '
                    f"process died, for controller '{self.name}' lasts for {remaining:.2g} s more")
        return ''

    @property
    def foreign_goal(self) -> str:
        # this node keeps the last goal states even after the controller was killed
        present = self._has_foreign_goal and self.context.node.count_publishers(
            self._goal_states.topic_name)
        return self._action if present else ''

    def on_foreign_command(self, message: JointTrajectory, topic: str) -> None:
        """Release the controller if another client moves its joints; if this is unclear, brake."""
        # the controller may reject a trajectory without points, and continue an earlier one
        if not message.points or {*self.joints}.isdisjoint(message.joint_names):
            return
        now = self.context.clock.now()
        stamp = nanoseconds(message.header.stamp)
        begins = self.context.clock.to_motion_time(stamp)
        # without a stamp, a trajectory starts on receipt; a stamp far ahead is from another clock
        if not stamp or begins > now + MAX_START_DELAY:
            begins = now
        ends = begins + seconds_of(message.points[-1])
        may_be_rejected = ends < now or not _is_regular(message, self.joints)
        # if the controller rejects the trajectory, an earlier one stays under way
        self._foreign_until = max(ends, self._foreign_until) if may_be_rejected else ends
        # brake if it is unknown whose trajectory the controller follows
        doubt = may_be_rejected or now < self._sent_at + SIMULTANEOUS
        if doubt and self._motion and not self._braking and now < self.end_time:
            self.failure = (f"another client sent controller '{self.name}' a trajectory on "
                            f'{topic} that it may refuse, or within {SIMULTANEOUS:g} s of the '
                            "node's own: it is unknown whose trajectory the controller follows")
        else:
            self.release_to_other_client(topic)

    # -- commands -------------------------------------------------------------------------

    def start(self, motion: Motion, start_delay: float) -> None:
        # the trajectory gives the joints `start_delay` seconds to reach the motion's start
        self._begin(motion, braking=False, start_delay=start_delay)
        self.send_trajectory(trajectory_message(motion, start_delay))
        self._sent_at = self.context.clock.now()

    def send_trajectory(self, message: JointTrajectory) -> None:
        """Send a trajectory."""
        self._commands.publish(message)

    def _measured(self) -> MotionState | None:
        """Return the measured state, extrapolated to the current time; None if unknown."""
        states, joints, now = self.context.joint_states, self.joints, self.context.clock.now()
        if states.stale_reason(joints) or not states.have_velocities(joints):
            return None
        # drivers may report continuous joints within one turn: shift them by whole turns to be
        # near the commanded positions, then extrapolate by age * velocity
        commanded, velocity = self.commanded(now).position, states.state(joints)[1]
        age = np.array([max(now - states.oldest_time([joint]), 0.0) for joint in joints])
        measured = commanded - states.difference(joints, commanded)
        return MotionState(measured + age * velocity, velocity, np.zeros(len(velocity)))

    def _follows(self) -> bool:
        """Return whether the measured joints are on their path, at most TYPICAL_DELAY late."""
        found = self._tracking()
        return found.path_error <= PATH_TOLERANCE and round(found.delay, 3) <= TYPICAL_DELAY

    @property
    def max_lead(self) -> float:
        # the motion may have begun before `start_time`, by at most the goal's response time
        return max(MAX_LEAD, self.receive_delay - RECEIVE_DELAY)

    def _tracking(self) -> Tracking:
        return tracking(self.joints, self.commanded, self.context.joint_states, -self.max_lead)

    def _correct_start_time(self) -> None:
        """Correct `start_time` from the measured joints, if the response to the goal was late."""
        states, late = self.context.joint_states, self.receive_delay - RECEIVE_DELAY
        # a prompt response leaves no doubt about the start; on a curve, the joints may fit several
        # start times
        if late <= MAX_LEAD or self.motion.is_curved or states.stale_reason(self.joints):
            return
        found = self._tracking()
        # joints that are still at the start do not show when the motion began
        moved = np.abs(states.difference(self.joints, self.motion.at(0.0).position)).max()
        if found.delay < -MAX_LEAD and found.path_error <= PATH_TOLERANCE < moved:
            early = min(-found.delay, late)
            self.start_time -= early
            self.receive_delay -= early

    def _braking_motion(self, within: BrakingLimits) -> tuple[Motion, bool, bool]:
        """Return the braking motion, whether it passes the goal, and whether the joints follow."""
        self._correct_start_time()
        now, motion, measured = self.context.clock.now(), self.motion, self._measured()
        time, rate, reversible = now - self.start_time, 1.0, list[MotionState]()
        if measured:
            # of the states commanded so far, the one nearest to the measured positions
            near_time = nearest_time(motion, measured.position, min(time, motion.duration))
            nearest = motion.at(near_time)
        follows = measured is None or self._follows()
        if measured and not follows:
            at, speed = measured, float(np.linalg.norm(measured.velocity))
            # the joints move on until the controller receives the message
            others = [at._replace(position=at.position + self.receive_delay * at.velocity)]
            # Joints that move on the path, but late, show that the controller runs slowly: its
            # command is near them. In all other cases it may start at its last command.
            if speed and np.abs(nearest.position - at.position).max() <= PATH_TOLERANCE:
                time, rate = near_time, speed / max(speed, float(np.linalg.norm(nearest.velocity)))
                others.append(nearest)
            else:
                rate, reversible = 0.0, [self.commanded(now)]
        else:
            # the controller may start from any state commanded in the last TYPICAL_DELAY seconds,
            # or until it receives the braking trajectory
            at = self.commanded(now - TYPICAL_DELAY / 2)
            others = [self.commanded(moment) for moment in np.linspace(
                now - TYPICAL_DELAY, now + self.receive_delay, N_BRAKING_STATES)]
            # without its measured position, an arm that sags could exceed its acceleration limits
            if measured:
                reversible = [nearest._replace(position=measured.position)]
        return *braked(motion, time, at, within, others, reversible, rate), follows

    def braking_time(self, within: BrakingLimits) -> float:
        braking, _, follows = self._braking_motion(within)
        return braking.duration if follows else math.inf

    def stop(self, within: BrakingLimits) -> None:
        braking, passes_goal, _ = self._braking_motion(within)
        if passes_goal:
            return
        # remaining time of the initial move to the start of the motion [s]
        remaining_delay = max(self.start_time - self.context.clock.now(), 0.0)
        self._begin(braking, braking=True)
        self.send_trajectory(braking_message(braking, remaining_delay))

    def close(self) -> None:
        self._commands.close()
        self.context.node.destroy_subscription(self._goal_states)


def trajectory_message(motion: Motion, start_delay: float = 0.0) -> JointTrajectory:
    """
    Return a motion as a trajectory that starts on receipt (stamp 0).

    With `start_delay` > 0, the joints first move to the start of the motion in this time [s]. No
    point has time 0, which would command a step. The last point has velocity 0.
    """
    times = [*([0.0] if start_delay else []), *motion.times(POINT_PERIOD).tolist()]
    return JointTrajectory(joint_names=list(motion.joints),
                           points=[_point(motion, time, start_delay) for time in times])


def braking_message(motion: Motion, min_duration: float) -> JointTrajectory:
    """
    Return a trajectory to the end of a braking motion, at least `min_duration` [s] long.

    The controller interpolates from its current state to the end by a cubic polynomial. Points in
    between would be right for one time of receipt only. The only other points are at the times
    when some joints stop before the end.
    """
    end = max(motion.duration, POINT_PERIOD, min_duration)
    times = [0.0]
    # joints may stop at almost the same time, but controllers reject points with equal times
    for time in motion.rests:
        if times[-1] + MIN_INTERVAL <= time <= end - MIN_INTERVAL:
            times.append(time)
    points = [_point(motion, time) for time in (*times[1:], end)]
    for point in points:
        # with accelerations, the controller would interpolate by a quintic polynomial
        point.accelerations = []
    return JointTrajectory(joint_names=list(motion.joints), points=points)


def _point(motion: Motion, time: float, delay: float = 0.0) -> JointTrajectoryPoint:
    state = motion.at(time)
    return JointTrajectoryPoint(
        positions=state.position.tolist(), velocities=state.velocity.tolist(),
        accelerations=state.acceleration.tolist(), time_from_start=duration_message(delay + time))


def duration_message(seconds: float) -> Duration:
    """Return seconds as a Duration message."""
    whole, rest = divmod(round(seconds * 1e9), 10**9)
    return Duration(sec=whole, nanosec=rest)


def seconds_of(point: JointTrajectoryPoint) -> float:
    """Return the time of a point from the start of its trajectory [s]."""
    return float(point.time_from_start.sec + point.time_from_start.nanosec * 1e-9)


def _is_regular(message: JointTrajectory, joints: Sequence[str]) -> bool:
    """Return whether controllers of these joints accept a trajectory, whatever their settings."""
    n, points = len(joints), message.points
    return (sorted(message.joint_names) == sorted(joints)
            and all(len(one.positions) == n and not one.effort
                    and {len(one.velocities), len(one.accelerations)} <= {0, n} for one in points)
            and all(seconds_of(one) < seconds_of(other) for one, other in pairwise(points))
            and all(abs(velocity) < END_SPEED for velocity in points[-1].velocities))
