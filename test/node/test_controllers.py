"""Controllers by parameters: none, several, and joints of other drivers."""

from arm_harness import (
    at_home,
    execute,
    execute_later,
    FAST,
    mock_robot,
    TRAJECTORIES,
)
from node_harness import eventually, seed, stamped
import numpy as np
import pytest

from ros2_ik.msg import Status


@pytest.fixture
def mock(client, tmp_path):
    with mock_robot(client, tmp_path) as mock:
        yield mock


@pytest.mark.slow
def test_two_controllers_move_in_step_or_independently(client, record, start_node):
    """One request moves both in step; two requests move one each at the same time."""
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


FINGER = 'panda_finger_joint1'


def test_unpublished_joint_is_taken_from_the_seed(
        client, mock, start_node):
    """For example the joint of a gripper with a driver of its own."""
    mock.set('nan_joint', FINGER)
    start_node(**TRAJECTORIES, **FAST)
    T = np.diag([1.0, -1.0, -1.0, 1.0])
    T[:3, 3] = 0.45, 0.1, 0.45
    question = {'tips': ['panda_hand_tcp'], 'targets': [stamped(T)], 'group': 'arm',
                'execute': True, 'max_joint_change': 3.0}
    eventually(lambda: client.ik(**question).status == Status.ROBOT_STATE_STALE
               and FINGER in client.ik(**question).message, 'a refusal that names the joint')
    answer = client.ik(**question, seed=seed({FINGER: 0.02}))
    assert answer.status == Status.SUCCESS, answer.message
    assert f"no joint_states of joint '{FINGER}': checks use its position" in answer.message
