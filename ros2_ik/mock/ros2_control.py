"""A URDF that ros2_control can run without hardware."""

from collections.abc import Iterable, Mapping
from xml.etree import ElementTree

from ros2_ik.core import Robot, ShippedRobot

PLUGIN = 'mock_components/GenericSystem'   # ros2_control's own: it is where it was commanded


def mock_hardware(shipped: ShippedRobot, robot: Robot) -> str:
    """Return the URDF of a shipped robot as mock hardware that stands at home."""
    values = robot.to_joints(robot.to_q(shipped.home))
    home = {joint.name: float(values[joint.name]) for joint in robot.joints if joint.is_scalar}
    return with_ros2_control(robot.urdf, home, robot.mimics)


def with_ros2_control(urdf: str, joints: Mapping[str, float], mimics: Iterable[str] = ()) -> str:
    """
    Put a `ros2_control` tag into a URDF, of a system that mirrors its commands.

    `joints` get a command interface for position and begin at these values [rad] or [m]; `mimics`
    follow as the URDF says and are only measured. A tag that is there already goes: each joint
    has one hardware.
    """
    root = ElementTree.fromstring(urdf)
    for old in root.findall('ros2_control'):
        root.remove(old)
    system = ElementTree.SubElement(root, 'ros2_control', name='mock_system', type='system')
    hardware = ElementTree.SubElement(system, 'hardware')
    ElementTree.SubElement(hardware, 'plugin').text = PLUGIN
    # without it the measured velocities stay what they are at first
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
