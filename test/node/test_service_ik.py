"""What ~/compute_ik answers to good questions, and to bad ones: a status and a reason."""

import math
import threading

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Transform
from moveit_msgs.msg import RobotState
from node_harness import matrix, reachable, seed, stamped, unreachable, values
import numpy as np
import pytest

from ros2_ik.core import Configuration
from ros2_ik.msg import Solution, Status

TIP = 'panda_hand_tcp'
ARM = [f'panda_joint{i}' for i in range(1, 8)]
pytestmark = pytest.mark.usefixtures('flooded')


def errors(judge, joints, target, tip=TIP, frame='panda_link0'):
    """How far the judge sees a tip from its target [m, rad]."""
    T, wanted = judge.transform(joints, tip, frame), matrix(target.pose)
    turn = np.trace(wanted[:3, :3].T @ T[:3, :3])
    return (np.linalg.norm(T[:3, 3] - wanted[:3, 3]),
            np.arccos(np.clip((turn - 1) / 2, -1, 1)))


@pytest.mark.parametrize('number', range(3))
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


def test_seed_may_be_partial_and_leads(client, panda):
    target = reachable(panda, TIP, 5)
    q = values(client.ik(targets=[target]).solution)
    near = {name: q[name] + 1e-3 for name in ARM}
    response = client.ik(targets=[target], seed=seed(near), allow_restarts=False)
    assert response.status == Status.SUCCESS and response.restarts == 0
    assert max(abs(values(response.solution)[name] - q[name]) for name in ARM) < 0.1
    response = client.ik(targets=[target], seed=seed({'panda_joint4': 3.0}))
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


def test_timeout_of_a_nanosecond(client):
    response = client.ik(targets=[unreachable()], timeout=Duration(nanosec=1))
    assert response.status in (Status.NO_IK_SOLUTION, Status.TIMED_OUT)
    assert response.seconds < 1


def test_target_at_a_singularity(client, panda):
    """The arm stretched straight up: the Jacobian has lost a rank."""
    stretched = Configuration(panda, {'panda_joint4': -0.0698, 'panda_joint6': 1.87})
    response = client.ik(targets=[stamped(stretched.transform(TIP))])
    assert response.status == Status.SUCCESS, response.message


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


# -- bad questions ---------------------------------------------------------------------------

def target(**change):
    """Give a good target with some numbers changed, or one in another frame."""
    message = stamped(np.eye(4), change.pop('frame', ''))
    for name, value in change.items():
        part, axis = name.split('_')
        setattr(getattr(message.pose, part), axis, value)
    return message


def lengths(names, positions):
    state = RobotState()
    state.joint_state.name, state.joint_state.position = names, positions
    return state


def multi(names, transforms):
    state = RobotState()
    state.multi_dof_joint_state.joint_names = names
    state.multi_dof_joint_state.transforms = transforms
    return state


NAN, INF = math.nan, math.inf
GOAL, LINK = Status.INVALID_GOAL_CONSTRAINTS, Status.INVALID_LINK_NAME
STATE = Status.INVALID_ROBOT_STATE
BAD = {
    'no target': ({'targets': []}, GOAL, 'there is no target'),
    'NaN position': ({'targets': [target(position_x=NAN)]}, GOAL, 'not finite'),
    'huge position': ({'targets': [target(position_x=1e300)]}, GOAL, 'further away'),
    'NaN quaternion': ({'targets': [target(orientation_w=NAN)]}, GOAL, 'not finite'),
    'long quaternion': ({'targets': [target(orientation_w=2.0)]}, GOAL, 'has norm 2'),
    'unknown frame': ({'targets': [target(frame='panda_link')]},
                      Status.FRAME_TRANSFORM_FAILURE, "did you mean 'panda_link"),
    'unknown tip': ({'targets': [target()], 'tips': ['panda_hand_tpc']}, LINK,
                    "did you mean 'panda_hand_tcp'"),
    'tip of another robot': ({'targets': [target()], 'tips': ['tool0']}, LINK,
                             "frames); tips of robot 'panda': panda_"),
    'fixed tip': ({'targets': [target()], 'tips': ['panda_link0']}, LINK,
                  "'panda_link0'"),
    'more tips than targets': ({'targets': [target()], 'tips': [TIP, 'panda_link7']}, LINK,
                               '2 tips but 1 targets'),
    'too many targets': ({'targets': [target()] * 101}, GOAL, 'at most 100'),
    'unknown group': ({'targets': [target()], 'group': 'amr'}, Status.INVALID_GROUP_NAME,
                      "did you mean 'arm'"),
    'tip that the group does not move': ({'targets': [target()], 'group': 'hand', 'tips': [TIP]},
                                         LINK, "no active joint of group 'hand' moves"),
    'five weights': ({'targets': [target()], 'weights': [1.0] * 5}, GOAL, '5 weights'),
    'negative weight': ({'targets': [target()], 'weights': [1.0] * 5 + [-1.0]}, GOAL, 'negative'),
    'negative tolerance': ({'targets': [target()], 'position_tolerance': -1e-3}, GOAL,
                           'position_tolerance'),
    'negative timeout': ({'targets': [target()], 'timeout': Duration(sec=-1)}, GOAL, 'negative'),
    'huge timeout': ({'targets': [target()], 'timeout': Duration(sec=2**31 - 1)}, GOAL,
                     'max_timeout allows 10 s'),
    'unknown solver': ({'targets': [target()], 'solver': 'kdl'}, GOAL, 'lm'),
    'too many solutions': ({'targets': [target()], 'solutions': 2**32 - 1}, GOAL,
                           'max_solutions allows 64'),
    'NaN seed': ({'targets': [target()], 'seed': seed({'panda_joint1': NAN})}, STATE,
                 "joint 'panda_joint1' is at nan"),
    'unknown joint': ({'targets': [target()], 'seed': seed({'panda_joint9': 0})}, STATE,
                      "did you mean 'panda_joint"),
    'joint twice': ({'targets': [target()], 'seed': lengths(['panda_joint1'] * 2, [0.0, 1.0])},
                    STATE, 'named twice'),
    'names without positions': ({'targets': [target()], 'seed': lengths(['panda_joint1'], [])},
                                STATE, '1 names, 0 positions'),
    'pose of a joint of one value': ({'targets': [target()],
                                      'seed': multi(['panda_joint1'], [Transform()])},
                                     STATE, 'belongs into joint_state'),
}


@pytest.mark.parametrize('name', BAD)
def test_bad_question(client, panda_node, name):
    fields, status, words = BAD[name]
    response = client.ik(**fields)
    assert response.status == status, response.message
    assert words in response.message and '\n' not in response.message
    assert not response.solution.joint_state.name
    assert panda_node.process.poll() is None


def test_name_of_a_megabyte(client, panda_node):
    response = client.ik(targets=[target()], tips=['x' * 1_000_000])
    assert response.status == LINK
    assert len(response.message) < 1_100_000


def test_seed_of_a_hundred_thousand_joints(client, panda_node):
    names = [f'joint{i}' for i in range(100_000)]
    response = client.ik(targets=[target()], seed=lengths(names, [0.0] * len(names)))
    assert response.status == STATE and "unknown joint 'joint0'" in response.message


def test_good_question_after_all_these(client, panda, panda_node):
    assert client.ik(targets=[reachable(panda, TIP)]).status == Status.SUCCESS
    assert 'Traceback' not in panda_node.text
