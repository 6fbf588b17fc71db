"""
Start a robot without hardware, and the ros2_ik node for this robot.

    ros2 launch ros2_ik demo.launch.py robot:=ur5 scene:=table
    ros2 launch ros2_ik demo.launch.py robot:=panda control:=ros2_control
    ros2 launch ros2_ik demo.launch.py rviz:=true

`control` selects the controllers:

    mock          the mock robot of this package, with controllers like those of ros2_control
    ros2_control  a controller_manager with config/controllers/<robot>.yaml and mock hardware;
                  needs controller_manager, robot_state_publisher and ros2_controllers

The node is started by ik.launch.py with the same `scene`, `config`, `namespace` and
`use_sim_time`. With `rviz:=true` RViz shows the robot, the scene, and interactive markers for
goals, which `ros2_ik goals` serves.
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
from launch_ros.parameter_descriptions import ParameterValue
import yaml

# packages for control:=ros2_control, with the controllers in config/controllers
NEEDED = ('controller_manager', 'robot_state_publisher', 'joint_state_broadcaster',
          'joint_trajectory_controller', 'position_controllers')
CONTROLS = ('mock', 'ros2_control')
LAUNCH = Path(__file__).parent
CONTROLLERS = LAUNCH.parent / 'config' / 'controllers'
RVIZ = LAUNCH.parent / 'config' / 'ros2_ik.rviz'


def generate_launch_description() -> LaunchDescription:
    """Declare the arguments; `make_all` creates the actions when their values are known."""
    return LaunchDescription([
        DeclareLaunchArgument('robot', default_value='panda', description='Shipped robot.'),
        DeclareLaunchArgument('control', default_value='mock',
                              description=f'Controllers: {", ".join(CONTROLS)}.'),
        DeclareLaunchArgument('scene', default_value='',
                              description='Shipped scene, such as table, or YAML file.'),
        DeclareLaunchArgument('config', default_value='',
                              description='YAML file with parameters of the node; control and '
                              'scene override the controllers and the scene in the file.'),
        DeclareLaunchArgument('namespace', default_value='',
                              description='Namespace of all nodes.'),
        DeclareLaunchArgument('use_sim_time', default_value='false',
                              choices=['true', 'false', 'True', 'False'],
                              description='true: all nodes use the time of /clock.'),
        DeclareLaunchArgument('rviz', default_value='false',
                              choices=['true', 'false', 'True', 'False'],
                              description='Start RViz with interactive markers.'),
        OpaqueFunction(function=make_all),
    ])


def make_all(context: LaunchContext) -> list[Action]:
    """Return the actions of robot and node; raises ValueError for an invalid argument."""
    robot, control, namespace = (LaunchConfiguration(name).perform(context)
                                 for name in ('robot', 'control', 'namespace'))
    if control not in CONTROLS:
        raise ValueError(f"control: '{control}' is none of {', '.join(CONTROLS)}")
    real = control == 'ros2_control'
    # Robot description as parameters: ros2_control publishes no SRDF, and a node that received the
    # URDF from a topic before the SRDF would load the robot twice.
    arguments = {'robot': robot, 'controllers': robot,
                 **{name: LaunchConfiguration(name)
                    for name in ('scene', 'config', 'namespace', 'use_sim_time')}}
    source = PythonLaunchDescriptionSource(str(LAUNCH / 'ik.launch.py'))
    node = GroupAction([IncludeLaunchDescription(source, launch_arguments=arguments.items())])
    sim = {'use_sim_time': LaunchConfiguration('use_sim_time').perform(context).lower() == 'true'}
    shown = LaunchConfiguration('rviz').perform(context).lower() == 'true'
    # The node first: launch leaves processes behind if Ctrl-C comes after their actions, but while
    # ik.launch.py still loads the robot.
    return [node, *(ros2_control if real else mock)(robot, namespace, sim),
            *(rviz(robot, namespace, sim) if shown else ())]


def rviz(robot: str, namespace: str, sim: dict[str, bool]) -> list[Action]:
    """Return the actions that start RViz (fixed frame: the robot's root) and the goal markers."""
    from ros2_ik.core import Robot, shipped_robots
    if namespace.strip('/'):
        raise ValueError(f"rviz:=true: namespace '{namespace}' is not supported: {RVIZ.name} "
                         'is for /ros2_ik')
    if not is_installed('rviz2'):
        raise ValueError('rviz:=true needs rviz2, which cannot be found. Try: sudo apt install '
                         f'ros-{os.environ.get("ROS_DISTRO", "$ROS_DISTRO")}-rviz2')
    shown = Robot.load(robot)
    chains = shipped_robots()[robot].chains.values()
    tips = ['--tip', *(tip for _, tip in chains)] if chains else []
    # RViz finds meshes only on AMENT_PREFIX_PATH: add the folders of meshes installed by pip
    prefixes = [os.environ.get('AMENT_PREFIX_PATH', ''),
                *(str(Path(folder).parent) for folder in shown.package_dirs)]
    return [Node(package='rviz2', executable='rviz2', output='screen',
                 arguments=['-d', str(RVIZ), '-f', shown.root_frame], parameters=[sim],
                 additional_env={'AMENT_PREFIX_PATH': os.pathsep.join(prefixes)}),
            ExecuteProcess(cmd=['ros2_ik', 'goals', '--wait', '120', *tips], output='screen')]


def mock(robot: str, namespace: str, sim: dict[str, bool]) -> list[Node]:
    """Return the node of the mock robot."""
    return [Node(package='ros2_ik', executable='mock_robot', output='screen',
                 namespace=namespace, arguments=['--robot', robot], parameters=[sim])]


def ros2_control(robot: str, namespace: str, sim: dict[str, bool]) -> list[Node]:
    """Return a controller_manager with mock hardware, and the spawners of its controllers."""
    from ros2_ik.core import Robot, shipped_robots
    from ros2_ik.mock.ros2_control import mock_hardware
    path = CONTROLLERS / f'{robot}.yaml'
    if not path.is_file():
        valid = ', '.join(sorted(path.stem for path in CONTROLLERS.glob('*.yaml')))
        raise ValueError(f"control:=ros2_control has controllers for {valid}, not for '{robot}'")
    if namespace.strip('/'):
        raise ValueError(f"control:=ros2_control: namespace '{namespace}' is not supported: "
                         f'{path.name} is for /controller_manager')
    check_installed()
    shipped = shipped_robots()[robot]
    urdf = ParameterValue(mock_hardware(shipped, Robot.load(shipped)), value_type=str)
    return [
        Node(package='robot_state_publisher', executable='robot_state_publisher',
             output='screen', parameters=[{'robot_description': urdf}, sim]),
        Node(package='controller_manager', executable='ros2_control_node', output='screen',
             parameters=[str(path), sim],
             remappings=[('~/robot_description', '/robot_description')]),
        *spawners(path),
    ]


def check_installed() -> None:
    """Raise ValueError with an apt command if a package of ros2_control is missing."""
    absent = [name for name in NEEDED if not is_installed(name)]
    if absent:
        distribution = os.environ.get('ROS_DISTRO', '$ROS_DISTRO')
        names = ' '.join(f'ros-{distribution}-{name.replace("_", "-")}' for name in absent)
        raise ValueError(f"control:=ros2_control needs {', '.join(absent)}, which cannot be "
                         f'found. Try: sudo apt install {names}')


def is_installed(package: str) -> bool:
    """Return whether a ROS package is installed."""
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return True


def spawners(path: Path) -> list[Node]:
    """Return the spawners of the controllers in a file; position controllers stay inactive."""
    parameters = yaml.safe_load(path.read_text(encoding='utf-8'))
    types = {name: content['type']
             for name, content in parameters['controller_manager']['ros__parameters'].items()
             if isinstance(content, dict)}
    # position controllers share joints with trajectory controllers: only one kind can be active
    inactive = [name for name, kind in types.items() if kind.startswith('position_controllers/')]
    active = [name for name in types if name not in inactive]
    return [Node(package='controller_manager', executable='spawner', output='screen',
                 arguments=[*names, *options, '--param-file', str(path)])
            for names, options in ((active, []), (inactive, ['--inactive'])) if names]
