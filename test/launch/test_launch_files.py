"""If launch is installed: the launch files start the right processes."""

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


def load(name):
    """Import a launch file."""
    pytest.importorskip('launch_ros')
    spec = spec_from_file_location(name.partition('.')[0] + '_launch', LAUNCH / name)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize('name', sorted(ARGUMENTS))
def test_launch_file_declares_its_arguments(name):
    arguments = load(name).generate_launch_description().get_launch_arguments()
    own = {argument.name: argument for argument in arguments}
    assert set(own) == ARGUMENTS[name]
    assert all(argument.description and argument.default_value is not None
               for argument in own.values())


def make(name, function, **values):
    """Call a function of a launch file with arguments."""
    module = load(name)
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
        make('ik.launch.py', 'make_node', **values)


@pytest.mark.parametrize('values, reason', [
    ({'control': 'moc'}, "control: 'moc' is none of mock, ros2_control"),
    ({'control': 'ros2_control', 'robot': 'talos'}, "for panda, ur5, not for 'talos'"),
    ({'control': 'ros2_control', 'robot': 'ur5', 'namespace': 'cell'}, "namespace 'cell'"),
])
def test_malformed_arguments_of_demo_launch_are_refused(values, reason):
    with pytest.raises(ValueError, match=reason):
        make('demo.launch.py', 'make_all', **values)


def parameters(context, node):
    """Return the parameters of a node as launch passes them."""
    from launch_ros.utilities import evaluate_parameters
    evaluated = evaluate_parameters(context, node._Node__parameters)
    return {name: value for part in evaluated if isinstance(part, dict)
            for name, value in part.items()}


def test_controllers_argument_sets_the_parameters_of_a_robot():
    context, (node,) = make('ik.launch.py', 'make_node', controllers='baxter')
    assert parameters(context, node) == {
        'controllers': ('left_arm_controller', 'right_arm_controller'),
        'left_arm_controller.kind': 'joint_trajectory', 'left_arm_controller.group': 'left_arm',
        'right_arm_controller.kind': 'joint_trajectory',
        'right_arm_controller.group': 'right_arm'}


def test_without_controllers_argument_no_parameters_are_set():
    context, (node,) = make('ik.launch.py', 'make_node')
    assert parameters(context, node) == {}


def started(context, actions):
    """Yield package, executable and arguments of the nodes among actions."""
    from launch.substitutions import TextSubstitution
    from launch.utilities import perform_substitutions
    from launch_ros.actions import Node
    for action in actions:
        if isinstance(action, Node):   # its other words come when it is started
            words = [word for word in action.cmd[1:]
                     if all(isinstance(part, TextSubstitution) for part in word)]
            yield (action.node_package, action.node_executable,
                   [perform_substitutions(context, word) for word in words])


def included(group):
    """Return the arguments with which a group includes ik.launch.py."""
    from launch.actions import IncludeLaunchDescription
    include, = (action for action in group.get_sub_entities()
                if isinstance(action, IncludeLaunchDescription))
    return dict(include.launch_arguments)


def test_demo_starts_the_mock_robot():
    context, actions = make('demo.launch.py', 'make_all', robot='ur5', control='mock')
    (package, program, words), = started(context, actions)
    assert (package, program) == ('ros2_ik', 'mock_robot')
    assert words[:2] == ['--robot', 'ur5']
    arguments = included(actions[-1])
    assert arguments['robot'] == arguments['controllers'] == 'ur5'


@pytest.mark.parametrize('true', ['true', 'True'])    # some bring-ups pass Python's
def test_use_sim_time_reaches_the_node(true):
    context, (node,) = make('ik.launch.py', 'make_node', use_sim_time=true)
    assert parameters(context, node) == {'use_sim_time': True}
    context, actions = make('demo.launch.py', 'make_all', robot='ur5', control='mock',
                            use_sim_time=true)
    assert parameters(context, actions[0]) == {'use_sim_time': True}
    assert actions[-1].__class__.__name__ == 'GroupAction'
    sim = included(actions[-1])['use_sim_time']
    assert sim.perform(context) == true


@pytest.mark.parametrize(('values', 'reason'), [
    ({'control': 'mock', 'rviz': 'true'}, 'sudo apt install ros-jazzy-rviz2'),
    ({'control': 'ros2_control'}, 'needs controller_manager, .*sudo apt install '
     'ros-jazzy-controller-manager ros-jazzy-robot-state-p')])
def test_missing_packages_are_named(monkeypatch, values, reason):
    monkeypatch.setenv('ROS_DISTRO', 'jazzy')
    monkeypatch.setenv('AMENT_PREFIX_PATH', '/nowhere')
    with pytest.raises(ValueError, match=reason):
        make('demo.launch.py', 'make_all', robot='panda', **values)


def test_demo_starts_ros2_control(monkeypatch):
    monkeypatch.setattr('ament_index_python.packages.get_package_prefix', lambda name: '/')
    context, actions = make('demo.launch.py', 'make_all', robot='panda', control='ros2_control')
    nodes = {program: words for _, program, words in started(context, actions[:2])}
    assert set(nodes) == {'robot_state_publisher', 'ros2_control_node'}
    assert '<ros2_control' in parameters(context, actions[0])['robot_description']
    yaml = str(LAUNCH.parent / 'config' / 'controllers' / 'panda.yaml')
    spawners = [words for _, program, words in started(context, actions[2:])]
    assert [words[:words.index(yaml) + 1] for words in spawners] == [
        ['joint_state_broadcaster', 'arm_controller', 'hand_controller', '--param-file', yaml],
        ['arm_position_controller', '--inactive', '--param-file', yaml]]
    arguments = included(actions[-1])
    assert arguments['robot'] == arguments['controllers'] == 'panda'


def test_demo_starts_rviz(monkeypatch):
    """RViz has the root frame of the robot as fixed frame, and finds its meshes."""
    monkeypatch.setenv('AMENT_PREFIX_PATH', '/nowhere')
    monkeypatch.setattr('ament_index_python.packages.get_package_prefix', lambda name: '/')
    context, actions = make('demo.launch.py', 'make_all', robot='talos', control='mock',
                            rviz='true')
    (package, program, words), = started(context, actions[2:])
    assert (package, program) == ('rviz2', 'rviz2')
    assert words[:4] == ['-d', str(LAUNCH.parent / 'config' / 'ros2_ik.rviz'), '-f', 'base_link']
    from launch.utilities import perform_substitutions
    words = [perform_substitutions(context, word) for word in actions[3].cmd]
    assert words == ['ros2_ik', 'goals', '--wait', '120']
    (_, prefixes), = actions[2].additional_env
    assert any((Path(prefix) / 'share' / 'example-robot-data' / 'robots').is_dir()
               for prefix in perform_substitutions(context, prefixes).split(':'))
