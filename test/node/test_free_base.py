"""A robot on a floating base."""

import math

from geometry_msgs.msg import Quaternion, Transform, Vector3
from node_harness import eventually, seed, stamped, values
import numpy as np
import pytest
from small_arm import ARM, small_arm
from std_msgs.msg import String

from ros2_ik.core import Configuration
from ros2_ik.msg import Status

HOME = {**ARM, 'turn': 0.5}


@pytest.fixture(scope='module')
def robot(client, start_shared_node):
    """Return a robot; a node that has it runs meanwhile."""
    robot = small_arm(root_joint='freeflyer')
    start_shared_node(default_group='arm', default_tip='hand', root_joint='freeflyer')
    client.publish('robot_description_semantic', String(data=robot.srdf), latched=True)
    client.publish('robot_description', String(data=robot.urdf), latched=True)
    eventually(lambda: 'world' in client.fk(links=['base']).message, 'the free base')
    return robot


def base_pose(z):
    """Return a base pose x y z qx qy qz qw."""
    return [1.0, -2.0, z, 0.0, 0.0, math.sin(0.4), math.cos(0.4)]


def target(robot, base):
    """Return a pose in the world that the arm reaches with the base at `base`."""
    return stamped(Configuration(robot, {**HOME, robot.joints[0].name: base}).transform('hand'))


def test_base_pose_of_the_seed_is_kept(client, robot):
    base = base_pose(0.3)
    state = seed(HOME)
    x, y, z, qx, qy, qz, qw = base
    state.multi_dof_joint_state.joint_names = [robot.joints[0].name]
    state.multi_dof_joint_state.transforms = [Transform(
        translation=Vector3(x=x, y=y, z=z), rotation=Quaternion(x=qx, y=qy, z=qz, w=qw))]
    response = client.ik(targets=[target(robot, base)], seed=state)
    assert response.status == Status.SUCCESS, response.message
    assert list(response.solution.joint_state.name) == list(ARM)   # the base stays
    assert not response.solution.multi_dof_joint_state.joint_names
    for name, value in values(response.solution).items():
        assert abs(value - ARM[name]) < 1e-3


def test_base_joint_of_the_group_is_part_of_the_solution(client, robot):
    """The solution contains the base."""
    assert client.set('base_pose', [0.0] * 6 + [1.0]).successful
    whole = robot.srdf.replace('</robot>', """
        <virtual_joint name="world_joint" type="floating" parent_frame="world" child_link="base"/>
        <group name="all"><joint name="world_joint"/><group name="arm"/></group></robot>""")
    client.publish('robot_description_semantic', String(data=whole), latched=True)
    eventually(lambda: client.ik(group='all').status != Status.INVALID_GROUP_NAME, 'the group')
    wanted = target(robot, base_pose(0.5))
    response = client.ik(group='all', tips=['hand'], targets=[wanted], seed=seed(HOME))
    assert response.status == Status.SUCCESS, response.message
    assert list(response.solution.multi_dof_joint_state.joint_names) == ['world_joint']
    moved = response.solution.multi_dof_joint_state.transforms[0]
    q = {**HOME, **values(response.solution), robot.joints[0].name: [
        moved.translation.x, moved.translation.y, moved.translation.z, moved.rotation.x,
        moved.rotation.y, moved.rotation.z, moved.rotation.w]}
    reached = Configuration(robot, q).transform('hand')
    assert np.allclose(reached[:3, 3], [wanted.pose.position.x, wanted.pose.position.y,
                                        wanted.pose.position.z], atol=2e-5)
