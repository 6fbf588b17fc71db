"""World and attached objects in ~/apply_planning_scene, and ~/scene_markers."""

from moveit_msgs.msg import CollisionObject, PlanningScene
from node_harness import eventually
import numpy as np
import pytest
from rclpy.qos import DurabilityPolicy, qos_profile_sensor_data, QoSProfile
from scene_harness import (
    applied,
    attached,
    attached_objects,
    box,
    change,
    color,
    diff,
    floor,
    get_scene,
    HOME,
    pose,
    position,
    refused,
    solid,
    tetrahedron,
    world_objects,
)
from shape_msgs.msg import SolidPrimitive
from visualization_msgs.msg import Marker, MarkerArray

from ros2_ik.core import Configuration

ADD, REMOVE = CollisionObject.ADD, CollisionObject.REMOVE
APPEND, MOVE = CollisionObject.APPEND, CollisionObject.MOVE
FAR = pose(0.0, 0.0, 3.0)
pytestmark = pytest.mark.usefixtures('empty_scene')


def test_reply_lists_the_objects_of_the_scene(client):
    assert applied(client, diff(box('a', at=FAR), box('b', at=FAR))) == "the scene has 'a', 'b'"
    assert applied(client, diff(holding=[attached(change('b', ADD))])).startswith(
        "the scene has 'a', 'b' (attached)")
    assert applied(client, diff(change('', REMOVE), holding=[attached(change('', REMOVE))])) == (
        'the scene has no objects')


def test_malformed_add_keeps_the_old_object(client):
    """MoveIt removes the old object before it reads the new shapes."""
    applied(client, diff(box('a', at=FAR)))
    malformed = box('a', at=pose(0, 0, 4))
    malformed.primitives[0].dimensions = [1.0, 1.0]
    assert 'world.collision_objects[0]' in refused(client, diff(malformed))
    assert position(world_objects(client)['a'].pose) == [0, 0, 3]


def test_every_shape_is_stored(client):
    item = change('all', ADD, pose=FAR)
    item.primitives = [solid(SolidPrimitive.BOX, 0.1, 0.2, 0.3), solid(SolidPrimitive.SPHERE, 0.1),
                       solid(SolidPrimitive.CYLINDER, 0.3, 0.1),
                       solid(SolidPrimitive.CONE, 0.3, 0.1)]
    item.meshes, item.planes = [tetrahedron()], [floor(2.0)]
    item.primitive_poses = [pose(0.5)]
    applied(client, diff(item))
    returned = world_objects(client)['all']
    assert [list(shape.dimensions) for shape in returned.primitives] \
        == [list(shape.dimensions) for shape in item.primitives]
    assert [shape.type for shape in returned.primitives] == [1, 2, 3, 4]
    assert list(returned.planes[0].coef) == [0, 0, 1, -2]
    assert [len(mesh.triangles) for mesh in returned.meshes] == [4]
    assert not get_scene(client, 8).world.collision_objects[0].primitives     # names only
    assert position(returned.primitive_poses[0]) == [0.5, 0, 0]
    assert position(returned.primitive_poses[1]) == [0, 0, 0]   # default: identity


def test_pose_of_a_single_shape_becomes_the_pose_of_its_object(client):
    """Only if the object has no pose, and only one shape."""
    one = box('one', primitive_poses=[pose(0, 0, 3)])
    two = box('two', primitive_poses=[pose(0, 0, 3)])
    two.primitives = [two.primitives[0]] * 2
    posed = box('posed', at=pose(0, 0, 2), primitive_poses=[pose(0, 0, 3)])
    applied(client, diff(one, two, posed))
    found = world_objects(client)
    assert position(found['one'].pose) == [0, 0, 3]
    assert position(found['one'].primitive_poses[0]) == [0, 0, 0]
    assert position(found['two'].pose) == [0, 0, 0]
    assert position(found['two'].primitive_poses[0]) == [0, 0, 3]
    assert position(found['posed'].pose) == [0, 0, 2]
    applied(client, diff(change('one', MOVE, pose=pose(1, 0, 3))))
    assert position(world_objects(client)['one'].pose) == [1, 0, 3]


def test_append_adds_shapes_and_keeps_the_pose(client):
    applied(client, diff(box('a', at=FAR, subframe_names=['old'], subframe_poses=[pose(1)])))
    applied(client, diff(box('a', 0.2, at=pose(9, 9, 9), operation=APPEND,
                             subframe_names=['new'], subframe_poses=[pose(2)],
                             primitive_poses=[pose(0, 0, 0.5)])))
    item = world_objects(client)['a']
    assert position(item.pose) == [0, 0, 3] and len(item.primitives) == 2
    assert position(item.primitive_poses[1]) == [0, 0, 0.5]
    assert list(item.subframe_names) == ['new']                          # replaced
    applied(client, diff(box('fresh', at=FAR, operation=APPEND)))        # unknown id: ADD
    assert position(world_objects(client)['fresh'].pose) == [0, 0, 3]


def test_move_changes_poses_only(client):
    applied(client, diff(box('a', at=FAR, subframe_names=['s'], subframe_poses=[pose(1)])))
    applied(client, diff(change('a', MOVE, pose=pose(0, 0, 4))))
    assert position(world_objects(client)['a'].pose) == [0, 0, 4]
    applied(client, diff(box('b', at=pose(1), frame='a/s')))              # subframes move along
    assert position(world_objects(client)['b'].pose) == [2, 0, 4]
    applied(client, diff(change('a', MOVE, primitive_poses=[pose(0, 0, 5)])))
    item = world_objects(client)['a']            # the pose of the message always applies
    assert position(item.pose) == [0, 0, 0] and position(item.primitive_poses[0]) == [0, 0, 5]
    applied(client, diff(box('a', 0.5, at=FAR, operation=MOVE)))         # shapes are ignored
    assert world_objects(client)['a'].primitives[0].dimensions.tolist() == [0.1] * 3
    assert "unknown object 'c'; valid: a, b" in refused(client, diff(change('c', MOVE)))
    assert '1 parts, not 2' in refused(client, diff(change('a', MOVE,
                                                           primitive_poses=[pose()] * 2)))


def test_link_frame_of_an_object_is_evaluated_once(client, panda):
    applied(client, diff(box('a', 0.01, at=pose(0, 0, 0.3), frame='panda_hand')))
    p = (Configuration(panda, HOME).transform('panda_hand') @ [0, 0, 0.3, 1])[:3]
    assert np.allclose(position(world_objects(client)['a'].pose), p, atol=1e-8)
    applied(client, diff(joints=HOME | {'panda_joint1': 1.0}))
    assert np.allclose(position(world_objects(client)['a'].pose), p, atol=1e-8)
    message = refused(client, diff(box('b', frame='panda_hand'), joints={}))
    assert "'panda_joint1' is needed" in message and "ADD of object 'b'" in message


def test_scene_topics_change_the_scene(client, panda_node):
    client.publish('ros2_ik/collision_object', box('a', at=FAR))
    eventually(lambda: 'a' in world_objects(client), 'the object of the topic')
    client.publish('ros2_ik/collision_object', change('nobody', REMOVE))
    eventually(lambda: "REMOVE of object 'nobody': unknown object" in panda_node.text,
               'the refusal in the log')
    client.publish('ros2_ik/attached_collision_object', attached(change('a', ADD), 'panda_link0'))
    eventually(lambda: set(attached_objects(client)) == {'a'}, 'the attached object')
    scene = PlanningScene(is_diff=True)
    scene.world.collision_objects = [box('b', at=FAR)]
    client.publish('ros2_ik/planning_scene', scene)
    eventually(lambda: 'b' in world_objects(client), 'the change of the topic')


def test_best_effort_publisher_of_objects_is_logged(client, panda_node):
    publisher = client.node.create_publisher(
        CollisionObject, 'ros2_ik/collision_object', qos_profile_sensor_data)
    eventually(lambda: "topic '~/collision_object', offering incompatible QoS"
               in panda_node.text, 'the warning in the log')
    client.node.destroy_publisher(publisher)


LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@pytest.fixture
def wait_for_markers(client):
    """Return a function that waits for markers of exactly these objects."""
    arrays = []
    subscription = client.node.create_subscription(MarkerArray, 'ros2_ik/scene_markers',
                                                   arrays.append, LATCHED)

    def markers(*ids):
        def found():
            return arrays and {m.ns for m in arrays[-1].markers if m.action == Marker.ADD} \
                == set(ids) and arrays[-1]
        return eventually(found, f'markers of {ids}').markers
    yield markers
    client.node.destroy_subscription(subscription)


def test_scene_markers_are_latched_and_start_with_deleteall(client, wait_for_markers):
    applied(client, diff(box('a', 0.2, at=pose(1, 2, 3))))
    first, marker = wait_for_markers('a')
    assert first.action == Marker.DELETEALL
    assert marker.type == Marker.CUBE and marker.header.frame_id == 'panda_link0'
    assert (marker.scale.x, marker.scale.y, marker.scale.z) == (0.2, 0.2, 0.2)
    assert (marker.pose.position.x, marker.pose.position.y, marker.pose.position.z) == (1, 2, 3)
    assert marker.color.a == 1.0
    applied(client, diff(change('a', CollisionObject.REMOVE)))
    assert [m.action for m in wait_for_markers()] == [Marker.DELETEALL]


def test_marker_of_an_attached_object_follows_its_link(client, wait_for_markers):
    applied(client, diff(holding=[attached(box('tool', 0.02, at=pose(0, 0, 0.1),
                                               frame='panda_hand'))]))
    marker = wait_for_markers('tool (attached)')[1]
    assert marker.header.frame_id == 'panda_hand' and marker.frame_locked
    assert marker.header.stamp.sec == 0     # RViz then uses the newest transform
    assert marker.pose.position.z == 0.1


def test_attach_by_id_and_detach_keep_the_pose_in_the_world(client, panda):
    item = box('a', at=FAR, subframe_names=['top'], subframe_poses=[pose(0, 0, 0.05)])
    applied(client, diff(item, object_colors=[color('a', 1.0, 0.0, 0.0, 1.0)]))
    applied(client, diff(holding=[attached(change('a', ADD), touch=['panda_leftfinger'])]))
    assert not world_objects(client)
    found = attached_objects(client)['a']
    assert found.link_name == 'panda_hand' and found.object.header.frame_id == 'panda_hand'
    assert list(found.touch_links) == ['panda_leftfinger']
    p = [*position(found.object.pose), 1]
    T = Configuration(panda, HOME).transform('panda_hand')
    assert np.allclose((T @ p)[:3], [0, 0, 3], atol=1e-8)
    turned = HOME | {'panda_joint1': 1.0}
    applied(client, diff(holding=[attached(change('a', REMOVE), '')], joints=turned))
    returned = world_objects(client)['a']
    T = Configuration(panda, turned).transform('panda_hand')
    assert np.allclose(position(returned.pose), (T @ p)[:3], atol=1e-7)
    assert list(returned.subframe_names) == ['top'] and not attached_objects(client)


def test_object_of_the_same_message_cannot_be_attached_by_id(client):
    message = refused(client, diff(box('a', at=FAR), holding=[attached(change('a', ADD))]))
    assert "unknown object 'a'" in message
    assert 'robot_state.attached_collision_objects[0]' in message


def test_attached_object_with_shapes_replaces_the_object_of_the_same_id(client):
    applied(client, diff(box('a', at=FAR)))
    applied(client, diff(holding=[attached(box('a', 0.02, at=pose(0, 0, 0.1),
                                               frame='panda_hand'))], joints={}))
    assert not world_objects(client)
    assert position(attached_objects(client)['a'].object.pose) == [0, 0, 0.1]
    applied(client, diff(holding=[attached(box('a', 0.03, at=FAR))]))   # an attached object, too
    assert attached_objects(client)['a'].object.primitives[0].dimensions.tolist() == [0.03] * 3


def test_attaching_to_an_unknown_link_is_refused(client):
    applied(client, diff(box('a', at=FAR)))
    for link in ('panda_hnd', ''):
        for item in (change('a', ADD), box('b', frame='panda_hand')):
            message = refused(client, diff(holding=[attached(item, link)]))
            assert f"unknown link '{link}'" in message, message


def test_detach_by_link_or_of_all_returns_objects_to_the_world(client):
    objects = [attached(box('a', 0.02, frame='panda_hand')),
               attached(box('b', 0.02, frame='panda_hand')),
               attached(box('c', 0.02, frame='panda_link5'), 'panda_link5')]
    applied(client, diff(holding=objects))
    assert "attached to 'panda_hand'" in refused(client, diff(holding=[
        attached(change('a', REMOVE), 'panda_link5')]))
    assert "unknown object 'z'" in refused(client, diff(holding=[
        attached(change('z', REMOVE), '')]))
    for operation in APPEND, MOVE:
        assert 'valid: ADD, REMOVE' in refused(client, diff(holding=[
            attached(change('a', operation))]))
    applied(client, diff(holding=[attached(change('', REMOVE), 'panda_link5')]))
    assert set(attached_objects(client)) == {'a', 'b'} and set(world_objects(client)) == {'c'}
    applied(client, diff(box('b', at=FAR)))      # MoveIt also accepts the id of an attached one
    applied(client, diff(holding=[attached(change('', REMOVE), '')]))
    assert not attached_objects(client) and set(world_objects(client)) == {'a', 'b', 'c'}
    assert position(world_objects(client)['b'].pose) == [0, 0, 3]


def test_robot_state_that_is_no_diff_clears_attached_objects(client):
    applied(client, diff(holding=[attached(box('a', 0.02, frame='panda_hand'))]))
    scene = diff()
    scene.robot_state.is_diff = False
    applied(client, scene)
    assert not attached_objects(client) and not world_objects(client)
    applied(client, diff(holding=[attached(box('a', 0.02, frame='panda_hand'))]))
    scene = diff(holding=[attached(change('a', REMOVE), '')])
    scene.robot_state.is_diff = False
    assert "REMOVE of attached object 'a'" in refused(client, scene)
    scene = PlanningScene(is_diff=True)          # no joints: attached objects stay
    scene.robot_state.attached_collision_objects = [attached(box('b', 0.02, frame='panda_hand'))]
    applied(client, scene)
    assert set(attached_objects(client)) == {'a', 'b'}
