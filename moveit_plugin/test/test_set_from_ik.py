"""Run the gtest set_from_ik with a node that has the same robot."""

import os
import signal
import subprocess

from ament_index_python.packages import get_package_prefix
import pytest
import yaml

from ros2_ik.core import Robot

# The virtual joint of MoveIt's Panda configuration; the node's Panda has no free base.
VIRTUAL_JOINT = ('<virtual_joint name="virtual_joint" type="floating" parent_frame="world" '
                 'child_link="panda_link0"/></robot>')
DOMAIN = str(1 + os.getpid() % 100)


@pytest.fixture
def parameters(tmp_path):
    """Return the path of the parameter file for the node and MoveIt's plugin loader."""
    robot = Robot.load('panda')
    file = tmp_path / 'parameters.yaml'
    file.write_text(yaml.safe_dump({'/**': {'ros__parameters': {
        'robot_description': robot.urdf,
        'robot_description_semantic': robot.srdf.replace('</robot>', VIRTUAL_JOINT),
        'robot_description_kinematics': {
            'arm': {'kinematics_solver': 'ros2_ik/KinematicsPlugin'}}}}}))
    return str(file)


@pytest.fixture
def node(parameters):
    """Start a node; yield its process."""
    process = subprocess.Popen(
        [f'{get_package_prefix("ros2_ik")}/lib/ros2_ik/ik_node', '--ros-args', '--params-file',
         parameters], env={**os.environ, 'ROS_DOMAIN_ID': DOMAIN})
    yield process
    process.send_signal(signal.SIGCONT)   # a failed test may have left the node stopped
    process.terminate()
    assert process.wait(10) == 0


@pytest.mark.timeout(280)
def test_gtest_set_from_ik_passes_with_a_running_node(node, parameters):
    run = subprocess.run(
        [os.environ['SET_FROM_IK'], '--ros-args', '--params-file', parameters], timeout=240,
        env={**os.environ, 'ROS_DOMAIN_ID': DOMAIN, 'IK_NODE_PID': str(node.pid)})
    assert run.returncode == 0
