"""The scene before, after and in spite of robot descriptions, and of geometry that is missing."""

from builtin_interfaces.msg import Duration
from moveit_msgs.msg import CollisionObject, PlanningScene
from node_harness import eventually, neutral, reachable, stamped
import numpy as np
import pytest
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
from small_arm import ARM, small_arm
from std_msgs.msg import String

from ros2_ik.core import Configuration, Robot
from ros2_ik.msg import Status
from ros2_ik.srv import GetPlanningScene

TIP = 'panda_hand_tcp'
FAR = pose(0.0, 0.0, 3.0)
MISSING = 'package://nowhere_at_all/hand.stl'


def meshed(box_too=False):
    """Give the small arm with a mesh that cannot be found and, if wanted, a box beside it."""
    arm = small_arm()
    mesh = f'<collision><geometry><mesh filename="{MISSING}"/></geometry></collision>'
    cube = '<collision><geometry><box size=".05 .05 .05"/></geometry></collision>'
    urdf = arm.urdf.replace('<link name="hand"/>', f'<link name="hand">{mesh}</link>')
    if box_too:
        urdf = urdf.replace('<link name="fore"/>', f'<link name="fore">{cube}</link>')
    return Robot.from_urdf(urdf, srdf=arm.srdf)


def target(robot):
    """Give a pose that the small arm reaches."""
    return stamped(Configuration(robot, ARM).transform('hand'))


def ask(client, robot, **fields):
    return client.ik(group='arm', tips=['hand'], targets=[target(robot)],
                     seed=neutral(robot), **fields)


def test_without_a_robot(start_node, client):
    start_node()
    response = apply(client, PlanningScene(is_diff=True))
    assert not response.success and 'there is no robot yet' in response.message
    response = client.call(GetPlanningScene, 'ros2_ik/get_planning_scene',
                           GetPlanningScene.Request())
    assert response.status == Status.INVALID_ROBOT_STATE
    assert check(client).status == Status.INVALID_ROBOT_STATE


@pytest.mark.slow
def test_robot_without_collision_elements(start_node, client):
    start_node()
    arm = small_arm()
    client.describe(arm)
    response = ask(client, arm)
    assert response.status == Status.SUCCESS, response.message
    assert "not checked for collisions: robot 'small_arm' has no collision elements" \
        in response.message
    applied(client, diff(box('a', at=FAR), joints={}))
    response = ask(client, arm)
    assert response.status == Status.COLLISION_CHECKING_UNAVAILABLE
    assert '1 object of the scene' in response.message and not response.solution.joint_state.name
    state = neutral(arm)
    assert check(client, state=state).status == Status.COLLISION_CHECKING_UNAVAILABLE
    assert ask(client, arm, avoid_collisions=False).status == Status.SUCCESS
    applied(client, diff(change('', CollisionObject.REMOVE), joints={}))
    assert ask(client, arm).status == Status.SUCCESS and check(client, state=state).valid


def test_missing_mesh_is_refused_or_left_out(start_node, client):
    node = start_node()
    arm = meshed(box_too=True)
    client.describe(arm)
    response = ask(client, arm)
    assert response.status == Status.COLLISION_CHECKING_UNAVAILABLE
    for words in (MISSING, "link 'hand'", 'missing_meshes'):
        assert words in response.message
    assert MISSING in node.text
    assert ask(client, arm, avoid_collisions=False).status == Status.SUCCESS
    node.end()
    start_node(missing_meshes='skip')
    client.describe(arm)
    response = ask(client, arm)
    assert response.status == Status.SUCCESS, response.message
    assert 'left out' in response.message and MISSING in response.message
    assert MISSING in check(client, state=neutral(arm)).message


def test_described_anew(start_node, client, panda):
    """A later SRDF or another root makes another robot of the same name: the scene stays."""
    node = start_node()
    client.publish('robot_description', String(data=panda.urdf), latched=True)
    eventually(lambda: apply(client, diff(box('a', at=FAR), joints={})).success, 'the robot')
    client.describe(panda)
    assert 'a' in objects(client)
    assert get(client).allowed_collision_matrix.entry_names
    assert 'described anew; the scene stays, with 1 object' in node.text
    client.describe(small_arm())
    assert not objects(client)
    assert "the scene of robot 'panda' is gone, with 1 object" in node.text


@pytest.mark.parametrize(('content', 'words'), [
    ('objects: [{id: a, shapes: [{box: {size: [1, 1]}}]}]', 'size'),
    ('objects: [{id: a, frame: panda_hand, shapes: [{sphere: {radius: 0.1}}]}]',
     "frame 'panda_hand' moves")])
def test_scene_that_does_not_load(start_node, client, panda, tmp_path, content, words):
    """Nothing may be claimed to be free of a scene that is not there."""
    path = tmp_path / 'cell.yaml'
    path.write_text(content)
    node = start_node(scene=str(path))
    client.describe(panda)
    response = client.ik(targets=[reachable(panda, TIP)])
    assert response.status == Status.COLLISION_CHECKING_UNAVAILABLE
    assert 'objects[0]' in response.message and str(path) in response.message
    assert words in response.message
    assert 'objects[0]' in node.text
    assert not apply(client, diff(box('b', at=FAR))).success
    assert not check(client).valid


def test_bad_scene_with_the_robot_by_parameter(start_node):
    node = start_node(scene='no_such_scene', robot_description=small_arm().urdf)
    assert node.process.wait(20) == 1
    assert 'no_such_scene' in node.text and 'table' in node.text


FACES = ((0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6),
         (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3))      # of a box


def test_meshes_of_messages_are_solid_and_may_be_open(start_node, client, panda):
    """An arm inside a large box is in contact, a gripper in a bin is not, unless by its hull."""
    node = start_node()
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
    eventually(given, 'the geometry of the robot', 60.0)
    assert check(client).valid, check(client).contacts
    lower = change('bin', CollisionObject.MOVE, pose=pose(tip[0], tip[1], tip[2] - 0.005))
    applied(client, diff(lower))
    assert any('bin' in names for names in pairs(check(client)))
    node.end()
    start_node(meshes='hull')
    client.describe(panda)
    applied(client, diff(bin_))
    assert any('bin' in names for names in pairs(check(client)))


def test_shipped_scene_by_parameter(start_node, client, panda):
    start_node(scene='table')
    client.describe(panda)
    below = np.diag([1.0, -1.0, -1.0, 1.0])     # the tip points down, and the hand is in the table
    below[:3, 3] = 0.6, 0.0, 0.185
    response = client.ik(targets=[stamped(below)], timeout=Duration(nanosec=500_000_000))
    assert response.status == Status.GOAL_IN_COLLISION and "'table'" in response.message
    assert get(client).name == 'table'
    applied(client, diff(box('a', at=FAR)))
    assert set(objects(client)) == {'table', 'a'}
