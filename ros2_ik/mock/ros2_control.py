"""URDF with mock hardware, for ros2_control without a real robot."""

from collections.abc import Iterable, Mapping
from xml.etree import ElementTree

from ros2_ik.core import Robot, ShippedRobot

PLUGIN = 'mock_components/GenericSystem'   # of ros2_control; returns commands as states


def mock_hardware(shipped: ShippedRobot, robot: Robot) -> str:
    """Return the URDF of a shipped robot with mock hardware that starts at home."""
    values = robot.to_joints(robot.to_q(shipped.home))
    home = {joint.name: float(values[joint.name]) for joint in robot.joints if joint.is_scalar}
    return with_ros2_control(robot.urdf, home, robot.mimics)


def with_ros2_control(urdf: str, joints: Mapping[str, float], mimics: Iterable[str] = ()) -> str:
    """
    Return a URDF with a `ros2_control` tag for a system that returns commands as states.

    `joints` get a position command interface, and start at the given positions [rad, m]. `mimics`
    follow other joints, and get state interfaces only. Existing `ros2_control` tags are removed,
    because a joint can belong to only one system.
    """
    root = ElementTree.fromstring(urdf)
    for old in root.findall('ros2_control'):
        root.remove(old)
    system = ElementTree.SubElement(root, 'ros2_control', name='mock_system', type='system')
    hardware = ElementTree.SubElement(system, 'hardware')
    ElementTree.SubElement(hardware, 'plugin').text = PLUGIN
    # without this parameter, the plugin does not update velocity states
    ElementTree.SubElement(hardware, 'param', name='calculate_dynamics').text = 'true'
    for name, start in joints.items():
        joint = _joint(system, name, start)
        joint.insert(0, ElementTree.Element('command_interface', name='position'))
    for name in mimics:
        _joint(system, name)
    return ElementTree.tostring(root, encoding='unicode')


def _joint(system: ElementTree.Element, name: str,
           start: float | None = None) -> ElementTree.Element:
    joint = ElementTree.SubElement(system, 'joint', name=name)
    position = ElementTree.SubElement(joint, 'state_interface', name='position')
    if start is not None:
        ElementTree.SubElement(position, 'param', name='initial_value').text = repr(start)
    ElementTree.SubElement(joint, 'state_interface', name='velocity')
    return joint
