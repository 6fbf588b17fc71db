"""TF of the mock robot."""

import io

from mock_harness import ARM, positions, TOPIC, trajectory
import numpy as np
import pinocchio as pin
from tf2_msgs.msg import TFMessage
import yourdfpy

from ros2_ik.core import Robot

ROOT = 'panda_link0'


def placed(transform):
    place, turn = transform.translation, transform.rotation
    return pin.XYZQUATToSE3(np.array([place.x, place.y, place.z,
                                      turn.x, turn.y, turn.z, turn.w])).homogeneous


def test_tf_of_the_links_agrees_with_yourdfpy(mock):
    known = {}
    subscription = mock.node.create_subscription(
        TFMessage, '/tf', lambda message: known.update(
            {each.child_frame_id: (each.header.frame_id, placed(each.transform))
             for each in message.transforms}), 10)
    goal = {joint: 0.1 * k - 0.2 for k, joint in enumerate(ARM)} | {ARM[3]: -1.5, ARM[5]: 1.2}
    mock.move(TOPIC, trajectory(ARM, (0.5, [goal[joint] for joint in ARM])))
    mock.rest()
    known.clear()
    mock.until(lambda: known, 'TF')
    robot = Robot.load('panda')
    at = positions(mock.states[-1])
    judge = yourdfpy.URDF.load(io.BytesIO(robot.urdf.encode()), load_meshes=False)
    judge.update_cfg(at)
    for link in ('panda_hand', 'panda_hand_tcp', 'panda_link4', 'panda_leftfinger'):
        T, frame = np.eye(4), link
        while frame != ROOT:
            frame, step = known[frame]
            T = step @ T
        np.testing.assert_allclose(T, judge.get_transform(link, ROOT), atol=1e-6)
    mock.node.destroy_subscription(subscription)
