"""Controllers that are sent whole motions, as trajectories."""

from abc import abstractmethod
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
import math
from typing import Any

from action_msgs.msg import GoalStatus, GoalStatusArray
from builtin_interfaces.msg import Duration
import numpy as np
from rclpy.qos import DurabilityPolicy, QoSProfile
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ros2_ik.core import even_braking_motion, Motion, MotionState, Robot
from ros2_ik.node.controllers.controller import (
    ASIDE,
    BrakingTask,
    commanded_between,
    Controller,
    ControllerContext,
)
from ros2_ik.node.controllers.motion_limits import acceleration_limits, position_bounds
from ros2_ik.node.servo.servo_output import Knot, ServoOutput

# -- motions as messages -----------------------------------------------------------------------

SHORTEST = 1e-3   # between two points [s]
PERIOD = 0.03   # controllers interpolate with accelerations: within 1e-5 rad of the motion [s]


def trajectory_message(motion: Motion, wait: float = 0.0) -> JointTrajectory:
    """
    Write a motion for a joint_trajectory_controller, which begins when it comes (stamp 0).

    It comes to the start within `wait` [s], if that is not 0. No point is at time 0, which would
    be a step; the last one has velocity 0.
    """
    times = [*([0.0] if wait else []), *motion.times(PERIOD).tolist()]
    return JointTrajectory(joint_names=list(motion.joints),
                           points=[_point(motion, time, wait) for time in times])


def braking_message(motion: Motion, least: float = 0.0) -> JointTrajectory:
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


# -- the controller ----------------------------------------------------------------------------

EARLY = 0.02   # so much earlier than it seems an arm may be on its way [s],
HEARS = 0.04   # and so late a controller may receive what brakes, on a busy computer [s]
HAIR = 1e-6    # so far beyond the goal is not beyond it [rad, m]
AT_ONCE = 0.1  # a client that commands so soon after this node may have come before it [s]
SPOTS = 100    # of a motion that are compared with where the joints are

STATUS = '/_action/status'    # topic of an action
STATUSES = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
ACTIVE = (GoalStatus.STATUS_ACCEPTED, GoalStatus.STATUS_EXECUTING, GoalStatus.STATUS_CANCELING)
OWN = 100      # goals of this node: more than a controller tells of at once


class TrajectoryController(Controller):
    """
    Sends each motion at once; it replaces the one before, from where the joints are then.

    The controller begins at the measured state, which is late by the delay of the motors, or at
    the state that it commands. So what brakes is one point, where and when the joints rest, that
    is good for each state in which the controller may receive it.
    """

    def __init__(self, name: str, joints: tuple[str, ...], topic: str,
                 context: ControllerContext) -> None:
        super().__init__(name, joints, topic, context)
        self._braking = False
        self.own_goals = deque[bytes](maxlen=OWN)   # their names, at the controller's action
        self._their_goal = ''            # where another client has one under way
        self._theirs_until = -math.inf   # a trajectory of another client lasts [s]
        self._goal_states: Any = None

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
        """Return how the servo's steps are told on a topic of trajectories."""
        parameters = self.context.parameters
        limits = (acceleration_limits(self.joints, parameters)
                  * parameters.servo_acceleration_scaling, *position_bounds(robot, self.joints))
        return TrajectoryOutput(topic, self.joints,
                                *(tuple(numbers.tolist()) for numbers in limits))

    def send(self, motion: Motion, join: float) -> None:
        wait = join if join > PERIOD else 0.0
        message = trajectory_message(motion, wait)
        self._braking = False
        self._begin(motion)
        self.began += wait
        self.send_trajectory(message)

    @abstractmethod
    def send_trajectory(self, message: JointTrajectory) -> None:
        """Send a trajectory."""

    @property
    def hears(self) -> float:
        """Return how late the controller may receive what brakes [s]."""
        return HEARS

    def brake(self, task: BrakingTask) -> None:
        braking = self._held(task, task.measured) if task.measured else self._braked(task)
        if task.measured is None and self._passes_goal(braking):
            return   # the present motion ends sooner
        self._braking = True
        joining = max(self.began - self.context.now(), 0.0)    # joints are on their way to a start
        self._begin(braking)
        self.send_trajectory(braking_message(braking, joining))

    def _braked(self, task: BrakingTask) -> Motion:
        """Return what brakes joints that follow, from each state in which they may be."""
        now = self.context.now()
        middle = self.commanded(now - task.delay / 2)
        states = commanded_between(self, now - task.delay - EARLY, now + self.hears)
        return even_braking_motion(self.joints, middle.position, middle.velocity, task.limits,
                                   states, task.bounds)

    def _held(self, task: BrakingTask, at: MotionState) -> Motion:
        """
        Return what brakes joints from where they are measured.

        Where they move on their way, a controller whose own time is slow has the velocity that was
        planned there. Else it may also begin at its last command, and turn back.
        """
        now = self.context.now()
        way = commanded_between(self, self.began, min(now, self.rest_at), SPOTS)
        apart = [float(np.abs(state.position - at.position).max()) for state in way]
        nearest = way[int(np.argmin(apart))]
        moving = [at._replace(position=at.position + HEARS * at.velocity)]
        commands = [self.commanded(now)]
        if min(apart) <= ASIDE and at.velocity.any():
            moving, commands = [*moving, nearest], []
        elif min(apart) <= ASIDE:
            commands.append(nearest)
        return even_braking_motion(self.joints, at.position, at.velocity, task.limits, moving,
                                   task.bounds, commands)

    def _passes_goal(self, braking: Motion) -> bool:
        """Return whether braking goes beyond the end of the present motion, which is near."""
        ahead = np.sign(self.motion.goal - self.motion.at(0.0).position)
        return bool((ahead * (braking.goal - self.motion.goal) > HAIR).any())

    def concerns(self, message: JointTrajectory) -> bool:
        return bool(message.points) and self.shares(message.joint_names)

    def give_way(self, message: JointTrajectory, topic: str) -> None:
        now = self.context.now()
        if not message.points:   # ends what was under way
            self._theirs_until = -math.inf
        if not self.concerns(message):
            return
        stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
        begins = self.context.clock.of(stamp) if stamp else now
        self._theirs_until = begins + seconds_of(message.points[-1])
        if (self._motion is not None and not self._braking
                and now - self.began < AT_ONCE < self._motion.duration):
            self.failure = (f"another client commanded controller '{self.name}' within "
                            f'{AT_ONCE:g} s of this node, on {topic}: it is not known '
                            'which of them the joints obey')
        else:
            self.give_up(topic)

    def close(self) -> None:
        if self._goal_states is not None:
            self.context.node.destroy_subscription(self._goal_states)
