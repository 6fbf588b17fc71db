"""The ros2_control files agree with the robots and with the mock robot."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from ros2_ik.core import Robot, shipped_robots
from ros2_ik.mock.controlled_groups import controlled_groups, node_parameters, POSITION, TRAJECTORY
from ros2_ik.mock.ros2_control import mock_hardware, with_ros2_control

FILES = sorted((Path(__file__).parents[2] / 'config' / 'controllers').glob('*.yaml'))
TYPES = {'joint_state_broadcaster/JointStateBroadcaster',
         'joint_trajectory_controller/JointTrajectoryController',
         'position_controllers/JointGroupPositionController'}


def joints_of(urdf):
    """Return the movable joints of a URDF, and the mimic joints among them."""
    joints = [joint for joint in ElementTree.fromstring(urdf).findall('joint')
              if joint.get('type') != 'fixed']
    return ({joint.get('name') for joint in joints},
            {joint.get('name') for joint in joints if joint.find('mimic') is not None})


@pytest.mark.parametrize('path', FILES, ids=lambda path: path.stem)
def test_controller_file_has_valid_joints_interfaces_and_tolerances(path):
    shipped = shipped_robots()[path.stem]
    robot = Robot.load(shipped)
    movable_joints, mimic_joints = joints_of(robot.urdf)
    content = yaml.safe_load(path.read_text())
    manager = content.pop('controller_manager')['ros__parameters']
    assert manager.pop('update_rate') >= 100
    types = {name: parameters['type'] for name, parameters in manager.items()}
    assert set(types.values()) <= TYPES
    assert types.pop('joint_state_broadcaster') == 'joint_state_broadcaster/JointStateBroadcaster'
    assert set(types) == set(content)
    for name, kind in types.items():
        parameters = content[name]['ros__parameters']
        assert set(parameters['joints']) <= movable_joints - mimic_joints
        assert len(set(parameters['joints'])) == len(parameters['joints'])
        if 'Trajectory' in kind:
            assert parameters['command_interfaces'] == ['position']
            assert parameters['state_interfaces'] == ['position', 'velocity']
            checked = {joint for joint in parameters['constraints'] if joint in movable_joints}
            assert checked == set(parameters['joints'])
            assert parameters['constraints']['goal_time'] > 0


@pytest.mark.parametrize('path', FILES, ids=lambda path: path.stem)
def test_controller_file_agrees_with_the_mock_robot(path):
    shipped = shipped_robots()[path.stem]
    groups = controlled_groups(shipped, Robot.load(shipped))
    mock = {group + ending: list(joints) for group, joints in groups.items()
            for ending in (TRAJECTORY, POSITION)}
    content = yaml.safe_load(path.read_text())
    del content['controller_manager']
    for name, parameters in content.items():
        assert parameters['ros__parameters']['joints'] == mock[name]
    assert {name for name in content if not name.endswith(POSITION)} == {
        group + TRAJECTORY for group in groups}


@pytest.mark.parametrize('name', sorted(shipped_robots()))
def test_each_joint_has_at_most_one_controller(name):
    shipped = shipped_robots()[name]
    robot = Robot.load(shipped)
    groups = controlled_groups(shipped, robot)
    assert next(iter(groups)) == shipped.group
    joints = [joint for group in groups.values() for joint in group]
    assert len(joints) == len(set(joints)) and set(joints) <= joints_of(robot.urdf)[0]
    parameters = node_parameters(shipped, robot)
    assert parameters['controllers'][0] == f'{shipped.group}_controller'
    assert set(parameters) == {'root_joint', 'controllers'} | {
        f'{name}.{field}' for name in parameters['controllers'] for field in ('kind', 'group')}


@pytest.mark.parametrize('name', ['panda', 'ur5', 'baxter'])
def test_mock_hardware_has_an_interface_for_each_joint(name):
    shipped = shipped_robots()[name]
    robot = Robot.load(shipped)
    movable_joints, mimic_joints = joints_of(robot.urdf)
    root = ElementTree.fromstring(mock_hardware(shipped, robot))
    system, = root.findall('ros2_control')
    assert system.get('type') == 'system'
    assert system.find('hardware/plugin').text == 'mock_components/GenericSystem'
    joints = {joint.get('name'): joint for joint in system.findall('joint')}
    assert set(joints) == movable_joints
    for joint, element in joints.items():
        commands = [x.get('name') for x in element.findall('command_interface')]
        states = {x.get('name'): x for x in element.findall('state_interface')}
        assert commands == ([] if joint in mimic_joints else ['position'])
        assert set(states) == {'position', 'velocity'}
        if joint in shipped.home:
            assert float(states['position'].find('param').text) == shipped.home[joint]
    other_elements = [x for x in root if x.tag != 'ros2_control']   # unchanged
    assert [ElementTree.tostring(x) for x in other_elements] == [
        ElementTree.tostring(x) for x in ElementTree.fromstring(robot.urdf)]


def test_existing_ros2_control_tag_is_replaced():
    urdf = '<robot name="r"><link name="a"/><ros2_control name="real" type="system"/></robot>'
    tags = ElementTree.fromstring(with_ros2_control(urdf, {})).findall('ros2_control')
    assert [tag.get('name') for tag in tags] == ['mock_system']
