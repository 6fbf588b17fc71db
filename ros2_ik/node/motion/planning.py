"""Planning of a motion to a joint goal, within the limits of the parameters and the URDF."""

from dataclasses import replace

import numpy as np

from ros2_ik.core import Array, Motion, MotionLimits, MotionState, Status, straight_motion
from ros2_ik.core.errors import InvalidStateError, JointLimitError
from ros2_ik.core.internals import LIMIT_ROUNDING, POINT_PERIOD
from ros2_ik.messages.request_error import invalid, RequestError
from ros2_ik.node.controllers.controller import position_bounds
from ros2_ik.node.controllers.robot_controllers import RobotControllers
from ros2_ik.node.motion.motion_execution import MotionExecution, MotionRequest
from ros2_ik.node.parameters import Parameters
from ros2_ik.node.state.joint_states import JointStates

# -- the goal ----------------------------------------------------------------------------------


def read_goal(request: MotionRequest, controllers: RobotControllers, measured: JointStates,
              tolerance: float) -> dict[str, float]:
    """
    Return the goal positions of the group's joints that controllers move; {} if there are none.

    A joint outside of the group, or without a controller, must be within `tolerance` of its goal
    already. Raises RequestError.
    """
    robot, group = request.robot, request.group
    if not request.joints:
        raise invalid(f'the goal names no joint; valid: {", ".join(robot.joint_names)}')
    allowed = robot.group(group).joint_names if group else robot.joint_names
    goal = {}
    for name, value in request.joints.items():
        joint = robot.joint(name)
        if not joint.is_scalar:
            raise RequestError(Status.INVALID_ROBOT_STATE, f"the goal: joint '{name}' is "
                               f'{joint.kind}; valid: joints with one position')
        if not joint.lower - LIMIT_ROUNDING <= value <= joint.upper + LIMIT_ROUNDING:
            raise invalid(f'the goal: {JointLimitError(name, value, joint.lower, joint.upper)}')
        if name in allowed and controllers.controllers_of([name]):
            goal[name] = float(value)
        elif measured.stale_reason([name]) or abs(measured.difference([name], value)) > tolerance:
            if name in allowed:
                raise RequestError(Status.CONTROL_FAILED, controllers.no_controller_text([name]))
            raise invalid(f"joint '{name}' is not in group '{group}', and not at its goal")
    return goal


# -- the motion --------------------------------------------------------------------------------

# factor on velocity limits: interpolation by a controller exceeds the planned velocities
VELOCITY_HEADROOM = 0.998
# excess acceleration of a controller's interpolation, as a fraction of jerk limit * POINT_PERIOD
ACCELERATION_EXCESS = 0.025
MIN_SCALING = 1e-3      # lower bound of scaling factors in requests, as in the parameters
MAX_TIP_SPEED = 10.0    # maximum speed of the tip if a request sets none [m/s]
# maximum duration of a motion [s]: the node is blocked while its points are computed
MAX_DURATION = 600.0


def planned_motion(execution: MotionExecution, start: Array, parameters: Parameters) -> Motion:
    """Plan the motion of an execution from rest at `start` (n,) [rad, m]; raises RequestError."""
    scaling = execution.request.velocity_scaling
    robot, joints = execution.robot, execution.joints
    # joints without a goal stay, but within limits: measured positions can be slightly outside
    stay = np.clip(start, *position_bounds(robot, joints)).tolist()
    requested = execution.request.joints
    goal = [requested.get(joint, at) for joint, at in zip(joints, stay, strict=True)]
    if (path := execution.request.path_motion) is not None:
        motion = _along(execution, path, start, np.array(goal), parameters)
    else:
        limits = scaled_limits(execution.limits, scaling, parameters.acceleration_scaling)
        try:
            motion = straight_motion(robot, joints, start, goal, limits)
        # the goal is valid (`read_goal`), so the start is not
        except (InvalidStateError, JointLimitError) as error:
            raise RequestError(Status.INVALID_ROBOT_STATE, 'no motion can start at the current '
                               f'state: {error}') from None
    for joint, far in zip(execution.joints, np.abs(motion.goal - start), strict=True):
        most = execution.request.max_joint_change.get(joint, np.inf)
        if far > most:
            raise invalid(f"joint '{joint}' would move by {far:.3g}; max_joint_change allows "
                          f'{most:g} (max_joint_change {far + 0.05:.2g} suffices)')
    if motion.duration > MAX_DURATION:
        raise invalid(f'the motion would take {motion.duration:.3g} s with velocity_scaling '
                      f'{scaling:g}; maximum: {MAX_DURATION:g} s')
    return motion


def scaled_limits(limits: MotionLimits, velocity: float, acceleration: float) -> MotionLimits:
    """
    Return the limits of a motion, scaled by the factors `velocity` and `acceleration`.

    The velocity and acceleration limits are a little lower than requested, since a controller
    that interpolates between points exceeds the planned values.
    """
    limits = limits.scaled(velocity * VELOCITY_HEADROOM, acceleration)
    # keep at least half of the acceleration limit, even with a very high jerk limit
    most = limits.acceleration
    return replace(limits, acceleration=np.maximum(
        most - ACCELERATION_EXCESS * POINT_PERIOD * limits.jerk, most / 2))


def _along(execution: MotionExecution, path: Motion, start: Array, goal: Array,
           parameters: Parameters) -> Motion:
    """Return the requested motion `path`, extended to all joints of an execution."""
    joints = execution.joints
    if others := sorted({*path.joints} - {*joints}):
        raise RequestError(Status.CONTROL_FAILED, f"nothing was moved: no controller moves joint "
                           f"'{others[0]}' of the path; valid: a group whose joints have "
                           'controllers')
    columns, begin = [joints.index(joint) for joint in path.joints], goal.copy()
    begin[columns] = path.at(0.0).position
    distance = np.abs(begin - start)
    worst = int(distance.argmax())
    if distance[worst] > parameters.start_tolerance:
        raise RequestError(Status.CONTROL_FAILED, f"joint '{joints[worst]}' is "
                           f'{distance[worst]:.3g} from the start of the path; nothing was moved')

    # joints outside of `path` stay at the start
    def state(time: float) -> MotionState:
        whole = MotionState(start.copy(), np.zeros(len(joints)), np.zeros(len(joints)))
        for values, moved in zip(whole, path.at(time), strict=True):
            values[columns] = moved
        return whole
    return Motion(joints, path.duration, state, is_curved=True)


def checked_scaling(given: float, parameters: Parameters, kind: str = 'velocity',
                    name: str = 'velocity_scaling') -> float:
    """
    Return the scaling of a request's field `name`; 0 means parameter <kind>_scaling.

    Raises RequestError if the scaling is out of range.
    """
    if given == 0:
        return float(getattr(parameters, f'{kind}_scaling'))
    if not MIN_SCALING <= given <= 1:
        raise invalid(
            f"{name} is {given:g}; valid: {MIN_SCALING:g} to 1, or 0 for the parameter's")
    return given
