"""Mock robot: publishes a robot's description and joint_states, and offers controllers."""

import argparse
from collections.abc import Iterable, Sequence
from contextlib import suppress
import gc
import math
import os
import signal
import sys

from geometry_msgs.msg import TransformStamped
import numpy as np
import pinocchio as pin
from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor, SetParametersResult
import rclpy
from rclpy.duration import Duration
from rclpy.exceptions import ParameterException
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.signals import SignalHandlerOptions
from rclpy.time import Time
from rclpy.utilities import remove_ros_args
from sensor_msgs.msg import JointState
from std_msgs.msg import Header, String
from tf2_msgs.msg import TFMessage

from ros2_ik.core import Configuration, IKError, Robot, shipped_robots
from ros2_ik.core.internals import urdf_for_others
from ros2_ik.messages.poses import fill_transform
from ros2_ik.mock.controlled_groups import controlled_groups, POSITION, TRAJECTORY
from ros2_ik.mock.controllers.controller import MockController, PositionController, SYSTEM_DEFAULT
from ros2_ik.mock.controllers.joints import MockJoints
from ros2_ik.mock.controllers.trajectory_controller import TrajectoryController

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
# parameters that can be set at any time: default and description
FAULTS: dict[str, tuple[bool | float | str, str]] = {
    'publish_joint_states': (True, 'false: joint_states are not published; the joints still move'),
    'time_scale': (1.0, 'speed of the trajectory controllers, as set by a speed slider'),
    'blocked': (False, 'true: the joints are stuck; after that, they move to their commands at '
                'their velocity limits'),
    'nan_joint': ('', 'a joint whose position and velocity are published as NaN'),
    'stamp': (True, 'false: joint_states have no header.stamp'),
    'clock_offset': (0.0, 'time by which header.stamp is ahead of the clock [s]'),
}
RANGES = {'time_scale': (0.01, 1.0), 'clock_offset': (-1e8, 1e8)}
JOINT_PARAMETERS = ('blocked', 'time_scale')    # parameters that are also attributes of MockJoints
CONTROLLER_PRIORITY = 50     # SCHED_FIFO priority, as in ros2_control's controller_manager
CYCLE_PERIOD = 0.01     # period of joint_states and of the controllers [s]
TF_RATE = 30.0    # rate of messages on /tf [Hz]


class MockRobot(Node):
    """
    Node that simulates the shipped robot `robot`, which starts at home.

    It publishes robot_description and robot_description_semantic (latched), joint_states
    (100 Hz) and TF. Each of the controlled_groups has a joint_trajectory_controller,
    `<group>_controller`, and a position controller, `<group>_position_controller`. Parameter
    `active` names the active controllers, at most one per joint; by default the trajectory
    controllers. The joints follow the newest command, from an active controller or from the topic
    `joint_command` (sensor_msgs/JointState), the interface of many simulators. The parameters
    FAULTS simulate faults for tests.
    """

    def __init__(self, robot: str) -> None:
        super().__init__('mock_robot')
        self._robot, shipped = Robot.load(robot), shipped_robots()[robot]
        # all controllers share this object; each of them is a node of its own
        self._hardware = MockJoints(self._robot, shipped.home)
        kinds = {TRAJECTORY: TrajectoryController, POSITION: PositionController}
        self._controllers: dict[str, MockController] = {
            group + suffix: kind(group + suffix, self._hardware, joints)
            for group, joints in controlled_groups(shipped, self._robot).items()
            for suffix, kind in kinds.items()}
        self._declare_parameters()
        self.create_subscription(JointState, 'joint_command', self._on_joint_command,
                                 SYSTEM_DEFAULT)
        texts = {'robot_description_semantic': self._robot.srdf,
                 'robot_description': urdf_for_others(
                     self._robot.urdf, self._robot.package_dirs)}
        for topic, text in texts.items():
            if text:
                self.create_publisher(String, topic, LATCHED).publish(String(data=text))
        self._joint_states = self.create_publisher(JointState, 'joint_states', 10)
        self._last = self.get_clock().now()
        self.create_timer(CYCLE_PERIOD, self._cycle)
        self._transforms = self.create_publisher(TFMessage, '/tf', QoSProfile(depth=100))
        self.create_timer(1 / TF_RATE, self._publish_transforms)
        self.get_logger().info(f'{robot} is at home, {len(self._hardware.names)} joints; '
                               f'controllers: {", ".join(self._controllers)}')

    @property
    def nodes(self) -> tuple[Node, ...]:
        """This node and the nodes of its controllers, for an executor."""
        return self, *self._controllers.values()

    def _declare(self, name: str, default: object, text: str) -> None:
        lower, upper = RANGES.get(name, (0.0, 0.0))
        ranges = [FloatingPointRange(from_value=lower, to_value=upper)] if name in RANGES else []
        described = ParameterDescriptor(description=text, floating_point_range=ranges)
        # rcl passes on an empty list as None
        if self.declare_parameter(name, default, described).value is None:
            raise IKError(f'{name} has no value')

    def _declare_parameters(self) -> None:
        for name, (default, text) in FAULTS.items():
            self._declare(name, default, text)
        active = [name for name, controller in self._controllers.items()
                  if isinstance(controller, TrajectoryController)]
        self._declare('active', active, 'active controllers, at most one per joint')
        given = self.get_parameters([*FAULTS, 'active'])
        if not (result := self._validate(given)).successful:
            raise IKError(result.reason)
        self._apply(given)
        self.add_on_set_parameters_callback(self._validate)
        self.add_post_set_parameters_callback(self._apply)

    def _validate(self, parameters: list[Parameter]) -> SetParametersResult:
        reason = next((self._conflict(parameter.value) for parameter in parameters
                       if parameter.name == 'active'), '')
        return SetParametersResult(successful=not reason, reason=reason)

    def _conflict(self, active: Iterable[str]) -> str:
        owners: dict[str, str] = {}
        for name in active:
            if name not in self._controllers:
                return f"active: no controller '{name}'; valid: {', '.join(self._controllers)}"
            for joint in self._controllers[name].joints:
                if owners.setdefault(joint, name) != name:
                    return f"active: '{name}' and '{owners[joint]}' both command '{joint}'"
        return ''

    def _apply(self, parameters: list[Parameter]) -> None:
        for parameter in parameters:
            if parameter.name in JOINT_PARAMETERS:
                setattr(self._hardware, parameter.name, parameter.value)
            if parameter.name == 'active':
                # unchanged controllers keep their commands
                for name, controller in self._controllers.items():
                    if controller.active != (name in parameter.value):
                        controller.deactivate() if controller.active else controller.activate()

    def _on_joint_command(self, message: JointState) -> None:
        """Command positions directly; the controllers of the joints drop their commands."""
        commanded = dict(zip(message.name, message.position, strict=False))
        unknown = [name for name in commanded if name not in self._hardware.names]
        if unknown or len(message.name) != len(message.position):
            self.get_logger().error(f'refused joint_command: {len(message.position)} positions '
                                    f'for {len(message.name)} names, unknown joints: {unknown}')
            return
        # otherwise, an active controller would overwrite the command in the next cycle
        for controller in self._controllers.values():
            if not commanded.keys().isdisjoint(controller.joints):
                controller.release()
        self._hardware.command([*commanded], [*commanded.values()])

    def _cycle(self) -> None:
        now = self.get_clock().now()
        hardware = self._hardware
        # time_scale slows the controllers' time, which falls behind the clock
        hardware.time_lag += round((now - self._last).nanoseconds * (1 - hardware.time_scale))
        for controller in self._controllers.values():
            if controller.active:
                controller.update(now.nanoseconds - hardware.time_lag)
        # The cycle after a late cycle is short, but streamed commands are one period apart: count
        # at least one period, so that regular commands are not reported as too fast.
        elapsed = max((now - self._last).nanoseconds * 1e-9, CYCLE_PERIOD)
        for defect in self._hardware.move(elapsed):
            self.get_logger().error(f'defect: {defect}')
        self._last = now
        if self.get_parameter('publish_joint_states').value:
            self._publish_joint_states(now)

    def _publish_joint_states(self, now: Time) -> None:
        states = self._hardware.states()
        nan_joint, stamped, offset = (self.get_parameter(name).value
                                      for name in ('nan_joint', 'stamp', 'clock_offset'))
        if nan_joint in states:
            states[nan_joint] = (math.nan, math.nan)
        message = JointState(name=list(states),
                             position=[position for position, _ in states.values()],
                             velocity=[velocity for _, velocity in states.values()])
        # a driver without stamps leaves them at 0
        if stamped:
            message.header.stamp = (now + Duration(seconds=offset)).to_msg()
        self._joint_states.publish(message)

    def _publish_transforms(self) -> None:
        """Publish the transforms of all joints, unless a position is not finite."""
        joints = {name: value for name, value in self._hardware.position.items()
                  if name in self._robot.joint_names}
        if not all(map(math.isfinite, joints.values())):
            return
        at, message = Configuration(self._robot, self._robot.to_q(joints)), TFMessage()
        stamp = self.get_clock().now().to_msg()
        # including fixed joints, whose transforms robot_state_publisher would send on /tf_static
        for joint in self._robot.tree.joints.values():
            T = pin.SE3(np.array(at.transform(joint.child, joint.parent)))
            transform = TransformStamped(header=Header(stamp=stamp, frame_id=joint.parent),
                                         child_frame_id=joint.child)
            fill_transform(transform.transform, pin.SE3ToXYZQUAT(T))
            message.transforms.append(transform)
        self._transforms.publish(message)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the mock robot until SIGINT or SIGTERM; return the exit code."""
    argv = sys.argv if arguments is None else ['mock_robot', *arguments]
    parser = argparse.ArgumentParser(prog='mock_robot', description=__doc__, allow_abbrev=False)
    parser.add_argument('--robot', default='panda', help='shipped robot (default: %(default)s)')
    args = parser.parse_args(remove_ros_args(argv)[1:])
    stopping: list[bool] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.append(True))
    # real-time scheduling, if permitted, like ros2_control's controller_manager
    with suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(CONTROLLER_PRIORITY))
    rclpy.init(args=argv, signal_handler_options=SignalHandlerOptions.NO)
    try:
        robot = MockRobot(args.robot)
    except (IKError, ParameterException) as error:
        print(f'mock_robot: {error}', file=sys.stderr)
        rclpy.shutdown()
        return 2
    executor = SingleThreadedExecutor()
    for node in robot.nodes:
        executor.add_node(node)
    gc.collect()
    # a garbage collection over the objects loaded so far would take longer than a cycle
    gc.freeze()
    # Python runs a signal handler only when spin_once returns, hence its timeout
    while not stopping:
        executor.spin_once(timeout_sec=0.1)
    executor.shutdown()
    for node in robot.nodes:
        node.destroy_node()
    rclpy.shutdown()
    return 0
