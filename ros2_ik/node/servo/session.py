"""A servo session: schedules the follower's steps, and ends if the arm does not follow them."""

from bisect import bisect_right
from collections import deque
from collections.abc import Mapping
from functools import partial
import math
import time

import numpy as np
import pinocchio as pin

from ros2_ik.core import MotionState, Scene
from ros2_ik.node.controllers.controller import MAX_DELAY, position_bounds
from ros2_ik.node.controllers.topics import CommandTopic, SpeedScaling, TopicContext
from ros2_ik.node.motion.tracking import tracking
from ros2_ik.node.servo.follower import Follower, Step
from ros2_ik.node.servo.messages import Knot, ServoOutput, WAITS
from ros2_ik.node.servo.player import MAX_PAUSE
from ros2_ik.node.servo.velocities import ObjectVelocities
from ros2_ik.node.state.joint_states import JointStates
from ros2_ik.node.state.motion_clock import MotionClock

STATE_CHECK_PERIOD = 0.02     # between two checks of joint_states [s]
# time for which the final position is republished, in case a message is lost [s]
SERVO_HOLD_TIME = 0.5
# time for the arm to come to rest, beyond the braking time; then the session ends anyway [s]
SESSION_END_TIMEOUT = 3.0
# fraction of max_tracking_error that is allowed for a joint at rest
REST_ERROR_FRACTION = 0.25
MIN_BRAKING_TIME = 1e-3     # between the last two points of a trajectory [s]
KNOT_TIME = 1.0     # time for which published knots are stored [s]
MAX_EXTRAPOLATION = 0.1     # maximum extrapolation of readings of joints that are not servoed [s]
SERVO_DISCOVERY_TIMEOUT = 5.0    # for the discovery of joint_states and controllers [s]


class Session:
    """
    A servo session, from its `SessionRequest` until the arm has come to rest again.

    - `ended`: the reason why the session ends or has ended, or ''.
    - `fault`: the reason why the arm cannot move at present, or ''.
    - `has_tracking_fault`: True if the session ends because the arm does not follow.
    - `finished`: True when the session has ended and publishes nothing more.
    """

    def __init__(self, context: TopicContext, clock: MotionClock, measured: JointStates,
                 follower: Follower) -> None:
        self._clock, self._measured = clock, measured
        self._parameters = follower.request.parameters
        self.follower, self.dt = follower, follower.dt
        self.ended, self.fault, self.finished = '', WAITS, False
        self.last = Step(0, 'waits for commands', 0.0)
        self._outputs = [(output, CommandTopic(context, output.message_type, output.topic, 1,
                                               partial(self._on_foreign_command, output)))
                         for output in follower.request.outputs]
        joints = follower.request.joints
        # for each output, the indices of its joints in `request.joints`
        self._columns = [[joints.index(joint) for joint in output.joints]
                         for output, _ in self._outputs]
        self._scalings = [
            SpeedScaling(context.node, f'{output.topic.rpartition("/")[0]}/controller_state',
                         partial(self._repeat, topic))
            for output, topic in self._outputs if output.ahead]
        # beside a streaming controller (0 s ahead), trajectories are not sent ahead either
        self._ahead = min(output.ahead for output, _ in self._outputs)
        self.has_tracking_fault, self._hold_pending = False, False
        self._knots = deque[Knot]()
        self._started_at = self._stepped_at = time.monotonic()      # steady clock [s]
        self._moved_at = -math.inf     # last motion (steady clock [s]); -inf: nothing is published
        self._checked_at = 0.0      # last check of joint_states (steady clock [s])
        self._time = 0      # time of the last step (motion clock [ns], like the times of knots)
        self._velocities = ObjectVelocities()
        self._ended_at = math.inf
        self._bounds = position_bounds(follower.robot, joints)
        tip = follower.request.tip
        self._moving = follower.robot.moving_joints(tip) if tip else frozenset[str]()

    def close(self) -> None:
        """Destroy publishers and subscriptions."""
        for _, topic in self._outputs:
            topic.close()
        for scaling in self._scalings:
            scaling.close()

    def change_scene(self, moved: Mapping[str, pin.SE3], scene: Scene | None) -> None:
        """
        Move objects to poses in the root frame, or set the scene if more than poses has changed.

        Setting a scene takes 10 ms, longer with new meshes or hundreds of objects.
        """
        follower, now, before = self.follower, time.monotonic(), self.follower.scene.objects
        self._velocities.record({name: pose.translation - before[name].pose.translation
                                 for name, pose in moved.items() if name in before}, now)
        if scene:
            follower.set_scene(scene)
            moved = {}
        # velocities of world objects only, since attached objects move with the arm
        follower.move_objects(moved, self._velocities.at(now, follower.scene.objects))

    def _update_other_joints(self) -> None:
        """Update joints that are not servoed: extrapolate their readings to the current time."""
        follower, measured = self.follower, self._measured
        q, v, known = follower.q.copy(), follower.v.copy(), self._other_joints()
        for name, position, speed in zip(known, *measured.state(known), strict=True):
            joint = follower.robot.joint(name)
            age = self._clock.now() - measured.oldest_time([name])
            q[joint.index] = position + speed * min(max(age, 0.0), MAX_EXTRAPOLATION)
            v[joint.velocity_index] = speed
        follower.q, follower.v = q, v

    def _other_joints(self) -> list[str]:
        """Return scalar joints that are not servoed, and that move the tip or have a reading."""
        return [joint.name for joint in self.follower.others if joint.is_scalar and (
            joint.name in self._moving or self._measured.get(joint.name))]

    def end(self, reason: str) -> None:
        """Brake, and end the session at rest; if called again, the first reason stays."""
        if not self.ended:
            self.ended, self._ended_at = reason, time.monotonic() + self.follower.braking_time
        self.follower.brake()

    def abort(self, reason: str) -> None:
        """End without braking: the last published command holds or stops the joints."""
        self.end(reason)
        self.finished = True

    def _on_foreign_command(self, output: ServoOutput, message: object, topic: str) -> None:
        if output.affects_joints(message):
            self.abort(f'another client sends commands on {topic}')

    # -- steps ----------------------------------------------------------------------------

    def step(self) -> None:
        """Compute and publish the due steps."""
        now, steady = round(self._clock.now() * 1e9), time.monotonic()
        # the arm has not come to rest in time, for example because obstacles keep pushing it
        if steady > self._ended_at + SESSION_END_TIMEOUT:
            # do not command positions from stale readings
            if self._hold_pending and not self._measured.stale_reason(
                    self.follower.request.joints):
                self._hold_measured(steady)
            else:
                self.finished = True
        self._check_joint_states(steady)
        if self._velocities.outdated(steady):
            self.change_scene({}, None)
        if self.fault or self.finished:
            self.finished = self.finished or bool(self.ended)
            self._stepped_at = steady
            return
        elapsed, self._stepped_at = steady - self._stepped_at, steady
        self._update_other_joints()
        due = self._due(now, elapsed)
        # the slowest controller sets the speed of all joints
        speed = min((scaling.factor for scaling in self._scalings), default=1.0)
        for _ in range(due):
            self.last = self.follower.step(now * 1e-9, speed)
            self._store_knot()
        if self.follower.moving:
            self._moved_at = steady
        if steady <= self._moved_at + SERVO_HOLD_TIME:
            # repeating a setpoint would halt a streamed arm; trajectories may be repeated
            if due or self._ahead:
                self._publish()
        # the session is over when all published messages have been executed
        elif self.ended and not self._hold_pending:
            self.finished = steady > self._moved_at + SERVO_HOLD_TIME + MAX_DELAY

    def _due(self, now: int, elapsed: float) -> int:
        """Return the number of steps due at `now` [ns]; the last call was `elapsed` [s] ago."""
        dt = round(self.dt * 1e9)
        behind = (now - self._time) * 1e-9
        # at rest: one step, at the current time
        if not self.follower.moving or not self._knots:
            # the clock is paused or slow: the last step is already a whole period ahead of it
            if self._knots and dt <= self._time - now:
                return 0
            self._time = now
            return 1
        # streams: at most one step; missed steps are skipped
        if self._ahead == 0.0:
            # simulated time may be slow, or paused
            if behind < self.dt / 2:
                return 0
            # without new setpoints, the joints slow down; after MAX_PAUSE, they count as stopped
            if elapsed > 2 * self.dt:
                self.follower.v = self.follower.v * max(1.0 - elapsed / MAX_PAUSE, 0.0)
            self._time = max(self._time + dt, now) - dt
            return 1
        # trajectories: the controller has passed the last knot, and brakes to the rest knot
        if behind > self._ahead:
            self._restart_at_rest(now)
            return 1
        return int(behind / self.dt)

    def _rest(self) -> Knot:
        """Return the knot at which all joints, braking from the last knot, stop simultaneously."""
        # the longest braking time of any joint applies to all joints; decelerations are constant
        seconds = max(self.follower.braking_time, MIN_BRAKING_TIME)
        at, position, velocity = self._knots[-1]
        end = np.clip(position + velocity * (seconds / 2), *self._bounds)
        return Knot(at + round(seconds * 1e9), end, np.zeros(len(end)))

    def _restart_at_rest(self, now: int) -> None:
        """Continue from the rest positions at the end of the last published trajectories."""
        rest = self._rest()
        self.follower.restart_at_rest(rest.position)
        self._knots.append(rest)
        # the next knot, at least `_ahead` after `_time`, must not precede the rest knot
        self._time = max(now, rest.time - round(self._ahead * 1e9))

    def _store_knot(self) -> None:
        """Store the commanded knot of the last step, and drop knots older than KNOT_TIME."""
        follower = self.follower
        position, velocity = follower.q[follower.q_indices], follower.v[follower.v_indices]
        self._time += round(self.dt * 1e9)
        # A knot is in the middle of a step, where the constant velocity of the step is exact.
        # Between two knots, the controller's cubic polynomial is then a parabola.
        back = self.dt / 2
        self._knots.append(Knot(self._time + round((self._ahead - back) * 1e9),
                                position - velocity * back, velocity))
        while self._knots[0].time < self._time - KNOT_TIME * 1e9:
            self._knots.popleft()

    def _publish(self) -> None:
        """Publish setpoints (last step) and trajectories (recent knots and the rest knot)."""
        follower, stamp = self.follower, self._clock.to_node_time
        knots, rest = list(self._knots), self._rest()
        last = Knot(self._time, follower.q[follower.q_indices], follower.v[follower.v_indices])
        for (output, topic), chosen in zip(self._outputs, self._columns, strict=True):
            recent = [last]
            if output.ahead:
                # start at the last knot that is at least ahead / 2 older than the current step
                since = self._time - round((output.ahead / 2) * 1e9)
                first = bisect_right(knots, since, key=lambda knot: knot.time) - 1
                # controllers reject negative times, for example of knots from before a clock reset
                first = max(first, bisect_right(knots, -stamp(0), key=lambda knot: knot.time))
                recent = [*knots[first:], rest]
            topic.publish(output.message([Knot(stamp(at), position[chosen], velocity[chosen])
                                          for at, position, velocity in recent]))

    def _repeat(self, topic: CommandTopic) -> None:
        """Publish the last trajectory again, after a report of a slowed controller."""
        # In the first cycle after receipt, a slowed controller samples a trajectory at the current
        # time. In later cycles it would lag behind, and catch up when it receives the next one.
        end = min(self._stepped_at + 2 * self.dt, self._moved_at + SERVO_HOLD_TIME)
        if not (self.finished or self.fault) and time.monotonic() < end:
            topic.repeat()

    # -- joint_states ---------------------------------------------------------------------

    def _check_joint_states(self, steady: float) -> None:
        """Check joint_states (at first also controllers); on a fault, end the session or wait."""
        if steady < self._checked_at + STATE_CHECK_PERIOD:
            return
        self._checked_at = steady
        follower = self.follower
        joints = follower.request.joints
        reason = self._measured.stale_reason([*joints, *self._other_joints()])
        if not reason and self.fault == WAITS:
            reason = next((text for output, topic in self._outputs if (
                text := topic.no_subscriber_reason(output.n_node_subscriptions))), '')
        if reason:
            # at first, wait for the discovery of joint_states and controllers
            if self.fault and steady < self._started_at + SERVO_DISCOVERY_TIMEOUT:
                return
            self.end(reason)
            self.finished = self.finished or bool(self.fault)
            return
        self.fault = ''
        if steady <= self._moved_at + SERVO_HOLD_TIME or self._hold_pending:
            self._check_tracking(steady)
        # readings may be from before the arm came to rest
        if self._hold_pending or steady <= self._moved_at + self._parameters.execute_state_timeout:
            return
        if self._measured.state(joints)[1].any():
            self.fault = 'waits: the arm moves without commands of the servo'
        # another client has moved the arm
        elif np.abs(self._measured.difference(
                joints, follower.q[follower.q_indices])).max() > self._parameters.start_tolerance:
            self._restart_at_measured()

    def _check_tracking(self, steady: float) -> None:
        """End the session if the arm does not follow; hold the measured positions once at rest."""
        most = self._parameters.max_tracking_error
        # 0: no check; after a suspension of this process, the arm rests at the end of its commands
        if most == 0 or steady > self._stepped_at + MAX_DELAY:
            return
        follower, measured = self.follower, self._measured
        joints, late = follower.request.joints, MAX_DELAY + self._ahead
        seen = tracking(joints, self._commanded, measured, most=late)
        # joints at rest have a smaller bound, since a delay does not explain their error
        at_rest = np.array([measured.rest_time([joint]) > late for joint in joints])
        bound = np.where(at_rest, REST_ERROR_FRACTION, 1.0) * most
        worst = int(np.argmax(seen.error / bound))
        if seen.error[worst] > bound[worst] and not self.has_tracking_fault:
            self.has_tracking_fault = self._hold_pending = True
            self.end(f"joint '{joints[worst]}' does not follow: it is {seen.error[worst]:.3g} "
                     'from its commanded position')
        if self._hold_pending and at_rest.all():
            self._hold_measured(steady)

    def _hold_measured(self, steady: float) -> None:
        """Command the measured positions, so that no controller pushes a stuck arm."""
        self._restart_at_measured()
        self._hold_pending, self._ended_at, self._moved_at = False, steady, steady
        self._time = round(self._clock.now() * 1e9)
        at = self.follower.q[self.follower.q_indices]
        self._knots.append(Knot(self._time, at, np.zeros(len(at))))

    def _restart_at_measured(self) -> None:
        """Continue from the measured positions; continuous joints keep their number of turns."""
        follower = self.follower
        at = follower.q[follower.q_indices]
        follower.restart_at_rest(at - self._measured.difference(follower.request.joints, at))
        # the next trajectory must not start with knots from before this restart
        self._knots.clear()

    def _commanded(self, moment: float) -> MotionState:
        """Return the commanded state at a time of the motion clock [s]."""
        # extrapolate the previous knot by one step at most
        at = round(moment * 1e9)
        k = bisect_right(self._knots, at, key=lambda knot: knot.time) - 1
        time_at, position, velocity = self._knots[max(k, 0)]
        ahead = min(max((at - time_at) * 1e-9, 0.0), self.dt)
        return MotionState(position + ahead * velocity, velocity, np.zeros(len(velocity)))
