"""What ~/compute_ik answers to good questions."""

import threading

from builtin_interfaces.msg import Duration
from node_harness import matrix, reachable, seed, stamped, unreachable, values
import numpy as np
import pytest

from ros2_ik.core import Configuration
from ros2_ik.msg import Solution, Status

TIP = 'panda_hand_tcp'
ARM = [f'panda_joint{i}' for i in range(1, 8)]
pytestmark = pytest.mark.usefixtures('panda_node')


def errors(judge, joints, target, tip=TIP, frame='panda_link0'):
    """How far the judge sees a tip from its target [m, rad]."""
    T, wanted = judge.transform(joints, tip, frame), matrix(target.pose)
    turn = np.trace(wanted[:3, :3].T @ T[:3, :3])
    return (np.linalg.norm(T[:3, 3] - wanted[:3, 3]),
            np.arccos(np.clip((turn - 1) / 2, -1, 1)))


@pytest.mark.parametrize('number', range(10))
def test_one_target_and_nothing_else(client, panda, panda_judge, number):
    target = reachable(panda, TIP, number)
    response = client.ik(targets=[target])
    assert response.status == Status.SUCCESS, response.message
    state = response.solution.joint_state
    assert list(state.name) == ARM
    assert state.header.frame_id == 'panda_link0' and state.header.stamp.sec > 0
    position, orientation = errors(panda_judge, values(response.solution), target)
    assert position < 1.1e-5 and orientation < 1.1e-4
    assert response.position_errors[0] <= 1e-5 and response.orientation_errors[0] <= 1e-4
    assert response.solver == 'lm' and response.iterations > 0 and response.seconds > 0
    assert not response.best_attempt.joint_state.name and not response.alternatives


def test_failure_has_the_best_attempt(client):
    response = client.ik(targets=[unreachable()], timeout=Duration(nanosec=50_000_000))
    assert response.status == Status.NO_IK_SOLUTION
    assert 'no solution' in response.message
    assert not response.solution.joint_state.name
    assert list(response.best_attempt.joint_state.name) == ARM
    assert response.position_errors[0] > 1.0
    assert response.seconds > 0.049


def test_same_question_same_answer(client, panda):
    target = reachable(panda, TIP, 3)
    answers = [list(client.ik(targets=[target]).solution.joint_state.position) for _ in range(6)]
    assert all(answer == answers[0] for answer in answers)


def test_seed_may_be_partial_and_leads(client, panda):
    target = reachable(panda, TIP, 5)
    q = values(client.ik(targets=[target]).solution)
    near = {name: q[name] + 1e-3 for name in ARM}
    response = client.ik(targets=[target], seed=seed(near), allow_restarts=False)
    assert response.status == Status.SUCCESS and response.restarts == 0
    assert max(abs(values(response.solution)[name] - q[name]) for name in ARM) < 0.1
    response = client.ik(targets=[target], seed=seed({'panda_joint4': -1.0}))
    assert response.status == Status.SUCCESS


def test_seed_outside_the_limits(client, panda):
    response = client.ik(targets=[reachable(panda, TIP, 5)], seed=seed({'panda_joint4': 3.0}))
    assert response.status == Status.SUCCESS
    assert "'panda_joint4'" in response.message and 'limits' in response.message


def test_group_and_tip_by_name(client, panda):
    target = reachable(panda, 'panda_link7', 2)
    response = client.ik(group='arm', tips=['panda_link7'], targets=[target])
    assert response.status == Status.SUCCESS and list(response.solution.joint_state.name) == ARM
    response = client.ik(group='arm_and_hand', tips=['/panda_link7'], targets=[target])
    assert list(response.solution.joint_state.name) == [*ARM, 'panda_finger_joint1']


def test_target_in_a_moving_link_frame(client, panda, panda_judge):
    """By default the frame is taken where it stands at the start, as TF would."""
    start = {name: 0.3 * i - 1 for i, name in enumerate(ARM)} | {'panda_joint4': -1.5,
                                                                 'panda_joint6': 1.5}
    forward = np.eye(4)
    forward[2, 3] = 0.02
    target = stamped(forward, TIP)                    # 2 cm forward from where the tip stands
    response = client.ik(targets=[target], seed=seed(start))
    assert response.status == Status.SUCCESS, response.message
    before = panda_judge.transform(start, TIP, 'panda_link0')
    after = panda_judge.transform(values(response.solution), TIP, 'panda_link0')
    assert np.allclose(np.linalg.inv(before) @ after, forward, atol=2e-4)


def test_target_that_follows_its_frame(client, panda, panda_judge):
    target = reachable(panda, TIP, 4, 'panda_link3')
    response = client.ik(targets=[target], follow_frames=True)
    assert response.status == Status.SUCCESS, response.message
    position, _ = errors(panda_judge, values(response.solution), target, frame='panda_link3')
    assert position < 2e-5


def test_weights_free_an_axis(client, panda, panda_judge):
    """A target turned by 2 rad about a freed axis is reached, and not counted."""
    target = reachable(panda, TIP, 6)
    response = client.ik(targets=[target], weights=[1.0, 1, 1, 0, 0, 0])
    assert response.status == Status.SUCCESS and response.orientation_errors[0] == 0
    position, _ = errors(panda_judge, values(response.solution), target)
    assert position < 1.1e-5


def test_tolerances(client, panda):
    target = reachable(panda, TIP, 7)
    response = client.ik(targets=[target], position_tolerance=0.05, orientation_tolerance=0.5)
    assert response.status == Status.SUCCESS and response.position_errors[0] <= 0.05


def test_several_solutions(client, panda, panda_judge):
    target = reachable(panda, TIP, 8)
    response = client.ik(targets=[target], solutions=4)
    assert response.status == Status.SUCCESS and len(response.alternatives) == 3
    every = [values(state) for state in [response.solution, *response.alternatives]]
    for joints in every:
        assert errors(panda_judge, joints, target)[0] < 1.1e-5
    for i, joints in enumerate(every):
        assert all(max(abs(joints[n] - other[n]) for n in ARM) > 1e-3 for other in every[:i])


def test_nearest(client, panda):
    target = reachable(panda, TIP, 9)
    response = client.ik(targets=[target], select='nearest', timeout=Duration(nanosec=400_000_000))
    assert response.status == Status.SUCCESS and 'nearest' in response.message
    assert response.seconds >= 0.4


def test_timeout_of_nanoseconds(client):
    """The field holds up to 4.29e9 of them."""
    response = client.ik(targets=[unreachable()], timeout=Duration(nanosec=1_200_000_000))
    assert response.status == Status.NO_IK_SOLUTION and 1.1 < response.seconds < 3
    response = client.ik(targets=[unreachable()], timeout=Duration(nanosec=1))
    assert response.status in (Status.NO_IK_SOLUTION, Status.TIMED_OUT)
    assert response.seconds < 1


def test_clik(client, panda):
    response = client.ik(targets=[reachable(panda, TIP, 1)], solver='clik')
    assert response.status == Status.SUCCESS and response.solver == 'clik'


def test_target_at_a_singularity(client, panda):
    """The arm stretched straight up: the Jacobian has lost a rank."""
    stretched = Configuration(panda, {'panda_joint4': -0.0698, 'panda_joint6': 1.87})
    response = client.ik(targets=[stamped(stretched.transform(TIP))])
    assert response.status == Status.SUCCESS, response.message


def test_quaternion_nearly_of_norm_one(client, panda):
    target = reachable(panda, TIP, 1)
    for axis in 'xyzw':
        setattr(target.pose.orientation, axis, getattr(target.pose.orientation, axis) * 1.005)
    assert client.ik(targets=[target]).status == Status.SUCCESS


def test_solution_topic(client, panda):
    came, messages = threading.Event(), []

    def take(message):
        messages.append(message)
        came.set()

    subscription = client.node.create_subscription(Solution, 'ros2_ik/solution', take, 10)
    target = reachable(panda, TIP, 2)
    while not came.is_set():   # until the two have found each other
        response = client.ik(targets=[target])
        came.wait(0.1)
    message = messages[-1]
    client.node.destroy_subscription(subscription)
    assert message.state.joint_state.position == response.solution.joint_state.position
    assert message.group == 'arm' and list(message.tips) == [TIP]
    assert message.status == Status.SUCCESS and message.header.frame_id == 'panda_link0'
