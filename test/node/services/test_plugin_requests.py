"""
Requests of MoveIt's kinematics plugin (moveit_plugin/), sent by a Python client.

The plugin itself is tested where MoveIt is installed.
"""

from builtin_interfaces.msg import Duration
from moveit_msgs.msg import MoveItErrorCodes as Code
from node_harness import matrix, robot_state, stamped, unreachable, values
import numpy as np
import pytest

from ros2_ik.core import Configuration
from ros2_ik.msg import Status
from ros2_ik.srv import ComputeIK

TIP, ROOT = 'panda_link7', 'panda_link0'   # the last link of group arm, and its base
ARM = [f'panda_joint{i}' for i in range(1, 8)]
HOME = dict(zip(ARM, (0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785), strict=True))
NEAR_HOME = {name: value + 0.1 for name, value in HOME.items()}


@pytest.fixture
def request_ik(client, panda):
    """Return a function that requests a pose near home with the fields that the plugin sets."""
    target = stamped(Configuration(panda, NEAR_HOME).transform(TIP), ROOT)
    state = robot_state({**HOME, 'panda_finger_joint1': 0.02, 'panda_finger_joint2': 0.02})

    def request_ik(target=target, seconds=2.0, **fields):
        timeout = Duration(sec=int(seconds), nanosec=int(seconds % 1 * 1e9))
        return client.call(ComputeIK, 'ros2_ik/compute_ik', ComputeIK.Request(
            moving_joints=ARM, tips=[TIP], targets=[target], seed=state, timeout=timeout,
            **fields))
    return request_ik


def test_consistency_limits_hold(request_ik):
    bounded = {'joint_change_names': ARM[1:], 'joint_changes': [0.25] * 6}
    answer = request_ik(**bounded, locked_joints=ARM[:1])
    assert answer.status == Status.SUCCESS, answer.message
    found = values(answer.solution)
    assert max(abs(found[name] - HOME[name]) for name in found) <= 0.25
    assert ARM[0] not in found      # locked
    answer = request_ik(joint_change_names=ARM, joint_changes=[1e-3] * 7, seconds=0.2)
    assert answer.status == Code.NO_IK_SOLUTION


def test_approximate_solution_is_the_best_attempt_from_the_seed(request_ik, panda_fk):
    far = unreachable()
    answer = request_ik(far, approximate=[1e3, 10.0], allow_restarts=False)
    assert answer.status == Status.APPROXIMATE and not answer.solution.joint_state.name
    reached = panda_fk.transform(values(answer.best_attempt), TIP, ROOT)
    before = panda_fk.transform(HOME, TIP, ROOT)
    goal = matrix(far.pose)[:3, 3]
    assert np.linalg.norm(reached[:3, 3] - goal) < np.linalg.norm(before[:3, 3] - goal)
