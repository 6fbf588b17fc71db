"""Scene changes that make no sense: each is refused with the place and the reason, as a whole."""

import math

from moveit_msgs.msg import CollisionObject
import pytest
from scene_harness import (
    applied,
    attached,
    box,
    change,
    diff,
    floor,
    mesh,
    objects,
    pose,
    refused,
    solid,
    tetrahedron,
)
from shape_msgs.msg import Mesh, SolidPrimitive

NAN, INF = math.nan, math.inf
ADD, APPEND = CollisionObject.ADD, CollisionObject.APPEND
FAR = pose(0.0, 0.0, 3.0)


def of(*shapes, **fields):
    """Give an object of primitives."""
    item = change('new', ADD, pose=FAR, **fields)
    item.primitives = list(shapes)
    return item


def meshed(shape, **fields):
    """Give an object of a mesh."""
    return change('new', ADD, pose=FAR, meshes=[shape], **fields)


SPHERE, BOX = SolidPrimitive.SPHERE, SolidPrimitive.BOX
CYLINDER, CONE = SolidPrimitive.CYLINDER, SolidPrimitive.CONE
BAD = {
    'NaN position': (box('new', at=pose(NAN)), 'not finite'),
    'a position further than any robot': (box('new', at=pose(1e9)), 'further away'),
    'zero quaternion': (box('new', at=pose(0, 0, 3, (0, 0, 0, 0))), 'quaternion of pose is zero'),
    'long quaternion': (box('new', at=pose(0, 0, 3, (0, 0, 0, 2.0))),
                        'quaternion of pose has norm 2; it must be 1'),
    'zero quaternion of a subframe': (box('new', at=FAR, subframe_names=['s'],
                                          subframe_poses=[pose(quat=(0, 0, 0, 0))]),
                                      "subframe 's' is zero"),
    'negative size': (of(solid(BOX, 1, -1, 1)), 'primitives[0]: the size of a box'),
    'NaN radius': (of(solid(SPHERE, NAN)), 'the radius of a sphere'),
    'missing dimensions': (of(solid(CYLINDER, 1)), 'a CYLINDER needs 2 dimensions, not 1'),
    'no type': (of(SolidPrimitive()), 'valid: BOX 1, SPHERE 2'),
    'a prism': (of(solid(SolidPrimitive.PRISM, 1)), 'valid: BOX 1, SPHERE 2'),
    'no shapes': (change('new', ADD), 'no shapes; ros2cli sends REMOVE as operation: [1]'),
    'nothing to append': (change('old', APPEND), 'it has no shapes'),
    'more poses than shapes': (box('new', primitive_poses=[pose()] * 2),
                               '2 primitive_poses for 1 primitives'),
    'plane without normal': (change('new', ADD, planes=[type(floor(0))()]),
                             'the normal of a plane'),
    'empty mesh': (meshed(Mesh()), 'is empty'),
    'mesh index out of range': (meshed(mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 3)])),
                                'triangle 0 is'),
    'mesh with NaN': (meshed(mesh([(0, 0, NAN), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])),
                      'the vertices of a mesh must be rows of 3 finite numbers'),
    'unknown frame': (box('new', frame='tabel'), "unknown frame 'tabel'"),
    'subframes without poses': (box('new', subframe_names=['s']),
                                '1 subframe_names but 0 subframe_poses'),
    'a subframe twice': (box('new', subframe_names=['s', 's'], subframe_poses=[pose()] * 2),
                         "subframe 's' twice"),
    'an id of two lines': (box('a\nb'), 'characters that can be printed'),
    'the id of a link': (box('panda_hand'), 'is a frame of the robot'),
    "the octomap's id": (box('<octomap>'), 'kept for an octree'),
    'unknown operation': (box('new', operation=b'\x09'), 'the operation is 9; valid: ADD 0'),
}


@pytest.fixture(scope='module', autouse=True)
def old(client, panda_node):
    """Have an object that must survive all these."""
    applied(client, diff(box('old', at=FAR)))


@pytest.mark.parametrize('name', BAD)
def test_bad_object(client, panda_node, name):
    item, words = BAD[name]
    said = refused(client, diff(box('good', at=FAR), item))
    assert words in said and 'world.collision_objects' in said and '\n' not in said
    assert set(objects(client)) == {'old'}
    assert panda_node.process.poll() is None


@pytest.mark.parametrize('name', ['NaN position', 'negative size', 'unknown frame',
                                  'an id of two lines'])
def test_bad_attached_object(client, name):
    item, words = BAD[name]
    said = refused(client, diff(holding=[attached(item)]))
    assert words in said and 'robot_state.attached_collision_objects[0]' in said


def test_bad_joint_values(client):
    for joints, words in (({'panda_joint9': 0.0}, 'unknown joint'),
                          ({'panda_joint1': NAN}, 'panda_joint1')):
        assert words in refused(client, diff(box('new', at=FAR), joints=joints))


def test_bad_parts_of_a_scene(client):
    scene = diff(box('new', at=FAR))
    scene.world.octomap.octomap.id = 'OcTree'
    scene.world.octomap.octomap.data = [1, 2, 3]
    assert 'world.octomap' in refused(client, scene)
    scene.world.octomap.octomap.resolution = NAN
    assert 'world.octomap' in refused(client, scene)


def test_flat_and_tiny_meshes_have_hulls(client):
    flat = mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    point = mesh([(0, 0, 0)], [(0, 0, 0)])
    applied(client, diff(change('flat', ADD, pose=FAR, meshes=[flat, point, tetrahedron()])))
    applied(client, diff(change('flat', CollisionObject.REMOVE)))
