"""
Starts the node ros2_ik.

    ros2 launch ros2_ik ik.launch.py                                  robot from the topics
    ros2 launch ros2_ik ik.launch.py robot:=panda                     a shipped robot
    ros2 launch ros2_ik ik.launch.py robot:=panda scene:=table        a shipped scene, or a file
    ros2 launch ros2_ik ik.launch.py config:=my_cell.yaml namespace:=left
    ros2 launch ros2_ik ik.launch.py controllers:=panda               those of a shipped robot
    ros2 launch ros2_ik ik.launch.py use_sim_time:=true               time from /clock

Without `robot` the node takes what robot_state_publisher publishes on robot_description, and the
SRDF from robot_description_semantic. joint_states come from the robot in either case.

`controllers:=panda` tells the node of the joint_trajectory_controllers in
config/controllers/panda.yaml, which the mock robot has, too; those of another robot are
parameters in `config` (docs/controllers.md). Without either, nothing moves.

`config` is a parameter file; `ros2 param describe /ros2_ik NAME` explains the parameters:

    /**:
      ros__parameters:
        default_group: manipulator
        default_timeout: 0.1       # seconds
        position_tolerance: 1.0e-4 # metres
"""

from pathlib import Path
from typing import Any

from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue


def generate_launch_description() -> LaunchDescription:
    """Describe the arguments; the node is made when their values are known."""
    return LaunchDescription([
        DeclareLaunchArgument('robot', default_value='', description='Shipped robot, such as '
                              'panda. Empty: from the topic robot_description.'),
        DeclareLaunchArgument('controllers', default_value='', description='Shipped robot whose '
                              'controllers the node commands. Empty: those of config, if any.'),
        DeclareLaunchArgument('scene', default_value='', description='Shipped scene, such as '
                              'table, or YAML file. Empty: nothing stands round the robot.'),
        DeclareLaunchArgument('config', default_value='',
                              description='YAML file with parameters of the node.'),
        DeclareLaunchArgument('namespace', default_value='', description='Of the node and of '
                              'the topics it listens to.'),
        DeclareLaunchArgument('use_sim_time', default_value='false',
                              choices=['true', 'false', 'True', 'False'],
                              description='Whether time comes from the topic /clock, as a '
                              'simulator gives it.'),
        OpaqueFunction(function=make_node),
    ])


def make_node(context: LaunchContext) -> list[Node]:
    """Make the node; raises when the robot is unknown or the file is not there."""
    robot, controllers, scene, config, sim = (
        LaunchConfiguration(name).perform(context)
        for name in ('robot', 'controllers', 'scene', 'config', 'use_sim_time'))
    parameters = list[Any]()
    if config:
        path = Path(config).expanduser()
        if not path.is_file():   # launch itself would only warn
            raise FileNotFoundError(f'config: there is no file {path.absolute()}')
        parameters.append(str(path))
    if sim.lower() == 'true':   # otherwise what config says counts
        parameters.append({'use_sim_time': True})
    if robot:
        parameters.append(description(robot))
    if controllers:
        parameters.append(commanded(controllers))
    if scene:
        parameters.append({'scene': ParameterValue(scene, value_type=str)})
    return [Node(package='ros2_ik', executable='ik_node', name='ros2_ik', output='screen',
                 namespace=LaunchConfiguration('namespace'), parameters=parameters)]


def description(name: str) -> dict[str, ParameterValue]:
    """Give the description of a shipped robot as parameters."""
    from ros2_ik.core import Robot
    robot = Robot.load(name)
    texts = {'robot_description': robot.urdf, 'robot_description_semantic': robot.srdf}
    # typed: launch would read the text as YAML
    return {key: ParameterValue(text, value_type=str) for key, text in texts.items() if text}


def commanded(name: str) -> dict[str, ParameterValue | list[str]]:
    """Give the controllers of a shipped robot as parameters."""
    from ros2_ik.core import Robot, shipped_robots
    from ros2_ik.core.errors import UnknownRobotError
    from ros2_ik.mock.controlled_groups import node_parameters
    if name not in shipped_robots():
        raise UnknownRobotError(name, tuple(shipped_robots()))
    shipped = shipped_robots()[name]
    return {key: ParameterValue(value, value_type=str) if isinstance(value, str) else value
            for key, value in node_parameters(shipped, Robot.load(shipped)).items()}
