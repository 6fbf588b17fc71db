"""Executes motions: assigns joints, plans, checks, sends and supervises."""

from collections.abc import Collection
from dataclasses import replace
import time
import traceback

import numpy as np

from ros2_ik.core import Array, IKError, Robot, Status
from ros2_ik.core.internals import POINT_PERIOD
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.controllers.controller import ControllerContext
from ros2_ik.node.controllers.robot_controllers import RobotControllers
from ros2_ik.node.motion.motion_execution import MotionExecution, MotionRequest, Outcome
from ros2_ik.node.motion.path_checks import blocked_outcome, CHECK_SLICE, PathChecks
from ros2_ik.node.motion.planning import checked_scaling, planned_motion, read_goal
from ros2_ik.node.state.current_state import CurrentState
from ros2_ik.node.state.planning_scene import PlanningScene

SUPERVISION_PERIOD = 0.02          # between two checks of a motion [s]
CONTROLLER_TIMEOUT = 8.0    # for the servo's process to start and for DDS to find subscribers [s]
REST_TIMEOUT = 3.0          # for readings to show that the joints are at rest [s]
# The joints move to the planned start by a cubic polynomial. Over a distance d in time t, the
# acceleration is at most 6 d / t^2; with factor 12, half of the scaled acceleration limit.
DELAY_FACTOR = 12.0
# minimum time at rest [s]; longer than an arm pauses when another client reverses its motion
REST_TIME = 0.5


class MotionExecutor:
    """
    Moves the robot to joint values through the configured controllers.

    A joint has at most one owner, a motion or the servo. Runs in the node's thread only.
    """

    def __init__(self, context: ControllerContext, state: CurrentState,
                 scene: PlanningScene) -> None:
        self._context, self._parameters = context, context.parameters
        self._log = context.node.get_logger()
        self._path_checks = PathChecks(state, scene, context)
        self._measured = context.joint_states
        self._robot: Robot | None = None
        self._controllers = RobotControllers(None, context)
        self._retired = list[RobotControllers]()    # of earlier robots, not closed yet
        self._executions: list[MotionExecution] = []
        self.servo: MotionExecution | None = None   # owns the joints of the servo
        self.servo_moves = False
        self.stop_count = 0   # number of calls of `stop`
        self._closing = False

    def set_robot(self, robot: Robot) -> None:
        """Stop all motions, and create the controllers of another robot."""
        self._robot = robot
        self.stop(Status.INVALID_ROBOT_STATE, 'the robot description was replaced')
        self._retired.append(self._controllers)
        self._controllers = RobotControllers(robot, self._context)
        unknown = self._parameters.limited_joints() - set(robot.joint_names)
        if unknown:
            self._log.warning(f"joint_limits of '{sorted(unknown)[0]}' are ignored: robot "
                              f"'{robot.name}' has no such joint")
        self._close_retired()

    def log_faults(self) -> None:
        """Log why controllers are not used."""
        if faults := '; '.join(self._controllers.faults):
            self._log.error(faults + (
                '' if self._robot and self._robot.srdf else '; groups of controllers need an SRDF '
                '(robot_description_semantic), which has not been received'),
                throttle_duration_sec=60.0)

    def stop(self, status: Status, reason: str) -> int:
        """
        Stop all motions; return their number, which includes waiting and braking motions.

        A moving servo counts, too. Its endpoint reads `stop_count` every 20 ms to end the session.
        """
        self.stop_count += 1
        for execution in self._executions:
            execution.stop(status, reason)
        return len(self._executions) + self.servo_moves

    @property
    def moving(self) -> bool:
        """True while an accepted motion has not ended, or while the servo moves."""
        return bool(self._executions) or self.servo_moves

    def foreign_motion_reason(self) -> str:
        """
        Return why motions of other clients cannot be excluded, or ''.

        Returns '' while a motion of this node is under way, or the servo moves.
        """
        if self.servo_moves or any(one.motion for one in self._executions):
            return ''
        # joints without a controller cannot be stopped by this node anyway
        for one in self._controllers.controllers:
            if reason := self._measured.stale_reason(one.joints):
                return f'it is not known whether anything moves: {reason}'
            if reason := self._measured.moving_reason(one.joints):
                return reason
        return ''

    def close(self) -> None:
        """Stop all motions, and reject new ones."""
        self._closing = True
        self.stop(Status.PREEMPTED, 'the node was stopped')

    async def run(self, request: MotionRequest) -> Outcome:
        """
        Move joints, and return the outcome when the motion ends.

        For an invalid request, the outcome has an error status, and no exception is raised.
        """
        execution = None
        try:
            self._check(request)
            execution = self._acquire_joints(replace(request, velocity_scaling=checked_scaling(
                request.velocity_scaling, self._parameters)))
            if execution is None:
                return Outcome(Status.SUCCESS, 'all joints are at the goal already')
            blocked = await self._plan_and_send(execution)
            return blocked or await self._supervise(execution)
        except Exception as error:
            if execution:
                execution.stop(Status.FAILURE, f'{type(error).__name__}: {error}')
            if isinstance(error, IKError):
                return Outcome(error.status, str(error))
            raise
        finally:
            if execution in self._executions:
                self._executions.remove(execution)
                self._close_retired()

    async def acquire_for_servo(self, robot: Robot, joints: Collection[str],
                                checked: frozenset[str], stop_count: int) -> MotionExecution:
        """
        Reserve joints for the servo, wait until they rest, and return an execution that owns them.

        Motions of these joints are refused until `release_from_servo`. `stop_count` is the
        executor's count when the request arrived. The servo's collision check depends on the
        `checked` joints. Raises RequestError if the joints cannot be moved now, if all motions
        have been stopped since the request, or if a motion moves reserved or `checked` joints.
        """
        request = MotionRequest(robot, {}, stop_count=stop_count)
        self._check(request)
        execution = MotionExecution(request, self._controllers.choose(joints))
        for other in self._executions:
            if (checked | {*execution.joints}) & {*other.joints}:
                raise RequestError(Status.CONTROL_FAILED, f'a motion of {other.request.requester} '
                                   'is under way, with these joints or with joints that they '
                                   'could collide with')
        # reserved before the first await, so that no motion can acquire the joints meanwhile
        self.servo = execution
        try:
            self._measured.require(execution.joints)
            await self._wait_for_start(execution)
            # all motions may have been stopped meanwhile
            self._check(request)
            for controller in execution.controllers:
                controller.release('the servo commands the joints')
        except Exception:
            self.servo = None
            raise
        return execution

    def release_from_servo(self) -> None:
        """End the servo's ownership of its joints, so that motions can move them."""
        self.servo, self.servo_moves = None, False

    # -- start of a motion ----------------------------------------------------------------

    def _acquire_joints(self, request: MotionRequest) -> MotionExecution | None:
        """Return an execution that owns its joints, None if `read_goal` finds no joint to move."""
        goal = read_goal(request, self._controllers, self._measured,
                         self._parameters.goal_tolerance)
        if not goal:
            return None
        execution = MotionExecution(replace(request, joints=goal), self._controllers.choose(goal))
        if self.servo and (taken := {*execution.joints} & {*self.servo.joints}):
            raise RequestError(
                Status.CONTROL_FAILED, f"the servo is on for joint '{min(taken)}'; nothing was "
                'moved; switch the servo off by ~/servo/switch, mode off')
        if any(not {*other.joints}.isdisjoint(execution.joints) for other in self._executions):
            raise RequestError(Status.CONTROL_FAILED, 'another motion of these joints is under '
                               'way; repeat the request at its end, or stop it by ~/stop')
        self._measured.require(execution.joints)
        self._executions.append(execution)
        return execution

    def _check(self, request: MotionRequest) -> None:
        """Raise RequestError if a requested motion must not start now."""
        if self._closing:
            raise RequestError(Status.PREEMPTED, 'the node is being stopped')
        if self._robot is None or request.robot.key != self._robot.key:
            raise RequestError(Status.INVALID_ROBOT_STATE,
                               'the robot description has been replaced since the request')
        require_fixed_base(request.robot)
        if request.stop_count != self.stop_count:
            raise RequestError(Status.PREEMPTED, 'nothing was moved: all motions were stopped '
                               'after the request for this motion')
        if reason := request.cancel_reason():
            raise RequestError(Status.PREEMPTED, f'{reason}, before anything was moved')

    def _joints_of_others(self, execution: MotionExecution) -> frozenset[str]:
        """Return the joints of the servo, of earlier motions and of later unchecked motions."""
        # a later checked motion is rejected if its path check depends on joints of this motion
        index = self._executions.index(execution)
        owners = [*self._executions[:index], *([self.servo] if self.servo else []), *(
            one for one in self._executions[index + 1:] if not one.request.avoid_collisions)]
        return frozenset(joint for owner in owners for joint in owner.joints)

    async def _plan_and_send(self, execution: MotionExecution) -> Outcome | None:
        """Plan, check and send; return an Outcome if the path is blocked; raises RequestError."""
        start = await self._wait_for_start(execution)
        motion = planned_motion(execution, start, self._parameters)
        if not execution.request.avoid_collisions:
            execution.notes = ['the path was not checked for collisions']
        elif check := self._path_checks.begin(execution, motion,
                                              self._joints_of_others(execution)):
            while not check.run(CHECK_SLICE):
                await self._context.pause(0.0)
                self._check(execution.request)
            if check.collision:
                return blocked_outcome(check.collision, execution)
        # meanwhile the motion may have been stopped, or the joints may have moved
        self._check(execution.request)
        self._rest(execution)
        offset = self._measured.difference(execution.joints, motion.at(0.0).position)
        if np.abs(offset).max() > self._parameters.start_tolerance:
            raise RequestError(
                Status.CONTROL_FAILED, 'the robot moved away from the planned start while the '
                'motion was checked; nothing was sent')
        limits = execution.limits.scaled(acceleration=self._parameters.acceleration_scaling)
        start_delay = float(np.sqrt(DELAY_FACTOR * np.abs(offset) / limits.acceleration).max())
        execution.send(motion, max(start_delay if start_delay > POINT_PERIOD else 0.0,
                                   *(one.min_start_delay for one in execution.controllers)))
        return None

    async def _wait_for_start(self, execution: MotionExecution) -> Array:
        """
        Wait for the controllers and for joints at rest, and return the rest positions (n,).

        Raises RequestError after CONTROLLER_TIMEOUT (from controller creation) or REST_TIMEOUT.
        """
        for controller in execution.controllers:
            while reason := controller.unavailable_reason():
                if time.monotonic() > controller.made_at + CONTROLLER_TIMEOUT:
                    raise RequestError(Status.CONTROL_FAILED, reason)
                await self._context.pause(SUPERVISION_PERIOD)
                self._check(execution.request)
            await controller.prepare()
        end = time.monotonic() + REST_TIMEOUT
        while True:
            try:
                return self._rest(execution)
            except RequestError:
                if time.monotonic() > end:
                    raise
            await self._context.pause(SUPERVISION_PERIOD)
            self._check(execution.request)

    def _rest(self, execution: MotionExecution) -> Array:
        """
        Return the positions (n,) at which the joints rest; raises RequestError if unknown.

        The controllers must be available, and the measured velocities zero. In addition, the
        joints must be at their commanded rest positions, or have been at rest for REST_TIME since
        the last command ended. The commanded positions are preferred: a start at measured ones,
        which are noisy, would command a step.
        """
        measured, rest = self._measured, list[Array]()
        measured.require(execution.joints)
        for controller in execution.controllers:
            if reason := controller.unavailable_reason():
                raise RequestError(Status.CONTROL_FAILED, reason)
        if reason := measured.moving_reason(execution.joints):
            raise RequestError(Status.CONTROL_FAILED, f'{reason}; nothing was moved')
        for controller in execution.controllers:
            joints = controller.joints
            position = measured.state(joints)[0]
            if (resting := controller.resting()) is not None:
                offset = measured.difference(joints, resting)
                if np.abs(offset).max() <= self._parameters.start_tolerance:
                    # commanded positions, continuous joints in the turn that joint_states report
                    rest.append(position + offset)
                    continue
            # the joints must have been measured at rest for REST_TIME since the last command ended
            if min(measured.rest_time(joints),
                   measured.oldest_time(joints) - controller.end_time) < REST_TIME:
                raise RequestError(
                    Status.ROBOT_STATE_STALE, f"the joints of controller '{controller.name}' are "
                    'not at their commanded rest positions, and joint_states do not show them at '
                    f'rest for {REST_TIME:g} s since the last command; nothing was moved')
            rest.append(position)
        return np.concatenate(rest)

    # -- supervision ----------------------------------------------------------------------

    async def _supervise(self, execution: MotionExecution) -> Outcome:
        """Supervise a motion, and stop it on a fault; return the outcome at its end."""
        while True:
            await self._context.pause(SUPERVISION_PERIOD)
            try:
                if outcome := execution.supervise():
                    break
                self._path_checks.recheck(execution)
            except Exception as error:
                # an exception brakes the arm; an exception during braking ends the supervision
                if execution.reason:
                    raise
                # the remaining path cannot be checked
                if isinstance(error, IKError):
                    execution.stop(Status.INVALID_MOTION_PLAN,
                                   f'the scene has changed, and {error}')
                    continue
                self._log.error(traceback.format_exc())
                execution.stop(Status.FAILURE, f'{type(error).__name__}: {error}')
        self._log.info(f'motion by {execution.request.requester} with '
                       f'{", ".join(one.name for one in execution.controllers)}, '
                       f'{execution.now() - execution.sent_at:.2f} s: '
                       f'{Status(outcome.status).name}: {outcome.message}')
        return outcome

    def _close_retired(self) -> None:
        """Close the controllers of earlier robots if no motion is active."""
        if not self._executions:
            for controllers in self._retired:
                controllers.close()
            self._retired.clear()


def require_fixed_base(robot: Robot) -> None:
    """Raise RequestError if the robot has a free base, whose pose is unknown during motions."""
    if robot.base_joint:
        raise RequestError(Status.CONTROL_FAILED, 'nothing was moved: the node moves only robots '
                           f"with root_joint fixed, not '{robot.root_joint}'")
