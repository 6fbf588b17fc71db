"""Servo commands in frames of TF: static, moving, unknown and stale."""

import re
import time

from moveit_msgs.msg import CollisionObject
from node_harness import eventually, repeating
import numpy as np
import pinocchio as pin
import pytest
from rclpy.qos import DurabilityPolicy, QoSProfile
from scene_harness import applied, attached, box, change, diff, pose
from servo_harness import FRAMES, target, TIP
from tf_harness import tf_message, TFMessage, transform

FINGERS = ['panda_leftfinger', 'panda_rightfinger']
QUARTER = pin.exp3(np.array([0, 0, np.pi / 2]))    # about z
TRIPOD = pin.SE3(QUARTER, np.array([0.8, -0.3, 1.1]))


@pytest.fixture
def fixes(client):
    """Return a function that publishes a transform on /tf_static, latched."""
    publisher = client.node.create_publisher(TFMessage, '/tf_static', QoSProfile(
        depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL))
    yield lambda transform: publisher.publish(tf_message(transform))
    client.node.destroy_publisher(publisher)


def placed(parent, child, place):
    """Return a transform with the current time."""
    message = transform(parent, child)
    moved, turned = message.transform.translation, message.transform.rotation
    (moved.x, moved.y, moved.z, turned.x, turned.y, turned.z, turned.w) = pin.SE3ToXYZQUAT(
        place).tolist()
    return message


def away(servo, goal):
    """Return the distance of the tip from a pose, the larger of position and orientation."""
    return np.abs(pin.log6(goal.actInv(FRAMES.tip(servo.q()))).vector).max()


def test_target_in_a_static_tf_frame_is_reached(servo, fixes):
    """The frame of a camera that looks at the robot."""
    fixes(placed('panda_link0', 'tripod', TRIPOD))
    servo.on('pose', tip=TIP)
    since, goal = len(servo.record), FRAMES.tip(servo.q())
    goal.translation += (0.05, 0.15, -0.1)
    goal.rotation = goal.rotation @ pin.exp3(np.array([0, 0, 0.3]))
    with servo.commanding('target', target(TRIPOD.actInv(goal), 'tripod')):
        eventually(lambda: away(servo, goal) < 1e-3, 'the target')
    servo.rest()
    servo.judge(since)


def test_target_in_a_moving_tf_frame_is_followed_until_tf_is_stale(client, servo):
    servo.on('pose', tip=TIP)
    start, since, told = FRAMES.tip(servo.q()), len(servo.record), len(servo.statuses)
    began, cart = time.monotonic(), pin.SE3.Identity()

    def move():
        cart.translation[1] = min(0.1 * (time.monotonic() - began), 0.25)
        client.publish('/tf', tf_message(placed('panda_link0', 'cart', cart)))
    client.fk(frame_id='cart')    # from now on the node listens to TF
    with servo.commanding('target', target(start, 'cart')):
        with repeating(move, 0.02):
            eventually(lambda: np.linalg.norm(
                FRAMES.tip(servo.q()).translation - start.translation) > 0.05, 'motion')
            eventually(lambda: away(servo, cart * start) < 1e-3 and cart.translation[1] == 0.25,
                       'the target')
        eventually(lambda: servo.said(told, 'execute_tf_timeout allows 0.5 s'), 'a word')
        said = servo.said(told, 'allows 0.5')[0].message
        assert re.search(r"the newest transform of 'cart' is \d\.\d+ s old", said), said
    servo.rest()
    servo.judge(since)


def test_target_in_an_unknown_frame_moves_nothing(servo):
    servo.on('pose', tip=TIP)
    before, told = servo.rest(), len(servo.statuses)
    goal = FRAMES.tip(before)
    goal.translation[1] += 0.1
    with servo.commanding('target', target(goal, 'panda_hnd')):
        eventually(lambda: servo.said(told, "unknown frame 'panda_hnd'; did you mean"), 'a word')
        assert servo.said(told, 'TF: ')
        servo.rest()
    assert np.abs(servo.q() - before).max() < 1e-12


def test_subframe_of_an_attached_object_follows_targets_in_an_object_frame(client, servo):
    """The servo ends when the object is detached."""
    T_hand_tip = pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.04]))    # the peg is held at the TIP
    corner = pin.SE3(QUARTER, np.array([0.2, -0.4, 0.1]))
    held = box('peg', 0.01, at=pose(), frame=TIP, subframe_names=['tip'],
               subframe_poses=[pose(0, 0, 0.04)])
    applied(client, diff(box('bin', 0.02, at=target(corner).pose),
                         holding=[attached(held, touch=FINGERS)], joints={}))
    servo.on('pose', tip='peg/tip')
    since, goal, told = len(servo.record), FRAMES.tip(servo.q()), len(servo.statuses)
    goal.translation += (0.03, 0.08, -0.04)
    with servo.commanding('target', target(corner.actInv(goal * T_hand_tip), 'bin')):
        eventually(lambda: away(servo, goal) < 1e-3, 'the target')
        applied(client, diff(holding=[attached(change('peg', CollisionObject.REMOVE), '')],
                             joints={}))
        eventually(lambda: servo.said(told, "'peg/tip' was moved or removed"), 'a word')
    servo.rest()
    servo.judge(since)


def test_tool_frame_reaches_targets(servo):
    T_tip_tool = pin.SE3(QUARTER, np.array([0.05, 0.0, 0.1]))
    assert "of 'tool'" in servo.on('pose', tool=target(T_tip_tool, TIP)).message
    since, goal = len(servo.record), FRAMES.tip(servo.q())
    goal.translation += (0.03, -0.08, 0.04)
    with servo.commanding('target', target(goal * T_tip_tool)):
        eventually(lambda: away(servo, goal) < 1e-3, 'the target')
    servo.rest()
    servo.judge(since)
