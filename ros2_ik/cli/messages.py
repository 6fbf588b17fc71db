"""Messages to and from joint values by name and poses."""

import math
from typing import Any, TYPE_CHECKING

from geometry_msgs.msg import PoseStamped, Quaternion, Transform
from moveit_msgs.msg import RobotState

from ros2_ik.cli.poses import components

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ros2_ik.core import Robot


def pose_message(T: 'NDArray[Any]', frame: str | None) -> PoseStamped:
    """Return a pose (4, 4) in a frame."""
    pose = components(T)
    message = PoseStamped()
    message.header.frame_id = frame or ''
    message.pose.position.x, message.pose.position.y, message.pose.position.z = pose['xyz']
    x, y, z, w = pose['quat']
    message.pose.orientation = Quaternion(x=x, y=y, z=z, w=w)
    return message


def pose_components(message: PoseStamped) -> dict[str, list[float]]:
    """Return xyz, rpy, quat of a pose."""
    import numpy as np
    import pinocchio as pin
    p, o = message.pose.position, message.pose.orientation
    return components(pin.XYZQUATToSE3(np.array([p.x, p.y, p.z, o.x, o.y, o.z, o.w])).homogeneous)


def state_message(values: dict[str, Any]) -> RobotState:
    """Return joint values by name; lists are floating (7 values) or planar (3) joints."""
    message = RobotState()
    for name, value in values.items():
        if isinstance(value, (int, float)):
            message.joint_state.name.append(name)
            message.joint_state.position.append(float(value))
        else:
            message.multi_dof_joint_state.joint_names.append(name)
            message.multi_dof_joint_state.transforms.append(_transform(list(value)))
    return message


def state_values(message: RobotState, robot: 'Robot | None') -> dict[str, Any]:
    """Return the joint values of a reply by name."""
    joints = zip(message.joint_state.name, message.joint_state.position, strict=True)
    values: dict[str, Any] = {name: float(value) for name, value in joints}
    planar = {j.name for j in robot.joints if j.kind == 'planar'} if robot else set()
    bases = message.multi_dof_joint_state
    for name, t in zip(bases.joint_names, bases.transforms, strict=True):
        p, r = t.translation, t.rotation
        values[name] = ([p.x, p.y, 2 * math.atan2(r.z, r.w)] if name in planar
                        else [p.x, p.y, p.z, r.x, r.y, r.z, r.w])
    return values


def _transform(values: list[float]) -> Transform:
    if len(values) == 3:
        x, y, theta = values
        values = [x, y, 0.0, 0.0, 0.0, math.sin(theta / 2), math.cos(theta / 2)]
    message = Transform()
    t, r = message.translation, message.rotation
    t.x, t.y, t.z, r.x, r.y, r.z, r.w = (float(value) for value in values)
    return message
