"""Arguments of the launch files, and the processes they start; needs launch_ros."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

LAUNCH = Path(__file__).parents[2] / 'launch'
ARGUMENTS = {'ik.launch.py': {'robot', 'controllers', 'scene', 'config', 'namespace',
                              'use_sim_time'},
             'demo.launch.py': {'robot', 'control', 'scene', 'config', 'namespace',
                                'use_sim_time', 'rviz'}}


def test_every_launch_file_is_tested():
    assert {path.name for path in LAUNCH.iterdir() if path.is_file()} == set(ARGUMENTS)


def import_launch_file(name):
    pytest.importorskip('launch_ros')
    spec = spec_from_file_location(name.partition('.')[0] + '_launch', LAUNCH / name)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize('name', sorted(ARGUMENTS))
def test_launch_file_declares_its_arguments(name):
    arguments = import_launch_file(name).generate_launch_description().get_launch_arguments()
    declared = {argument.name: argument for argument in arguments}
    assert set(declared) == ARGUMENTS[name]
    assert all(argument.description and argument.default_value is not None
               for argument in declared.values())


def call_function(name, function, **values):
    """Call a function of a launch file with arguments; return its context and result."""
    module = import_launch_file(name)
    from launch import LaunchContext
    context = LaunchContext()
    context.launch_configurations.update(dict.fromkeys(ARGUMENTS[name], '') | values)
    return context, getattr(module, function)(context)


@pytest.mark.parametrize('values, reason', [
    ({'robot': 'pandaa'}, "did you mean 'panda'"),
    ({'controllers': 'pandaa'}, "did you mean 'panda'"),
    ({'config': '/nowhere.yaml'}, 'there is no file /nowhere.yaml'),
])
def test_malformed_arguments_of_ik_launch_are_refused(values, reason):
    with pytest.raises(Exception, match=reason):
        call_function('ik.launch.py', 'make_node', **values)


@pytest.mark.parametrize('values, reason', [
    ({'control': 'moc'}, "control: 'moc' is none of mock, ros2_control"),
    ({'control': 'ros2_control', 'robot': 'talos'}, "for panda, ur5, not for 'talos'"),
    ({'control': 'ros2_control', 'robot': 'ur5', 'namespace': 'cell'}, "namespace 'cell'"),
])
def test_malformed_arguments_of_demo_launch_are_refused(values, reason):
    with pytest.raises(ValueError, match=reason):
        call_function('demo.launch.py', 'make_all', **values)


def parameters(context, node):
    """Return the parameters of a node as launch passes them."""
    from launch_ros.utilities import evaluate_parameters
    evaluated = evaluate_parameters(context, node._Node__parameters)
    return {name: value for part in evaluated if isinstance(part, dict)
            for name, value in part.items()}


def test_controllers_argument_sets_the_parameters_of_a_robot():
    context, (node,) = call_function('ik.launch.py', 'make_node', controllers='baxter')
    assert parameters(context, node) == {
        'controllers': ('left_arm_controller', 'right_arm_controller'),
        'left_arm_controller.kind': 'joint_trajectory', 'left_arm_controller.group': 'left_arm',
        'right_arm_controller.kind': 'joint_trajectory',
        'right_arm_controller.group': 'right_arm'}


def test_without_controllers_argument_no_parameters_are_set():
    context, (node,) = call_function('ik.launch.py', 'make_node')
    assert parameters(context, node) == {}


def node_commands(context, actions):
    """Yield package, executable and arguments of the nodes among actions."""
    from launch.substitutions import TextSubstitution
    from launch.utilities import perform_substitutions
    from launch_ros.actions import Node
    for action in actions:
        if isinstance(action, Node):   # its other arguments are known at its start
            arguments = [word for word in action.cmd[1:]
                         if all(isinstance(part, TextSubstitution) for part in word)]
            yield (action.node_package, action.node_executable,
                   [perform_substitutions(context, word) for word in arguments])


def include_arguments(group):
    """Return the arguments with which a group includes ik.launch.py."""
    from launch.actions import IncludeLaunchDescription
    include, = (action for action in group.get_sub_entities()
                if isinstance(action, IncludeLaunchDescription))
    return dict(include.launch_arguments)


def test_demo_launch_starts_the_mock_robot():
    context, actions = call_function('demo.launch.py', 'make_all', robot='ur5', control='mock')
    (package, program, arguments), = node_commands(context, actions)
    assert (package, program) == ('ros2_ik', 'mock_robot')
    assert arguments[:2] == ['--robot', 'ur5']
    arguments = include_arguments(actions[0])
    assert arguments['robot'] == arguments['controllers'] == 'ur5'


@pytest.mark.parametrize('value', ['true', 'True'])    # some launch files pass str(True)
def test_use_sim_time_is_passed_to_all_nodes(value):
    context, (node,) = call_function('ik.launch.py', 'make_node', use_sim_time=value)
    assert parameters(context, node) == {'use_sim_time': True}
    context, actions = call_function('demo.launch.py', 'make_all', robot='ur5', control='mock',
                                     use_sim_time=value)
    assert parameters(context, actions[1]) == {'use_sim_time': True}
    assert actions[0].__class__.__name__ == 'GroupAction'
    use_sim_time = include_arguments(actions[0])['use_sim_time']
    assert use_sim_time.perform(context) == value


@pytest.mark.parametrize(('values', 'reason'), [
    ({'control': 'mock', 'rviz': 'true'}, 'sudo apt install ros-jazzy-rviz2'),
    ({'control': 'ros2_control'}, 'needs controller_manager, .*sudo apt install '
     'ros-jazzy-controller-manager ros-jazzy-robot-state-p')])
def test_missing_packages_are_named_with_the_install_command(monkeypatch, values, reason):
    monkeypatch.setenv('ROS_DISTRO', 'jazzy')
    monkeypatch.setenv('AMENT_PREFIX_PATH', '/nowhere')
    with pytest.raises(ValueError, match=reason):
        call_function('demo.launch.py', 'make_all', robot='panda', **values)


def test_demo_launch_starts_ros2_control(monkeypatch):
    monkeypatch.setattr('ament_index_python.packages.get_package_prefix', lambda name: '/')
    context, actions = call_function('demo.launch.py', 'make_all', robot='panda',
                                     control='ros2_control')
    nodes = {program: arguments for _, program, arguments in node_commands(context, actions[1:3])}
    assert set(nodes) == {'robot_state_publisher', 'ros2_control_node'}
    assert '<ros2_control' in parameters(context, actions[1])['robot_description']
    yaml = str(LAUNCH.parent / 'config' / 'controllers' / 'panda.yaml')
    spawners = [arguments for _, program, arguments in node_commands(context, actions[3:])]
    assert [arguments[:arguments.index(yaml) + 1] for arguments in spawners] == [
        ['joint_state_broadcaster', 'arm_controller', 'hand_controller', '--param-file', yaml],
        ['arm_position_controller', '--inactive', '--param-file', yaml]]
    arguments = include_arguments(actions[0])
    assert arguments['robot'] == arguments['controllers'] == 'panda'


def test_demo_launch_starts_rviz(monkeypatch):
    """Its fixed frame is the root frame of the robot, and it finds the meshes."""
    monkeypatch.setenv('AMENT_PREFIX_PATH', '/nowhere')
    monkeypatch.setattr('ament_index_python.packages.get_package_prefix', lambda name: '/')
    context, actions = call_function('demo.launch.py', 'make_all', robot='talos', control='mock',
                                     rviz='true')
    (package, program, arguments), = node_commands(context, actions[2:])
    assert (package, program) == ('rviz2', 'rviz2')
    config = str(LAUNCH.parent / 'config' / 'ros2_ik.rviz')
    assert arguments[:4] == ['-d', config, '-f', 'base_link']
    from launch.utilities import perform_substitutions
    arguments = [perform_substitutions(context, word) for word in actions[3].cmd]
    assert arguments == ['ros2_ik', 'goals', '--wait', '120']
    (_, prefixes), = actions[2].additional_env
    assert any((Path(prefix) / 'share' / 'example-robot-data' / 'robots').is_dir()
               for prefix in perform_substitutions(context, prefixes).split(':'))
