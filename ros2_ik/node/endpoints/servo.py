"""
Services ~/servo/switch, switch_command_type (of MoveIt's type ServoCommandType) and pause.

The servo's topics belong to its own process.
"""

from collections.abc import Callable
import time

from moveit_msgs.msg import ServoStatus as MoveItStatus
from moveit_msgs.srv import ServoCommandType
import numpy as np
from rclpy.qos import DurabilityPolicy
from std_srvs.srv import SetBool

from ros2_ik.core import Array, Robot, Scene, Status
from ros2_ik.messages.frames import (
    changed_frame,
    group_name,
    has_tool,
    link_name,
    Reference,
    tip_name,
    TOOL,
    with_tool,
)
from ros2_ik.messages.request_error import RequestError, wrong
from ros2_ik.msg import ServoStatus
from ros2_ik.node.controllers.controller import Controller
from ros2_ik.node.controllers.motion_limits import motion_limits
from ros2_ik.node.endpoints.answering import answering
from ros2_ik.node.endpoints.parts import timer
from ros2_ik.node.endpoints.registry import Endpoint
from ros2_ik.node.motion.planning import checked_scaling
from ros2_ik.node.servo.messages import (
    Alive,
    AskFrame,
    Begin,
    Died,
    End,
    FromServo,
    MODES,
    NO_TICKS,
    OFF,
    Pause,
    State,
    TakeBase,
    TakeFrame,
    TakeScene,
    WAITS,
)
from ros2_ik.srv import SwitchServo

LOOK = 0.02       # between two looks at the servo and at what it has to know [s]
ALIVE = 5         # looks between two messages to the servo that the node is alive
STARTING = 20.0   # longest time until its process has started, on a busy computer [s]
DIED = 'its process has died: what the controllers were told last counts'
REST = 20.0       # longest time until it has come to rest [s]
ASKED = 1.0       # time for which it is told of a frame that it has asked for [s]
FRAMES = 4        # most frames that it is told of
MOVEIT_MODES = {ServoCommandType.Request.JOINT_JOG: SwitchServo.Request.JOINT,
                ServoCommandType.Request.TWIST: SwitchServo.Request.TWIST,
                ServoCommandType.Request.POSE: SwitchServo.Request.POSE}
SHARED = ('servo_rate', 'servo_linear_velocity', 'servo_angular_velocity', 'servo_margin',
          'servo_command_timeout', 'joint_state_speed', 'execute_state_timeout',
          'max_tracking_error', 'start_tolerance')


class Servo(Endpoint):
    """
    Switches the servo, and sends its process the scene, the base and frames of TF.

    `servo_process` starts when it is switched on first.
    """

    def offer(self) -> None:
        self.servo_process.receivers.append(self._on_message)
        self._begun: Begin | None = None
        self._controllers: list[Controller] = []
        self._moved: tuple[str, ...] = ()
        self._stops, self._paused, self._switching, self._ticks = 0, False, False, 0
        self._ending, self._offs = False, 0
        self._scene: Scene | None = None    # that it knows
        self._base = np.zeros(0)            # where it knows the base to be
        self._lookup = self.transforms.lookup(execute=True)
        self._frames: dict[str, float] = {}     # of TF, and when it asked for them
        self._waiting: list[tuple[Callable[[State], bool], float,
                                  Callable[[State | None], None]]] = []
        self._status = self.node.create_publisher(ServoStatus, '~/servo/status', 10)
        self._moveit_status = self.node.create_publisher(MoveItStatus, '~/servo/moveit_status', 10)
        self._timer = timer(self.node, LOOK, self._tick)
        self._timer.cancel()
        self.serve(SwitchServo, '~/servo/switch', self.switch)
        self.serve(ServoCommandType, '~/servo/switch_command_type', self.switch_as_moveit)
        self.serve(SetBool, '~/servo/pause', self.pause)

    @property
    def on(self) -> bool:
        """True if it follows commands, or comes to rest."""
        return self._begun is not None

    # -- services -------------------------------------------------------------------------

    @answering('servo/switch')
    async def switch(self, request: SwitchServo.Request,
                     response: SwitchServo.Response) -> None:
        """Switch it on, off, or over to other commands."""
        response.message = await self._switch(request)
        response.success = True

    @answering('servo/switch_command_type')
    async def switch_as_moveit(self, request: ServoCommandType.Request,
                               response: ServoCommandType.Response) -> None:
        """Switch by ServoCommandType, with the default group and tip."""
        kind = request.command_type     # what is no command type is refused as a mode
        await self._switch(SwitchServo.Request(mode=MOVEIT_MODES.get(kind, f'{kind}')))
        response.success = True

    async def _switch(self, request: SwitchServo.Request) -> str:
        """Switch; return a sentence about the result; raises RequestError."""
        # YAML, as on a command line, makes a truth value of a plain off, and that a text
        mode = OFF if request.mode.lower() == 'false' else request.mode
        if mode == OFF:
            self._offs += 1
            return await self._switch_off()
        if mode not in MODES:
            raise wrong(f"mode is '{mode}'; valid: {', '.join((*MODES, OFF))}")
        if self._switching:
            raise RequestError(Status.CONTROL_FAILED, 'another client just switches the servo')
        self._switching, offs = True, self._offs
        try:
            message = await self._switch_on(mode, request)
            if self._offs != offs:      # while the servo was not yet on
                await self._switch_off()
                raise RequestError(Status.CONTROL_FAILED, 'another client switched it off')
            return message
        finally:
            self._switching = False

    @answering('servo/pause')
    async def pause(self, request: SetBool.Request, response: SetBool.Response) -> None:
        """Ignore commands, so that the arm comes to rest, or follow them again."""
        self._paused = bool(request.data)
        if self.on:
            self.servo_process.send(Pause(self._paused))
        response.success = True
        response.message = 'commands are ignored' if self._paused else 'commands are followed'

    async def _switch_off(self) -> str:
        if not self.on:
            return 'the servo does not get on' if self._switching else 'the servo was off'
        self._end('switched off')
        await self._until(lambda state: state.mode == OFF, REST, 'come to rest')
        return 'the servo is off, the arm at rest'

    async def _switch_on(self, mode: str, request: SwitchServo.Request) -> str:
        robot, parameters, stops = (self.description.current(), self.parameters,
                                    self.motions.stops)
        group, scene = group_name(robot, request.group, parameters), self.scene.known.scene
        robot = with_tool(request.tool, scene, [request.tip], group, parameters)
        named = request.tip or (TOOL if has_tool(request.tool) else '')
        tip = '' if mode == 'joint' else (
            link_name(robot, named, 'tip', scene) if named else tip_name(robot, group, parameters))
        names = robot.group(group).joint_names if group else robot.joint_names
        joints = tuple(name for name in names if robot.joint(name).is_scalar
                       and name not in robot.passive_joints and name not in robot.mimics)
        if tip and not robot.moving_joints(tip) & {*joints}:
            raise wrong(f"no joint of group '{group}' moves '{tip}'")
        scaling = checked_scaling(request.velocity_scaling or parameters.servo_velocity_scaling,
                                  parameters)
        checker, notes = self.scene.checker(scene)
        self.servo_process.pass_on()   # it may have ended, or died
        if self.on:
            self._send_changes()    # of a stop that has just come
        goes_on = self.on and self._moved == joints and not self._ending
        if self.on and not goes_on:
            await self._switch_off()
        if not goes_on:
            self._controllers = await self.motions.lend(
                robot, joints, checker.moving_joints if checker else frozenset())
        if self.motions.stops != stops:
            if not goes_on:
                self.motions.take_back()
            raise RequestError(Status.PREEMPTED, 'all motions were stopped meanwhile')
        self._moved = joints
        try:
            begin = self._begin(robot, mode, tip, joints, scaling, scene, checker is not None,
                                self._dimensions(request))
            self._send(begin)
            state = await self._until(lambda state: (state.mode == mode and state.message != WAITS
                                               or bool(state.ended)),
                                      STARTING, 'start')
        except Exception:
            if not goes_on:
                self._end('it did not start')
                self._forget()
            raise
        if state.ended:
            raise RequestError(Status.CONTROL_FAILED, state.ended)
        of = f" of '{tip}'" if tip else ''
        return '; '.join([f'the servo follows {mode} commands{of}, with {len(joints)} joints and '
                          f'{scaling:g} of their velocity limits', *notes])

    def _dimensions(self, request: SwitchServo.Request) -> tuple[bool, ...]:
        """Return which of x y z rx ry rz the tip follows; raises RequestError."""
        given = list(request.control_dimensions)
        if given and (len(given) != 6 or not any(given)):
            raise wrong(f'control_dimensions are {given}; valid: none, or six, one true')
        return tuple(given or self.parameters.servo_control_dimensions)

    def _begin(self, robot: Robot, mode: str, tip: str, joints: tuple[str, ...], scaling: float,
               scene: Scene, checked: bool, dimensions: tuple[bool, ...]) -> Begin:
        parameters = self.parameters
        # what else its controllers command is held
        every = tuple(joint for one in self._controllers for joint in one.joints)
        limits = motion_limits(robot, every, parameters)
        moved = np.array([float(joint in joints) for joint in every])
        q: Array = np.array(self.current_state.start(robot, {}, frozenset(every)).q)
        outputs = tuple(one.servo_output(robot) for one in self._controllers)
        return Begin(mode, tip, every, q, limits.velocity * scaling * moved,
                     limits.acceleration * parameters.servo_acceleration_scaling, outputs, scene,
                     self.scene.geometry.options if checked else None,
                     {name: getattr(parameters, name) for name in SHARED}, dimensions,
                     tuple(self._listeners(one.topic) for one in outputs),
                     dict(robot.added_frames))

    def _listeners(self, topic: str) -> int:
        """Count a topic's subscriptions without the servo's own and transient local ones."""
        own = f'{self.node.get_name()}_servo', self.node.get_namespace()
        return sum((one.node_name, one.node_namespace) != own
                   and one.qos_profile.durability is not DurabilityPolicy.TRANSIENT_LOCAL
                   for one in self.node.get_subscriptions_info_by_topic(topic))

    def _send(self, begin: Begin) -> None:
        self._begun, self._scene, self._stops = begin, begin.scene, self.motions.stops
        self.servo_process.send(Pause(self._paused))
        self.servo_process.send(begin)
        self._timer.reset()

    # -- meanwhile ------------------------------------------------------------------------

    def end(self) -> None:
        """End the servo, as the node is being stopped."""
        self._end('the node was stopped')

    def _end(self, reason: str) -> None:
        """End the servo: the arm comes to rest."""
        if self.on:
            self._ending = True
            self.servo_process.send(End(reason))

    def _on_message(self, said: FromServo) -> None:
        if isinstance(said, AskFrame):
            self._frames.pop(said.frame, None)
            self._frames[said.frame] = time.monotonic()
        elif isinstance(said, State):
            self._on_state(said)
        elif isinstance(said, Died) and self.on:
            self._on_state(State(OFF, False, ServoStatus.INVALID, DIED, DIED, NO_TICKS))
            status = ServoStatus(code=ServoStatus.INVALID, message=DIED, mode=OFF)
            status.header.stamp = self.node.get_clock().now().to_msg()
            self._status.publish(status)

    def _tick(self) -> None:
        """Send changes to the servo's process; end waits whose time is over."""
        now = time.monotonic()
        for waiting in [one for one in self._waiting if one[1] <= now]:
            self._waiting.remove(waiting)
            waiting[2](None)
        if self.on:
            self._send_changes()
        elif not self._waiting:
            self._timer.cancel()

    def _on_state(self, state: State) -> None:
        self.statistics.servo = state
        known = state.code != ServoStatus.HALT_FOR_TRACKING     # to MoveIt
        self._moveit_status.publish(MoveItStatus(
            code=state.code if known else MoveItStatus.INVALID, message=state.message))
        if lease := self.motions.servo:
            lease.moves = state.moving
        if state.mode == OFF:
            if self.on and state.ended != 'switched off':
                self.node.get_logger().warning(f'the servo has ended: {state.ended}')
            self._forget()
        for waiting in [one for one in self._waiting if one[0](state)]:
            self._waiting.remove(waiting)
            waiting[2](state)

    def _send_changes(self) -> None:
        motions, scene = self.motions, self.scene.known.scene
        if motions.stops != self._stops:
            self._stops = motions.stops
            self._end('all motions were stopped')
        for controller in self._controllers:
            if controller.their_goal:
                self._end(f'another client has a goal under way on {controller.their_goal}')
        if scene is not self._scene and not self._ending:
            self._scene = scene
            self.servo_process.send(TakeScene(scene))
            begun = self._begun
            if begun and (reason := changed_frame(begun.frames, begun.scene, scene)):
                self._end(reason)
        if self._begun and self._begun.scene.robot.base_joint:
            self._send_base(self._begun.scene.robot)
        if self._frames:
            self._send_frames()
        self._ticks += 1
        if self._ticks % ALIVE == 0:
            self.servo_process.send(Alive())

    def _send_base(self, robot: Robot) -> None:
        """Send the place of the base if it has moved."""
        value = self.current_state.base(robot)
        if value is None:
            self._end('it is not known where the base is')
        elif not np.array_equal(value, self._base):
            self._base = value
            self.servo_process.send(TakeBase(value))

    def _send_frames(self) -> None:
        """Send the frames of TF that the servo has asked for lately."""
        assert self._begun is not None
        since, newest = time.monotonic() - ASKED, list(self._frames.items())[-FRAMES:]
        self._frames = {frame: asked for frame, asked in newest if asked > since}
        for frame in self._frames:
            found: Reference | LookupError
            try:
                found = self._lookup(self._begun.scene.robot, frame)
            except LookupError as error:
                found = error.with_traceback(None)
            self.servo_process.send(TakeFrame(frame, found))

    def _forget(self) -> None:
        self._begun, self._ending = None, False
        self.motions.take_back()

    async def _until(self, condition: Callable[[State], bool], seconds: float, what: str) -> State:
        """Wait for a state of the servo that meets a condition; raises RequestError if late."""
        end = time.monotonic() + seconds
        state = await self.wait(lambda done: self._waiting.append((condition, end, done)))
        if state is None:
            raise RequestError(Status.TIMED_OUT, f'the servo did not {what} within {seconds:g} s')
        found: State = state
        return found
