"""
MoveIt's types are the same here as elsewhere, and what publishes to MoveIt feeds the node.

A type that has another hash is another type, of the same name. The hashes are those of the full
packages: all files of moveit_msgs 2.6.0, and of octomap_msgs and object_recognition_msgs as on
their branches ros2, were made IDL by rosidl_adapter; rosidl_generator_type_description (both of
ROS Jazzy) wrote the descriptions of these, which have the hashes.
"""

from importlib import import_module

from moveit_msgs.msg import CollisionObject
from node_harness import eventually
import pytest
import rclpy
from rclpy.context import Context
from scene_harness import attached, box, change, diff, held, objects, pose

TOPICS = ('planning_scene', 'collision_object', 'attached_collision_object')
HASHES = {
    'moveit_msgs/AllowedCollisionEntry':
        'eeb7cc3f1bfdb8c778aa7454ae90037c2749dab3ca0abdfe3dad2ae8723977db',
    'moveit_msgs/AllowedCollisionMatrix':
        'ac0159eec0d99f73158c7349c9d1c01b3dc7f749d75a2ea22e74a2a1091a9b05',
    'moveit_msgs/AttachedCollisionObject':
        '7fdfe7951a33a857f20fc42c9ed410a38d06dd0c209ac774ecea746dc487dc41',
    'moveit_msgs/CollisionObject':
        '74b0acd6d56be032bf4f764b2c2633f50588b5fb2bd71e97206c59052747cf7e',
    'moveit_msgs/LinkPadding':
        '864762d9e19f758b0385427f75691374cae830495727c96405f2bad0eb20c766',
    'moveit_msgs/LinkScale':
        '4666a0685f26365ccf4c9bfed0b14c654604fa0564be65c221d8d54fdc7a0f83',
    'moveit_msgs/ObjectColor':
        '4f937f7b22942a9c4a6409c20255aaad1b5d9a003ae3c0edb779698be443c127',
    'moveit_msgs/PlanningScene':
        '0f58540ad5eab4b9ea827d53b763c793d8cabd202b3b301fcee25afa4ce1bd80',
    'moveit_msgs/PlanningSceneComponents':
        '76b77cb53f7a0b680d46fad6c0056d3710a74ec335dd5f361f3df62383313d69',
    'moveit_msgs/PlanningSceneWorld':
        'e08e6a4a81ca6b6a6953ac758dadc2c949555093efea6a9a22d9accf62c2c099',
    'moveit_msgs/RobotState':
        '7c516dc15713e545cb2836c5ca745fbdcfcc10de4855a41c83e6b4bf1afc3f83',
    'object_recognition_msgs/ObjectType':
        '5eb3ee3976403366d7c50d7dbee8bec96b3bced1e752674a7194a35841632134',
    'octomap_msgs/Octomap':
        '9891a19a05b70ec20aa8f45db3f8300b9ab80afff32c61c549d25087da9625b0',
    'octomap_msgs/OctomapWithPose':
        'e65f8760aa96a2acef86b6d206175cfc78420082b6159dd3fa6ebf93f5f81979',
    'tf2_msgs/TFMessage':
        'e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087',
}


@pytest.fixture(scope='module')
def hashes():
    """Return what DDS tells of a publisher of each type, by the type's name."""
    context = Context()
    rclpy.init(context=context)
    node = rclpy.create_node('types', context=context)
    found = {}
    for name in HASHES:
        package, _, kind = name.rpartition('/')
        publisher = node.create_publisher(getattr(import_module(f'{package}.msg'), kind), kind, 1)
        about, = node.get_publishers_info_by_topic(publisher.topic_name)
        found[name] = about.topic_type_hash
    node.destroy_node()
    rclpy.shutdown(context=context)
    return found


@pytest.mark.parametrize('name', HASHES)
def test_types_are_those_of_the_full_packages(hashes, name):
    assert hashes[name].version == 1 and bytes(hashes[name].value).hex() == HASHES[name]


def test_what_publishes_to_moveit_feeds_the_node(client, panda, start_node):
    """By the topics of docs/collisions.md."""
    start_node(remappings=tuple(f'~/{name}:=/{name}' for name in TOPICS))
    client.describe(panda)
    client.publish('/planning_scene', diff(box('a', at=pose(0, 0, 3))))
    client.publish('/collision_object', box('b', at=pose(0, 0, 4)))
    eventually(lambda: set(objects(client)) == {'a', 'b'}, 'both objects')
    client.publish('/attached_collision_object',
                   attached(change('b', CollisionObject.ADD), 'panda_link0'))
    eventually(lambda: set(held(client)) == {'b'}, 'the object that is held')
