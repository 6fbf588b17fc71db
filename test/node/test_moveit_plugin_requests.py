"""
The requests of MoveIt's kinematics plugin (moveit_plugin/), sent by a Python client.

The plugin itself is tested where MoveIt is installed.
"""

import signal
import threading
import time

from builtin_interfaces.msg import Duration
from moveit_msgs.msg import MoveItErrorCodes as Code
from node_harness import eventually, matrix, seed, stamped, unreachable, values
import numpy as np
import pytest
from rclpy.qos import QoSProfile

from ros2_ik.core import Configuration
from ros2_ik.msg import Status
from ros2_ik.srv import ComputeIK

TIP, ROOT = 'panda_link7', 'panda_link0'   # the last link of group arm, and its base
ARM = [f'panda_joint{i}' for i in range(1, 8)]
HOME = dict(zip(ARM, (0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785), strict=True))
NEAR = {name: value + 0.1 for name, value in HOME.items()}
MARGIN = 0.2         # the plugin's answer_margin [s]
RESEND_PERIOD = 0.1  # of the plugin until the first answer [s]


def request(panda, targets=None, tips=(TIP,), timeout=2.0, **fields):
    """Return what the plugin asks for poses of a configuration near home."""
    at = Configuration(panda, NEAR)
    targets = targets or [stamped(at.transform(tip), ROOT) for tip in tips]
    state = seed({**HOME, 'panda_finger_joint1': 0.02, 'panda_finger_joint2': 0.02})
    return ComputeIK.Request(**{
        'moving_joints': ARM, 'tips': list(tips), 'targets': targets, 'seed': state,
        'timeout': Duration(sec=int(timeout), nanosec=int(timeout % 1 * 1e9)),
        'avoid_collisions': False, **fields})


@pytest.fixture
def ask(client, panda, panda_node):
    def ask(**fields):
        return client.call(ComputeIK, 'ros2_ik/compute_ik', request(panda, **fields))
    return ask


def largest_change(state):
    return max(abs(value - HOME[name]) for name, value in values(state).items())


@pytest.mark.parametrize('tips', [(TIP,), ('panda_link4', TIP)])
def test_tips_are_reached_by_the_joints_of_the_group(ask, panda, panda_judge, tips):
    answer = ask(tips=tips)
    assert answer.status == Status.SUCCESS, answer.message
    assert set(values(answer.solution)) <= set(ARM)
    for tip in tips:
        np.testing.assert_allclose(panda_judge.transform(values(answer.solution), tip, ROOT),
                                   Configuration(panda, NEAR).transform(tip), atol=1e-4)


def test_consistency_limits_hold(ask):
    bounded = {'joint_change_names': ARM[1:], 'joint_changes': [0.25] * 6}
    answer = ask(**bounded, locked_joints=ARM[:1])
    assert answer.status == Status.SUCCESS, answer.message
    assert largest_change(answer.solution) <= 0.25
    assert ARM[0] not in values(answer.solution)   # it stays where the seed has it
    answer = ask(joint_change_names=ARM, joint_changes=[1e-3] * 7, timeout=0.2)
    assert answer.status == Code.NO_IK_SOLUTION


def test_refused_solutions_are_followed_by_others(ask, panda, panda_judge):
    found = []
    for random_state in (0, 1):
        answer = ask(solutions=8, random_state=random_state)
        found += [values(state) for state in (answer.solution, *answer.alternatives)]
    assert len({tuple(np.round(list(each.values()), 3)) for each in found}) >= 8
    for each in found:
        np.testing.assert_allclose(panda_judge.transform(each, TIP, ROOT),
                                   Configuration(panda, NEAR).transform(TIP), atol=1e-4)


def test_an_approximate_solution_is_the_best_attempt_from_the_seed(ask, panda_judge):
    far = unreachable()
    answer = ask(targets=[far], approximate=[1e3, 10.0], allow_restarts=False)
    assert answer.status == Status.APPROXIMATE and not answer.solution.joint_state.name
    reached = panda_judge.transform(values(answer.best_attempt), TIP, ROOT)
    before = panda_judge.transform(HOME, TIP, ROOT)
    goal = matrix(far.pose)[:3, 3]
    assert np.linalg.norm(reached[:3, 3] - goal) < np.linalg.norm(before[:3, 3] - goal)


@pytest.mark.parametrize('timeout', [0.05, 0.3])
def test_the_answer_comes_within_the_margin(ask, timeout):
    durations = []
    for _ in range(3):
        start = time.monotonic()
        assert ask(targets=[unreachable()], timeout=timeout).status == Code.NO_IK_SOLUTION
        durations.append(time.monotonic() - start)
    assert sorted(durations)[1] < timeout + MARGIN   # one may be held up by a busy machine


def test_four_threads_are_answered_at_once(ask):
    answers = []
    threads = [threading.Thread(target=lambda: answers.extend(ask() for _ in range(5)))
               for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer.status for answer in answers] == [Status.SUCCESS] * 20


def answered_after(client, service, message):
    """Send a request each RESEND_PERIOD until the first answer; return how often it was sent."""
    sent = []

    def answer():
        if time.monotonic() >= start + RESEND_PERIOD * len(sent):
            sent.append(service.call_async(message))
        return any(future.done() for future in sent)
    start = time.monotonic()
    eventually(answer, 'an answer')
    assert next(future for future in sent if future.done()).result().status == Status.SUCCESS
    return len(sent)


def test_a_new_client_is_answered_and_so_is_a_late_node(client, panda, start_node, panda_node):
    """The first requests may get lost; those sent again are answered."""
    def new_client():
        return client.node.create_client(ComputeIK, 'ros2_ik/compute_ik',
                                         qos_profile=QoSProfile(depth=100))
    message = request(panda)
    for _ in range(5):
        service = new_client()
        eventually(service.service_is_ready, 'the service')
        answered_after(client, service, message)
        client.node.destroy_client(service)
    service = new_client()
    assert client.wait(service.call_async(message)).status == Status.SUCCESS
    panda_node.end(signal.SIGKILL)
    lost = service.call_async(message)
    start_node()
    client.describe(panda)
    answered_after(client, service, message)
    assert not lost.done()
