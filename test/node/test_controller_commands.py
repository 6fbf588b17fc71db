"""What is sent to controllers when motions end early, or time stands still."""

from types import SimpleNamespace

import numpy as np
import pytest
from rclpy.serialization import deserialize_message
from scipy.interpolate import CubicHermiteSpline
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ros2_ik.core import Robot, Status, straight_motion
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.controllers.controller import ControllerContext
from ros2_ik.node.controllers.motion_limits import motion_limits
from ros2_ik.node.controllers.position import PositionOutput
from ros2_ik.node.controllers.stream import Stream
from ros2_ik.node.controllers.trajectories import duration_message
from ros2_ik.node.controllers.trajectory_controller import TrajectoryController
from ros2_ik.node.motion.motion_execution import MotionExecution, Phase
from ros2_ik.node.motion.planning import planned_motion
from ros2_ik.node.servo.messages import Open
from ros2_ik.node.servo.player import Player
from ros2_ik.node.state.joint_states import JointStates
from ros2_ik.node.state.measured_joints import MeasuredJoints

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
    """A stream of positions."""

    kind, usual_topic = 'positions', '{}'

    @property
    def output(self):
        return PositionOutput(self.topic, self.joints, (0,))


class Servo:
    """The servo's process, in this one."""

    def __init__(self, node):
        self.receivers, self.player = [], None
        self.context = ControllerContext(node, None, None, None, self)

    def send(self, message):
        if isinstance(message, Open):
            self.player = Player(self.context, self.context.clock, message, self.say)
        else:
            self.player.take(message)

    def say(self, message):
        for receive in self.receivers:
            receive(message)


class Trajectories(TrajectoryController):
    """A controller that keeps what it is told."""

    kind, usual_topic = 'trajectories', '{}'

    def unavailable_reason(self):
        return ''

    def servo_output(self, robot):
        raise NotImplementedError

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
                                   simulated=lambda: bool(self.simulated))
        node = SimpleNamespace(
            create_publisher=lambda *_: SimpleNamespace(
                publish=self._take, topic_name='c', get_subscription_count=lambda: 2),
            create_subscription=lambda *_, **__: None,
            resolve_topic_name=lambda name: name,
            get_clock=self._clock, get_publishers_info_by_topic=lambda _: [])
        self.servo = Servo(node)
        context = ControllerContext(node, None, self.parameters, None, self.servo)
        self.controller = kind('c', (joint,), '', context)
        self.measured = MeasuredJoints(self._states, self.parameters, context.clock)
        self.stand(0.3)

    def _clock(self):
        now = self._stamp()
        return SimpleNamespace(ros_time_is_active=bool(self.simulated),
                               now=lambda: SimpleNamespace(nanoseconds=round(now * 1e9)))

    def _take(self, data):
        self.sent.append(deserialize_message(data, Float64MultiArray).data[0])

    def stand(self, seconds, position=0.0):
        for _ in range(round(seconds / PERIOD)):
            self.now += PERIOD
            self.hear(position, 0.0)

    def hear(self, position, velocity, stamp=None):
        stamp = self.now if stamp is None else stamp
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
        execution.send(motion, 0.0)
        return execution

    def run(self, seconds, late=0.0, behind=0.0):
        """Go on with an arm that is `late`, or only what is told of it is `behind`."""
        for _ in range(round(seconds / PERIOD)):
            self.now += PERIOD
            self.tick()
            state = self.controller.commanded(self.controller.context.now() - late - behind)
            self.hear(state.position[0], state.velocity[0], self._stamp() - behind)

    def tick(self):
        """Publish what is due."""
        if self.servo.player:
            self.servo.player.tick(PERIOD)

    def _stamp(self):
        return self.simulated() if self.simulated else self.now


@pytest.fixture(params=[Positions, Trajectories])
def arm(monkeypatch, request):
    return Arm(monkeypatch, request.param)


@pytest.fixture
def streamed(monkeypatch):
    return Arm(monkeypatch, Positions)


@pytest.mark.parametrize('stamps, stale', [((100.6,) * 3, True), ((100.6, 100.9, 101.2), False),
                                           ((99.0, 99.3, 99.6), True), ((0, 0, 0), True)])
def test_a_stamp_that_is_repeated_is_no_news(streamed, stamps, stale):
    """As of a publisher whose robot has gone. Late is old, and without stamps nothing is known."""
    for stamp in stamps:
        streamed.now += 0.3
        streamed.hear(0.0, 0.0, stamp)
    assert bool(streamed.measured.stale([JOINT])) == stale


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


@pytest.mark.parametrize('ago', [0.05, 0.2, 0.4, 0.6])
def test_a_stop_does_not_pass_the_goal(arm, ago):
    execution = arm.go(2.0)
    arm.run(execution.motion.duration - ago)
    execution.stop(Status.PREEMPTED, 'stopped')
    assert arm.controller._motion.goal[0] < 2.0 + 1e-3


def test_an_arm_that_cannot_be_stopped_is_told_of(monkeypatch):
    arm = Arm(monkeypatch, Trajectories)
    execution = arm.go(2.0)
    arm.run(0.5)
    execution.stop(Status.PREEMPTED, 'stopped')
    end, ends = arm.controller.told.points[-1].positions[0], set()
    for _ in range(1000):
        arm.now += 0.02
        arm.hear(0.5 + 0.05 * np.sin(20 * arm.now), np.cos(20 * arm.now))
        if outcome := execution.supervise():
            break
        ends.add(arm.controller.told.points[-1].positions[0])
    assert ends == {end}
    assert outcome.status == Status.PREEMPTED and 'but the arm still moves' in outcome.message


def test_motions_of_days_are_refused(arm):
    execution = arm.execution(2.0)
    with pytest.raises(RequestError, match='velocity_scaling 1e-06; at most 600 s'):
        planned_motion(execution, np.zeros(1), 1e-6, arm.parameters)


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
    assert execution.supervise().status == Status.PREEMPTED


@pytest.mark.parametrize('late', [0.0, 0.1, 0.2, 0.3])
def test_an_arm_that_is_merely_late_goes_on(arm, late):
    """At full speed, with the delays of ordinary motors and networks."""
    execution = arm.go(2.5)
    for _ in range(20):
        arm.run(0.1, late)
        outcome = execution.supervise()
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
        arm.tick()
        arm.hear(at, 0.0)
        far = arm.controller.commanded(arm.now - 0.3).position[0] - at
        assert execution.supervise() is None and arm.now < begin + 1.0
    assert 0.2 < far < 0.23


@pytest.mark.parametrize('late', [0.0, 0.1, 0.3, 0.6, 1.0])
@pytest.mark.parametrize('stop', np.linspace(0.03, 1.4, 10).tolist())
def test_a_stop_while_readings_are_late(monkeypatch, stop, late):
    """
    Braking begins where the joint is commanded to be; nothing that was heard counts.

    It is begun by the controller from its own state, up to a cycle late.
    """
    arm = Arm(monkeypatch, Trajectories)
    arm.parameters.update(max_tracking_error=0.0)
    execution = arm.go(2.6)
    arm.run(stop, behind=late)
    way = execution.motion
    execution.stop(Status.PREEMPTED, 'stopped')
    limit = execution.limits.acceleration[0]
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


@pytest.mark.parametrize(('stamped', 'ends'), [(True, 0.06), (False, 0.2)])
def test_trajectory_of_another_client_lasts_from_its_stamp_on(monkeypatch, stamped, ends):
    """The last one of the servo, received late, kept motions from beginning."""
    arm = Arm(monkeypatch, Trajectories)
    message = JointTrajectory(joint_names=[JOINT], points=[JointTrajectoryPoint(
        positions=[0.0], velocities=[0.0], time_from_start=duration_message(0.2))])
    stamp = round((arm.now - 0.14) * 1e9)
    if stamped:
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
    arm.controller.context.now()
    arm.controller.on_foreign_command(message, 'c')
    arm.now += ends - 0.01
    assert 'of another client' in arm.controller.under_way()
    arm.now += 0.02
    assert not arm.controller.under_way()


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
        if execution.supervise():
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

    def run(self, seconds, execution=None):
        """Go on, with joint_states and looks at the execution; gives its outcome if it ends."""
        for k in range(round(seconds / 1e-3)):
            self.step()
            if k % 10 == 0:
                self.arm.hear(self.position, 0.0 if self.stuck else self.velocity * self.scale)
            if execution and k % 20 == 0 and (outcome := execution.supervise()):
                return outcome
        return None


def stopping(arm, follower, goal, after):
    """Move to a goal and stop after a time; gives the outcome, and where and how fast it was."""
    execution = arm.go(goal)
    assert follower.run(after, execution) is None
    was = follower.position, abs(follower.velocity) * follower.scale
    moving = execution.phase is not Phase.BRAKING
    follower.peak = follower.speed = 0.0
    execution.stop(Status.PREEMPTED, 'stopped')
    outcome = follower.run(20, execution)
    assert moving
    return outcome, *was


@pytest.mark.parametrize('scale', [0.02, 0.2, 0.5, 0.8])
@pytest.mark.parametrize('after', np.linspace(0.54, 1.2, 4).tolist())
@pytest.mark.parametrize('measured', [False, True])
@pytest.mark.slow
def test_a_stop_never_speeds_up_a_controller_whose_time_is_slow(monkeypatch, scale, after,
                                                                measured):
    """As a speed slider makes it; nor does it go farther. In .3 s before this is not known."""
    arm = Arm(monkeypatch, Trajectories)
    arm.parameters.update(max_tracking_error=0.0)
    follower = Follower(arm, scale, measured=measured)
    outcome, at, fast = stopping(arm, follower, 2.6, after)
    assert outcome.status == Status.PREEMPTED
    assert follower.peak < 3.0 * 1.05
    assert follower.speed < fast * 1.05 + 0.06
    own = fast / scale
    assert follower.position < at + max(own**2 / 2, own * 0.25) + 0.1


@pytest.mark.parametrize('after', [0.2, 0.35, 0.5, 0.65, 0.8, 0.95])
@pytest.mark.parametrize('scale', [1.0, 0.5])
@pytest.mark.parametrize('told', [None, 0.0, -1.0])
def test_a_stop_where_joint_states_tell_no_true_velocities(monkeypatch, after, scale, told):
    """A moving joint was taken for one that stands, and told to come back."""
    arm = Arm(monkeypatch, Trajectories)
    arm.parameters.update(max_tracking_error=0.0)
    arm.told_velocity = told
    follower = Follower(arm, scale)
    execution = arm.go(2.6)
    assert follower.run(after, execution) is None and execution.phase is not Phase.BRAKING
    follower.peak, way = 0.0, [follower.position]
    execution.stop(Status.PREEMPTED, 'stopped')
    while (outcome := follower.run(0.02, execution)) is None:
        way.append(follower.position)
    assert outcome.status == Status.PREEMPTED and follower.peak < 3.0 * 1.05
    assert np.diff(way).min() > -1e-6
    assert way[-1] - way[0] < (FASTEST**2 / 6 + 0.3) / scale


@pytest.mark.parametrize('period', [0.1, 0.19, 0.21, 0.25, 0.4])
@pytest.mark.parametrize('stop', [0.3, 0.8, 1.4])
def test_a_stop_where_joint_states_are_seldom(monkeypatch, period, stop):
    """Their mean velocity is that of before: an arm was taken for one that does not follow."""
    arm = Arm(monkeypatch, Trajectories)
    arm.parameters.update(max_tracking_error=0.0)
    follower, every = Follower(arm), round(period / PERIOD)
    execution, way, outcome = arm.go(2.0), [], None
    for k in range(2000):
        for _ in range(round(PERIOD / 1e-3)):
            follower.step()
        if k % every == 0:
            arm.hear(follower.position, follower.velocity)
        if not way and follower.position > stop:
            execution.stop(Status.PREEMPTED, 'stopped')
            follower.peak = 0.0
        if way or execution.phase is Phase.BRAKING:
            way.append(follower.position)
        if outcome := execution.supervise():
            break
    assert outcome and outcome.status == Status.PREEMPTED, outcome
    assert np.diff(way).min() > -1e-6 and follower.peak < 3.0 * 1.05


def test_an_arm_that_comes_by_has_not_arrived(monkeypatch):
    """It goes slowly through the place where it was told to be."""
    arm = Arm(monkeypatch, Trajectories)
    arm.parameters.update(max_tracking_error=0.0, goal_tolerance=0.01)
    follower = Follower(arm, 0.5)
    execution = arm.go(2.5)
    while (outcome := execution.supervise()) is None:
        for _ in range(10):
            follower.step()
        arm.hear(follower.position, follower.velocity * 0.5)
    assert outcome.status == Status.SUCCESS and abs(follower.velocity * 0.5) < 0.05


@pytest.mark.parametrize('told', [-1.0, 0.0, None])
def test_an_arm_that_others_move_does_not_stand(monkeypatch, told):
    """Whatever velocities are told; where it turns it stands for a moment."""
    arm = Arm(monkeypatch, Trajectories)
    arm.told_velocity = told
    for k in range(300):
        arm.now += PERIOD
        x, v = 0.5 + 0.5 * np.sin(1.5 * k * PERIOD), 0.75 * np.cos(1.5 * k * PERIOD)
        arm.hear(x, v)
        assert k < 60 or arm.measured.stood([JOINT]) < 0.5
        assert abs(v) < 0.15 or 'moves at' in arm.measured.moves([JOINT])
    arm.stand(0.6, x)
    assert not arm.measured.moves([JOINT]) and arm.measured.stood([JOINT]) >= 0.5


@pytest.mark.parametrize('stood', [0.5, 3.0])
@pytest.mark.parametrize('after', [0.4, 0.8, 1.2])
def test_a_stuck_arm_is_told_to_stay(monkeypatch, stood, after):
    """It is told to rest where it is, and not where one that moves so fast would come to rest."""
    arm = Arm(monkeypatch, Trajectories)
    arm.parameters.update(max_tracking_error=0.0)
    arm.stand(stood)
    execution, begin, outcome = arm.go(2.0), arm.now, None
    while not outcome and arm.now < begin + 10:
        arm.now += PERIOD
        arm.hear(0.0, arm.controller.commanded(arm.now).velocity[0])
        if execution.phase is not Phase.BRAKING and arm.now > begin + after:
            execution.stop(Status.PREEMPTED, 'stopped')
        outcome = execution.supervise()
    assert outcome and abs(arm.controller.told.points[-1].positions[0]) < 0.01


@pytest.mark.parametrize('factor', [1.0, 0.1, 0.02])
def test_velocities_are_by_stamps(monkeypatch, factor):
    """By a slow simulation's own time, in which the joint moves; by the wall it hardly does."""
    arm, start = Arm(monkeypatch, Trajectories), 100.0
    for k in range(200):
        arm.now += PERIOD / factor
        arm.hear(0.15 * k * PERIOD, 0.0, start + k * PERIOD)
    assert arm.measured.state([JOINT])[1][0] == pytest.approx(0.15)


def test_it_is_not_known_at_first_whether_a_joint_moves(monkeypatch):
    arm = Arm(monkeypatch, Trajectories)
    arm._states._joints.clear()
    for k in range(30):
        arm.stand(PERIOD)
        unknown = 'it is not known whether it moves' in arm.measured.moves([JOINT])
        assert unknown is (k < 11)


@pytest.mark.parametrize('seconds', [3.0, 0.001])
def test_a_simulation_stands_by_its_own_time(monkeypatch, seconds):
    """In which it moves and turns, slow or fast."""
    arm = Arm(monkeypatch, Trajectories)
    arm._states._joints.clear()
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

    def hear(position, velocity):
        arm_hears((position + np.pi) % (2 * np.pi) - np.pi, velocity)
    arm_hears = arm.hear
    monkeypatch.setattr(arm, 'hear', hear)
    arm._states._joints.clear()
    arm._states.set_robot(arm.robot)
    arm.stand(1.3, 3.0)
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


@pytest.mark.parametrize('wait', np.arange(0.0, 0.5, 0.07).tolist())
def test_a_late_stop_of_a_joint_that_never_moved_is_no_step(monkeypatch, wait):
    """The delay of a joint that stands was taken for one of 0.3 s: as if it still braked."""
    arm = Arm(monkeypatch, Trajectories)
    arm.parameters.update(max_tracking_error=0.0, arrival_timeout=9.0)
    follower = Follower(arm, stuck=True)
    execution = arm.go(0.6)
    follower.run(execution.motion.duration + wait, execution)
    sent = arm.controller.told
    execution.stop(Status.CONTROL_FAILED, 'stopped')
    for _ in range(10):
        follower.run(0.1, execution)
        assert arm.controller.told is sent or follower.asked < 3.0 * 1.01


def accelerations(sent, begin=0.0):
    """Give the accelerations of a joint that is at each position for a period, from rest on."""
    speeds = np.concatenate([[begin], np.diff(sent) / PERIOD])
    return np.abs(np.diff(speeds)) / PERIOD


@pytest.mark.parametrize('after', [0.05, 0.4, 0.9, 1.3])
@pytest.mark.parametrize('pause', [0.12, 0.2, 0.5, 2.0])
def test_a_stream_ends_with_a_pause(streamed, after, pause):
    """The joint stands by then, where it was commanded last."""
    execution = streamed.go(2.5)
    streamed.run(after)
    streamed.now += pause
    sent = streamed.sent[-1]
    for _ in range(30):
        streamed.now += PERIOD
        streamed.tick()
        streamed.hear(sent, 0.0)
        if outcome := execution.supervise():
            break
    assert outcome.status == Status.CONTROL_FAILED and streamed.sent[-1] == sent
    assert 'too busy to send commands for' in outcome.message


def test_a_stream_that_is_held_up_often_arrives(streamed):
    """By the jitter of a busy machine; it is not taken for a fault."""
    random = np.random.default_rng(2)
    execution = streamed.go(2.5)
    for _ in range(2000):
        streamed.now += random.choice([0.0, 0.02, 0.05, 0.08], p=[0.9, 0.05, 0.03, 0.02])
        streamed.run(PERIOD)
        if outcome := execution.supervise():
            break
    assert outcome.status == Status.SUCCESS and execution.phase is not Phase.BRAKING
    assert np.abs(np.diff(streamed.sent)).max() < 2.1 * PERIOD * FASTEST


@pytest.mark.parametrize('late', [0.0, 0.01, 0.03])
@pytest.mark.parametrize('stop', np.linspace(0.03, 1.4, 10).tolist())
def test_a_stop_of_a_stream_that_is_late_stays_within_limits(streamed, stop, late):
    """The pipe and the player's period make it so."""
    execution = streamed.go(2.6)
    streamed.run(stop)
    messages, streamed.servo.send = [], lambda message: messages.append(message)
    execution.stop(Status.PREEMPTED, 'stopped')
    streamed.run(late)
    for message in messages:
        streamed.servo.player.take(message)
    streamed.run(2.5)
    assert accelerations(streamed.sent).max() < 3.0 * 1.05
    assert (np.diff(streamed.sent) > -1e-9).all() and streamed.sent[-1] < 2.6 + 1e-6
    assert execution.supervise().status == Status.PREEMPTED


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
            execution.supervise()
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
        if k > 100 and execution.supervise():
            break
    assert np.abs(np.diff(arm.sent)).max() < 1.01 * PERIOD * FASTEST
    assert accelerations(arm.sent)[100:].max() < 3.0 * 1.1 * max(speed, 1.0)
