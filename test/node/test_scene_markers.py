"""Topic ~/scene_markers."""

from moveit_msgs.msg import CollisionObject, ObjectColor
from node_harness import eventually
import numpy as np
import pytest
from rclpy.qos import DurabilityPolicy, QoSProfile
from scene_harness import (
    applied,
    attached,
    box,
    change,
    diff,
    empty,
    floor,
    pose,
    solid,
    tetrahedron,
)
from shape_msgs.msg import SolidPrimitive
from visualization_msgs.msg import Marker, MarkerArray

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@pytest.fixture
def shown(client, panda_node):
    """Give a function that waits for markers of the scene as it is."""
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
    empty(client)


def test_latched_and_begun_with_a_delete(client, panda_node, shown):
    applied(client, diff(box('a', 0.2, at=pose(1, 2, 3))))
    first, marker = shown('a')
    assert first.action == Marker.DELETEALL
    assert marker.type == Marker.CUBE and marker.header.frame_id == 'panda_link0'
    assert (marker.scale.x, marker.scale.y, marker.scale.z) == (0.2, 0.2, 0.2)
    assert (marker.pose.position.x, marker.pose.position.y, marker.pose.position.z) == (1, 2, 3)
    assert marker.color.a == 1.0
    applied(client, diff(change('a', CollisionObject.REMOVE)))
    assert [m.action for m in shown()] == [Marker.DELETEALL]


def test_every_shape(client, panda_node, shown):
    item = change('all', CollisionObject.ADD, pose=pose(0, 0, 3))
    item.primitives = [solid(SolidPrimitive.SPHERE, 0.1), solid(SolidPrimitive.CYLINDER, 0.3, 0.1),
                       solid(SolidPrimitive.CONE, 0.4, 0.1)]
    item.meshes, item.planes = [tetrahedron()], [floor(2.0)]
    applied(client, diff(item))
    markers = shown('all')[1:]
    sphere, cylinder, cone, mesh, plane = markers
    assert len({marker.id for marker in markers}) == 5
    assert sphere.type == Marker.SPHERE and sphere.scale.x == 0.2
    assert cylinder.type == Marker.CYLINDER and (cylinder.scale.x, cylinder.scale.z) == (0.2, 0.3)
    for shape, height in ((cone, 0.2), (mesh, 0.1)):
        assert shape.type == Marker.TRIANGLE_LIST and len(shape.points) % 3 == 0
        assert max(p.z for p in shape.points) == pytest.approx(height)
        assert shape.scale.x == 1.0
    assert len(mesh.points) == 12
    assert plane.type == Marker.CUBE and plane.pose.position.z == pytest.approx(5.0)
    assert plane.scale.z < 0.01


def test_outward_triangles(client, panda_node, shown):
    """A cone's: RViz shows the outer sides only."""
    item = change('cone', CollisionObject.ADD, pose=pose(0, 0, 3))
    item.primitives = [solid(SolidPrimitive.CONE, 0.4, 0.1)]
    applied(client, diff(item))
    corners = np.array([[p.x, p.y, p.z] for p in shown('cone')[1].points]).reshape(-1, 3, 3)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (np.einsum('ij,ij->i', normals, corners.mean(axis=1)) > 0).all()


def test_attached_ones_move_with_their_link(client, panda_node, shown):
    applied(client, diff(holding=[attached(box('tool', 0.02, at=pose(0, 0, 0.1),
                                               frame='panda_hand'))]))
    marker = shown('tool')[1]
    assert marker.header.frame_id == 'panda_hand' and marker.frame_locked
    assert marker.header.stamp.sec == 0     # the newest transform, whenever RViz looks
    assert marker.pose.position.z == 0.1


def test_colours(client, panda_node, shown):
    color = ObjectColor(id='red')
    color.color.r, color.color.a = 1.0, 0.5
    applied(client, diff(box('red', at=pose(0, 0, 3)), object_colors=[color]))
    marker = shown('red')[1]
    assert (marker.color.r, marker.color.g, marker.color.a) == (1.0, 0.0, 0.5)
