"""
One joint with controller and joint_states in this process, on a clock that tests advance.

Controllers, executions and measured joints are classes of the node; stand-ins replace the ROS
node, the pipe to the servo's process, and the robot.
"""

from collections import deque
from types import SimpleNamespace

import numpy as np
from rclpy.serialization import deserialize_message
from scipy.interpolate import CubicHermiteSpline
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from ros2_ik.core import Robot, Status, straight_motion
from ros2_ik.node.controllers.controller import ControllerContext, motion_limits
from ros2_ik.node.controllers.stream import PositionOutput, Stream
from ros2_ik.node.controllers.trajectory_controller import JointTrajectoryController, seconds_of
from ros2_ik.node.motion.motion_execution import MotionExecution, MotionRequest
from ros2_ik.node.servo.loop import Loop
from ros2_ik.node.servo.player import Player
from ros2_ik.node.state.joint_states import JointStates
from ros2_ik.node.state.motion_clock import MotionClock

JOINT = 'panda_joint1'
MAX_VELOCITY = 2.175          # of JOINT [rad/s]
MAX_ACCELERATION = 3.0        # of JOINT [rad/s^2]
PERIOD = 0.01                 # of joint_states and of streams [s]
CONTROL_PERIOD = 1e-3         # of the robot's controller [s]
SUPERVISION_PERIOD = 0.02     # between two calls of supervise() [s]


class Parameters(dict):
    """Parameters of the node; `limits` has the parameters joint_limits."""

    def __init__(self, **values):
        super().__init__(
            command_period=PERIOD, joint_state_speed=1.5, execute_state_timeout=0.5,
            default_max_velocity=1.0, default_max_acceleration=MAX_ACCELERATION,
            default_max_jerk=60.0, start_tolerance=0.01, goal_tolerance=1e-3, arrival_timeout=2.0,
            max_jump=0.0, acceleration_scaling=1.0, max_tracking_error=0.2, path_resolution=0.01,
            limits={}, **values)

    __getattr__ = dict.__getitem__

    def limit(self, joint, kind):
        return self.limits.get((joint, kind))


class StandInNode:
    """The methods of a ROS node that controllers call; `publish` receives serialized messages."""

    def __init__(self, publish, clock):
        self._publish, self.get_clock = publish, clock
        self.subscribed = {}    # callback by topic

    def create_publisher(self, *_):
        return SimpleNamespace(publish=self._publish, topic_name='c',
                               get_subscription_count=lambda: 2)

    def create_subscription(self, _, topic, callback, *__, **___):
        self.subscribed[topic] = callback
        return SimpleNamespace(topic_name=topic)

    def resolve_topic_name(self, name):
        return name

    def count_publishers(self, topic):
        return 0

    def get_publishers_info_by_topic(self, topic):
        return []

    get_subscriptions_info_by_topic = get_publishers_info_by_topic

    def get_logger(self):
        return SimpleNamespace(warning=lambda *_, **__: True)


class PositionStream(Stream):

    kind, default_topic = 'positions', '{}'

    @property
    def output(self):
        return PositionOutput(self.topic, self.joints, (0,))


class Servo:
    """Stand-in for the servo's process, which plays streams in this process."""

    def __init__(self, node):
        self.receivers, self.player = [], None
        self.context = ControllerContext(node, None, None, None, self, MotionClock(node), None,
                                         connected_at=0.0)

    def call(self, method, number, *arguments):
        if method is Loop.open_player:
            self.player = Player(self.context, self.context.clock, self.context.joint_states,
                                 number, arguments[0], self.report)
        else:
            arguments[0](self.player, *arguments[1:])

    def report(self, message):
        for receive in self.receivers:
            receive(message)


class TrajectoryRecorder(JointTrajectoryController):
    """Trajectory controller that records its last trajectory."""

    kind, default_topic = 'trajectories', '{}'
    last_trajectory = None

    def unavailable_reason(self):
        return ''

    def send_trajectory(self, message):
        self.last_trajectory = message


class Arm:
    """Arm with one joint that follows its controller; `simulated` returns simulated time."""

    def __init__(self, monkeypatch, kind, robot='panda', joint=JOINT, start=0.0):
        self.now, self.simulated = 100.0, None
        monkeypatch.setattr('time.monotonic', lambda: self.now)
        self.robot, self.joint = Robot.load(robot), joint
        self.parameters, self.sent = Parameters(), []
        self.servo = Servo(StandInNode(self._record, self._clock))
        node = self.servo.context.node
        clock = MotionClock(node)
        self.measured = JointStates(node, 'joint_states', self.parameters, clock)
        self.measured.set_robot(self.robot)
        self.context = self.servo.context = ControllerContext(
            node, None, self.parameters, None, self.servo, clock, self.measured, connected_at=0.0)
        self.controller = kind('c', (joint,), '', self.context)
        self.rest(1.3, start)

    def drop_joint_states(self):
        """Drop all joint_states."""
        self.measured._joints.clear()

    def use_simulated_time(self, time):
        """Use simulated time from now on."""
        self.simulated = time
        self.drop_joint_states()

    @property
    def stamp(self):
        """Return the time of the node's clock [s]."""
        return self.simulated() if self.simulated else self.now

    def _clock(self):
        now = round(self.stamp * 1e9)
        return SimpleNamespace(ros_time_is_active=bool(self.simulated),
                               now=lambda: SimpleNamespace(nanoseconds=now))

    def _record(self, data):
        self.sent.append(deserialize_message(data, Float64MultiArray).data[0])

    def rest(self, seconds, position=0.0):
        """Advance time with the joint at rest."""
        for _ in range(round(seconds / PERIOD)):
            self.now += PERIOD
            self.receive(position)
            self.context.clock.now()

    def receive(self, position, stamp=None):
        """Receive joint_states whose velocity is wrong, as from some drivers."""
        message = JointState(name=[self.joint], position=[float(position)], velocity=[-1.0])
        stamp = round((self.stamp if stamp is None else stamp) * 1e9)
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
        self.measured.record(message)

    def start_motion(self, goal, start=0.0):
        """Start a motion; return its execution."""
        execution = MotionExecution(MotionRequest(self.robot, {self.joint: goal}),
                                    [self.controller])
        limits = motion_limits(self.robot, (self.joint,), self.parameters)
        execution.send(straight_motion(self.robot, (self.joint,), [start], [goal], limits), 0.0)
        return execution

    def run(self, seconds, late=0.0):
        """Advance time; the arm follows its commands `late` [s]."""
        for _ in range(round(seconds / PERIOD)):
            self.now += PERIOD
            self.tick()
            # the joint follows the setpoints; commanded() only predicts the braking of a stream
            self.receive(self.sent[-1] if self.sent and self.servo.player and not late else
                         self.controller.commanded(self.context.clock.now() - late).position[0])

    def tick(self):
        """Publish the setpoints that are due."""
        if self.servo.player:
            self.servo.player.tick(PERIOD)

    def trajectory_end(self):
        """Return the end of the last trajectory: position [rad] and time [s]."""
        point = self.controller.last_trajectory.points[-1]
        return point.positions[0], seconds_of(point)


class SimulatedController:
    """
    Trajectory controller with its joint, on its own clock, which is `scale` times as fast.

    A trajectory starts `command_delay` [s] after it was sent, at the state of the joint, as
    cubic polynomials. joint_states arrive `late` [s]; the fraction `drop_rate` is dropped.
    `measured`: start at the measured velocity, like a controller with a speed slider.
    `wrapped`: joint_states have angles within one turn.
    """

    def __init__(self, arm, scale=1.0, *, measured=False, wrapped=False, command_delay=0.0,
                 late=0.0, drop_rate=0.0, random=None, state_period=PERIOD, position=0.0):
        self.arm, self.scale, self.measured = arm, scale, measured
        self.wrapped, self.command_delay = wrapped, command_delay
        self.late, self.state_period = late, state_period
        self.drop_rate, self.random = drop_rate, random or np.random.default_rng(0)
        self.time, self.position, self.velocity = 0.0, position, 0.0   # on its own clock
        self.peak_acceleration = self.peak_speed = 0.0    # since a test reset them
        self.spline, self.start_time, self.messages = None, 0.0, []
        self.received = arm.controller.last_trajectory
        self._pending_commands, self._pending_states, self._next_state_time = deque(), deque(), 0.0

    def step(self):
        """Advance by one control period."""
        if self.arm.controller.last_trajectory is not self.received:
            self.received = self.arm.controller.last_trajectory
            self._pending_commands.append((self.arm.now + self.command_delay, self.received))
        self.arm.now += CONTROL_PERIOD
        self.time += CONTROL_PERIOD * self.scale
        while self._pending_commands and self._pending_commands[0][0] <= self.arm.now:
            self._start_trajectory(self._pending_commands.popleft()[1])
        if self.spline:
            t = min(self.time - self.start_time, self.spline.x[-1])
            self.position, self.velocity, acceleration = (
                float(self.spline(t, k)) for k in range(3))
            self.peak_acceleration = max(self.peak_acceleration, abs(acceleration) * self.scale**2)
            self.peak_speed = max(self.peak_speed, abs(self.velocity) * self.scale)

    def _start_trajectory(self, message):
        velocity = self.velocity * (self.scale if self.measured else 1)
        self.spline = CubicHermiteSpline(
            [0.0, *map(seconds_of, message.points)],
            [self.position, *(point.positions[0] for point in message.points)],
            [velocity, *(point.velocities[0] for point in message.points)])
        self.start_time = self.time
        self.messages.append(message)

    def run(self, seconds, execution=None):
        """Advance, publish joint_states and supervise an execution; return its outcome."""
        for k in range(round(seconds / CONTROL_PERIOD)):
            self.step()
            self._publish_states()
            is_due = k % round(SUPERVISION_PERIOD / CONTROL_PERIOD) == 0
            if execution and is_due and (outcome := execution.supervise()):
                return outcome
        return None

    def _publish_states(self):
        now = self.time if self.arm.simulated else self.arm.now    # a paused simulation is silent
        if now >= self._next_state_time:
            self._next_state_time = now + self.state_period
            wrapped = np.remainder(self.position + np.pi, 2 * np.pi) - np.pi
            self._pending_states.append((self.arm.now, self.arm.stamp,
                                         wrapped if self.wrapped else self.position))
        while self._pending_states and self._pending_states[0][0] <= self.arm.now - self.late:
            _, stamp, position = self._pending_states.popleft()
            if self.random.random() >= self.drop_rate:
                self.arm.receive(position, stamp)

    def stop(self, execution, seconds=20.0):
        """Stop an execution; return its outcome and the positions until then."""
        assert not execution.reason
        self.peak_acceleration = self.peak_speed = 0.0
        execution.stop(Status.PREEMPTED, 'stopped')
        positions, outcome = [self.position], None
        while outcome is None and len(positions) < seconds / SUPERVISION_PERIOD:
            outcome = self.run(SUPERVISION_PERIOD, execution)
            positions.append(self.position)
        return outcome, np.array(positions)
