"""The servo: an arm that follows commands, judged by its joint_states and what it is told."""

from importlib.util import find_spec
import os
import pty
import signal
import subprocess
import sys
import threading
import time

from ament_index_python.packages import get_package_prefix
from arm_harness import (
    at_home,
    execute,
    HOME,
    mock_robot,
    POSITIONS,
    stop,
    TRAJECTORIES,
)
from control_msgs.msg import JointJog
from diagnostic_msgs.msg import DiagnosticArray
from moveit_msgs.msg import CollisionObject, ServoStatus as MoveItStatus
from moveit_msgs.srv import ServoCommandType
from node_harness import eventually, nodes
import numpy as np
import pinocchio as pin
import pytest
from scene_harness import applied, box, change, diff, pose as place
from sensor_msgs.msg import Joy
from servo_harness import FRAMES, processes, Servo, target, TIP, twist
from std_msgs.msg import Bool
from std_srvs.srv import SetBool

from ros2_ik.msg import ServoStatus, Status

ACTIVE = {'joint_trajectory': TRAJECTORIES, 'position': POSITIONS,
          'follow_joint_trajectory': {**TRAJECTORIES,
                                      'arm_controller.kind': 'follow_joint_trajectory'}}
COMMANDS = {'joint_trajectory': '/arm_controller/joint_trajectory',
            'position': '/arm_position_controller/commands',
            'follow_joint_trajectory': '/arm_controller/joint_trajectory'}
needs_action = pytest.mark.skipif(not find_spec('control_msgs.action'),
                                  reason='control_msgs is not installed')


@pytest.fixture(scope='module', params=[
    'joint_trajectory', pytest.param('position', marks=pytest.mark.slow),
    pytest.param('follow_joint_trajectory', marks=[pytest.mark.slow, needs_action])])
def kind(request):
    """Give the kind of controller."""
    return request.param


@pytest.fixture(scope='module')
def arm(client, domain, kind, tmp_path_factory):
    """Give a panda and a node that moves it."""
    streams = kind == 'position'
    active = ACTIVE[kind]
    # what is streamed at 250 Hz is seen as it is told by a robot of that rate only
    with mock_robot(client, tmp_path_factory.mktemp('mock'), active=str(active['controllers']),
                    rate=250.0 if streams else 100.0) as mock, \
            nodes(domain, tmp_path_factory.mktemp('node')) as start:
        node = start(**active)
        at_home(client)
        mock.node = node
        yield mock
    assert 'defect' not in mock.text, mock.text
    assert 'Traceback' not in node.text, node.text


@pytest.fixture
def node(arm):
    return arm.node


def may_run_in_real_time():
    probe = 'import os; os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(40))'
    return not subprocess.run([sys.executable, '-c', probe], capture_output=True).returncode


@pytest.fixture
def busy_sessions():
    """Have others compute, in sessions of their own: Linux gives each its share."""
    burners = [subprocess.Popen([sys.executable, '-c', 'while True: pass'],
                                start_new_session=True) for _ in range(2 * os.cpu_count())]
    yield
    for burner in burners:
        burner.kill()
        burner.wait()


@pytest.fixture
def servo(client, arm, kind):
    """Give a client of the servo, with the arm at home."""
    eventually(lambda: execute(client, HOME, velocity_scaling=0.5).status == Status.SUCCESS,
               'the arm at home', 60)
    made = Servo(client, arm, kind == 'position')
    yield made
    made.close()


def test_a_twist_moves_the_tip_straight_and_its_end_is_smooth(servo):
    servo.on('twist')
    start, since = FRAMES.tip(servo.q()), len(servo.record)
    with servo.commanding('twist', twist(0.05, 0.1, 0, 0, 0, 0)):
        eventually(lambda: np.linalg.norm(FRAMES.tip(servo.q()).translation
                                          - start.translation) > 0.1, 'motion')
    servo.rest()
    at = servo.judge(since)
    way = FRAMES.tip(at[-1]).translation - start.translation
    assert 0.1 < np.linalg.norm(way) < 0.25
    direction = np.array([0.05, 0.1, 0]) / np.hypot(0.05, 0.1)
    for q in at[::10]:
        here = FRAMES.tip(q)
        moved = here.translation - start.translation
        assert np.linalg.norm(moved - direction * (moved @ direction)) < 2e-3
        assert np.linalg.norm(pin.log3(here.rotation @ start.rotation.T)) < 5e-3


def test_a_target_that_jumps_is_reached_within_limits(servo):
    servo.on('pose', tip=TIP)
    since = len(servo.record)
    goal = FRAMES.tip(servo.q())
    goal.translation += np.array([0.1, 0.3, -0.1])
    with servo.commanding('target', target(goal)):
        eventually(lambda: np.linalg.norm(FRAMES.tip(servo.q()).translation
                                          - goal.translation) < 1e-3, 'the target', 20)
        goal.translation -= np.array([0, 1.0, 0])
    with servo.commanding('target', target(goal)):
        time.sleep(2)
    servo.rest()
    servo.judge(since)


@pytest.mark.slow
def test_a_target_that_goes_round_a_circle_is_followed(servo):
    """By the servo's lag of an eighth of a second the arm's circle is 2 % smaller."""
    servo.on('pose', tip=TIP)
    middle, radius, period = FRAMES.tip(servo.q()), 0.06, 4.0
    message = target(middle)
    since, begun = len(servo.record), time.monotonic()
    with servo.commanding('target', message):
        while (now := time.monotonic() - begun) < 1.5 * period:
            at, angle = message.pose.position, 2 * np.pi * now / period
            at.y = middle.translation[1] + radius * np.sin(angle)
            at.z = middle.translation[2] + radius * np.cos(angle)
            time.sleep(0.005)
    servo.rest()
    arm = servo.judge(since)
    if servo.streams:       # steps that come late are not made up for, and the lag grows
        return
    tips = [FRAMES.tip(q) for q in arm]
    away = np.array([tip.translation - middle.translation for tip in tips])
    # from half a turn on until it brakes
    angles = np.arctan2(away[:, 1], away[:, 2])
    begin = np.argmax((angles < -3.0) & (np.hypot(away[:, 1], away[:, 2]) > radius / 2))
    moves = np.abs(np.diff(away, axis=0)).max(axis=1) > 1e-4
    way = away[begin:np.flatnonzero(moves)[-1] - 40]
    assert len(way) > 100
    away = np.abs(np.hypot(way[:, 1], way[:, 2]) - radius)
    assert np.median(away) < 0.003 and away.max() < 0.008
    assert np.abs(way[:, 0]).max() < 0.002
    turned = [pin.log3(middle.rotation.T @ tip.rotation) for tip in tips]
    assert np.linalg.norm(turned, axis=1).max() < 0.02


@pytest.mark.slow
def test_joints_are_jogged_up_to_their_limit(servo):
    servo.on('joint')
    since, told = len(servo.record), len(servo.statuses)
    with servo.commanding('joint_jog', JointJog(joint_names=['panda_joint4'], velocities=[9.0])):
        eventually(lambda: servo.said(told, "position limit of 'panda_joint4'"), 'the limit', 20)
        time.sleep(0.3)
    servo.rest()
    at = servo.judge(since)
    assert at[-1][3] == pytest.approx(FRAMES.model.upperPositionLimit[3], abs=2e-3)
    assert np.abs(np.delete(at - at[0], 3, axis=1)).max() < 1e-5   # nothing else moves
    assert ServoStatus.JOINT_BOUND in {one.code for one in servo.statuses[told:]}


@pytest.mark.slow
def test_from_a_twist_to_a_pose_in_full_motion(servo):
    servo.on('twist')
    since = len(servo.record)
    with servo.commanding('twist', twist(0, -0.2, 0, 0, 0, 0)):
        time.sleep(0.8)
        servo.on('pose')
        goal = FRAMES.tip(np.array(list(HOME.values())))
        with servo.commanding('target', target(goal)):
            eventually(lambda: np.linalg.norm(FRAMES.tip(servo.q()).translation
                                              - goal.translation) < 1e-3, 'the target', 20)
    servo.rest()
    servo.judge(since)


def test_it_does_not_go_into_the_table(client, servo):
    top = 0.3
    applied(client, diff(box('slab', 0.4, at=place(0.307, 0, top - 0.2))))
    try:
        servo.on('twist')
        since, told = len(servo.record), len(servo.statuses)
        with servo.commanding('twist', twist(0, 0, -0.2, 0, 0, 0)):
            eventually(lambda: any(one.code == ServoStatus.HALT_FOR_COLLISION
                                   for one in servo.statuses[told:]), 'a halt', 20)
            time.sleep(0.5)
        down = servo.rest()
        servo.judge(since)
        assert top < FRAMES.tip(down).translation[2] < top + 0.03
        with servo.commanding('twist', twist(0, 0, 0.2, 0, 0, 0)):    # and out again
            time.sleep(1)
        assert FRAMES.tip(servo.rest()).translation[2] > top + 0.1
        servo.judge(since)
    finally:
        servo.off()
        applied(client, diff(change('slab', CollisionObject.REMOVE)))


def test_it_gives_way_to_what_comes(client, servo):
    """Slower than it can retreat, however late the scene is told; nothing is commanded."""
    servo.on('twist')
    since = len(servo.record)
    try:
        for k in range(100):
            side = 0.2
            x = 0.307 + 0.19 - 0.0015 * k
            applied(client, diff(box('cart', side, at=place(x, 0, 0.5))))
            time.sleep(0.05)
        at = servo.judge(since)
        assert np.abs(at[-1] - at[0]).max() > 0.02
        assert not servo.said(0, 'too near'), servo.said(0, 'too near')[0]
    finally:
        servo.off()
        applied(client, diff(change('cart', CollisionObject.REMOVE)))


@pytest.mark.parametrize('bad', [
    twist(float('nan'), 0, 0, 0, 0, 0),
    pytest.param(twist(0.1, 0, 0, 0, 0, 0, frame='nowhere'), marks=pytest.mark.slow)])
def test_what_makes_no_sense_is_told_and_moves_nothing(servo, bad):
    servo.on('twist')
    before, told = servo.rest(), len(servo.statuses)
    with servo.commanding('twist', bad):
        eventually(lambda: servo.said(told, 'nan') or servo.said(told, 'nowhere'), 'a word')
    assert np.abs(servo.q() - before).max() < 1e-12
    with servo.commanding('twist', twist(0, 0.1, 0, 0, 0, 0)):
        eventually(lambda: np.abs(servo.q() - before).max() > 0.01, 'motion')


def test_motions_and_the_servo_exclude_each_other(client, servo):
    servo.on('twist')
    answer = execute(client, HOME | {'panda_joint1': 0.3})
    assert answer.status == Status.CONTROL_FAILED and 'servo is on' in answer.message
    servo.off()
    eventually(lambda: execute(client, HOME | {'panda_joint1': 0.3}).status == Status.SUCCESS,
               'a motion', 20)


def test_switch_takes_what_yaml_makes_of_off(client, servo):
    servo.on('twist')
    answer = servo.switch('False')
    assert answer.success and answer.message.startswith('the servo is off')


@pytest.mark.parametrize(('dimensions', 'words'), [
    ([True] * 5, 'six'), ([False] * 6, 'one true')])
def test_control_dimensions_that_make_no_sense_are_refused(servo, dimensions, words):
    answer = servo.switch('twist', control_dimensions=dimensions)
    assert not answer.success and words in answer.message


def test_freed_axes_let_the_tip_turn(client, servo):
    servo.on('twist', control_dimensions=[True, True, True, False, False, False])
    before = FRAMES.tip(servo.q())
    with servo.commanding('twist', twist(0, 0.15, 0, 0, 0, 0)):
        time.sleep(1.5)
    after = FRAMES.tip(servo.rest())
    moved = after.translation - before.translation
    assert moved[1] > 0.08 and np.abs(moved[[0, 2]]).max() < 2e-3
    assert np.linalg.norm(pin.log3(before.rotation.T @ after.rotation)) > 0.05


def test_joint_named_twice_is_refused(servo):
    servo.on('joint')
    before, told = servo.rest(), len(servo.statuses)
    with servo.commanding('joint_jog', JointJog(joint_names=['panda_joint1'] * 2,
                                                velocities=[0.1, 0.1])):
        eventually(lambda: servo.said(told, 'named 2 times'), 'the reason')
    assert np.abs(servo.q() - before).max() < 1e-12


def test_other_joint_that_falls_silent_ends_it_and_is_named(client, servo):
    """A finger, which the servo does not command, was measured before."""
    servo.on('twist')
    assert client.set('nan_joint', 'panda_finger_joint1', node='mock_robot').successful
    try:
        eventually(lambda: servo.said(0, "of joint 'panda_finger_joint1'"), 'its end', 10)
    finally:
        assert client.set('nan_joint', '', node='mock_robot').successful


def test_a_stop_ends_it(client, servo):
    servo.on('twist')
    since = len(servo.record)
    with servo.commanding('twist', twist(0, 0.2, 0, 0, 0, 0)):
        time.sleep(0.7)
        stop(client)     # on a busy machine it says that it does not know whether the arm moves
        eventually(lambda: servo.said(0, 'all motions were stopped'), 'its end')
        servo.rest()
    assert stop(client).success
    servo.judge(since)


@pytest.mark.slow
def test_switched_on_right_after_a_stop_it_begins_from_rest(client, servo):
    """It began from where the arm was measured, in full motion."""
    servo.on('twist')
    since = len(servo.record)
    with servo.commanding('twist', twist(0, 0.2, 0, 0, 0, 0)):
        time.sleep(0.7)
        assert stop(client).success
        servo.on('twist')
        time.sleep(0.5)
    servo.rest()
    servo.judge(since)


@pytest.mark.slow
def test_another_rate_counts_from_the_next_mode_on(client, servo):
    """Steps of a slower rate were taken as often as before, five times too fast."""
    servo.on('twist')
    since = len(servo.record)
    assert client.set('servo_rate', 50.0).successful
    try:
        servo.on('joint')
        with servo.commanding('joint_jog', JointJog(joint_names=['panda_joint1'],
                                                    velocities=[9.0])):
            time.sleep(1)
        servo.rest()
        servo.judge(since)
    finally:
        assert client.set('servo_rate', 250.0).successful


@pytest.mark.slow
def test_another_mode_knows_the_scene_that_came_just_before(client, servo):
    """What was around the robot before that came back a moment later."""
    top = 0.3
    try:
        servo.on('joint')
        applied(client, diff(box('far', 0.1, at=place(2, 0, 0))))
        applied(client, diff(box('slab', 0.4, at=place(0.307, 0, top - 0.2))))
        servo.on('twist')
        with servo.commanding('twist', twist(0, 0, -0.2, 0, 0, 0)):
            time.sleep(3)
        assert FRAMES.tip(servo.rest()).translation[2] > top
    finally:
        servo.off()
        for name in ('far', 'slab'):
            applied(client, diff(change(name, CollisionObject.REMOVE)))


@pytest.mark.parametrize('far', [pytest.param(1e10, marks=pytest.mark.slow), 1e308])
def test_a_target_beyond_all_reason_is_told(servo, far):
    servo.on('pose')
    before, told = servo.rest(), len(servo.statuses)
    goal = FRAMES.tip(before)
    message = target(goal)
    message.pose.position.x = far
    with servo.commanding('target', message):
        eventually(lambda: servo.said(told, 'further away than'), 'a word')
    assert np.abs(servo.q() - before).max() < 1e-12
    goal.translation[1] += 0.1
    with servo.commanding('target', target(goal)):
        eventually(lambda: np.abs(servo.q() - before).max() > 0.01, 'motion')


@pytest.mark.slow
def test_paused_it_comes_to_rest_and_ignores_commands(client, servo):
    servo.on('twist')

    def pause(paused):
        assert client.call(SetBool, 'ros2_ik/servo/pause', SetBool.Request(data=paused)).success
    with servo.commanding('twist', twist(0, 0.1, 0, 0, 0, 0)):
        time.sleep(0.5)
        pause(True)
        before = servo.rest()
        pause(False)
        eventually(lambda: np.abs(servo.q() - before).max() > 0.01, 'motion')
    pause(True)     # and without any command
    told = len(servo.statuses)
    eventually(lambda: servo.said(told, 'paused'), 'a word')
    pause(False)
    told = len(servo.statuses)
    eventually(lambda: servo.said(told, 'waits for commands'), 'a word')


def test_silent_joint_states_end_it_from_the_commanded_state(servo, arm):
    servo.on('twist')
    told, since = len(servo.statuses), len(servo.record)
    with servo.commanding('twist', twist(0, 0.1, 0, 0, 0, 0)):
        time.sleep(0.5)
        arm.set('publish_joint_states', False)
        try:
            eventually(lambda: servo.said(told, 'joint_states told of joint'), 'its end')
            time.sleep(0.5)
        finally:
            arm.set('publish_joint_states', True)
    servo.rest()
    way = servo.record.way(since)
    assert np.abs(way.positions[-1] - way.positions[0]).max() < 0.5
    eventually(lambda: servo.statuses[-1].mode == 'off', 'off')


def test_joint_states_without_stamps_end_it_and_keep_it_off(servo, arm):
    """How late the arm is was not known, and it was taken for a slow controller."""
    servo.on('twist')
    told = len(servo.statuses)
    with servo.commanding('twist', twist(0, 0.1, 0, 0, 0, 0)):
        time.sleep(0.5)
        arm.set('stamp', False)
        try:
            eventually(lambda: servo.said(told, 'have no header.stamp'), 'its end')
            eventually(lambda: servo.statuses[-1].mode == 'off', 'off')
            assert 'have no header.stamp' in servo.switch('twist').message
        finally:
            arm.set('stamp', True)
    servo.rest()


def test_subscriber_that_is_not_matched_keeps_it_off(client, servo, kind):
    """Of another type than commands, as a controller that is discovered too late never is."""
    other = client.node.create_subscription(Bool, COMMANDS[kind], lambda _: None, 1)
    try:
        eventually(lambda: 'subscribers on /arm' in servo.switch('joint').message, 'a refusal', 30)
    finally:
        client.node.destroy_subscription(other)
    eventually(lambda: servo.switch('joint').success, 'the servo')


# -- an arm that does not follow ---------------------------------------------------------------

JOG = JointJog(joint_names=['panda_joint1'], velocities=[9.0])   # as fast as it may


def test_an_arm_that_does_not_follow_ends_the_servo_and_is_not_pushed(servo, arm):
    """When it was freed it jumped to where it had been told to be, as fast as its motors can."""
    servo.on('joint')
    told = len(servo.statuses)
    with servo.commanding('joint_jog', JOG):
        eventually(lambda: servo.q()[0] > 0.3, 'motion')
        arm.set('blocked', True)
        try:
            eventually(lambda: servo.statuses[-1].mode == 'off', 'its end')
            stuck = servo.rest()
        finally:
            arm.set('blocked', False)
        assert np.abs(servo.rest() - stuck).max() < 1e-3
    halted = [one for one in servo.statuses[told:] if one.code == ServoStatus.HALT_FOR_TRACKING]
    assert "joint 'panda_joint1' does not follow: it is 0." in halted[0].message
    assert any(one.code == MoveItStatus.INVALID and one.message == halted[0].message
               for one in servo.moveit_statuses)
    servo.on('joint')
    with servo.commanding('joint_jog', JOG):
        eventually(lambda: servo.q()[0] > stuck[0] + 0.3, 'motion')


@pytest.mark.slow
def test_an_arm_that_lags_is_not_stuck(servo, arm):
    """By a quarter of a second, which is more than a stuck one may be off."""
    servo.on('joint')
    told = len(servo.statuses)
    arm.set('lag', 0.25)
    try:
        since, before = len(servo.record), servo.q()[0]
        with servo.commanding('joint_jog', JOG):
            eventually(lambda: servo.q()[0] > before + 0.6, 'motion')
        servo.rest()
    finally:
        arm.set('lag', 0.0)
    servo.judge(since, obeys=False)
    assert not servo.said(told, 'does not follow')


@pytest.mark.slow
def test_diagnostics_tell_of_late_steps(client, servo):
    heard = []
    subscription = client.node.create_subscription(DiagnosticArray, '/diagnostics', heard.append,
                                                   10)
    servo.on('twist')

    def told():
        return next((one for array in heard for one in array.status
                     if one.name.endswith('servo') and one.values), None)
    values = {one.key: float(one.value) for one in eventually(told, 'diagnostics').values}
    assert values['missed steps'] <= values['steps']
    assert values['late p50 [ms]'] <= values['late p99 [ms]'] <= values['late max [ms]']
    client.node.destroy_subscription(subscription)


@pytest.mark.slow
def test_its_steps_are_in_time_beside_a_busy_computer(servo, arm, busy_sessions):
    if not may_run_in_real_time():
        pytest.skip('real time is not allowed here (ulimit -r)')
    servo.on('pose', tip=TIP)
    for process in processes('ik_servo', arm.node.pid):
        assert os.sched_getscheduler(process) == os.SCHED_FIFO
    for turn in (1, -1, 1, -1):
        since, goal = len(servo.record), FRAMES.tip(servo.q())
        goal.translation[1] += turn * 0.2
        with servo.commanding('target', target(goal)):
            eventually(lambda goal=goal: np.abs(pin.log6(goal.actInv(
                FRAMES.tip(servo.q()))).vector).max() < 1e-3, 'the target')
        servo.rest()
        servo.judge(since)


def test_a_process_that_is_killed_ends_it_and_another_one_starts(client, servo, arm):
    servo.on('twist')
    with servo.commanding('twist', twist(0, 0.1, 0, 0, 0, 0)):
        time.sleep(0.5)
        for process in processes('ik_servo', arm.node.pid):
            os.kill(process, signal.SIGKILL)
        eventually(lambda: servo.said(0, 'its process has died'), 'the status says so')
        assert servo.statuses[-1].code == ServoStatus.INVALID and servo.statuses[-1].mode == 'off'
        servo.rest()
    eventually(lambda: servo.switch('twist').success, 'another process', 20)
    servo.on('twist')
    before = servo.rest()
    with servo.commanding('twist', twist(0, -0.1, 0, 0, 0, 0)):
        eventually(lambda: np.abs(servo.q() - before).max() > 0.01, 'motion')


def test_a_node_that_is_held_up_halts_it(servo, node):
    servo.on('twist')
    with servo.commanding('twist', twist(0, 0.05, 0, 0, 0, 0)):
        time.sleep(0.5)
        os.kill(node.pid, signal.SIGSTOP)
        try:
            eventually(lambda: servo.said(0, 'the node is held up'), 'a word', 10)
            before = servo.rest()
        finally:
            os.kill(node.pid, signal.SIGCONT)
        eventually(lambda: np.abs(servo.q() - before).max() > 0.01, 'motion')


@pytest.mark.slow
def test_off_counts_while_it_is_switched_on(client, servo):
    ended = threading.Event()
    answers = []

    def switch():
        answers.append(servo.switch('joint'))
        ended.set()
    thread = threading.Thread(target=switch)
    for pause in (0.0, 0.002, 0.01, 0.05):
        ended.clear()
        thread = threading.Thread(target=switch)
        thread.start()
        time.sleep(pause)
        servo.off()
        assert ended.wait(20)
        thread.join()
        before = servo.rest()
        jog = JointJog(joint_names=['panda_joint1'], velocities=[0.3])
        if answers[-1].success:     # it was on before that
            servo.off()
        with servo.commanding('joint_jog', jog):
            time.sleep(0.3)
        assert np.abs(servo.q() - before).max() < 1e-6


def test_a_process_that_dies_while_it_is_off_does_not_matter(servo, arm):
    servo.on('twist')
    servo.off()
    for process in processes('ik_servo', arm.node.pid):
        os.kill(process, signal.SIGKILL)
    time.sleep(0.2)
    servo.on('twist')
    begun = len(servo.statuses)     # it has heard of the arm before the switch is answered
    eventually(lambda: len(servo.statuses) > begun, 'a status')
    assert not servo.said(begun, 'waits for joint_states')


@pytest.mark.slow
def test_two_clients_of_different_minds(client, servo):
    servo.on('twist')
    since = len(servo.record)
    with servo.commanding('twist', twist(0, 0.2, 0, 0, 0, 0)), \
            servo.commanding('twist', twist(0, -0.2, 0.1, 0.5, 0, 0)):
        time.sleep(2)
    servo.rest()
    servo.judge(since)


def command(domain, *words, **options):
    return subprocess.Popen(
        [f'{get_package_prefix("ros2_ik")}/lib/ros2_ik/ros2_ik', 'servo', *words],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, 'ROS_DOMAIN_ID': str(domain)}, **options)


@pytest.mark.slow
def test_keys_move_the_tip(domain, servo):
    mine, its = pty.openpty()
    before = servo.rest()
    with command(domain, '--tip', TIP, '--speed', '0.1', stdin=its) as process:
        try:
            eventually(lambda: any(one.mode == 'twist' for one in servo.statuses), 'the servo', 30)
            eventually(lambda: servo.client.node.count_publishers('ros2_ik/servo/twist'),
                       'a publisher')
            time.sleep(0.5)
            assert np.abs(servo.q() - before).max() < 1e-9
            for _ in range(5):
                os.write(mine, b'a')
                time.sleep(0.1)
            moved = servo.rest()
            way = FRAMES.tip(moved).translation - FRAMES.tip(before).translation
            assert way[1] > 0.02 and np.abs(way[[0, 2]]).max() < 2e-3
            os.write(mine, b'x')
            text = process.communicate(timeout=20)[0]
            assert process.returncode == 0, text
        finally:
            process.kill()
            os.close(mine)
            os.close(its)
    assert servo.switch('off').message == 'the servo was off'


@pytest.mark.slow
def test_a_gamepad_moves_the_tip_while_its_button_is_held(domain, servo):
    with command(domain, '--joy', '/joy', stdin=subprocess.DEVNULL) as process:
        try:
            eventually(lambda: any(one.mode == 'twist' for one in servo.statuses), 'the servo', 30)
            before, joy = servo.rest(), Joy(axes=[0.0, 1.0, 0, 0, 0], buttons=[0] * 8)
            publisher = servo.client.node.create_publisher(Joy, '/joy', 10)
            for held in (0, 1):
                joy.buttons[4] = held
                for _ in range(25):
                    publisher.publish(joy)
                    time.sleep(0.02)
                assert (np.abs(servo.q() - before).max() > 0.01) == held
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == 0, process.stdout.read()
        finally:
            process.kill()
    servo.client.node.destroy_publisher(publisher)


def test_without_a_terminal_there_are_no_keys(domain):
    with command(domain, stdin=subprocess.DEVNULL) as process:
        assert process.wait(20) == 2 and 'stdin is none' in process.stdout.read()


def test_wrong_requests_are_refused(servo):
    for fields, word in (({'mode': 'pos'}, 'valid: pose, twist, joint, off'),
                         ({'mode': 'pose', 'tip': 'hnad'}, 'hnad'),
                         ({'mode': 'pose', 'group': 'leg'}, 'leg'),
                         ({'mode': 'twist', 'velocity_scaling': 2.0}, '0.001 to 1')):
        answer = servo.switch(**fields)
        assert not answer.success and word in answer.message, answer.message


def test_moveit_client_switches_it_and_reads_its_status(client, servo, node):
    def switch(kind):
        return client.call(ServoCommandType, 'ros2_ik/servo/switch_command_type',
                           ServoCommandType.Request(command_type=kind), 30).success
    kinds = ServoCommandType.Request
    for kind, mode in ((kinds.POSE, 'pose'), (kinds.JOINT_JOG, 'joint'), (kinds.TWIST, 'twist')):
        assert switch(kind) and servo.statuses[-1].mode == mode
    start = FRAMES.tip(servo.q()).translation
    with servo.commanding('twist', twist(0.05, 0, 0, 0, 0, 0)):
        eventually(lambda: FRAMES.tip(servo.q()).translation[0] > start[0] + 0.02, 'motion')
    eventually(lambda: any(one.code == MoveItStatus.NO_WARNING for one in servo.moveit_statuses),
               'its status')
    assert not switch(3) and "switch_command_type 3: mode is '3'" in node.text
    assert servo.statuses[-1].mode == 'twist'
