"""Conversion of scene messages without DDS: objects, matrices, octomaps and frames."""

import itertools
from types import SimpleNamespace

from hypothesis import given, settings, strategies as st
import numpy as np
import pinocchio as pin
import pytest
from scene_harness import change, pose, solid
from std_msgs.msg import Header

from ros2_ik.core import (
    AllowedCollisions,
    Box,
    Capsule,
    Cone,
    Configuration,
    ConvexHull,
    HalfSpace,
    Mesh,
    OcTree,
    Plane,
    Scene,
    SceneObject,
)
from ros2_ik.core.internals import shape_kinds
from ros2_ik.messages.frames import frame_change_text, framed_robot, link_name
from ros2_ik.messages.markers import scene_markers
from ros2_ik.messages.planning_scenes import (
    changed_scene,
    matrix_message,
    scene_diff,
    scene_message,
    SceneState,
)
from ros2_ik.messages.request_error import RequestError
from ros2_ik.messages.requests import read_matrix
from ros2_ik.messages.scene_changes import changed_object, ConversionContext
from ros2_ik.messages.shapes import read_octomap
from ros2_ik.node.state.planning_scene import transfer_scene

SHAPES = (Box([0.1, 0.2, 0.3]), Capsule(0.1, 0.3), Cone(0.1, 0.3),
          ConvexHull(np.eye(4)[:, :3]), HalfSpace([0, 0, 1], 0.5), Plane([0, 1, 0], 0.5),
          Mesh(np.vstack([np.eye(3), np.zeros((1, 3))]), [[0, 1, 2], [0, 1, 3]]),
          OcTree([[0.1, 0.1, 0.1]], 0.05), *(shape_kinds()[kind](0.1) for kind in ['sphere']),
          shape_kinds()['cylinder'](0.1, 0.3))


def no_tf(robot, frame):
    raise LookupError('no TF here')


@pytest.fixture
def context(panda):
    return ConversionContext(lambda joints: Configuration(panda, panda.neutral), no_tf, 'hull')


def test_whole_scene_is_sent_if_the_matrix_names_a_removed_object(panda):
    """MoveIt drops the matrix entries of a removed object; these scenes keep them."""
    empty = Scene(panda).with_allowed(AllowedCollisions())
    full = empty.add(SceneObject('a', [Box([0.1, 0.1, 0.1])]))
    matrix = AllowedCollisions({('a', 'panda_hand'): True})

    def diff_of(old, new):
        return scene_diff(SceneState(old), SceneState(new), {}, Header())
    assert diff_of(empty, full).is_diff and diff_of(full, empty).is_diff
    message = diff_of(full.with_allowed(matrix), empty.with_allowed(matrix))
    assert not message.is_diff and 'a' in message.allowed_collision_matrix.entry_names


def extent(shape):
    """Return the largest distance of a corner of the bounding box from the origin [m]."""
    shape.geometry.computeLocalAABB()
    box = shape.geometry.aabb_local
    return np.linalg.norm(np.maximum(-box.min_, box.max_))


@pytest.mark.parametrize('shape', SHAPES, ids=lambda shape: shape.kind)
def test_every_shape_has_a_message_and_a_marker(panda, context, shape):
    """Shapes without a message are sent as triangles of the same extent."""
    assert {shape.kind for shape in SHAPES} == set(shape_kinds())
    scene = Scene(panda).add(SceneObject('a', [(shape, np.eye(4))], np.eye(4)))
    header = Header(frame_id=panda.root_frame)
    _, marker = scene_markers(scene).markers
    message = scene_message(SceneState(scene), {}, 0, header)
    returned = changed_scene(SceneState(Scene(panda)), message, context).scene.objects['a']
    parts = returned.parts
    if shape.kind == 'octree':
        assert np.allclose((returned.pose * parts[0].pose).translation, [0.125] * 3)
        point, = marker.points
        assert np.allclose([point.x, point.y, point.z], [0.125] * 3)
        assert np.allclose(parts[0].shape.size, 0.05)
    elif shape.kind not in ('plane', 'half_space'):
        largest = max(extent(part.shape) for part in parts)
        assert largest == pytest.approx(extent(shape), rel=0.05)


numbers = st.floats(allow_nan=True, allow_infinity=True, width=64)


@settings(max_examples=150, deadline=None)
@given(values=st.lists(numbers, min_size=7, max_size=7), kind=st.integers(0, 255),
       dimensions=st.lists(numbers, max_size=3), operation=st.integers(0, 255),
       frame=st.sampled_from(['', 'panda_hand', '/old', 'old/', 'nowhere', '/']))
def test_random_object_is_accepted_or_refused(panda, values, kind, dimensions, operation, frame):
    context = ConversionContext(lambda joints: Configuration(panda, panda.neutral), no_tf, 'hull')
    scene = Scene(panda).add(SceneObject('old', [Box([0.1] * 3)]))
    message = change('old', bytes([operation % 5]), frame=frame,
                     pose=pose(*values[:3], values[3:]))
    message.primitives = [solid(kind % 8, *dimensions)]
    try:
        after = changed_object(scene, message, context)
    except RequestError as refusal:
        assert str(refusal)
    else:
        assert all(np.isfinite(pin.SE3ToXYZQUAT(item.pose)).all()
                   for item in after.objects.values())


BODIES = ['a', 'b', 'c', 'd']
FLAGS = st.dictionaries(st.sampled_from(BODIES), st.booleans())
ENTRIES = st.dictionaries(st.tuples(st.sampled_from(BODIES), st.sampled_from(BODIES))
                          .map(sorted).map(tuple), st.booleans())


def rows_of(names, rows, default_names=(), default_values=()):
    return SimpleNamespace(entry_names=names, default_entry_names=default_names,
                           entry_values=[SimpleNamespace(enabled=row) for row in rows],
                           default_entry_values=default_values)


def test_collision_matrix_is_read_from_its_upper_triangle():
    matrix = read_matrix(rows_of(['b', 'a'], [[True, True], [False, True]]))
    assert matrix.allowed('a', 'b')
    assert not matrix.allowed('a', 'a')
    assert not read_matrix(rows_of(['b', 'a'], [[True, False], [True, True]])).allowed('a', 'b')


@pytest.mark.parametrize(('arguments', 'words'), [
    ((['a', 'b'], [[True, True]]), 'entry_values has length 1; valid: 2'),
    ((['a', 'b'], [[True, True], [True]]), "the row of 'b' has length 1; valid: 2"),
])
def test_malformed_collision_matrices_are_refused(arguments, words):
    with pytest.raises(RequestError, match=words):
        read_matrix(rows_of(*arguments))


@given(ENTRIES, FLAGS)
def test_collision_matrix_survives_a_round_trip(pairs, defaults):
    matrix = AllowedCollisions(pairs, defaults)
    returned = read_matrix(matrix_message(matrix))
    for first, second in itertools.combinations([*BODIES, 'stranger'], 2):
        assert returned.allowed(first, second) == matrix.allowed(first, second)


def read_tree(data: bytes, resolution: float = 0.1, binary: bool = True) -> OcTree:
    return read_octomap(SimpleNamespace(data=np.frombuffer(data, np.int8).tolist(),
                                        resolution=resolution, binary=binary))


def binary_octree(last: int, levels: int = 16) -> bytes:
    """Return nodes that have child 7 on each level, down to a last node in the far corner."""
    inner = 0b11 << 14
    return inner.to_bytes(2, 'little') * (levels - 1) + last.to_bytes(2, 'little')


def test_binary_octomap_is_read() -> None:
    tree = read_tree(binary_octree(0b10 << 2 | 0b01))     # child 1 occupied, child 0 free
    edge = (2 ** 15 - 2) * 0.1
    assert tree.points == pytest.approx(np.array([[edge + 0.15, edge + 0.05, edge + 0.05]]))
    assert len(read_tree(binary_octree(0b10, levels=15)).points) == 8   # a leaf of 2 x 2 x 2 cells
    assert read_tree(b'\x55\x55') is None      # free cells only


def test_full_octomap_is_read() -> None:
    def node(value: float, mask: int) -> bytes:
        return np.float32(value).tobytes() + bytes([mask])
    data = node(0, 1) * 13 + node(0, 0b101) + node(2.0, 0) + node(-1.0, 0)
    assert len(read_tree(data, 0.5, binary=False).points) == 4 ** 3


@pytest.mark.parametrize(('data', 'words'), [
    (b'', 'byte 0'), (b'\xff\xff', 'byte 2'), (b'\x02\x00\x00', 'octomap'),
    (b'\x02\x00', 'more than')])
def test_malformed_octomap_data_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(RequestError, match=words):
        read_tree(data)


def test_changed_description_keeps_attached_objects_and_forbidden_pairs(panda):
    """Past defects: an object that touches a later one was lost, and pairs were allowed again."""
    scene = attach(attach(Scene(panda), 'a', pose_at(0.2)), 'b', pose_at(0.3))
    scene = scene.attach(scene.attached['a'].object, HAND, ['b'])
    scene = scene.with_allowed(AllowedCollisions())
    transferred = transfer_scene(scene, panda)
    assert dict(transferred.attached) == dict(scene.attached)
    assert not any(transferred.allowed.allowed(*pair) for pair in panda.disabled_pairs)


HAND = 'panda_hand'


def pose_at(z):
    return pin.SE3(np.eye(3), np.array([0.0, 0.0, z]))


def attach(scene, id, T):
    item = SceneObject(id, [Box((0.02, 0.02, 0.08))], T, {'tip': pose_at(0.04)})
    return scene.attach(item, HAND)


@pytest.fixture
def scene(panda):
    """Return a scene with two attached objects: a peg with frame peg/tip, and a tool."""
    return attach(attach(Scene(panda), 'peg', pose_at(0.13)), 'tool', pose_at(0.2))


def test_misspelt_frame_is_refused_with_a_suggestion(scene):
    robot = framed_robot(scene, ['peg/tip', 'tol'])
    assert {*robot.added_frames} == {'peg/tip'}
    with pytest.raises(RequestError, match="tips: unknown frame 'tol'; did you mean 'tool'"):
        link_name(robot, 'tol', 'tips', scene)


@pytest.mark.parametrize(('change', 'message'), [
    (lambda scene: attach(scene, 'other', pose_at(0.3)), ''),
    (lambda scene: attach(scene, 'tool', pose_at(0.201)), "frame 'tool' was moved or removed"),
    (lambda scene: scene.detach('peg', at=Configuration(scene.robot, scene.robot.neutral)),
     "frame 'peg/tip' was moved or removed"),
    (lambda scene: Scene(scene.robot), "frame 'peg/tip' was moved or removed")])
def test_frame_that_changes_during_a_request_is_named(scene, change, message):
    """`gripper`, the tool of the request, is not a frame of the scene."""
    assert frame_change_text(['gripper', 'peg/tip', 'tool'], scene, change(scene)) == message
