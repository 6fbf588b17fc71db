"""Conversion of RobotState messages to joint values by name, and back."""

from array import array
from collections.abc import Iterable, Mapping, Sequence
import math
from typing import Any, TYPE_CHECKING

import pinocchio as pin

from ros2_ik.core import Joint, Robot, Status
from ros2_ik.core.errors import counted, UnknownJointError
from ros2_ik.messages.poses import fill_transform, placement
from ros2_ik.messages.request_error import RequestError

if TYPE_CHECKING:
    from geometry_msgs.msg import Transform
    from moveit_msgs.msg import RobotState

Values = dict[str, Any]   # by joint name: a float; a list for floating and planar joints


def joint_values(state: 'RobotState', robot: Robot, label: str = 'seed') -> Values:
    """
    Read the joint values of a RobotState; mimic joints are ignored.

    Raises RequestError if names and positions differ in number, if a joint is unknown, duplicate
    or in the wrong field, or if a number is not finite. `label` names the message in errors.
    """
    single, multiple = state.joint_state, state.multi_dof_joint_state
    values: Values = {}
    for field, names, positions in (
            ('joint_state', single.name, single.position),
            ('multi_dof_joint_state', multiple.joint_names, multiple.transforms)):
        if len(names) != len(positions):
            raise RequestError(Status.INVALID_ROBOT_STATE,
                               f'{label}.{field}: {counted(len(names), "name")}, '
                               f'{counted(len(positions), "position")}')
        for name, position in zip(names, positions, strict=True):
            # joint_state_publisher and MoveIt also send mimic joints
            if name in robot.mimics:
                continue
            try:
                joint = robot.joint(name)
            except UnknownJointError as error:
                raise RequestError(Status.INVALID_ROBOT_STATE, f'{label}: {error}') from None
            right = 'joint_state' if joint.is_scalar else 'multi_dof_joint_state'
            fault = ('is named twice' if name in values else
                     f'belongs in {right}' if field != right else
                     f'is at {position}; valid: a finite number'
                     if joint.is_scalar and not math.isfinite(position) else '')
            if fault:
                raise RequestError(Status.INVALID_ROBOT_STATE, f"{label}: joint '{name}' {fault}")
            values[name] = position if joint.is_scalar else joint_pose(joint, placement(
                position.translation, position.rotation, f"{label}: joint '{name}'",
                Status.INVALID_ROBOT_STATE))
    return values


def joint_pose(joint: Joint, pose: pin.SE3) -> list[float]:
    """
    Return the values of a floating or planar joint whose child link is at `pose` in the parent.

    Floating: x y z qx qy qz qw; planar: x y theta.
    """
    if joint.kind == 'floating':
        return list(pin.SE3ToXYZQUAT(pose).tolist())
    R = pose.rotation
    x, y, _ = pose.translation
    return [float(x), float(y), math.atan2(R[1, 0], R[0, 0])]


def fill_state(state: 'RobotState', joints: Mapping[str, Any], names: Iterable[str],
               frame_id: str = '') -> 'RobotState':
    """Write the values of the joints `names`, in that order, and a frame into a RobotState."""
    single, multiple = list[str](), list[str]()
    for name in names:
        (single if isinstance(joints[name], (int, float)) else multiple).append(name)
    state.joint_state.name = single
    state.joint_state.position = array('d', [joints[name] for name in single])
    state.multi_dof_joint_state.joint_names = multiple
    state.multi_dof_joint_state.transforms = [_transform(joints[name]) for name in multiple]
    state.joint_state.header.frame_id = state.multi_dof_joint_state.header.frame_id = frame_id
    return state


def _transform(values: Sequence[float]) -> 'Transform':
    from geometry_msgs.msg import Transform  # here, so that reading needs no ROS
    # planar joint: x y theta
    if len(values) == 3:
        x, y, theta = values
        values = (x, y, 0.0, 0.0, 0.0, math.sin(theta / 2), math.cos(theta / 2))
    return fill_transform(Transform(), values)
