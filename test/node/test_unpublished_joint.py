"""A joint that joint_states never tell of, such as that of a gripper with a driver of its own."""

from arm_harness import FAST, mock_robot, TRAJECTORIES
from node_harness import eventually, seed, stamped
import numpy as np
import pytest

from ros2_ik.msg import Status

FINGER = 'panda_finger_joint1'


@pytest.fixture(scope='module')
def node(client, domain, start_shared_node, tmp_path_factory):
    with mock_robot(client, tmp_path_factory.mktemp('mock'), nan_joint=FINGER):
        yield start_shared_node(**TRAJECTORIES, **FAST)


def test_motion_beside_a_joint_never_published_takes_its_place_from_the_seed(client, node):
    T = np.diag([1.0, -1.0, -1.0, 1.0])
    T[:3, 3] = 0.45, 0.1, 0.45
    question = {'tips': ['panda_hand_tcp'], 'targets': [stamped(T)], 'group': 'arm',
                'execute': True, 'max_joint_change': 3.0}
    eventually(lambda: client.ik(**question).status == Status.ROBOT_STATE_STALE
               and FINGER in client.ik(**question).message, 'a refusal that names the joint', 30)
    answer = client.ik(**question, seed=seed({FINGER: 0.02}))
    assert answer.status == Status.SUCCESS, answer.message
    assert f"never told of joint '{FINGER}': the seed says" in answer.message
