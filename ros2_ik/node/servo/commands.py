"""Parsing of servo commands: checks, and transformation to the robot's root frame."""

import math

from control_msgs.msg import JointJog
from geometry_msgs.msg import PoseStamped, TwistStamped
import numpy as np
import pinocchio as pin

from ros2_ik.core import Array, Configuration
from ros2_ik.messages.frames import reference, without_tf
from ros2_ik.messages.poses import read_pose
from ros2_ik.messages.request_error import invalid
from ros2_ik.node.servo.follower import Command, Follower
from ros2_ik.node.state.motion_clock import MotionClock, nanoseconds

# maximum in a JointJog: squares of larger velocities overflow, which would stop the arm abruptly
MAX_VELOCITY = 1e150    # [rad/s, m/s]
COMMAND_TOPICS = {'pose': ('target', PoseStamped), 'twist': ('twist', TwistStamped),
                  'joint': ('joint_jog', JointJog)}


def read_command(message: PoseStamped | TwistStamped | JointJog, follower: Follower,
                 clock: MotionClock) -> Command:
    """
    Parse a message of the follower's mode.

    Raises RequestError for an invalid or stale command.
    """
    mode, timeout = follower.request.mode, follower.request.parameters.servo_command_timeout
    value, scale = {'pose': _pose, 'twist': _twist, 'joint': _joints}[mode](message, follower)
    now, sent = clock.now(), nanoseconds(message.header.stamp)
    age = now - clock.to_motion_time(sent) if sent else 0.0
    if not -timeout <= age < timeout:
        raise invalid(f'a command is {age:.3g} s old (below 0: its stamp is in the future); '
                      f'parameter servo_command_timeout allows {timeout:g} s')
    return Command(value, now + timeout - max(age, 0.0), scale)


def _pose(message: PoseStamped, follower: Follower) -> tuple[Array, float]:
    frame, pose_in_frame = _frame(message, follower), read_pose(message.pose, 'the target')
    return (frame * pose_in_frame).homogeneous, 1.0


def _twist(message: TwistStamped, follower: Follower) -> tuple[Array, float]:
    frame, twist = _frame(message, follower), message.twist
    values = np.array([twist.linear.x, twist.linear.y, twist.linear.z,
                       twist.angular.x, twist.angular.y, twist.angular.z])
    if not np.isfinite(values).all():
        raise invalid(f'the twist has a number that is not finite: {values.tolist()}')
    parameters = follower.request.parameters
    # one factor limits linear and angular velocity; unlike squares, hypot does not overflow
    faster = max(math.hypot(*values[:3]) / parameters.servo_linear_velocity,
                 math.hypot(*values[3:]) / parameters.servo_angular_velocity, 1.0)
    slowed: Array = values / faster
    value = np.concatenate([frame.rotation @ slowed[:3], frame.rotation @ slowed[3:]])
    return value, 1 / faster


def _joints(message: JointJog, follower: Follower) -> tuple[Array, float]:
    names, velocities = list(message.joint_names), list(message.velocities)
    if len(message.displacements):
        raise invalid('displacements of joints are not supported; valid: velocities')
    if len(names) != len(velocities):
        raise invalid(f'velocities has length {len(velocities)}; valid: {len(names)}')
    joints, values = follower.request.joints, np.zeros(len(follower.request.joints))
    for name, velocity in zip(names, velocities, strict=True):
        if name not in follower.moved:
            raise invalid(f"joint '{name}' is not moved by the servo; valid: "
                          f'{", ".join(follower.moved)}')
        if names.count(name) > 1:
            raise invalid(f"joint '{name}' is named {names.count(name)} times; valid: once")
        if not abs(velocity) < MAX_VELOCITY:
            raise invalid(f"the velocity of joint '{name}' is {velocity}")
        values[joints.index(name)] = velocity
    return values, 1.0


def _frame(message: PoseStamped | TwistStamped, follower: Follower) -> pin.SE3:
    """Return the current pose of a message's frame in the root frame."""
    # receiving TF would delay the servo's steps
    lookup = without_tf('the servo follows commands in frames of the robot and of the scene, not '
                        'of TF')
    found = reference(follower.robot, follower.scene, message.header.frame_id, lookup)
    return found.placement(Configuration(follower.robot, follower.q))
