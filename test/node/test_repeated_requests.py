"""Requests that differ in poses and seed alone, for which the node keeps what it worked out."""

from diagnostic_msgs.msg import KeyValue
from geometry_msgs.msg import PoseStamped
from moveit_msgs.msg import LinkPadding
from node_harness import Judge, matrix, reachable, seed, stamped, values
import numpy as np
import pytest
from scene_harness import applied, attached, box, change, diff, HOME, pose, state_holding
from std_msgs.msg import String

from ros2_ik.messages.functions import function_message as function
from ros2_ik.msg import Bounds, Status

TIP = 'panda_hand_tcp'
pytestmark = pytest.mark.usefixtures('empty_scene')


def distance(judge, response, target, tip=TIP, frame='panda_link0'):
    """How far the judge sees the tip from its target [m, mixed with the turn]."""
    T = judge.transform(values(response.solution), tip, frame)
    return np.abs(T - matrix(target.pose)).max()


def at(panda, number, **fields):
    return {'targets': [reachable(panda, TIP, number)], 'seed': seed(HOME), **fields}


def near(panda, number, **fields):
    """Give a question that one descent from its seed answers."""
    away = np.random.default_rng(number).uniform(-0.15, 0.15, len(HOME))
    joints = {name: HOME[name] + away[i] * name.startswith('panda_joint')
              for i, name in enumerate(HOME)}
    tip = fields.get('tips', [TIP])[0]
    target = stamped(Judge(panda).transform(joints, tip, 'panda_link0'))
    return {'targets': [target], 'seed': seed(HOME), **fields}


LEVEL = function('angle_between_vectors', frame=TIP, relative_to='panda_link0',
                 vector=[0.0, 0.0, 1.0], other_vector=[0.0, 0.0, -1.0],
                 bounds=Bounds(upper=[1.0]))


@pytest.mark.parametrize('fields', [
    {}, {'weights': [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]}, {'tips': ['panda_hand']},
    {'group': 'arm', 'select': 'nearest', 'max_iterations': 300}, {'max_joint_change': 1.5},
    {'locked_joints': ['panda_joint3'], 'weights': [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]},
    {'link_padding': [LinkPadding(link_name='panda_hand', padding=0.01)]},
    {'avoid_collisions': False}, {'constraints': [LEVEL]},
    {'solver_options': [KeyValue(key='attempt_iterations', value='50')], 'solver': 'lm'},
], ids=lambda fields: ' '.join(fields) or 'nothing')
def test_as_if_asked_alone(client, panda, fields):
    """After one like it a request is answered as after one of another kind."""
    fields = {'allow_restarts': False, **fields}   # these have time to differ
    for number in range(4):
        asked = near(panda, number, **fields)
        client.ik(**near(panda, 9, **fields))
        again = client.ik(**asked)
        client.ik(**near(panda, 9, position_tolerance=1.1e-5))
        alone = client.ik(**asked)
        assert again.status == alone.status == Status.SUCCESS, (again.message, alone.message)
        assert again.not_checked == alone.not_checked
        one, other = again.solution.joint_state, alone.solution.joint_state
        assert one.name == other.name
        assert np.allclose(one.position, other.position, atol=1e-6)


def test_each_has_its_own_pose(client, panda, panda_judge):
    for number in range(10):
        asked = at(panda, number)
        assert distance(panda_judge, client.ik(**asked), asked['targets'][0]) < 2e-4


def test_each_has_its_own_seed(client, panda):
    """Asked for where the seed stands, it is the answer."""
    for angle in (0.0, 0.4, -0.8):
        start = {**HOME, 'panda_joint1': angle}
        target = Judge(panda).transform(start, TIP, 'panda_link0')
        response = client.ik(targets=[stamped(target)], seed=seed(start))
        assert abs(values(response.solution)['panda_joint1'] - angle) < 1e-3


def test_what_is_wrong_is_still_told(client, panda):
    good = at(panda, 1)
    assert client.ik(**good).status == Status.SUCCESS
    nowhere = PoseStamped(pose=pose(quat=(0, 0, 0, float('nan'))))
    for wrong, status, text in (
            ({'targets': [nowhere]}, Status.INVALID_GOAL_CONSTRAINTS, 'finite'),
            ({'seed': seed({'elbow': 0.0})}, Status.INVALID_ROBOT_STATE, "'elbow'"),
            ({'seed': seed({'panda_joint1': float('nan')})}, Status.INVALID_ROBOT_STATE, 'nan')):
        response = client.ik(**{**good, **wrong})
        assert response.status == status and text in response.message
        assert client.ik(**good).status == Status.SUCCESS


def test_parameters_count_at_once(client, panda, panda_judge):
    asked = {'targets': [reachable(panda, TIP, 1)]}
    assert distance(panda_judge, client.ik(**asked), asked['targets'][0]) < 2e-4
    assert client.set('default_tip', 'panda_link8').successful
    try:
        response = client.ik(**asked)
        assert response.status != Status.SUCCESS or distance(
            panda_judge, response, asked['targets'][0], 'panda_link8') < 2e-4
        assert 'panda_link8 is the default tip' in response.message
    finally:
        assert client.set('default_tip', TIP).successful


def test_scene_counts_at_once(client, panda_judge):
    """What stands at the target, is held, or comes with the seed, is seen."""
    target = stamped(np.array([[1.0, 0, 0, 0.5], [0, -1, 0, 0], [0, 0, -1, 0.4], [0, 0, 0, 1]]))
    asked = {'targets': [target], 'seed': seed(HOME)}
    for _ in range(2):
        assert client.ik(**asked).status == Status.SUCCESS
    applied(client, diff(box('wall', 0.3, at=pose(0.5, 0, 0.4))))
    assert client.ik(**asked).status == Status.GOAL_IN_COLLISION
    applied(client, diff(change('wall', box('wall').REMOVE)))
    assert client.ik(**asked).status == Status.SUCCESS
    held = attached(box('held', 0.9, frame='panda_hand'), touch=['panda_hand'])
    assert client.ik(targets=[target], seed=state_holding(held)).status != Status.SUCCESS
    assert client.ik(**asked).status == Status.SUCCESS


def test_what_is_held_counts_by_its_own_seed(client, panda_judge):
    """A thing that is held where the seed has the hand needs no joint values of the last seed."""
    target = stamped(np.array([[1.0, 0, 0, 0.5], [0, -1, 0, 0], [0, 0, -1, 0.4], [0, 0, 0, 1]]))
    x, y, z = panda_judge.transform(HOME, 'panda_hand', 'panda_link0')[:3, 3]
    held = attached(box('held', 0.04, frame='panda_link0', at=pose(x, y, z - 0.12)),
                    touch=['panda_hand', 'panda_leftfinger', 'panda_rightfinger'])
    for ask in (client.ik, lambda **fields: client.goal(**fields).result()[1]):
        assert ask(targets=[target]).status == Status.SUCCESS
        response = ask(targets=[target], seed=state_holding(held))
        assert response.status == Status.SUCCESS, response.message


def test_joint_states_count_at_once(client, panda):
    """A target in a frame that moves stands where that is now."""
    offset = np.eye(4)
    offset[2, 3] = 0.05
    for angle in (0.3, -0.5, 0.9):
        start = {**HOME, 'panda_joint1': angle}
        response = client.ik(targets=[stamped(offset, 'panda_link1')], tips=['panda_link2'],
                             weights=[1.0, 1.0, 1.0, 0.0, 0.0, 0.0], follow_frames=False,
                             seed=seed(start), position_tolerance=1.0, orientation_tolerance=9.0)
        assert response.status == Status.SUCCESS, response.message
        assert abs(values(response.solution)['panda_joint1'] - angle) < 1e-6


def test_another_robot_counts_at_once(client, panda):
    asked = at(panda, 2)
    assert client.ik(**asked).status == Status.SUCCESS
    client.publish('robot_description', String(data=panda.urdf.replace(
        'link name="panda_hand_tcp"', 'link name="tool"').replace(
        'link="panda_hand_tcp"', 'link="tool"')), latched=True)
    try:
        while (response := client.ik(**asked)).status == Status.SUCCESS:
            continue
        assert 'panda_hand_tcp' in response.message
    finally:
        client.describe(panda)
    assert client.ik(**asked).status == Status.SUCCESS
