"""World objects through ~/apply_planning_scene: MoveIt's operations, and its traps."""

import math

from geometry_msgs.msg import Point32
from moveit_msgs.msg import CollisionObject, PlanningScene
from node_harness import eventually, matrix
import numpy as np
import pytest
from scene_harness import (
    applied,
    attached,
    box,
    change,
    check,
    diff,
    floor,
    get,
    HOME,
    objects,
    pairs,
    place,
    pose,
    refused,
    solid,
    tetrahedron,
)
from shape_msgs.msg import SolidPrimitive

from ros2_ik.core import Configuration

ADD, REMOVE = CollisionObject.ADD, CollisionObject.REMOVE
APPEND, MOVE = CollisionObject.APPEND, CollisionObject.MOVE
FAR = pose(0.0, 0.0, 3.0)
pytestmark = pytest.mark.usefixtures('empty_scene')


def test_add_replaces(client):
    assert "'a'" in applied(client, diff(box('a', at=FAR)))
    applied(client, diff(box('a', 0.2, at=pose(0, 0, 4))))
    item = objects(client)['a']
    assert item.primitives[0].dimensions.tolist() == [0.2] * 3 and place(item.pose) == [0, 0, 4]
    assert item.header.frame_id == 'panda_link0' and item.operation == ADD


def test_the_answer_names_what_was_done(client):
    assert applied(client, diff(box('a', at=FAR), box('b', at=FAR))) == (
        "added 'a', 'b'; the scene has 'a', 'b'")
    assert applied(client, diff(change('a', REMOVE), change('b', MOVE, pose=pose(0, 0, 4)))) == (
        "removed 'a'; moved 'b'; the scene has 'b'")
    assert applied(client, diff(holding=[attached(change('b', ADD))])).startswith(
        "attached 'b'; the scene has no objects; attached: 'b'")
    assert applied(client, diff(holding=[attached(change('', REMOVE))])).startswith(
        "detached all on 'panda_hand'; the scene has 'b'")
    assert applied(client, diff(change('', REMOVE))) == 'removed all; the scene has no objects'


def test_bad_add_keeps_the_old_object(client):
    """MoveIt removes the old one before it reads the shapes."""
    applied(client, diff(box('a', at=FAR)))
    bad = box('a', at=pose(0, 0, 4))
    bad.primitives[0].dimensions = [1.0, 1.0]
    assert 'world.collision_objects[0]' in refused(client, diff(bad))
    assert place(objects(client)['a'].pose) == [0, 0, 3]


def test_shapes_of_every_kind(client):
    item = change('all', ADD, pose=FAR)
    item.primitives = [solid(SolidPrimitive.BOX, 0.1, 0.2, 0.3), solid(SolidPrimitive.SPHERE, 0.1),
                       solid(SolidPrimitive.CYLINDER, 0.3, 0.1),
                       solid(SolidPrimitive.CONE, 0.3, 0.1)]
    item.meshes, item.planes = [tetrahedron()], [floor(2.0)]
    item.primitive_poses = [pose(0.5)]
    applied(client, diff(item))
    back = objects(client)['all']
    assert [list(shape.dimensions) for shape in back.primitives] \
        == [list(shape.dimensions) for shape in item.primitives]
    assert [shape.type for shape in back.primitives] == [1, 2, 3, 4]
    assert len(back.meshes[0].triangles) == 4 and list(back.planes[0].coef) == [0, 0, 1, -2]
    assert place(back.primitive_poses[0]) == [0.5, 0, 0]
    assert place(back.primitive_poses[1]) == [0, 0, 0]   # missing ones are the identity


def test_cylinder_stands_and_height_comes_first(client):
    """The arm at HOME is 0.59 m high at x = 0.3; a post of 1 m reaches it, a disc does not."""
    for height, radius, hit in ((1.0, 0.02, True), (0.02, 0.3, False)):
        item = change('post', ADD, pose=pose(0.31, 0, 0.5 if hit else -0.5))
        item.primitives = [solid(SolidPrimitive.CYLINDER, height, radius)]
        applied(client, diff(item))
        assert check(client).valid is not hit


def test_prism_is_not_dropped(client):
    """MoveIt drops it without a word."""
    item = change('prism', ADD, pose=FAR)
    prism = solid(SolidPrimitive.PRISM, 0.4)
    prism.polygon.points = [Point32(x=x, y=y) for x, y in ((0.0, 0.0), (0.1, 0.0), (0.0, 0.1))]
    item.primitives = [prism]
    applied(client, diff(item))
    points = {(round(p.x, 6), round(p.y, 6), round(p.z, 6))
              for p in objects(client)['prism'].meshes[0].vertices}
    assert points == {(x, y, z) for x, y in ((0, 0), (0.1, 0), (0, 0.1)) for z in (-0.2, 0.2)}


def test_one_shape_rule(client):
    """A single shape whose object has no pose hands its own to the object; two do not."""
    one = box('one', primitive_poses=[pose(0, 0, 3)])
    two = box('two', primitive_poses=[pose(0, 0, 3)])
    two.primitives = [two.primitives[0]] * 2
    posed = box('posed', at=pose(0, 0, 2), primitive_poses=[pose(0, 0, 3)])
    applied(client, diff(one, two, posed))
    found = objects(client)
    assert place(found['one'].pose) == [0, 0, 3]
    assert place(found['one'].primitive_poses[0]) == [0, 0, 0]
    assert place(found['two'].pose) == [0, 0, 0]
    assert place(found['two'].primitive_poses[0]) == [0, 0, 3]
    assert place(found['posed'].pose) == [0, 0, 2]
    applied(client, diff(change('one', MOVE, pose=pose(1, 0, 3))))
    assert place(objects(client)['one'].pose) == [1, 0, 3]


def test_append(client):
    applied(client, diff(box('a', at=FAR, subframe_names=['old'], subframe_poses=[pose(1)])))
    applied(client, diff(box('a', 0.2, at=pose(9, 9, 9), operation=APPEND,
                             subframe_names=['new'], subframe_poses=[pose(2)],
                             primitive_poses=[pose(0, 0, 0.5)])))
    item = objects(client)['a']
    assert place(item.pose) == [0, 0, 3] and len(item.primitives) == 2   # the pose is kept
    assert place(item.primitive_poses[1]) == [0, 0, 0.5]
    assert list(item.subframe_names) == ['new']                          # these are replaced
    applied(client, diff(box('fresh', at=FAR, operation=APPEND)))        # unknown id: like ADD
    assert place(objects(client)['fresh'].pose) == [0, 0, 3]


def test_move(client):
    applied(client, diff(box('a', at=FAR, subframe_names=['s'], subframe_poses=[pose(1)])))
    applied(client, diff(change('a', MOVE, pose=pose(0, 0, 4))))
    assert place(objects(client)['a'].pose) == [0, 0, 4]
    applied(client, diff(box('b', at=pose(1), frame='a/s')))              # subframes come along
    assert place(objects(client)['b'].pose) == [2, 0, 4]
    applied(client, diff(change('a', MOVE, primitive_poses=[pose(0, 0, 5)])))
    item = objects(client)['a']            # the pose of the message always counts
    assert place(item.pose) == [0, 0, 0] and place(item.primitive_poses[0]) == [0, 0, 5]
    assert 'not read' in applied(client, diff(box('a', 0.5, at=FAR, operation=MOVE)))
    assert objects(client)['a'].primitives[0].dimensions.tolist() == [0.1] * 3
    assert "unknown object 'c'; valid: a, b" in refused(client, diff(change('c', MOVE)))
    assert '1 parts, not 2' in refused(client, diff(change('a', MOVE,
                                                           primitive_poses=[pose()] * 2)))


def test_remove(client):
    applied(client, diff(box('a', at=FAR), box('b', at=pose(0, 0, 4))))
    applied(client, diff(change('a', REMOVE)))
    assert set(objects(client)) == {'b'}
    assert "unknown object 'a'" in refused(client, diff(change('a', REMOVE)))
    applied(client, diff(change('', REMOVE)))
    assert not objects(client)


def test_a_changed_frame_and_turned_poses(client):
    half = math.sqrt(0.5)
    applied(client, diff(box('a', at=pose(0, 0, 3, (0, 0, half, half)))))
    applied(client, diff(box('b', at=pose(1, 0, 0), frame='/a')))
    assert place(objects(client)['b'].pose) == [0, 1, 3]
    assert np.allclose(matrix(objects(client)['b'].pose)[:3, 0], [0, 1, 0])


def test_frames_of_links_are_those_of_now(client, panda):
    applied(client, diff(box('a', 0.01, at=pose(0, 0, 0.3), frame='panda_hand')))
    T = Configuration(panda, HOME).transform('panda_hand')
    assert np.allclose(place(objects(client)['a'].pose), (T @ [0, 0, 0.3, 1])[:3], atol=1e-8)
    elsewhere = HOME | {'panda_joint1': 1.0}
    applied(client, diff(joints=elsewhere))
    assert np.allclose(place(objects(client)['a'].pose), (T @ [0, 0, 0.3, 1])[:3], atol=1e-8)


def test_frame_of_a_link_needs_joint_values(client):
    said = refused(client, diff(box('a', frame='panda_hand'), joints={}))
    assert "'panda_joint1' is needed" in said and "ADD of object 'a'" in said
    assert applied(client, diff(box('a', at=FAR, frame='panda_link0'), joints={}))


def test_quaternions_are_normalised(client):
    applied(client, diff(box('a', at=pose(0, 0, 3, (0, 0, 0, 1.009)))))
    assert objects(client)['a'].pose.orientation.w == 1.0


def test_topic_of_objects(client, panda_node):
    client.publish('ros2_ik/collision_object', box('a', at=FAR))
    eventually(lambda: 'a' in objects(client), 'the object of the topic')
    client.publish('ros2_ik/collision_object', change('nobody', REMOVE))
    eventually(lambda: "REMOVE of object 'nobody': unknown object" in panda_node.text,
               'the refusal in the log')
    scene = PlanningScene(is_diff=True)
    scene.world.collision_objects = [change('a', REMOVE)]
    client.publish('ros2_ik/planning_scene', scene)
    eventually(lambda: 'a' not in objects(client), 'the change of the topic')


def test_ids_only_or_geometry(client):
    applied(client, diff(box('a', at=FAR)))
    assert not get(client, 8).world.collision_objects[0].primitives
    assert get(client, 16).world.collision_objects[0].primitives
    assert not get(client, 1).world.collision_objects


def test_what_touches(client):
    applied(client, diff(box('a', at=pose(0.31, 0, 0.55))))
    response = check(client)
    assert not response.valid and any('a' in pair for pair in pairs(response))
