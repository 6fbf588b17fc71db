"""Parsing of servo commands: checks, and transformation to the robot's root frame."""

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

REQUEST_PERIOD = 0.3    # between two requests to the node for a frame that commands use [s]
MAX_AGE = 0.1           # of a frame's pose from the node [s]
# bound on the components of a twist; the norm of larger ones overflows a float
MAX_COMPONENT = 1e100


class FrameAwaited(Exception):
    """A frame of TF was requested from the node, which has not answered yet."""


class ForeignFrames:
    """
    Poses of TF frames, which the node sends repeatedly after a request.

    This process does not subscribe to TF, since its messages would delay steps of the servo.
    """

    def __init__(self, ask: Callable[[AskFrame], None]) -> None:
        self._ask = ask
        self._requested_at: dict[str, float] = {}    # steady clock [s], by frame
        # pose or error, and time of receipt (steady clock [s]), by frame
        self._known: dict[str, tuple[Reference | LookupError, float]] = {}

    def take(self, answer: TakeFrame) -> None:
        """Store a pose, or an error, sent by the node."""
        self._known[answer.frame] = answer.found, time.monotonic()

    def find(self, _: Robot, frame: str) -> Reference:
        """Return the pose of a frame; raises LookupError with TF's reason, or FrameAwaited."""
        now = time.monotonic()
        if now > self._requested_at.get(frame, -math.inf) + REQUEST_PERIOD:
            self._drop_unused(now)
            self._requested_at[frame] = now
            self._ask(AskFrame(frame))
        found, received_at = self._known.get(frame, (None, -math.inf))
        if found is None or now > received_at + MAX_AGE:
            raise FrameAwaited
        if isinstance(found, LookupError):
            raise found.with_traceback(None)
        return found

    def _drop_unused(self, now: float) -> None:
        """Drop frames that commands no longer name."""
        self._requested_at = {name: at for name, at in self._requested_at.items()
                              if now < at + REQUEST_PERIOD}
        self._known = {name: one for name, one in self._known.items() if now < one[1] + MAX_AGE}


class Commands:
    """
    Parser of command messages in all modes.

    `timeout` returns the maximum age of a command [s], `now` the time of the node's clock [s],
    `lookup` the poses of TF frames.
    """

    def __init__(self, timeout: Callable[[], float], now: Callable[[], float],
                 lookup: Lookup) -> None:
        self._timeout, self._now, self._lookup = timeout, now, lookup

    def read(self, message: PoseStamped | TwistStamped | JointJog, follower: Follower) -> Command:
        """
        Parse a message of the follower's mode that was just received.

        Raises RequestError for an invalid or stale command, FrameAwaited while the pose of its
        frame is unknown.
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
            raise wrong(f"a command is stamped {-age:.3g} s ahead of the node's clock")
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
        raise wrong(f'the twist has a number that is not finite: {values.tolist()}')
    if frame is not None:
        values = np.concatenate([frame.rotation @ values[:3], frame.rotation @ values[3:]])
    parameters = follower.begin.parameters
    # scale linear and angular part alike to their limits; hypot does not overflow, unlike squares
    values = np.clip(values, -MAX_COMPONENT, MAX_COMPONENT)
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
    # a limit of 0 excludes joints of the controllers that are outside of the group
    moved = [name for name, limit in zip(joints, follower.begin.velocity, strict=True) if limit]
    for name, velocity in zip(names, velocities, strict=True):
        if name not in moved:
            raise wrong(f"joint '{name}' is not moved by the servo; valid: {', '.join(moved)}")
        if names.count(name) > 1:
            raise wrong(f"joint '{name}' is named {names.count(name)} times; valid: once")
        if not math.isfinite(velocity):
            raise wrong(f"the velocity of joint '{name}' is {velocity}")
        values[joints.index(name)] = velocity
    return values


def _frame(message: PoseStamped | TwistStamped, follower: Follower,
           lookup: Lookup) -> pin.SE3 | None:
    """Return the current pose of a message's frame in the root frame, None for the root frame."""
    robot, frame_id = follower.robot, message.header.frame_id
    found = reference(robot, follower.scene, frame_id, lookup)
    return found.placement(Configuration(robot, follower.q))
