"""Main loop of the servo's process: receives commands, and publishes one step per period."""

from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Callable, Mapping
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
from typing import Any

from control_msgs.msg import JointJog
from geometry_msgs.msg import PoseStamped, TwistStamped
import numpy as np
import pinocchio as pin
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import qos_profile_sensor_data, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState

from ros2_ik.core import Array, compile_all, IKError, MotionState, Scene
from ros2_ik.messages.request_error import RequestError, wrong
from ros2_ik.msg import ServoStatus
from ros2_ik.node.controllers.controller import MAX_DELAY, position_bounds
from ros2_ik.node.controllers.topics import CommandTopic, SpeedScaling
from ros2_ik.node.motion.tracking import tracking
from ros2_ik.node.servo.commands import MESSAGES, read_command
from ros2_ik.node.servo.follower import Follower, Step
from ros2_ik.node.servo.messages import Begin, FromServo, Knot, OFF, ServoOutput, State, WAITS
from ros2_ik.node.servo.player import MAX_PAUSE, Player
from ros2_ik.node.servo.velocities import Velocities
from ros2_ik.node.state.joint_states import JointStates
from ros2_ik.node.state.motion_clock import MotionClock

NAME = 'ik_servo'   # of the process
LOCK_MEMORY = 1 | 2     # flags MCL_CURRENT and MCL_FUTURE of mlockall
PRIORITY = 40       # of SCHED_FIFO, as of MoveIt Servo
IDLE_PERIOD = 0.05  # between two checks for messages of the node while nothing moves [s]
MIN_SPIN_TIME = 1e-3    # for callbacks before each step [s]
CHECK_PERIOD = 0.02     # between two checks of joint_states [s]
STATUS_PERIOD = 0.1     # between two status messages without a change [s]
# time for which the final position is republished, in case a message is lost [s]
HOLD_TIME = 0.5
# time beyond the braking time after which a session ends although the arm moves [s]
END_TIMEOUT = 3.0
# fraction of max_tracking_error that is allowed for a joint that is measured at rest
REST_FRACTION = 0.25
MIN_BRAKING_TIME = 1e-3     # between the last two points of a trajectory [s]
KNOT_TIME = 1.0     # time for which published knots are stored [s]
MAX_EXTRAPOLATION = 0.1     # of readings of joints that the servo does not move [s]
DISCOVERY_TIME = 5.0    # for the discovery of joint_states and controllers [s]
CONNECTION_TIME = 4.0   # from the start of the process, for DDS to find all subscribers [s]
# commands are ignored if the node is silent for this time: it may fail to pass on a stop [s]
NODE_TIMEOUT = 1.0
NOTE_TIME = 0.5     # time for which the status shows a refused command [s]
# best effort matches every publisher; depth 1, since only the newest command counts
NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)


def serve_servo(connection: Connection, name: str, namespace: str, topics: Mapping[str, str],
                simulated: bool) -> None:
    """
    Run the servo until the node closes the pipe or ends; then brake, and return.

    `name` and `namespace` are the node's, `topics` the resolved names of joint_states and of the
    topics below ~/servo; `simulated` is use_sim_time.
    """
    Path('/proc/self/comm').write_text(NAME)
    compile_all()
    # after loading, which takes a second and would stall the driver and the node
    _raise_priority()
    # Without shared memory: if this process is killed, Fast DDS may leave shared memory in which
    # the next process receives nothing (eProsima/Fast-DDS#5053). No effect on LOCALHOST.
    os.environ.setdefault('FASTDDS_BUILTIN_TRANSPORTS', 'UDPv4')
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node(
        f'{name}_servo', namespace=namespace, use_global_arguments=False,
        start_parameter_services=False, parameter_overrides=[
            Parameter('use_sim_time', Parameter.Type.BOOL, simulated)])
    loop = Loop(connection, node, topics)
    gc.collect()
    # a garbage collection over the objects loaded so far would delay many steps
    gc.freeze()
    try:
        loop.run()
    finally:
        rclpy.try_shutdown()


def _raise_priority() -> None:
    """Request real-time scheduling (SCHED_FIFO), and lock memory, if this is permitted."""
    # Lock memory, as controller_manager does: reading pages from swap takes a third of a second.
    # Without the permission to lock memory, mlockall fails and changes nothing.
    ctypes.CDLL(None).mlockall(LOCK_MEMORY)
    with suppress(PermissionError):
        # all threads, since steps wait for the threads of OpenBLAS as well
        for thread in os.listdir('/proc/self/task'):
            os.sched_setscheduler(int(thread), os.SCHED_FIFO, os.sched_param(PRIORITY))


class Loop:
    """The loop of the process, in a single thread: callbacks run between steps."""

    def __init__(self, connection: Connection, node: Node, topics: Mapping[str, str]) -> None:
        self._connection, self._node, self._log = connection, node, node.get_logger()
        # rclpy needs 0.1 s for its first log line, too long for a step
        self._log.info('starting')
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(node)
        self._clock = MotionClock(node)
        # these parameters apply until the first session
        self._joint_states = JointStates(node, topics['joint_states'],
                                         SimpleNamespace(joint_state_speed=1.5), self._clock)
        node.create_subscription(JointState, topics['joint_states'], self._joint_states.take,
                                 qos_profile_sensor_data)
        for mode, (topic, kind) in MESSAGES.items():
            node.create_subscription(
                kind, topics[topic], lambda message, mode=mode: self._obey(mode, message), NEWEST)
        self._status = node.create_publisher(ServoStatus, topics['status'], 10)
        self._session: Session | None = None
        self._players = dict[int, Player]()
        self._period = IDLE_PERIOD
        self._context = SimpleNamespace(node=node, listeners=Counter(), callback_group=None,
                                        connected_at=time.monotonic() + CONNECTION_TIME)
        # times are on the steady clock [s]
        self._paused, self._gone, self._called = False, False, 0.0
        self._note, self._noted = '', -1.0      # reason and time of the last refused command
        self._told, self._told_at = State(), 0.0

    # -- time -----------------------------------------------------------------------------

    def run(self) -> None:
        """Run callbacks and periodic steps until the node has gone and the arm is at rest."""
        due = time.monotonic()
        while not self._gone or self._session:
            period = self._session.dt if self._session else self._period
            # missed steps are skipped
            due = max(due + period, time.monotonic())
            # at least MIN_SPIN_TIME for joint_states and commands, even if steps are late
            until = max(due, time.monotonic() + MIN_SPIN_TIME)
            while (left := until - time.monotonic()) > 0:
                self._attempt(partial(self._executor.spin_once, timeout_sec=left), None)
            self._receive()
            if session := self._session:
                self._attempt(partial(session.step, time.monotonic() - due), session.abort)
                self._report(session)
                if session.over:
                    session.close()
                    self._session = None
                    gc.enable()
            for player in self._players.values():
                self._attempt(partial(player.tick, period), player.abort)

    def _attempt(self, do: Callable[[], object], fail: Callable[[str], None] | None) -> None:
        """Call `do`; if it raises, log the error and call `fail`, if given, with its text."""
        try:
            do()
        # an error of a callback, a session or a player must not end the others
        except Exception as error:
            self._log.error(traceback.format_exc(), throttle_duration_sec=1.0)
            if fail:
                fail(f'{type(error).__name__}: {error}')

    # -- calls of the node ----------------------------------------------------------------

    def _receive(self) -> None:
        # methods, and their arguments
        calls = list[tuple[Callable[..., None], tuple[Any, ...]]]()
        try:
            while not self._gone and self._connection.poll():
                calls.append(self._connection.recv())
        except (EOFError, OSError):
            self._gone = True
        # the newest scene replaces all earlier changes; their object moves are added to its own
        changes = {i: arguments for i, (_, arguments) in enumerate(calls)
                   if arguments[:1] == (Session.change_scene,)}
        newest = max((i for i, (_, scene, _) in changes.items() if scene), default=0)
        if newest in changes:
            poses = {name: pose for i, (_, _, moved) in changes.items() if i <= newest
                     for name, pose in moved.items()}
            calls[newest] = calls[newest][0], (*changes[newest][:2], poses)
        for i, (method, arguments) in enumerate(calls):
            if i >= newest or i not in changes:
                self._called = time.monotonic()
                # for example, a scene for which no collision checker can be created
                self._attempt(partial(method, self, *arguments), self._fail)
        if self._gone:
            # motions stop without braking, since nothing supervises them now (docs/safety.md)
            for player in self._players.values():
                player.shut()
            self.call_session(Session.end, 'the node has ended')

    def _fail(self, reason: str) -> None:
        """End the session, or report that none has begun, after an error in a call."""
        if self._session:
            self._session.end(reason)
        else:
            self._send(State(code=ServoStatus.INVALID, message=reason, ended=reason))

    def begin(self, begin: Begin) -> None:
        """Start a session, unless the previous one is still ending, as the status reports."""
        if self._session:
            return
        follower = Follower(begin)
        self._joint_states.set_robot(begin.robot)
        self._joint_states.parameters = begin.parameters
        # garbage collection: once now, then none while steps run
        gc.collect()
        gc.disable()
        self._session = Session(self._context, self._clock, self._joint_states, follower)

    def call_session(self, method: Callable[..., None], *arguments: object) -> None:
        """Call a method of the session, if there is one."""
        if self._session:
            method(self._session, *arguments)

    def pause(self, paused: bool) -> None:
        """Brake and ignore commands while `paused`."""
        self._paused = paused
        if self._session and paused:
            self._session.follower.brake()

    def open_player(self, number: int, output: ServoOutput, period: float) -> None:
        """Create a player for a controller, with one command per `period` [s]."""
        self._period = period
        self._players[number] = Player(self._context, self._clock, number, output, self._send)

    def call_player(self, number: int, method: Callable[..., None], *arguments: object) -> None:
        """Call a method of a player; players of a previous process are ignored."""
        if player := self._players.get(number):
            self._attempt(partial(method, player, *arguments), player.abort)

    def close_player(self, number: int) -> None:
        """Destroy a player."""
        if player := self._players.pop(number, None):
            player.close()

    # -- status ---------------------------------------------------------------------------

    def _report(self, session: 'Session') -> None:
        now = time.monotonic()
        mode = OFF if session.over else session.follower.begin.mode
        step = session.last
        # in order of importance: end, fault, refused command, pause, status of the step
        noted = now < self._noted + NOTE_TIME
        message = session.ended or session.fault or (
            self._note if noted else
            'paused' if self._paused and not session.follower.moving else
            step.message)
        code = ServoStatus.HALT_FOR_TRACKING if session.strays else (
            ServoStatus.INVALID if session.ended or noted else step.code)
        state = State(mode, session.follower.moving, code, session.ended, message, session.steps,
                      session.missed)
        if now < self._told_at + STATUS_PERIOD and state[:4] == self._told[:4]:
            return
        self._told, self._told_at = state, now
        status = ServoStatus(code=code, message=message, mode=mode, scale=step.scale)
        status.header.stamp = self._node.get_clock().now().to_msg()
        self._status.publish(status)
        self._send(state)

    def _send(self, message: FromServo) -> None:
        if not self._gone:
            # the node can end at any time
            with suppress(OSError):
                self._connection.send(message)

    # -- clients --------------------------------------------------------------------------

    def _obey(self, mode: str, message: PoseStamped | TwistStamped | JointJog) -> None:
        """Pass a command to the follower, or note why it is refused."""
        session = self._session
        if session is None or session.ended or self._paused:
            return
        follower = session.follower
        try:
            if mode != follower.begin.mode:
                raise wrong(f"a command for mode '{mode}' is ignored: the servo follows "
                            f"'{follower.begin.mode}'")
            if time.monotonic() > self._called + NODE_TIMEOUT:
                raise wrong('commands are ignored: the node is blocked')
            follower.obey(read_command(message, follower, self._clock))
        except (RequestError, IKError) as error:
            self._note, self._noted = str(error), time.monotonic()


class Session:
    """
    A servo session, from its `Begin` until the arm has come to rest again.

    - `ended`: the reason of the end, or ''.
    - `fault`: the reason why the arm cannot move at present, or ''.
    - `strays`: True if the session ends because the arm does not follow.
    - `over`: True when the session has ended, and its last command has been executed.
    - `steps`, `missed`: the numbers of all steps, and of those more than a period late.
    """

    def __init__(self, context: SimpleNamespace, clock: MotionClock, measured: JointStates,
                 follower: Follower) -> None:
        self._clock, self._measured = clock, measured
        self._values = follower.begin.parameters
        self.follower, self.dt = follower, follower.dt
        self.ended, self.fault, self.over = '', WAITS, False
        self.steps, self.missed = 0, 0
        self.last = Step(0, 'waits for commands', 0.0)
        self._outputs = [(output, CommandTopic(context, output.message_type, output.topic, 1,
                                               partial(self._on_foreign_command, output)))
                         for output in follower.begin.outputs]
        self._scalings = [
            SpeedScaling(context.node, f'{output.topic.rpartition("/")[0]}/controller_state',
                         partial(self._repeat, topic))
            for output, topic in self._outputs if output.ahead]
        self._ahead = min(output.ahead for output, _ in self._outputs)
        self.strays, self._pushes = False, False
        self._knots = deque[Knot]()
        # times of the begin, of the last step, and of the last step with motion [s]
        self._began = self._stepped = time.monotonic()
        self._moved = -math.inf     # nothing is published before the first motion
        # `_time` (of the last command) and the times of knots are on the motion clock [ns]
        self._checked, self._time = 0.0, 0
        self._velocities = Velocities()
        self._ended_at = math.inf
        self._bounds = position_bounds(follower.robot, follower.begin.joints)
        # joints that move the tip, but are not servoed
        tip, robot = follower.begin.tip, follower.robot
        moving = robot.moving_joints(tip) if tip else frozenset()
        self._carriers = [joint.name for joint in follower.others
                          if joint.is_scalar and joint.name in moving]
        self._base, self._base_velocities = follower.q.copy(), Velocities()

    def close(self) -> None:
        """Destroy publishers and subscriptions."""
        for _, topic in self._outputs:
            topic.close()
        for scaling in self._scalings:
            scaling.close()

    def change_scene(self, scene: Scene | None, poses: Mapping[str, pin.SE3]) -> None:
        """
        Set the scene (None: the same objects), in which some objects have moved to `poses`.

        A scene takes 10 ms, or more with new meshes or hundreds of objects; poses take less.
        """
        follower, now = self.follower, time.monotonic()
        before = follower.scene.objects
        self._velocities.note({name: pose.translation - before[name].pose.translation
                               for name, pose in poses.items() if name in before}, now)
        if scene:
            # an object that is attached now moves with the arm
            self._velocities.keep(scene.objects)
            follower.set_scene(scene)
        follower.move_objects({} if scene else poses, self._velocities.at(now))

    def take_base(self, value: Array) -> None:
        """Set the positions of the base joint, whose velocity is estimated from its last moves."""
        robot, before = self.follower.robot, self._base.copy()
        assert robot.base_joint is not None
        base = robot.joint(robot.base_joint)
        self._base[base.index:base.index + base.size] = value
        moved = pin.difference(robot.model, before, self._base)
        self._base_velocities.note({robot.base_joint: moved[base.columns]}, time.monotonic())

    def _place_others(self) -> None:
        """Set the joints that are not servoed, from joint_states and from `take_base`."""
        follower, measured = self.follower, self._measured
        robot = follower.robot
        q, v = follower.q.copy(), follower.v.copy()
        # joints of joint_states, extrapolated to the current time
        known = self._known_others()
        for name, position, speed in zip(known, *measured.state(known), strict=True):
            joint = robot.joint(name)
            age = self._clock.now() - measured.moment([name])
            q[joint.index] = position + speed * min(max(age, 0.0), MAX_EXTRAPOLATION)
            v[joint.velocity_index] = speed
        if robot.base_joint:
            base = robot.joint(robot.base_joint)
            part = slice(base.index, base.index + base.size)
            q[part] = self._base[part]
            moves = self._base_velocities.at(time.monotonic())
            v[base.columns] = moves.get(robot.base_joint, 0.0)
        follower.q, follower.v = q, v

    def _known_others(self) -> list[str]:
        """Return the joints that are not servoed and that joint_states contain."""
        return [joint.name for joint in self.follower.others
                if joint.is_scalar and self._measured.get(joint.name)]

    def end(self, reason: str) -> None:
        """Brake, and end at rest; the reason of the first call is reported."""
        if not self.ended:
            self.ended, self._ended_at = reason, time.monotonic() + self.follower.braking_time
        self.follower.brake()

    def abort(self, reason: str) -> None:
        """End without braking: the last published step holds the joints or brings them to rest."""
        self.end(reason)
        self.over = True

    def _on_foreign_command(self, output: ServoOutput, message: object, topic: str) -> None:
        if output.concerns(message):
            self.abort(f'another client sends commands on {topic}')

    # -- steps ----------------------------------------------------------------------------

    def step(self, late: float) -> None:
        """Compute and publish the due steps; `late` is the delay [s]."""
        now, steady = round(self._clock.now() * 1e9), time.monotonic()
        # the arm has not come to rest in time, for example because obstacles keep pushing it
        if steady > self._ended_at + END_TIMEOUT:
            # stale readings must not be commanded
            if self._pushes and not self._measured.stale(self.follower.begin.joints):
                self._hold_measured(steady)
            else:
                self.over = True
        self.steps += 1
        self.missed += late > self.dt
        self._check_joint_states(steady)
        if self._velocities.drop_rested(steady):
            self.follower.move_objects({}, self._velocities.at(steady))
        if self.fault or self.over:
            self.over = self.over or bool(self.ended)
            self._stepped = steady
            return
        elapsed, self._stepped = steady - self._stepped, steady
        self._place_others()
        due = self._due(now, elapsed)
        # the slowest controller sets the speed of all joints
        speed = min((scaling.factor for scaling in self._scalings), default=1.0)
        for _ in range(due):
            self.last = self.follower.step(now * 1e-9, speed)
            self._store_knot()
        if self.follower.moving:
            self._moved = steady
        if steady <= self._moved + HOLD_TIME:
            # a repeated command of a stream would halt the arm; trajectories may be repeated
            if due or self._ahead:
                self._publish()
        # all published messages have been executed
        elif self.ended and steady > self._moved + HOLD_TIME + MAX_DELAY and not self._pushes:
            self.over = True

    def _due(self, now: int, elapsed: float) -> int:
        """Return the number of due steps at time `now` [ns]; late steps slow the arm down."""
        dt = round(self.dt * 1e9)
        behind = (now - self._time) * 1e-9
        # at rest: one step, at the current time
        if not self.follower.moving or not self._knots:
            # the clock is paused or slow: the last step is already a whole period ahead of it
            if self._knots and dt <= self._time - now:
                return 0
            self._time = now
            return 1
        # streams: one step; missed steps are lost
        if self._ahead == 0.0:
            # simulated time may be slow, or paused
            if behind < self.dt / 2:
                return 0
            # the joints have slowed down at their last command, and stopped after MAX_PAUSE
            if elapsed > 2 * self.dt:
                self.follower.v = self.follower.v * max(1.0 - elapsed / MAX_PAUSE, 0.0)
            self._time = max(self._time + dt, now) - dt
            return 1
        # trajectories: the controller has executed the last one to its end, at rest
        if behind > self._ahead:
            self._restart_at_rest(now)
            return 1
        return int(behind / self.dt)

    def _rest(self) -> Knot:
        """Return the knot after the last one at which all joints come to rest simultaneously."""
        # the joint that needs the longest sets the time; decelerations are constant
        seconds = max(self.follower.braking_time, MIN_BRAKING_TIME)
        at, position, velocity = self._knots[-1]
        end = np.clip(position + velocity * (seconds / 2), *self._bounds)
        return Knot(at + round(seconds * 1e9), end, np.zeros(len(end)))

    def _restart_at_rest(self, now: int) -> None:
        """Continue from the rest positions at the end of the last published trajectories."""
        rest = self._rest()
        self.follower.stand(rest.position)
        self._knots.append(rest)
        # the next knot, `ahead` of this time, must not be earlier than the rest
        self._time = max(now, rest.time - round(self._ahead * 1e9))

    def _store_knot(self) -> None:
        """Store the commanded knot of the last step, and drop knots older than KNOT_TIME."""
        follower = self.follower
        position, velocity = follower.q[follower.places], follower.v[follower.columns]
        self._time += round(self.dt * 1e9)
        # A knot is in the middle of a step, where the constant velocity of the step is exact.
        # Between two knots, the controller's cubic polynomial is then a parabola.
        back = self.dt / 2
        self._knots.append(Knot(self._time + round((self._ahead - back) * 1e9),
                                position - velocity * back, velocity))
        while self._knots[0].time < self._time - KNOT_TIME * 1e9:
            self._knots.popleft()

    def _publish(self) -> None:
        """Publish recent knots and the rest knot to each controller; to streams, the last step."""
        follower, stamp = self.follower, self._clock.stamp
        joints, knots, rest = follower.begin.joints, list(self._knots), self._rest()
        last = Knot(self._time, follower.q[follower.places], follower.v[follower.columns])
        for output, topic in self._outputs:
            chosen = [joints.index(joint) for joint in output.joints]
            recent = [last]
            if output.ahead:
                # start at the last knot that is at least ahead / 2 older than the current step
                since = self._time - round((output.ahead / 2) * 1e9)
                first = bisect_right(knots, since, key=lambda knot: knot.time) - 1
                # controllers refuse negative times, as of knots before a restart of simulated time
                first = max(first, bisect_right(knots, -stamp(0), key=lambda knot: knot.time))
                recent = [*knots[first:], rest]
            topic.publish(output.message([Knot(stamp(at), position[chosen], velocity[chosen])
                                          for at, position, velocity in recent]))

    def _repeat(self, topic: CommandTopic) -> None:
        """Publish the last trajectory again, after an update of a slowed controller."""
        # A slowed controller that updates several times per trajectory would lag behind it, and
        # catch up at the next one: only the first sample of a trajectory is at the current time.
        if not (self.over or self.fault) and time.monotonic() < min(self._stepped + 2 * self.dt,
                                                    self._moved + HOLD_TIME):
            topic.repeat()

    # -- joint_states ---------------------------------------------------------------------

    def _check_joint_states(self, steady: float) -> None:
        """End the session if joint_states are stale, or the arm does not follow."""
        if steady < self._checked + CHECK_PERIOD:
            return
        self._checked = steady
        follower = self.follower
        joints = follower.begin.joints
        reason = self._measured.stale([*joints, *self._carriers, *self._known_others()])
        if not reason and self.fault == WAITS:
            reason = next((text for output, topic in self._outputs
                           if (text := topic.no_subscriber(output.n_node_subscriptions))), '')
        if reason:
            # before the first motion, wait for the discovery of joint_states and controllers
            if self.fault and steady < self._began + DISCOVERY_TIME:
                return
            self.end(reason)
            self.over = self.over or bool(self.fault)
            return
        self.fault = ''
        if steady <= self._moved + HOLD_TIME or self._pushes:
            self._check_tracking(steady)
        # readings may be from before the arm came to rest
        if self._pushes or steady <= self._moved + self._values.execute_state_timeout:
            return
        if self._measured.state(joints)[1].any():
            self.fault = 'waits: another client moves the arm'
        # another client has moved the arm
        elif np.abs(self._apart()).max() > self._values.start_tolerance:
            self._restart_at_measured()

    def _check_tracking(self, steady: float) -> None:
        """End the session if the arm does not follow; at rest, command its measured positions."""
        most = self._values.max_tracking_error
        # this process was suspended: the arm has come to rest at the end of its last trajectory
        if most == 0 or steady > self._stepped + MAX_DELAY:
            return
        follower, measured = self.follower, self._measured
        joints, late = follower.begin.joints, MAX_DELAY + self._ahead
        seen = tracking(joints, self._commanded, measured, most=late)
        # a smaller bound for joints at rest, which a delay does not explain
        stands = np.array([measured.stood([joint]) > late for joint in joints])
        bound = np.where(stands, REST_FRACTION, 1.0) * most
        worst = int(np.argmax(seen.error / bound))
        if seen.error[worst] > bound[worst] and not self.strays:
            self.strays = self._pushes = True
            self.end(f"joint '{joints[worst]}' does not follow: it is {seen.error[worst]:.3g} "
                     'from its commanded position')
        if self._pushes and stands.all():
            self._hold_measured(steady)

    def _hold_measured(self, steady: float) -> None:
        """Command the measured positions, so that no controller pushes a stuck arm."""
        self._restart_at_measured()
        self._pushes, self._ended_at, self._moved = False, steady, steady
        self._time = round(self._clock.now() * 1e9)
        at = self.follower.q[self.follower.places]
        self._knots.append(Knot(self._time, at, np.zeros(len(at))))

    def _apart(self) -> Array:
        """Return the distances (n,) of the measured positions from the commanded ones."""
        follower = self.follower
        return -self._measured.away(follower.begin.joints, follower.q[follower.places])

    def _restart_at_measured(self) -> None:
        follower = self.follower
        follower.stand(follower.q[follower.places] + self._apart())
        # a trajectory must not start with knots at earlier positions
        self._knots.clear()

    def _commanded(self, moment: float) -> MotionState:
        """Return the commanded state at a time [s]."""
        # extrapolate the previous knot by one step at most
        at = round(moment * 1e9)
        k = bisect_right(self._knots, at, key=lambda knot: knot[0]) - 1
        time_at, position, velocity = self._knots[max(k, 0)]
        ahead = min(max((at - time_at) * 1e-9, 0.0), self.dt)
        return MotionState(position + ahead * velocity, velocity, np.zeros(len(velocity)))
