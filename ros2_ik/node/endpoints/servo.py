"""
Services ~/servo/switch, ~/servo/pause and MoveIt's ~/servo/switch_command_type.

A separate process receives the servo's commands, and moves the arm.
"""

from collections.abc import Callable
from dataclasses import replace
import time
from types import SimpleNamespace

from moveit_msgs.msg import ServoStatus as MoveItStatus
from moveit_msgs.srv import ServoCommandType
import numpy as np
import pinocchio as pin
from std_srvs.srv import SetBool

from ros2_ik.core import Mesh, Scene, Status
from ros2_ik.core.errors import counted
from ros2_ik.core.internals import COLLISIONS_OFF
from ros2_ik.messages.frames import frame_change_text, group_name, link_name, tip_name, with_tool
from ros2_ik.messages.request_error import invalid, RequestError
from ros2_ik.msg import ServoStatus
from ros2_ik.node.controllers.robot_controllers import active_joints
from ros2_ik.node.endpoints.endpoint import Endpoint, publisher, timer
from ros2_ik.node.motion.planning import checked_scaling
from ros2_ik.node.parameters import PARAMETERS
from ros2_ik.node.servo.loop import Loop
from ros2_ik.node.servo.messages import FromServo, MODES, OFF, ServoState, SessionRequest, WAITS
from ros2_ik.node.servo.session import Session
from ros2_ik.srv import SwitchServo

UPDATE_PERIOD = 0.02    # between two updates sent to the servo's process [s]
# time for the servo's process to start on a busy computer, or for the arm to come to rest [s]
STATE_CHANGE_TIMEOUT = 20.0
# maximum number of triangles in new meshes while the servo is on; 5,000 take 30 ms to prepare
MAX_NEW_TRIANGLES = 5000
DIED = 'its process has died: the controllers execute their last command'
MOVEIT_MODES = {0: 'joint', 1: 'twist', 2: 'pose'}     # by command_type of MoveIt's service


class Servo(Endpoint):
    """
    Switches and pauses the servo by services, and sends updates to the servo's process.

    The process starts when a streaming controller is made, or when the servo is switched on.
    While the servo is on, the process receives changes of the scene.
    """

    def offer(self) -> None:
        self.servo_process.receivers.append(self._on_message)
        # the request sent to the process, with the newest scene; None while the servo is off
        self._session_request: SessionRequest | None = None
        self._paused, self._switching = False, False
        self._off_requests = 0      # number of requests to switch off
        self._status = publisher(self.node, ServoStatus, '~/servo/status')
        self._moveit_status = publisher(self.node, MoveItStatus, '~/servo/moveit_status')
        self._timer = timer(self.node, UPDATE_PERIOD, self._send_changes)
        self._timer.cancel()
        self.serve(SwitchServo, '~/servo/switch', self.switch)
        self.serve(ServoCommandType, '~/servo/switch_command_type', self.switch_as_moveit)
        self.serve(SetBool, '~/servo/pause', self.pause)

    # -- services -------------------------------------------------------------------------

    async def switch(self, request: SwitchServo.Request, response: SwitchServo.Response) -> None:
        """Switch the servo on or off, or change its mode."""
        # YAML on a command line reads `off` as a boolean, which becomes the text 'False'
        mode = OFF if request.mode.lower() == 'false' else request.mode
        if mode == OFF:
            self._off_requests += 1
            response.message = await self._switch_off()
        elif mode not in MODES:
            raise invalid(f"mode is '{mode}'; valid: {', '.join((*MODES, OFF))}")
        elif self._switching:
            raise RequestError(Status.CONTROL_FAILED, 'another client is switching the servo')
        else:
            self._switching = True
            try:
                response.message = await self._switch_on(request)
            finally:
                self._switching = False
        response.success = True

    async def switch_as_moveit(self, request: ServoCommandType.Request,
                               response: ServoCommandType.Response) -> None:
        """Switch the servo on by MoveIt's service, with the default group and tip."""
        # an unknown type becomes an unknown mode, which `switch` refuses
        kind = request.command_type
        await self.switch(SwitchServo.Request(mode=MOVEIT_MODES.get(kind, f'{kind}')),
                          SwitchServo.Response())
        response.success = True

    async def pause(self, request: SetBool.Request, response: SetBool.Response) -> None:
        """Pause the servo (the arm brakes, and commands are ignored), or end the pause."""
        self._paused = bool(request.data)
        if self._session_request:
            self.servo_process.call(Loop.pause, self._paused)
        response.success = True
        response.message = 'commands are ignored' if self._paused else 'commands are followed'

    async def _switch_off(self) -> str:
        if self._session_request is None:
            return 'the start is cancelled' if self._switching else 'the servo was off'
        owner = self.motions.servo
        self._end('switched off')
        # meanwhile another client may switch the servo on again, which creates a new owner
        await self._until(lambda: self.motions.servo is not owner, 'come to rest')
        return 'the servo is off, the arm at rest'

    async def _switch_on(self, request: SwitchServo.Request) -> str:
        robot, parameters, mode = self.description.current(), self.parameters, request.mode
        stop_count, off_requests = self.motions.stop_count, self._off_requests
        group, scene = group_name(robot, request.group, parameters), self.scene.current.scene
        robot, tool = with_tool(request.tool, scene, [request.tip], group, parameters)
        named = request.tip or tool
        tip = '' if mode == 'joint' else (
            link_name(robot, named, 'tip', scene) if named else tip_name(robot, group, parameters))
        joints = active_joints(robot, group)
        if tip and not robot.moving_joints(tip) & {*joints}:
            raise invalid(f"no joint of group '{group}' moves '{tip}'")
        scaling = checked_scaling(request.velocity_scaling or parameters.servo_velocity_scaling,
                                  parameters)
        given = list(request.control_dimensions)
        if given and (len(given) != 6 or not any(given)):
            raise invalid(f'control_dimensions are {given}; valid: none, or six with at least one '
                          'true')
        dimensions = tuple(given or parameters.servo_control_dimensions)
        checker = self.scene.checker(scene)
        notes = [*([] if checker else [COLLISIONS_OFF]), *self.scene.left_out]
        if self._session_request:
            await self._switch_off()
        owner = await self.motions.acquire_for_servo(
            robot, joints, checker.moving_joints if checker else frozenset(), stop_count)
        try:
            start = self.current_state.start(robot, {}, frozenset(owner.joints))
            # switching off during the awaits above cancels this switch, like a stop
            if self._off_requests != off_requests or self.motions.stop_count != stop_count:
                raise RequestError(Status.PREEMPTED,
                                   'the servo was switched off, or all motions were stopped')
            # the controllers' joints outside of the group get the velocity limit 0
            moved = np.array([scaling * (joint in joints) for joint in owner.joints])
            self._session_request = SessionRequest(
                robot, mode, tip, owner.joints, start.q, owner.limits.velocity * moved,
                owner.limits.acceleration * parameters.servo_acceleration_scaling,
                tuple(one.output for one in owner.controllers), scene,
                self.scene.geometry.options if checker else None,
                SimpleNamespace(**{one.name: getattr(parameters, one.name) for one in PARAMETERS}),
                dimensions)
            self.servo_process.state = ServoState(message=WAITS)
            self.servo_process.call(Loop.pause, self._paused)
            self.servo_process.call(Loop.begin, self._session_request)
            self._timer.reset()
            await self._until(lambda: self.servo_process.state.message != WAITS, 'start')
        except Exception:
            self._end('it did not start')
            self._forget()
            raise
        if reason := self.servo_process.state.ended:
            raise RequestError(Status.CONTROL_FAILED, reason)
        of = f" of '{tip}'" if tip else ''
        return '; '.join([
            f'the servo follows {mode} commands{of}, with {counted(len(joints), "joint")} and '
            f'{scaling:g} of the velocity limits', *notes])

    # -- while the servo is on ------------------------------------------------------------

    def _end(self, reason: str) -> None:
        """Let the servo brake and end, if it is on."""
        if self._session_request:
            self.servo_process.call(Loop.call_session, Session.end, reason)

    def _on_message(self, message: FromServo) -> None:
        if message is None and self._session_request:
            message = ServoState(code=ServoStatus.INVALID, message=DIED, ended=DIED)
            self._status.publish(ServoStatus(header=self.header(''), code=message.code,
                                             message=DIED, mode=OFF))
        if not isinstance(message, ServoState):
            return
        state = self.servo_process.state = message
        # MoveIt has no code for tracking faults
        known = state.code != ServoStatus.HALT_FOR_TRACKING
        self._moveit_status.publish(MoveItStatus(
            code=state.code if known else MoveItStatus.INVALID, message=state.message))
        # ~/stop counts a moving servo as a motion
        self.motions.servo_moves = state.moving
        if state.mode == OFF and self._session_request:
            if state.ended != 'switched off':
                self.node.get_logger().warning(f'the servo has ended: {state.ended}')
            self._forget()

    def _send_changes(self) -> None:
        owner, request = self.motions.servo, self._session_request
        if request is None or owner is None:
            return
        scene = self.scene.current.scene
        # the scene of another robot does not fit the session
        if scene.robot.key != request.scene.robot.key:
            self._end('the robot description was replaced')
        elif scene is not request.scene:
            self._send_scene(request, scene)
        if self.motions.stop_count != owner.request.stop_count:
            self._end('all motions were stopped')
        for controller in owner.controllers:
            if controller.foreign_goal:
                self._end(f'another client has a goal under way on {controller.foreign_goal}')
        # heartbeat: the process ignores commands if the node does not call it
        self.servo_process.call(Loop.pause, self._paused)

    def _send_scene(self, request: SessionRequest, scene: Scene) -> None:
        # the process prepares new meshes when the servo is switched on again, at rest
        if request.options and new_triangles(request.scene, scene) > MAX_NEW_TRIANGLES:
            self._end(f'new meshes have more than {MAX_NEW_TRIANGLES} triangles, whose '
                      'preparation would interrupt the motion: switch the servo on again')
            return
        self.servo_process.call(Loop.call_session, Session.change_scene,
                                *scene_change(request.scene, scene))
        self._session_request = replace(request, scene=scene)
        if request.options is None and (scene.objects or scene.attached):
            self._end('the scene has objects, but the robot has no collision elements to check')
        # the tip may be a frame of the scene that was moved or removed
        if reason := frame_change_text(request.robot.added_frames, request.scene, scene):
            self._end(reason)

    def _forget(self) -> None:
        self._session_request = None
        self._timer.cancel()
        self.motions.release_from_servo()

    async def _until(self, condition: Callable[[], bool], goal: str) -> None:
        """Await a condition; raises RequestError after STATE_CHANGE_TIMEOUT."""
        end = time.monotonic() + STATE_CHANGE_TIMEOUT
        while not condition():
            if time.monotonic() > end:
                raise RequestError(Status.TIMED_OUT,
                                   f'the servo did not {goal} within {STATE_CHANGE_TIMEOUT:g} s')
            await self.sleep(UPDATE_PERIOD)


def scene_change(before: Scene, after: Scene) -> tuple[dict[str, pin.SE3], Scene | None]:
    """Return the poses of moved objects, and `after` if more has changed, else None."""
    poses = {name: item.pose for name, item in after.objects.items()
             if name in before.objects and item.pose != before.objects[name].pose}
    for name, pose in poses.items():
        before = before.move(name, pose)
    return poses, None if before == after else after


def new_triangles(before: Scene, after: Scene) -> int:
    """Return the number of triangles in those meshes of `after` that are not in `before`."""
    known, shapes = ({part.shape for item in (*scene.objects.values(), *(
        one.object for one in scene.attached.values())) for part in item.parts}
        for scene in (before, after))
    return sum(len(shape.triangles) for shape in shapes - known if isinstance(shape, Mesh))
