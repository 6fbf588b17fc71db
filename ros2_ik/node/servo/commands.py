"""Commands of clients: read, checked, and put into the robot's root frame."""

from collections.abc import Callable
import math
import time

from control_msgs.msg import JointJog
from geometry_msgs.msg import PoseStamped, TwistStamped
import numpy as np
import pinocchio as pin

from ros2_ik.core import Array, Configuration, Robot
from ros2_ik.messages.frames import Lookup, Reference, reference
from ros2_ik.messages.poses import read_pose
from ros2_ik.messages.request_error import wrong
from ros2_ik.node.servo.follower import Command, Follower
from ros2_ik.node.servo.messages import AskFrame, TakeFrame

ASK_AGAIN = 0.3     # period of asking the node for a frame that commands still name [s]
FRESH = 0.1         # time for which its answer counts [s]
LARGEST = 1e100     # of the numbers of a twist: larger ones have no length in floats


class FrameAwaited(Exception):
    """The node has been asked for a frame of TF, and has not answered yet."""


class ForeignFrames:
    """
    Frames of TF, as the node sends them all the time once it was asked.

    TF is not received in this process: its messages would take the time of steps.
    """

    def __init__(self, ask: Callable[[AskFrame], None]) -> None:
        self._ask = ask
        self._asked: dict[str, float] = {}    # when, last [s]
        self._known: dict[str, tuple[Reference | LookupError, float]] = {}

    def take(self, answer: TakeFrame) -> None:
        """Take what the node has found."""
        self._known[answer.frame] = answer.found, time.monotonic()

    def find(self, _: Robot, frame: str) -> Reference:
        """Return a frame; raises LookupError with TF's reason, or FrameAwaited."""
        now = time.monotonic()
        if now > self._asked.get(frame, -math.inf) + ASK_AGAIN:
            self._forget(now)
            self._asked[frame] = now
            self._ask(AskFrame(frame))
        found, came = self._known.get(frame, (None, -math.inf))
        if found is None or now > came + FRESH:
            raise FrameAwaited
        if isinstance(found, LookupError):
            raise found.with_traceback(None)
        return found

    def _forget(self, now: float) -> None:
        """Drop frames that commands no longer name."""
        self._asked = {name: at for name, at in self._asked.items() if now < at + ASK_AGAIN}
        self._known = {name: one for name, one in self._known.items() if now < one[1] + FRESH}


class Commands:
    """
    Readers of messages by mode; `now` is the time of the node's clock [s].

    `lookup` finds frames that are not the robot's.
    """

    def __init__(self, timeout: Callable[[], float], now: Callable[[], float],
                 lookup: Lookup) -> None:
        self._timeout, self._now, self._lookup = timeout, now, lookup

    def read(self, message: PoseStamped | TwistStamped | JointJog, follower: Follower) -> Command:
        """
        Read a message of the follower's mode that has just come.

        Raises RequestError for what makes no sense, FrameAwaited while its frame is asked for.
        """
        mode = follower.begin.mode
        frame = None if mode == 'joint' else _frame(message, follower, self._lookup)
        value = {'pose': _pose, 'twist': _twist, 'joint': _joints}[mode](message, follower, frame)
        now, stamp = self._now(), message.header.stamp
        sent = stamp.sec + stamp.nanosec * 1e-9
        age = now - sent if sent else 0.0
        if age >= self._timeout():
            raise wrong(f'a command is {age:.3g} s old; parameter servo_command_timeout allows '
                        f'{self._timeout():g} s')
        if age < -self._timeout():
            raise wrong(f'a command is stamped {-age:.3g} s ahead of the clock here')
        return Command(value, now + self._timeout() - age)


MESSAGES = {'pose': ('target', PoseStamped), 'twist': ('twist', TwistStamped),
            'joint': ('joint_jog', JointJog)}


def _pose(message: PoseStamped, _: Follower, frame: pin.SE3 | None) -> Array:
    place = read_pose(message.pose, 'the target')
    pose: Array = (place if frame is None else frame * place).homogeneous
    return pose


def _twist(message: TwistStamped, follower: Follower, frame: pin.SE3 | None) -> Array:
    twist = message.twist
    values = np.array([twist.linear.x, twist.linear.y, twist.linear.z,
                       twist.angular.x, twist.angular.y, twist.angular.z])
    if not np.isfinite(values).all():
        raise wrong(f'the twist holds a number that is not finite: {values.tolist()}')
    if frame is not None:
        values = np.concatenate([frame.rotation @ values[:3], frame.rotation @ values[3:]])
    parameters = follower.begin.parameters
    # not by squares, nor of the largest numbers, which may be too large for numbers
    values = np.clip(values, -LARGEST, LARGEST)
    faster = max(math.hypot(*values[:3]) / parameters['servo_linear_velocity'],
                 math.hypot(*values[3:]) / parameters['servo_angular_velocity'], 1.0)
    slowed: Array = values / faster
    return slowed


def _joints(message: JointJog, follower: Follower, _: object) -> Array:
    names, velocities = list(message.joint_names), list(message.velocities)
    if len(message.displacements):
        raise wrong('displacements of joints are not supported; valid: velocities')
    if len(names) != len(velocities):
        raise wrong(f'the jog has {len(names)} names and {len(velocities)} velocities')
    joints, values = follower.begin.joints, np.zeros(len(follower.begin.joints))
    for name, velocity in zip(names, velocities, strict=True):
        if name not in joints:
            raise wrong(f"joint '{name}' is not moved by the servo; valid: {', '.join(joints)}")
        if names.count(name) > 1:
            raise wrong(f"joint '{name}' is named {names.count(name)} times; valid: once")
        if not math.isfinite(velocity):
            raise wrong(f"the velocity of joint '{name}' is {velocity}")
        values[joints.index(name)] = velocity
    return values


def _frame(message: PoseStamped | TwistStamped, follower: Follower,
           lookup: Lookup) -> pin.SE3 | None:
    """Return where a message's frame is now in the root frame, None for that itself."""
    robot, frame_id = follower.robot, message.header.frame_id
    found = reference(robot, follower.scene, frame_id, lookup)
    return found.placement(Configuration(robot, follower.q))
