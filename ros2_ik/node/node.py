"""The node class: creates its parts, spins, and shuts down."""

from collections.abc import Callable
import gc
import signal
import sys
import threading
import time
import traceback
from typing import Any

import rclpy
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from rclpy.utilities import remove_ros_args
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from ros2_ik.core import compile_all, Robot
from ros2_ik.core.errors import unknown_name
from ros2_ik.node.controllers.controller import ControllerContext
from ros2_ik.node.controllers.robot_controllers import KINDS
from ros2_ik.node.endpoints.endpoint import LATCHED, make_endpoints, timer
from ros2_ik.node.motion.motion_executor import MotionExecutor
from ros2_ik.node.parameters import ParameterError, Parameters
from ros2_ik.node.process import SIGNALS
from ros2_ik.node.servo.process import ServoProcess
from ros2_ik.node.state.current_state import CurrentState
from ros2_ik.node.state.description import Description
from ros2_ik.node.state.joint_states import JointStates
from ros2_ik.node.state.motion_clock import MotionClock
from ros2_ik.node.state.planning_scene import PlanningScene
from ros2_ik.node.state.transforms import Transforms
from ros2_ik.node.workers.pool import Pool

ANSWER_TIME = 0.5           # shutdown: time to answer open requests, after braking [s]
BRAKING_TIMEOUT = 2.0       # shutdown: maximum time to brake an arm [s]
REMINDER_PERIOD = 5.0       # between two checks for missing inputs [s]
LONG_CALLBACK = 0.02        # CPU time of a callback above which a warning is logged [s]
SIGNAL_PERIOD = 0.05        # between two checks for a signal that ends the node [s]


class IKNode(Node):
    """The ROS node `ros2_ik` with its services, actions, topics and parameters."""

    def __init__(self) -> None:
        super().__init__('ros2_ik', automatically_declare_parameters_from_overrides=True)
        log = self.get_logger()
        # log now: rclpy needs 0.1 s for its first log line, too long for a callback
        log.info('starting')
        parameters = Parameters(self, KINDS)
        self._pool = Pool(parameters.workers, log)
        transforms = Transforms(self, parameters)
        clock = MotionClock(self)
        joint_states = self._joint_states = JointStates(
            self, self.resolve_topic_name('joint_states'), parameters, clock)
        state = CurrentState(parameters, joint_states)
        self._scene = PlanningScene(parameters, state, transforms, log,
                                    lambda start: self.executor.create_task(start), self._wait)
        self._servo_process = ServoProcess(self)
        controllers = ControllerContext(self, ReentrantCallbackGroup(), parameters, self._wait,
                                        self._servo_process, clock, joint_states)
        self._motions = MotionExecutor(controllers, state, self._scene)
        self._description = Description(log, parameters.root_joint, self._on_robot,
                                        self.resolve_topic_name('robot_description'))
        self._endpoints = make_endpoints(
            node=self, parameters=parameters, description=self._description,
            joint_states=joint_states, current_state=state, scene=self._scene,
            transforms=transforms, pool=self._pool, motions=self._motions,
            servo_process=self._servo_process, wait=self._wait, sleep=controllers.pause)
        update = self._description.update
        self.create_subscription(String, 'robot_description',
                                 lambda message: update(urdf=message.data), LATCHED)
        self.create_subscription(String, 'robot_description_semantic',
                                 lambda message: update(srdf=message.data), LATCHED)
        # best effort and volatile match all publishers; QoS events are off: they delay services
        unwatched = SubscriptionEventCallbacks(use_default_callbacks=False)
        self.create_subscription(JointState, 'joint_states', joint_states.record,
                                 qos_profile_sensor_data, event_callbacks=unwatched)
        texts = {'urdf': parameters.robot_description,
                 'srdf': parameters.robot_description_semantic}
        update(**{name: text for name, text in texts.items() if text})
        if self._description.error:
            raise ParameterError(self._description.error)
        if parameters.controllers:
            log.info(f'motions use {parameters.velocity_scaling:g} of the velocity limits and '
                     f'{parameters.acceleration_scaling:g} of the acceleration limits; '
                     + (f'scene: {parameters.scene}' if parameters.scene else 'the scene is '
                        'empty, without a floor (scene:=floor adds one below the root frame)'))
        self._reminder = timer(self, REMINDER_PERIOD, self._remind)

    def _remind(self) -> None:
        """Log missing inputs, unusable parameters, and another node of the same name."""
        log = self.get_logger()
        if self.get_parameter('use_sim_time').value and not self.get_clock().now().nanoseconds:
            log.warning('use_sim_time is true, but nothing was received on /clock: the age of '
                        'data is unknown, and nothing is moved', throttle_duration_sec=60.0)
        name = self.get_name(), self.get_namespace()
        if self.get_node_names_and_namespaces().count(name) > 1:
            log.error(f'another node is named {self.get_fully_qualified_name()}: both answer '
                      'each request and move the robot (a killed node stays visible for up to '
                      '20 s)', throttle_duration_sec=60.0)
        self._motions.log_faults()
        if (robot := self._description.robot) is None:
            log.warning(f'waiting for robot_description: {self._description.missing_reason}',
                        throttle_duration_sec=60.0)
        # here, not in `_on_robot`: a robot's groups are unknown until the SRDF is received
        elif faults := [f'parameter default_{kind}: {unknown_name(kind, name, valid)}'
                        for kind, valid in (('group', robot.groups), ('tip', robot.frame_names))
                        if (name := self.get_parameter(f'default_{kind}').value)
                        and name.removeprefix('/') not in valid]:
            log.error('; '.join(faults), throttle_duration_sec=60.0)

    def _on_robot(self, robot: Robot) -> None:
        """Replace the robot in the whole node; raises IKError if the scene does not fit it."""
        # first: this may raise IKError, before anything is changed
        scene = self._scene.scene_for_robot(robot)
        # before the other changes, to stop motions under way
        self._motions.set_robot(robot)
        # cancel the searches for the previous robot
        self._pool.cancel()
        self._pool.set_robot(robot, self._scene.geometry.options)
        self._joint_states.set_robot(robot)
        self._scene.set_robot(scene)

    async def _wait(self, start: Callable[[Callable[[object], None]], None]) -> Any:
        """Call `start(done)` and await the result that any thread passes to `done`."""
        executor = self.executor
        future = Future(executor=executor)

        def done(result: object) -> None:
            if isinstance(result, Exception):
                future.set_exception(result)
            else:
                future.set_result(result)
            executor.wake()   # set_result alone does not end the executor's wait

        start(done)
        return await future

    # -- shutdown -------------------------------------------------------------------------

    def spin_once(self, executor: SingleThreadedExecutor, seconds: float) -> None:
        """Run a callback (wait up to `seconds`); log its exceptions and long computing times."""
        began = time.thread_time()
        # an exception must not end the node, which may have to brake an arm
        try:
            executor.spin_once(timeout_sec=seconds)
        except Exception:
            self.get_logger().error(traceback.format_exc(), throttle_duration_sec=1.0)
        if (spent := time.thread_time() - began) > LONG_CALLBACK:
            self.get_logger().warning(f'a callback computed for {1e3 * spent:.0f} ms',
                                      throttle_duration_sec=1.0)

    def close(self, executor: SingleThreadedExecutor) -> None:
        """Stop motions, answer open requests with their best results, then end the workers."""
        # first of all, to brake motions under way
        self._motions.close()
        self._pool.end()
        # keep spinning: DDS drops answers in transit when their writer is destroyed, and requests
        # for motions are answered only after the arm has braked
        begin = last_moving = time.monotonic()
        while (now := time.monotonic()) < last_moving + ANSWER_TIME:
            if self._motions.moving and now < begin + BRAKING_TIMEOUT:
                last_moving = now
            self.spin_once(executor, 0.02)
        self._pool.kill()
        self._servo_process.close()
        self._scene.close()
        # timeout 0: do not wait for unfinished coroutines, some of which would never end
        executor.shutdown(0)
        self.destroy_node()


def run() -> int:
    """Run the node until a signal ends it; return the exit code."""
    try:
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    # rclpy raises various exceptions, for example if the log directory is not writable
    except Exception as error:
        return _print_error(f'ROS does not start: {error}')
    if unknown := remove_ros_args(sys.argv)[1:]:
        return _print_error(f'unknown arguments: {" ".join(unknown)}; parameters follow '
                            '--ros-args, as in `ik_node --ros-args -p velocity_scaling:=0.2`')
    # compile before the node offers services, so that the first answers are not delayed
    compile_all()
    try:
        node = IKNode()
    except ParameterError as error:
        rclpy.shutdown()
        return _print_error(str(error))
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    ending = threading.Event()
    for number in SIGNALS:
        signal.signal(number, lambda *_: ending.set())
    # with Python's default interval of 5 ms, the pool's thread would pass on answers late
    sys.setswitchinterval(2e-4)
    # the objects loaded so far stay; each garbage collection over them would take 50 ms
    gc.freeze()
    while not ending.is_set() and rclpy.ok():
        node.spin_once(executor, SIGNAL_PERIOD)
    node.close(executor)
    rclpy.try_shutdown()
    return 0


def _print_error(reason: str) -> int:
    print(f'ros2_ik: {" ".join(reason.split())}', file=sys.stderr)
    return 1
