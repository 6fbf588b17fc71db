"""Controllers that are told whole motions, as trajectories."""

from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
import math
from typing import Any

from action_msgs.msg import GoalStatus, GoalStatusArray
from builtin_interfaces.msg import Duration
import numpy as np
from rclpy.qos import DurabilityPolicy, QoSProfile
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ros2_ik.core import (
    Array,
    even_braking_motion,
    Motion,
    MotionLimits,
    MotionState,
    Robot,
)
from ros2_ik.node.controllers.controller import BrakingTask, Controller, ControllerContext
from ros2_ik.node.controllers.joint_feedback import ASIDE, Feedback, LATEST
from ros2_ik.node.controllers.motion_limits import acceleration_limits, position_bounds
from ros2_ik.node.controllers.servo_output import Knot, ServoOutput

# -- motions as messages -----------------------------------------------------------------------

SHORTEST = 1e-3   # between two points [s]
PERIOD = 0.03   # controllers interpolate with accelerations: within 1e-5 rad of the motion [s]


def trajectory_message(motion: Motion, join: float) -> JointTrajectory:
    """
    Write a motion for a joint_trajectory_controller, which begins when it comes (stamp 0).

    The first point is `join` [s] or more later, never at time 0, which would be a step; the last
    one has velocity 0.
    """
    times = [time for time in motion.times(PERIOD).tolist() if time >= join] or [join]
    return JointTrajectory(joint_names=list(motion.joints),
                           points=[_point(motion, time) for time in times])


def later(message: JointTrajectory, seconds: float, join: float) -> JointTrajectory:
    """Return what is left of a trajectory some seconds later, with as much time to join it."""
    points = [point for point in message.points
              if seconds_of(point) >= seconds + join] or message.points[-1:]
    for point in points:
        point.time_from_start = _duration(max(seconds_of(point) - seconds, join, SHORTEST))
    return JointTrajectory(joint_names=message.joint_names, points=points)


def braking_message(motion: Motion) -> JointTrajectory:
    """
    Write where, and when, a motion ends; a controller gets there by a cubic polynomial.

    There is nothing between that it could be ahead of or behind, whenever it begins, but for
    joints that rest before the others.
    """
    end = max(motion.duration, PERIOD)
    times = {max(time, SHORTEST) for time in motion.rests if time < end - SHORTEST}
    points = [_point(motion, time) for time in (*sorted(times), end)]
    for point in points:
        point.accelerations = []   # with them it would be a polynomial of another degree
    return JointTrajectory(joint_names=list(motion.joints), points=points)


def _point(motion: Motion, time: float) -> JointTrajectoryPoint:
    state = motion.at(time)
    return JointTrajectoryPoint(
        positions=state.position.tolist(), velocities=state.velocity.tolist(),
        accelerations=state.acceleration.tolist(), time_from_start=_duration(time))


def _duration(seconds: float) -> Duration:
    nanoseconds = round(seconds * 1e9)
    return Duration(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)


def seconds_of(point: JointTrajectoryPoint) -> float:
    """Return when a point of a trajectory is reached, from its begin on [s]."""
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
    period = 0.009

    def concerns(self, message: JointTrajectory) -> bool:
        # one without points ends what is under way
        return not message.points or not set(self.joints).isdisjoint(message.joint_names)

    def message(self, knots: Sequence[Knot], now: int = 0,
                slow: bool = False) -> JointTrajectory:
        message, knots = JointTrajectory(joint_names=list(self.joints)), [*knots]
        knots.append(self.rest(knots[-1]))
        begin = knots[0].time
        if slow:    # its time says nothing of where it is: it begins at its state, with stamp 0
            begin, joined = now, now + round(self.ahead / 2 * 1e9)
            knots = [knot for knot in knots if knot.time >= joined] or knots[-1:]
        else:
            message.header.stamp.sec, message.header.stamp.nanosec = divmod(begin, 10**9)
        message.points = [JointTrajectoryPoint(
            positions=knot.position.tolist(), velocities=knot.velocity.tolist(),
            time_from_start=_duration(max((knot.time - begin) * 1e-9, 0.0))) for knot in knots]
        return message

    def rest(self, last: Knot) -> Knot:
        seconds = max(float((np.abs(last.velocity) / self.deceleration).max()), SHORTEST)
        end = np.clip(last.position + last.velocity * (seconds / 2), self.lower, self.upper)
        return Knot(last.time + round(seconds * 1e9), end, np.zeros(len(end)))


# -- the controller ----------------------------------------------------------------------------

SLACK = 0.02   # so late may a controller begin a motion, or so early does it seem to be [s],
UNSEEN = 0.06  # or so late before that has been seen,
HEARD = 0.04   # and so late may it hear that it shall brake, on a busy computer
MORE = 0.5     # part of the largest accelerations that a robot which joins a motion may add to it
SOON = 2.0     # braking may be given up for a motion that ends in so many times of what it takes,
LONGER = 0.5   # and at most so much later [s]
SPOTS = 7      # states in which a controller may begin to brake that are looked at
LOOKS = 50     # positions of the rest of a motion that are looked at
SLOW = 0.9     # who has less than this part of the velocity he should have is slow,
MOVES = 0.05   # if that is larger than this one [rad/s, m/s];
HALF = 0.5     # with readings of nobody knows when: less than this part,
FAST = 0.2     # if that is larger than this one; and they count as
OLD = 0.5      # older by this [s]
STANDS = 1e-6  # who has less than this squared velocity has none [rad/s, m/s]
STARTS = 1e-3  # so near to where a motion begins are joints that have not begun it [rad, m]
AT_ONCE = 0.1  # who commands so soon after this node may have come before it [s]
HAIR = 1e-6    # so far beyond the rest of a motion is not beyond it [rad, m]
CLEAR = 0.02   # so far ahead of its braking, and farther by what it goes
LATE = 0.1     # in this time, nobody is who was told to brake [rad, m; s]
KEPT = 1.0     # what was commanded is known for so long [s]

STATUS = '/_action/status'    # topic of an action
STATUSES = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
ACTIVE = (GoalStatus.STATUS_ACCEPTED, GoalStatus.STATUS_EXECUTING, GoalStatus.STATUS_CANCELING)
OWN = 100      # goals of this node: more than a controller tells of at once

Course = tuple[tuple[Motion, float], ...]   # motions, and when each began to replace the others


class TrajectoryController(Controller):
    """
    Sends each motion at once; it replaces the one before, from where the robot is then.

    Where that is, is not known: a controller begins at the measured state, which is late by the
    delay of the motors, or at the state that it commands, and it hears of it a bit later.
    """

    def __init__(self, name: str, joints: tuple[str, ...], topic: str,
                 context: ControllerContext) -> None:
        super().__init__(name, joints, topic, context)
        self._message: JointTrajectory | None = None   # that brakes
        self._past: Course = ()      # before the present motion
        self._unbraked: Course = ()
        self._joined = 0.0           # until when its joints come from beside the motion [s]
        self._left_to_end = False    # whether the motion is to end by itself, though stopped
        self.own_goals = deque[bytes](maxlen=OWN)   # their names, at the controller's action
        self._their_goal = ''        # where another client has one under way
        self._theirs_until = -math.inf   # a trajectory of another client lasts [s]
        self._goal_states: Any = None

    def watch_goals(self, action: str) -> None:
        """Hear of other clients' goals of the controller's action; needs no control_msgs."""
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

    def begin(self, motion: Motion) -> None:
        # late readings tell of the motion before, unless this one begins where joints stand
        since, goes_on = self.context.now() - KEPT, motion.at(0.0).velocity.any()
        course = self._course if self._motion is not None and goes_on else ()
        self._past = tuple(one for k, one in enumerate(course, 1)
                           if k == len(course) or course[k][1] > since)
        super().begin(motion)

    @property
    def _course(self) -> Course:
        return (*self._past, (self.motion, self._began))

    def commanded(self, moment: float, now: float | None = None) -> MotionState:
        return _at(self._course, moment)

    def send(self, motion: Motion, join: float) -> None:
        message = trajectory_message(motion, join)
        wrote = self.context.now() - self._began   # which takes a while on a busy computer
        if motion.at(0.0).velocity.any():
            message = later(message, wrote, join)
        else:
            self._began += wrote
        self._joined = self.context.now() + join
        self.send_trajectory(message)

    @abstractmethod
    def send_trajectory(self, message: JointTrajectory) -> None:
        """Send a trajectory."""

    @property
    def brake_unanswered(self) -> bool:
        """Whether it has yet to say whether it takes what was sent last to brake."""
        return False

    def blend_time(self, states: Sequence[MotionState], limits: MotionLimits,
                   tracking_delay: float, apart: Array) -> float:
        # who is off by x and v gets on by a cubic polynomial, and accelerates by
        # 6 |x| / t^2 + 4 |v| / t more
        late, most = SLACK + tracking_delay, limits.acceleration
        off = [((late * np.abs(state.velocity) + apart) / most,
                late * np.abs(state.acceleration) / most) for state in states]
        return max(float((2 * v + np.sqrt(4 * v**2 + 6 * MORE * x)).max(initial=0.0)) / MORE
                   for x, v in off)

    def _brake(self, task: BrakingTask) -> None:
        """
        Brake from where the joints may be.

        On their way that is where they were commanded to be in the last `tracking_delay`. Off it,
        or slow, that is where they are measured, if it is known when: else they are either late or
        do not follow, and all between is possible. Joints that have not begun to move are told to
        stay.
        """
        self._message, self._unbraked = None, self._course
        self._left_to_end, seen = False, task.feedback
        nearest = self._nearest(seen) if seen else 0.0
        if seen and self._is_behind(seen, nearest, task.on_way):
            self._brake_where_measured(seen, nearest, task)
            return
        now, tracking_delay = self.context.now(), task.tracking_delay
        if seen and seen.moment < self._began + UNSEEN:   # nothing shows how late it began
            tracking_delay = max(tracking_delay, UNSEEN)
        begins = self._states(now - tracking_delay - SLACK,
                              now + max(HEARD, self.delay - tracking_delay))
        if not any(state.velocity.any() for state in begins):
            self.rest_at = now   # it was told to rest, where it was told
            return
        middle = self.commanded(now - tracking_delay / 2)
        if seen and not task.on_way:
            begins += [_state(seen.position, seen.velocity),
                       *self._states(nearest, now)]
        elif seen and seen.moment < self._joined:
            begins.append(_state(seen.position + max(now - seen.moment, 0.0) * seen.velocity,
                                 seen.velocity))
        braking = even_braking_motion(self.joints, middle.position, middle.velocity, task.limits,
                                      begins, task.bounds)
        self.rest_at = self._began + self.motion.duration + tracking_delay
        # not to go beyond the goal of a motion that ends about as soon
        if self._ends_before(braking, now - tracking_delay, task):
            return
        if seen and task.blocked(braking.goal):   # from where they are they may rest before it
            self._brake_where_measured(seen, nearest, task)
        else:
            self._send_braking(braking)

    def _brake_where_measured(self, seen: Feedback, nearest: float, task: BrakingTask) -> None:
        """
        Brake joints that are not where they are commanded to be, or not so fast.

        `nearest` is when they were told to be where they are, or nearest to that. A controller
        whose time is slow begins on their way. Else, or if they stand, one that begins at its
        command needs time to come back.
        """
        now = self.context.now()
        age = max(now - seen.moment, 0.0) + (0.0 if seen.sure else OLD)
        hears = max(HEARD, self.delay)
        states = [_state(seen.position + (age + later) * seen.velocity, seen.velocity)
                  for later in (HEARD, hears)]
        wanted = self.commanded(nearest).velocity
        ahead = hears + age * min(max(float(seen.velocity @ wanted), 0.0)
                                  / max(float(wanted @ wanted), STANDS), 1.0)
        commands = []
        if not self._is_at(nearest, seen.position):
            commands = [self.commanded(now)]
        elif seen.velocity.any():
            states += self._states(nearest - SLACK, nearest + ahead)
        else:
            commands = [self.commanded(now), *self._states(nearest, min(nearest + ahead, now))]
        braking = even_braking_motion(self.joints, seen.position, seen.velocity, task.limits,
                                      states, task.bounds, commands)
        self._left_to_end = False
        if not commands and self._ends_before(braking, nearest, task):
            self.rest_at = now + self._began + self.motion.duration - nearest
            return
        self._send_braking(braking)

    def _ends_before(self, braking: Motion, moment: float, task: BrakingTask) -> bool:
        """Return whether the motion, from a moment on, shall end by itself, not go beyond."""
        left = self._began + self.motion.duration - moment
        self._left_to_end = (left <= min(SOON * braking.duration, braking.duration + LONGER)
                             and self._passes(braking.goal, moment)
                             and not task.blocked(self.motion.goal))
        return self._left_to_end

    def _send_braking(self, braking: Motion) -> None:
        self.begin(braking)
        self.rest_at = self._began + braking.duration + self.delay
        self._message = braking_message(braking)
        self.send_trajectory(self._message)

    def _states(self, first: float, last: float) -> list[MotionState]:
        """Where the joints are commanded to be between two moments."""
        return [self.commanded(moment) for moment in np.linspace(first, last, SPOTS).tolist()]

    def _nearest(self, seen: Feedback) -> float:
        """
        Return the moment until now when the joints were told to be nearest to what was measured.

        A motion that turns back comes to a place twice: not where it goes the other way.
        """
        now = self.context.now()
        first = min(self._began, max(self._course[0][1], now - KEPT))
        last = min(now, self._began + self.motion.duration)
        for _ in range(2):
            moments: list[float] = np.linspace(first, last, 2 * LOOKS).tolist()
            states = [self.commanded(moment) for moment in moments]
            back = np.array([state.velocity @ seen.velocity < 0 for state in states])
            apart = np.array([np.abs(state.position - seen.position).max() for state in states])
            apart[back] += apart.max() if not back.all() else 0.0
            k, step = int(np.argmin(apart)), (last - first) / (2 * LOOKS - 1)
            nearest = moments[k]
            first, last = max(first, nearest - step), min(last, nearest + step)
        return nearest

    def _is_at(self, moment: float, position: Array) -> bool:
        """Return whether positions are those that were commanded at a moment."""
        return bool(np.abs(self.commanded(moment).position - position).max() <= ASIDE)

    def _is_behind(self, seen: Feedback, nearest: float, on_way: bool) -> bool:
        """Return whether measured joints are behind their motion, not only late."""
        if seen.sure:
            return not on_way or self._slow(seen, nearest) or self._not_begun(seen)
        # late readings may also tell of a motion before, unless this one begins at rest, began
        # before any of them, or they are on its way
        now = self.context.now()
        told_of = (now > self._began + LATEST or not self.motion.at(0.0).velocity.any()
                   or (nearest > self._began + SLACK and self._is_at(nearest, seen.position)))
        return seen.speeds and told_of and (
            self._slow(seen, nearest, HALF, FAST) or self._not_begun(seen, LATEST)
            or (nearest < now - LATEST and not self._is_at(now, seen.position)))

    def _slow(self, seen: Feedback, nearest: float, part: float = SLOW,
              least: float = MOVES) -> bool:
        """Return whether joints on their way were slower than they should be where they were."""
        at = self.commanded(nearest)
        wanted = np.array([
            (at.position[i] - self.commanded(nearest - span).position[i]) / span if span
            else at.velocity[i] for i, span in enumerate(seen.spans.tolist())])
        return bool(np.abs(wanted).max() > least
                    and seen.velocity @ wanted < part * (wanted @ wanted))

    def _not_begun(self, seen: Feedback, after: float = UNSEEN) -> bool:
        """Return whether joints still stood at the begin when they should have moved."""
        return bool(not seen.velocity.any() and seen.moment > self._began + after
                    and np.abs(self.motion.at(0.0).position - seen.position).max() <= STARTS)

    def concerns(self, message: JointTrajectory) -> bool:
        return bool(message.points) and self.shares(message.joint_names)

    def give_way(self, message: JointTrajectory, topic: str) -> None:
        now = self.context.now()
        if not message.points:   # ends what was under way
            self._theirs_until = -math.inf
        if not self.concerns(message):
            return
        self._theirs_until = now + seconds_of(message.points[-1])
        if (self._motion is not None and not self._braking
                and 0 <= now - self._began < AT_ONCE < self._motion.duration):
            self.failure = (f"another client commanded controller '{self.name}' within "
                            f'{AT_ONCE:g} s of this node, on {topic}: it is not known '
                            'which of them the joints obey')
        else:
            self.give_up(topic)

    def reconsider(self, task: Callable[[], BrakingTask]) -> bool:
        if not self._left_to_end or self.released or (seen := (now := task()).feedback) is None:
            return False
        nearest = self._nearest(seen)
        if not self._is_behind(seen, nearest, now.on_way):
            return False
        self._brake_where_measured(seen, nearest, now)
        self._braking = True
        return not self._left_to_end

    def close(self) -> None:
        if self._goal_states is not None:
            self.context.node.destroy_subscription(self._goal_states)

    def _passes(self, end: Array, moment: float) -> bool:
        """Return whether positions (n,) are beyond all the motion comes to from a moment on."""
        over = self._began + self.motion.duration
        way = np.array([self.commanded(time).position
                        for time in np.linspace(moment, max(over, moment), LOOKS).tolist()])
        return bool(((end < way.min(axis=0) - HAIR) | (end > way.max(axis=0) + HAIR)).any())

    def goes_on(self, feedback: Feedback) -> bool:
        """
        Return whether joints cannot have heard that they shall brake.

        What was measured since is never ahead of where they are.
        """
        if not self._unbraked or not self._braking or self._motion is None or (
                feedback.sure and feedback.moment < self._began):
            return False
        begin, now = self._motion.at(0.0), self.commanded(self.context.now())
        ahead = (feedback.position - now.position) * np.sign(begin.velocity)
        return bool((ahead > CLEAR + LATE * np.abs(begin.velocity)).any())

    def unbraked(self, moment: float) -> MotionState:
        return _at(self._unbraked or self._course, moment)

    def comes_to_rest(self, feedback: Feedback) -> bool:
        if not feedback.sure or self._motion is None or not feedback.velocity.any():
            return False
        return bool(((self._motion.goal - feedback.position) * feedback.velocity >= 0).all())

    def stop_again(self, task: BrakingTask, anew: bool) -> float:
        if self.released or self._message is None or self.brake_unanswered:
            return 0.0
        if anew:
            self.brake_anew(lambda: task)
            return max(self.rest_at - self.context.now(), 0.0)
        seen, message = task.feedback, self._message
        # by now readings without stamps may show that the joints stood, and were not merely late
        if seen and not seen.sure and not seen.velocity.any():
            nearest = self._nearest(seen)
            if self._is_behind(seen, nearest, task.on_way):
                self._brake_where_measured(seen, nearest, task)
                self._braking = True
                return max(self.rest_at - self.context.now(), 0.0)
        if len(message.points) > 1:
            if seen and seen.sure and seen.velocity.any():
                self._brake_where_measured(seen, self._nearest(seen), task)
                self._braking = True
                return max(self.rest_at - self.context.now(), 0.0)
            # who has heard it, and whose readings are late, would go back to its first points
            message = JointTrajectory(joint_names=message.joint_names, points=message.points[-1:])
        self.send_trajectory(message)
        return self.motion.duration

    def brake_anew(self, task: Callable[[], BrakingTask], sent: bool = True) -> None:
        """Brake from the motion before as if it had not been told yet; `sent` if it has been."""
        *past, (self._motion, self._began) = self._unbraked
        self._past = tuple(past)
        known = task()
        self._brake(known)
        self._braking = True
        if sent and self._message is None:   # what brakes may yet be heard: this replaces it
            now = self.context.now()
            join = self.blend_time(self._states(now, now + LATE), known.limits,
                                   known.tracking_delay, np.full(len(self.joints), ASIDE))
            self.send_trajectory(trajectory_message(
                self.motion.rest(now - self._began), join))


def _at(course: Course, moment: float) -> MotionState:
    motion, began = next((one for one in reversed(course) if one[1] <= moment), course[0])
    return motion.at(moment - began)


def _state(position: Array, velocity: Array) -> MotionState:
    return MotionState(position, velocity, np.zeros(len(position)))
