"""Replies of ~/compute_ik to valid and malformed requests."""

import math
import threading

from builtin_interfaces.msg import Duration
from judge import pose_error
from moveit_msgs.msg import RobotState
from node_harness import matrix, reachable, robot_state, stamped, unreachable, values
import numpy as np
import pytest
from std_msgs.msg import Header

from ros2_ik.msg import Solution, Status

TIP = 'panda_hand_tcp'
ARM = [f'panda_joint{i}' for i in range(1, 8)]


def errors(fk, joints, target):
    """Return the position and orientation error of the tip [m, rad]."""
    return pose_error(fk.transform(joints, TIP, 'panda_link0'), matrix(target.pose))


@pytest.mark.parametrize('number', range(3))
def test_single_target_is_solved_with_default_fields(client, panda, panda_fk, number):
    target = reachable(panda, TIP, number)
    response = client.ik(targets=[target])
    assert response.status == Status.SUCCESS, response.message
    state = response.solution.joint_state
    assert list(state.name) == ARM
    # as in MoveIt's answers, the stamp is 0
    assert state.header == Header(frame_id='panda_link0')
    position, orientation = errors(panda_fk, values(response.solution), target)
    assert position < 1.1e-5 and orientation < 1.1e-4
    assert response.position_errors[0] <= 1e-5 and response.orientation_errors[0] <= 1e-4
    assert response.solver == 'lm' and response.iterations > 0 and response.seconds > 0
    assert not response.best_attempt.joint_state.name and not response.alternatives


def test_failure_returns_the_best_attempt(client):
    response = client.ik(targets=[unreachable()], timeout=Duration(nanosec=50_000_000))
    assert response.status == Status.NO_IK_SOLUTION
    assert 'no solution' in response.message
    assert not response.solution.joint_state.name
    assert list(response.best_attempt.joint_state.name) == ARM
    assert response.position_errors[0] > 1.0
    assert response.seconds > 0.049


def test_search_starts_at_the_seed_and_reports_values_outside_the_limits(client, panda):
    target = reachable(panda, TIP, 5)
    q = values(client.ik(targets=[target]).solution)
    near = {name: q[name] + 1e-3 for name in ARM}
    response = client.ik(targets=[target], seed=robot_state(near), allow_restarts=False)
    assert response.status == Status.SUCCESS and response.restarts == 0
    assert max(abs(values(response.solution)[name] - q[name]) for name in ARM) < 0.1
    response = client.ik(targets=[target], seed=robot_state({'panda_joint4': 3.0}))
    assert response.status == Status.SUCCESS
    assert "'panda_joint4'" in response.message and 'limits' in response.message


def test_group_and_tip_of_a_request_select_joints_and_link(client, panda):
    target = reachable(panda, 'panda_link7', 2)
    response = client.ik(group='arm', tips=['panda_link7'], targets=[target])
    assert response.status == Status.SUCCESS and list(response.solution.joint_state.name) == ARM
    response = client.ik(group='arm_and_hand', tips=['/panda_link7'], targets=[target])
    assert list(response.solution.joint_state.name) == [*ARM, 'panda_finger_joint1']


def test_target_in_a_moving_link_frame_is_evaluated_at_the_start(client, panda, panda_fk):
    """The default, as with TF; follow_frames lets the frame move."""
    start = {name: 0.3 * i - 1 for i, name in enumerate(ARM)} | {'panda_joint4': -1.5,
                                                                 'panda_joint6': 1.5}
    forward = np.eye(4)
    forward[2, 3] = 0.02
    target = stamped(forward, TIP)                    # 2 cm along the approach axis of the tip
    response = client.ik(targets=[target], seed=robot_state(start))
    assert response.status == Status.SUCCESS, response.message
    before = panda_fk.transform(start, TIP, 'panda_link0')
    after = panda_fk.transform(values(response.solution), TIP, 'panda_link0')
    assert np.allclose(np.linalg.inv(before) @ after, forward, atol=2e-4)


def test_alternative_solutions_are_distinct_and_reach_the_target(client, panda, panda_fk):
    target = reachable(panda, TIP, 8)
    response = client.ik(targets=[target], solutions=4)
    assert response.status == Status.SUCCESS and len(response.alternatives) == 3
    every = [values(state) for state in [response.solution, *response.alternatives]]
    for joints in every:
        assert errors(panda_fk, joints, target)[0] < 1.1e-5
    for i, joints in enumerate(every):
        assert all(max(abs(joints[n] - other[n]) for n in ARM) > 1e-3 for other in every[:i])


def test_solution_is_published(client, panda):
    received, messages = threading.Event(), []

    def receive(message):
        messages.append(message)
        received.set()
    subscription = client.node.create_subscription(Solution, 'ros2_ik/solution', receive, 10)
    target = reachable(panda, TIP, 2)
    while not received.is_set():   # until discovery
        response = client.ik(targets=[target])
        received.wait(0.1)
    message = messages[-1]
    client.node.destroy_subscription(subscription)
    assert message.state.joint_state.position == response.solution.joint_state.position
    assert message.group == 'arm' and list(message.tips) == [TIP]
    assert message.status == Status.SUCCESS and message.header.frame_id == 'panda_link0'


# -- malformed requests ---------------------------------------------------------------------------

def target(**change):
    """Return a valid target with changes such as position_x=1.0 or frame='base'."""
    message = stamped(np.eye(4), change.pop('frame', ''))
    for name, value in change.items():
        part, axis = name.split('_')
        setattr(getattr(message.pose, part), axis, value)
    return message


def state_of(names, positions):
    """Return a RobotState whose names and positions may differ in length."""
    state = RobotState()
    state.joint_state.name, state.joint_state.position = names, positions
    return state


NAN = math.nan
GOAL, LINK = Status.INVALID_GOAL_CONSTRAINTS, Status.INVALID_LINK_NAME
STATE = Status.INVALID_ROBOT_STATE
MALFORMED = [     # fields beside a valid target, status, part of the message
    ({'targets': []}, GOAL, 'there is no target'),
    ({'targets': [target(position_x=NAN)]}, GOAL, 'not finite'),
    ({'targets': [target(frame='panda_link')]}, Status.FRAME_TRANSFORM_FAILURE,
     "did you mean 'panda_link"),
    ({'tips': ['panda_hand_tpc']}, LINK, "did you mean 'panda_hand_tcp'"),
    ({'tips': [TIP, 'panda_link7']}, LINK, '2 tips but 1 target;'),
    ({'targets': [target()] * 101}, GOAL, 'at most 100'),
    ({'weights': [1.0]}, GOAL, '1 weight for 1 target;'),
    ({'group': 'amr'}, Status.INVALID_GROUP_NAME, "did you mean 'arm'"),
    ({'timeout': Duration(sec=2**31 - 1)}, GOAL, 'max_timeout allows 10 s'),
    ({'solver': 'kdl'}, GOAL, 'lm'),
    ({'solutions': 2**32 - 1}, GOAL, 'max_solutions allows 64'),
    ({'seed': robot_state({'panda_joint1': NAN})}, STATE, "joint 'panda_joint1' is at nan"),
    ({'seed': state_of(['panda_joint1'] * 2, [0.0, 1.0])}, STATE, 'named twice'),
    ({'seed': state_of(['panda_joint1'], [])}, STATE, '1 name, 0 positions')]


@pytest.mark.parametrize(('fields', 'status', 'words'), MALFORMED,
                         ids=lambda value: str(value)[:40])
def test_malformed_request_is_refused_with_a_one_line_message(client, fields, status, words):
    response = client.ik(**{'targets': [target()], **fields})
    assert response.status == status, response.message
    assert words in response.message and '\n' not in response.message
    assert not response.solution.joint_state.name
