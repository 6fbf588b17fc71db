"""
A joint, its controller and joint_states in one process, on a clock that tests advance.

Controllers, executions and measured joints are the classes of the node; stand-ins replace the
ROS node, the pipe to the servo's process, and the robot.
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
FASTEST, LIMIT = 2.175, 3.0   # of JOINT: velocity [rad/s], acceleration [rad/s^2]
PERIOD = 0.01                 # of joint_states and of streams [s]
CYCLE = 1e-3                  # of the robot's controller [s]
LOOK = 0.02                   # between two looks at an execution [s]


class Values(dict):
    """Parameters with their usual values; `limits` has those of joint_limits."""

    def __init__(self, **values):
        super().__init__(
            command_period=PERIOD, joint_state_speed=1.5, execute_state_timeout=0.5,
            default_max_velocity=1.0,
            default_max_acceleration=LIMIT, default_max_jerk=60.0, start_tolerance=0.01,
            goal_tolerance=1e-3, arrival_timeout=2.0, max_jump=0.0, acceleration_scaling=1.0,
            max_tracking_error=0.2, path_resolution=0.01, limits={}, **values)

    __getattr__ = dict.__getitem__

    def limit(self, joint, kind):
        return self.limits.get((joint, kind))


class StandInNode:
    """The methods of a ROS node that are called; `publish` receives serialized messages."""

    def __init__(self, publish, clock):
        self._publish, self.get_clock = publish, clock
        self.subscribed = {}    # callbacks by topic

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


class Positions(Stream):
    """Stream of positions."""

    kind, default_topic = 'positions', '{}'

    @property
    def output(self):
        return PositionOutput(self.topic, self.joints, (0,))


class Servo:
    """The servo's process, in this process."""

    def __init__(self, node):
        self.receivers, self.player = [], None
        self.context = ControllerContext(node, None, None, None, self, MotionClock(node), None)

    def call(self, method, number, *arguments):
        if method is Loop.open_player:
            self.player = Player(self.context, self.context.clock, number, arguments[0], self.say)
        else:
            arguments[0](self.player, *arguments[1:])

    def say(self, message):
        for receive in self.receivers:
            receive(message)


class Trajectories(JointTrajectoryController):
    """Controller that keeps its last trajectory."""

    kind, default_topic = 'trajectories', '{}'
    told = None

    def unavailable_reason(self):
        return ''

    def send_trajectory(self, message):
        self.told = message


class Arm:
    """A joint that follows its controller; `simulated` returns simulated time."""

    def __init__(self, monkeypatch, kind, robot='panda', joint=JOINT, start=0.0):
        self.now, self.simulated = 100.0, None
        monkeypatch.setattr('time.monotonic', lambda: self.now)
        self.robot, self.joint, self.parameters, self.sent = (Robot.load(robot), joint, Values(),
                                                              [])
        self.servo = Servo(StandInNode(self._take, self._clock))
        node = self.servo.context.node
        clock = MotionClock(node)
        self.measured = JointStates(node, 'joint_states', self.parameters, clock)
        self.measured.set_robot(self.robot)
        self.context = ControllerContext(node, None, self.parameters, None, self.servo, clock,
                                         self.measured)
        self.controller = kind('c', (joint,), '', self.context)
        self.stand(1.3, start)

    def forget(self):
        """Drop all joint_states."""
        self.measured._joints.clear()

    def simulate(self, time):
        """Use simulated time from now on."""
        self.simulated = time
        self.forget()

    @property
    def stamp(self):
        """Return the time of the node's clock [s]."""
        return self.simulated() if self.simulated else self.now

    def _clock(self):
        now = round(self.stamp * 1e9)
        return SimpleNamespace(ros_time_is_active=bool(self.simulated),
                               now=lambda: SimpleNamespace(nanoseconds=now))

    def _take(self, data):
        self.sent.append(deserialize_message(data, Float64MultiArray).data[0])

    def stand(self, seconds, position=0.0):
        for _ in range(round(seconds / PERIOD)):
            self.now += PERIOD
            self.hear(position)
            self.context.now()

    def hear(self, position, stamp=None):
        """Receive joint_states; their velocity is wrong, as with some drivers."""
        message = JointState(name=[self.joint], position=[float(position)], velocity=[-1.0])
        stamp = round((self.stamp if stamp is None else stamp) * 1e9)
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 10**9)
        self.measured.record(message)

    def go(self, goal, start=0.0):
        """Start a motion."""
        execution = MotionExecution(MotionRequest(self.robot, {self.joint: goal}),
                                    [self.controller])
        limits = motion_limits(self.robot, (self.joint,), self.parameters)
        execution.send(straight_motion(self.robot, (self.joint,), [start], [goal], limits), 0.0)
        return execution

    def run(self, seconds, late=0.0):
        """Advance time; the arm is `late` [s]."""
        for _ in range(round(seconds / PERIOD)):
            self.now += PERIOD
            self.tick()
            # a stream is followed as it is; the node only predicts where it brakes
            self.hear(self.sent[-1] if self.sent and self.servo.player and not late else
                      self.controller.commanded(self.context.now() - late).position[0])

    def tick(self):
        """Publish the setpoints that are due."""
        if self.servo.player:
            self.servo.player.tick(PERIOD)

    def end(self):
        """Return the end of the last trajectory: position [rad] and time [s]."""
        point = self.controller.told.points[-1]
        return point.positions[0], seconds_of(point)


class Follower:
    """
    Trajectory controller with a clock of its own, `scale` times as fast, and its joint.

    It starts a trajectory `hears` [s] after it was sent, from the state of the joint, by cubic
    polynomials. joint_states arrive `late` [s], and a part of them is `lost`.
    `measured`: it starts at the measured velocity instead of its own, like a speed slider.
    `wrapped`: joint_states have angles within one turn.
    """

    def __init__(self, arm, scale=1.0, *, measured=False, wrapped=False, hears=0.0,
                 late=0.0, lost=0.0, random=None, every=PERIOD, position=0.0):
        self.arm, self.scale, self.measured = arm, scale, measured
        self.wrapped, self.hears, self.late, self.every = wrapped, hears, late, every
        self.lost, self.random = lost, random or np.random.default_rng(0)
        self.time, self.position, self.velocity = 0.0, position, 0.0   # per its own second
        self.peak = self.speed = 0.0    # largest acceleration and speed since they were set to 0
        self.way, self.begun, self.seen, self.messages = None, 0.0, arm.controller.told, []
        self._sent, self._told, self._next = deque(), deque(), 0.0

    def step(self):
        """Advance by one cycle."""
        if self.arm.controller.told is not self.seen:
            self.seen = self.arm.controller.told
            self._sent.append((self.arm.now + self.hears, self.seen))
        self.arm.now += CYCLE
        self.time += CYCLE * self.scale
        while self._sent and self._sent[0][0] <= self.arm.now:
            self._take(self._sent.popleft()[1])
        if self.way:
            at = min(self.time - self.begun, self.way.x[-1])
            self.position, self.velocity, change = (float(self.way(at, k)) for k in range(3))
            self.peak = max(self.peak, abs(change) * self.scale**2)
            self.speed = max(self.speed, abs(self.velocity) * self.scale)

    def _take(self, message):
        velocity = self.velocity * (self.scale if self.measured else 1)
        self.way = CubicHermiteSpline(
            [0.0, *map(seconds_of, message.points)],
            [self.position, *(point.positions[0] for point in message.points)],
            [velocity, *(point.velocities[0] for point in message.points)])
        self.begun = self.time
        self.messages.append(message)

    def run(self, seconds, execution=None):
        """Advance, publish joint_states and supervise an execution; return its outcome."""
        for k in range(round(seconds / CYCLE)):
            self.step()
            self._tell()
            if execution and k % round(LOOK / CYCLE) == 0 and (outcome := execution.supervise()):
                return outcome
        return None

    def _tell(self):
        own = self.time if self.arm.simulated else self.arm.now    # a paused one tells nothing
        if own >= self._next:
            self._next = own + self.every
            place = np.remainder(self.position + np.pi, 2 * np.pi) - np.pi
            self._told.append((self.arm.now, self.arm.stamp,
                               place if self.wrapped else self.position))
        while self._told and self._told[0][0] <= self.arm.now - self.late:
            _, stamp, position = self._told.popleft()
            if self.random.random() >= self.lost:
                self.arm.hear(position, stamp)

    def stopped(self, execution, seconds=20.0):
        """Stop an execution; return its outcome and the positions meanwhile."""
        assert not execution.reason
        self.peak = self.speed = 0.0
        execution.stop(Status.PREEMPTED, 'stopped')
        way, outcome = [self.position], None
        while outcome is None and len(way) < seconds / LOOK:
            outcome = self.run(LOOK, execution)
            way.append(self.position)
        return outcome, np.array(way)
