"""
Starts a robot without hardware and the node that answers for it.

    ros2 launch ros2_ik demo.launch.py robot:=ur5 scene:=table
    ros2 launch ros2_ik demo.launch.py rviz:=true

The robot is the mock robot of this package, with controllers like those of ros2_control. The
node is that of ik.launch.py, with the same `scene`, `config`, `namespace` and `use_sim_time`.
With `rviz` RViz shows the robot, the scene, and goals to drag, which `ros2_ik goals` serves.
"""

import os
from pathlib import Path

from ament_index_python.packages import get_package_prefix, PackageNotFoundError
from launch import LaunchContext, LaunchDescription
from launch.action import Action
from launch.actions import (
    DeclareLaunchArgument,
    ExecuteProcess,
    GroupAction,
    IncludeLaunchDescription,
    OpaqueFunction,
)
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

LAUNCH = Path(__file__).parent
RVIZ = LAUNCH.parent / 'config' / 'ros2_ik.rviz'


def generate_launch_description() -> LaunchDescription:
    """Describe the arguments; the robot is made when their values are known."""
    return LaunchDescription([
        DeclareLaunchArgument('robot', default_value='panda', description='Shipped robot.'),
        DeclareLaunchArgument('scene', default_value='',
                              description='Shipped scene, such as table, or YAML file.'),
        DeclareLaunchArgument('config', default_value='',
                              description='YAML file with parameters of the node, but for '
                              'controllers and scene.'),
        DeclareLaunchArgument('namespace', default_value='', description='Of all nodes.'),
        DeclareLaunchArgument('use_sim_time', default_value='false',
                              choices=['true', 'false', 'True', 'False'],
                              description='Whether all nodes take their time from /clock.'),
        DeclareLaunchArgument('rviz', default_value='false',
                              choices=['true', 'false', 'True', 'False'],
                              description='Whether RViz is started, with goals to drag.'),
        OpaqueFunction(function=make_all),
    ])


def make_all(context: LaunchContext) -> list[Action]:
    """Make the robot and include the node; raises when an argument makes no sense."""
    robot, namespace = (LaunchConfiguration(name).perform(context)
                        for name in ('robot', 'namespace'))
    # the node has the description as parameters: one that receives URDF and SRDF one after the
    # other would load the robot twice
    arguments = {'robot': robot, 'controllers': robot,
                 **{name: LaunchConfiguration(name)
                    for name in ('scene', 'config', 'namespace', 'use_sim_time')}}
    source = PythonLaunchDescriptionSource(str(LAUNCH / 'ik.launch.py'))
    node = GroupAction([IncludeLaunchDescription(source, launch_arguments=arguments.items())])
    sim = {'use_sim_time': LaunchConfiguration('use_sim_time').perform(context).lower() == 'true'}
    shown = LaunchConfiguration('rviz').perform(context).lower() == 'true'
    mock = Node(package='ros2_ik', executable='mock_robot', output='screen', namespace=namespace,
                arguments=['--robot', robot], parameters=[sim])
    return [mock, node, *(rviz(robot, namespace, sim) if shown else ())]


def rviz(robot: str, namespace: str, sim: dict[str, bool]) -> list[Action]:
    """Make RViz, which looks from the root of the robot, and the goals to drag in it."""
    from ros2_ik.core import Robot, shipped_robots
    if namespace.strip('/'):
        raise ValueError(f"rviz:=true: namespace '{namespace}' is not possible, {RVIZ.name} is "
                         'for /ros2_ik')
    try:
        get_package_prefix('rviz2')
    except PackageNotFoundError:
        raise ValueError('rviz:=true needs rviz2, which cannot be found; sudo apt install '
                         f'ros-{os.environ.get("ROS_DISTRO", "$ROS_DISTRO")}-rviz2') from None
    shown = Robot.load(robot)
    chains = shipped_robots()[robot].chains.values()
    tips = ['--tip', *(tip for _, tip in chains)] if chains else []
    # meshes that pip has installed are in no package that RViz knows of
    prefixes = [os.environ.get('AMENT_PREFIX_PATH', ''),
                *(str(Path(folder).parent) for folder in shown.package_dirs)]
    return [Node(package='rviz2', executable='rviz2', output='screen',
                 arguments=['-d', str(RVIZ), '-f', shown.root_frame], parameters=[sim],
                 additional_env={'AMENT_PREFIX_PATH': os.pathsep.join(prefixes)}),
            ExecuteProcess(cmd=['ros2_ik', 'goals', '--wait', '120', *tips], output='screen')]
