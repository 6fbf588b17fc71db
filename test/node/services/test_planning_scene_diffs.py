"""Whole scenes and diffs in ~/apply_planning_scene: MoveIt's rules, and refusals."""

import math

from moveit_msgs.msg import (
    AllowedCollisionEntry,
    AllowedCollisionMatrix,
    CollisionObject,
    LinkPadding,
    LinkScale,
    PlanningScene,
)
import pytest
from scene_harness import (
    applied,
    attached,
    attached_objects,
    box,
    change,
    check_state,
    color,
    contact_pairs,
    contents,
    diff,
    frame,
    get_scene,
    mesh,
    octomap_world,
    pose,
    position,
    refused,
    solid,
    tetrahedron,
    world_objects,
)
from shape_msgs.msg import SolidPrimitive

ADD, NAN, FAR = CollisionObject.ADD, math.nan, pose(0.0, 0.0, 3.0)
pytestmark = pytest.mark.usefixtures('empty_scene')


def matrix(names, allowed):
    rows = [AllowedCollisionEntry(enabled=[{a, b} in allowed for b in names]) for a in names]
    return AllowedCollisionMatrix(entry_names=names, entry_values=rows)


def test_returned_scene_can_be_applied_again(client):
    item = box('a', at=FAR, subframe_names=['s'], subframe_poses=[pose(1)])
    item.meshes, item.mesh_poses = [tetrahedron()], [pose(1)]
    tool = attached(box('tool', 0.02, at=pose(0, 0, 0.1), frame='panda_hand'),
                    touch=['panda_leftfinger'])
    applied(client, diff(item, holding=[tool], name='cell', object_colors=[
        color('a', 1.0, 0.5, 0.0, 1.0)], link_padding=[
            LinkPadding(link_name='panda_link5', padding=0.01)],
        fixed_frame_transforms=[frame('camera', (1, 0, 1))]))
    scene = get_scene(client)
    assert scene.name == 'cell' and scene.robot_model_name == 'panda' and not scene.is_diff
    applied(client, diff(change('', CollisionObject.REMOVE), name='empty'))
    applied(client, scene)
    assert contents(get_scene(client)) == contents(scene)
    assert world_objects(client)['a'].meshes and 'tool' in attached_objects(client)


def test_whole_scene_replaces_objects_and_keeps_frames(client, initial_scene):
    applied(client, diff(box('a', at=FAR), name='old', holding=[
        attached(box('tool', 0.02, frame='panda_hand'))], link_padding=[
            LinkPadding(link_name='panda_link5', padding=0.01)],
        fixed_frame_transforms=[frame('camera', (1, 0, 1))]))
    scene = PlanningScene(allowed_collision_matrix=initial_scene.allowed_collision_matrix)
    scene.world.collision_objects = [box('b', at=FAR)]
    applied(client, scene)
    found = get_scene(client)
    assert [item.id for item in found.world.collision_objects] == ['b']
    assert not found.name and not found.link_padding and not attached_objects(client)
    assert 'camera' in {item.header.frame_id for item in found.fixed_frame_transforms}    # merged
    scene.robot_state.is_diff = True
    applied(client, diff(holding=[attached(box('tool', 0.02, frame='panda_hand'))]))
    applied(client, scene)
    assert 'tool' in attached_objects(client)


def test_empty_collision_matrix_allows_nothing(client):
    """Collisions of adjacent links, which the SRDF disables, are then checked as well."""
    assert check_state(client).valid
    message = applied(client, PlanningScene())
    assert 'since is_diff is false; its empty allowed_collision_matrix removes' in message
    assert not get_scene(client).allowed_collision_matrix.entry_names
    # a diff without a matrix does not restore the entries
    assert 'replaced' not in applied(client, diff(name='still'))
    assert not get_scene(client).allowed_collision_matrix.entry_names


def test_collision_matrix_of_a_diff_keeps_other_pairs(client, initial_scene):
    wall = box('wall', 0.3, at=pose(0.31, 0, 0.6))
    applied(client, diff(wall))
    touching = {name for pair in contact_pairs(check_state(client)) for name in pair} - {'wall'}
    names = ['wall', *sorted(touching)]
    applied(client, diff(allowed_collision_matrix=matrix(
        names, [{'wall', name} for name in touching])))
    found = get_scene(client).allowed_collision_matrix
    before = initial_scene.allowed_collision_matrix
    assert set(found.entry_names) == {'wall', *before.entry_names}
    for first, row in zip(before.entry_names, before.entry_values, strict=True):
        for second, allowed in zip(before.entry_names, row.enabled, strict=True):
            one, other = map(found.entry_names.index, (first, second))
            if not {first, second} <= touching:
                assert found.entry_values[one].enabled[other] == allowed, (first, second)
    assert not any('wall' in pair for pair in contact_pairs(check_state(client)))
    # forbid one of the pairs again
    applied(client, diff(allowed_collision_matrix=matrix(['wall', min(touching)], [])))
    assert {'wall', min(touching)} in [set(pair) for pair in contact_pairs(check_state(client))]


def test_default_entries_of_a_collision_matrix_are_applied(client, initial_scene):
    applied(client, diff(box('wall', 0.3, at=pose(0.31, 0, 0.6))))
    whole = get_scene(client)
    whole.allowed_collision_matrix.default_entry_names = ['wall']
    whole.allowed_collision_matrix.default_entry_values = [True]
    applied(client, whole)
    assert check_state(client).valid
    only = AllowedCollisionMatrix(default_entry_names=['wall'], default_entry_values=[True])
    applied(client, diff(allowed_collision_matrix=only))
    assert check_state(client).valid
    applied(client, diff(change('wall', CollisionObject.REMOVE)))     # with its rows
    assert not get_scene(client).allowed_collision_matrix.default_entry_names
    broken = AllowedCollisionMatrix(entry_names=['a', 'b'])
    assert 'allowed_collision_matrix' in refused(client, diff(allowed_collision_matrix=broken))


def test_fixed_frame_transforms_run_opposite_to_tf(client):
    applied(client, diff(fixed_frame_transforms=[frame('camera', (1, 0, 1)),
                                                 frame('world2', (0, 0, 2), '')]))
    applied(client, diff(box('a', at=pose(0, 0, 1), frame='camera')))
    assert position(world_objects(client)['a'].pose) == [1, 0, 2]
    message = refused(client, diff(fixed_frame_transforms=[
        frame('panda_link0', (1, 0, 1), 'cam')]))
    assert "child_frame_id is 'cam'" in message


def test_link_scale_is_refused_unless_it_is_1_or_not_set(client):
    """Messages of MoveIt have scale 1 for every link."""
    for scale in (2.0, float('nan')):
        item = LinkScale(link_name='panda_link5', scale=scale)
        message = refused(client, diff(link_scale=[item]))
        assert "link_scale[0]: links are not scaled, but 'panda_link5'" in message
    for scale in (0.0, 1.0):
        applied(client, diff(link_scale=[LinkScale(link_name='panda_link5', scale=scale)]))


def test_valid_octomap_is_stored_and_malformed_octomap_is_refused(client):
    scene = PlanningScene(is_diff=True, world=octomap_world())
    map = scene.world.octomap
    map.header.frame_id, map.origin.position.z = 'panda_link0', 3.0
    applied(client, scene)
    returned = get_scene(client, 32).world.octomap
    assert returned.octomap.data == map.octomap.data and returned.origin.position.z == 3.0
    assert not world_objects(client)
    applied(client, diff(change('', CollisionObject.REMOVE)))     # keeps the octomap
    assert get_scene(client).world.octomap.octomap.id == 'OcTree'
    map.octomap.id = 'ColorOcTree'
    assert 'valid: OcTree' in refused(client, scene)
    map.octomap.id, map.octomap.data = 'OcTree', map.octomap.data[:-1]
    assert 'invalid at byte' in refused(client, scene)


def test_refused_diff_changes_nothing(client):
    """Only the last of several parts is malformed."""
    scene = diff(box('a', at=FAR), name='half', link_padding=[
        LinkPadding(link_name='panda_link5', padding=0.02)],
        fixed_frame_transforms=[frame('half', (0, 0, 1))],
        holding=[attached(box('tool', 0.02, frame='panda_hand'))],
        allowed_collision_matrix=matrix(['a', 'b'], []),
        object_colors=[color('nobody', 1.0, 0.0, 0.0, 1.0)])
    refused(client, scene)
    assert not world_objects(client) and not attached_objects(client)
    assert "robot_model_name is 'ur5'" in refused(client, diff(robot_model_name='ur5'))


def new_object(**shapes):
    return change('new', ADD, pose=FAR, **shapes)


MALFORMED = {
    'NaN position': (box('new', at=pose(NAN)), 'not finite'),
    'zero quaternion of a subframe': (box('new', at=FAR, subframe_names=['s'],
                                          subframe_poses=[pose(quat=(0, 0, 0, 0))]),
                                      "subframe 's' is zero"),
    'negative size': (new_object(primitives=[solid(SolidPrimitive.BOX, 1, -1, 1)]),
                      'primitives[0]: the size of a box'),
    'no type': (new_object(primitives=[SolidPrimitive()]), 'valid: BOX 1, SPHERE 2'),
    'no shapes': (change('new', ADD), 'no shapes; ros2cli sends REMOVE as operation: [1]'),
    'more poses than shapes': (box('new', primitive_poses=[pose()] * 2),
                               '2 primitive_poses for 1 primitives'),
    'mesh index out of range': (
        new_object(meshes=[mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 3)])]),
        'triangle 0 is'),
    'empty mesh': (new_object(meshes=[mesh([(0, 0, 0)], [])]), 'is empty'),
    'fewer subframe poses than names': (box('new', at=FAR, subframe_names=['s']),
                                        '1 subframe_names but 0 subframe_poses'),
    'unknown frame': (box('new', frame='tabel'), "unknown frame 'tabel'"),
    'id with a line break': (box('a\nb'), 'printable characters'),
    'id of the octomap': (box('<octomap>'), 'reserved for an octree'),
    'unknown operation': (box('new', operation=b'\x09'), 'the operation is 9; valid: ADD 0'),
}


def test_malformed_object_is_refused_by_its_field_without_change(client):
    applied(client, diff(box('old', at=FAR)))
    for name, (item, words) in MALFORMED.items():
        message = refused(client, diff(box('good', at=FAR), item))
        assert words in message and 'world.collision_objects' in message, name
        assert '\n' not in message, name
    for name in ('NaN position', 'negative size', 'unknown frame', 'id with a line break'):
        item, words = MALFORMED[name]
        message = refused(client, diff(holding=[attached(item)]))
        assert words in message and 'robot_state.attached_collision_objects[0]' in message, name
    assert set(world_objects(client)) == {'old'}
