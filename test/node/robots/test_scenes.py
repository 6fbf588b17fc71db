"""The scene of several robots, and of robots without geometry."""

from moveit_msgs.msg import CollisionObject
from node_harness import eventually, neutral, stamped
import numpy as np
from scene_harness import (
    applied,
    apply,
    box,
    change,
    check,
    diff,
    get,
    HOME,
    mesh,
    objects,
    pairs,
    pose,
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


def ask(client, robot, **fields):
    return client.ik(group='arm', tips=['hand'], targets=[target(robot)],
                     seed=neutral(robot), **fields)


def test_robot_without_collision_elements_is_solved_unchecked_or_refused(client):
    arm = small_arm()
    client.describe(arm)
    response = ask(client, arm)
    assert response.status == Status.SUCCESS, response.message
    assert 'collisions: not checked' in response.not_checked
    applied(client, diff(box('a', at=FAR), joints={}))
    response = ask(client, arm)
    assert response.status == Status.COLLISION_CHECKING_UNAVAILABLE
    assert "against 'a' of the scene" in response.message
    assert not response.solution.joint_state.name
    state = neutral(arm)
    assert check(client, state=state).status == Status.COLLISION_CHECKING_UNAVAILABLE
    assert ask(client, arm, avoid_collisions=False).status == Status.SUCCESS
    applied(client, diff(change('', CollisionObject.REMOVE), joints={}))
    assert ask(client, arm).status == Status.SUCCESS and check(client, state=state).valid


def test_missing_mesh_is_refused(client, node):
    arm = arm_without_mesh()
    client.describe(arm)
    response = ask(client, arm)
    assert response.status == Status.COLLISION_CHECKING_UNAVAILABLE
    for words in (MISSING, "link 'hand'", 'missing_meshes'):
        assert words in response.message
    assert MISSING in node.text
    assert ask(client, arm, avoid_collisions=False).status == Status.SUCCESS


def test_later_srdf_keeps_the_scene_and_another_robot_clears_it(client, node, panda):
    client.describe(panda)
    applied(client, diff(box('a', at=FAR)))
    more = panda.srdf.replace('</robot>', '<group name="wrist">'
                              '<joint name="panda_joint7"/></group></robot>')
    client.publish('robot_description_semantic', String(data=more), latched=True)
    eventually(lambda: client.ik(group='wrist').status != Status.INVALID_GROUP_NAME, 'the group')
    assert 'a' in objects(client)
    assert get(client).allowed_collision_matrix.entry_names
    assert "has a new description; the scene stays, with 'a'" in node.text
    client.describe(small_arm())
    assert not objects(client)
    assert "the scene of robot 'panda' was discarded, with 'a'" in node.text


FACES = ((0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6),
         (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3))      # of a box


def test_meshes_of_messages_are_solid_and_may_be_open(client, panda):
    """An arm inside a large box is in contact; a gripper in an open bin is not."""
    client.describe(panda)
    corners = np.array([[x, y, z] for x in (-2, 2) for y in (-2, 2) for z in (-2, 2)], float)
    applied(client, diff(change('room', CollisionObject.ADD, meshes=[mesh(corners, FACES)])))
    assert not check(client).valid
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

    def given():
        assert apply(client, diff(bin_)).success
        return check(client).status == Status.SUCCESS
    eventually(given, 'the geometry of the robot')
    assert check(client).valid, check(client).contacts
    lower = change('bin', CollisionObject.MOVE, pose=pose(tip[0], tip[1], tip[2] - 0.005))
    applied(client, diff(lower))
    assert any('bin' in names for names in pairs(check(client)))
    applied(client, diff(change('', CollisionObject.REMOVE)))
