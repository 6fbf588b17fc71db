"""A client of the servo, and judges of the motion of the arm."""

from arm_harness import ARM
from geometry_msgs.msg import TwistStamped
from moveit_msgs.msg import ServoStatus as MoveItStatus
from node_harness import family, proc_text
import numpy as np
import pinocchio as pin
from state_record import StateRecord

from ros2_ik.core import Robot
from ros2_ik.msg import ServoStatus
from ros2_ik.srv import SwitchServo

TIP = 'panda_hand_tcp'
FASTEST = 0.25 * np.array([2.175] * 4 + [2.61] * 3)    # servo_velocity_scaling of the URDF's
ACCELERATION = 0.5 * 3.0                               # of default_max_acceleration
HAIR = 1e-4
PERIOD = 0.02      # of commands [s]
REST = 40          # messages of joint_states that show the same: the arm stands


class Servo:
    """Client that publishes a command 50 times a second."""

    def __init__(self, client, arm, streams):
        self.client, self.arm, self.streams = client, arm, streams
        self.statuses, self.moveit_statuses = [], []
        self._subscriptions = [
            client.node.create_subscription(kind, f'ros2_ik/servo/{topic}', into.append, 100)
            for kind, topic, into in ((ServoStatus, 'status', self.statuses),
                                      (MoveItStatus, 'moveit_status', self.moveit_statuses))]
        self.record = StateRecord(client.node, ARM)

    def switch(self, mode, **fields):
        return self.client.call(SwitchServo, 'ros2_ik/servo/switch',
                                SwitchServo.Request(mode=mode, **fields), 30)

    def switch_later(self, mode):
        """Switch the servo without waiting; return the future."""
        return self.client.service(SwitchServo, 'ros2_ik/servo/switch').call_async(
            SwitchServo.Request(mode=mode))

    def on(self, mode, **fields):
        answer = self.switch(mode, **fields)
        assert answer.success, answer.message
        return answer

    def off(self):
        answer = self.switch('off')
        assert answer.success, answer.message

    def commanding(self, topic, message):
        """Publish a command each PERIOD until the block ends."""
        return self.client.publishing(f'ros2_ik/servo/{topic}', message, PERIOD, stamped=True)

    def q(self):
        """Return the arm positions of the next message."""
        return self.record.at()

    def rest(self):
        """Wait until REST messages show the same positions; return the positions."""
        return self.record.still(REST, 1e-9)

    def said(self, since, text):
        return [one for one in self.statuses[since:] if text in one.message]

    def judge(self, since=0):
        """Judge limits from message number `since` on; return the positions (k, n)."""
        way = self.record.way(since)
        keep = np.concatenate([[True], np.diff(way.times) > 0.002])
        times, at = way.times[keep], way.positions[keep]
        # what is streamed reaches a busy arm now late, now two at once
        judge_speeds(times, at, 1.1 if self.streams else 1.03)
        judge_accelerations(times, at, 0.2, 1.5 if self.streams else 1.1)
        model = FRAMES.model
        lower, upper = model.lowerPositionLimit[:7], model.upperPositionLimit[:7]
        assert (at >= lower - 1e-9).all() and (at <= upper + 1e-9).all()
        return at

    def close(self):
        self.off()
        for subscription in self._subscriptions:
            self.client.node.destroy_subscription(subscription)
        self.record.close()


def means(times, at, seconds):
    """Return the mean velocities over spans of `seconds`, in which short cycles average out."""
    k = max(int(round(seconds / np.median(np.diff(times)))), 1)
    return k, (at[k:] - at[:-k]) / (times[k:] - times[:-k])[:, None]


def judge_speeds(times, at, more):
    """Assert that no velocity exceeds `more` times its limit."""
    _, mean = means(times, at, 0.2)
    assert (np.abs(mean) <= more * FASTEST + HAIR).all(), np.abs(mean).max(axis=0)


def judge_accelerations(times, at, seconds, harder):
    """Assert that no acceleration between spans exceeds `harder` times its limit."""
    k, mean = means(times, at, seconds)
    change = np.abs(mean[k:] - mean[:-k]) / (times[k:-k] - times[:-2 * k])[:, None]
    assert len(change) and (change <= harder * ACCELERATION).all(), change.max(axis=0)


class Frames:
    """Forward kinematics of the Panda by Pinocchio alone."""

    def __init__(self):
        self.model = pin.buildModelFromXML(Robot.load('panda').urdf)
        self.data = self.model.createData()

    def tip(self, arm):
        q = np.concatenate([arm, np.full(self.model.nq - 7, 0.02)])
        pin.framesForwardKinematics(self.model, self.data, q)
        return self.data.oMf[self.model.getFrameId(TIP)].copy()


FRAMES = Frames()


def processes(name, ancestor):
    """Return the descendants of a process that have this name."""
    return [pid for pid in family(ancestor) if proc_text(pid, 'comm').strip() == name]


def twist(*values, frame=''):
    message = TwistStamped()
    message.header.frame_id = frame
    linear, angular = message.twist.linear, message.twist.angular
    (linear.x, linear.y, linear.z, angular.x, angular.y, angular.z) = map(float, values)
    return message
