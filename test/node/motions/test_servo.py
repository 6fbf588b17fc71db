"""The servo with a mock arm: measured motion and status messages."""

import os
import signal
import time

from arm_harness import execute, HOME, NO_FAULTS, stop
from control_msgs.msg import JointJog, JointTrajectoryControllerState
from moveit_msgs.msg import CollisionObject, ServoStatus as MoveItStatus
from moveit_msgs.srv import ServoCommandType
from node_harness import eventually, stamped
import numpy as np
import pinocchio as pin
import pytest
from scene_harness import applied, box, diff, mesh, pose
from servo_harness import FRAMES, MAX_ACCELERATION, processes, twist
from std_srvs.srv import SetBool
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
import trimesh

from ros2_ik.msg import ServoStatus, Status
from ros2_ik.node.controllers.topics import SpeedScaling

JOG = JointJog(joint_names=['panda_joint1'], velocities=[9.0])   # limited to the maximum
SIDEWAYS = twist(0, 0.1, 0, 0, 0, 0)
SLAB = box('slab', 0.4, at=pose(0.307, 0, 0.1))      # its top is at z = 0.3
FAR_POSE = stamped(np.eye(4))
FAR_POSE.pose.position.x = 1e308


def wait_for_motion(servo, by=0.05):
    """Wait until a joint has moved by more than `by` [rad]."""
    before = servo.q()
    eventually(lambda: np.abs(servo.q() - before).max() > by, 'motion')


def test_twist_moves_the_tip_on_a_line_within_joint_limits(servo):
    servo.on('twist')
    start, since = FRAMES.tip(servo.q()), len(servo.record)
    with servo.commanding('twist', twist(0.05, 0.1, 0, 0, 0, 0)):
        eventually(lambda: np.linalg.norm(FRAMES.tip(servo.q()).translation
                                          - start.translation) > 0.1, 'motion')
    servo.wait_for_rest()
    positions = servo.assert_limits(since)
    distance = np.linalg.norm(FRAMES.tip(positions[-1]).translation - start.translation)
    assert distance > 0.1
    direction = np.array([0.05, 0.1, 0]) / np.hypot(0.05, 0.1)
    for q in positions[::10]:
        tip = FRAMES.tip(q)
        moved = tip.translation - start.translation
        assert np.linalg.norm(moved - direction * (moved @ direction)) < 2e-3
        assert np.linalg.norm(pin.log3(tip.rotation @ start.rotation.T)) < 5e-3


def test_servo_halts_before_a_new_obstacle_and_can_move_away(client, servo):
    """Past defect: shortly after a change of the scene, the servo used the old scene again."""
    servo.on('joint')
    applied(client, diff(SLAB))
    servo.on('twist')
    since, status_count = len(servo.record), len(servo.statuses)
    with servo.commanding('twist', twist(0, 0, -0.2, 0, 0, 0)):
        eventually(lambda: any(status.code == ServoStatus.HALT_FOR_COLLISION
                               for status in servo.statuses[status_count:]), 'a halt')
        halted = servo.wait_for_rest()
    assert 0.3 < FRAMES.tip(halted).translation[2] < 0.33
    with servo.commanding('twist', twist(0, 0, 0.2, 0, 0, 0)):    # away
        eventually(lambda: FRAMES.tip(servo.q()).translation[2] > 0.4, 'motion')
    servo.wait_for_rest()
    servo.assert_limits(since)


def test_large_new_mesh_switches_the_servo_off(client, servo):
    """Past defect: the servo's process missed 20 steps while it built the tree of the mesh."""
    def sphere(name, radius):
        surface = trimesh.creation.icosphere(subdivisions=3, radius=radius)    # 1,280 triangles
        return CollisionObject(id=name, pose=pose(-0.7, 0, 0.3), operation=CollisionObject.ADD,
                               meshes=[mesh(surface.vertices.tolist(), surface.faces.tolist())],
                               mesh_poses=[pose()])
    servo.on('joint')
    since = len(servo.record)
    with servo.commanding('joint_jog', JOG):
        wait_for_motion(servo, 0.3)
        applied(client, diff(sphere('small', 0.05)))
        wait_for_motion(servo, 0.3)
        applied(client, diff(*(sphere(f'{n} cm', n / 100) for n in (10, 11, 12, 13))))
        eventually(lambda: servo.statuses[-1].mode == 'off', 'mode off')
        assert servo.reported(0, 'new meshes have more than 5000 triangles')
    servo.wait_for_rest()
    servo.assert_limits(since)


def test_command_of_another_client_switches_the_servo_off(client, servo):
    servo.on('twist')
    status_count, foreign = len(servo.statuses), JointTrajectory(
        joint_names=['panda_joint1'], points=[JointTrajectoryPoint()])
    with servo.commanding('twist', SIDEWAYS):
        wait_for_motion(servo)
        with client.publishing('arm_controller/joint_trajectory', foreign, 0.05):
            eventually(lambda: servo.reported(status_count, 'another client sends commands on'),
                       'the status')
    servo.wait_for_rest()


def test_malformed_servo_commands_are_reported_without_motion(servo):
    before = servo.wait_for_rest()
    repeated = JointJog(joint_names=['panda_joint1'] * 2, velocities=[0.1, 0.1])
    for mode, topic, bad, words in (
            ('pose', 'target', FAR_POSE, 'further away than'),
            ('joint', 'joint_jog', repeated, 'named 2 times'),
            ('joint', 'joint_jog', JointJog(joint_names=['elbow'], velocities=[0.1]),
             "'elbow' is not moved by the servo"),
            ('joint', 'joint_jog', JointJog(joint_names=['panda_joint1']), 'has length 0; valid'),
            ('joint', 'joint_jog', JointJog(displacements=[0.1]), 'are not supported'),
            ('joint', 'twist', SIDEWAYS, "a command for mode 'twist' is ignored"),
            ('joint', 'joint_jog', JointJog(joint_names=['panda_joint1'], velocities=[1e300]),
             "velocity of joint 'panda_joint1' is 1e+300"),
            ('twist', 'twist', twist(float('nan'), 0, 0, 0, 0, 0), 'nan')):
        servo.on(mode)
        count = len(servo.statuses)
        with servo.commanding(topic, bad):
            eventually(lambda count=count, words=words: servo.reported(count, words), words)
        assert np.abs(servo.q() - before).max() < 1e-12
    with servo.commanding('twist', twist(0, 1.0, 0, 0, 0, 0)):    # four times the maximum
        slowed = eventually(lambda: servo.reported(0, 'exceeds servo_linear_vel'), 'the status')
        wait_for_motion(servo)
    assert 0 < slowed[0].scale < 0.26


def test_malformed_switch_requests_are_refused(servo):
    for fields, words in (({'mode': 'pos'}, 'valid: pose, twist, joint, off'),
                          ({'mode': 'pose', 'tip': 'hnad'}, 'hnad'),
                          ({'mode': 'pose', 'group': 'leg'}, 'leg'),
                          ({'mode': 'pose', 'tip': 'panda_link0'}, "moves 'panda_link0'"),
                          ({'mode': 'twist', 'velocity_scaling': 2.0}, '0.001 to 1'),
                          ({'mode': 'twist', 'control_dimensions': [True] * 5}, 'six'),
                          ({'mode': 'twist', 'control_dimensions': [False] * 6}, 'one true')):
        answer = servo.switch(**fields)
        assert not answer.success and words in answer.message, answer.message


def test_motions_and_the_servo_exclude_each_other(client, servo):
    servo.on('twist')
    answer = execute(client, HOME | {'panda_joint1': 0.3})
    assert answer.status == Status.CONTROL_FAILED and 'servo is on' in answer.message
    with servo.commanding('twist', SIDEWAYS):
        wait_for_motion(servo)
        future = servo.switch_async('False')       # YAML reads off as False
        applied(client, diff(box('far', 0.1, at=pose(3, 0, 0))))   # while the servo brakes
        answer, answered = client.wait(future), time.time()
    assert answer.success and answer.message.startswith('the servo is off')
    # by stamps, since messages are received late on a busy computer
    rest, motion = servo.wait_for_rest(), servo.record.motion()
    assert np.abs(motion.positions[motion.times > answered] - rest).max() < 1e-3
    eventually(lambda: execute(client, HOME | {'panda_joint1': 0.3}).status == Status.SUCCESS,
               'a motion', 20)


def test_servo_switched_on_right_after_a_stop_starts_from_rest(client, servo):
    """Past defect: the servo started at the measured position of an arm in full motion."""
    servo.on('twist')
    since = len(servo.record)
    with servo.commanding('twist', twist(0, 0.2, 0, 0, 0, 0)):
        wait_for_motion(servo)
        stop(client)     # on a busy machine its reply may be that rest is not known
        eventually(lambda: servo.reported(0, 'all motions were stopped'), 'the status')
        servo.on('twist')
        wait_for_motion(servo)
    servo.wait_for_rest()
    eventually(lambda: stop(client).success, 'a stop of an arm at rest')
    servo.assert_limits(since)


def test_paused_servo_rests_and_ignores_commands(client, servo):
    servo.on('twist')

    def pause(paused):
        assert client.call(SetBool, 'ros2_ik/servo/pause', SetBool.Request(data=paused)).success
    with servo.commanding('twist', SIDEWAYS):
        wait_for_motion(servo)
        pause(True)
        servo.wait_for_rest()
        pause(False)
        wait_for_motion(servo)


def test_switching_off_during_the_start_keeps_the_servo_off(client, servo):
    future = servo.switch_async('joint')
    servo.off()
    if client.wait(future).success:     # the servo was on before it was switched off
        servo.off()
    before = servo.wait_for_rest()
    with servo.commanding('joint_jog', JOG):
        for _ in range(100):
            servo.q()
    assert np.abs(servo.q() - before).max() < 1e-6


@pytest.mark.parametrize(('fault', 'value', 'words'), [
    ('publish_joint_states', False, 'joint_states of joint'),
    ('stamp', False, 'have no header.stamp'),
    # the servo does not command the finger
    ('nan_joint', 'panda_finger_joint1', "of joint 'panda_finger_joint1'")])
def test_missing_or_invalid_joint_states_switch_the_servo_off(servo, mock, fault, value, words):
    servo.on('twist')
    status_count = len(servo.statuses)
    with servo.commanding('twist', SIDEWAYS):
        wait_for_motion(servo)
        mock.set(fault, value)
        since = len(servo.record) - 1    # the last reading, if the fault stops joint_states
        try:
            eventually(lambda: servo.reported(status_count, words), words)
            eventually(lambda: servo.statuses[-1].mode == 'off', 'mode off')
            if fault == 'stamp':
                assert words in servo.switch('twist').message
        finally:
            mock.set(fault, NO_FAULTS[fault])
        servo.wait_for_rest()
    positions = servo.record.motion(since).positions
    assert np.abs(positions[-1] - positions[0]).max() < 0.5


def test_blocked_arm_switches_the_servo_off_and_does_not_jump_when_released(servo, mock):
    """Past defect: the released arm jumped to the last command at full speed."""
    servo.on('joint')
    status_count = len(servo.statuses)
    with servo.commanding('joint_jog', JOG):
        wait_for_motion(servo, 0.3)
        mock.set('blocked', True)
        try:
            eventually(lambda: servo.statuses[-1].mode == 'off', 'mode off')
            stuck = servo.wait_for_rest()
        finally:
            mock.set('blocked', False)
        assert np.abs(servo.wait_for_rest() - stuck).max() < 1e-3
    halted = [status for status in servo.statuses[status_count:]
              if status.code == ServoStatus.HALT_FOR_TRACKING]
    assert "joint 'panda_joint1' does not follow: it is 0." in halted[0].message
    assert any(status.code == MoveItStatus.INVALID and status.message == halted[0].message
               for status in servo.moveit_statuses)
    servo.on('joint')
    with servo.commanding('joint_jog', JOG):
        wait_for_motion(servo, 0.3)


def motion_of(servo, twist_message):
    """Move the tip; return half a second of steady motion once the arm is at rest again."""
    with servo.commanding('twist', twist_message):
        wait_for_motion(servo, 0.01)
        since = len(servo.record)
        eventually(lambda: len(servo.record) > since + 50, 'steady motion')
        motion = servo.record.motion(since)
    servo.wait_for_rest()
    return motion


def speed(motion):
    """Return the mean speed of the tip [m/s]."""
    first, last = (FRAMES.tip(q).translation for q in motion.positions[[0, -1]])
    return np.linalg.norm(last - first) / (motion.times[-1] - motion.times[0])


# the mock controllers update at 100 Hz
@pytest.mark.parametrize('servo_rate', [250.0, 40.0])
def test_servo_follows_the_speed_scaling_of_the_controller_smoothly(
        client, servo, mock, servo_rate):
    """Past defect: with a speed slider, the arm lagged between messages and then caught up."""
    motions = []
    try:
        client.set('servo_rate', servo_rate)
        servo.on('twist')
        mock.set('time_scale', 0.3)
        status_count = len(servo.statuses)

        def moved():
            motions.append(motion_of(servo, SIDEWAYS))
            assert speed(motions[-1]) < 0.031
            return speed(motions[-1]) > 0.015      # a busy machine also slows the arm
        eventually(moved, 'motion', 60)
        motion = motions[-1]
        assert servo.reported(status_count, 'follows; the controller runs at 0.3 of its speed')
        velocities = np.diff(motion.positions, axis=0) / np.diff(motion.times)[:, None]
        accelerations = np.abs(np.diff(velocities, axis=0)) / np.diff(motion.times)[1:, None]
        # [rad/s^2]; the defect had 5 to 14
        assert (np.percentile(accelerations, 75, axis=0) < 1.1 * MAX_ACCELERATION).all()
    finally:
        mock.set('time_scale', 1.0)
        client.set('servo_rate', 250.0)
    eventually(lambda: speed(motion_of(servo, twist(0, -0.1, 0, 0, 0, 0))) > 0.05, 'full speed')


def test_zero_speed_scaling_is_ignored_until_another_value_arrives(client):
    """Past defect: the servo did not move, since old controllers leave the field at 0."""
    topic = '/old_controller/controller_state'
    scaling = client.on_executor(lambda: SpeedScaling(client.node, topic, lambda: None))
    publisher = client.node.create_publisher(JointTrajectoryControllerState, topic, 1)

    def publish(factor):
        publisher.publish(JointTrajectoryControllerState(speed_scaling_factor=factor))
    eventually(lambda: publisher.get_subscription_count(), 'the subscription')
    seen = {publish(0.0) or scaling.factor for _ in range(2000)}
    for factor in (0.5, 0.0):
        eventually(lambda factor=factor: publish(factor) or scaling.factor == factor, 'the value')
    assert seen == {1.0}
    client.on_executor(scaling.close)
    client.node.destroy_publisher(publisher)


def test_killed_servo_process_switches_the_servo_off_and_is_restarted(servo, node):
    servo.on('twist')
    with servo.commanding('twist', SIDEWAYS):
        wait_for_motion(servo)
        for process in processes('ik_servo', node.pid):
            os.kill(process, signal.SIGKILL)
        eventually(lambda: servo.reported(0, 'its process has died'), 'the status')
        assert servo.statuses[-1].code == ServoStatus.INVALID and servo.statuses[-1].mode == 'off'
        servo.wait_for_rest()
    eventually(lambda: servo.switch('twist').success, 'the next process')
    with servo.commanding('twist', SIDEWAYS):
        wait_for_motion(servo)


def test_suspended_node_halts_the_servo(servo, node):
    servo.on('twist')
    with servo.commanding('twist', twist(0, 0.05, 0, 0, 0, 0)):
        wait_for_motion(servo, 0.01)
        os.kill(node.pid, signal.SIGSTOP)
        try:
            eventually(lambda: servo.reported(0, 'the node is blocked'), 'the status')
            servo.wait_for_rest()
        finally:
            os.kill(node.pid, signal.SIGCONT)
        wait_for_motion(servo, 0.01)


def test_moveit_client_switches_the_servo_and_reads_its_status(client, servo, node):
    def switch(kind):
        return client.call(ServoCommandType, 'ros2_ik/servo/switch_command_type',
                           ServoCommandType.Request(command_type=kind), 30).success
    kinds = ServoCommandType.Request
    for kind, mode in ((kinds.POSE, 'pose'), (kinds.JOINT_JOG, 'joint'), (kinds.TWIST, 'twist')):
        assert switch(kind)
        eventually(lambda mode=mode: servo.statuses[-1].mode == mode, mode)
    start = FRAMES.tip(servo.q()).translation
    with servo.commanding('twist', twist(0.05, 0, 0, 0, 0, 0)):
        eventually(lambda: FRAMES.tip(servo.q()).translation[0] > start[0] + 0.02, 'motion')
    eventually(lambda: any(status.code == MoveItStatus.NO_WARNING
                           for status in servo.moveit_statuses), 'NO_WARNING')
    assert not switch(3) and "switch_command_type: mode is '3'" in node.text
    assert servo.statuses[-1].mode == 'twist'
