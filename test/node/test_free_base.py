"""Robots on a planar or floating base."""

import math

from geometry_msgs.msg import Transform
from node_harness import eventually, nodes, seed, stamped, values
import numpy as np
import pytest
from small_arm import ARM, small_arm
from std_msgs.msg import String

from ros2_ik.core import Configuration
from ros2_ik.msg import Status

HOME = {**ARM, 'turn': 0.5}


@pytest.fixture(scope='module', params=['freeflyer', 'planar'])
def robot(request, client, domain, tmp_path_factory):
    """Return a robot; a node that has it runs meanwhile."""
    robot = small_arm(root_joint=request.param)
    with nodes(domain, tmp_path_factory.mktemp('node')) as start:
        start(default_group='arm', default_tip='hand', root_joint=request.param)
        client.publish('robot_description_semantic', String(data=robot.srdf), latched=True)
        client.publish('robot_description', String(data=robot.urdf), latched=True)
        eventually(lambda: 'world' in client.fk(links=['base']).message, 'the free base')
        yield robot


def base_pose(z):
    """Return a base pose x y z qx qy qz qw; a planar base has no z."""
    return [1.0, -2.0, z, 0.0, 0.0, math.sin(0.4), math.cos(0.4)]


def target(robot, base):
    """Return a pose in the world that the arm reaches with the base at `base`."""
    joint = robot.joints[0]
    value = base if joint.kind == 'floating' else [base[0], base[1], 0.8]
    return stamped(Configuration(robot, {**HOME, joint.name: value}).transform('hand'))


def height(robot):
    return 0.3 if robot.root_joint == 'freeflyer' else 0.0


def test_base_pose_of_the_seed_is_kept(client, robot):
    base = base_pose(height(robot))
    state = seed(HOME)
    x, y, z, qx, qy, qz, qw = base
    transform = Transform()
    transform.translation.x, transform.translation.y, transform.translation.z = x, y, z
    transform.rotation.x, transform.rotation.y = qx, qy
    transform.rotation.z, transform.rotation.w = qz, qw
    state.multi_dof_joint_state.joint_names = [robot.joints[0].name]
    state.multi_dof_joint_state.transforms = [transform]
    response = client.ik(targets=[target(robot, base)], seed=state)
    assert response.status == Status.SUCCESS, response.message
    assert list(response.solution.joint_state.name) == list(ARM)   # the base stays
    assert not response.solution.multi_dof_joint_state.joint_names
    for name, value in values(response.solution).items():
        assert abs(value - ARM[name]) < 1e-3


@pytest.mark.parametrize('robot', ['freeflyer'], indirect=True)
def test_base_of_the_group_is_solved(client, robot):
    """The solution contains the base."""
    assert client.set('base_pose', [0.0] * 6 + [1.0]).successful
    whole = robot.srdf.replace('</robot>', """
        <virtual_joint name="world_joint" type="floating" parent_frame="world" child_link="base"/>
        <group name="all"><joint name="world_joint"/><group name="arm"/></group></robot>""")
    client.publish('robot_description_semantic', String(data=whole), latched=True)
    eventually(lambda: client.ik(group='all').status != Status.INVALID_GROUP_NAME, 'the group')
    wanted = stamped(Configuration(robot, {**HOME, robot.joints[0].name: base_pose(0.5)})
                     .transform('hand'))
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
