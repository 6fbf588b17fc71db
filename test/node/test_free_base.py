"""A robot on a floating base."""

import math

from geometry_msgs.msg import Quaternion, Transform, Vector3
from node_harness import eventually, robot_state, stamped, values
import numpy as np
import pytest
from small_arm import ARM, small_arm
from std_msgs.msg import String

from ros2_ik.core import Configuration
from ros2_ik.msg import Status

HOME = {**ARM, 'turn': 0.5}


@pytest.fixture(scope='module')
def robot(client, start_shared_node):
    """Return a robot with a free base, for which a node is running."""
    robot = small_arm(root_joint='freeflyer')
    start_shared_node(default_group='arm', default_tip='hand', root_joint='freeflyer')
    client.publish('robot_description_semantic', String(data=robot.srdf), latched=True)
    client.publish('robot_description', String(data=robot.urdf), latched=True)
    # the SRDF may arrive after the URDF
    eventually(lambda: 'is needed' in client.fk(links=['base']).message and client.ik(
        group='arm').status != Status.INVALID_GROUP_NAME, 'the free base, and its groups')
    return robot


def base_pose(z):
    """Return a pose of the base: x y z qx qy qz qw."""
    return [1.0, -2.0, z, 0.0, 0.0, math.sin(0.4), math.cos(0.4)]


def target(robot, base):
    """Return a pose in the world that the arm reaches from a base pose."""
    return stamped(Configuration(robot, {**HOME, robot.joints[0].name: base}).transform('hand'))


def state_with_base(name, base):
    """Return the arm's home state with a base pose."""
    state = robot_state(HOME)
    x, y, z, qx, qy, qz, qw = base
    state.multi_dof_joint_state.joint_names = [name]
    state.multi_dof_joint_state.transforms = [Transform(
        translation=Vector3(x=x, y=y, z=z), rotation=Quaternion(x=qx, y=qy, z=qz, w=qw))]
    return state


def test_request_without_the_base_pose_is_refused(client, robot):
    """Collisions and targets in the world depend on the base."""
    response = client.ik(targets=[target(robot, base_pose(0.3))], seed=robot_state(HOME))
    assert response.status == Status.ROBOT_STATE_STALE
    assert f"joint '{robot.joints[0].name}' is needed" in response.message


def test_base_pose_of_the_seed_is_kept(client, robot):
    base = base_pose(0.3)
    state = state_with_base(robot.joints[0].name, base)
    response = client.ik(targets=[target(robot, base)], seed=state)
    assert response.status == Status.SUCCESS, response.message
    assert list(response.solution.joint_state.name) == list(ARM)   # without the base
    assert not response.solution.multi_dof_joint_state.joint_names
    for name, value in values(response.solution).items():
        assert abs(value - ARM[name]) < 1e-3


def test_base_joint_in_the_group_is_part_of_the_solution(client, robot):
    srdf = robot.srdf.replace('</robot>', """
        <virtual_joint name="world_joint" type="floating" parent_frame="world" child_link="base"/>
        <group name="all"><joint name="world_joint"/><group name="arm"/></group></robot>""")
    client.publish('robot_description_semantic', String(data=srdf), latched=True)
    eventually(lambda: client.ik(group='all').status != Status.INVALID_GROUP_NAME, 'the group')
    expected = target(robot, base_pose(0.5))
    response = client.ik(group='all', tips=['hand'], targets=[expected],
                         seed=state_with_base('world_joint', base_pose(0.0)))
    assert response.status == Status.SUCCESS, response.message
    assert list(response.solution.multi_dof_joint_state.joint_names) == ['world_joint']
    base = response.solution.multi_dof_joint_state.transforms[0]
    q = {**HOME, **values(response.solution), robot.joints[0].name: [
        base.translation.x, base.translation.y, base.translation.z, base.rotation.x,
        base.rotation.y, base.rotation.z, base.rotation.w]}
    reached = Configuration(robot, q).transform('hand')
    assert np.allclose(reached[:3, 3], [expected.pose.position.x, expected.pose.position.y,
                                        expected.pose.position.z], atol=2e-5)
