"""Groups of a shipped robot that have controllers, and parameters of the node for these."""

from ros2_ik.core import Robot, ShippedRobot

TRAJECTORY, POSITION = '_controller', '_position_controller'   # after the name of the group


def controlled_groups(shipped: ShippedRobot, robot: Robot) -> dict[str, tuple[str, ...]]:
    """
    Return the groups that have controllers: name -> joints.

    The group of config/<robot>.yaml comes first, then each group of the SRDF that shares no joint
    with those before it: a joint has one owner.
    """
    groups: dict[str, tuple[str, ...]] = {}
    first = [shipped.group] if shipped.group else []
    for name in [*first, *robot.groups]:
        joints = robot.group(name).joint_names
        taken = {joint for others in groups.values() for joint in others}
        if joints and not taken.intersection(joints) and all(robot.joint(j).is_scalar
                                                             for j in joints):
            groups[name] = joints
    return groups


def node_parameters(shipped: ShippedRobot, robot: Robot) -> dict[str, str | list[str]]:
    """Return the parameters of the node ros2_ik that make it command these controllers."""
    groups = controlled_groups(shipped, robot)
    parameters: dict[str, str | list[str]] = {
        'controllers': [group + TRAJECTORY for group in groups]}
    for group in groups:
        parameters[f'{group}{TRAJECTORY}.kind'] = 'joint_trajectory'
        parameters[f'{group}{TRAJECTORY}.group'] = group
    return parameters
