"""Requests with two tips, and requests for one tip of a group with two arms."""

from builtin_interfaces.msg import Duration
from judge import RestJudge
from moveit_msgs.msg import PositionIKRequest
from moveit_msgs.srv import GetCartesianPath, GetPositionIK
from node_harness import (
    contact_free_joints,
    eventually,
    matrix,
    neutral,
    robot_state,
    stamped,
    values,
)
import numpy as np
import pytest

from ros2_ik.core import Configuration, Robot
from ros2_ik.msg import Status

TIPS = ['left_gripper', 'right_gripper']
LONG = Duration(sec=5)
ARMS = [f'{side}_{joint}' for side in ('left', 'right')
        for joint in ('s0', 's1', 'e0', 'e1', 'w0', 'w1', 'w2')]


@pytest.fixture(scope='module')
def baxter():
    return Robot.load('baxter')


def test_two_tips_are_solved_together(client, baxter):
    client.publish_robot(baxter)
    fk = RestJudge(baxter.urdf)
    for number in range(3):
        goal = Configuration(baxter, contact_free_joints(baxter, number, ARMS))
        targets = [stamped(goal.transform(tip)) for tip in TIPS]
        response = client.ik(tips=TIPS, targets=targets, seed=robot_state({'head_pan': 0.0}),
                             weights=[1.0] * 6 + [1.0, 1, 1, 0, 0, 0], timeout=LONG)
        assert response.status == Status.SUCCESS, response.message
        assert len(response.position_errors) == len(response.orientation_errors) == 2
        names = list(response.solution.joint_state.name)
        assert len(names) == 14 and names == [n for n in baxter.joint_names if n in names]
        joints = {**values(neutral(baxter)), **values(response.solution)}
        for tip, target, oriented in zip(TIPS, targets, (True, False), strict=True):
            T, expected = fk.transform(joints, tip, 'base'), matrix(target.pose)
            assert np.allclose(T[:3, 3], expected[:3, 3], atol=2e-5)
            assert not oriented or np.allclose(T, expected, atol=2e-4)


def test_moveit_request_for_one_tip_keeps_the_other_arm_still(client, baxter):
    """The targets need random restarts, which sample all active joints."""
    chains = ''.join(f'<chain base_link="torso" tip_link="{tip}"/>' for tip in TIPS)
    both = Robot.from_urdf(baxter.urdf, srdf=(
        f'<robot name="baxter"><group name="both">{chains}</group></robot>'))
    client.publish_robot(both)
    assert client.set('default_group', 'both').successful
    fk = RestJudge(both.urdf)
    start = {**values(neutral(both)), **dict.fromkeys(ARMS[7:], 0.1)}
    for number in range(5):
        goal = Configuration(both, contact_free_joints(both, number, ARMS[:7]))
        target = stamped(goal.transform(TIPS[0]))
        answer = client.call(GetPositionIK, 'ros2_ik/solve_ik', GetPositionIK.Request(
            ik_request=PositionIKRequest(group_name='both' * (number % 2), ik_link_name=TIPS[0],
                                         timeout=LONG, pose_stamped=target,
                                         robot_state=robot_state(start))))
        found = values(answer.solution)
        assert {name: found[name] for name in ARMS[7:]} == dict.fromkeys(ARMS[7:], 0.1)
        assert np.allclose(fk.transform(found, TIPS[0], 'base'), matrix(target.pose), atol=2e-4)
    name = '/compute_cartesian_path'
    eventually(lambda: name in dict(client.node.get_service_names_and_types()), 'the service')
    waypoint = stamped(fk.transform(found, TIPS[0], 'base')).pose
    answer = client.call(GetCartesianPath, name, GetCartesianPath.Request(
        start_state=robot_state(found), link_name=TIPS[0], waypoints=[waypoint], max_step=0.01))
    assert list(answer.solution.joint_trajectory.joint_names) == ARMS[:7]
