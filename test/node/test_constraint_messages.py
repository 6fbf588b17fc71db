"""Each kind's message makes the function that Python would make, and no kind is forgotten."""

import inspect
from types import SimpleNamespace

from geometry_msgs.msg import Point, Pose, Quaternion, Vector3
from node_harness import untouched
import numpy as np
import pinocchio as pin
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from scipy.spatial.transform import Rotation

from ros2_ik import core, msg
from ros2_ik.core import Box, collision_checker, Configuration, function_kinds, Scene, SceneObject
from ros2_ik.node.conversions.functions import (
    LOCAL,
    make_function,
    measures_distances,
    message_kinds,
)

TIP, OTHER = 'panda_hand', 'panda_link3'
P, Q = [0.1, -0.2, 0.3], [0.45, 0.12, -0.05]
U, V = [0.0, 0.6, 0.8], [1.0, -2.0, 0.5]
T = pin.SE3(Rotation.from_rotvec([0.3, -0.7, 0.4]).as_matrix(), np.array([0.4, 0.1, 0.35]))
A = pin.SE3(Rotation.from_rotvec([-0.2, 0.1, 1.1]).as_matrix(), np.array([0.0, 0.2, -0.1]))


def point(values):
    return Point(**dict(zip('xyz', values, strict=True)))


def arrow(values):
    return Vector3(**dict(zip('xyz', values, strict=True)))


def pose(place):
    x, y, z, w = Rotation.from_matrix(place.rotation).as_quat()
    return Pose(position=point(place.translation.tolist()),
                orientation=Quaternion(x=x, y=y, z=z, w=w))


ARROWS = {'vector': arrow(U), 'other_vector': arrow(V)}
SIGHT = {'origin': point(P), 'axis': arrow(U), 'target': point(Q)}
# kind: fields of the message, and arguments of the class
EXAMPLES = {
    'angle_between_vectors': ({'frame': TIP, **ARROWS}, (TIP, U, V)),
    'axis_alignment': ({'frame': TIP, 'relative_to': OTHER, **ARROWS}, (TIP, U, V, OTHER)),
    'center_of_mass': ({'links': ['panda_link4', TIP], 'relative_to': OTHER, 'axes': 'xz'},
                       (['panda_link4', TIP], OTHER, 'xz')),
    'direction_chord': ({'frame': TIP, **ARROWS}, (TIP, U, V)),
    'euler_angles': ({'frame': TIP, 'reference': pose(T), 'offset': pose(A), 'axes': 'yx'},
                     (TIP, T, None, A, 'yx')),
    'frame_orientation': ({'frame': TIP, 'reference': pose(T), 'relative_to': OTHER,
                           'offset': pose(A), 'axes': 'z'}, (TIP, T, OTHER, A, 'z')),
    'frame_pose': ({'frame': TIP, 'reference': pose(T), 'relative_to': OTHER}, (TIP, T, OTHER)),
    'frame_position': ({'frame': TIP, 'point': point(P), 'relative_to': OTHER,
                        't_relative_a': pose(A), 'axes': 'zx'}, (TIP, P, OTHER, A, 'zx')),
    'gaze_angle': ({'frame': TIP, **SIGHT}, (TIP, P, U, Q)),
    'half_spaces': ({'frame': TIP, 'points': [point(P), point(Q)],
                     'a': [float(x) for x in range(18)], 'relative_to': OTHER},
                    (TIP, [P, Q], np.arange(18).reshape(3, 6), OTHER)),
    'joint_coupling': ({'names': ['panda_joint2', 'panda_joint4'], 'ratios': [1.0, -2, 0.5, 3],
                        'offset': [0.1, 0.2], 'reference': [0.3, -0.4]},
                       (['panda_joint2', 'panda_joint4'], [[1, -2], [0.5, 3]], [0.1, 0.2],
                        [0.3, -0.4])),
    'joint_positions': ({'names': ['panda_joint4', 'panda_finger_joint2'],
                         'reference': [-1.0, 0.01], 'wrap': False},
                        (['panda_joint4', 'panda_finger_joint2'], [-1.0, 0.01], False)),
    'look_at': ({'frame': TIP, 'relative_to': OTHER, **SIGHT}, (TIP, P, U, Q, OTHER)),
    'manipulability': ({'frame': TIP, 'relative_to': OTHER, 'rows': 'position'},
                       (TIP, OTHER, 'position')),
    'minimum_distance': ({'influence': 0.3, 'rows': 4}, (0.3, 4)),
    'orientation_angle': ({'frame': TIP, 'reference': pose(T), 'offset': pose(A)},
                          (TIP, T, None, A)),
    'orientation_chord': ({'frame': TIP, 'reference': pose(T), 'relative_to': OTHER,
                           'offset': pose(A)}, (TIP, T, OTHER, A)),
    'pair_distance': ({'first': TIP, 'second': 'box'}, (TIP, 'box')),
    'point_to_line_distance': ({'frame': TIP, 'point': point(P), 'line_point': point(Q),
                                'line_direction': arrow(V)}, (TIP, P, Q, V)),
    'point_to_plane': ({'frame': TIP, 'point': point(P), 'plane_point': point(Q),
                        'normal': arrow(V), 'relative_to': OTHER}, (TIP, P, Q, V, OTHER)),
    'point_to_point_distance': ({'frame': TIP, 'point': point(P), 'other_point': point(Q)},
                                (TIP, P, Q)),
}
# what may be left out, and the class without it
SHORT = {
    'center_of_mass': ({}, ()),
    'frame_position': ({'frame': TIP}, (TIP,)),
    'frame_orientation': ({'frame': TIP}, (TIP,)),
    'joint_coupling': ({'ratios': [1.0, 0, 0, 2, 0, 0, 0, 0], 'offset': [0.5]},
                       (None, [1, 0, 0, 2, 0, 0, 0, 0], 0.5)),
    'joint_positions': ({}, ()),
    'manipulability': ({'frame': TIP}, (TIP,)),
    'minimum_distance': ({}, ()),
}


@pytest.fixture(scope='module')
def checker(panda):
    box = SceneObject('box', [Box([0.1, 0.2, 0.3])], pin.SE3(np.eye(3), np.array([0.6, 0, 0.2])))
    return collision_checker(panda, Scene(panda).add(box))


def message_class(kind):
    return getattr(msg, message_kinds()[kind].__name__)


def both(kind, example, robot, checker):
    """Give the function of a message that has travelled, and that of Python."""
    fields, arguments = example
    sent = message_class(kind)(**fields)
    received = deserialize_message(serialize_message(sent), type(sent))
    supplied = (checker,) if measures_distances(kind) else ()
    return (make_function(kind, received, robot, checker),
            getattr(core, message_kinds()[kind].__name__)(*supplied, *arguments))


def assert_same(ours, theirs, robot):
    theirs = theirs.bind(robot)
    assert type(ours) is type(theirs) and type(ours.spec) is type(theirs.spec)
    for number in range(3):
        at = Configuration(robot, untouched(robot, number, robot.joint_names))
        np.testing.assert_allclose(ours.value(at), theirs.value(at), atol=1e-12)
        np.testing.assert_allclose(ours.jacobian(at), theirs.jacobian(at), atol=1e-12)
    assert ours.labels == theirs.labels


def test_the_lists_are_equal():
    kinds = set(function_kinds()) - {'user_function'}   # Python code does not travel
    assert set(LOCAL) == {'user_function'}
    assert set(message_kinds()) == kinds == set(EXAMPLES)
    for interface in (msg.IKConstraints, msg.IKCosts):
        assert interface.get_fields_and_field_types() == {
            kind: f'sequence<ros2_ik/{function_kinds()[kind].__name__}>' for kind in kinds}


@pytest.mark.parametrize('kind', message_kinds())
def test_fields_are_the_parameters(kind):
    parameters = inspect.signature(function_kinds()[kind]).parameters.values()
    sent = [parameter for parameter in parameters if parameter.name != 'checker']
    fields = message_class(kind).get_fields_and_field_types()
    assert list(fields) == ['bounds', *(parameter.name.lower() for parameter in sent)]
    assert fields['bounds'] == 'ros2_ik/Bounds'
    for parameter in sent:   # numbers and words have the same default in both
        if isinstance(parameter.default, (bool, int, str)) and parameter.name != 'offset':
            assert getattr(message_class(kind)(), parameter.name.lower()) == parameter.default


@pytest.mark.parametrize('kind', EXAMPLES)
def test_a_message_makes_the_function(kind, panda, checker):
    assert_same(*both(kind, EXAMPLES[kind], panda, checker), panda)


@pytest.mark.parametrize('kind', SHORT)
def test_a_short_message_makes_the_function(kind, panda, checker):
    assert_same(*both(kind, SHORT[kind], panda, checker), panda)


def test_anything_with_the_right_fields(panda):
    message = SimpleNamespace(frame=TIP, relative_to='', origin=point(P), axis=arrow(U),
                              target=point(Q))
    assert_same(make_function('gaze_angle', message, panda), core.GazeAngle(TIP, P, U, Q), panda)
