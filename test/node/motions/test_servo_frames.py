"""Servo commands in frames of objects and tools, and in unknown frames."""

from moveit_msgs.msg import CollisionObject
from node_harness import eventually, stamped
import numpy as np
import pinocchio as pin
from scene_harness import applied, attached, box, change, diff, pose
from servo_harness import FRAMES, TIP

FINGERS = ['panda_leftfinger', 'panda_rightfinger']
QUARTER = pin.exp3(np.array([0, 0, np.pi / 2]))    # about z


def pose_error(servo, goal):
    """Return the largest error of the tip pose, in position [m] or orientation [rad]."""
    return np.abs(pin.log6(goal.actInv(FRAMES.tip(servo.q()))).vector).max()


def test_target_in_an_unknown_frame_is_reported_without_motion(servo):
    servo.on('pose', tip=TIP)
    before, status_count = servo.wait_for_rest(), len(servo.statuses)
    goal = FRAMES.tip(before)
    goal.translation[1] += 0.1
    with servo.commanding('target', stamped(goal.homogeneous, 'panda_hnd')):
        eventually(lambda: servo.reported(
            status_count, "unknown frame 'panda_hnd'; did you mean"), 'the status')
        assert servo.reported(status_count, 'not of TF')
        servo.wait_for_rest()
    assert np.abs(servo.q() - before).max() < 1e-12


def test_subframe_of_an_attached_object_follows_targets_in_an_object_frame(client, servo):
    T_hand_tip = pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.04]))    # the peg is attached at TIP
    corner = pin.SE3(QUARTER, np.array([0.2, -0.4, 0.1]))
    peg = box('peg', 0.01, at=pose(), frame=TIP, subframe_names=['tip'],
              subframe_poses=[pose(0, 0, 0.04)])
    applied(client, diff(box('bin', 0.02, at=stamped(corner.homogeneous).pose),
                         holding=[attached(peg, touch=FINGERS)], joints={}))
    servo.on('pose', tip='peg/tip')
    since, status_count, goal = len(servo.record), len(servo.statuses), FRAMES.tip(servo.q())
    goal.translation += (0.03, 0.08, -0.04)
    target = corner.actInv(goal * T_hand_tip)
    with servo.commanding('target', stamped(target.homogeneous, 'bin')):
        eventually(lambda: pose_error(servo, goal) < 1e-3, 'the target')
        applied(client, diff(holding=[attached(change('peg', CollisionObject.REMOVE), '')],
                             joints={}))
        eventually(lambda: servo.reported(status_count, "'peg/tip' was moved or removed"),
                   'the status')
    servo.wait_for_rest()
    servo.assert_limits(since)


def test_tool_frame_reaches_targets(servo):
    T_tip_tool = pin.SE3(QUARTER, np.array([0.05, 0.0, 0.1]))
    assert "of 'tool'" in servo.on('pose', tool=stamped(T_tip_tool.homogeneous, TIP)).message
    since, goal = len(servo.record), FRAMES.tip(servo.q())
    goal.translation += (0.03, -0.08, 0.04)
    with servo.commanding('target', stamped((goal * T_tip_tool).homogeneous)):
        eventually(lambda: pose_error(servo, goal) < 1e-3, 'the target')
    servo.wait_for_rest()
    servo.assert_limits(since)
