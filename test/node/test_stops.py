"""Stops of an arm that is late, slow or stuck, or without joint_states, on a test clock."""


import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline
from small_arm import URDF
from stand_in_arm import (
    Arm,
    JOINT,
    MAX_ACCELERATION,
    MAX_VELOCITY,
    Parameters,
    PERIOD,
    PositionStream,
    SimulatedController,
    SUPERVISION_PERIOD,
    TrajectoryRecorder,
)
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ros2_ik.core import Motion, MotionLimits, MotionState, Robot, Status, straight_motion
from ros2_ik.core.internals import braking_motion, stopped_within
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.controllers.controller import (
    braked,
    BrakingLimits,
    ControllerContext,
    motion_limits,
    passes_goal,
)
from ros2_ik.node.controllers.robot_controllers import RobotControllers
from ros2_ik.node.controllers.trajectory_controller import (
    braking_message,
    duration_message,
    JointTrajectoryController,
    RECEIVE_DELAY,
    seconds_of,
)
from ros2_ik.node.motion.motion_execution import MotionExecution, MotionRequest

REVERSE_TOLERANCE = 1e-6     # largest motion of a joint against its direction [rad]


@pytest.fixture(params=[PositionStream, TrajectoryRecorder])
def arm(monkeypatch, request):
    return Arm(monkeypatch, request.param)


@pytest.fixture
def jtc_arm(monkeypatch):
    """Return an arm with a joint trajectory controller, without a tracking error limit."""
    arm = Arm(monkeypatch, TrajectoryRecorder)
    arm.parameters.update(max_tracking_error=0.0, arrival_timeout=5.0)
    return arm


@pytest.mark.parametrize(('urdf', 'parameter', 'expected'), [
    (2.0, None, 2.0), (2.0, 0.1, 0.1), (2.0, 5.0, 2.0), (0.0, None, 1.0)])
def test_velocity_limit_is_the_smaller_of_urdf_and_parameter(urdf, parameter, expected):
    robot = Robot.from_urdf(URDF.replace('velocity="1.0"', f'velocity="{urdf}"'))
    parameters = Parameters()
    parameters.limits['turn', 'velocity'] = parameter
    assert motion_limits(robot, ['turn'], parameters).velocity.tolist() == [expected]


@pytest.mark.parametrize(('topic', 'used'), [('', ['one', 'three']), ('/commands', ['one'])])
def test_controller_that_shares_joints_or_its_topic_is_not_used(monkeypatch, topic, used):
    """Both controllers would follow each command on a shared topic."""
    arm = Arm(monkeypatch, TrajectoryRecorder)
    groups = {'one': 'arm', 'two': '', 'three': 'hand'}
    for name, group in groups.items():
        arm.parameters.update({f'{name}.kind': 'joint_trajectory', f'{name}.group': group,
                               f'{name}.topic': topic})
    arm.parameters['controllers'] = list(groups)
    monkeypatch.setattr(arm.context.node, 'destroy_publisher', lambda _: None, raising=False)
    monkeypatch.setattr(arm.context.node, 'destroy_subscription', lambda _: None, raising=False)
    found = RobotControllers(arm.robot, arm.context)
    assert [c.name for c in found.controllers] == used
    with pytest.raises(RequestError, match="'two' is not used: it has joints of controller 'one'"):
        found.choose(['elsewhere'])
    if topic:
        assert found.faults[1:] == ["controller 'three' is not used: its topic /commands is that "
                                    "of controller 'one'"]
    else:
        assert found.choose(['panda_finger_joint1']) == found.controllers[1:]


def test_action_controller_without_control_msgs_is_not_used(monkeypatch):
    monkeypatch.setattr('ros2_ik.node.controllers.follow_joint_trajectory.FollowJointTrajectory',
                        None)
    arm = Arm(monkeypatch, TrajectoryRecorder)
    arm.parameters.update({'one.kind': 'follow_joint_trajectory', 'one.group': 'arm',
                           'one.topic': '', 'controllers': ['one']})
    found = RobotControllers(arm.robot, arm.context)
    assert not found.controllers and 'of control_msgs are not installed' in found.faults[0]


@pytest.mark.parametrize('topic', ['my topic', '1abc/x', 'a//b', '~x', '~//x'])
def test_controller_with_an_invalid_topic_is_not_used(monkeypatch, topic):
    """Past defect: the robot was refused, with a traceback."""
    arm = Arm(monkeypatch, TrajectoryRecorder)
    arm.parameters.update({'one.kind': 'joint_trajectory', 'one.group': 'arm',
                           'one.topic': topic, 'controllers': ['one']})
    found = RobotControllers(arm.robot, arm.context)
    assert not found.controllers and f"topic '{topic}' is invalid" in found.faults[0]


def test_controller_is_unavailable_until_its_subscriber_must_have_been_discovered(monkeypatch):
    """The first subscriber found may be a recorder."""
    arm = Arm(monkeypatch, TrajectoryRecorder)
    one = JointTrajectoryController('c', (JOINT,), '', ControllerContext(
        arm.context.node, None, arm.parameters, None, arm.servo, arm.context.clock, arm.measured))
    assert 'still being discovered' in one.unavailable_reason()
    arm.now += 4.1
    assert not one.unavailable_reason()


@pytest.mark.parametrize('remaining', [0.05, 0.5, 1.2])     # until the end of the motion [s]
def test_stop_does_not_overshoot_the_goal(arm, remaining):
    """Synchronized braking with a reserve for late controllers could end beyond the goal."""
    arm.parameters.update(default_max_velocity=10.0)
    execution = arm.start_motion(2.0)
    arm.run(execution.motion.duration - remaining)
    execution.stop(Status.PREEMPTED, 'stopped')
    goal = arm.controller.motion.goal[0]
    assert goal < 2.0 + 1e-6
    arm.run(2.5)
    outcome = execution.supervise()
    assert outcome.status == Status.PREEMPTED
    assert ('too late to brake' in outcome.message) == (goal > 2.0 - 1e-6)


@pytest.mark.parametrize(('after', 'late', 'response'), [
    (0.4, 0.2, 0.0), (0.4, 0.5, 0.0), (0.8, 0.2, 0.3)])
def test_late_arm_brakes_from_its_measured_state(jtc_arm, after, late, response):
    """Braking from the command would end farther away; the controller may respond late, too."""
    jtc_arm.controller.receive_delay += response
    execution = jtc_arm.start_motion(2.6)
    jtc_arm.run(after + late, late)
    x, v = (float(values[0]) for values in jtc_arm.controller.commanded(jtc_arm.now - late)[:2])
    execution.stop(Status.PREEMPTED, 'stopped')
    end, seconds = jtc_arm.trajectory_end()
    shortest = v**2 / 2 / MAX_ACCELERATION
    assert x + shortest < end < x + 1.5 * shortest + 0.08 + 2 * response * v
    for start in (x, x + response * v):
        braking = CubicHermiteSpline([0, seconds], [start, end], [v, 0])
        assert np.abs(braking([0, seconds], 2)).max() < MAX_ACCELERATION * 1.01


@pytest.mark.parametrize('sag', [0.002, 0.005, 0.009])
@pytest.mark.parametrize('remaining', [0.02, 0.2, 0.8])
@pytest.mark.parametrize('goal', [1.0, 2.8973])     # also the upper limit of the joint
def test_stop_of_a_sagging_arm_keeps_the_acceleration_limit(jtc_arm, sag, remaining, goal):
    """Past defect: at the end of a motion the arm jumped to its rest position."""
    execution = jtc_arm.start_motion(goal)
    while jtc_arm.now < jtc_arm.controller.end_time - remaining:
        jtc_arm.now += PERIOD
        jtc_arm.receive(jtc_arm.controller.commanded(jtc_arm.now).position[0] - sag)
    motion = jtc_arm.controller.last_trajectory
    x, v = (float(values[0]) for values in jtc_arm.controller.commanded(jtc_arm.now)[:2])
    execution.stop(Status.PREEMPTED, 'stopped')
    # a motion that would end during braking is not replaced
    if jtc_arm.controller.last_trajectory is motion:
        assert (goal, remaining) != (1.0, 0.8)
        return
    end, seconds = jtc_arm.trajectory_end()
    assert end < goal + 1e-3
    # controllers start from the measured or from the commanded position
    for start in (x - sag, x):
        braking = CubicHermiteSpline([0, seconds], [start, end], [v, 0])
        assert np.abs(braking([0, seconds], 2)).max() < MAX_ACCELERATION * 1.01


@pytest.mark.parametrize('options', [
    {}, {'scale': 0.5}, {'scale': 0.2, 'measured': True}, {'state_period': 0.19},
    {'state_period': 0.4}], ids=str)
@pytest.mark.parametrize('after', [0.54, 0.95])
def test_stop_neither_speeds_up_nor_reverses(jtc_arm, options, after):
    """With a speed slider, or joint_states at a low rate."""
    follower = SimulatedController(jtc_arm, **options)
    execution = jtc_arm.start_motion(2.6)
    assert follower.run(after, execution) is None
    speed = follower.velocity * follower.scale
    outcome, positions = follower.stop(execution)
    assert outcome.status == Status.PREEMPTED
    assert follower.peak_acceleration < MAX_ACCELERATION * 1.05
    assert follower.peak_speed < speed * 1.05 + 0.06
    assert np.diff(positions).min() > -REVERSE_TOLERANCE
    assert positions[-1] - positions[0] < (MAX_VELOCITY**2 / 6 + 0.3) / follower.scale


@pytest.mark.parametrize('after', [0.4, 1.6])
def test_stop_beyond_pi_with_wrapped_joint_states_does_not_reverse(monkeypatch, after):
    """Past defect: a position beyond pi was read as a position one turn away."""
    arm = Arm(monkeypatch, TrajectoryRecorder, 'kinova', 'j2s6s200_joint_1', start=3.0)
    arm.parameters.update(max_tracking_error=0.0, arrival_timeout=5.0)
    follower = SimulatedController(arm, wrapped=True, position=3.0)
    execution = arm.start_motion(-1.7, 3.0)
    assert follower.run(after, execution) is None
    outcome, positions = follower.stop(execution)
    assert outcome and 'but' not in outcome.message, outcome
    assert np.diff(positions).min() > -REVERSE_TOLERANCE
    assert follower.peak_acceleration < MAX_ACCELERATION * 1.05
    assert abs(arm.trajectory_end()[0] - positions[-1]) < 2e-3


@pytest.mark.parametrize('seed', range(15))
def test_random_motions_and_stops_keep_the_acceleration_limit(monkeypatch, seed):
    """With an arm that is late or slow, and dropped joint_states."""
    random = np.random.default_rng(seed)
    arm, limit = Arm(monkeypatch, TrajectoryRecorder), random.choice([2.0, 3.0, 6.0])
    arm.parameters.update(arrival_timeout=4.0, limits={
        (JOINT, 'velocity'): random.uniform(0.5, 2.1), (JOINT, 'acceleration'): limit})
    scale, late = random.choice([1.0, 0.9, 0.5]), random.choice([0.0, 0.02, 0.1, 0.2])
    if scale < 1:
        late = min(late, 0.1)     # with later joint_states the node detects a slow arm too late
    follower = SimulatedController(
        arm, scale, command_delay=random.choice([0.002, 0.02]), late=late,
        drop_rate=random.choice([0.0, 0.2]), random=random)
    for _ in range(random.integers(1, 4)):
        execution = arm.start_motion(random.uniform(-2.5, 2.5), follower.position)
        outcome = follower.run(random.uniform(0.05, 1.5), execution)
        assert follower.peak_acceleration < 1.1 * limit
        if not outcome and not execution.reason:
            execution.stop(Status.PREEMPTED, 'stopped')
        outcome = outcome or follower.run(20.0, execution)
        assert outcome and follower.peak_acceleration < 1.1 * limit, outcome
        # the received joint_states are up to 0.22 s old
        assert 'but' in outcome.message or abs(follower.velocity * follower.scale) < 0.05


@pytest.mark.parametrize('stop', [0.15, 0.4, 0.9])
def test_stop_before_a_late_controller_starts_keeps_the_joint_at_rest(jtc_arm, stop):
    """The controller starts each trajectory a second late and cannot withdraw the first one."""
    follower = SimulatedController(jtc_arm, command_delay=1.0)
    execution = jtc_arm.start_motion(2.0)
    follower.run(stop, execution)
    execution.stop(Status.PREEMPTED, 'stopped')
    assert jtc_arm.trajectory_end()[0] == 0
    outcome = follower.run(1.0, execution)
    while not follower.messages or (
            follower.messages[-1] is not jtc_arm.controller.last_trajectory):
        follower.run(PERIOD)
    follower.peak_acceleration = 0.0
    outcome = outcome or follower.run(10, execution)
    assert outcome.status == Status.PREEMPTED
    follower.run(3)
    assert abs(follower.position) < 1e-6 and follower.peak_acceleration < MAX_ACCELERATION * 1.05


@pytest.mark.parametrize('late', [0.0, 0.3])
def test_delayed_arm_causes_no_tracking_error(arm, late):
    """At full speed, with typical delays of motors and networks."""
    execution = arm.start_motion(2.5)
    for _ in range(20):
        arm.run(0.1, late)
        outcome = execution.supervise()
        assert outcome is None or outcome.status == Status.SUCCESS, outcome
        assert not execution.reason


@pytest.mark.parametrize(('response', 'follows'), [(0.3, True), (0.1, False)])
def test_arm_may_be_ahead_by_the_time_of_a_late_response(jtc_arm, response, follows):
    jtc_arm.parameters.update(max_tracking_error=0.1, joint_state_speed=0.0)
    jtc_arm.controller.receive_delay += response
    execution = jtc_arm.start_motion(2.5)
    jtc_arm.run(1.0, late=-0.3)
    assert execution.supervise() is None and bool(execution.reason) is not follows


def test_blocked_joint_is_detected_after_200_mrad_and_300_ms(jtc_arm):
    arm, jtc_arm.parameters['max_tracking_error'] = jtc_arm, 0.2
    execution = arm.start_motion(2.5)
    arm.run(0.6)
    x, begin = arm.controller.commanded(arm.now).position[0], arm.now
    while not execution.reason:
        arm.now += 0.01
        arm.tick()
        arm.receive(x)
        tracking_error = arm.controller.commanded(arm.now - 0.3).position[0] - x
        assert execution.supervise() is None and arm.now < begin + 1.0
    assert 0.2 < tracking_error < 0.23


def test_arm_that_does_not_stop_is_reported(jtc_arm):
    execution = jtc_arm.start_motion(2.0)
    jtc_arm.run(0.5)
    execution.stop(Status.PREEMPTED, 'stopped')
    (end, _), x = jtc_arm.trajectory_end(), jtc_arm.measured.state([JOINT])[0][0]
    for _ in range(1000):
        jtc_arm.now += SUPERVISION_PERIOD
        jtc_arm.receive(x + 0.05 * np.sin(20 * jtc_arm.now))
        if outcome := execution.supervise():
            break
        assert jtc_arm.trajectory_end()[0] == end
    assert outcome.status == Status.PREEMPTED and f"but joint '{JOINT}' moves" in outcome.message


def test_stop_without_joint_states_reports_unknown_rest(arm):
    execution = arm.start_motion(2.0)
    arm.run(0.5)
    execution.stop(Status.PREEMPTED, 'stopped')
    for _ in range(400):
        arm.now += SUPERVISION_PERIOD
        arm.tick()
        if outcome := execution.supervise():
            break
    assert 'it is not known whether the arm is at rest: joint_states of' in outcome.message


def test_rest_is_determined_from_positions_and_stamps(jtc_arm):
    """Rest is unknown at first and after a gap; velocities in joint_states are ignored."""
    jtc_arm.drop_joint_states()
    for k in range(30):
        jtc_arm.rest(PERIOD)
        reason = jtc_arm.measured.moving_reason([JOINT])
        assert ('it is not known whether the joint moves' in reason) is (k < 11)
    for k in range(300):
        jtc_arm.now += PERIOD
        x, v = 0.5 - 0.5 * np.cos(1.5 * k * PERIOD), 0.75 * np.sin(1.5 * k * PERIOD)
        jtc_arm.receive(x)
        assert k < 60 or jtc_arm.measured.rest_time([JOINT]) < 0.5
        assert k < 60 or abs(v) < 0.15 or 'moves at' in jtc_arm.measured.moving_reason([JOINT])
    jtc_arm.rest(2.0, x)
    measured = jtc_arm.measured
    assert not measured.moving_reason([JOINT]) and measured.rest_time([JOINT]) >= 1.5
    jtc_arm.now += 2.0
    jtc_arm.rest(PERIOD, x)
    assert jtc_arm.measured.rest_time([JOINT]) < 0.1


def start_two_joints(monkeypatch, goal, groups=((JOINT,), ('panda_joint2',)), ratio=1.0):
    """Return arm, a controller of each group, `receive` for both joints, and an execution."""
    arm, joints = Arm(monkeypatch, TrajectoryRecorder), (JOINT, 'panda_joint2')
    controllers = [TrajectoryRecorder(name, group, '', arm.context)
                   for name, group in zip('cd', groups, strict=False)]

    def receive(*positions):
        for arm.joint, position in zip(joints, positions, strict=True):
            if position is not None:
                arm.receive(position)
    for _ in range(100):
        arm.now += PERIOD
        receive(0.0, 0.0)
    goals = [goal, ratio * goal]
    execution = MotionExecution(
        MotionRequest(arm.robot, dict(zip(joints, goals, strict=True))), controllers)
    execution.send(straight_motion(arm.robot, joints, [0.0, 0.0], goals, motion_limits(
        arm.robot, joints, arm.parameters)), 0.0)
    return arm, controllers, receive, execution


@pytest.mark.parametrize('after', [0.2, 0.5, 0.8])
def test_controllers_of_one_motion_stop_together_on_its_line(monkeypatch, after):
    arm, pair, receive, execution = start_two_joints(monkeypatch, 1.5, ratio=0.1)
    while arm.now < execution.sent_at + after:
        arm.now += PERIOD
        receive(*execution.motion.at(arm.now - execution.sent_at).position)
    execution.stop(Status.PREEMPTED, 'stopped')
    fast, slow = (one.last_trajectory.points[-1] for one in pair)
    assert seconds_of(slow) == pytest.approx(seconds_of(fast), abs=0.05)
    assert slow.positions[0] == pytest.approx(0.1 * fast.positions[0], abs=2e-3)


@pytest.mark.parametrize(('late', 'allowed'), [(0.2, True), (0.6, False)])
def test_controllers_whose_delays_differ_too_much_are_stopped(monkeypatch, late, allowed):
    """The collision check of the path assumes at most the allowed delay between both."""
    arm, pair, receive, execution = start_two_joints(monkeypatch, 1.0)
    motion, start, outcome = execution.motion, arm.now, None
    while outcome is None and arm.now < start + motion.duration + 5:
        arm.now += SUPERVISION_PERIOD
        receive(*[motion.at(max(arm.now - start - after, 0.0)).position[k]
                  for k, after in enumerate((SUPERVISION_PERIOD, SUPERVISION_PERIOD + late))])
        outcome = execution.supervise()
    assert (outcome.status == Status.SUCCESS) is allowed, outcome
    assert ('are not synchronous' in outcome.message) is not allowed


def test_stop_of_a_sagging_arm_does_not_change_the_receive_delay(monkeypatch):
    """Past defect: each such stop decreased the estimated delay of the controller."""
    arm = Arm(monkeypatch, TrajectoryRecorder)
    execution, start = arm.start_motion(0.4), arm.now
    while arm.now < start + execution.motion.duration + 1:
        arm.now += PERIOD
        arm.receive(execution.motion.at(arm.now - start).position[0] - 0.003)
    execution.stop(Status.CONTROL_FAILED, 'did not arrive')
    assert arm.controller.receive_delay == RECEIVE_DELAY


@pytest.mark.parametrize('released', [0, 1])
def test_released_controller_receives_nothing_while_the_other_one_brakes(monkeypatch, released):
    """The other client keeps its joint moving during and after the braking of the arm."""
    arm, pair, receive, execution = start_two_joints(monkeypatch, 1.5)
    own, foreign = pair[1 - released], pair[released]
    for _ in range(50):
        arm.now += PERIOD
        receive(*[execution.motion.at(arm.now - own.start_time).position[0]] * 2)
        assert execution.supervise() is None
    sent = foreign.last_trajectory
    x, v, _ = execution.motion.at(arm.now - own.start_time)
    foreign.on_foreign_command(JointTrajectory(joint_names=list(foreign.joints), points=[
        JointTrajectoryPoint(positions=[0.0], time_from_start=duration_message(9.0))]), '/theirs')
    assert execution.supervise() is None
    points = own.last_trajectory.points
    braking = CubicHermiteSpline([0.0, *map(seconds_of, points)],
                                 [x[0], *(point.positions[0] for point in points)],
                                 [v[0], *(point.velocities[0] for point in points)])
    assert np.abs(braking(np.linspace(0.0, braking.x[-1]), 2)).max() < MAX_ACCELERATION * 1.05
    begin, outcome = arm.now, None
    while outcome is None:
        arm.now += PERIOD
        after = arm.now - begin
        positions = braking(min(after, braking.x[-1])), x[0] + 0.1 * after
        receive(*(positions if released else positions[::-1]))
        outcome = execution.supervise()
    assert outcome.status == Status.CONTROL_FAILED and 'another client' in outcome.message
    assert 'but' not in outcome.message and not foreign.has_motion
    assert foreign.last_trajectory is sent and arm.now - begin > braking.x[-1]


@pytest.mark.parametrize('silent', [0, 1])
def test_joint_no_longer_published_is_stale_rather_than_a_tracking_error(monkeypatch, silent):
    """Past defect: other joints were compared with the command at its last message."""
    joints = JOINT, 'panda_joint2'
    arm, (controller,), receive, execution = start_two_joints(monkeypatch, 1.5, [joints])
    for count in range(500):
        arm.now += SUPERVISION_PERIOD
        positions = controller.commanded(arm.now).position
        receive(*[None if k == silent and count >= 30 else positions[k] for k in range(2)])
        if outcome := execution.supervise():
            break
    assert outcome and outcome.status == Status.ROBOT_STATE_STALE, outcome
    assert f"joint_states of joint '{joints[silent]}' are" in outcome.message


# -- other clients -----------------------------------------------------------------------------

@pytest.mark.parametrize(('delay', 'remaining'), [(-0.14, 0.06), (None, 0.2), (1e6, 0.2)])
def test_trajectory_of_another_client_is_timed_from_its_stamp(jtc_arm, delay, remaining):
    """Past defects: motions were refused after late stamps, and after stamps far ahead."""
    message = JointTrajectory(joint_names=[JOINT], points=[JointTrajectoryPoint(
        positions=[0.0], velocities=[0.0], time_from_start=duration_message(0.2))])
    if delay is not None:
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(
            round((jtc_arm.now + delay) * 1e9), 10**9)
    jtc_arm.controller.on_foreign_command(message, 'c')
    # past defects: a trajectory without points, which controllers refuse, ended motion or servo
    empty = JointTrajectory(joint_names=[JOINT])
    jtc_arm.controller.on_foreign_command(empty, 'c')
    assert [jtc_arm.controller.output.affects_joints(one) for one in (empty, message)] == [0, 1]
    jtc_arm.now += remaining - 0.01
    assert 'of another client' in jtc_arm.controller.foreign_motion_reason()
    jtc_arm.now += 0.02
    assert not jtc_arm.controller.foreign_motion_reason()


def test_foreign_command_right_after_the_start_of_a_motion_brakes_the_arm(jtc_arm):
    """The controller may have received the foreign command before the motion."""
    execution = jtc_arm.start_motion(2.0)
    jtc_arm.run(0.04)
    motion = jtc_arm.controller.last_trajectory
    jtc_arm.controller.on_foreign_command(
        JointTrajectory(joint_names=[JOINT], points=[JointTrajectoryPoint()]), '/theirs')
    assert execution.supervise() is None and execution.reason
    assert jtc_arm.controller.last_trajectory is not motion
    outcome = SimulatedController(jtc_arm).run(9, execution)
    assert 'whose trajectory the controller follows' in outcome.message


@pytest.mark.parametrize('seconds, stamp', [(9, 1), (0.5, 0)])
def test_foreign_trajectory_releases_a_controller(jtc_arm, seconds, stamp):
    """A trajectory in the past if no braking is needed; a single point at time 0 always."""
    jtc_arm.start_motion(0.5 if stamp else 2.0)
    jtc_arm.run(seconds)
    message = JointTrajectory(joint_names=[JOINT], points=[JointTrajectoryPoint(positions=[0.0])])
    message.header.stamp.nanosec = stamp
    jtc_arm.controller.on_foreign_command(message, '/theirs')
    assert not jtc_arm.controller.has_motion


# -- streams -----------------------------------------------------------------------------------

@pytest.fixture
def streamed(monkeypatch):
    return Arm(monkeypatch, PositionStream)


def accelerations(positions):
    """Return the accelerations of setpoints at intervals of PERIOD, from rest."""
    return np.abs(np.diff(np.concatenate([[0.0], np.diff(positions) / PERIOD]))) / PERIOD


@pytest.mark.parametrize('after', [0.05, 0.9])
@pytest.mark.parametrize('pause', [0.12, 2.0])
def test_stream_fails_at_its_last_command_after_a_pause_of_its_process(streamed, after, pause):
    """By then, the joint has stopped at its last command."""
    execution = streamed.start_motion(2.5)
    streamed.run(after)
    streamed.now += pause
    last = streamed.sent[-1]
    for _ in range(30):
        streamed.now += PERIOD
        streamed.tick()
        streamed.receive(last)
        if outcome := execution.supervise():
            break
    assert outcome.status == Status.CONTROL_FAILED and streamed.sent[-1] == last
    assert 'too busy to send commands for' in outcome.message


@pytest.mark.parametrize('stops', [0.0, 1.0])
def test_stream_ends_soon_if_the_joint_stands_still(streamed, stops):
    """Past defect: a controller that restarted jumped to the commanded position."""
    execution = streamed.start_motion(2.5)
    streamed.run(stops)
    at = execution.motion.at(stops).position[0]
    for _ in range(100):
        streamed.now += PERIOD
        streamed.tick()
        streamed.receive(at)
    assert 'do not follow' in streamed.controller.failure
    assert streamed.sent[-1] - at < 0.36 * MAX_VELOCITY


@pytest.mark.parametrize('late', [0.0, 0.03])
@pytest.mark.parametrize('stop', [0.03, 0.5, 1.0, 1.4])
def test_late_stop_of_a_stream_keeps_the_limits(streamed, stop, late):
    """The pipe and the period of the player delay a stop."""
    execution = streamed.start_motion(2.6)
    streamed.run(stop)
    calls, perform = [], streamed.servo.call
    streamed.servo.call = lambda *call: calls.append(call)
    execution.stop(Status.PREEMPTED, 'stopped')
    streamed.run(late)
    for call in calls:
        perform(*call)
    streamed.run(2.5)
    assert accelerations(streamed.sent).max() < MAX_ACCELERATION * 1.05
    assert (np.diff(streamed.sent) > -1e-9).all() and streamed.sent[-1] < 2.6 + 1e-6
    assert execution.supervise().status == Status.PREEMPTED


def run_periods(arm, clock, periods, execution=None):
    for _ in range(periods):
        clock[0] += PERIOD * clock[1]
        arm.run(PERIOD)
        if execution and (outcome := execution.supervise()):
            return outcome
    return None


@pytest.mark.parametrize('rate', [0.0, 0.2])
def test_stream_and_its_stop_follow_simulated_time(streamed, rate):
    """Simulated time is slow or paused; the setpoints of a stop do not jump."""
    arm, clock = streamed, [1000.0, 1.0]    # time [s], rate
    arm.use_simulated_time(lambda: clock[0])
    execution = arm.start_motion(2.5)
    run_periods(arm, clock, 80)
    assert arm.sent[-1] == pytest.approx(execution.motion.at(0.8).position[0], abs=1e-6)
    clock[1] = rate
    run_periods(arm, clock, 20)
    execution.stop(Status.PREEMPTED, 'stopped')
    outcome = run_periods(arm, clock, 800, execution)
    assert bool(outcome) is bool(rate), outcome
    assert np.abs(np.diff(arm.sent)).max() < 1.01 * PERIOD * MAX_VELOCITY and arm.sent[-1] < 2.5
    braking = np.diff(arm.sent, 2)[105:] / PERIOD**2
    assert np.abs(braking).max(initial=0.0) < MAX_ACCELERATION * 1.1


def test_stop_shortly_before_the_goal_keeps_the_acceleration_limit():
    joints, goal = ('turn', 'elbow'), np.array([1.5, 2e-3])
    limits = MotionLimits([1.0, 1.0], [2.0, 2.0], [40.0, 40.0])
    motion = straight_motion(Robot.from_urdf(URDF), joints, [0.0, 0.0], goal, limits)
    for stop in np.linspace(0.05, motion.duration - 0.01, 60):
        state = motion.at(stop)
        braking = braking_motion(joints, *state[:2], limits)
        # the elbow sags by the length of its motion, which must not delay the stop
        for sag in (2e-3, -2e-3):
            measured = state._replace(position=state.position + [0, sag])
            braked = braking_motion(joints, *measured[:2], limits, [state], [measured])
            assert braked.duration < 1.1 * max(braking.duration, 0.08)
            assert not passes_goal(braked, motion, 9.0) or stop > motion.duration - 0.6
        if passes_goal(braking, motion, motion.duration - stop):
            assert stop > motion.duration - 0.6 and state.acceleration[0] < 0
            continue
        stopped = stopped_within(braking, (goal - 9.0, goal))
        assert np.abs([stopped.at(t).acceleration for t in np.linspace(
            0, stopped.duration - 1e-9, 20)]).max() < 2.0 * 1.001


def test_points_of_a_braking_trajectory_have_increasing_times():
    """Past defect: controllers rejected equal times, at which two joints stopped."""
    state = MotionState(np.zeros(1), np.zeros(1), np.zeros(1))
    motion = Motion(('a',), 0.5, lambda _: state, (1e-9, 0.2, 0.2 + 1e-11, 0.5 - 1e-9))
    times = [seconds_of(point) for point in braking_message(motion, 0.0).points]
    assert times == [0.2, 0.5]


def test_slowed_arm_on_a_curve_is_braked_although_the_planned_end_is_near():
    """Past defect: the planned time decided whether the motion ends before braking does."""
    times = np.linspace(0.0, 4.0, 81)
    s, v = times - 2 / np.pi * np.sin(np.pi / 2 * times), 1 - np.cos(np.pi / 2 * times)
    motion = Motion.spline(('a', 'b'), times, np.column_stack([s, np.sin(s)]),
                           np.column_stack([v, np.cos(s) * v]))
    nearest, rate = motion.at(3.0), 0.1     # 1 s before the planned end, 10 s before the real one
    limits = MotionLimits(*(np.full(2, each) for each in (3.0, 3.0, 60.0)))
    braking, passes = braked(motion, 3.0, nearest._replace(velocity=rate * nearest.velocity),
                             BrakingLimits(limits, (-9.0, 9.0)), [nearest], rate=rate)
    assert not passes and np.abs(braking.goal - nearest.position).max() < 0.2
    assert braking.duration < 3.0
