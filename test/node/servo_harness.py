"""A client of the servo, and limits of the measured motion of the arm."""

from arm_harness import ARM
from geometry_msgs.msg import TwistStamped
from moveit_msgs.msg import ServoStatus as MoveItStatus
from node_harness import descendants, proc_text
import numpy as np
import pinocchio as pin
from state_record import StateRecord

from ros2_ik.core import Robot
from ros2_ik.msg import ServoStatus
from ros2_ik.srv import SwitchServo

TIP = 'panda_hand_tcp'
# scalings of the servo times limits [rad/s, rad/s^2]
MAX_VELOCITY = 0.25 * np.array([2.175] * 4 + [2.61] * 3)
MAX_ACCELERATION = 0.5 * 3.0
VELOCITY_TOLERANCE = 1e-4        # [rad/s]
PERIOD = 0.02                    # of commands [s]
REST_COUNT = 40                  # joint_states messages with equal positions: at rest


class Servo:
    """Client of the servo that publishes commands at 50 Hz and records joint_states."""

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

    def switch_async(self, mode):
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
        return self.record.read()

    def wait_for_rest(self):
        """Wait until REST_COUNT messages have the same positions; return these."""
        return self.record.wait_for_rest(REST_COUNT, 1e-9)

    def reported(self, since, text):
        return [status for status in self.statuses[since:] if text in status.message]

    def assert_limits(self, since=0):
        """Assert limits from message index `since` on; return the positions (k, n)."""
        motion = self.record.motion(since)
        keep = np.concatenate([[True], np.diff(motion.times) > 0.002])
        times, positions = motion.times[keep], motion.positions[keep]
        # a busy mock robot receives setpoints late, or two at once
        assert_velocities(times, positions, 1.1 if self.streams else 1.03)
        assert_accelerations(times, positions, 0.2, 1.5 if self.streams else 1.1)
        model = FRAMES.model
        lower, upper = model.lowerPositionLimit[:7], model.upperPositionLimit[:7]
        assert (lower - 1e-9 <= positions).all() and (positions <= upper + 1e-9).all()
        return positions

    def close(self):
        self.off()
        for subscription in self._subscriptions:
            self.client.node.destroy_subscription(subscription)
        self.record.close()


def mean_velocities(times, positions, seconds):
    """Return the number of messages in `seconds`, and the mean velocities over as many."""
    k = max(int(round(seconds / np.median(np.diff(times)))), 1)
    return k, (positions[k:] - positions[:-k]) / (times[k:] - times[:-k])[:, None]


def assert_velocities(times, positions, factor):
    """Assert that no velocity exceeds `factor` times its limit."""
    speed = np.abs(mean_velocities(times, positions, 0.2)[1])
    assert (speed <= factor * MAX_VELOCITY + VELOCITY_TOLERANCE).all(), speed.max(axis=0)


def assert_accelerations(times, positions, seconds, factor):
    """Assert that no acceleration over spans of `seconds` exceeds `factor` times its limit."""
    k, mean = mean_velocities(times, positions, seconds)
    change = np.abs(mean[k:] - mean[:-k]) / (times[k:-k] - times[:-2 * k])[:, None]
    assert len(change) and (change <= factor * MAX_ACCELERATION).all(), change.max(axis=0)


class Frames:
    """Forward kinematics of the Panda by Pinocchio alone."""

    def __init__(self):
        self.model = pin.buildModelFromXML(Robot.load('panda').urdf)
        self.data = self.model.createData()

    def tip(self, arm):
        """Return the pose of TIP (SE3) at arm positions."""
        q = np.concatenate([arm, np.full(self.model.nq - 7, 0.02)])
        pin.framesForwardKinematics(self.model, self.data, q)
        return self.data.oMf[self.model.getFrameId(TIP)].copy()


FRAMES = Frames()


def processes(name, ancestor):
    """Return the descendants of a process with a name."""
    return [pid for pid in descendants(ancestor) if proc_text(pid, 'comm').strip() == name]


def twist(*values, frame=''):
    message = TwistStamped()
    message.header.frame_id = frame
    linear, angular = message.twist.linear, message.twist.angular
    (linear.x, linear.y, linear.z, angular.x, angular.y, angular.z) = map(float, values)
    return message
