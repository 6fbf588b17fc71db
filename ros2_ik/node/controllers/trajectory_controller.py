"""Commands to a joint_trajectory_controller (ros2_controllers), and its other clients."""

from abc import abstractmethod
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
import math
from typing import Any

from action_msgs.msg import GoalStatus, GoalStatusArray
import numpy as np
from rclpy.qos import DurabilityPolicy, QoSProfile
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ros2_ik.core import Array, Motion, MotionLimits, MotionState, Robot
from ros2_ik.core.internals import even_braking_motion
from ros2_ik.node.controllers.controller import (
    ASIDE,
    Controller,
    ControllerContext,
    passes_goal,
    USUAL_DELAY,
)
from ros2_ik.node.controllers.motion_limits import acceleration_limits, position_bounds
from ros2_ik.node.controllers.trajectories import (
    braking_message,
    duration_message,
    seconds_of,
    SHORTEST,
    trajectory_message,
)
from ros2_ik.node.servo.servo_output import Knot, ServoOutput

STATUS = '/_action/status'    # topic of an action
STATUSES = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
ACTIVE = (GoalStatus.STATUS_ACCEPTED, GoalStatus.STATUS_EXECUTING, GoalStatus.STATUS_CANCELING)
OWN = 100      # goals of this node: more than a controller tells of at once
AT_ONCE = 0.1     # a client that commands so soon after this node may have come before it [s]
EARLY = 0.02      # an arm may be so much earlier on its way than it seems [s]
RECEIVED = 0.04   # a controller may receive what brakes so late, on a busy computer [s]
N_COMMANDS = 7    # states of the way that a braking trajectory must suit
N_WAY = 100       # states of a motion among which the nearest to the arm is looked for


@dataclass(frozen=True)
class TrajectoryOutput(ServoOutput):
    """
    The steps of just now and of the next moment, by their times: messages overlap.

    Nothing depends on when a controller begins with one. `deceleration` (n,) brings the joints
    to rest after the newest step, should nothing more come; `lower` and `upper` (n,) bound that.
    """

    deceleration: tuple[float, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    message_type = JointTrajectory
    ahead = 0.06

    def concerns(self, message: JointTrajectory) -> bool:
        # one without points ends what is under way
        return not message.points or not set(self.joints).isdisjoint(message.joint_names)

    def message(self, knots: Sequence[Knot]) -> JointTrajectory:
        message, begin = JointTrajectory(joint_names=list(self.joints)), knots[0].time
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(begin, 10**9)
        message.points = [JointTrajectoryPoint(
            positions=knot.position.tolist(), velocities=knot.velocity.tolist(),
            time_from_start=duration_message((knot.time - begin) * 1e-9))
            for knot in (*knots, self.rest(knots[-1]))]
        return message

    def rest(self, last: Knot) -> Knot:
        seconds = max(float((np.abs(last.velocity) / self.deceleration).max()), SHORTEST)
        end = np.clip(last.position + last.velocity * (seconds / 2), self.lower, self.upper)
        return Knot(last.time + round(seconds * 1e9), end, np.zeros(len(end)))


class TrajectoryController(Controller):
    """
    Sends trajectories; other clients' trajectories and goals have the right of way.

    A controller begins at the measured state, which is late by the delay of the motors, or at the
    state that it commands. So what brakes is one point, where and when the joints rest, that is
    good for each state in which the controller may receive it.
    """

    def __init__(self, name: str, joints: tuple[str, ...], topic: str,
                 context: ControllerContext) -> None:
        super().__init__(name, joints, topic, context)
        self.own_goals = deque[bytes](maxlen=OWN)   # their names, at the controller's action
        self._their_goal = ''            # where another client has one under way
        self._theirs_until = -math.inf   # a trajectory of another client lasts [s]
        self._goal_states: Any = None
        self._sent_at = -math.inf        # when a motion was sent last [s]

    def watch_goals(self, action: str) -> None:
        """Subscribe to the states of goals of the controller's action; needs no control_msgs."""
        self._goal_states = self.context.node.create_subscription(
            GoalStatusArray, f'{action}{STATUS}', self._hear_goals, STATUSES,
            callback_group=self.context.callback_group)

    def _hear_goals(self, message: GoalStatusArray) -> None:
        theirs = any(goal.status in ACTIVE
                     and goal.goal_info.goal_id.uuid.tobytes() not in self.own_goals
                     for goal in message.status_list)
        self._their_goal = self._goal_states.topic_name.removesuffix(STATUS) if theirs else ''

    def under_way(self) -> str:
        """Return what another client has under way, so that no motion may begin, or ''."""
        if self.their_goal:
            return f'nothing was moved: another client has a goal under way on {self.their_goal}'
        # not only while the arm is seen to move: where it turns it stands for a moment
        left = self._theirs_until - self.context.now()
        if left > 0:
            return (f"nothing was moved: a trajectory of another client for controller "
                    f"'{self.name}' lasts for {left:.2g} s more")
        return ''

    @property
    def their_goal(self) -> str:
        present = self._their_goal and self.context.node.count_publishers(
            self._goal_states.topic_name)
        return self._their_goal if present else ''

    def trajectory_output(self, topic: str, robot: Robot) -> TrajectoryOutput:
        """Return the output for the servo's steps on a topic of trajectories."""
        parameters = self.context.parameters
        limits = (acceleration_limits(self.joints, parameters)
                  * parameters.servo_acceleration_scaling, *position_bounds(robot, self.joints))
        return TrajectoryOutput(topic, self.joints,
                                *(tuple(numbers.tolist()) for numbers in limits))

    def on_foreign_command(self, message: JointTrajectory, topic: str) -> None:
        """Give way to another client's trajectory for these joints."""
        if not message.points:   # ends what was under way
            self._theirs_until = -math.inf
        elif self.shares(message.joint_names):
            stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
            begins = self.context.clock.of(stamp) if stamp else self.context.now()
            self._theirs_until = begins + seconds_of(message.points[-1])
            if self._motion and not self._braking and self.context.now() < self._sent_at + AT_ONCE:
                self.failure = (f"another client commanded controller '{self.name}' within "
                                f'{AT_ONCE:g} s of this node, on {topic}: it is not known which '
                                'of them the joints obey')
            else:
                self.give_way(topic)

    # -- commands -------------------------------------------------------------------------

    def start(self, motion: Motion, join: float) -> None:
        self._begin(motion, braking=False)
        self._sent_at = self.context.now()
        message = trajectory_message(motion, join)
        self.began += join
        self.send_trajectory(message)

    @abstractmethod
    def send_trajectory(self, message: JointTrajectory) -> None:
        """Send a trajectory."""

    def stop(self, limits: MotionLimits, bounds: tuple[Array, Array], delay: float = USUAL_DELAY,
             measured: MotionState | None = None) -> None:
        # where braking would pass the goal nothing is sent: the motion ends there anyway
        if self.released:
            return
        braking = (self._held(limits, bounds, measured) if measured
                   else self._braked(limits, bounds, delay))
        left = self.rest_at - self.context.now()
        if measured is None and passes_goal(braking, self.motion, left):
            return
        joining = max(self.began - self.context.now(), 0.0)    # joints are on their way to a start
        self._begin(braking, braking=True)
        self.send_trajectory(braking_message(braking, joining))

    @property
    def received(self) -> float:
        """Return how late the controller may receive what brakes [s]."""
        return RECEIVED

    def _braked(self, limits: MotionLimits, bounds: tuple[Array, Array],
                delay: float) -> Motion:
        """Return what brakes joints that follow, from each state in which they may be."""
        now = self.context.now()
        middle = self.commanded(now - delay / 2)
        states = [self.commanded(moment) for moment in np.linspace(
            now - delay - EARLY, now + self.received, N_COMMANDS)]
        return self._braking_from(middle, states, [], limits, bounds)

    def _braking_from(self, at: MotionState, moving: list[MotionState],
                      commands: list[MotionState], limits: MotionLimits,
                      bounds: tuple[Array, Array]) -> Motion:
        """Return a motion to rest, from one state or others; on a curve joints may turn back."""
        if self.motion.is_curved:
            moving, commands = [], [*moving, *commands]
        return even_braking_motion(self.joints, at.position, at.velocity, limits, moving, bounds,
                                   commands)

    def _held(self, limits: MotionLimits, bounds: tuple[Array, Array],
              at: MotionState) -> Motion:
        """
        Return what brakes joints from where they are measured.

        Where they move on their way, a controller whose own time is slow has the velocity that was
        planned there. Else it may also begin at its last command, and turn back.
        """
        now = self.context.now()
        way = [self.commanded(moment) for moment in np.linspace(
            self.began, min(now, self.rest_at), N_WAY)]
        apart = [float(np.abs(state.position - at.position).max()) for state in way]
        nearest = way[int(np.argmin(apart))]
        moving = [at._replace(position=at.position + RECEIVED * at.velocity)]
        commands = [self.commanded(now)]
        if min(apart) <= ASIDE and at.velocity.any():
            moving, commands = [*moving, nearest], []
        elif min(apart) <= ASIDE:
            commands.append(nearest)
        return self._braking_from(at, moving, commands, limits, bounds)

    def close(self) -> None:
        self.context.node.destroy_subscription(self._goal_states)
