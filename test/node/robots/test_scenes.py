"""Scenes across robot changes, robots without geometry, and meshes of objects."""

from moveit_msgs.msg import CollisionObject
from node_harness import eventually, neutral, stamped
import numpy as np
from scene_harness import (
    applied,
    apply_scene,
    box,
    change,
    check_state,
    contact_pairs,
    diff,
    get_scene,
    HOME,
    mesh,
    pose,
    world_objects,
)
from small_arm import ARM, arm_without_mesh, MISSING, small_arm
from std_msgs.msg import String

from ros2_ik.core import Configuration
from ros2_ik.msg import Status

TIP = 'panda_hand_tcp'
FAR = pose(0.0, 0.0, 3.0)


def target(robot):
    """Return a pose that the small arm reaches."""
    return stamped(Configuration(robot, ARM).transform('hand'))


def request_ik(client, robot, **fields):
    return client.ik(group='arm', tips=['hand'], targets=[target(robot)],
                     seed=neutral(robot), **fields)


def test_robot_without_collision_geometry_is_refused_once_the_scene_has_an_object(client):
    arm = small_arm()
    client.publish_robot(arm)
    response = request_ik(client, arm)
    assert response.status == Status.SUCCESS, response.message
    assert 'collisions: not checked' in response.not_checked
    applied(client, diff(box('a', at=FAR), joints={}))
    response = request_ik(client, arm)
    assert response.status == Status.COLLISION_CHECKING_UNAVAILABLE
    assert "against 'a' of the scene" in response.message
    assert not response.solution.joint_state.name
    state = neutral(arm)
    assert check_state(client, state=state).status == Status.COLLISION_CHECKING_UNAVAILABLE
    assert request_ik(client, arm, avoid_collisions=False).status == Status.SUCCESS
    applied(client, diff(change('', CollisionObject.REMOVE), joints={}))
    assert request_ik(client, arm).status == Status.SUCCESS
    assert check_state(client, state=state).valid


def test_collision_check_with_a_missing_mesh_is_refused(client, node):
    arm = arm_without_mesh()
    client.publish_robot(arm)
    response = request_ik(client, arm)
    assert response.status == Status.COLLISION_CHECKING_UNAVAILABLE
    for words in (MISSING, "link 'hand'", 'missing_meshes'):
        assert words in response.message
    assert MISSING in node.text
    assert request_ik(client, arm, avoid_collisions=False).status == Status.SUCCESS


def test_new_srdf_keeps_the_scene_and_another_robot_clears_it(client, node, panda):
    client.publish_robot(panda)
    applied(client, diff(box('a', at=FAR)))
    extended = panda.srdf.replace('</robot>', '<group name="wrist">'
                                  '<joint name="panda_joint7"/></group></robot>')
    client.publish('robot_description_semantic', String(data=extended), latched=True)
    eventually(lambda: client.ik(group='wrist').status != Status.INVALID_GROUP_NAME, 'the group')
    assert 'a' in world_objects(client)
    assert get_scene(client).allowed_collision_matrix.entry_names
    assert "has a new description; the scene stays, with 'a'" in node.text
    client.publish_robot(small_arm())
    assert not world_objects(client)
    assert "the scene of robot 'panda' was discarded, with 'a'" in node.text


FACES = ((0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6),
         (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3))      # triangles of a box


def test_mesh_of_a_message_is_solid_and_not_convexified(client, panda):
    """An arm inside a large box is in contact; a gripper in a bin without lid is not."""
    client.publish_robot(panda)
    corners = np.array([[x, y, z] for x in (-2, 2) for y in (-2, 2) for z in (-2, 2)], float)
    applied(client, diff(change('room', CollisionObject.ADD, meshes=[mesh(corners, FACES)])))
    assert not check_state(client).valid
    applied(client, diff(change('room', CollisionObject.REMOVE)))
    corners, faces = [], []
    for low, high in (((-15, -15, 0), (15, 15, 1)), ((-15, -15, 0), (-14, 15, 13)),
                      ((14, -15, 0), (15, 15, 13)), ((-15, -15, 0), (15, -14, 13)),
                      ((-15, 14, 0), (15, 15, 13))):
        first = len(corners)
        corners += [[x / 100, y / 100, z / 100] for x in (low[0], high[0])
                    for y in (low[1], high[1]) for z in (low[2], high[2])]
        faces += [[first + i for i in face] for face in FACES]
    tip = Configuration(panda, panda.to_q(HOME)).transform(TIP)[:3, 3]
    bin_ = change('bin', CollisionObject.ADD, meshes=[mesh(corners, faces)],
                  pose=pose(tip[0], tip[1], tip[2] - 0.06))

    def is_checked():
        assert apply_scene(client, diff(bin_)).success
        return check_state(client).status == Status.SUCCESS
    eventually(is_checked, 'the geometry of the robot')
    assert check_state(client).valid, check_state(client).contacts
    raised = change('bin', CollisionObject.MOVE, pose=pose(tip[0], tip[1], tip[2] - 0.005))
    applied(client, diff(raised))
    assert any('bin' in names for names in contact_pairs(check_state(client)))
    applied(client, diff(change('', CollisionObject.REMOVE)))
