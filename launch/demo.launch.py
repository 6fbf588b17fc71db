"""
Starts a mock robot and the node that answers for it.

    ros2 launch ros2_ik demo.launch.py robot:=ur5 scene:=table

The mock robot publishes robot_description, robot_description_semantic and joint_states, the node
is that of ik.launch.py, with the same `scene`, `config` and `namespace`.
"""

from pathlib import Path

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, GroupAction, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node


def generate_launch_description() -> LaunchDescription:
    """Describe the arguments and both nodes."""
    namespace = LaunchConfiguration('namespace')
    # the node reads what the mock robot publishes, as it would from a real one
    arguments = {'robot': '', 'scene': LaunchConfiguration('scene'),
                 'config': LaunchConfiguration('config'), 'namespace': namespace}
    source = PythonLaunchDescriptionSource(str(Path(__file__).with_name('ik.launch.py')))
    return LaunchDescription([
        DeclareLaunchArgument('robot', default_value='panda', description='Shipped robot.'),
        DeclareLaunchArgument('scene', default_value='',
                              description='Shipped scene, such as table, or YAML file.'),
        DeclareLaunchArgument('config', default_value='',
                              description='YAML file with parameters of the node.'),
        DeclareLaunchArgument('namespace', default_value='', description='Of both nodes.'),
        Node(package='ros2_ik', executable='mock_robot', name='mock_robot', output='screen',
             namespace=namespace, arguments=['--robot', LaunchConfiguration('robot')]),
        GroupAction([IncludeLaunchDescription(source, launch_arguments=arguments.items())]),
    ])
