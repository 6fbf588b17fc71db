"""Controllers by parameters: which there are, how they limit motions, and what is refused."""

from importlib.util import find_spec

from arm_harness import (
    ARM,
    at_home,
    execute,
    execute_later,
    FAST,
    HOME,
    knows_the_robot,
    mock_robot,
    near,
    POSITIONS,
    TRAJECTORIES,
)
from node_harness import eventually, unreachable
import numpy as np
import pytest

from ros2_ik.msg import Status


@pytest.fixture
def mock(client, tmp_path):
    with mock_robot(client, tmp_path) as mock:
        yield mock


@pytest.mark.parametrize('parameters, text', [
    ({'controllers': ['a'], 'a.kind': 'telepathy'}, "a.kind is 'telepathy'; valid: "
     'follow_joint_trajectory, joint_state, joint_trajectory, position'),
    ({'controllers': ['two words']}, "controllers has 'two words' which is no name"),
    ({'controllers': ['a', 'a']}, "controllers has 'a' twice"),
    ({'controllers': 'a'}, "controllers is 'a'; valid: a list of names"),
    ({'while_executing': 'wait'}, "while_executing is 'wait'; valid: refuse, replace"),
    ({'joint_limits.a.max_velocity': -1.0}, 'joint_limits.a.max_velocity is -1'),
    ({'controllers': ['one', 'two'], 'one.kind': 'position', 'two.kind': 'position',
      'two.topic': '/one/commands'},
     "two.topic is '/one/commands', which is that of 'one', too"),
    pytest.param({'controllers': ['a'], 'a.kind': 'follow_joint_trajectory'},
                 "a.kind is 'follow_joint_trajectory': control_msgs is not installed",
                 marks=pytest.mark.skipif(bool(find_spec('control_msgs.action')),
                                          reason='control_msgs is installed'))])
@pytest.mark.slow
def test_parameters_that_make_no_sense(start_node, parameters, text):
    node = start_node(**parameters)
    assert node.process.wait(30) == 1
    assert text in node.text, node.text


def test_no_controllers(client, record, start_node):
    start_node()
    knows_the_robot(client)
    answer = execute(client, {'panda_joint1': 2.0})
    assert answer.status == Status.CONTROL_FAILED
    assert 'parameter controllers is empty' in answer.message
    answer = client.ik(targets=[unreachable()], tips=['panda_hand'], execute=True)
    assert answer.status == Status.CONTROL_FAILED
    assert answer.message == 'execute: nothing moves the robot: parameter controllers is empty'
    assert near(record.still(), {}) < 1e-3


@pytest.mark.slow
def test_a_controller_that_never_listens_is_named_and_a_solution_kept(client, record, start_node):
    start_node(controllers=['absent_controller'], **{'absent_controller.group': 'arm'}, **FAST)
    knows_the_robot(client)
    answer = execute(client, HOME)
    assert (answer.status, answer.message) == (
        Status.CONTROL_FAILED, 'no subscriber on /absent_controller/joint_trajectory')
    target = client.fk(links=['panda_hand']).poses[0]
    answer = client.ik(targets=[target], tips=['panda_hand'], execute=True)
    assert 'no subscriber on /absent_controller' in answer.message
    assert answer.motion_seconds == 0 and answer.solution.joint_state.name


@pytest.mark.slow
def test_controllers_that_do_not_fit_the_robot_are_told_of(client, record, start_node):
    """In one line."""
    names = ['left', 'right']
    node = start_node(controllers=names, **{f'{name}.group': 'leg' for name in names})

    def complaints():      # once there is the SRDF, which has the groups
        return [line for line in node.text.splitlines() if 'has nothing to move' in line]
    eventually(complaints, 'the line')
    assert len(complaints()) == 1 and all(f"'{name}'" in complaints()[0] for name in names)
    answer = execute(client, {'panda_joint1': 2.0})
    assert answer.status == Status.CONTROL_FAILED and "unknown group 'leg'" in answer.message


@pytest.mark.slow
def test_limits_of_parameters(client, record, start_node):
    node = start_node(**TRAJECTORIES, **FAST, **{
        'joint_limits.panda_joint1.max_velocity': 0.2,
        'joint_limits.panda_joint1.max_acceleration': 0.5,
        'joint_limits.panda_joint2.has_velocity_limits': True,
        'joint_limits.wheel.max_velocity': 1.0})
    at_home(client)
    assert "joint_limits of 'wheel' are ignored" in node.text
    since = len(record.states)
    answer = execute(client, {'panda_joint1': 0.3})
    assert answer.status == Status.SUCCESS and answer.motion_seconds > 0.3 / 0.2
    times, positions = record.way(since, ARM[:1])
    assert (np.abs(np.diff(positions[:, 0]) / np.diff(times)) < 0.25).all()


@pytest.mark.slow
def test_two_controllers(client, record, start_node):
    """One request moves both, in step; two requests each their own, at the same time."""
    start_node(controllers=['arm_controller', 'hand_controller'],
               **{'arm_controller.group': 'arm', 'hand_controller.group': 'hand'}, **FAST)
    at_home(client)
    answer = execute(client, {'panda_joint1': 0.4, 'panda_finger_joint1': 0.03})
    assert answer.status == Status.SUCCESS, answer.message
    state = record.listen()
    assert abs(state['panda_joint1'] - 0.4) < 1e-3
    assert abs(state['panda_finger_joint1'] - 0.03) < 1e-3
    arm = execute_later(client, {'panda_joint1': 2.0}, velocity_scaling=0.2)
    eventually(lambda: record.at()[0] > 0.43, 'the arm moves')
    hand = execute(client, {'panda_finger_joint1': 0.0})
    assert hand.status == Status.CONTROL_FAILED
    assert 'another motion, or the servo, moves joint' in hand.message
    hand = execute(client, {'panda_finger_joint1': 0.0}, avoid_collisions=False)
    assert hand.status == Status.SUCCESS and not arm.done()
    assert client.wait(arm).status == Status.SUCCESS


@pytest.mark.slow
def test_no_second_end_is_told(client, record, mock, start_node):
    """A stream repeats its end for a while; not when another controller has these joints."""
    mock.set('active', POSITIONS['controllers'])
    start_node(controllers=['arm_position_controller', 'simulator'], **{
        'arm_position_controller.kind': 'position', 'arm_position_controller.group': 'arm',
        'simulator.kind': 'joint_state'}, **FAST)
    at_home(client)
    record.commands.clear()
    assert execute(client, {'panda_joint1': 0.1}).status == Status.SUCCESS
    both = execute_later(client, {'panda_joint1': 0.9, 'panda_finger_joint1': 0.01})
    eventually(lambda: record.at()[0] > 0.2, 'the other controller moves the arm')
    count = len(record.commands)
    assert client.wait(both, 60).status == Status.SUCCESS
    assert len(record.commands) == count
