"""Stops of an arm that is late, slow, stuck or whose joint_states are lost, on a test clock."""

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline
from small_arm import URDF
from stand_in_arm import (
    Arm,
    FASTEST,
    Follower,
    JOINT,
    LIMIT,
    LOOK,
    PERIOD,
    Positions,
    Trajectories,
    Values,
)
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ros2_ik.core import MotionLimits, Robot, Status, straight_motion
from ros2_ik.core.internals import braking_motion, stopped_within
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.controllers.controller import motion_limits, passes_goal
from ros2_ik.node.controllers.robot_controllers import RobotControllers
from ros2_ik.node.controllers.trajectory_controller import (
    duration_message,
    RECEIVE_DELAY,
    seconds_of,
)
from ros2_ik.node.motion.motion_execution import MotionExecution, MotionRequest

BACK = 1e-6     # no joint goes back by more [rad]


@pytest.fixture(params=[Positions, Trajectories])
def arm(monkeypatch, request):
    return Arm(monkeypatch, request.param)


@pytest.fixture
def sent(monkeypatch):
    """Return an arm with a trajectory controller and no limit of the tracking error."""
    arm = Arm(monkeypatch, Trajectories)
    arm.parameters.update(max_tracking_error=0.0, arrival_timeout=5.0)
    return arm


@pytest.mark.parametrize(('urdf', 'given', 'limit'), [
    (2.0, None, 2.0), (2.0, 0.1, 0.1), (2.0, 5.0, 2.0), (0.0, None, 1.0)])
def test_velocity_limit_is_the_smaller_of_urdf_and_parameter(urdf, given, limit):
    robot = Robot.from_urdf(URDF.replace('velocity="1.0"', f'velocity="{urdf}"'))
    parameters = Values()
    parameters.limits['turn', 'velocity'] = given
    assert motion_limits(robot, ['turn'], parameters).velocity.tolist() == [limit]


def test_controller_with_a_joint_of_another_one_is_not_used(monkeypatch):
    arm = Arm(monkeypatch, Trajectories)
    groups = {'one': 'arm', 'two': '', 'three': 'hand'}
    for name, group in groups.items():
        arm.parameters.update({f'{name}.kind': 'joint_trajectory', f'{name}.group': group,
                               f'{name}.topic': ''})
    arm.parameters['controllers'] = list(groups)
    found = RobotControllers(arm.robot, arm.context)
    assert [one.name for one in found.controllers] == ['one', 'three']
    assert found.choose(['panda_finger_joint1']) == found.controllers[1:]
    with pytest.raises(RequestError, match="'two' is not used: it has joints of controller 'one'"):
        found.choose(['elsewhere'])


def test_controller_with_the_topic_of_another_one_is_not_used(monkeypatch):
    """Both would follow each command."""
    arm = Arm(monkeypatch, Trajectories)
    for name, group in {'one': 'arm', 'two': 'hand'}.items():
        arm.parameters.update({f'{name}.kind': 'joint_trajectory', f'{name}.group': group,
                               f'{name}.topic': '/commands'})
    arm.parameters['controllers'] = ['one', 'two']
    monkeypatch.setattr(arm.context.node, 'destroy_publisher', lambda _: None, raising=False)
    monkeypatch.setattr(arm.context.node, 'destroy_subscription', lambda _: None, raising=False)
    found = RobotControllers(arm.robot, arm.context)
    assert [one.name for one in found.controllers] == ['one']
    assert found.faults == ["controller 'two' is not used: its topic /commands is that of "
                            "controller 'one'"]


def test_action_controller_without_control_msgs_is_not_used(monkeypatch):
    monkeypatch.setattr('ros2_ik.node.controllers.follow_joint_trajectory.FollowJointTrajectory',
                        None)
    arm = Arm(monkeypatch, Trajectories)
    arm.parameters.update({'one.kind': 'follow_joint_trajectory', 'one.group': 'arm',
                           'one.topic': '', 'controllers': ['one']})
    found = RobotControllers(arm.robot, arm.context)
    assert not found.controllers and 'control_msgs is not installed' in found.faults[0]


@pytest.mark.parametrize('ago', [0.05, 0.5, 1.2])
def test_stop_does_not_overshoot_the_goal(arm, ago):
    """Synchronized braking with a reserve for late controllers would take longer than arriving."""
    arm.parameters.update(default_max_velocity=10.0)
    execution = arm.go(2.0)
    arm.run(execution.motion.duration - ago)
    execution.stop(Status.PREEMPTED, 'stopped')
    assert arm.controller.motion.goal[0] < 2.0 + 1e-6
    arm.run(2.5)
    assert execution.supervise().status == Status.PREEMPTED


@pytest.mark.parametrize('late', [0.2, 0.5])
def test_late_arm_brakes_from_its_measured_state(sent, late):
    """Braking from the command would end farther on."""
    execution = sent.go(2.6)
    sent.run(0.4 + late, late)
    at, fast = (float(values[0]) for values in sent.controller.commanded(sent.now - late)[:2])
    execution.stop(Status.PREEMPTED, 'stopped')
    place, seconds = sent.end()
    assert at + fast**2 / 2 / LIMIT < place < at + 1.5 * fast**2 / 2 / LIMIT + 0.08
    braking = CubicHermiteSpline([0, seconds], [at, place], [fast, 0])
    assert np.abs(braking([0, seconds], 2)).max() < LIMIT * 1.01


@pytest.mark.parametrize('sag', [0.002, 0.005, 0.009])
@pytest.mark.parametrize('ago', [0.02, 0.2, 0.8])
@pytest.mark.parametrize('goal', [1.0, 2.8973])     # also the upper limit of the joint
def test_stop_of_an_arm_below_its_commands_keeps_the_acceleration_limit(sent, sag, ago, goal):
    """Past defect: at the end of a motion the arm jumped to the rest position."""
    execution = sent.go(goal)
    while sent.now < sent.controller.rest_at - ago:
        sent.now += PERIOD
        sent.hear(sent.controller.commanded(sent.now).position[0] - sag)
    before = sent.controller.told
    at, fast = (float(values[0]) for values in sent.controller.commanded(sent.now)[:2])
    execution.stop(Status.PREEMPTED, 'stopped')
    # a motion that ends before it could brake runs to its end
    if sent.controller.told is before:
        return
    place, seconds = sent.end()
    assert place < goal + 1e-3
    # the controller starts from the measured or from the commanded position
    for start in (at - sag, at):
        braking = CubicHermiteSpline([0, seconds], [start, place], [fast, 0])
        assert np.abs(braking([0, seconds], 2)).max() < LIMIT * 1.01


@pytest.mark.parametrize('how', [
    {}, {'scale': 0.5}, {'scale': 0.2, 'measured': True}, {'every': 0.19}, {'every': 0.4}],
    ids=str)
@pytest.mark.parametrize('after', [0.54, 0.95])
def test_stop_neither_speeds_up_nor_turns_back(sent, how, after):
    """With a speed slider or rare joint_states, which are unknown for the first 0.3 s."""
    follower, execution = Follower(sent, **how), sent.go(2.6)
    assert follower.run(after, execution) is None
    fast = follower.velocity * follower.scale
    outcome, way = follower.stopped(execution)
    assert outcome.status == Status.PREEMPTED and follower.peak < LIMIT * 1.05
    assert follower.speed < fast * 1.05 + 0.06 and np.diff(way).min() > -BACK
    assert way[-1] - way[0] < (FASTEST**2 / 6 + 0.3) / follower.scale


@pytest.mark.parametrize('after', [0.4, 1.6])
def test_stop_beyond_pi_with_wrapped_joint_states(monkeypatch, after):
    """Past defect: a position beyond pi was taken for one a turn away."""
    arm = Arm(monkeypatch, Trajectories, 'kinova', 'j2s6s200_joint_1', start=3.0)
    arm.parameters.update(max_tracking_error=0.0, arrival_timeout=5.0)
    follower = Follower(arm, wrapped=True, position=3.0)
    execution = arm.go(-1.7, 3.0)
    assert follower.run(after, execution) is None
    outcome, way = follower.stopped(execution)
    assert outcome and 'but' not in outcome.message, outcome
    assert np.diff(way).min() > -BACK and follower.peak < LIMIT * 1.05
    assert abs(arm.end()[0] - way[-1]) < 2e-3


@pytest.mark.parametrize('seed', range(15))
def test_random_motions_and_stops_keep_the_acceleration_limit(monkeypatch, seed):
    """With an arm that is late or slow, and lost joint_states."""
    random = np.random.default_rng(seed)
    arm, most = Arm(monkeypatch, Trajectories), random.choice([2.0, 3.0, 6.0])
    arm.parameters.update(arrival_timeout=4.0, limits={
        (JOINT, 'velocity'): random.uniform(0.5, 2.1), (JOINT, 'acceleration'): most})
    scale, late = random.choice([1.0, 0.9, 0.5]), random.choice([0.0, 0.02, 0.1, 0.2])
    follower = Follower(    # it is known too late that this one is slow
        arm, scale, hears=random.choice([0.002, 0.02]), late=min(late, 0.1 if scale < 1 else late),
        lost=random.choice([0.0, 0.2]), random=random)
    for _ in range(random.integers(1, 4)):
        execution = arm.go(random.uniform(-2.5, 2.5), follower.position)
        outcome = follower.run(random.uniform(0.05, 1.5), execution)
        assert follower.peak < 1.1 * most
        if not outcome and not execution.reason:
            execution.stop(Status.PREEMPTED, 'stopped')
        outcome = outcome or follower.run(20.0, execution)
        assert outcome and follower.peak < 1.1 * most, outcome
        # what is heard of it is up to .22 s old
        assert 'but' in outcome.message or abs(follower.velocity * follower.scale) < 0.05


@pytest.mark.parametrize('stop', [0.15, 0.4, 0.9])
def test_joints_that_have_not_started_stay(sent, stop):
    """The controller starts each command a second late and cannot withdraw the first one."""
    follower, execution = Follower(sent, hears=1.0), sent.go(2.0)
    follower.run(stop, execution)
    execution.stop(Status.PREEMPTED, 'stopped')
    assert sent.end()[0] == 0
    early = follower.run(1.0, execution)
    while not follower.messages or follower.messages[-1] is not sent.controller.told:
        follower.run(PERIOD)
    follower.peak = 0.0
    outcome = early or follower.run(10, execution)
    assert outcome.status == Status.PREEMPTED
    follower.run(3)
    assert abs(follower.position) < 1e-6 and follower.peak < LIMIT * 1.05


@pytest.mark.parametrize('late', [0.0, 0.3])
def test_delayed_arm_is_no_tracking_error(arm, late):
    """At full speed with the usual delays of motors and networks."""
    execution = arm.go(2.5)
    for _ in range(20):
        arm.run(0.1, late)
        outcome = execution.supervise()
        assert outcome is None or outcome.status == Status.SUCCESS, outcome
        assert not execution.reason


def test_held_joint_is_detected_after_200_mrad_and_300_ms(arm):
    execution = arm.go(2.5)
    arm.run(0.6)
    at, begin = arm.controller.commanded(arm.now).position[0], arm.now
    while not execution.reason:
        arm.now += 0.01
        arm.tick()
        arm.hear(at)
        far = arm.controller.commanded(arm.now - 0.3).position[0] - at
        assert execution.supervise() is None and arm.now < begin + 1.0
    assert 0.2 < far < 0.23


def test_arm_that_does_not_stop_is_reported(sent):
    execution = sent.go(2.0)
    sent.run(0.5)
    execution.stop(Status.PREEMPTED, 'stopped')
    (place, _), at = sent.end(), sent.measured.state([JOINT])[0][0]
    for _ in range(1000):
        sent.now += LOOK
        sent.hear(at + 0.05 * np.sin(20 * sent.now))
        if outcome := execution.supervise():
            break
        assert sent.end()[0] == place
    assert outcome.status == Status.PREEMPTED and f"but joint '{JOINT}' moves" in outcome.message


def test_stop_without_joint_states_reports_unknown_rest(arm):
    execution = arm.go(2.0)
    arm.run(0.5)
    execution.stop(Status.PREEMPTED, 'stopped')
    for _ in range(400):
        arm.now += LOOK
        arm.tick()
        if outcome := execution.supervise():
            break
    assert 'it is not known whether the arm is at rest: joint_states of' in outcome.message


def test_rest_is_judged_by_positions_and_stamps(sent):
    """Unknown at first and without messages; velocities in joint_states are ignored."""
    sent.forget()
    for k in range(30):
        sent.stand(PERIOD)
        unknown = 'it is not known whether the joint moves' in sent.measured.moves([JOINT])
        assert unknown is (k < 11)
    for k in range(300):
        sent.now += PERIOD
        place, speed = 0.5 - 0.5 * np.cos(1.5 * k * PERIOD), 0.75 * np.sin(1.5 * k * PERIOD)
        sent.hear(place)
        assert k < 60 or sent.measured.rest_time([JOINT]) < 0.5
        assert k < 60 or abs(speed) < 0.15 or 'moves at' in sent.measured.moves([JOINT])
    sent.stand(2.0, place)
    assert not sent.measured.moves([JOINT]) and sent.measured.rest_time([JOINT]) >= 1.5
    sent.now += 2.0
    sent.stand(PERIOD, place)
    assert sent.measured.rest_time([JOINT]) < 0.1


def pair_under_way(monkeypatch, goal):
    """Return an arm, two controllers of a joint each, `hear` of both joints, and a motion."""
    arm, joints = Arm(monkeypatch, Trajectories), (JOINT, 'panda_joint2')
    pair = [arm.controller, Trajectories('d', joints[1:], '', arm.context)]

    def hear(*places):
        for arm.joint, place in zip(joints, places, strict=True):
            arm.hear(place)
    for _ in range(100):
        arm.now += PERIOD
        hear(0.0, 0.0)
    execution = MotionExecution(MotionRequest(arm.robot, dict.fromkeys(joints, goal)), pair)
    execution.send(straight_motion(arm.robot, joints, [0.0, 0.0], [goal, goal], motion_limits(
        arm.robot, joints, arm.parameters)), 0.0)
    return arm, pair, hear, execution


@pytest.mark.parametrize(('late', 'kept'), [(0.2, True), (0.6, False)])
def test_controllers_that_lag_too_far_apart_are_stopped(monkeypatch, late, kept):
    """The path was checked for both together, with the allowed delay."""
    arm, pair, hear, execution = pair_under_way(monkeypatch, 1.0)
    motion, began, outcome = execution.motion, arm.now, None
    while outcome is None and arm.now < began + motion.duration + 5:
        arm.now += LOOK
        hear(*[motion.at(max(arm.now - began - after, 0.0)).position[k]
               for k, after in enumerate((LOOK, LOOK + late))])
        outcome = execution.supervise()
    assert (outcome.status == Status.SUCCESS) is kept, outcome
    assert ('are not synchronous' in outcome.message) is not kept


def test_stop_of_an_arm_below_its_goal_does_not_change_later_stops(monkeypatch):
    """Past defect: it counted as ahead of its commands, further at each such stop."""
    arm = Arm(monkeypatch, Trajectories)
    execution, began = arm.go(0.4), arm.now
    while arm.now < began + execution.motion.duration + 1:
        arm.now += PERIOD
        arm.hear(execution.motion.at(arm.now - began).position[0] - 0.003)
    execution.stop(Status.CONTROL_FAILED, 'did not arrive')
    assert arm.controller.receive_delay == RECEIVE_DELAY


@pytest.mark.parametrize('released', [0, 1])
def test_one_controller_brakes_and_the_released_one_gets_nothing(monkeypatch, released):
    """The other client moves its joint on while and after the arm brakes."""
    arm, pair, hear, execution = pair_under_way(monkeypatch, 1.5)
    ours, theirs = pair[1 - released], pair[released]
    for _ in range(50):
        arm.now += PERIOD
        hear(*[execution.motion.at(arm.now - ours.start_time).position[0]] * 2)
        assert execution.supervise() is None
    sent, (here, fast, _) = theirs.told, execution.motion.at(arm.now - ours.start_time)
    theirs.on_foreign_command(JointTrajectory(joint_names=list(theirs.joints), points=[
        JointTrajectoryPoint(positions=[0.0], time_from_start=duration_message(9.0))]), '/theirs')
    assert execution.supervise() is None
    points = ours.told.points
    braking = CubicHermiteSpline([0.0, *map(seconds_of, points)],
                                 [here[0], *(point.positions[0] for point in points)],
                                 [fast[0], *(point.velocities[0] for point in points)])
    times = np.linspace(0.0, braking.x[-1], 100)
    assert np.abs(braking(times, 2)).max() < LIMIT * 1.05 and braking(times, 1).min() > -BACK
    begin, outcome = arm.now, None
    while outcome is None:
        arm.now += PERIOD
        after = arm.now - begin
        places = braking(min(after, braking.x[-1])), here[0] + 0.1 * after
        hear(*(places if released else places[::-1]))
        outcome = execution.supervise()
    assert outcome.status == Status.CONTROL_FAILED and 'another client' in outcome.message
    assert 'but' not in outcome.message and theirs.told is sent and theirs.released
    assert arm.now - begin > braking.x[-1]


@pytest.mark.parametrize('silent', [0, 1])
def test_joint_that_is_no_longer_published_is_stale_and_no_tracking_error(monkeypatch, silent):
    """Past defect: the other joints were compared with the command at its last message."""
    arm, joints = Arm(monkeypatch, Trajectories), (JOINT, 'panda_joint2')
    controller = Trajectories('c', joints, '', arm.context)
    limits = motion_limits(arm.robot, joints, arm.parameters)
    execution = MotionExecution(MotionRequest(arm.robot, dict.fromkeys(joints, 1.5)), [controller])

    def hear(places, count):
        for k, (joint, place) in enumerate(zip(joints, places, strict=True)):
            if k != silent or count < 30:
                arm.joint = joint
                arm.hear(place)
    hear([0.0, 0.0], 0)
    motion = straight_motion(arm.robot, joints, [0.0, 0.0], [1.5, 1.5], limits)
    execution.send(motion, 0.0)
    outcome = None
    for count in range(500):
        arm.now += LOOK
        hear(controller.commanded(arm.now).position, count)
        if outcome := execution.supervise():
            break
    assert outcome and outcome.status == Status.ROBOT_STATE_STALE, outcome
    assert f"joint_states of joint '{joints[silent]}' are" in outcome.message


# -- other clients -----------------------------------------------------------------------------

@pytest.mark.parametrize(('stamped', 'ends'), [(True, 0.06), (False, 0.2)])
def test_trajectory_of_another_client_lasts_from_its_stamp(sent, stamped, ends):
    """Past defect: the last trajectory of the servo, received late, refused motions."""
    message = JointTrajectory(joint_names=[JOINT], points=[JointTrajectoryPoint(
        positions=[0.0], velocities=[0.0], time_from_start=duration_message(0.2))])
    if stamped:
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(
            round((sent.now - 0.14) * 1e9), 10**9)
    sent.controller.on_foreign_command(message, 'c')
    # the controller may refuse one without points (past defect: it counted as the end)
    sent.controller.on_foreign_command(JointTrajectory(joint_names=[JOINT]), 'c')
    sent.now += ends - 0.01
    assert 'of another client' in sent.controller.under_way()
    sent.now += 0.02
    assert not sent.controller.under_way()


def test_foreign_command_right_after_ours_brakes_the_arm(sent):
    """The controller may have received the foreign command before ours."""
    execution = sent.go(2.0)
    sent.run(0.04)
    first = sent.controller.told
    sent.controller.on_foreign_command(
        JointTrajectory(joint_names=[JOINT], points=[JointTrajectoryPoint()]), '/theirs')
    assert execution.supervise() is None and execution.reason
    assert sent.controller.told is not first
    outcome = Follower(sent).run(9, execution)
    assert 'whose trajectory the controller follows' in outcome.message


@pytest.mark.parametrize('seconds, stamp', [(9, 1), (0.5, 0)])
def test_foreign_trajectory_releases_a_controller(sent, seconds, stamp):
    """One in the past when no motion needs braking; one of a single point at time 0 always."""
    sent.go(0.5 if stamp else 2.0)
    sent.run(seconds)
    message = JointTrajectory(joint_names=[JOINT], points=[JointTrajectoryPoint(positions=[0.0])])
    message.header.stamp.nanosec = stamp
    sent.controller.on_foreign_command(message, '/theirs')
    assert sent.controller.released


# -- streams -----------------------------------------------------------------------------------

@pytest.fixture
def streamed(monkeypatch):
    return Arm(monkeypatch, Positions)


def accelerations(sent):
    """Return the accelerations of a joint that moves by one position each period, from rest."""
    return np.abs(np.diff(np.concatenate([[0.0], np.diff(sent) / PERIOD]))) / PERIOD


@pytest.mark.parametrize('after', [0.05, 0.9])
@pytest.mark.parametrize('pause', [0.12, 2.0])
def test_stream_ends_after_a_pause_of_its_process(streamed, after, pause):
    """The joint has stopped by then at its last command."""
    execution = streamed.go(2.5)
    streamed.run(after)
    streamed.now += pause
    last = streamed.sent[-1]
    for _ in range(30):
        streamed.now += PERIOD
        streamed.tick()
        streamed.hear(last)
        if outcome := execution.supervise():
            break
    assert outcome.status == Status.CONTROL_FAILED and streamed.sent[-1] == last
    assert 'too busy to send commands for' in outcome.message


@pytest.mark.parametrize('late', [0.0, 0.03])
@pytest.mark.parametrize('stop', [0.03, 0.5, 1.0, 1.4])
def test_late_stop_of_a_stream_keeps_the_limits(streamed, stop, late):
    """The pipe and the period of the player delay the stop."""
    execution = streamed.go(2.6)
    streamed.run(stop)
    calls, perform = [], streamed.servo.call
    streamed.servo.call = lambda *call: calls.append(call)
    execution.stop(Status.PREEMPTED, 'stopped')
    streamed.run(late)
    for call in calls:
        perform(*call)
    streamed.run(2.5)
    assert accelerations(streamed.sent).max() < LIMIT * 1.05
    assert (np.diff(streamed.sent) > -1e-9).all() and streamed.sent[-1] < 2.6 + 1e-6
    assert execution.supervise().status == Status.PREEMPTED


def slow_stream(monkeypatch):
    """Return a stream with a clock that is a list of [time, rate]."""
    arm, time = Arm(monkeypatch, Positions), [1000.0, 1.0]
    arm.simulate(lambda: time[0])
    return arm, time


def run_by(arm, time, periods, execution=None):
    for _ in range(periods):
        time[0] += PERIOD * time[1]
        arm.run(PERIOD)
        if execution and (outcome := execution.supervise()):
            return outcome
    return None


@pytest.mark.parametrize('speed', [0.0, 0.2])
def test_stream_and_its_stop_follow_simulated_time(monkeypatch, speed):
    """Simulated time slows down or pauses; a stop does not jump to its end."""
    arm, time = slow_stream(monkeypatch)
    execution = arm.go(2.5)
    run_by(arm, time, 80)
    assert arm.sent[-1] == pytest.approx(execution.motion.at(0.8).position[0], abs=1e-6)
    time[1] = speed
    run_by(arm, time, 20)
    execution.stop(Status.PREEMPTED, 'stopped')
    outcome = run_by(arm, time, 800, execution)
    assert bool(outcome) is bool(speed), outcome
    assert np.abs(np.diff(arm.sent)).max() < 1.01 * PERIOD * FASTEST and arm.sent[-1] < 2.5
    slowed = np.diff(arm.sent, 2)[105:] / PERIOD**2
    assert np.abs(slowed).max(initial=0.0) < LIMIT * 1.1


def test_stop_before_a_goal_at_its_bounds_keeps_the_acceleration():
    joints, goal = ('turn', 'elbow'), np.array([1.5, 2e-3])     # the elbow hardly moves
    limits = MotionLimits([1.0, 1.0], [2.0, 2.0], [40.0, 40.0])
    way = straight_motion(Robot.from_urdf(URDF), joints, [0.0, 0.0], goal, limits)
    for stop in np.linspace(0.05, way.duration - 0.01, 60):
        at = way.at(stop)
        braking = braking_motion(joints, *at[:2], limits)
        for sag in (2e-3, -2e-3):   # of the elbow, as long as its way: no reason to stop later
            off = at._replace(position=at.position + [0, sag])
            braked = braking_motion(joints, *off[:2], limits, [at], [off])
            assert braked.duration < 1.1 * max(braking.duration, 0.08)
            assert not passes_goal(braked, way, 9.0) or stop > way.duration - 0.6
        if passes_goal(braking, way, way.duration - stop):
            assert stop > way.duration - 0.6 and at.acceleration[0] < 0
            continue
        stopped = stopped_within(braking, (goal - 9.0, goal))
        assert np.abs([stopped.at(t).acceleration for t in np.linspace(
            0, stopped.duration - 1e-9, 20)]).max() < 2.0 * 1.001
