"""Executes motions: who moves which joints, and from where to where."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
import time
import traceback
from types import MappingProxyType
from typing import Any

import numpy as np
from rclpy.impl.rcutils_logger import RcutilsLogger

from ros2_ik.core import Array, IKError, Motion, Robot, Status
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.controllers.controller import Controller, ControllerContext
from ros2_ik.node.controllers.robot_controllers import check_controllers, RobotControllers
from ros2_ik.node.controllers.trajectories import PERIOD
from ros2_ik.node.motion.motion_execution import Cancelled, MotionExecution, Phase
from ros2_ik.node.motion.outcome import Outcome
from ros2_ik.node.motion.path_checks import OwnScene, PathChecks
from ros2_ik.node.motion.planning import checked_scaling, planned_motion, read_goal
from ros2_ik.node.state.current_state import CurrentState
from ros2_ik.node.state.joint_states import JointStates
from ros2_ik.node.state.measured_joints import MeasuredJoints, offset
from ros2_ik.node.state.planning_scene import PlanningScene

LOOK = 0.02                 # between two looks at what moves [s]
DISCOVERY = 3.0             # so long after it was made, a publisher has not found everybody [s]
STANDING_TIMEOUT = 3.0      # for an arm that stands, and readings that show it [s]
JOIN = 12.0                 # over a distance d in t a cubic accelerates by 6 d / t^2; twice that
STANDS = 0.5                # an arm moved by another client, and turning, stands for less [s]


@dataclass
class Lease:
    """Joints that the servo owns, and whether they move."""

    joints: tuple[str, ...]
    moves: bool = False


class MotionExecutor:
    """
    Moves the robot to joint values, by the controllers that the parameters name.

    Belongs to the node's thread. `state` completes joint values, `scene` is the PlanningScene.
    Each joint has one owner at a time: a motion, or the servo.
    """

    def __init__(self, context: ControllerContext, joint_states: JointStates, state: CurrentState,
                 scene: PlanningScene, log: RcutilsLogger) -> None:
        check_controllers(context.parameters)
        self._context, self._parameters, self._log = context, context.parameters, log
        self._ways = PathChecks(state, scene, context)
        self._measured = MeasuredJoints(joint_states, context.parameters, context.clock)
        self._robot: Robot | None = None
        self._controllers = RobotControllers(None, context)
        self._retired = list[RobotControllers]()
        self._executions: list[MotionExecution] = []
        self.servo: Lease | None = None     # what the servo owns
        self.stops = 0   # how often all motions were stopped
        self._closing = False

    def set_robot(self, robot: Robot) -> None:
        """Take another robot; what moves stops."""
        self._robot = robot
        self.stop(Status.INVALID_ROBOT_STATE, 'the robot description was replaced')
        self._retired.append(self._controllers)
        self._controllers = RobotControllers(robot, self._context)
        if self._controllers.faults:
            if robot.srdf:
                self._log.error('; '.join(self._controllers.faults))
            else:
                self._log.info('waiting for an SRDF (robot_description_semantic), which defines '
                               'the groups of controllers')
        strange = self._parameters.limited_joints() - set(robot.joint_names)
        if strange:
            self._log.warning(f"joint_limits of '{sorted(strange)[0]}' are ignored: robot "
                              f"'{robot.name}' has no such joint")
        self._tidy()

    def stop(self, status: Status = Status.PREEMPTED, reason: str = 'stopped') -> int:
        """Stop all motions; gives how many there were."""
        self.stops += 1
        for execution in self._executions:
            self._stop(execution, status, reason)
        return len(self._executions) + self._servo_moves

    def _stop(self, execution: MotionExecution, status: Status, reason: str) -> None:
        """Stop a motion; a defect in that must keep no other from being stopped."""
        try:
            execution.stop(status, reason)
        except Exception:
            self._log.error(traceback.format_exc())

    @property
    def moving(self) -> bool:
        """Return whether anything moves, or is about to."""
        return bool(self._executions) or self._servo_moves

    @property
    def _servo_moves(self) -> bool:
        return self.servo is not None and self.servo.moves

    def unstopped(self) -> str:
        """
        Return which joint moves though no motion of this node was sent to it, or ''.

        Also why it is not known whether one moves.
        """
        if self._servo_moves or any(execution.under_way for execution in self._executions):
            return ''
        for one in self._controllers.controllers:
            if reason := self._measured.stale(one.joints):
                return f'it is not known whether anything moves: {reason}'
            if reason := self._measured.moves(one.joints):
                return reason
        return ''

    def under_way(self) -> list[dict[str, str]]:
        """Return names and values of each motion under way, for /diagnostics."""
        return [execution.progress() for execution in self._executions if execution.under_way]

    def close(self) -> None:
        """Stop all motions, and reject new ones."""
        self._closing = True
        self.stop(Status.PREEMPTED, 'the node was stopped')

    async def run(self, robot: Robot, joints: Mapping[str, Any], group: str = '', *,
                  avoid_collisions: bool = True, own: OwnScene | None = None,
                  velocity_scaling: float = 0.0, cancelled: Cancelled | None = None,
                  stops: int | None = None, who: str = 'the node',
                  assumed: Mapping[str, Any] = MappingProxyType({}),
                  max_joint_change: Mapping[str, float] | None = None,
                  way: Motion | None = None) -> Outcome:
        """
        Move joints of a robot to values by name, and wait until it has arrived.

        `group` is who may move ('': all), `own` the scene in which the way is checked (None: the
        node's), `velocity_scaling` 0 means the parameter's. `cancelled` is asked all the time. If
        `self.stops` is no longer `stops`, its value when the motion was asked for, the motion does
        not begin. `who` asks is told in the log. Joints that joint_states never told of are
        checked where `assumed` has them. No joint moves farther than `max_joint_change`. `way` is
        a motion to the values, from where the joints stand; by default they go straight. Never
        raises for what is wrong with the question: the outcome says it.
        """
        execution = None
        try:
            if stops is not None and stops != self.stops:
                raise RequestError(Status.PREEMPTED, 'nothing was moved: all motions were stopped '
                                   'after this one was asked for')
            scaling = checked_scaling(velocity_scaling, self._parameters)
            execution = self._claim(robot, joints, group, cancelled, way)
            if execution is None:
                return Outcome(Status.SUCCESS, 'all joints of the goal are where it wants them')
            execution.who, execution.group = who, group
            execution.max_change, execution.assumed = max_joint_change or {}, assumed
            blocked = await self._set_out(execution, scaling, avoid_collisions, own)
            return blocked or await self._supervise(execution)
        except IKError as error:
            return Outcome(error.status, str(error))
        except Exception as error:
            if execution:
                self._stop(execution, Status.FAILURE, f'{type(error).__name__}: {error}')
            raise
        finally:
            if execution in self._executions:
                self._executions.remove(execution)
                self._tidy()

    async def lend(self, robot: Robot, joints: Collection[str],
                   checked: frozenset[str]) -> list[Controller]:
        """
        Give the servo joints that stand; returns their controllers; raises RequestError.

        No motion of them begins until `take_back`, and none may be under way that moves some of
        the joints that are `checked` for collisions beside them.
        """
        self._check_ready(robot)
        controllers = self._controllers.choose(joints)
        execution = MotionExecution(robot, controllers, {}, self._measured, self._parameters, None)
        for other in self._executions:
            if (checked | {*execution.joints}) & {*other.joints}:
                raise RequestError(Status.CONTROL_FAILED, 'a motion of these joints, or of others '
                                   f'that they could touch, asked for by {other.who}, is '
                                   f'{other.phase.value}')
        before, self.servo = self.servo, Lease(execution.joints)
        try:
            self._measured.require(execution.joints)
            await self._prepare(execution)
            await self._stand(execution)
            self._controllers.cancel(execution.joints, [])
        except Exception:
            self.servo = before
            raise
        return controllers

    def take_back(self) -> None:
        """Let motions move all joints again."""
        self.servo = None

    # -- before anything is sent ----------------------------------------------------------

    def _claim(self, robot: Robot, joints: Mapping[str, Any], group: str,
               cancelled: Cancelled | None, way: Motion | None) -> MotionExecution | None:
        """Make one that owns its joints, None where all are there; raises RequestError."""
        self._check_ready(robot)
        goal = read_goal(robot, joints, group, self._controllers, self._measured,
                         self._parameters.goal_tolerance)
        if not goal:
            return None
        execution = MotionExecution(robot, self._controllers.choose(goal), goal, self._measured,
                                    self._parameters, cancelled)
        execution.way = way
        if self.servo and (taken := {*execution.joints} & {*self.servo.joints}):
            raise RequestError(
                Status.CONTROL_FAILED, f"the servo is on for joint '{min(taken)}'; nothing was "
                'moved: end it by ~/servo/switch, mode off, before')
        self._measured.require(execution.joints)
        self._make_way(execution)
        self._executions.append(execution)
        return execution

    def _check_ready(self, robot: Robot) -> None:
        """Raise RequestError if nothing of a robot may be moved now."""
        if self._closing:
            raise RequestError(Status.PREEMPTED, 'the node is being stopped')
        if self._robot is None or robot.key != self._robot.key:
            raise RequestError(
                Status.INVALID_ROBOT_STATE, 'the robot description has been replaced '
                'since the question was asked')
        if self._context.clock.waiting:
            raise RequestError(
                Status.ROBOT_STATE_STALE, 'use_sim_time is true, but nothing has come '
                'on /clock; nothing was moved')

    async def _prepare(self, execution: MotionExecution) -> None:
        """Wait until the controllers are ready; raises RequestError."""
        for controller in execution.controllers:
            while reason := controller.unavailable_reason():
                if time.monotonic() > controller.made + DISCOVERY:
                    raise RequestError(Status.CONTROL_FAILED, reason)
                await self._context.pause(LOOK)
                execution.check()
            await controller.prepare()

    def _make_way(self, execution: MotionExecution) -> None:
        """Raise RequestError if another motion has some of the joints, or end that motion."""
        others = list(self._sharing(execution))
        if others and execution.way is not None:    # it begins where they stood
            raise RequestError(Status.CONTROL_FAILED, 'another motion is under way, so that the '
                               'arm is not where the way begins; ask again when it has ended')
        if others and self._parameters.while_executing == 'refuse':
            raise RequestError(
                Status.CONTROL_FAILED, 'another motion is under way; with parameter '
                'while_executing: replace it would end')
        for other in others:
            other.stop(Status.PREEMPTED, 'another motion took its place')

    def _sharing(self, execution: MotionExecution) -> Iterator[MotionExecution]:
        """Yield the other motions that have some of its joints."""
        return (other for other in self._executions
                if other is not execution and not {*other.joints}.isdisjoint(execution.joints))

    def _beside(self, execution: MotionExecution) -> frozenset[str]:
        """Return the joints of all motions begun before this one, and of the servo."""
        before = self._executions[:self._executions.index(execution)]
        owners: list[MotionExecution | Lease] = [*before, *([self.servo] if self.servo else [])]
        return frozenset(joint for owner in owners for joint in owner.joints)

    async def _set_out(self, execution: MotionExecution, scaling: float, avoid_collisions: bool,
                       own: OwnScene | None) -> Outcome | None:
        """Plan, check and send; return the collision on the way, or None; raises RequestError."""
        await self._prepare(execution)
        while any(other.under_way for other in self._sharing(execution)):   # until they stand
            await self._context.pause(LOOK)
            execution.check()
        await self._stand(execution)
        start = self._start(execution)
        motion = planned_motion(execution, start, scaling, self._parameters)
        if not avoid_collisions:
            execution.notes = ['the way was not checked for collisions']
        elif blocked := await self._ways.check(execution, motion, own, self._beside(execution)):
            return blocked
        execution.check()
        if refusal := self._unknown_rest(execution):
            raise refusal
        away = offset(execution.robot, execution.joints, motion.at(0.0).position,
                      self._measured.state(execution.joints)[0])
        if np.abs(away).max() > self._parameters.start_tolerance:
            raise RequestError(
                Status.CONTROL_FAILED, 'the robot does not stay where it is while the motion is '
                'checked; nothing was sent')
        self._controllers.cancel(execution.joints, execution.controllers)
        join = float(np.sqrt(JOIN * np.abs(away) / execution.limits.acceleration).max())
        execution.send(motion, join if join > PERIOD else 0.0)
        return None

    def _start(self, execution: MotionExecution) -> Array:
        """
        Return where a motion begins.

        That is where the joints were told to rest, if they are measured near there: back to a
        reading that trembles would be a step.
        """
        joints, position = execution.joints, self._measured.state(execution.joints)[0]
        told = {joint: at for one in execution.controllers for joint, at in one.resting().items()}
        rest: Array = np.array([told.get(joint, at) for joint, at
                                in zip(joints, position.tolist(), strict=True)])
        near = np.abs(rest - position) <= self._parameters.start_tolerance
        return np.where(near, rest, position)

    async def _stand(self, execution: MotionExecution) -> None:
        """Wait until it is known where the joints stand; raises RequestError."""
        end = time.monotonic() + STANDING_TIMEOUT
        while refusal := self._unknown_rest(execution):
            if time.monotonic() > end:
                raise refusal
            await self._context.pause(LOOK)
            execution.check()

    def _unknown_rest(self, execution: MotionExecution) -> RequestError | None:
        """
        Return the reason for which the rest positions are unknown, or None.

        They must tell of rest, and either be where the joints were told to rest, or have stood
        for a while since the last command ended.
        """
        measured = self._measured
        measured.require(execution.joints)
        if moves := measured.moves(execution.joints):
            return RequestError(Status.CONTROL_FAILED, f'{moves}; nothing was moved')
        for controller in self._controllers.sharing(execution.joints):
            joints = [joint for joint in controller.joints if joint in execution.joints]
            if told := controller.resting():
                away = offset(execution.robot, joints, measured.state(joints)[0],
                              np.array([told[joint] for joint in joints]))
                if np.abs(away).max() <= self._parameters.start_tolerance:
                    continue
            if min(measured.stood(joints),
                   measured.moment(joints) - controller.commanded_until) < STANDS:
                return RequestError(
                    Status.ROBOT_STATE_STALE, 'joint_states do not show that the joints of '
                    f"controller '{controller.name}' have stood for {STANDS:g} s since its last "
                    'command, and they are not where they were told to rest; nothing was moved')
        return None

    # -- what is under way ----------------------------------------------------------------

    async def _supervise(self, execution: MotionExecution) -> Outcome:
        """Look how a motion goes, and stop it if need be, until it is over."""
        while True:
            await self._context.pause(LOOK)
            try:
                if outcome := execution.supervise():
                    break
                if reason := self._ways.recheck(execution):
                    execution.stop_for(reason)
            except IKError as error:   # what cannot be checked is not gone on with
                execution.stop(Status.INVALID_MOTION_PLAN, f'the scene has changed, and {error}')
            except Exception as error:
                if execution.phase is Phase.BRAKING:
                    raise
                self._log.error(traceback.format_exc())
                execution.stop(Status.FAILURE, f'{type(error).__name__}: {error}')
        for controller in execution.controllers:
            controller.forget()
        self._log.info(execution.log_line(outcome))
        return outcome

    def _tidy(self) -> None:
        """Close the controllers of an earlier robot once nothing moves by them."""
        if not self._executions:
            for controllers in self._retired:
                controllers.close()
            self._retired.clear()
