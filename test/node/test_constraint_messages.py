"""Messages of constraints, costs and collision rules: conversion and refusals."""

import math

from moveit_msgs.msg import AllowedCollisionEntry, AllowedCollisionMatrix
from node_harness import contact_free_joints
import numpy as np
import pinocchio as pin
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from scipy.spatial.transform import Rotation

from ros2_ik import core
from ros2_ik.core import Box, collision_checker, Configuration, Scene, SceneObject, Status
from ros2_ik.core.internals import function_kinds, written_kinds
from ros2_ik.messages.constraints import (
    function_message as function,
    make_function,
    MAX_ROWS,
    read_constraints,
)
from ros2_ik.messages.request_error import RequestError
from ros2_ik.messages.requests import with_allowed_collisions
from ros2_ik.msg import Bounds, Function
from ros2_ik.srv import ComputeIK

TIP, OTHER = 'panda_hand', 'panda_link3'
P, Q = [0.1, -0.2, 0.3], [0.45, 0.12, -0.05]
U, V = [0.0, 0.6, 0.8], [1.0, -2.0, 0.5]
T = pin.SE3(Rotation.from_rotvec([0.3, -0.7, 0.4]).as_matrix(), np.array([0.4, 0.1, 0.35]))
A = pin.SE3(Rotation.from_rotvec([-0.2, 0.1, 1.1]).as_matrix(), np.array([0.0, 0.2, -0.1]))


def quaternion(T):
    return Rotation.from_matrix(T.rotation).as_quat().tolist()


def rpy_angles(T):
    """Return rotations about the fixed axes x, y and z as in a URDF [rad]."""
    return Rotation.from_matrix(T.rotation).as_euler('xyz').tolist()


def pose(T, orientation=quaternion):
    return [*T.translation.tolist(), *orientation(T)]


COUPLED = ['panda_joint2', 'panda_joint4']
# kind: fields of the message, and arguments of the class
EXAMPLES = {
    'center_of_mass in half spaces': ({'A': [[1, -2, 0.5], [0.5, 3, 0]]},
                                      (None, None, 'xyz', [[1, -2, 0.5], [0.5, 3, 0]])),
    'frame_orientation euler': ({'frame': TIP, 'reference': quaternion(T),
                                 'offset': rpy_angles(A), 'axes': 'yx', 'form': 'euler'},
                                (TIP, T, None, A, 'yx', 'euler')),
    'frame_pose': ({'frame': TIP, 'reference': pose(T), 'relative_to': OTHER}, (TIP, T, OTHER)),
    'frame_position': ({'frame': TIP, 'point': P, 'relative_to': OTHER,
                        'T_relative_A': pose(A, rpy_angles), 'axes': 'zx'},
                       (TIP, P, OTHER, A, 'zx')),
    'polyhedron': ({'frame': TIP, 'points': [P, Q], 'A': np.arange(18.0).reshape(3, 6),
                    'relative_to': OTHER}, (TIP, [P, Q], np.arange(18).reshape(3, 6), OTHER)),
    'region_distance': ({'frame': TIP, 'point': P, 'surfaces': [[0, 1, *Q, *V, 0.3]],
                         'relative_to': OTHER}, (TIP, P, [[0, 1, *Q, *V, 0.3]], OTHER)),
    'joint_coupling': ({'names': COUPLED, 'ratios': [[1, -2], [0.5, 3]], 'offset': [0.1, 0.2],
                        'reference': [0.3, -0.4]},
                       (COUPLED, [[1, -2], [0.5, 3]], [0.1, 0.2], [0.3, -0.4])),
    'joint_positions': ({'names': ['panda_joint4', 'panda_finger_joint1'],
                         'reference': [-1.0, 0.01], 'wrap': False},
                        (['panda_joint4', 'panda_finger_joint1'], [-1.0, 0.01], False)),
    'minimum_distance': ({'influence': 0.3, 'rows': 4}, (0.3, 4)),
    'pair_distance': ({'first': TIP, 'second': 'box'}, (TIP, 'box')),
    'support_polygon': ({'corners': [P, Q, V], 'relative_to': OTHER, 'up': U,
                         'links': ['panda_link4', TIP]},
                        ([P, Q, V], OTHER, U, ['panda_link4', TIP])),
}
# optional or alternative fields, and arguments of the class
SHORT_FORMS = {
    'frame_pose': ({'frame': TIP, 'reference': P}, (TIP, pin.SE3(np.eye(3), np.array(P)))),
    'polyhedron': ({'frame': TIP, 'points': [*P, *Q], 'A': [1, 2, 3, 4, 5, 6]},
                   (TIP, [P, Q], [[1, 2, 3, 4, 5, 6]])),
    'joint_coupling': ({'ratios': [1, 0, 0, 2, 0, 0, 0, 0], 'offset': 0.5},
                       (None, [1, 0, 0, 2, 0, 0, 0, 0], 0.5)),
    'joint_positions': ({'reference': {'panda_joint4': -1.0, 'panda_joint1': '1e-1'}},
                        (None, {'panda_joint4': -1.0, 'panda_joint1': 0.1})),
    'minimum_distance': ({}, ()),
}


@pytest.fixture(scope='module')
def checker(panda):
    box = SceneObject('box', [Box([0.1, 0.2, 0.3])], pin.SE3(np.eye(3), np.array([0.6, 0, 0.2])))
    return collision_checker(panda, Scene(panda).add(box))


def make_both(kind, example, robot, checker):
    """Return the function of a serialized message, and the same function made in Python."""
    (fields, arguments), kind = example, kind.partition(' ')[0]
    message = function(kind, **fields)
    received = deserialize_message(serialize_message(message), Function)
    supplied = (checker,) if kind in ('minimum_distance', 'pair_distance') else ()
    return (make_function(received, robot, checker),
            getattr(core, function_kinds()[kind].__name__)(*supplied, *arguments))


def assert_equal(received, reference, robot):
    reference = reference.bind(robot)
    assert type(received) is type(reference) and type(received.spec) is type(reference.spec)
    for number in range(3):
        state = Configuration(robot, contact_free_joints(robot, number, robot.joint_names))
        np.testing.assert_allclose(received.value(state), reference.value(state), atol=1e-12)
        np.testing.assert_allclose(received.jacobian(state), reference.jacobian(state), atol=1e-12)
    assert received.labels == reference.labels


def test_every_function_kind_except_user_function_has_a_message():
    assert set(written_kinds()) == set(function_kinds()) - {'user_function'}


@pytest.mark.parametrize(('kind', 'example'), [*EXAMPLES.items(), *SHORT_FORMS.items()])
def test_message_creates_the_same_function_as_python(kind, example, panda, checker):
    assert_equal(*make_both(kind, example, panda, checker), panda)


GOAL, LINK, OBJECT = (Status.INVALID_GOAL_CONSTRAINTS, Status.INVALID_LINK_NAME,
                      Status.INVALID_OBJECT_NAME)
HAND, NAN = 'panda_hand', math.nan
AIM = {'frame': HAND, 'axis': [0, 0, 1], 'target': [0.5, 0, 0]}
LIFT = {'frame': HAND, 'axes': 'z'}
BELOW, EXACT, ABOVE = {'upper': [0.1]}, {'target': [0.0]}, {'lower': [0.1]}


def aim(**fields):
    """Return the fields of a gaze_angle with changes; None removes a field."""
    return {name: value for name, value in {**AIM, **fields}.items() if value is not None}


# kind, fields, bounds, status, part of the message
MALFORMED = [
    ('gaze_angel', AIM, BELOW, GOAL, "unknown function 'gaze_angel'; did you mean 'gaze_angle'?"),
    ('user_function', {}, BELOW, GOAL, "unknown function 'user_function'"),
    ('gaze_angle', aim(axis=None), BELOW, GOAL, 'gaze_angle needs axis: x y z, not zero'),
    ('gaze_angle', aim(axes='x'), BELOW, GOAL, "no field 'axes'; did you mean 'axis'?"),
    ('gaze_angle', aim(frame=''), BELOW, GOAL, 'gaze_angle needs frame: a link or another'),
    ('gaze_angle', aim(frame='panda_hnad'), BELOW, LINK,
     "frame: unknown frame 'panda_hnad'; did you mean 'panda_hand'"),
    ('gaze_angle', AIM, {'lower': [4.0]}, GOAL, 'never met'),
    ('gaze_angle', AIM, {'target': [0.0], 'upper': [1.0]}, GOAL,
     'target alone, or lower, upper or both'),
    ('gaze_angle', AIM, {'target': [1.0, 2.0]}, GOAL, 'bounds.target has 2 numbers; valid: 1'),
    ('gaze_angle', AIM, {'upper': [1.0], 'weight': [2.0]}, GOAL,
     'bounds.weight: a hard constraint has no weight'),
    ('gaze_angle', AIM, {'upper': [0.1] * 100_000}, GOAL, 'must be one number, not of shape'),
    ('frame_position', {**LIFT, 'T_relative_A': [0, 0]}, EXACT, GOAL,
     'T_relative_A takes x y z [m], and roll pitch yaw [rad] or a quaternion x y z w, not [0.0'),
    ('frame_position', {'frame': HAND}, {**EXACT, 'soft': True, 'weight': [1.0, 2.0]}, GOAL,
     'weight of frame_position must be of shape (), (3,) or (3, 3), not (2,)'),
    ('frame_orientation', {'frame': HAND, 'reference': [0.0] * 4}, EXACT, GOAL, 'reference: the '),
    ('pair_distance', {'first': HAND, 'second': 'bxo'}, ABOVE, OBJECT,
     "unknown link or object with geometry 'bxo'; did you mean 'box'?"),
]


def refusal(request, robot, checker=None):
    with pytest.raises(RequestError) as error:
        read_constraints(request, robot, checker)
    return error.value


@pytest.mark.parametrize('case', MALFORMED, ids=lambda case: f'{case[0]}: {case[4][:30]}')
def test_malformed_constraint_is_refused_with_its_index(case, panda, checker):
    kind, fields, bounds, status, words = case
    message = function(kind, Bounds(**bounds), **fields)
    error = refusal(ComputeIK.Request(constraints=[message]), panda, checker)
    assert str(error).startswith(f'constraints[0] ({kind}): ') and words in str(error)
    assert error.status is status


def test_repeated_field_is_refused(panda):
    message = function('gaze_angle', Bounds(**BELOW), **AIM)
    message.parameters.append(message.parameters[0])
    assert "'axis' is given twice" in str(refusal(ComputeIK.Request(constraints=[message]), panda))


@pytest.mark.parametrize(('bounds', 'words'), [
    (Bounds(upper=[1.0], tolerance=0.1), 'bounds.tolerance: soft constraints take a weight'),
    (Bounds(target=[math.inf]), 'target of gaze_angle 2 must be one finite number, not ')])
def test_malformed_cost_is_refused_with_its_index(bounds, words, panda):
    costs = [function('gaze_angle', **AIM), function('gaze_angle', bounds, **AIM)]
    error = refusal(ComputeIK.Request(costs=costs), panda)
    assert str(error).startswith('costs[1] (gaze_angle): ') and words in str(error)
    assert error.status is GOAL


def distance_request(n_constraints, rows, cost_rows):
    def distance(rows):
        return function('minimum_distance', Bounds(lower=[0.0]), rows=rows)
    return ComputeIK.Request(constraints=[distance(rows)] * n_constraints,
                             costs=[distance(cost_rows)])


def test_more_than_1000_rows_are_refused(panda, checker):
    rows = MAX_ROWS // 10
    constraints, costs = read_constraints(distance_request(9, rows, rows), panda, checker)
    assert sum(len(item.function.labels) for item in (*constraints, *costs)) == MAX_ROWS
    error = refusal(distance_request(9, 100, 101), panda, checker)
    assert str(error).startswith('costs[0] (minimum_distance): its rows bring')
    assert '1001; at most 1000 are allowed' in str(error) and error.status is GOAL


def test_repeated_names_are_numbered(panda):
    plain, named, soft = (function('gaze_angle', Bounds(upper=[0.1], **more), **AIM)
                          for more in ({}, {'name': 'camera'}, {'soft': True}))
    constraints, costs = read_constraints(ComputeIK.Request(
        constraints=[plain, named, soft, named], costs=[function('gaze_angle', **AIM)]), panda)
    assert [c.name for c in constraints] == ['gaze_angle', 'camera', 'camera 2']
    assert [c.name for c in costs] == ['gaze_angle 2', 'gaze_angle 3']


def test_weight_may_be_a_number_a_row_vector_or_a_matrix(panda):
    weights = [], [3.0], [1.0, 2, 0], [2.0, 1, 0, 1, 2, 0, 0, 0, 1]
    messages = [function('frame_position', frame=HAND,
                         bounds=Bounds(weight=weight)) for weight in weights]
    _, costs = read_constraints(ComputeIK.Request(costs=messages), panda)
    expected = np.eye(3), 3 * np.eye(3), np.diag([1, 2, 0]), [[2, 1, 0], [1, 2, 0], [0, 0, 1]]
    for cost, W in zip(costs, expected, strict=True):
        np.testing.assert_allclose(cost.factor.T @ cost.factor, W, atol=1e-12)


def test_allowed_collisions_of_a_request_extend_the_matrix_of_the_scene(panda):
    scene = Scene(panda).allow('panda_link1', HAND)
    extended = with_allowed_collisions(scene, AllowedCollisionMatrix(
        entry_names=['panda_link1', HAND, 'panda_link3'],
        entry_values=[AllowedCollisionEntry(enabled=[False, False, True])] * 3))
    assert extended.allowed.allowed('panda_link1', HAND)
    assert extended.allowed.allowed('panda_link1', 'panda_link3')
    assert with_allowed_collisions(scene, AllowedCollisionMatrix()) is scene
