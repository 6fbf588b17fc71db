"""Groups of a shipped robot that get mock controllers, and the IK node's parameters for them."""

from ros2_ik.core import Robot, ShippedRobot

TRAJECTORY, POSITION = '_controller', '_position_controller'   # controller = group name + suffix


def controlled_groups(shipped: ShippedRobot, robot: Robot) -> dict[str, tuple[str, ...]]:
    """
    Return the joints of each group that gets mock controllers, by group name.

    The group of config/<robot>.yaml comes first, then each SRDF group that shares no joint with an
    earlier group. Groups without joints, or with planar or floating joints, are left out.
    """
    groups: dict[str, tuple[str, ...]] = {}
    first = [shipped.group] if shipped.group else []
    for name in [*first, *robot.groups]:
        joints = robot.group(name).joint_names
        # the IK node uses one controller per joint: skip groups with joints of earlier groups
        taken = {joint for others in groups.values() for joint in others}
        if joints and not taken.intersection(joints) and all(robot.joint(j).is_scalar
                                                             for j in joints):
            groups[name] = joints
    return groups


def node_parameters(shipped: ShippedRobot, robot: Robot) -> dict[str, str | list[str]]:
    """Return the IK node's parameters: root_joint, and the groups' trajectory controllers."""
    groups = controlled_groups(shipped, robot)
    parameters: dict[str, str | list[str]] = {
        'root_joint': shipped.root_joint,
        'controllers': [group + TRAJECTORY for group in groups]}
    for group in groups:
        parameters[f'{group}{TRAJECTORY}.kind'] = 'joint_trajectory'
        parameters[f'{group}{TRAJECTORY}.group'] = group
    return parameters
