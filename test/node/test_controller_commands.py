"""What is told to controllers when motions end early, are replaced, or the node pauses."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from rclpy.serialization import deserialize_message
from scipy.interpolate import CubicHermiteSpline
from std_msgs.msg import Float64MultiArray

from ros2_ik.core import MotionState, Robot, Status, straight_motion
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.controllers.controller import BrakingTask, ControllerContext
from ros2_ik.node.controllers.follow_joint_trajectory import FollowJointTrajectoryController
from ros2_ik.node.controllers.joint_feedback import Feedback, JointFeedback
from ros2_ik.node.controllers.motion_execution import MotionExecution, Phase
from ros2_ik.node.controllers.motion_limits import motion_limits, position_bounds
from ros2_ik.node.controllers.planning import planned_motion
from ros2_ik.node.controllers.stream import Stream
from ros2_ik.node.controllers.trajectory_controller import trajectory_message, TrajectoryController
from ros2_ik.node.controllers.trajectory_replacement import TrajectoryReplacement
from ros2_ik.node.state.joint_states import JointStates

JOINT = 'panda_joint1'
PERIOD, FASTEST = 0.01, 2.175


class Values(dict):
    """Parameters with the usual values; `limits` are those of joint_limits."""

    def __init__(self, **values):
        super().__init__(
            command_period=PERIOD, execute_state_timeout=0.5, default_max_velocity=1.0,
            default_max_acceleration=3.0, default_max_jerk=60.0, start_tolerance=0.01,
            goal_tolerance=1e-3, arrival_timeout=2.0, max_jump=0.0, acceleration_scaling=1.0,
            max_tracking_error=0.2, limits={}, **values)

    __getattr__ = dict.__getitem__

    def limit(self, joint, kind):
        return self.limits.get((joint, kind))


class Positions(Stream):
    """A stream that keeps what it sends."""

    kind, usual_topic, message_type = 'positions', '{}', Float64MultiArray

    def message(self, state):
        return Float64MultiArray(data=[float(state.position[0])])


class Trajectories(TrajectoryController):
    """A controller that keeps what it is told."""

    kind, usual_topic = 'trajectories', '{}'

    def unavailable_reason(self):
        return ''

    def send_trajectory(self, message):
        self.told = message

    def close(self):
        pass


class Arm:
    """A joint that goes where a controller has it, `late` [s]; time passes only here."""

    def __init__(self, monkeypatch, kind, robot='panda', joint=JOINT):
        self.now = 100.0
        monkeypatch.setattr('time.monotonic', lambda: self.now)
        self.robot, self.joint, self.parameters = Robot.load(robot), joint, Values()
        self.sent, self.simulated = [], None   # time of a simulation, if there is one
        self.told_velocity = 1.0   # times the true one; None tells none
        self._states = JointStates(pytest.fail, lambda: self._clock().now().nanoseconds,
                                   simulated=lambda: self._clock().ros_time_is_active)
        node = SimpleNamespace(
            create_publisher=lambda *_: SimpleNamespace(
                publish=self._take, topic_name='c', get_subscription_count=lambda: 2),
            create_subscription=lambda *_, **__: None,
            create_timer=lambda *_, **__: object(), destroy_timer=lambda _: None,
            get_clock=self._clock, get_publishers_info_by_topic=lambda _: [])
        context = ControllerContext(node, None, self.parameters, None)
        self.controller = kind('c', (joint,), '', context)
        self.measured = JointFeedback(self._states, self.parameters, context.clock)
        self.hear(0.0, 0.0)

    def _clock(self):
        now = self.simulated() if self.simulated else self.now
        return SimpleNamespace(ros_time_is_active=bool(self.simulated),
                               now=lambda: SimpleNamespace(nanoseconds=round(now * 1e9)))

    def _take(self, data):
        self.sent.append(deserialize_message(data, Float64MultiArray).data[0])

    def hear(self, position, velocity, stamp=0):
        stamp = SimpleNamespace(sec=int(stamp), nanosec=round(stamp % 1 * 1e9))
        told = [] if self.told_velocity is None else [self.told_velocity * velocity]
        self._states.take(SimpleNamespace(name=[self.joint], position=[position], velocity=told,
                                          header=SimpleNamespace(stamp=stamp)))

    def execution(self, goal):
        return MotionExecution(self.robot, [self.controller], {self.joint: goal}, self.measured,
                               self.parameters, None)

    def go(self, goal, start=0.0):
        """Begin a motion."""
        execution = self.execution(goal)
        limits = motion_limits(self.robot, (self.joint,), self.parameters)
        motion = straight_motion(self.robot, (self.joint,), [start], [goal], limits)
        execution.send(motion, motion.duration)
        return execution

    def run(self, seconds, late=0.0):
        for _ in range(round(seconds / PERIOD)):
            self.now += PERIOD
            if isinstance(self.controller, Stream):
                self.controller._tick()
            state = self.controller.commanded(self.controller.context.now() - late)
            self.hear(state.position[0], state.velocity[0])


@pytest.fixture(params=[Positions, Trajectories])
def arm(monkeypatch, request):
    return Arm(monkeypatch, request.param)


@pytest.fixture
def streamed(monkeypatch):
    return Arm(monkeypatch, Positions)


def replacing(arm, before, goal, lead):
    """Plan a motion that shall replace another one; gives replacement, start, motion, begin."""
    execution = arm.execution(goal)
    replacement = TrajectoryReplacement(execution, [before], arm.measured, arm.parameters)
    start = replacement.at(arm.now + lead)
    return replacement, start, planned_motion(execution, start, 1.0, arm.parameters), arm.now


def replaced(arm, before, goal, lead):
    """Replace a motion at once; gives the execution, and its motion with the way to that."""
    replacement, _, motion, begin = replacing(arm, before, goal, lead)
    execution = arm.execution(goal)
    whole = replacement.before(motion, begin, lead, arm.now)
    execution.take_over([before], replacement.until(arm.now + whole.duration - motion.duration))
    execution.send(whole, motion.duration)
    return execution, whole


@pytest.mark.parametrize('stamps, stale', [((100.3,) * 3, True), ((100.3, 100.6, 100.9), False),
                                           ((99.0, 99.3, 99.6), True), ((0, 0, 0), False)])
def test_a_stamp_that_is_repeated_is_no_news(streamed, stamps, stale):
    """As of a publisher whose robot has gone; without stamps it cannot be told. Late is old."""
    for stamp in stamps:
        streamed.now += 0.3
        streamed.hear(0.0, 0.0, stamp)
    assert bool(streamed.measured.stale([JOINT])) == stale


def test_no_jump_after_a_pause(streamed):
    """As when the node has loaded a scene: the stop begins where the joint was told to be."""
    execution = streamed.go(2.0)
    streamed.run(0.5)
    streamed.now += 0.4
    execution.stop(Status.PREEMPTED, 'stopped')
    streamed.run(1.5)
    steps = np.diff(streamed.sent)
    assert np.abs(steps).max() < 2.1 * PERIOD * FASTEST and abs(steps[-1]) < 1e-9


def test_a_limit_that_is_lowered_lengthens_no_stop(arm):
    """With less than its way was planned with the arm would leave its limits before it stands."""
    execution = arm.go(2.5)
    arm.run(0.9)
    at, fast = (values[0] for values in arm.controller.commanded(arm.now)[:2])
    assert fast > 1.5
    arm.parameters.update(default_max_acceleration=0.3)
    execution.stop(Status.PREEMPTED, 'stopped')
    arm.run(3.0)
    end = arm.controller.commanded(arm.now)
    assert abs(end.velocity[0]) < 1e-9 and at < end.position[0] < at + fast**2 / 6 + 0.3


@pytest.mark.parametrize('later, limit', [(0.0, 3.0), (1.5, 0.3)])
def test_limits_lowered_before_a_motion_is_replaced(arm, later, limit):
    """On the way of the one before it is stopped with what that one had."""
    arm.parameters.update(limits={(JOINT, 'velocity'): 0.8})
    before = arm.go(2.0)
    arm.run(0.6)
    arm.parameters.update(default_max_acceleration=0.3)
    execution, _ = replaced(arm, before, -2.0, lead=0.4)
    arm.run(0.1 + later)
    at, fast = (values[0] for values in arm.controller.commanded(arm.now)[:2])
    assert fast > 0.2
    execution.stop(Status.PREEMPTED, 'stopped')
    ways = []
    for _ in range(60):
        arm.run(0.1)
        ways.append(arm.controller.commanded(arm.now).position[0])
    needed = fast**2 / 2 / limit
    assert at + 0.9 * needed < max(ways) < at + needed + 0.12


@pytest.mark.parametrize('after', [0.0, 0.1, 0.2, 0.26, 0.4, 0.7])
@pytest.mark.parametrize('left', [0.15, 0.25])
def test_an_arm_that_is_late_has_the_old_limits_for_longer(monkeypatch, after, left):
    """It is still on the way of the motion before, when its commands are no more."""
    arm = Arm(monkeypatch, Trajectories)
    arm.parameters.update(limits={(JOINT, 'velocity'): 1.2})
    before = arm.go(2.0)
    arm.run(before.motion.duration - 0.8 - left, 0.25)
    arm.parameters.update(default_max_acceleration=0.3)
    execution, whole = replaced(arm, before, -2.0, lead=0.8)
    arm.run(0.8 + after, 0.25)
    execution.stop(Status.PREEMPTED, 'stopped')
    farthest = max(whole.at(time).position[0] for time in np.arange(0.0, whole.duration, 0.01))
    # without lowered limits it is up to 2.35; before that was seen to, 2.9
    assert 1.5 < arm.controller.told.points[-1].positions[0] < max(farthest, 2.25) + 0.12


def test_another_period_counts_from_the_next_motion_on(streamed):
    """With a shorter one than its timer has, each command would look like a pause."""
    streamed.go(2.0)
    streamed.run(0.5)
    streamed.parameters.update(command_period=PERIOD / 5)
    streamed.run(1.5)
    changes = np.diff(streamed.sent, 2) / PERIOD**2
    assert streamed.sent[-1] == pytest.approx(2.0, abs=1e-6) and np.abs(changes).max() < 3.3


def test_a_way_is_recorded_at_one_time(streamed, monkeypatch):
    """A busy machine takes time between the samples, in which a stream is late."""
    before = streamed.go(2.0)
    streamed.run(0.6)
    replacement, _, motion, begin = replacing(streamed, before, 0.0, lead=0.4)
    now, at = streamed.now, replacement.at

    def slowly(*arguments):
        streamed.now += 0.002
        return at(*arguments)
    monkeypatch.setattr(replacement, 'at', slowly)
    whole = replacement.before(motion, begin, 0.4, now)
    way = np.array([whole.at(t).position[0] for t in np.arange(0, 0.4, PERIOD)])
    assert np.abs(np.diff(way, 2)).max() / PERIOD**2 < 3.3


def test_a_stream_goes_on_from_its_last_command(streamed):
    """Not from where the robot is, which is behind."""
    before = streamed.go(2.0)
    streamed.run(0.6, late=0.1)
    replacement, _, motion, begin = replacing(streamed, before, 1.9, lead=0.2)
    streamed.run(0.1, late=0.1)
    streamed.execution(1.9).send(replacement.before(motion, begin, 0.2, streamed.now),
                                 motion.duration)
    streamed.run(2.0)
    steps = np.diff(streamed.sent)
    assert steps.min() > -1e-9 and steps.max() < 1.1 * PERIOD * FASTEST


def test_no_jump_between_two_motions(arm):
    before = arm.go(2.0)
    arm.run(0.6)
    replacement, start, motion, begin = replacing(arm, before, 0.0, lead=0.6)
    arm.run(0.2)
    assert not replacement.changed(begin + 0.6, start) and not replacement.strayed(arm.now)
    whole = replacement.before(motion, begin, 0.6, arm.now)
    way = np.array([whole.at(t).position[0] for t in np.arange(0, whole.duration, PERIOD)])
    assert np.abs(np.diff(way)).max() < 1.01 * PERIOD * FASTEST


def test_the_replaced_one_is_stopped_meanwhile(arm):
    """What was planned from its way must not be sent: at the switch it would be a jump."""
    before = arm.go(2.0)
    arm.run(0.6)
    replacement, start, _, begin = replacing(arm, before, 0.0, lead=0.6)
    arm.run(0.02)
    before.stop(Status.PREEMPTED, 'its client cancelled')
    arm.run(0.15)
    assert replacement.changed(begin + 0.6, start)


def test_a_stream_remembers_the_motion_before(streamed):
    """Late readings tell of it: joints were taken for ones that do not follow, and stopped."""
    before = streamed.go(2.0)
    streamed.run(0.6)
    _, _, motion, begin = replacing(streamed, before, -1.0, 0.0)
    told = [before.commanded(begin - late).position for late in (0.05, 0.2)]
    execution = streamed.execution(-1.0)
    execution.send(motion, motion.duration)
    streamed.run(0.03)
    for late, position in zip((0.05, 0.2), told, strict=True):
        assert abs(execution.commanded(begin - late).position - position).max() < 1e-9


def test_a_stream_that_is_late_is_another_way(streamed):
    before = streamed.go(2.0)
    streamed.run(0.6)
    replacement, start, _, begin = replacing(streamed, before, 0.0, lead=0.2)
    streamed.now += 0.1
    streamed.run(0.02)
    assert replacement.changed(begin + 0.2, start)


@pytest.mark.parametrize('ago', [0.05, 0.2, 0.4, 0.6])
def test_a_stop_does_not_pass_the_goal(arm, ago):
    execution = arm.go(2.0)
    arm.run(execution.motion.duration - ago)
    execution.stop(Status.PREEMPTED, 'stopped')
    assert arm.controller._motion.goal[0] < 2.0 + 1e-3


def test_readings_of_the_motion_before_do_not_tell_of_a_lost_stop(monkeypatch):
    """Late, held up and without stamps: it came through places of the new one, the other way."""
    arm, told = Arm(monkeypatch, Trajectories), []

    def run(seconds, execution, heard):
        for _ in range(round(seconds / PERIOD)):
            arm.now += PERIOD
            state = arm.controller.commanded(arm.now)
            told.append((state.position[0], state.velocity[0]))
            if heard:
                arm.hear(*told[max(len(told) - 90, 0)])    # 0.9 s late
                execution.look()

    before = arm.go(-1.0)
    run(0.3, before, heard=False)
    before.stop(Status.PREEMPTED, 'stopped')
    run(arm.controller.rest_at - arm.now, before, heard=False)
    place = arm.controller.commanded(arm.now).position[0]
    execution = arm.go(2.0, place)
    run(PERIOD, execution, heard=False)
    execution.stop(Status.PREEMPTED, 'stopped')
    end = arm.controller._motion.goal[0]
    run(1.0, execution, heard=True)
    assert abs(end - place) < 0.01 and arm.controller._motion.goal[0] == end


def test_a_lost_stop_is_told_again(monkeypatch):
    """Subscriptions of controllers may be best effort: the arm goes on, and is told again."""
    arm = Arm(monkeypatch, Trajectories)
    execution = arm.go(2.7)
    way = execution.motion
    arm.run(0.3)
    execution.stop(Status.PREEMPTED, 'stopped')
    lost, begin = arm.controller.told, arm.now - 0.3
    while arm.controller.told is lost:
        arm.now += 0.02
        state = way.at(arm.now - begin)
        arm.hear(state.position[0], state.velocity[0])
        assert execution.look() is None
        assert arm.now < begin + way.duration, 'said nothing while the arm moved on'
    assert arm.now < begin + 0.6 and arm.controller.told.points[-1].positions[0] < 1.5
    end = arm.controller.told.points[-1].time_from_start
    arm.run(end.sec + end.nanosec * 1e-9 + 0.3)
    assert execution.look().status == Status.PREEMPTED


def test_a_joint_that_rests_first_is_not_sent_there_again(monkeypatch):
    """Readings that are late show motion when all stand: the arm swung to and fro."""
    arm = Arm(monkeypatch, Trajectories)
    joints = (JOINT, 'panda_joint2')
    controller = Trajectories('c', joints, '', arm.controller.context)
    limits = motion_limits(arm.robot, joints, arm.parameters)
    controller.start(straight_motion(arm.robot, joints, [0.0, 0.0], [2.8, 1.7], limits), 0.0)
    arm.now += 0.4

    def task(position, velocity, sure=False):
        seen = Feedback(np.array(position), np.array(velocity), arm.now, sure, True, np.zeros(2))
        return BrakingTask(limits, position_bounds(arm.robot, joints), 0.0, seen, False)
    controller.stop(task([0.5, 1.6], [1.5, 0.8], sure=True))
    braking = controller.told
    assert 1 < len(braking.points) < 5
    arm.now = controller.rest_at + 0.2
    end = braking.points[-1].positions
    for late in (([0.5, 1.6], [1.5, 0.8]), (end, [0.0, 0.0])):
        controller.told = None
        controller.stop_again(task(*late), False)
        again, = controller.told.points
        assert again.positions == end


def test_a_stop_while_joints_join_a_motion_that_replaced_another(monkeypatch):
    """One that still turns back comes farther than its motion: the rest went on for seconds."""
    joints = tuple(f'panda_joint{k}' for k in range(1, 8))
    arm = Arm(monkeypatch, Trajectories)
    limits, bounds = motion_limits(arm.robot, joints, arm.parameters), position_bounds(
        arm.robot, joints)
    middle, half = (bounds[0] + bounds[1]) / 2, (bounds[1] - bounds[0]) / 2
    rng, left = np.random.default_rng(13), []
    for _ in range(60):
        controller = Trajectories('c', joints, '', arm.controller.context)
        start, goal, other = (middle + part * half * rng.uniform(-1, 1, 7)
                              for part in (0.4, 0.8, 0.8))
        motion = straight_motion(arm.robot, joints, start, goal, limits)
        controller.start(motion, 0.0)
        arm.now += rng.uniform(0.2, 0.8) * min(motion.duration, 1.5)
        at = controller.commanded(arm.now)
        controller.start(straight_motion(arm.robot, joints, at.position, other, limits,
                                         at.velocity), 0.3)
        arm.now += rng.uniform(0.05, 0.5)
        late = controller.commanded(arm.now - rng.uniform(0.0, 0.15))
        seen = Feedback(late.position + rng.uniform(-0.009, 0.009, 7),
                        late.velocity * rng.uniform(0.6, 1.0), arm.now, True, True, np.zeros(7))
        controller.told = None
        controller.stop(BrakingTask(limits, bounds, 0.0, seen, bool(rng.random() < 0.5)))
        if controller.told is None:
            left.append(controller.rest_at - arm.now)
    # before: 49 of 60, the longest for 2.4 s
    assert len(left) <= 6 and max(left, default=0.0) < 2.5, left


def test_an_arm_that_cannot_be_stopped_is_told_of(monkeypatch):
    arm = Arm(monkeypatch, Trajectories)
    execution = arm.go(2.0)
    arm.run(0.5)
    execution.stop(Status.PREEMPTED, 'stopped')
    end, ends = arm.controller.told.points[-1].positions[0], set()
    for _ in range(1000):
        arm.now += 0.02
        arm.hear(0.5 + 0.05 * np.sin(20 * arm.now), np.cos(20 * arm.now))
        if outcome := execution.look():
            break
        ends.add(arm.controller.told.points[-1].positions[0])
    assert ends == {end}
    assert outcome.status == Status.PREEMPTED and 'but the arm still moves' in outcome.message


def test_motions_of_days_are_refused(arm):
    execution = arm.execution(2.0)
    start = TrajectoryReplacement(execution, [], arm.measured, arm.parameters).at(arm.now)
    with pytest.raises(RequestError, match='velocity_scaling 1e-06; at most 600 s'):
        planned_motion(execution, start, 1e-6, arm.parameters)


@pytest.mark.parametrize('urdf, given, limit', [
    (2.0, None, 2.0), (2.0, 0.1, 0.1), (2.0, 5.0, 2.0), (0.0, 0.1, 0.1), (0.0, None, 1.0),
    (np.inf, 0.1, 0.1), (np.inf, None, 1.0)])
def test_velocity_limits(urdf, given, limit):
    """The smaller one of URDF and joint_limits; a 0 in the URDF says nothing."""
    robot = SimpleNamespace(joint=lambda _: SimpleNamespace(velocity_limit=urdf))
    parameters = Values()
    parameters['limits'][JOINT, 'velocity'] = given
    assert motion_limits(robot, [JOINT], parameters).velocity.tolist() == [limit]


@pytest.mark.parametrize('ago', np.arange(0.02, 1.6, 0.06).tolist())
def test_a_stopped_trajectory_goes_no_farther_than_its_goal(monkeypatch, ago):
    """Braking evenly, with time for controllers that begin late, takes longer than arriving."""
    arm = Arm(monkeypatch, Trajectories)
    arm.parameters.update(default_max_velocity=10.0)
    execution = arm.go(2.0)
    arm.run(execution.motion.duration - ago)
    execution.stop(Status.PREEMPTED, 'stopped')
    assert arm.controller._motion.goal[0] < 2.0 + 1e-6
    arm.run(2.5)
    assert execution.look().status == Status.PREEMPTED


@pytest.mark.parametrize('fast', [0.01, 0.5, 2.0])
@pytest.mark.parametrize('late', [-0.02, 0.02])
def test_who_joins_a_motion_late_hardly_exceeds_the_acceleration(monkeypatch, fast, late):
    """On the cubic polynomial from where it is then; the motion itself goes evenly."""
    arm = Arm(monkeypatch, Trajectories)
    execution = arm.execution(2.0)
    join = execution.blend_time([MotionState(*np.array([[0.0], [fast], [0.0]]))], 0.0, np.zeros(1))
    way = CubicHermiteSpline([0.0, join], [late * fast, join * fast], [fast, fast])
    worst = np.abs(way.derivative(2)([0.0, join])).max() / execution.limits.acceleration[0]
    assert worst == pytest.approx(0.5)
    motion = straight_motion(arm.robot, (JOINT,), [0.0], [2.0], execution.limits, [fast])
    execution.send(motion, motion.duration, join)
    first = arm.controller.told.points[0].time_from_start
    assert join <= first.sec + first.nanosec * 1e-9 < join + 0.031


@pytest.mark.parametrize('told', [True, False])
@pytest.mark.parametrize('noise', [5e-4, 2e-3, 4e-3])
def test_noise_of_joint_states_is_no_step(monkeypatch, noise, told):
    """The first point was .03 s later at a reading that trembles: 10 to 16 rad/s^2."""
    arm, rng = Arm(monkeypatch, Trajectories), np.random.default_rng(1)
    arm.parameters.update(acceleration_scaling=0.1)
    if told:
        arm.go(0.5)
        arm.run(3.0)
    rest, worst = 0.5 * told, 0.0
    for _ in range(100):
        for _ in range(20):
            arm.now += PERIOD
            arm.hear(rest + noise * rng.uniform(-1, 1), 0.0, arm.now)
        execution = arm.execution(rest + 0.1)
        replacement = TrajectoryReplacement(execution, [], arm.measured, arm.parameters)
        start, join = replacement.at(arm.now), replacement.blend_time(arm.now, 0.1)
        assert not told or abs(start.position[0] - rest) < 1e-9
        message = trajectory_message(planned_motion(execution, start, 0.1, arm.parameters), join)
        first = message.points[0]
        seconds = first.time_from_start.sec + first.time_from_start.nanosec * 1e-9
        for began in (rest, rest + noise, rest - noise):   # where a controller may begin
            way = CubicHermiteSpline([0.0, seconds], [began, first.positions[0]],
                                     [0.0, first.velocities[0]])
            worst = max(worst, np.abs(way.derivative(2)([0.0, seconds])).max())
    assert worst < 3.0


@pytest.mark.parametrize('late', [0.0, 0.1, 0.2, 0.3])
def test_an_arm_that_is_merely_late_goes_on(arm, late):
    """At full speed, with the delays of ordinary motors and networks."""
    execution = arm.go(2.5)
    for _ in range(20):
        arm.run(0.1, late)
        outcome = execution.look()
        assert outcome is None or outcome.status == Status.SUCCESS, outcome
        assert execution.phase is not Phase.BRAKING


@pytest.mark.parametrize('held', [0.2, 0.6])
def test_a_joint_that_is_held_is_noticed(arm, held):
    """After 0.2 rad and 0.3 s."""
    execution = arm.go(2.5)
    arm.run(held)
    at, begin = arm.controller.commanded(arm.now).position[0], arm.now
    while execution.phase is not Phase.BRAKING:
        arm.now += 0.01
        if isinstance(arm.controller, Stream):
            arm.controller._tick()
        arm.hear(at, 0.0)
        far = arm.controller.commanded(arm.now - 0.3).position[0] - at
        assert execution.look() is None and arm.now < begin + 1.0
    assert 0.2 < far < 0.23


@pytest.mark.parametrize('late', [0.0, 0.1, 0.3, 0.6, 1.0])
@pytest.mark.parametrize('stop', np.linspace(0.03, 1.4, 10).tolist())
def test_a_stop_while_readings_are_late(arm, stop, late):
    """
    Braking begins where the joint is commanded to be; nothing that was heard counts.

    A trajectory's braking is begun by the controller from its own state, up to a cycle late.
    """
    arm.parameters.update(max_tracking_error=0.0)
    execution = arm.go(2.6)
    arm.run(stop, late)
    way, told = execution.motion, arm.controller.commanded(arm.now)
    execution.stop(Status.PREEMPTED, 'stopped')
    limit = execution.limits.acceleration[0]
    if isinstance(arm.controller, Stream):
        braking = arm.controller._motion
        assert abs(braking.at(0.0).position[0] - told.position[0]) < 1e-9
        states = [braking.at(t) for t in np.linspace(0, braking.duration, 200)]
        assert max(abs(one.acceleration[0]) for one in states) < 1.001 * limit
        assert min(one.velocity[0] for one in states) > -1e-9
        return
    end = arm.controller.told.points[-1]
    seconds = end.time_from_start.sec + end.time_from_start.nanosec * 1e-9
    if len(arm.controller.told.points) > 1:   # it ends as soon by itself
        assert way.duration - stop < 2.0
        return
    for begun in np.linspace(stop - 0.015, stop + 0.015, 5):
        state = way.at(begun)
        braking = CubicHermiteSpline([0.0, seconds], [state.position[0], end.positions[0]],
                                     [state.velocity[0], 0.0])
        assert np.abs(braking([0.0, seconds], 2)).max() < 1.001 * limit
        assert braking(np.linspace(0, seconds, 100), 1).min() > -1e-6
        assert end.positions[0] < 2.6 + 1e-3


def test_a_stop_that_is_repeated_goes_nowhere_else(monkeypatch):
    """Whatever is heard meanwhile, and however often it is repeated."""
    arm = Arm(monkeypatch, Trajectories)
    execution = arm.go(2.0)
    arm.run(0.4)
    execution.stop(Status.PREEMPTED, 'stopped')
    end = arm.controller.told.points[-1].positions[0]
    random = np.random.default_rng(1)
    for _ in range(300):
        arm.now += 0.02
        arm.hear(random.uniform(-2.8, end), random.uniform(-2, 2))
        if execution.look():
            break
        assert arm.controller.told.points[-1].positions[0] == end


class Follower:
    """
    A trajectory controller on its own time, which goes `scale` times as fast, and its joint.

    It begins what it is sent at the joint's state, by cubic polynomials; `stuck` does not move.
    `measured`: its velocity then is the measured one, as with a speed slider, not its own.
    """

    def __init__(self, arm, scale=1.0, stuck=False, measured=False):
        self.arm, self.scale, self.stuck, self.measured = arm, scale, stuck, measured
        self.time = self.position = self.velocity = 0.0   # the velocity is per its own second
        self.peak = self.speed = 0.0    # largest acceleration and speed since the last stop
        self.way, self.begun, self.message = None, 0.0, None

    def step(self):
        """Go on by a cycle of a millisecond."""
        if self.arm.controller.told is not self.message:
            self._take(self.arm.controller.told)
        self.arm.now += 1e-3
        self.time += 1e-3 * self.scale
        if self.way and not self.stuck:
            at = min(self.time - self.begun, self.way.x[-1])
            self.position, self.velocity = float(self.way(at)), float(self.way(at, 1))
            self.peak = max(self.peak, abs(float(self.way(at, 2))) * self.scale**2)
            self.speed = max(self.speed, abs(self.velocity) * self.scale)

    def _take(self, message):
        times = [p.time_from_start.sec + p.time_from_start.nanosec * 1e-9 for p in message.points]
        velocity = 0.0 if self.stuck else self.velocity * (self.scale if self.measured else 1)
        self.way = CubicHermiteSpline([0.0, *times], [self.position, *(p.positions[0] for p in
                                                                      message.points)],
                                      [velocity, *(p.velocities[0] for p in message.points)])
        self.begun, self.message = self.time, message
        self.asked = np.abs(self.way(np.linspace(0, times[-1], 200), 2)).max()

    def run(self, seconds, execution=None, stamps=True, behind=0.0):
        """
        Go on, with joint_states and looks at the execution; gives its outcome, if it has ended.

        Stamps come from a clock that is `behind` the node's [s].
        """
        for k in range(round(seconds / 1e-3)):
            self.step()
            if k % 10 == 0:
                self.arm.hear(self.position, 0.0 if self.stuck else self.velocity * self.scale,
                              self.arm.now - behind if stamps else 0)
            if execution and k % 20 == 0 and (outcome := execution.look()):
                return outcome
        return None


def stopping(arm, follower, goal, after, stamps=True):
    """Move to a goal and stop after a time; gives the outcome, and where and how fast it was."""
    execution = arm.go(goal)
    assert follower.run(after, execution, stamps) is None
    was = follower.position, abs(follower.velocity) * follower.scale
    moving = execution.phase is not Phase.BRAKING
    follower.peak = follower.speed = 0.0
    execution.stop(Status.PREEMPTED, 'stopped')
    outcome = follower.run(20, execution, stamps)
    assert moving
    return outcome, *was


@pytest.mark.parametrize('scale', [0.02, 0.2, 0.5, 0.8])
@pytest.mark.parametrize('after', np.linspace(0.1, 1.2, 6).tolist())
@pytest.mark.parametrize('stamps, measured', [(True, False), (True, True), (False, False)])
@pytest.mark.slow
def test_a_stop_never_speeds_up_a_controller_whose_time_is_slow(monkeypatch, scale, after,
                                                                stamps, measured):
    """As a simulation, or a robot's speed slider, may make it; nor does it go farther."""
    arm = Arm(monkeypatch, Trajectories)
    arm.parameters.update(max_tracking_error=0.0)
    arm.hear(0.0, 0.0, arm.now if stamps else 0)
    follower = Follower(arm, scale, measured=measured)
    outcome, at, fast = stopping(arm, follower, 2.6, after, stamps)
    assert outcome.status == Status.PREEMPTED
    assert follower.peak < 3.0 * 1.05
    # without stamps it may as well be joint_states that are late
    assert follower.speed < (fast * 1.05 + 0.06 if stamps else scale * FASTEST * 1.001)
    if stamps:
        own = fast / scale
        assert follower.position < at + max(own**2 / 2, own * 0.25) + 0.1


@pytest.mark.parametrize('after, scale', [(0.4, 0.0), (0.6, 0.0), (1.2, 0.0), (0.6, 0.05),
                                          (1.2, 0.05), (0.4, 0.3), (0.6, 0.3), (0.8, 0.3)])
def test_a_slow_arm_without_stamps_is_stopped_short(monkeypatch, after, scale):
    """It was left to end by itself, as if it were merely late; 0: it is stuck from .3 s on."""
    arm = Arm(monkeypatch, Trajectories)
    arm.parameters.update(max_tracking_error=0.0, arrival_timeout=30.0)
    follower = Follower(arm, scale or 1.0)
    execution = arm.go(1.2)
    assert follower.run(0.3, execution, False) is None
    follower.stuck = not scale
    assert follower.run(after - 0.3, execution, False) is None
    follower.peak, at, sent = 0.0, follower.position, arm.controller.told
    execution.stop(Status.PREEMPTED, 'stopped')
    follower.run(4.0, execution, False)
    assert arm.controller.told is not sent
    assert arm.controller.told.points[-1].positions[0] < (
        at + FASTEST**2 / 6 + 0.1 if scale else at + 1e-3)
    assert follower.peak < 3.0 * 1.05


@pytest.mark.parametrize('goal', [2.6, 2.0])
@pytest.mark.parametrize('after, scale', [(0.8, 0.25), (1.6, 0.25), (2.4, 0.25), (2.0, 0.0),
                                          (4.0, 0.0)])
def test_a_slow_arm_is_stopped_short_in_a_motion_that_replaced_another(monkeypatch, after, scale,
                                                                       goal):
    """Nothing was sent, and a slow arm went on to the goal; one at 0 is stuck from then on."""
    arm = Arm(monkeypatch, Trajectories)
    arm.parameters.update(max_tracking_error=0.0, arrival_timeout=30.0,
                          limits={(JOINT, 'velocity'): 0.8})
    follower = Follower(arm, 1.0)
    before = arm.go(2.8)
    assert follower.run(0.4, before, False) is None
    replacement, _, motion, begin = replacing(arm, before, goal, 0.1)
    execution = arm.execution(goal)
    execution.send(replacement.before(motion, begin, 0.1, arm.now), motion.duration, 0.1)
    follower.run(0.06, execution, False)
    follower.scale, follower.stuck = scale or 1.0, not scale
    assert follower.run(after, execution, False) is None
    follower.peak, at, sent = 0.0, follower.position, arm.controller.told
    execution.stop(Status.PREEMPTED, 'stopped')
    follower.run(4.0, execution, False)
    assert arm.controller.told is not sent
    assert arm.controller.told.points[-1].positions[0] < (at + 0.8 if scale else at + 1e-3)
    assert follower.peak < 3.0 * 1.05


@pytest.mark.parametrize('behind', [0.0, 0.1, 0.2])
@pytest.mark.parametrize('after', [0.4, 0.8, 1.2, 1.6])
@pytest.mark.parametrize('goal', [-0.5, 2.4])
def test_a_slow_arm_whose_stamps_are_behind_joins_a_motion(monkeypatch, behind, after, goal):
    """They hide how late it is: it was to join the motion much too fast."""
    arm = Arm(monkeypatch, Trajectories)
    arm.parameters.update(limits={(JOINT, 'velocity'): 1.2, (JOINT, 'acceleration'): 2.0})
    follower = Follower(arm, 0.9)
    before = arm.go(2.8)
    follower.run(after, before, behind=behind)
    execution, begin = arm.execution(goal), arm.now
    replacement = TrajectoryReplacement(execution, [before], arm.measured, arm.parameters)
    join = replacement.blend_time(begin, 0.1)
    motion = planned_motion(execution, replacement.at(begin + 0.1 + join), 0.9, arm.parameters)
    follower.run(0.05, before, behind=behind)
    execution.send(replacement.before(motion, begin, 0.1 + join, arm.now), motion.duration, join)
    follower.peak = 0.0
    follower.run(3.0, execution, behind=behind)
    # what gets it onto the motion may add half as much
    assert 0.1 < follower.peak < 2.0 * 1.5 * 1.05


@pytest.mark.parametrize('after', [0.2, 0.35, 0.5, 0.65, 0.8, 0.95])
@pytest.mark.parametrize('scale', [1.0, 0.5])
@pytest.mark.parametrize('told', [None, 0.0, 0.1, -1.0, 57.3])
def test_a_stop_where_joint_states_tell_no_true_velocities(monkeypatch, after, scale, told):
    """A moving joint was taken for one that stands, and told to come back."""
    arm = Arm(monkeypatch, Trajectories)
    arm.parameters.update(max_tracking_error=0.0)
    arm.told_velocity = told
    arm.hear(0.0, 0.0, arm.now)
    follower = Follower(arm, scale)
    execution = arm.go(2.6)
    assert follower.run(after, execution) is None and execution.phase is not Phase.BRAKING
    follower.peak, way = 0.0, [follower.position]
    execution.stop(Status.PREEMPTED, 'stopped')
    while (outcome := follower.run(0.02, execution)) is None:
        way.append(follower.position)
    assert outcome.status == Status.PREEMPTED and follower.peak < 3.0 * 1.05
    # what is told counts until the way has shown that it is wrong
    assert np.diff(way).min() > -1e-6 or (told is not None and way[0] < 0.03
                                          and max(way) - way[-1] < 0.03)
    assert way[-1] - way[0] < (FASTEST**2 / 6 + 0.3) / scale


@pytest.mark.parametrize('period', [0.1, 0.19, 0.21, 0.25, 0.4])
@pytest.mark.parametrize('told', [None, 0.0, 1.0, -1.0])
@pytest.mark.parametrize('stamped', [True, False])
@pytest.mark.slow
def test_a_stop_where_joint_states_are_seldom(monkeypatch, period, told, stamped):
    """Any velocities were believed where readings were farther apart than 0.2 s."""
    arm = Arm(monkeypatch, Trajectories)
    arm.parameters.update(max_tracking_error=0.0)
    arm.told_velocity = told
    follower, every = Follower(arm), round(period / PERIOD)
    execution, way, outcome = arm.go(2.0), [], None
    for k in range(2000):
        for _ in range(round(PERIOD / 1e-3)):
            follower.step()
        if k % every == 0:
            arm.hear(follower.position, follower.velocity, arm.now * stamped)
        if not way and follower.position > 1.4:
            execution.stop(Status.PREEMPTED, 'stopped')
            follower.peak = 0.0
        if way or execution.phase is Phase.BRAKING:
            way.append(follower.position)
        if outcome := execution.look():
            break
    assert outcome and outcome.status == Status.PREEMPTED, outcome
    assert np.diff(way).min() > -1e-6 and follower.peak < 3.0 * 1.05


@pytest.mark.parametrize('period, after', [(110, 521), (130, 334), (150, 368), (150, 521),
                                           (150, 674), (170, 334), (190, 453)])
def test_a_stop_by_seldom_positions_of_an_arm_that_gets_faster(monkeypatch, period, after):
    """Their mean velocity is that of before: it was taken for one that does not follow."""
    arm = Arm(monkeypatch, Trajectories)
    arm.told_velocity = None
    follower, execution, way = Follower(arm), arm.go(2.0), []
    for k in range(9000):
        follower.step()
        if k % period == 0:
            arm.hear(follower.position, 0.0, arm.now)
        if k == after:
            execution.stop(Status.PREEMPTED, 'stopped')
            follower.peak = 0.0
        if k >= after:
            way.append(follower.position)
        if outcome := execution.look():
            break
    assert outcome.status == Status.PREEMPTED and follower.peak < 3.0 * 1.05
    assert np.diff(way).min() > -1e-6


@pytest.mark.parametrize('told, stamped', [(None, True), (None, False), (0.0, False)])
def test_an_arm_that_comes_by_has_not_arrived(monkeypatch, told, stamped):
    """It tells no true velocity, and goes slowly through the place where it was told to be."""
    arm = Arm(monkeypatch, Trajectories)
    arm.parameters.update(max_tracking_error=0.0, goal_tolerance=0.01)
    arm.told_velocity = told
    follower = Follower(arm, 0.5)
    execution = arm.go(2.5)
    while (outcome := execution.look()) is None:
        for _ in range(10):
            follower.step()
        arm.hear(follower.position, follower.velocity * 0.5, arm.now * stamped)
    assert outcome.status == Status.SUCCESS and abs(follower.velocity * 0.5) < 0.05


@pytest.mark.parametrize('stamped', [True, False])
@pytest.mark.parametrize('told', [-1.0, 57.3, 0.4, 0.0])
@pytest.mark.parametrize('every', [1, 2])
def test_who_is_moved_by_others_does_not_stand(monkeypatch, told, stamped, every):
    """Velocities that were disproved counted as rest, and a motion could begin."""
    arm = Arm(monkeypatch, Trajectories)
    for k in range(300):
        arm.now += PERIOD
        arm.told_velocity = None if k % every else told
        x, v = 0.5 + 0.5 * np.sin(1.5 * k * PERIOD), 0.75 * np.cos(1.5 * k * PERIOD)
        arm.hear(x, v, arm.now * stamped)
        moves, why = arm.measured.state([JOINT])[1].any(), arm.measured.unsure([JOINT])
        assert k < 20 or abs(v) < 0.05 or moves or f"velocities of joint '{JOINT}'" in why
    arm.told_velocity = told
    for _ in range(120):
        arm.now += PERIOD
        arm.hear(x, 0.0, arm.now * stamped)
    assert not arm.measured.state([JOINT])[1].any() and not arm.measured.unsure([JOINT])


@pytest.mark.parametrize('offset', [0.0, 0.002, 0.008])
@pytest.mark.parametrize('after', [0.9, 1.2])
def test_velocities_of_an_arm_that_stands_stay_credible(monkeypatch, offset, after):
    """What is less than moving added up, and an arm that never moved was told to rest ahead."""
    arm = Arm(monkeypatch, Trajectories)
    arm.parameters.update(max_tracking_error=0.0)
    for _ in range(2500):
        arm.now += PERIOD
        arm.hear(0.0, offset)
    assert arm.measured._joint_states.velocity(JOINT) == offset
    execution, begin, outcome = arm.go(2.0), arm.now, None
    while not outcome and arm.now < begin + 10:
        arm.now += 0.02
        arm.hear(0.0, offset)
        if execution.phase is not Phase.BRAKING and arm.now > begin + after:
            execution.stop(Status.PREEMPTED, 'stopped')
        outcome = execution.look()
    assert outcome and abs(arm.controller.told.points[-1].positions[0]) < 0.01


@pytest.mark.parametrize('stood', [0.5, 3.0])
@pytest.mark.parametrize('after', [0.4, 0.8, 1.2])
def test_a_stuck_arm_whose_driver_tells_commanded_velocities(monkeypatch, stood, after):
    """It is told to rest where it is, and not where one that moves so fast would come to rest."""
    arm = Arm(monkeypatch, Trajectories)
    arm.parameters.update(max_tracking_error=0.0)
    for _ in range(round(stood / PERIOD)):
        arm.now += PERIOD
        arm.hear(0.0, 0.0, arm.now)
    execution, begin, outcome = arm.go(2.0), arm.now, None
    while not outcome and arm.now < begin + 10:
        arm.now += PERIOD
        arm.hear(0.0, arm.controller.commanded(arm.now).velocity[0], arm.now)
        if execution.phase is not Phase.BRAKING and arm.now > begin + after:
            execution.stop(Status.PREEMPTED, 'stopped')
        outcome = execution.look()
    assert outcome and abs(arm.controller.told.points[-1].positions[0]) < 0.01


@pytest.mark.parametrize('stamped', [True, False])
@pytest.mark.parametrize('offset', [0.002, 0.0101, 0.012, -0.02, 0.029, 0.04])
def test_who_stands_comes_to_rest_whatever_velocity_is_told(monkeypatch, offset, stamped):
    arm = Arm(monkeypatch, Trajectories)
    for _ in range(200):
        arm.now += PERIOD
        arm.hear(0.0, offset, arm.now * stamped)
    assert not arm.measured.state([JOINT])[1].any() and not arm.measured.unsure([JOINT])


@pytest.mark.parametrize('period', [0.21, 0.25, 0.33, 0.5])
def test_true_velocities_told_seldom_are_believed(monkeypatch, period):
    """Between two readings it may have gone somewhere and come to rest."""
    arm, random = Arm(monkeypatch, Trajectories), np.random.default_rng(1)
    limits = motion_limits(arm.robot, (JOINT,), arm.parameters)
    at, history = 0.0, arm.measured._joint_states
    for goal in random.uniform(-1.5, 1.5, 60):
        motion = straight_motion(arm.robot, (JOINT,), [at], [goal], limits)
        begin = arm.now + random.uniform(0.0, period)
        while arm.now < begin + motion.duration + period:
            arm.now += period
            state = motion.at(min(max(arm.now - begin, 0.0), motion.duration))
            arm.hear(state.position[0], state.velocity[0], arm.now)
            assert not history.disproved(JOINT)
        at = goal


@pytest.mark.parametrize('factor', [1.0, 0.1, 0.02])
def test_zeros_of_a_slow_simulation_are_seen_through(monkeypatch, factor):
    """By its own time, in which it moves; by that of the wall it hardly does."""
    arm, start = Arm(monkeypatch, Trajectories), 100.0
    for k in range(2000):
        arm.now += PERIOD / factor
        arm.hear(0.15 * k * PERIOD, 0.0, start + k * PERIOD)
    assert arm.measured._joint_states.disproved(JOINT)


@pytest.mark.parametrize('stamped', [True, False])
def test_nobody_knows_whether_who_tells_no_velocity_moves(monkeypatch, stamped):
    """Until it has been at one place for a while."""
    arm = Arm(monkeypatch, Trajectories)
    arm.told_velocity = None
    for k in range(100):
        arm.now += PERIOD
        arm.hear(0.005 * k, 0.0, arm.now * stamped)
        assert f"no velocity of joint '{JOINT}'" in arm.measured.untold([JOINT], 0.5)
    for _ in range(60):
        arm.now += PERIOD
        arm.hear(0.5, 0.0, arm.now * stamped)
    assert not arm.measured.untold([JOINT], 0.5)
    arm.told_velocity = 1.0
    arm.hear(0.6, 0.0, arm.now * stamped)
    assert not arm.measured.untold([JOINT], 0.5)


@pytest.mark.parametrize('seconds', [3.0, 0.001])
def test_a_simulation_stands_by_its_own_time(monkeypatch, seconds):
    """In which it moves and turns, slow or fast."""
    arm = Arm(monkeypatch, Trajectories)
    for k in range(10):
        arm.now += seconds
        arm.hear(0.3, 0.0, 100.0 + 0.02 * k)
    assert arm.measured.stood([JOINT]) == pytest.approx(0.18)


def test_nobody_knows_who_stood_while_nothing_was_told(monkeypatch):
    arm = Arm(monkeypatch, Trajectories)
    for silence in (0.0, 2.0):
        arm.now += silence
        for _ in range(10):
            arm.now += 0.2
            arm.hear(0.3, 0.0, arm.now)
            assert not silence or arm.measured.stood([JOINT]) < 2.0
    assert arm.measured.stood([JOINT]) > 1.5


@pytest.mark.parametrize('scale', [1.0, 0.5])
@pytest.mark.parametrize('after', np.linspace(0.2, 2.3, 8).tolist())
def test_a_driver_that_tells_angles_within_one_turn(monkeypatch, after, scale):
    """The place beyond pi was taken for one a turn away."""
    arm = Arm(monkeypatch, Trajectories, 'kinova', 'j2s6s200_joint_1')
    arm.parameters.update(max_tracking_error=0.0, arrival_timeout=5.0)
    follower = Follower(arm, scale)
    follower.position = 3.0

    def hear(position, velocity, stamp):
        arm_hears((position + np.pi) % (2 * np.pi) - np.pi, velocity, stamp)
    arm_hears = arm.hear
    monkeypatch.setattr(arm, 'hear', hear)
    arm.hear(3.0, 0.0, arm.now)
    execution = arm.go(-1.7, 3.0)
    assert follower.run(after, execution) is None
    follower.peak, way = 0.0, [follower.position]
    execution.stop(Status.PREEMPTED, 'stopped')
    outcome = None
    while outcome is None and len(way) < 1000:
        outcome = follower.run(0.02, execution)
        way.append(follower.position)
    assert outcome and 'but' not in outcome.message, outcome
    assert np.diff(way).min() > -1e-6 and follower.peak < 3.0 * 1.05
    assert abs(arm.controller.told.points[-1].positions[0] - way[-1]) < 2e-3


@pytest.mark.parametrize('after', [0.4, 0.8, 1.5, 2.5])
def test_a_joint_that_never_moved_is_told_to_stay(monkeypatch, after):
    """In a time in which a controller that begins at its commands gets back, too."""
    arm = Arm(monkeypatch, Trajectories)
    arm.parameters.update(max_tracking_error=0.0, arrival_timeout=5.0)
    arm.hear(0.0, 0.0, arm.now)
    follower = Follower(arm, stuck=True)
    execution = arm.go(1.5)
    assert follower.run(after, execution) is None
    told = arm.controller.commanded(arm.now)
    execution.stop(Status.PREEMPTED, 'stopped')
    follower.run(0.05, execution)
    end = arm.controller.told.points[-1]
    assert end.positions[0] == 0.0 and follower.asked == 0
    seconds = end.time_from_start.sec + end.time_from_start.nanosec * 1e-9
    back = CubicHermiteSpline([0, seconds], [told.position[0], 0.0], [told.velocity[0], 0.0])
    assert np.abs(back([0, seconds], 2)).max() < 3.01 and seconds < 5


@pytest.mark.parametrize('stamps', [True, False])
@pytest.mark.parametrize('wait', np.arange(0.0, 0.5, 0.07).tolist())
def test_a_late_stop_of_a_joint_that_never_moved_is_no_step(monkeypatch, wait, stamps):
    """The delay of a joint that stands was taken for one of 0.3 s: as if it still braked."""
    arm = Arm(monkeypatch, Trajectories)
    arm.parameters.update(max_tracking_error=0.0, arrival_timeout=9.0)
    arm.hear(0.0, 0.0, arm.now if stamps else 0)
    follower = Follower(arm, stuck=True)
    execution = arm.go(0.6)
    follower.run(execution.motion.duration + wait, execution, stamps)
    sent = arm.controller.told
    execution.stop(Status.CONTROL_FAILED, 'stopped')
    for _ in range(10):
        follower.run(0.1, execution, stamps)
        assert arm.controller.told is sent or follower.asked < 3.0 * 1.01


def accelerations(sent, begin=0.0):
    """Give the accelerations of a joint that is at each position for a period, from rest on."""
    speeds = np.concatenate([[begin], np.diff(sent) / PERIOD])
    return np.abs(np.diff(speeds)) / PERIOD


@pytest.mark.parametrize('after', [0.05, 0.4, 0.9, 1.3])
@pytest.mark.parametrize('pause', [0.12, 0.2, 0.5, 2.0])
def test_a_stream_begins_anew_after_a_pause(streamed, after, pause):
    """The joint stands by then; the motion goes on from there, and comes to its end."""
    execution = streamed.go(2.5)
    streamed.run(after)
    streamed.now += pause - PERIOD
    count = len(streamed.sent)
    streamed.run(3.5)
    rest = streamed.sent[count - 1:]
    assert accelerations(rest).max() < 3.0 * 1.05 and (np.diff(rest) > -1e-9).all()
    assert rest[-1] == pytest.approx(2.5) and rest[1] - rest[0] < 3.0 * PERIOD**2 * 1.05
    assert execution.look().status == Status.SUCCESS


def test_a_stream_that_is_held_up_often_arrives(streamed):
    """By the jitter of a busy machine; it is not taken for a fault."""
    random = np.random.default_rng(2)
    execution = streamed.go(2.5)
    for _ in range(2000):
        streamed.now += random.choice([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.02, 0.05, 0.15, 0.2],
                                      p=[0.15, 0.15, 0.15, 0.15, 0.15, 0.15, 0.04, 0.03, 0.02,
                                         0.01])
        streamed.run(PERIOD)
        if outcome := execution.look():
            break
    assert outcome.status == Status.SUCCESS and execution.phase is not Phase.BRAKING
    assert np.abs(np.diff(streamed.sent)).max() < 2.1 * PERIOD * FASTEST


@pytest.mark.parametrize('ahead', [0.0, 0.05, 0.3])
def test_a_stop_after_a_pause_begins_at_rest(streamed, ahead):
    """Also some time after the pause, while the motion has not got its speed back."""
    execution = streamed.go(2.5)
    streamed.run(0.7)
    streamed.now += 0.5
    count = len(streamed.sent)
    streamed.run(ahead)
    execution.stop(Status.PREEMPTED, 'stopped')
    streamed.run(2.0)
    rest = streamed.sent[count - 1:]
    assert accelerations(rest).max() < 3.0 * 1.05 and (np.diff(rest) > -1e-9).all()
    assert rest[-1] - rest[0] < (3.0 * ahead)**2 / 3.0 + 0.02


@pytest.mark.parametrize('speed', [0.0, 0.1, 0.5, 1.0])
def test_a_stream_goes_by_the_time_of_a_simulation(monkeypatch, speed):
    """Slow or paused; a repeated stop does not jump to its end meanwhile."""
    arm = Arm(monkeypatch, Positions)
    begin = arm.now
    arm.simulated = lambda: 1000 + speed * (arm.now - begin)
    execution = arm.go(2.5)
    way = execution.motion
    arm.run(1.0)
    assert arm.sent[-1] == pytest.approx(way.at(speed).position[0], abs=1e-6)
    if speed:
        execution.stop(Status.PREEMPTED, 'stopped')
        for _ in range(200):
            arm.run(0.02)
            execution.look()
        begun = np.array(arm.sent)
        assert (accelerations(begun) < 3.0 * 1.1 * speed + 1e-6).all()
        assert begun[-1] < 2.5


@pytest.mark.parametrize('speed', [0.0, 0.2])
def test_a_stop_waits_for_the_time_of_a_simulation(monkeypatch, speed):
    arm = Arm(monkeypatch, Positions)
    times = [1000.0]
    arm.simulated = lambda: times[0]
    execution = arm.go(2.5)
    for k in range(500):
        times[0] += PERIOD * (1.0 if k < 80 else speed)
        arm.run(PERIOD)
        if k == 100:
            execution.stop(Status.PREEMPTED, 'stopped')
        if k > 100 and execution.look():
            break
    assert np.abs(np.diff(arm.sent)).max() < 1.01 * PERIOD * FASTEST
    assert accelerations(arm.sent)[100:].max() < 3.0 * 1.1 * max(speed, 1.0)


@pytest.fixture
def goals(monkeypatch):
    """Give the goals that are sent to an action that answers none; control_msgs is a stand-in."""
    goals = []

    class Action:
        Goal = SimpleNamespace

    class ActionClient:
        def __init__(self, *_, **__):
            pass

        def send_goal_async(self, goal, goal_uuid):
            goals.append(goal.trajectory)
            return SimpleNamespace(add_done_callback=lambda _: None)

    messages = SimpleNamespace(FollowJointTrajectory=Action)
    monkeypatch.setitem(sys.modules, 'control_msgs', SimpleNamespace(action=messages))
    monkeypatch.setitem(sys.modules, 'control_msgs.action', messages)
    monkeypatch.setattr('rclpy.action.ActionClient', ActionClient)
    return goals


@pytest.mark.parametrize('heard', [True, False])
def test_braking_goals_do_not_pile_up(monkeypatch, goals, heard):
    """Whoever is slow to accept one is not sent more of them meanwhile, if it is heard or not."""
    arm = Arm(monkeypatch, FollowJointTrajectoryController)
    execution = arm.go(2.0)
    way, begin = execution.motion, arm.now
    arm.run(0.25)
    execution.stop(Status.PREEMPTED, 'stopped')
    for _ in range(250):
        arm.now += 0.02
        state = arm.controller.commanded(arm.now) if heard else way.at(arm.now - begin)
        arm.hear(state.position[0], state.velocity[0])
        if outcome := execution.look():
            break
    assert len(goals) == 2
    assert outcome and 'has not said whether it accepts' in outcome.message


@pytest.mark.parametrize('wrote', [0.0, 0.03, 0.1, 3.0])
def test_what_is_written_slowly_is_joined_later_on(monkeypatch, wrote):
    """The arm goes on meanwhile; it was to go back."""
    arm = Arm(monkeypatch, Trajectories)
    before = arm.go(2.6)
    arm.run(0.6)
    replacement, _, motion, begin = replacing(arm, before, -1.0, lead=0.5)
    execution, whole = arm.execution(-1.0), replacement.before(motion, begin, 0.5, arm.now)

    def slow(*arguments):
        arm.now += wrote
        return trajectory_message(*arguments)
    monkeypatch.setattr('ros2_ik.node.controllers.trajectory_controller.trajectory_message', slow)
    began = arm.now
    execution.send(whole, motion.duration, 0.2)
    points = arm.controller.told.points
    times = [p.time_from_start.sec + p.time_from_start.nanosec * 1e-9 for p in points]
    assert times[0] >= 0.2 - 1e-9 and (np.diff(times) > 0.0).all()
    for point, time in zip(points[:-1], times[:-1], strict=True):
        assert point.positions[0] == pytest.approx(whole.at(time + wrote).position[0], abs=1e-6)
    assert points[-1].positions[0] == pytest.approx(-1.0)
    assert execution.commanded(began + 1.0).position == pytest.approx(whole.at(1.0).position)
