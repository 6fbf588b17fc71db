"""
Start the node ros2_ik.

    ros2 launch ros2_ik ik.launch.py                                  robot from the topics
    ros2 launch ros2_ik ik.launch.py robot:=panda                     a shipped robot
    ros2 launch ros2_ik ik.launch.py robot:=panda scene:=table        a shipped scene, or a file
    ros2 launch ros2_ik ik.launch.py config:=my_cell.yaml namespace:=left
    ros2 launch ros2_ik ik.launch.py controllers:=panda               a shipped robot's controllers
    ros2 launch ros2_ik ik.launch.py use_sim_time:=true               time from /clock

Without `robot` the node reads the URDF from the topic robot_description, which
robot_state_publisher publishes, and the SRDF from robot_description_semantic. joint_states come
from the robot in either case.

`controllers:=panda` configures the node for the joint_trajectory_controllers of the mock robot
(as in config/controllers/panda.yaml). Controllers of other robots are parameters in the `config`
file (docs/controllers.md). Without controllers the node cannot move the robot.

`config` is a parameter file; `ros2 param describe /ros2_ik NAME` explains a parameter:

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
    """Declare the arguments; `make_node` creates the node when their values are known."""
    return LaunchDescription([
        DeclareLaunchArgument('robot', default_value='', description='Shipped robot, such as '
                              'panda. Empty: the robot of the topic robot_description.'),
        DeclareLaunchArgument('controllers', default_value='', description='Shipped robot whose '
                              'controllers the node commands. Empty: controllers in config.'),
        DeclareLaunchArgument('scene', default_value='', description='Shipped scene, such as '
                              'table, or YAML file. Empty: no objects.'),
        DeclareLaunchArgument('config', default_value='',
                              description='YAML file with parameters of the node.'),
        DeclareLaunchArgument('namespace', default_value='', description='Namespace of the node '
                              'and of the topics to which it subscribes.'),
        DeclareLaunchArgument('use_sim_time', default_value='false',
                              choices=['true', 'false', 'True', 'False'],
                              description='true: the node uses the time of the topic /clock, '
                              'which a simulator publishes.'),
        OpaqueFunction(function=make_node),
    ])


def make_node(context: LaunchContext) -> list[Node]:
    """Return the node; raises an error for an unknown robot or a missing file."""
    robot, controllers, scene, config, sim = (
        LaunchConfiguration(name).perform(context)
        for name in ('robot', 'controllers', 'scene', 'config', 'use_sim_time'))
    parameters = list[Any]()
    if config:
        path = Path(config).expanduser()
        # launch itself would only warn about a missing file
        if not path.is_file():
            raise FileNotFoundError(f'config: there is no file {path.absolute()}')
        parameters.append(str(path))
    # not set to False, because the config file may set it to True
    if sim.lower() == 'true':
        parameters.append({'use_sim_time': True})
    if robot:
        parameters.append(description(robot))
    if controllers:
        parameters.append(controller_parameters(controllers))
    if scene:
        parameters.append({'scene': ParameterValue(scene, value_type=str)})
    return [Node(package='ros2_ik', executable='ik_node', name='ros2_ik', output='screen',
                 namespace=LaunchConfiguration('namespace'), parameters=parameters)]


def description(name: str) -> dict[str, ParameterValue]:
    """Return URDF and SRDF of a shipped robot as parameters."""
    from ros2_ik.core import Robot
    robot = Robot.load(name)
    texts = {'robot_description': robot.urdf, 'robot_description_semantic': robot.srdf}
    # with a type, because launch would parse the text as YAML
    return {key: ParameterValue(text, value_type=str) for key, text in texts.items() if text}


def controller_parameters(name: str) -> dict[str, ParameterValue | list[str]]:
    """Return the controllers of a shipped robot as parameters."""
    from ros2_ik.core import Robot, shipped_robots
    from ros2_ik.core.errors import UnknownNameError
    from ros2_ik.mock.controlled_groups import node_parameters
    if name not in shipped_robots():
        raise UnknownNameError(name, tuple(shipped_robots()), 'robot')
    shipped = shipped_robots()[name]
    return {key: ParameterValue(value, value_type=str) if isinstance(value, str) else value
            for key, value in node_parameters(shipped, Robot.load(shipped)).items()}
