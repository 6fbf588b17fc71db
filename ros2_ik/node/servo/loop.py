"""The servo's process: receives commands, and publishes each step in time."""

from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
import ctypes
from functools import partial
import gc
import math
from multiprocessing.connection import Connection
import os
from pathlib import Path
import time
import traceback
from types import SimpleNamespace

from control_msgs.msg import JointJog
from geometry_msgs.msg import PoseStamped, TwistStamped
import numpy as np
import pinocchio as pin
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.qos import qos_profile_sensor_data, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64

from ros2_ik.core import Array, compile_all, IKError, MotionState, Scene
from ros2_ik.messages.request_error import RequestError, wrong
from ros2_ik.messages.servo_status import NODE_HELD_UP
from ros2_ik.msg import ServoStatus
from ros2_ik.node.controllers.command_topic import CommandTopic
from ros2_ik.node.controllers.controller import MOST_LATE
from ros2_ik.node.motion.tracking import tracking
from ros2_ik.node.servo.commands import Commands, ForeignFrames, FrameAwaited, MESSAGES
from ros2_ik.node.servo.follower import Follower, Step
from ros2_ik.node.servo.messages import (
    Begin,
    Brake,
    End,
    FromServo,
    NO_TICKS,
    OFF,
    Open,
    Pause,
    Play,
    Shut,
    State,
    TakeBase,
    TakeFrame,
    TakeScene,
    Ticks,
    ToServo,
    WAITS,
)
from ros2_ik.node.servo.player import Player
from ros2_ik.node.servo.process import Names
from ros2_ik.node.servo.servo_output import Knot, ServoOutput
from ros2_ik.node.state.joint_states import JointStates, publishers
from ros2_ik.node.state.measured_joints import MeasuredJoints, offset
from ros2_ik.node.state.motion_clock import MAX_BACKWARD, MotionClock

NAME = 'ik_servo'   # of the process
LOCK_MEMORY = 1 | 2     # MCL_CURRENT, MCL_FUTURE
PRIORITY = 40       # in real time, as MoveIt Servo's; or
NICENESS = -10      # where that is not allowed
IDLE = 0.05         # between two looks at what the node says, while nothing is on [s]
HEARING = 1e-3      # at least so long before each step [s]
LOOK = 0.02         # between two looks at joint_states [s]
TELL = 0.1          # between two messages of how it stands [s]
HOLD = 0.5          # so long where the arm came to rest is repeated: a message may be lost [s]
PASSED = 0.2        # and then so long until all of that is past [s]
ENDING = 3.0        # so much longer than joints need to brake it does not take to come to rest [s]
STUCK = 0.25        # part of max_tracking_error that is too far for a joint that stands
KEPT = 1.0          # what was commanded is known for so long [s]
FARTHEST_AHEAD = 0.1    # readings of other joints are extrapolated by so much at most [s]
RECENT = 0.3        # objects that were moved so lately still move [s]
DISCOVERY = 5.0     # joint_states may take so long to be heard of at first [s]
SILENCE = 1.0       # so long the node may say nothing: it might know of things in the way [s]
NOTED = 0.5         # so long the status tells of a command that was refused [s]
COUNTED = 2500      # steps of which the jitter is told
# best effort matches every publisher, and only the newest command counts
NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)


def serve_servo(connection: Connection, names: Names) -> None:
    """Work until the node closes the pipe or is gone; then come to rest."""
    Path('/proc/self/comm').write_text(NAME)
    compile_all()
    _come_first()   # not before: loading takes a second, and would stall the driver and the node
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    loop = Loop(connection, names)
    gc.collect()
    gc.freeze()     # looking through all that would take the time of many steps
    try:
        loop.run()
    finally:
        rclpy.try_shutdown()


def _come_first() -> None:
    """Request real-time scheduling, else a lower niceness; Linux weighs sessions, not niceness."""
    # as controller_manager does: to fetch pages that were swapped out takes a third of a second
    ctypes.CDLL(None).mlockall(LOCK_MEMORY)     # without permission it does nothing
    try:
        for thread in os.listdir('/proc/self/task'):    # steps wait for those of OpenBLAS, too
            os.sched_setscheduler(int(thread), os.SCHED_FIFO, os.sched_param(PRIORITY))
    except PermissionError:
        with suppress(PermissionError):
            os.nice(NICENESS)


class Loop:
    """A single thread: callbacks between the steps."""

    def __init__(self, connection: Connection, names: Names) -> None:
        self._connection = connection
        self._node = node = rclpy.create_node(
            f'{names.node}_servo', namespace=names.namespace, use_global_arguments=False,
            start_parameter_services=False, parameter_overrides=[
                Parameter('use_sim_time', Parameter.Type.BOOL, names.simulated)])
        self._log = node.get_logger()
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(node)
        self._values = SimpleNamespace(joint_state_speed=1.5)
        self._joint_states = JointStates(
            lambda text: self._log.warning(text, throttle_duration_sec=5.0), self._now_ns,
            lambda: publishers(node, names.joint_states), lambda: self._values.joint_state_speed,
            lambda: bool(node.get_clock().ros_time_is_active))
        node.create_subscription(JointState, names.joint_states, self._joint_states.take,
                                 qos_profile_sensor_data)
        self._clock = MotionClock(node)
        self._frames = ForeignFrames(self._say)
        self._commands = Commands(lambda: self._values.servo_command_timeout,
                                  lambda: self._now_ns() * 1e-9, self._frames.find)
        for mode, (topic, kind) in MESSAGES.items():
            node.create_subscription(
                kind, names.topics[topic],
                lambda message, mode=mode: self._obey(mode, message), NEWEST)
        node.create_subscription(Float64, names.topics['speed_scaling'], self._scale_speed, NEWEST)
        self._speed_scaling = 1.0
        self._status = node.create_publisher(ServoStatus, names.topics['status'], 10)
        self._session: Session | None = None
        self._players = dict[int, Player]()
        self._period = IDLE
        self._topics = SimpleNamespace(node=node, listeners=Counter(), callback_group=None)
        self._paused, self._gone, self._heard = False, False, 0.0
        self._note, self._noted = '', -1.0
        self._told, self._told_at = State(OFF, False, 0, '', '', NO_TICKS), 0.0

    def _now_ns(self) -> int:
        now: int = self._node.get_clock().now().nanoseconds
        return now

    # -- time -----------------------------------------------------------------------------

    def run(self) -> None:
        """Step in time as long as something is on, and look for news of the node otherwise."""
        due = time.monotonic()
        while not self._gone or self._session:
            period = self._session.dt if self._session else self._period
            due = max(due + period, time.monotonic())    # what is missed is not made up for
            # joint_states and commands are heard even where steps take all the time
            until = max(due, time.monotonic() + HEARING)
            while (left := until - time.monotonic()) > 0:
                self._executor.spin_once(timeout_sec=left)
            self._hear()
            if self._session:
                self._step(self._session, time.monotonic() - due)
            for player in self._players.values():
                self._guard(player, partial(player.tick, period))

    def _guard(self, player: Player, do: Callable[[], None]) -> None:
        try:
            do()
        except Exception as error:   # else it would end what others follow
            self._log.error(traceback.format_exc())
            player.give_up(f'{type(error).__name__}: {error}')

    def _step(self, session: 'Session', late: float) -> None:
        try:
            session.step(late, self._speed_scaling)
        except Exception as error:   # what it has told last has to do
            self._log.error(traceback.format_exc())
            session.end(f'{type(error).__name__}: {error}')
            session.over = True
        self._tell(session)
        if session.over:
            session.close()
            self._session = None
            gc.enable()

    # -- the node -------------------------------------------------------------------------

    def _hear(self) -> None:
        try:
            messages = list[ToServo]()
            while not self._gone and self._connection.poll():
                messages.append(self._connection.recv())
        except (EOFError, OSError):
            self._gone = True
            # streams stop without a ramp: nobody would watch them any more (docs/safety.md)
            for player in self._players.values():
                player.shut()
            if self._session:
                self._session.end('the node is gone')
        scenes = [message for message in messages if isinstance(message, TakeScene)]
        for message in messages:
            if not isinstance(message, TakeScene) or message is scenes[-1]:     # the newest alone
                self._take(message)

    def _take(self, message: ToServo) -> None:
        self._heard = time.monotonic()
        try:
            self._do(message)
        except Exception as error:      # such as a scene that cannot be checked
            self._log.error(traceback.format_exc())
            if self._session:
                self._session.end(f'{type(error).__name__}: {error}')

    def _do(self, message: ToServo) -> None:
        if isinstance(message, Begin):
            self._begin(message)
        elif isinstance(message, Pause):
            self._paused = message.paused
        elif isinstance(message, Open):
            self._period = message.period
            self._players[message.player] = Player(self._topics, self._clock, message, self._say)
        elif isinstance(message, (Play, Brake, Shut)):
            if player := self._players.get(message.player):     # of a process before this one
                self._guard(player, partial(player.take, message))
                if isinstance(message, Shut) and message.gone:
                    del self._players[message.player]
        elif isinstance(message, TakeFrame):
            self._frames.take(message)
        elif self._session and isinstance(message, End):
            self._session.end(message.reason)
        elif self._session and isinstance(message, TakeScene):
            self._session.take_scene(message)
        elif self._session and isinstance(message, TakeBase):
            self._session.take_base(message)

    def _begin(self, begin: Begin) -> None:
        self._values = SimpleNamespace(**begin.parameters)
        before, robot = self._session, begin.scene.robot.with_frames(begin.frames)
        follower = Follower(robot, begin, 1 / begin.parameters['servo_rate'])
        self._joint_states.set_robot(robot)
        if before and before.ended:     # the node hears why, and that nothing begins
            return
        if before and before.follower.begin.joints == begin.joints:
            before.go_on(follower, self._values)
            return
        measured = MeasuredJoints(self._joint_states, self._values, self._clock)
        gc.collect()
        gc.disable()    # which would take the time of steps
        self._session = Session(self._topics, self._clock, measured, follower, self._values)

    def _tell(self, session: 'Session') -> None:
        now = time.monotonic()
        mode = OFF if session.over else session.follower.begin.mode
        step = session.last
        noted = now < self._noted + NOTED
        message = session.ended or session.fault or (
            self._note if noted else
            'paused' if self._paused and not session.follower.moving else
            step.message)
        code = ServoStatus.HALT_FOR_TRACKING if session.strays else (
            ServoStatus.INVALID if session.ended or noted and not self._paused else step.code)
        state = State(mode, session.follower.moving, code, message, session.ended, session.ticks())
        if now < self._told_at + TELL and state[:3] == self._told[:3] \
                and state.ended == self._told.ended:
            return
        self._told, self._told_at = state, now
        status = ServoStatus(code=code, message=message, mode=mode, scale=step.scale)
        status.header.stamp = self._node.get_clock().now().to_msg()
        self._status.publish(status)
        self._say(state)

    def _say(self, message: FromServo) -> None:
        if not self._gone:
            with suppress(OSError):     # it has just gone
                self._connection.send(message)

    # -- clients --------------------------------------------------------------------------

    def _scale_speed(self, message: Float64) -> None:
        """Set the speed of the controllers, in percent as Universal Robots' drivers publish it."""
        if math.isfinite(message.data):
            self._speed_scaling = min(max(message.data / 100, 0.0), 1.0)

    def _obey(self, mode: str, message: PoseStamped | TwistStamped | JointJog) -> None:
        """Follow a command."""
        session = self._session
        if session is None or session.ended:
            return
        follower = session.follower
        try:
            if mode != follower.begin.mode:
                raise wrong(f"a command for mode '{mode}' is ignored: the servo follows "
                            f"'{follower.begin.mode}'")
            if self._paused:
                raise wrong('paused')
            if time.monotonic() > self._heard + SILENCE:
                raise wrong(NODE_HELD_UP)
            with suppress(FrameAwaited):    # commands come again and again
                follower.obey(self._commands.read(message, follower))
        except (RequestError, IKError) as error:
            self._note, self._noted = str(error), time.monotonic()


class Session:
    """
    The time from a `Begin` to its end.

    `ended` says why it comes to an end, `fault` what keeps it from moving at present, or are ''.
    `strays` is whether it ends since the arm does not follow. `over` is when nothing moves any
    more by it.
    """

    def __init__(self, context: SimpleNamespace, clock: MotionClock, measured: MeasuredJoints,
                 follower: Follower, values: SimpleNamespace) -> None:
        self._clock, self._measured, self._values = clock, measured, values
        self.follower, self.dt = follower, follower.dt
        self.ended, self.fault, self.over = '', WAITS, False
        self.last = Step(follower.q, follower.v, 0, 'waits for commands', 0.0)
        self._node = context.node
        self._outputs = [(output, CommandTopic(context, output.message_type, output.topic, 1,
                                               partial(self._give_way, output)))
                         for output in follower.begin.outputs]
        self._ahead = min(output.ahead for output, _ in self._outputs)
        self.strays, self._pushes = False, False
        self._knots = deque[tuple[int, Array, Array]]()
        self._began = self._stepped = time.monotonic()
        self._moved = -math.inf     # nothing is told to an arm that nothing was commanded to
        self._looked, self._time, self._last_now = 0.0, 0, 0
        self._scene, self._scene_at = follower.begin.scene, -RECENT
        self._ended_at = math.inf
        self._late, self._missed, self._count = deque[float](maxlen=COUNTED), 0, 0
        self._base, self._base_speed, self._base_at = follower.q.copy(), np.zeros(0), -math.inf

    def _now(self) -> int:
        now: int = self._node.get_clock().now().nanoseconds
        return now

    def close(self) -> None:
        """Destroy publishers and subscriptions."""
        for _, topic in self._outputs:
            topic.close()

    def go_on(self, follower: Follower, values: SimpleNamespace) -> None:
        """Follow commands of another mode, from the present velocity on."""
        follower.q, follower.v = self.follower.q, self.follower.v
        self.follower, self.dt, self._values = follower, follower.dt, values
        self._outputs = [(output, topic) for output, (_, topic) in zip(
            follower.begin.outputs, self._outputs, strict=True)]
        if follower.begin.scene.version != self._scene.version:
            self.take_scene(TakeScene(follower.begin.scene))

    def take_scene(self, message: TakeScene) -> None:
        """Replace the robot's surroundings."""
        now, scene = time.monotonic(), message.scene
        self.follower.set_scene(self.follower.checker(scene), self._speeds(scene, now))
        self.follower.scene = scene
        self._scene, self._scene_at = scene, now

    def take_base(self, message: TakeBase) -> None:
        """Take where the base is, and by where it was how fast it moves."""
        robot, now, before = self.follower.robot, time.monotonic(), self._base.copy()
        assert robot.base_joint is not None     # else the node tells of none
        base = robot.joint(robot.base_joint)
        self._base[base.index:base.index + base.size] = message.value
        v = pin.difference(robot.model, before, self._base)
        seconds = now - self._base_at
        self._base_speed = v / max(seconds, LOOK) if seconds < RECENT else np.zeros(robot.nv)
        self._base_at = now

    def _place_others(self) -> None:
        """Set the joints that are not servoed, from joint_states and the node."""
        follower, measured = self.follower, self._measured
        robot = follower.robot
        q, v = follower.q.copy(), np.zeros(robot.nv)
        known = self._known_others()
        for name, position, speed in zip(known, *measured.state(known), strict=True):
            joint = robot.joint(name)
            age = self._clock.now() - measured.moment([name])
            q[joint.index] = position + speed * min(max(age, 0.0), FARTHEST_AHEAD)
            v[joint.velocity_index] = speed
        if robot.base_joint and self._base_at > -math.inf:
            base = robot.joint(robot.base_joint)
            part = slice(base.index, base.index + base.size)
            q[part] = self._base[part]
            if time.monotonic() < self._base_at + RECENT:
                part = slice(base.velocity_index, base.velocity_index + base.velocity_size)
                v[part] = self._base_speed[part]
        follower.place_others(q, v)

    def _known_others(self) -> list[str]:
        """Return the joints that are not servoed and that joint_states contain."""
        return [joint.name for joint in self.follower.others
                if joint.is_scalar and self._measured.is_known(joint.name)]

    def _needed(self) -> list[str]:
        """Return the joints whose place must be known: without the rest nothing is known of it."""
        follower = self.follower
        tip, robot = follower.begin.tip, follower.robot
        moving = robot.moving_joints(tip) if tip else frozenset()
        return [*follower.begin.joints, *(
            joint.name for joint in follower.others if joint.is_scalar
            and (joint.name in moving or self._measured.is_known(joint.name)))]

    def _speeds(self, scene: Scene, now: float) -> dict[str, Array]:
        """Return how fast objects move, by where they were in the scene before [m/s]."""
        seconds = now - self._scene_at
        if seconds > RECENT:
            return {}
        pairs = {name: (self._scene.objects[name], item) for name, item in scene.objects.items()
                 if name in self._scene.objects}
        return {name: (after.pose.translation - before.pose.translation) / max(seconds, LOOK)
                for name, (before, after) in pairs.items() if before.pose != after.pose}

    def end(self, reason: str) -> None:
        """Come to rest; the first reason counts."""
        if not self.ended:
            self.ended, self._ended_at = reason, time.monotonic() + self.follower.braking_time
        self.follower.brake()

    def _give_way(self, output: ServoOutput, message: object, topic: str) -> None:
        """End where another client commands the joints."""
        if not output.concerns(message):
            return
        self.end(f'another client sends commands on {topic}')
        self.over = True

    def ticks(self) -> Ticks:
        """Return how punctual the last steps were."""
        if not self._late:
            return NO_TICKS
        p50, p99 = np.percentile(list(self._late), (50, 99))
        return Ticks(self._count, self._missed, float(p50), float(p99), max(self._late))

    # -- steps ----------------------------------------------------------------------------

    def step(self, late: float, speed: float) -> None:
        """Take the due steps at a part of the commanded speed, and publish them."""
        now, steady = self._now(), time.monotonic()
        if steady > self._ended_at + ENDING:    # as where something pushes it on and on
            if self._pushes:
                self._let_go(steady)
            else:
                self.over = True
        self._late.append(late)
        self._count += 1
        self._missed += late > self.dt
        self._mind_joint_states(steady)
        if self._scene_at + RECENT < steady < self._scene_at + 2 * RECENT:
            self._scene_at = -RECENT     # what has moved has come to rest
            self.follower.set_scene(self.follower.checker(self._scene))
        if self.fault or self.over:
            self.over = self.over or bool(self.ended)
            self._stepped = steady
            return
        elapsed, self._stepped = steady - self._stepped, steady
        self._place_others()
        due = self._due(now, elapsed)
        for _ in range(due):
            self.last = self.follower.step(now * 1e-9, speed)
            self._keep()
        if self.follower.moving:
            self._moved = steady
        if steady <= self._moved + HOLD:
            if due or self._ahead:   # repeating a command in a stream would halt the arm
                self._publish()
        elif self.ended and steady > self._moved + HOLD + PASSED and not self._pushes:
            self.over = True

    def _due(self, now: int, elapsed: float) -> int:
        """Return the number of due steps; late ones end the motion, or slow it down."""
        dt = round(self.dt * 1e9)
        if now < self._last_now - MAX_BACKWARD * 1e9:   # the clock was set: it brakes by the new time
            self._knots.clear()
        self._last_now = now
        behind = (now - self._time) * 1e-9
        if not self.follower.moving or not self._knots:
            # a clock that has not gone on since gives no new time to be told
            if self._knots and dt <= self._time - now:
                return 0
            self._time = now
            return 1
        if self._ahead == 0.0:
            if behind < self.dt / 2:    # a simulation may be slow, or stand
                return 0
            self.follower.pause(elapsed)
            self._time = max(self._time + dt, now) - dt
            return 1
        if behind > self._ahead:
            self._rest(now)
            return 1
        return int(behind / self.dt)

    def _rest(self, now: int) -> None:
        """Continue from the place at which the last commands bring the joints to rest."""
        joints, (at, position, velocity) = self.follower.begin.joints, self._knots[-1]
        q, ends = self.follower.q.copy(), list[int]()
        for output, _ in self._outputs:
            chosen = [joints.index(joint) for joint in output.joints]
            end = output.rest(Knot(at, position[chosen], velocity[chosen]))
            q[self.follower.places[chosen]] = end.position
            ends.append(end.time)
        self.follower.stand(q)
        self._knots.append((max(ends), q[self.follower.places], np.zeros(len(joints))))
        self._time = max(now, max(ends) - round(self._ahead * 1e9))

    def _keep(self) -> None:
        """Put down what the step commands, in the middle of it: between two it is a parabola."""
        step, dt = self.last, self.dt
        self._time += round(dt * 1e9)
        places, columns = self.follower.places, self.follower.columns
        self._knots.append((self._time + round((self._ahead - dt / 2) * 1e9),
                            step.q[places] - step.v[columns] * (dt / 2), step.v[columns]))
        while self._knots[0][0] < self._time - KEPT * 1e9:
            self._knots.popleft()

    def _publish(self) -> None:
        begin = self.follower.begin
        for output, topic in self._outputs:
            topic.publish(output.message(self._of(output, begin.joints)))

    def _of(self, output: ServoOutput, joints: tuple[str, ...]) -> list[Knot]:
        """Return the controller's part of a step."""
        chosen = [joints.index(joint) for joint in output.joints]
        if output.ahead == 0.0:
            step, places = self.last, self.follower.places[chosen]
            return [Knot(self._time, step.q[places], step.v[self.follower.columns[chosen]])]
        since = self._time - round((output.ahead / 2) * 1e9)
        first = max(bisect_right(self._knots, since, key=lambda knot: knot[0]) - 1, 0)
        return [Knot(at, position[chosen], velocity[chosen])
                for at, position, velocity in list(self._knots)[first:]]

    # -- joint_states ---------------------------------------------------------------------

    def _mind_joint_states(self, steady: float) -> None:
        """Stop if joint_states are stale, or contradict the commands."""
        if steady < self._looked + LOOK:
            return
        self._looked = steady
        follower = self.follower
        joints, robot = follower.begin.joints, follower.robot
        reason = self._measured.stale(self._needed())
        if not reason and self.fault == WAITS:
            reason = self._unmatched()
        if reason:
            if self.fault and steady < self._began + DISCOVERY:
                return
            self.end(reason)
            self.over = self.over or bool(self.fault)
            return
        self.fault = ''
        if steady <= self._moved + HOLD or self._pushes:
            self._mind_tracking(steady)
        # what is measured may be of before
        if self._pushes or steady <= self._moved + self._values.execute_state_timeout:
            return
        at, speeds = self._measured.state(joints)
        if speeds.any():
            self.fault = 'waits: something else moves the arm'
            return
        apart = offset(robot, joints, at, follower.q[follower.places])
        if np.abs(apart).max() > self._values.start_tolerance:
            self._stand(apart)

    def _unmatched(self) -> str:
        """Return which topic not all subscribers have been discovered on that the node knows."""
        listeners = self.follower.begin.listeners
        return next((reason for (_, topic), count in zip(self._outputs, listeners, strict=True)
                     if (reason := topic.unmatched(count))), '')

    def _mind_tracking(self, steady: float) -> None:
        """Stop if the arm does not follow; release it once it rests."""
        most = self._values.max_tracking_error
        if most == 0 or steady > self._stepped + MOST_LATE:  # held up: it rests elsewhere, as told
            return
        follower, measured = self.follower, self._measured
        joints, late = follower.begin.joints, MOST_LATE + self._ahead
        seen = tracking(follower.robot, joints, self._commanded, measured, late)
        stands = np.array([measured.stood([joint]) > late for joint in joints])
        bound = np.where(stands, STUCK, 1.0) * most
        worst = int(np.argmax(seen.error / bound))
        if seen.error[worst] > bound[worst] and not self.strays:
            self.strays = self._pushes = True
            self.end(f"joint '{joints[worst]}' does not follow: it is {seen.error[worst]:.3g} "
                     'from where it was told to be')
        if self._pushes and stands.all():
            self._let_go(steady)

    def _let_go(self, steady: float) -> None:
        """Command the measured place, so that no controller pushes the arm."""
        follower, self._pushes = self.follower, False
        joints, self._ended_at = follower.begin.joints, steady
        at = self._measured.state(joints)[0]
        self._stand(offset(follower.robot, joints, at, follower.q[follower.places]))
        self._time, self._moved = self._now(), steady
        self._knots = deque([(self._time, follower.q[follower.places], np.zeros(len(joints)))])

    def _stand(self, apart: Array) -> None:
        """Begin at the measured place, `apart` (n,) from the commanded one."""
        q = self.follower.q.copy()
        q[self.follower.places] += apart
        self.follower.stand(q)

    def _commanded(self, moment: float) -> MotionState:
        """Return the commanded positions at a moment of the motion clock."""
        at = self._now() - round((self._clock.now() - moment) * 1e9)
        k = bisect_right(self._knots, at, key=lambda knot: knot[0]) - 1
        time_at, position, velocity = self._knots[max(k, 0)]
        ahead = min(max((at - time_at) * 1e-9, 0.0), self.dt)
        return MotionState(position + ahead * velocity, velocity, np.zeros(len(velocity)))
