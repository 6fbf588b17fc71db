"""The servo and controllers that have an action, where control_msgs is installed."""

import pytest

pytest.importorskip('control_msgs.action')

from arm_harness import HOME  # noqa: E402
from control_msgs.action import FollowJointTrajectory  # noqa: E402
from node_harness import eventually, repeating  # noqa: E402
from rclpy.action import ActionServer  # noqa: E402

from ros2_ik.srv import SwitchServo  # noqa: E402


def test_a_controller_that_has_an_action_only_is_refused(client, start_node, panda):
    """Its steps went to a topic that nobody listened to."""
    server = ActionServer(client.node, FollowJointTrajectory,
                          'arm_controller/follow_joint_trajectory', lambda goal: None)
    start_node(controllers=['arm_controller'], **{
        'arm_controller.kind': 'follow_joint_trajectory', 'arm_controller.group': 'arm'})
    client.describe(panda)

    def state():
        client.joint_states(HOME | {'panda_finger_joint1': 0.0},
                            client.node.get_clock().now().to_msg())
    with repeating(state, 0.01):
        def refused():
            answer = client.call(SwitchServo, 'ros2_ik/servo/switch',
                                 SwitchServo.Request(mode='joint'), 30)
            assert not answer.success
            return 'no subscriber on /arm_controller/joint_trajectory' in answer.message and answer
        answer = eventually(refused, 'its reason')
    assert 'joint_trajectory, position, joint_state' in answer.message
    server.destroy()
