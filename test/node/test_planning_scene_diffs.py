"""Whole scenes and changes through ~/apply_planning_scene: MoveIt's rules, and its traps."""


from geometry_msgs.msg import TransformStamped
from moveit_msgs.msg import (
    AllowedCollisionEntry,
    AllowedCollisionMatrix,
    CollisionObject,
    LinkPadding,
    LinkScale,
    ObjectColor,
    PlanningScene,
)
import pytest
from scene_harness import (
    applied,
    attached,
    box,
    change,
    check,
    contents,
    diff,
    get,
    held,
    objects,
    pairs,
    place,
    pose,
    refused,
    tetrahedron,
)

FAR = pose(0.0, 0.0, 3.0)


@pytest.fixture(scope='module')
def initial(client, panda_node):
    """Give the scene of the node as it was at the start."""
    return get(client)


@pytest.fixture(autouse=True)
def anew(client, initial):
    """Begin each test with that."""
    applied(client, initial)


def matrix(names, allowed, defaults=None):
    rows = [AllowedCollisionEntry(enabled=[{a, b} in allowed for b in names]) for a in names]
    defaults = defaults or {}
    return AllowedCollisionMatrix(entry_names=names, entry_values=rows,
                                  default_entry_names=list(defaults),
                                  default_entry_values=list(defaults.values()))


def frame(name, place, child='panda_link0'):
    message = TransformStamped(child_frame_id=child)
    message.header.frame_id = name
    t = message.transform.translation
    t.x, t.y, t.z = (float(value) for value in place)
    return message


def color(id, *rgba):
    message = ObjectColor(id=id)
    message.color.r, message.color.g, message.color.b, message.color.a = rgba
    return message


def test_a_scene_given_is_one_that_can_be_applied(client):
    item = box('a', at=FAR, subframe_names=['s'], subframe_poses=[pose(1)])
    item.meshes, item.mesh_poses = [tetrahedron()], [pose(1)]
    tool = attached(box('tool', 0.02, at=pose(0, 0, 0.1), frame='panda_hand'),
                    touch=['panda_leftfinger'])
    applied(client, diff(item, holding=[tool], name='cell', object_colors=[
        color('a', 1.0, 0.5, 0.0, 1.0)], link_padding=[
            LinkPadding(link_name='panda_link5', padding=0.01)],
        fixed_frame_transforms=[frame('camera', (1, 0, 1))]))
    scene = get(client)
    assert scene.name == 'cell' and scene.robot_model_name == 'panda' and not scene.is_diff
    applied(client, diff(change('', CollisionObject.REMOVE), name='empty'))
    applied(client, scene)
    assert contents(get(client)) == contents(scene)
    assert objects(client)['a'].meshes and 'tool' in held(client)


def test_a_whole_scene_replaces(client, initial):
    applied(client, diff(box('a', at=FAR), name='old', holding=[
        attached(box('tool', 0.02, frame='panda_hand'))], link_padding=[
            LinkPadding(link_name='panda_link5', padding=0.01)],
        fixed_frame_transforms=[frame('camera', (1, 0, 1))]))
    scene = PlanningScene(allowed_collision_matrix=initial.allowed_collision_matrix)
    scene.world.collision_objects = [box('b', at=FAR)]
    applied(client, scene)
    now = get(client)
    assert [item.id for item in now.world.collision_objects] == ['b']
    assert not now.name and not now.link_padding and not held(client)
    assert [item.header.frame_id for item in now.fixed_frame_transforms] == ['camera']  # merged
    scene.robot_state.is_diff = True
    applied(client, diff(holding=[attached(box('tool', 0.02, frame='panda_hand'))]))
    applied(client, scene)
    assert 'tool' in held(client)


def test_an_empty_matrix_allows_nothing(client, initial, panda):
    """Links next to each other that only the SRDF disables are then checked."""
    assert check(client).valid
    said = applied(client, PlanningScene())
    assert 'the whole scene was replaced, since is_diff is false' in said
    assert not get(client).allowed_collision_matrix.entry_names
    # a change without a matrix does not bring it back
    assert 'replaced' not in applied(client, diff(name='still'))
    assert not get(client).allowed_collision_matrix.entry_names


def test_a_matrix_in_a_change_leaves_other_pairs(client, initial):
    wall = box('wall', 0.3, at=pose(0.31, 0, 0.6))
    applied(client, diff(wall))
    touching = {name for pair in pairs(check(client)) for name in pair} - {'wall'}
    names = ['wall', *sorted(touching)]
    applied(client, diff(allowed_collision_matrix=matrix(
        names, [{'wall', name} for name in touching])))
    found = get(client).allowed_collision_matrix
    before = initial.allowed_collision_matrix
    assert set(found.entry_names) == {'wall', *before.entry_names}
    for first, row in zip(before.entry_names, before.entry_values, strict=True):
        for second, allowed in zip(before.entry_names, row.enabled, strict=True):
            one, other = map(found.entry_names.index, (first, second))
            if not {first, second} <= touching:
                assert found.entry_values[one].enabled[other] == allowed, (first, second)
    assert not any('wall' in pair for pair in pairs(check(client)))
    # one pair alone is forbidden again
    applied(client, diff(allowed_collision_matrix=matrix(['wall', min(touching)], [])))
    assert {'wall', min(touching)} in [set(pair) for pair in pairs(check(client))]


def test_defaults_of_a_matrix(client, initial):
    applied(client, diff(box('wall', 0.3, at=pose(0.31, 0, 0.6))))
    whole = get(client)
    whole.allowed_collision_matrix.default_entry_names = ['wall']
    whole.allowed_collision_matrix.default_entry_values = [True]
    applied(client, whole)
    assert check(client).valid
    only = AllowedCollisionMatrix(default_entry_names=['wall'], default_entry_values=[True])
    applied(client, diff(allowed_collision_matrix=only))
    assert check(client).valid
    applied(client, diff(change('wall', CollisionObject.REMOVE)))     # its rows go with it
    assert not get(client).allowed_collision_matrix.default_entry_names
    broken = AllowedCollisionMatrix(entry_names=['a', 'b'])
    assert 'allowed_collision_matrix' in refused(client, diff(allowed_collision_matrix=broken))


def test_fixed_frames_run_against_tf(client):
    applied(client, diff(fixed_frame_transforms=[frame('camera', (1, 0, 1)),
                                                 frame('world2', (0, 0, 2), '')]))
    applied(client, diff(box('a', at=pose(0, 0, 1), frame='camera')))
    assert place(objects(client)['a'].pose) == [1, 0, 2]
    said = refused(client, diff(fixed_frame_transforms=[frame('panda_link0', (1, 0, 1), 'cam')]))
    assert "child_frame_id is 'cam'" in said


def test_padding(client):
    applied(client, diff(box('near', 0.1, at=pose(0.31, 0, 0.95))))
    gap = min(d.distance for d in check(client, influence=0.5).distances if 'near' in
              (d.body_1, d.body_2))
    links = {name for d in check(client, influence=0.5).distances for name in
             (d.body_1, d.body_2)} - {'near'}
    applied(client, diff(link_padding=[LinkPadding(link_name=link, padding=gap + 0.01)
                                       for link in links]))
    response = check(client)
    assert response.contacts and all('near' in pair for pair in pairs(response))   # not the links
    assert 'must be a finite number from 0 on, not -0.1' in refused(client, diff(
        link_padding=[LinkPadding(link_name='panda_link5', padding=-0.1)]))
    assert 'unknown link' in refused(client, diff(
        link_padding=[LinkPadding(link_name='panda_link55')]))


def test_link_scale_is_refused_unless_it_is_1_or_not_set(client):
    """MoveIt's own messages have 1 for every link."""
    for scale in (2.0, -1.0, float('nan')):
        said = refused(client, diff(link_scale=[LinkScale(link_name='panda_link5', scale=scale)]))
        assert "link_scale[0]: links are not scaled, but 'panda_link5'" in said
    for scale in (0.0, 1.0):
        applied(client, diff(link_scale=[LinkScale(link_name='panda_link5', scale=scale)]))
    assert check(client).valid and not get(client, 256).link_scale


def test_colours(client):
    applied(client, diff(box('a', at=FAR), object_colors=[color('a', 1.0, 0.0, 0.0, 1.0)]))
    assert get(client, 512).object_colors[0].color.r == 1.0
    applied(client, diff(box('a', 0.2, at=FAR)))
    assert get(client, 512).object_colors
    applied(client, diff(change('a', CollisionObject.REMOVE)))
    applied(client, diff(box('a', at=FAR)))
    assert not get(client, 512).object_colors
    for wrong in (color('b', 1.0, 0.0, 0.0, 1.0), color('a', 2.0, 0.0, 0.0, 1.0)):
        assert 'object_colors[0]' in refused(client, diff(object_colors=[wrong]))


def test_octomap(client):
    """One occupied eighth of the eighth next to the origin, of a tree of 65536 cells a side."""
    scene = diff()
    map = scene.world.octomap
    map.header.frame_id = 'panda_link0'
    map.octomap.id, map.octomap.binary, map.octomap.resolution = 'OcTree', True, 0.05
    map.octomap.data = _one_cell()
    map.origin.position.z = 3.0
    applied(client, scene)
    back = get(client, 32).world.octomap
    assert back.octomap.data == map.octomap.data and back.origin.position.z == 3.0
    assert not objects(client)
    applied(client, diff(change('', CollisionObject.REMOVE)))     # not the octomap
    assert get(client).world.octomap.octomap.id == 'OcTree'
    map.octomap.id = 'ColorOcTree'
    assert 'valid: OcTree' in refused(client, scene)
    map.octomap.id, map.octomap.data = 'OcTree', map.octomap.data[:-1]
    assert 'broken at byte' in refused(client, scene)
    map.octomap.data = []
    applied(client, scene)
    assert not get(client).world.octomap.octomap.id


def _one_cell():
    """Follow child 7 (the positive side of all axes), then 0 down to one cell."""
    rows = [3 << 14] + [3] * 14 + [2]
    return [byte - 256 if byte > 127 else byte for row in rows for byte in (row & 255, row >> 8)]


def test_nothing_half_applied(client):
    """A change of many parts, of which the last makes no sense."""
    scene = diff(box('a', at=FAR), name='half', link_padding=[
        LinkPadding(link_name='panda_link5', padding=0.02)],
        fixed_frame_transforms=[frame('half', (0, 0, 1))],
        holding=[attached(box('tool', 0.02, frame='panda_hand'))],
        allowed_collision_matrix=matrix(['a', 'b'], []),
        object_colors=[color('nobody', 1.0, 0.0, 0.0, 1.0)])
    refused(client, scene)
    assert not objects(client) and not held(client)
    assert "robot_model_name is 'ur5'" in refused(client, diff(robot_model_name='ur5'))
