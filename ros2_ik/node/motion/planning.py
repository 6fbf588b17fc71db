"""Planning of a motion to a goal, within the limits of parameters and URDF."""

from collections.abc import Mapping
from dataclasses import replace
import math
from typing import Any

import numpy as np

from ros2_ik.core import (
    Array,
    Joint,
    Motion,
    MotionLimits,
    MotionState,
    Robot,
    Status,
    straight_motion,
)
from ros2_ik.core.errors import InvalidStateError, JointLimitError, UnknownJointError
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.controllers.robot_controllers import RobotControllers
from ros2_ik.node.controllers.trajectories import PERIOD
from ros2_ik.node.motion.motion_execution import MotionExecution
from ros2_ik.node.parameters import Parameters
from ros2_ik.node.state.measured_joints import MeasuredJoints, offset

# -- where joints shall go: what of it can be, and must be, moved ------------------------------

HAIR = 1e-6   # a goal so far outside is meant to be on the limit [rad, m]


def read_goal(robot: Robot, joints: Mapping[str, Any], group: str, controllers: RobotControllers,
              measured: MeasuredJoints, tolerance: float) -> dict[str, float]:
    """
    Return the joints to be moved, and where to; {} when all are there already.

    A joint that may not move, or that no controller moves, must be within `tolerance` of the
    goal. Raises RequestError.
    """
    if not joints:
        raise RequestError(Status.INVALID_GOAL_CONSTRAINTS, 'the goal names no joint')
    allowed = robot.group(group).joint_names if group else robot.joint_names
    goal = {}
    for name, value in joints.items():
        if name in robot.mimics:
            continue
        joint = _checked(robot, name, value)
        if joint.name in allowed and controllers.moves(name):
            goal[name] = float(value)
        elif not _there(robot, name, value, measured, tolerance):
            if name in allowed:
                raise RequestError(Status.CONTROL_FAILED, controllers.lack([name]))
            raise RequestError(Status.INVALID_GOAL_CONSTRAINTS, f"joint '{name}' is not in group "
                               f"'{group}', and not where the goal wants it")
    if joints.keys() <= robot.mimics.keys():
        raise RequestError(Status.INVALID_GOAL_CONSTRAINTS, 'the goal names mimic joints alone, '
                           'which follow others: name these')
    return goal


def _checked(robot: Robot, name: str, value: Any) -> Joint:
    try:
        joint = robot.joint(name)
    except UnknownJointError as error:
        raise RequestError(Status.INVALID_ROBOT_STATE, f'the goal: {error}') from None
    if not joint.is_scalar:
        raise RequestError(
            Status.INVALID_ROBOT_STATE,
            f"the goal: joint '{name}' is {joint.kind}, which nothing here can move")
    if not math.isfinite(value):
        raise RequestError(Status.INVALID_ROBOT_STATE, f"the goal: joint '{name}' is at {value}")
    if not joint.lower - HAIR <= value <= joint.upper + HAIR:
        raise RequestError(Status.INVALID_GOAL_CONSTRAINTS,
                           f"the goal: joint '{name}' is at {value:.6g}, outside its limits "
                           f'[{joint.lower:.6g}, {joint.upper:.6g}]')
    return joint


def _there(robot: Robot, name: str, value: float, measured: MeasuredJoints,
           tolerance: float) -> bool:
    if measured.stale([name]):
        return False
    off = offset(robot, [name], measured.state([name])[0], np.array([value]))
    return bool(abs(off[0]) <= tolerance)


# -- the motion --------------------------------------------------------------------------------

HEADROOM = 0.998   # between two points of a trajectory a controller is a bit faster,
CORNER = 0.025     # and accelerates by this part of jerk * period more at corners
SLOWEST = 1e-3     # as parameter velocity_scaling; far below it nothing can be timed
FASTEST_TIP = 10.0     # speed of a tip that only joint limits bound [m/s]
LONGEST = 600.0    # the node can do nothing else while it writes the points of a motion [s]


def planned_motion(execution: MotionExecution, start: Array, scaling: float,
                   parameters: Parameters) -> Motion:
    """Plan an execution from rest at a start (n,), with a part of the velocity limits."""
    goal = [_destination(execution, joint, at) for joint, at in zip(
        execution.joints, start.tolist(), strict=True)]
    if execution.way is not None:
        motion = _along(execution, execution.way, start, np.array(goal), parameters)
    else:
        motion = _straight(execution, start, goal, usable(execution.limits, scaling, parameters))
    for joint, far in zip(execution.joints, np.abs(motion.goal - start), strict=True):
        if far > (most := execution.max_change.get(joint, np.inf)):
            raise RequestError(Status.INVALID_GOAL_CONSTRAINTS,
                               f"joint '{joint}' would move by {far:.3g}; max_joint_change allows "
                               f'{most:g}: max_joint_change {far + 0.05:.2g} would do')
    if motion.duration > LONGEST:
        raise RequestError(Status.INVALID_GOAL_CONSTRAINTS,
                           f'the motion would take {motion.duration:.3g} s with velocity_scaling '
                           f'{scaling:g}; at most {LONGEST:g} s are possible')
    return motion


def usable(limits: MotionLimits, scaling: float, parameters: Parameters) -> MotionLimits:
    """
    Return the limits of a motion, with a part of the velocities.

    They leave room for what a controller's interpolation makes of corners of accelerations.
    """
    limits = limits.scaled(scaling * HEADROOM, parameters.acceleration_scaling)
    most = limits.acceleration
    return replace(limits, acceleration=np.maximum(most - CORNER * PERIOD * limits.jerk, most / 2))


def _straight(execution: MotionExecution, start: Array, goal: list[float],
              limits: MotionLimits) -> Motion:
    try:
        return straight_motion(execution.robot, execution.joints, start, goal, limits)
    except (InvalidStateError, JointLimitError) as error:   # the goal has been checked
        raise RequestError(Status.INVALID_ROBOT_STATE,
                           f'no motion can begin where the robot is: {error}') from None


def _along(execution: MotionExecution, way: Motion, start: Array, goal: Array,
           parameters: Parameters) -> Motion:
    """Return the motion of all joints of an execution along `way`; raises RequestError."""
    robot, joints, moving = execution.robot, execution.joints, list(way.joints)
    if others := sorted({*moving} - {*joints}):
        # such a joint is where the goal wants it, but may have to move between
        positions = np.array([way.at(time).position for time in way.times(PERIOD)])
        far = np.ptp(positions[:, [moving.index(joint) for joint in others]], axis=0)
        if far.max() > parameters.goal_tolerance:
            raise RequestError(Status.CONTROL_FAILED, 'no controller moves joint '
                               f"'{others[int(far.argmax())]}', which the way there needs")
    places = np.array([moving.index(joint) if joint in moving else -1 for joint in joints])
    moved = places >= 0
    begin = np.where(moved, way.at(0.0).position[places], goal)
    away = offset(robot, joints, begin, start)
    worst = int(np.abs(away).argmax())
    if abs(away[worst]) > parameters.start_tolerance:
        raise RequestError(Status.CONTROL_FAILED, f"joint '{joints[worst]}' stands "
                           f'{abs(away[worst]):.3g} from where the way begins; nothing was moved')
    turns = begin - start - away    # of continuous joints

    def state(time: float) -> MotionState:
        at = way.at(time)
        return MotionState(np.where(moved, at.position[places] - turns, start),
                           *(np.where(moved, each[places], 0.0) for each in at[1:]))
    return Motion(joints, way.duration, state, is_curved=True)


def _destination(execution: MotionExecution, joint: str, start: float) -> float:
    """Return a joint's goal; a joint that need not move stays, but returns within its limits."""
    limits = execution.robot.joint(joint)
    stay = start if limits.kind == 'continuous' else min(max(start, limits.lower), limits.upper)
    return execution.goal.get(joint, stay)


def checked_scaling(given: float, parameters: Parameters, kind: str = 'velocity',
                    name: str = 'velocity_scaling') -> float:
    """Return a request's part of the limits, of a field, or the parameter's; raises IKError."""
    if given == 0:
        usual: float = getattr(parameters, f'{kind}_scaling')
        return usual
    if not SLOWEST <= given <= 1:
        raise RequestError(Status.INVALID_GOAL_CONSTRAINTS,
                           f'{name} is {given:g}; valid: {SLOWEST:g} to 1, or 0 for the '
                           "parameter's")
    return given
