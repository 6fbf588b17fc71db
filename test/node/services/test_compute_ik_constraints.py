"""compute_ik with constraints and costs over DDS, judged by yourdfpy."""

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point
from judge import angle
from moveit_msgs.msg import AllowedCollisionEntry, AllowedCollisionMatrix
from node_harness import reachable, seed, stamped, values
import numpy as np
import pytest
from scene_harness import applied, box, diff, HOME, pose

from ros2_ik.messages.constraints import function_message as function
from ros2_ik.msg import Bounds, Status

ROOT, HAND, TCP = 'panda_link0', 'panda_hand', 'panda_hand_tcp'
ARM = [f'panda_joint{i}' for i in range(1, 8)]
ROOM = 2e-6
UP = [0, 0, 1.0]
LONG = {'timeout': Duration(sec=10), 'seed': seed(HOME)}


def solved(client, **fields):
    response = client.ik(**{**LONG, **fields})
    assert response.status == Status.SUCCESS, f'{response.message}\n{response.explanation}'
    return response


@pytest.fixture
def at(panda_judge):
    def transform(response, link, frame=ROOT):
        return panda_judge.transform(HOME | values(response.solution), link, frame)
    return transform


def high(lower, **bounds):
    return function('point_to_plane', Bounds(lower=[lower], **bounds), frame=HAND, normal=UP)


def test_constraints_without_targets_are_solved(client, at):
    tray = function('frame_position', frame=TCP, point=[0, 0, 0.1], bounds=Bounds(
        name='there', lower=[0.45, -0.05, 0.4], upper=[0.55, 0.05, 0.5]))
    level = function('angle_between_vectors', frame=TCP, vector=[2.0, 0, 0], other_vector=UP,
                                bounds=Bounds(name='level', upper=[0.02]))
    response = solved(client, constraints=[tray, level])
    assert list(values(response.solution)) == ARM
    T = at(response, TCP)
    p = (T @ [0, 0, 0.1, 1])[:3]
    assert (np.abs(p - [0.5, 0, 0.45]) <= 0.05 + ROOM).all()
    assert angle(T[:3, 0], [0, 0, 1]) <= 0.02 + ROOM
    states = {state.name: state for state in response.constraints}
    assert set(states) == {'there', 'level'} and all(state.holds for state in states.values())
    assert list(states['there'].value) == pytest.approx(p, abs=1e-9)
    assert list(states['there'].labels) == ['x [m]', 'y [m]', 'z [m]']
    assert states['level'].kind == 'angle_between_vectors' and not states['level'].soft
    assert not response.position_errors and response.explanation


def test_infeasible_constraint_reports_its_violation(client):
    response = client.ik(constraints=[high(5.0, name='too high')],
                         timeout=Duration(nanosec=300_000_000), seed=seed(HOME))
    assert response.status == Status.NO_IK_SOLUTION and not response.impossible
    assert not response.solution.joint_state.name
    assert list(values(response.best_attempt)) == ARM
    state, = response.constraints
    assert state.name == 'too high' and not state.holds
    assert state.violation == pytest.approx(5.0 - state.value[0]) and state.violation > 3
    assert 'too high' in response.message and 'violated: too high' in response.explanation


def test_contradicting_constraints_are_named(client):
    boxes = [function('frame_position', Bounds(name=name, target=[z]), frame=HAND, axes='z')
             for name, z in (('one', 0.4), ('two', 0.5))]
    response = client.ik(constraints=boxes, seed=seed(HOME))
    assert response.status == Status.GOAL_CONSTRAINTS_VIOLATED, response.message
    assert 'one (z [m]) in ' in response.message and 'two (z [m])' in response.message
    assert response.impossible
    assert [state.name for state in response.constraints] == ['one', 'two']
    assert not all(state.holds for state in response.constraints)


# -- distances and collisions ---------------------------------------------------------------

@pytest.fixture
def crate(client, empty_scene):
    """Put a crate in front of the robot; return its centre (3,) [m]."""
    middle = [0.5, 0.0, 0.2]
    applied(client, diff(box('crate', 0.2, at=pose(*middle))))
    return np.array(middle)


def from_box(point, middle, size):
    """Return the distance of a point from an upright cube."""
    outside = np.maximum(np.abs(np.array(point) - middle) - size / 2, 0)
    return float(np.linalg.norm(outside))


def test_distance_to_an_object_is_bounded(client, at, crate):
    far = function('pair_distance', Bounds(lower=[0.15], upper=[0.2]), first=HAND, second='crate')
    response = solved(client, constraints=[far], avoid_collisions=False)
    distance = from_box(at(response, HAND)[:3, 3], crate, 0.2)   # of a point of the hand
    assert 0.15 - ROOM <= distance <= 0.2 + 0.2
    state, = response.constraints
    assert 0.15 - ROOM <= state.value[0] <= 0.2 + ROOM and state.labels == ['distance [m]']


def test_allowed_collisions_apply_to_one_request(client, crate):
    target = stamped(np.diag([1.0, -1, -1, 1]))
    target.pose.position = Point(x=0.5, y=0.0, z=0.28)
    inside = {'targets': [target], 'seed': seed(HOME), 'timeout': Duration(sec=2)}
    assert client.ik(**inside).status == Status.GOAL_IN_COLLISION
    names = ['crate', HAND, 'panda_leftfinger', 'panda_rightfinger', 'panda_link7']
    allowed = AllowedCollisionMatrix(entry_names=names, entry_values=[
        AllowedCollisionEntry(enabled=[True] * 5)] * 5)
    assert client.ik(**inside, allowed_collisions=allowed).status == Status.SUCCESS
    allowed.entry_names[0] = 'crates'
    response = client.ik(**inside, allowed_collisions=allowed)
    assert response.status == Status.INVALID_OBJECT_NAME
    assert "allowed_collisions: unknown name 'crates'" in response.message
    assert client.ik(**inside).status == Status.GOAL_IN_COLLISION


def test_moving_joints_and_locked_joints_select_the_joints(client, panda, at):
    moving = ['panda_joint1', 'panda_joint2', 'panda_joint4']
    reach = function('frame_position', Bounds(target=[0.4, 0.1, 0.5]), frame=TCP)
    response = solved(client, constraints=[reach], moving_joints=moving)
    assert sorted(values(response.solution)) == moving
    assert np.linalg.norm(at(response, TCP)[:3, 3] - [0.4, 0.1, 0.5]) < 1e-5
    target = reachable(panda, TCP, 4)
    place = target.pose.position
    response = solved(client, targets=[target], locked_joints=['panda_joint3'])
    assert values(response.solution)['panda_joint3'] == HOME['panda_joint3']
    assert np.linalg.norm(at(response, TCP)[:3, 3] - [place.x, place.y, place.z]) < 2e-5


UPRIGHT = {'constraints': [high(0.3)], 'seed': seed(HOME)}


@pytest.mark.parametrize(('fields', 'status', 'words'), [
    ({'group': 'arm', 'moving_joints': ['panda_joint1']}, -15, "group 'arm' and moving_joints"),
    ({'moving_joints': ['panda_jiont1']}, -16, "unknown joint 'panda_jiont1'"),
    ({'locked_joints': ['panda_joint1'] * 201}, -16, 'locked_joints has length 201; at most 200'),
    ({'more_seeds': [seed(HOME), seed({'cup': 0.1})]}, -17, "more_seeds[1]: unknown joint 'cup'"),
    ({'joint_change_names': ['panda_joint1'], 'joint_changes': [-0.1]}, -16,
     "max_joint_change of 'panda_joint1'"),
    ({'joint_change_names': ['panda_joint1']}, -16, '1 joint_change_names but 0 joint_changes'),
])
def test_malformed_fields_are_named(client, fields, status, words):
    response = client.ik(**{**UPRIGHT, **fields})
    assert response.status == status and words in response.message, response.message
    assert not response.solution.joint_state.name
    assert client.ik(**UPRIGHT).status == Status.SUCCESS


def test_unpublished_joint_of_a_constraint_is_named(client):
    """The finger does not move, and its position is unknown."""
    spread = function('joint_positions', names=['panda_finger_joint1'],
                      bounds=Bounds(upper=[0.03]))
    response = client.ik(constraints=[high(0.3), spread],
                         group='arm')
    assert response.status == Status.ROBOT_STATE_STALE, response.message
    assert "joint 'panda_finger_joint1' is needed" in response.message
