"""Main loop of the servo's process: between steps, it runs callbacks and the node's calls."""

from collections import ChainMap
from collections.abc import Callable, Mapping
from contextlib import suppress
import ctypes
from functools import partial
import gc
from multiprocessing.connection import Connection
import os
from pathlib import Path
import time
import traceback
from types import SimpleNamespace
from typing import Any

from control_msgs.msg import JointJog
from geometry_msgs.msg import PoseStamped, TwistStamped
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import qos_profile_sensor_data, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState

from ros2_ik.core import compile_all, IKError, Scene
from ros2_ik.messages.request_error import invalid, RequestError
from ros2_ik.msg import ServoStatus
from ros2_ik.node.controllers.topics import TopicContext
from ros2_ik.node.servo.commands import COMMAND_TOPICS, read_command
from ros2_ik.node.servo.follower import Follower
from ros2_ik.node.servo.messages import FromServo, OFF, ServoOutput, ServoState, SessionRequest
from ros2_ik.node.servo.player import Player
from ros2_ik.node.servo.session import Session
from ros2_ik.node.state.joint_states import JointStates
from ros2_ik.node.state.motion_clock import MotionClock

NAME = 'ik_servo'   # of the process
LOCK_MEMORY = 1 | 2     # flags MCL_CURRENT and MCL_FUTURE of mlockall
SERVO_PRIORITY = 40       # SCHED_FIFO priority, the default of MoveIt Servo
IDLE_PERIOD = 0.05  # period of the loop without a session, until a player is opened [s]
MIN_SPIN_TIME = 1e-3    # for callbacks before each step [s]
STATUS_PERIOD = 0.1     # between two status messages without a change [s]
# commands are ignored after this time without calls from the node [s]: it may be blocked, and then
# could not pass on a stop
NODE_TIMEOUT = 1.0
REJECTION_TIME = 0.5   # time for which the status shows a rejected command [s]
# best effort matches every publisher; the depth is 1, since only the newest command counts
NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)


def serve_servo(connection: Connection, name: str, namespace: str, topics: Mapping[str, str],
                use_sim_time: Parameter) -> None:
    """
    Run the servo and players until the node closes the pipe or ends; see `Loop.run`.

    `name` and `namespace` are those of the node. `topics` has the resolved names of joint_states
    and of the topics below ~/servo. `use_sim_time` is the node's parameter.
    """
    Path('/proc/self/comm').write_text(NAME)
    compile_all()
    # after compile_all, which at real-time priority would stall the driver and the node for 1 s
    _raise_priority()
    # UDP only: if this process is killed, Fast DDS may leave shared memory that keeps the next
    # process from receiving (eProsima/Fast-DDS#5053). Discovery range LOCALHOST overrides this.
    os.environ.setdefault('FASTDDS_BUILTIN_TRANSPORTS', 'UDPv4')
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node(
        f'{name}_servo', namespace=namespace, use_global_arguments=False,
        start_parameter_services=False, parameter_overrides=[use_sim_time])
    loop = Loop(connection, node, topics)
    gc.collect()
    # a garbage collection over the objects loaded so far would delay many steps
    gc.freeze()
    try:
        loop.run()
    finally:
        # close the pipe first, so that the node starts another process for its next call
        connection.close()
        rclpy.try_shutdown()


def _raise_priority() -> None:
    """Request real-time scheduling (SCHED_FIFO), and lock memory, if this is permitted."""
    # Lock memory, as controller_manager does: reading pages from swap takes a third of a second.
    # Without the permission to lock memory, mlockall fails and changes nothing.
    ctypes.CDLL(None).mlockall(LOCK_MEMORY)
    with suppress(PermissionError):
        # all threads, since steps wait for the threads of OpenBLAS as well
        for thread in os.listdir('/proc/self/task'):
            os.sched_setscheduler(int(thread), os.SCHED_FIFO, os.sched_param(SERVO_PRIORITY))


class Loop:
    """The loop of the process, in a single thread: callbacks run between steps."""

    def __init__(self, connection: Connection, node: Node, topics: Mapping[str, str]) -> None:
        self._connection, self._node, self._log = connection, node, node.get_logger()
        # log now: rclpy needs 0.1 s for its first log line, too long for a step
        self._log.info('starting')
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(node)
        self._clock = MotionClock(node)
        # no reading is checked for contradictions before the first session
        self._joint_states = JointStates(node, topics['joint_states'],
                                         SimpleNamespace(joint_state_speed=0.0), self._clock)
        node.create_subscription(JointState, topics['joint_states'], self._joint_states.record,
                                 qos_profile_sensor_data)
        for mode, (topic, kind) in COMMAND_TOPICS.items():
            node.create_subscription(kind, topics[topic], lambda message, mode=mode:
                                     self._on_command(mode, message), NEWEST)
        self._status = node.create_publisher(ServoStatus, topics['status'], 10)
        self._session: Session | None = None
        self._players = dict[int, Player]()
        self._period = IDLE_PERIOD
        self._context = TopicContext(node, None)
        # `_called_at`, `_rejected_at` and `_reported_at` are times on the steady clock [s]
        self._paused, self._pipe_closed, self._called_at = False, False, 0.0
        self._rejection_reason, self._rejected_at = '', -1.0   # of the last rejected command
        self._reported, self._reported_at = ServoState(), 0.0

    # -- time -----------------------------------------------------------------------------

    def run(self) -> None:
        """
        Run callbacks and periodic steps until the pipe is closed and the arm is at rest.

        Also returns at the end of a session if no joint_states were received and no player exists.
        """
        due = time.monotonic()
        while not self._pipe_closed or self._session:
            period = self._session.dt if self._session else self._period
            # missed periods are skipped
            due = max(due + period, time.monotonic())
            # at least MIN_SPIN_TIME for joint_states and commands, even if steps are late
            until = max(due, time.monotonic() + MIN_SPIN_TIME)
            while (left := until - time.monotonic()) > 0:
                self._attempt(partial(self._executor.spin_once, timeout_sec=left), None)
            self._receive()
            if session := self._session:
                self._attempt(session.step, session.abort)
                self._report(session)
                if session.finished:
                    session.close()
                    self._session = None
                    gc.enable()
                    # If an earlier process was killed, this process may never receive anything
                    # (eProsima/Fast-DDS#5053): end it, so that the next switch starts another.
                    if self._joint_states.newest is None and not self._players:
                        return
            for player in self._players.values():
                self._attempt(partial(player.tick, period), player.abort)

    def _attempt(self, do: Callable[[], object], fail: Callable[[str], None] | None) -> None:
        """Call `do`; if it raises, log the error, and pass its text to `fail` (None: no call)."""
        try:
            do()
        # an error in a callback, a session or a player must not end the others
        except Exception as error:
            self._log.error(traceback.format_exc(), throttle_duration_sec=1.0)
            if fail:
                fail(f'{type(error).__name__}: {error}')

    # -- calls from the node --------------------------------------------------------------

    def _receive(self) -> None:
        # methods, and their arguments
        calls = list[tuple[Callable[..., None], tuple[Any, ...]]]()
        try:
            while not self._pipe_closed and self._connection.poll():
                method, arguments = self._connection.recv()
                # a whole scene replaces earlier changes; their moves still count for velocities
                if isinstance(arguments[-1], Scene):
                    moved = [call[1][1] for call in calls if call[1][0] == Session.change_scene]
                    calls = [call for call in calls if call[1][0] != Session.change_scene]
                    change, last, scene = arguments
                    arguments = change, dict(ChainMap(last, *reversed(moved))), scene
                calls.append((method, arguments))
        except (EOFError, OSError):
            self._pipe_closed = True
        for method, arguments in calls:
            self._called_at = time.monotonic()
            # this may fail, for example if no collision checker can be created for a scene
            self._attempt(partial(method, self, *arguments), self._fail)
        if self._pipe_closed:
            # streamed motions stop without braking, since nothing supervises them (docs/safety.md)
            for player in self._players.values():
                player.end_motion()
            self.call_session(Session.end, 'the node has ended')

    def _fail(self, reason: str) -> None:
        """End the session, or report that none has begun, after an error in a call."""
        if self._session:
            self._session.end(reason)
        else:
            self._send(ServoState(code=ServoStatus.INVALID, message=reason, ended=reason))

    def begin(self, request: SessionRequest) -> None:
        """Start a session; ignored if the previous session has not ended."""
        if self._session:
            return
        follower = Follower(request)
        self._joint_states.set_robot(request.robot)
        self._joint_states.parameters = request.parameters
        # collect garbage now, and not while the session runs
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
        """Create a player that sends a controller one command per `period` [s]."""
        self._period = period
        self._players[number] = Player(self._context, self._clock, self._joint_states, number,
                                       output, self._send)

    def call_player(self, number: int, method: Callable[..., None], *arguments: object) -> None:
        """Call a method of a player; players of a previous process are ignored."""
        if player := self._players.get(number):
            self._attempt(partial(method, player, *arguments), player.abort)

    def close_player(self, number: int) -> None:
        """Destroy a player."""
        if player := self._players.pop(number, None):
            player.close()

    # -- status ---------------------------------------------------------------------------

    def _report(self, session: Session) -> None:
        now = time.monotonic()
        mode = OFF if session.finished else session.follower.request.mode
        step = session.last
        # in order of importance: end, fault, rejected command, pause, status of the step
        is_rejected = now < self._rejected_at + REJECTION_TIME
        message = session.ended or session.fault or (
            self._rejection_reason if is_rejected else
            'paused' if self._paused and not session.follower.moving else
            step.message)
        code = ServoStatus.HALT_FOR_TRACKING if session.has_tracking_fault else (
            ServoStatus.INVALID if session.ended or is_rejected else step.code)
        state = ServoState(mode, session.follower.moving, code, session.ended, message)
        if now < self._reported_at + STATUS_PERIOD and state[:4] == self._reported[:4]:
            return
        self._reported, self._reported_at = state, now
        status = ServoStatus(code=code, message=message, mode=mode, scale=step.scale)
        status.header.stamp = self._node.get_clock().now().to_msg()
        self._status.publish(status)
        self._send(state)

    def _send(self, message: FromServo) -> None:
        if not self._pipe_closed:
            # the node can end at any time
            with suppress(OSError):
                self._connection.send(message)

    # -- clients --------------------------------------------------------------------------

    def _on_command(self, mode: str, message: PoseStamped | TwistStamped | JointJog) -> None:
        """Pass a command to the follower, or store the reason why it is rejected."""
        session = self._session
        if session is None or session.ended or self._paused:
            return
        follower = session.follower
        try:
            if mode != follower.request.mode:
                raise invalid(f"a command for mode '{mode}' is ignored: the servo follows "
                              f"'{follower.request.mode}'")
            if time.monotonic() > self._called_at + NODE_TIMEOUT:
                raise invalid('commands are ignored: the node is blocked')
            follower.set_command(read_command(message, follower, self._clock))
        except (RequestError, IKError) as error:
            self._rejection_reason, self._rejected_at = str(error), time.monotonic()
