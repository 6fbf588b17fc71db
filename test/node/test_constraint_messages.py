"""A message makes the function that Python would make, by fields of every type."""

from types import SimpleNamespace

from node_harness import untouched
import numpy as np
import pinocchio as pin
import pytest
from rclpy.serialization import deserialize_message, serialize_message
from scipy.spatial.transform import Rotation

from ros2_ik import core
from ros2_ik.core import (
    Box,
    collision_checker,
    Configuration,
    function_kinds,
    Scene,
    SceneObject,
    written_kinds,
)
from ros2_ik.messages.functions import function_message, make_function, measures_distances
from ros2_ik.msg import Function

TIP, OTHER = 'panda_hand', 'panda_link3'
P, Q = [0.1, -0.2, 0.3], [0.45, 0.12, -0.05]
U, V = [0.0, 0.6, 0.8], [1.0, -2.0, 0.5]
T = pin.SE3(Rotation.from_rotvec([0.3, -0.7, 0.4]).as_matrix(), np.array([0.4, 0.1, 0.35]))
A = pin.SE3(Rotation.from_rotvec([-0.2, 0.1, 1.1]).as_matrix(), np.array([0.0, 0.2, -0.1]))


def quaternion(place):
    return Rotation.from_matrix(place.rotation).as_quat().tolist()


def angles(place):
    """Give roll pitch yaw as URDF has them: about the fixed x, y and z."""
    return Rotation.from_matrix(place.rotation).as_euler('xyz').tolist()


def pose(place, turn=quaternion):
    return [*place.translation.tolist(), *turn(place)]


ARROWS = {'vector': U, 'other_vector': V}
SIGHT = {'origin': P, 'axis': U, 'target': Q}
COUPLED = ['panda_joint2', 'panda_joint4']
# kind, and form: fields of the message, and arguments of the class
EXAMPLES = {
    'angle_between_vectors vector': (
        {'frame': TIP, 'relative_to': OTHER, 'form': 'vector', **ARROWS},
        (TIP, U, V, OTHER, 'vector')),
    'center_of_mass': ({'links': ['panda_link4', TIP], 'relative_to': OTHER, 'axes': 'xz'},
                       (['panda_link4', TIP], OTHER, 'xz')),
    'center_of_mass in half spaces': ({'A': [[1, -2, 0.5], [0.5, 3, 0]]},
                                      (None, None, 'xyz', [[1, -2, 0.5], [0.5, 3, 0]])),
    'frame_orientation euler': ({'frame': TIP, 'reference': quaternion(T), 'offset': angles(A),
                                 'axes': 'yx', 'form': 'euler'},
                                (TIP, T, None, A, 'yx', 'euler')),
    'frame_pose': ({'frame': TIP, 'reference': pose(T), 'relative_to': OTHER}, (TIP, T, OTHER)),
    'frame_position': ({'frame': TIP, 'point': P, 'relative_to': OTHER,
                        'T_relative_A': pose(A, angles), 'axes': 'zx'}, (TIP, P, OTHER, A, 'zx')),
    'gaze_angle vector': ({'frame': TIP, 'relative_to': OTHER, 'form': 'vector', **SIGHT},
                          (TIP, P, U, Q, OTHER, 'vector')),
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
    'manipulability': ({'frame': TIP, 'relative_to': OTHER, 'rows': 'position'},
                       (TIP, OTHER, 'position')),
    'minimum_distance': ({'influence': 0.3, 'rows': 4}, (0.3, 4)),
    'pair_distance': ({'first': TIP, 'second': 'box'}, (TIP, 'box')),
    'support_polygon': ({'corners': [P, Q, V], 'relative_to': OTHER, 'up': U,
                         'links': ['panda_link4', TIP]},
                        ([P, Q, V], OTHER, U, ['panda_link4', TIP])),
}
# what may be left out or written otherwise, and the class with it
SHORT = {
    'frame_pose': ({'frame': TIP, 'reference': P}, (TIP, pin.SE3(np.eye(3), np.array(P)))),
    'frame_position': ({'frame': TIP}, (TIP,)),
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


def both(kind, example, robot, checker):
    """Give the function of a message that has travelled, and that of Python."""
    (fields, arguments), kind = example, kind.partition(' ')[0]
    sent = function_message(kind, **fields)
    received = deserialize_message(serialize_message(sent), Function)
    supplied = (checker,) if measures_distances(kind) else ()
    return (make_function(received, robot, checker),
            getattr(core, function_kinds()[kind].__name__)(*supplied, *arguments))


def assert_same(ours, theirs, robot):
    theirs = theirs.bind(robot)
    assert type(ours) is type(theirs) and type(ours.spec) is type(theirs.spec)
    for number in range(3):
        at = Configuration(robot, untouched(robot, number, robot.joint_names))
        np.testing.assert_allclose(ours.value(at), theirs.value(at), atol=1e-12)
        np.testing.assert_allclose(ours.jacobian(at), theirs.jacobian(at), atol=1e-12)
    assert ours.labels == theirs.labels


def test_all_but_python_code_can_be_written():
    assert set(written_kinds()) == set(function_kinds()) - {'user_function'}


@pytest.mark.parametrize(('kind', 'example'), [*EXAMPLES.items(), *SHORT.items()])
def test_a_message_makes_the_function(kind, example, panda, checker):
    assert_same(*both(kind, example, panda, checker), panda)


def test_anything_with_the_right_fields(panda):
    parameters = [SimpleNamespace(name=name, numbers=value, names=[], columns=0)
                  for name, value in SIGHT.items()]
    message = SimpleNamespace(kind='gaze_angle', frame=f'/{TIP}', relative_to='',
                              parameters=parameters)
    assert_same(make_function(message, panda), core.GazeAngle(TIP, P, U, Q), panda)
