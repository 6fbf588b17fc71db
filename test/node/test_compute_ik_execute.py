"""compute_ik with `execute`: the arm goes to the solution, and nothing moves unless asked."""

from arm_harness import ARM, execute, FAST, HOME, Recorder, TRAJECTORIES
from builtin_interfaces.msg import Duration
from moveit_msgs.msg import CollisionObject
from node_harness import eventually, seed, stamped, values
import numpy as np
import pytest
from scene_harness import applied, box, change, diff, pose

from ros2_ik.messages.functions import function_message as function
from ros2_ik.msg import Bounds, Status

ROOT, HAND = 'panda_link0', 'panda_hand'


def height(lower, upper):
    return [function('point_to_plane',
        frame=HAND, normal=[0, 0, 1.0], bounds=Bounds(lower=[lower], upper=[upper]))]


NEAR = {'costs': [function('joint_positions',
    names=list(ARM), reference=[HOME[name] for name in ARM], bounds=Bounds(weight=[0.1]))],
    'timeout': Duration(sec=10)}
BIG = {'max_joint_change': 9.0}


@pytest.fixture(scope='module')
def record(client, mock, start_shared_node):
    """Give a record of the arm, with a node that moves it."""
    start_shared_node(**TRAJECTORIES, **FAST)
    record = Recorder(client)
    record.listen()
    eventually(lambda: execute(client, HOME).status == Status.SUCCESS, 'the arm at home', 60.0)
    yield record
    record.close()


def test_nothing_moves_unless_asked(client, record):
    before = record.still()
    response = client.ik(constraints=height(0.3, 0.4), **NEAR)
    assert response.status == Status.SUCCESS and response.motion_seconds == 0
    assert np.abs(record.still() - before).max() < 1e-6


@pytest.mark.parametrize('band', [(0.3, 0.4), (0.6, 0.7)])
def test_goes_to_the_solution(client, record, panda_judge, band):
    response = client.ik(constraints=height(*band), execute=True, **NEAR)
    assert response.status == Status.SUCCESS, response.message
    assert response.motion_seconds > 0 and 'arrived' in response.message
    there = dict(zip(ARM, record.still(), strict=True))
    solution = values(response.solution)
    assert max(abs(there[name] - solution[name]) for name in ARM) < 1e-3
    z = panda_judge.transform(there, HAND, ROOT)[2, 3]
    assert band[0] - 2e-3 <= z <= band[1] + 2e-3


def test_no_solution_no_motion(client, record):
    before = record.still()
    response = client.ik(constraints=height(5.0, 6.0), execute=True,
                         timeout=Duration(nanosec=200_000_000))
    assert response.status not in (Status.SUCCESS, Status.FAILURE), response.message
    assert response.motion_seconds == 0 and np.abs(record.still() - before).max() < 1e-6


def turned(to):
    """Ask for the arm at HOME but for its first joint."""
    reference = [to, *(HOME[name] for name in ARM[1:])]
    return [function('joint_positions',
        names=list(ARM), reference=reference, bounds=Bounds(target=[0.0]))]


def test_a_big_move_must_be_asked_for(client, record, panda_judge):
    """By default a solution with execute moves no joint by more than 1 rad: parameter max_jump."""
    assert execute(client, HOME).status == Status.SUCCESS
    before = record.still()
    target = stamped(panda_judge.transform({**HOME, 'panda_joint1': 2.4}, HAND, ROOT), ROOT)
    arm = {'targets': [target], 'tips': [HAND], 'group': 'arm', 'timeout': Duration(sec=1)}
    less = {'joint_change_names': ['panda_joint1'], 'joint_changes': [0.1],
            'max_joint_change': 0.9}
    for fields, most in (({'max_joint_change': 0.7}, 0.7), (less, 0.1)):
        response = client.ik(execute=True, **arm, **fields)
        assert response.status == Status.NO_IK_SOLUTION, response.message
        assert f'no solution within max_joint_change {most}' in response.message \
            or f'panda_joint1: {most}' in response.message
        assert 'a larger max_joint_change may have one' in response.message
        assert 'parameter max_jump' not in response.message
        there = values(response.best_attempt)
        assert abs(there['panda_joint1'] - before[0]) <= most + 1e-6
    response = client.ik(constraints=turned(1.2), execute=True)
    assert response.status == Status.GOAL_CONSTRAINTS_VIOLATED
    assert "'panda_joint1'" in response.message and 'parameter max_jump' in response.message
    assert response.motion_seconds == 0 and np.abs(record.still() - before).max() < 1e-6
    response = client.ik(**arm)     # without a motion nothing is bounded
    assert response.status == Status.SUCCESS
    assert 'largest joint change ' in response.message
    response = client.ik(execute=True, **arm, **BIG)
    assert response.status == Status.SUCCESS and 'arrived' in response.message, response.message


def test_the_bound_counts_from_where_the_robot_stands_too(client, record):
    assert execute(client, HOME).status == Status.SUCCESS
    before = record.still()
    response = client.ik(constraints=turned(0.9), execute=True, max_joint_change=0.5,
                         seed=seed({'panda_joint1': 0.8}))
    assert response.status == Status.INVALID_GOAL_CONSTRAINTS, response.message
    assert "joint 'panda_joint1' would move by 0.9; max_joint_change allows 0.5" \
        in response.message
    assert np.abs(record.still() - before).max() < 1e-6


def test_max_jump_counts_from_where_the_robot_stands(client, record):
    """Not from a seed elsewhere: what is found there could not be gone to."""
    stands = {**HOME, 'panda_joint1': 1.5}
    assert execute(client, stands).status == Status.SUCCESS
    before = record.still()
    asked = {'execute': True, 'seed': seed({name: HOME[name] for name in ARM}), 'group': 'arm'}
    response = client.ik(constraints=turned(0.3), **asked)
    assert response.status == Status.GOAL_CONSTRAINTS_VIOLATED, response.message
    assert 'parameter max_jump, from where the robot stands' in response.message
    assert np.abs(record.still() - before).max() < 1e-6
    response = client.ik(constraints=turned(1.2), **asked)
    assert response.status == Status.SUCCESS and 'arrived' in response.message, response.message


@pytest.mark.parametrize('fields, word', [
    ({'max_joint_change': -1.0}, 'max_joint_change is -1'),
    ({'max_joint_change': float('nan')}, 'max_joint_change is nan'),
    ({'joint_change_names': ['panda_joint1'], 'joint_changes': [0.0]},
     "joint_changes[0], of 'panda_joint1', is 0"),
    ({'joint_change_names': ['panda_joint1']}, '1 joint_change_names but 0 joint_changes'),
    ({'joint_change_names': ['panda_joint9'], 'joint_changes': [1.0]},
     "joint_change_names[0]: unknown joint 'panda_joint9'")])
def test_bounds_that_make_no_sense(client, record, fields, word):
    response = client.ik(constraints=turned(0.1), **fields)
    assert response.status < 0 and word in response.message


def test_what_is_in_the_way_is_named(client, record):
    """The solution is free, the straight way to it leads through a pillar."""
    assert client.ik(constraints=turned(1.2), execute=True, **BIG).status == Status.SUCCESS
    before = record.still()
    applied(client, diff(box('pillar', 0.2, at=pose(0.38, 0.0, 0.5))))
    response = client.ik(constraints=turned(-1.2), execute=True, **BIG)
    assert response.status not in (Status.SUCCESS, Status.FAILURE), response.message
    names = {name for c in response.contacts for name in (c.contact_body_1, c.contact_body_2)}
    assert 'pillar' in names and "'pillar'" in response.message
    assert values(response.solution)['panda_joint1'] == pytest.approx(-1.2, abs=1e-5)
    assert response.motion_seconds == 0 and np.abs(record.still() - before).max() < 1e-6
    applied(client, diff(change('pillar', CollisionObject.REMOVE)))
    assert client.ik(constraints=turned(-1.2), execute=True, **BIG).status == Status.SUCCESS


def test_a_seed_that_is_not_true_is_refused(client, record):
    """A solution for a hand that is elsewhere is none for this one."""
    response = client.ik(constraints=height(0.3, 0.4), execute=True, group='arm',
                         seed=seed({'panda_finger_joint1': 0.035}))
    assert response.status == Status.INVALID_ROBOT_STATE, response.message
    assert "execute: the seed has joint 'panda_finger_joint1' at 0.035" in response.message
