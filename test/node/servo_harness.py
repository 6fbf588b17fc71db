"""A client of the servo, and who judges what the arm does."""

from contextlib import contextmanager
from pathlib import Path

from arm_harness import ARM
from geometry_msgs.msg import PoseStamped, TwistStamped
from motion_judge import StateRecord
from moveit_msgs.msg import ServoStatus as MoveItStatus
from node_harness import eventually, repeating
import numpy as np
import pinocchio as pin
from rclpy.qos import QoSProfile
from scipy.spatial import KDTree
from std_msgs.msg import Float64MultiArray

from ros2_ik.core import Robot
from ros2_ik.msg import ServoStatus
from ros2_ik.srv import SwitchServo

TIP = 'panda_hand_tcp'
FASTEST = 0.25 * np.array([2.175] * 4 + [2.61] * 3)    # servo_velocity_scaling of the URDF's
ACCELERATION = 0.5 * 3.0                               # of default_max_acceleration
HAIR = 1e-4
PERIOD = 0.02      # of commands [s]
REST = 40          # messages of joint_states that show the same: the arm stands
HELD_UP = 0.02     # no stream comes from a process that waits for so long for the processor [s]


class Servo:
    """A client: commands come 50 times a second until they are ended."""

    def __init__(self, client, arm, streams):
        self.client, self.arm, self.streams = client, arm, streams
        self.statuses, self.moveit_statuses = [], []
        self._subscriptions = [
            client.node.create_subscription(kind, f'ros2_ik/servo/{topic}', into.append, 100)
            for kind, topic, into in ((ServoStatus, 'status', self.statuses),
                                      (MoveItStatus, 'moveit_status', self.moveit_statuses))]
        self.record = StateRecord(client.node, ARM)
        self._sent = []     # what is streamed: when [s], and positions
        self._stream = client.node.create_subscription(
            Float64MultiArray, 'arm_position_controller/commands', self._take_sent,
            QoSProfile(depth=5000))

    def _take_sent(self, message, info):
        self._sent.append((info['source_timestamp'] * 1e-9, list(message.data)))

    def switch(self, mode, **fields):
        return self.client.call(SwitchServo, 'ros2_ik/servo/switch',
                                SwitchServo.Request(mode=mode, **fields), 30)

    def switch_later(self, mode):
        """Switch without waiting; gives the future."""
        return self.client.service(SwitchServo, 'ros2_ik/servo/switch').call_async(
            SwitchServo.Request(mode=mode))

    def on(self, mode, **fields):
        answer = self.switch(mode, **fields)
        assert answer.success, answer.message
        return answer

    def off(self):
        answer = self.switch('off')
        assert answer.success, answer.message

    @contextmanager
    def commanding(self, topic, message, stamped=True):
        """Command all the time."""
        publisher = self.client.node.create_publisher(type(message), f'ros2_ik/servo/{topic}', 1)
        eventually(lambda: publisher.get_subscription_count(), f'{topic} is heard')

        def send():
            if stamped:
                message.header.stamp = self.client.node.get_clock().now().to_msg()
            publisher.publish(message)
        try:
            with repeating(send, PERIOD):
                yield
        finally:
            self.client.node.destroy_publisher(publisher)

    def q(self):
        """Where the arm is, when something has yet to come."""
        count = len(self.record)
        eventually(lambda: len(self.record) > count + 1, 'joint_states')
        return self.record.way().positions[-1]

    def rest(self):
        """Wait until it stands, for so many messages from now on; gives where."""
        count = len(self.record)
        eventually(lambda: len(self.record) > count + REST and np.ptp(
            self.record.way(-REST).positions, axis=0).max() < 1e-9, 'rest')
        return self.record.way(-1).positions[-1]

    def said(self, since, text):
        return [one for one in self.statuses[since:] if text in one.message]

    def judge(self, since=0, obeys=True):
        """
        Judge all that joint_states said from a count of messages on.

        What is streamed has no time of its own, and reaches a busy arm now late, now at once: its
        speed is judged by when it was sent, and that the arm, where it obeys, was nowhere else.
        """
        way = self.record.way(since)
        keep = np.concatenate([[True], np.diff(way.times) > 0.002])
        times, at = way.times[keep], way.positions[keep]
        if self.streams and obeys:
            times, sent = self._judge_stream(times[0], at)
            judge_speeds(times, sent, 1.1)
            # each step is one of its period; but an arm that nothing is sent stands
            period = np.median(np.diff(times))
            ends = np.flatnonzero(np.diff(times) > max(HELD_UP, 2.5 * period)) + 1
            assert sum(judge_accelerations(period * np.arange(len(part)), part, 0.1, 1.5)
                       for part in np.split(sent, ends))
        else:
            judge_speeds(times, at, 1.1 if self.streams else 1.03)
            assert judge_accelerations(times, at, 0.2, 1.5 if self.streams else 1.1)
        model = FRAMES.model
        lower, upper = model.lowerPositionLimit[:7], model.upperPositionLimit[:7]
        assert (at >= lower - 1e-9).all() and (at <= upper + 1e-9).all()
        return at

    def _judge_stream(self, begin, at):
        """Judge where the arm was by what was sent since then, which is returned."""
        times, sent = (np.array(column) for column in zip(
            *(one for one in self._sent if one[0] >= begin), strict=True))
        away, _ = KDTree(np.vstack([at[:1], sent])).query(at)
        assert away.max() < 1e-9, away.max()
        return times, sent

    def close(self):
        self.off()
        for subscription in (*self._subscriptions, self._stream):
            self.client.node.destroy_subscription(subscription)
        self.record.close()


def means(times, at, seconds):
    """Return mean speeds over so many seconds, in which cycles that are cut short do not count."""
    k = max(int(round(seconds / np.median(np.diff(times)))), 1)
    return k, (at[k:] - at[:-k]) / (times[k:] - times[:-k])[:, None]


def judge_speeds(times, at, more):
    """Judge that no speed was more than so many times what is allowed."""
    _, mean = means(times, at, 0.2)
    assert (np.abs(mean) <= more * FASTEST + HAIR).all(), np.abs(mean).max(axis=0)


def judge_accelerations(times, at, seconds, harder):
    """Judge the same of accelerations between spans of so many seconds; returns of how many."""
    if len(times) < 2:
        return 0
    k, mean = means(times, at, seconds)
    change = np.abs(mean[k:] - mean[:-k]) / (times[k:-k] - times[:-2 * k])[:, None]
    assert (change <= harder * ACCELERATION).all(), change.max(axis=0)
    return len(change)


class Frames:
    """Forward kinematics of the panda by pinocchio alone."""

    def __init__(self):
        self.model = pin.buildModelFromXML(Robot.load('panda').urdf)
        self.data = self.model.createData()

    def tip(self, arm):
        q = np.concatenate([arm, np.full(self.model.nq - 7, 0.02)])
        pin.framesForwardKinematics(self.model, self.data, q)
        return self.data.oMf[self.model.getFrameId(TIP)].copy()


FRAMES = Frames()


def processes(name, ancestor):
    """Give the numbers of the processes below another one that call themselves so."""
    def is_below(pid):
        while pid > 1 and pid != ancestor:
            pid = int(Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[1])
        return pid == ancestor
    return [int(path.parent.name) for path in Path('/proc').glob('[0-9]*/comm')
            if path.read_text(errors='replace').strip() == name
            and is_below(int(path.parent.name))]


def twist(*values, frame=''):
    message = TwistStamped()
    message.header.frame_id = frame
    linear, angular = message.twist.linear, message.twist.angular
    (linear.x, linear.y, linear.z, angular.x, angular.y, angular.z) = map(float, values)
    return message


def target(T, frame=''):
    message = PoseStamped()
    message.header.frame_id = frame
    position, turn = message.pose.position, message.pose.orientation
    (position.x, position.y, position.z, turn.x, turn.y, turn.z, turn.w) = pin.SE3ToXYZQUAT(
        T).tolist()
    return message
