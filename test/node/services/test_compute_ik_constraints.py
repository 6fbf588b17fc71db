"""~/compute_ik with constraints over DDS; yourdfpy computes the reference poses."""

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point
from judge import angle
from moveit_msgs.msg import AllowedCollisionEntry, AllowedCollisionMatrix
from node_harness import reachable, robot_state, stamped, values
import numpy as np
import pytest
from scene_harness import applied, box, diff, HOME, pose

from ros2_ik.messages.constraints import function_message as function
from ros2_ik.msg import Bounds, Status

ROOT, HAND, TCP = 'panda_link0', 'panda_hand', 'panda_hand_tcp'
ARM = [f'panda_joint{i}' for i in range(1, 8)]
TOLERANCE = 2e-6     # [m, rad]
UP = [0, 0, 1.0]
LONG = {'timeout': Duration(sec=10), 'seed': robot_state(HOME)}


def solve(client, **fields):
    response = client.ik(**{**LONG, **fields})
    assert response.status == Status.SUCCESS, f'{response.message}\n{response.explanation}'
    return response


@pytest.fixture
def pose_in(panda_fk):
    """Return a function: the pose of a link in a response by yourdfpy, (4, 4)."""
    def transform(response, link, frame=ROOT):
        return panda_fk.transform(HOME | values(response.solution), link, frame)
    return transform


def height_above(lower, **bounds):
    return function('point_to_plane', Bounds(lower=[lower], **bounds), frame=HAND, normal=UP)


def test_constraints_without_targets_are_solved(client, pose_in):
    tray = function('frame_position', frame=TCP, point=[0, 0, 0.1], bounds=Bounds(
        name='there', lower=[0.45, -0.05, 0.4], upper=[0.55, 0.05, 0.5]))
    level = function('angle_between_vectors', frame=TCP, vector=[2.0, 0, 0], other_vector=UP,
                     bounds=Bounds(name='level', upper=[0.02]))
    response = solve(client, constraints=[tray, level])
    assert list(values(response.solution)) == ARM
    T = pose_in(response, TCP)
    p = (T @ [0, 0, 0.1, 1])[:3]
    assert (np.abs(p - [0.5, 0, 0.45]) <= 0.05 + TOLERANCE).all()
    assert angle(T[:3, 0], [0, 0, 1]) <= 0.02 + TOLERANCE
    states = {state.name: state for state in response.constraints}
    assert set(states) == {'there', 'level'} and all(state.holds for state in states.values())
    assert list(states['there'].value) == pytest.approx(p, abs=1e-9)
    assert list(states['there'].labels) == ['x [m]', 'y [m]', 'z [m]']
    assert states['level'].kind == 'angle_between_vectors' and not states['level'].soft
    assert not response.position_errors and response.explanation


def test_infeasible_constraint_reports_its_violation(client):
    response = client.ik(constraints=[height_above(5.0, name='too high')],
                         timeout=Duration(nanosec=300_000_000), seed=robot_state(HOME))
    assert response.status == Status.NO_IK_SOLUTION and not response.impossible
    assert not response.solution.joint_state.name
    assert list(values(response.best_attempt)) == ARM
    state, = response.constraints
    assert state.name == 'too high' and not state.holds
    assert state.violation == pytest.approx(5.0 - state.value[0]) and state.violation > 3
    assert 'too high' in response.message and 'violated: too high' in response.explanation


def test_contradicting_constraints_are_named(client):
    heights = [function('frame_position', Bounds(name=name, target=[z]), frame=HAND, axes='z')
               for name, z in (('one', 0.4), ('two', 0.5))]
    response = client.ik(constraints=heights, seed=robot_state(HOME))
    assert response.status == Status.GOAL_CONSTRAINTS_VIOLATED, response.message
    assert 'one (z [m]) in ' in response.message and 'two (z [m])' in response.message
    assert response.impossible
    assert [state.name for state in response.constraints] == ['one', 'two']
    assert not all(state.holds for state in response.constraints)


@pytest.fixture
def crate(client, empty_scene):
    """Put a crate in front of the robot; return its centre (3,) [m]."""
    center = [0.5, 0.0, 0.2]
    applied(client, diff(box('crate', 0.2, at=pose(*center))))
    return np.array(center)


def test_distance_to_an_object_is_bounded(client, pose_in, crate):
    bounded = function('pair_distance', Bounds(lower=[0.15], upper=[0.2]),
                       first=HAND, second='crate')
    response = solve(client, constraints=[bounded], avoid_collisions=False)
    # the origin of the hand is up to 0.2 m from the point nearest to the crate
    origin = pose_in(response, HAND)[:3, 3]
    distance = np.linalg.norm(np.maximum(np.abs(origin - crate) - 0.1, 0))
    assert 0.15 - TOLERANCE <= distance <= 0.2 + 0.2
    state, = response.constraints
    assert 0.15 - TOLERANCE <= state.value[0] <= 0.2 + TOLERANCE
    assert state.labels == ['distance [m]']


def test_allowed_collisions_apply_to_one_request(client, crate):
    target = stamped(np.diag([1.0, -1, -1, 1]))
    target.pose.position = Point(x=0.5, y=0.0, z=0.28)
    request = {'targets': [target], 'seed': robot_state(HOME), 'timeout': Duration(sec=2)}
    assert client.ik(**request).status == Status.GOAL_IN_COLLISION
    names = ['crate', HAND, 'panda_leftfinger', 'panda_rightfinger', 'panda_link7']
    allowed = AllowedCollisionMatrix(entry_names=names, entry_values=[
        AllowedCollisionEntry(enabled=[True] * 5)] * 5)
    assert client.ik(**request, allowed_collisions=allowed).status == Status.SUCCESS
    allowed.entry_names[0] = 'crates'
    response = client.ik(**request, allowed_collisions=allowed)
    assert response.status == Status.INVALID_OBJECT_NAME
    assert "allowed_collisions: unknown name 'crates'" in response.message
    assert client.ik(**request).status == Status.GOAL_IN_COLLISION


def test_moving_joints_and_locked_joints_select_the_moved_joints(client, panda, pose_in):
    moving = ['panda_joint1', 'panda_joint2', 'panda_joint4']
    reach = function('frame_position', Bounds(target=[0.4, 0.1, 0.5]), frame=TCP)
    response = solve(client, constraints=[reach], moving_joints=moving)
    assert sorted(values(response.solution)) == moving
    assert np.linalg.norm(pose_in(response, TCP)[:3, 3] - [0.4, 0.1, 0.5]) < 1e-5
    target = reachable(panda, TCP, 4)
    p = target.pose.position
    response = solve(client, targets=[target], locked_joints=['panda_joint3'])
    assert values(response.solution)['panda_joint3'] == HOME['panda_joint3']
    assert np.linalg.norm(pose_in(response, TCP)[:3, 3] - [p.x, p.y, p.z]) < 2e-5


VALID = {'constraints': [height_above(0.3)], 'seed': robot_state(HOME)}


@pytest.mark.parametrize(('fields', 'status', 'words'), [
    ({'group': 'arm', 'moving_joints': ['panda_joint1']}, -15, "group 'arm' and moving_joints"),
    ({'moving_joints': ['panda_jiont1']}, -16, "moving_joints: unknown joint 'panda_jiont1'"),
    ({'locked_joints': ['panda_joint1'] * 201}, -16, 'locked_joints has length 201; at most 200'),
    ({'more_seeds': [robot_state(HOME), robot_state({'cup': 0.1})]}, -17,
     "more_seeds[1]: unknown joint 'cup'"),
    ({'joint_change_names': ['panda_joint1'], 'joint_changes': [-0.1]}, -16,
     "max_joint_change of 'panda_joint1'"),
    ({'joint_change_names': ['cup'], 'joint_changes': [1.0]}, -16,
     "joint_change_names: unknown joint 'cup'"),
    ({'joint_change_names': ['panda_joint1']}, -16, '1 joint_change_names but 0 joint_changes'),
])
def test_malformed_fields_are_refused_by_name(client, fields, status, words):
    response = client.ik(**{**VALID, **fields})
    assert response.status == status and words in response.message, response.message
    assert not response.solution.joint_state.name
    assert client.ik(**VALID).status == Status.SUCCESS


def test_unpublished_joint_of_a_constraint_is_refused_by_name(client):
    """The request does not move the finger, and its position is unknown."""
    spread = function('joint_positions', names=['panda_finger_joint1'],
                      bounds=Bounds(upper=[0.03]))
    response = client.ik(constraints=[height_above(0.3), spread], group='arm')
    assert response.status == Status.ROBOT_STATE_STALE, response.message
    assert "joint 'panda_finger_joint1' is needed" in response.message
