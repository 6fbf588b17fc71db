"""The node: makes the parts, spins, stops."""

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
from rclpy.qos import DurabilityPolicy, qos_profile_sensor_data, QoSProfile
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from visualization_msgs.msg import MarkerArray

from ros2_ik.core import compile_all, IKError, Robot
from ros2_ik.core.internals import check_scene_file
from ros2_ik.messages.markers import Made, scene_markers
from ros2_ik.messages.planning_scenes import SceneState
from ros2_ik.node.controllers.controller import ControllerContext
from ros2_ik.node.endpoints.answering import Statistics
from ros2_ik.node.endpoints.parts import publisher, timer
from ros2_ik.node.endpoints.registry import make_endpoints
from ros2_ik.node.motion.motion_executor import MotionExecutor
from ros2_ik.node.parameters import ParameterError, Parameters
from ros2_ik.node.parameters.parameters import start_notes
from ros2_ik.node.process import SIGNALS
from ros2_ik.node.servo.process import ServoProcess
from ros2_ik.node.state.collision_geometry import CollisionGeometry
from ros2_ik.node.state.current_state import CurrentState
from ros2_ik.node.state.description import Description
from ros2_ik.node.state.joint_states import JointStates, publishers
from ros2_ik.node.state.planning_scene import PlanningScene
from ros2_ik.node.state.settled import Settled
from ros2_ik.node.state.transforms import Transforms
from ros2_ik.node.workers import Pool

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
ANSWERING = 0.5   # time at the end for the answers of open requests [s]
REMINDER = 5.0   # without a robot for so long, the log says what is waited for [s]
LONG = 0.02      # a callback that computes for longer holds others up [s]
LOOK = 0.05      # between two looks for a signal that ends the node [s]
BRAKING = 2.0    # and more, while an arm is brought to rest [s]
LINGER = 0.25    # time without an answer after which the node ends: busy clients read late [s]


class IKNode(Node):
    """The node `ros2_ik`."""

    def __init__(self) -> None:
        super().__init__('ros2_ik', automatically_declare_parameters_from_overrides=True)
        log = self.get_logger()
        log.info('starting')    # Python needs .1 s for a first log line: not in a callback
        self._own_parameters = parameters = Parameters(self)
        self._waiting = 0
        self._statistics, self._pool = Statistics(), Pool(parameters.workers, log)
        transforms = self._transforms = Transforms(self, parameters, self._now,
                                                   simulated=self._simulated)
        joint_states = self._joint_states = JointStates(
            lambda text: log.warning(text, throttle_duration_sec=5.0), self._now,
            lambda: publishers(self, self.resolve_topic_name('joint_states')),
            lambda: parameters.joint_state_speed, self._simulated)
        state = CurrentState(parameters, joint_states, transforms,
                             lambda text: log.warning(text, throttle_duration_sec=5.0),
                             self.get_clock())
        # it offers all that a subscriber can want, and to watch for others slows services
        self._markers = publisher(self, MarkerArray, '~/scene_markers', LATCHED)
        self._made_markers: Made = {}
        geometry = CollisionGeometry(log, self._pool.set_robot)
        self._scene = PlanningScene(parameters, state, transforms, geometry, log,
                                    lambda work: self.executor.create_task(work), self._wait)
        self._scene.receivers.append(self._show)
        self._servo_process = ServoProcess(self)
        controllers = ControllerContext(self, ReentrantCallbackGroup(), parameters, self._wait,
                                        self._servo_process)
        self._motions = MotionExecutor(controllers, joint_states, state, self._scene, log)
        self._description = Description(log, parameters.root_joint, self._on_robot,
                                        self._why_no_description)
        self._endpoints = make_endpoints(
            node=self, parameters=parameters, statistics=self._statistics,
            description=self._description, joint_states=joint_states, current_state=state,
            scene=self._scene, transforms=transforms,
            settled=Settled(self._scene, transforms, controllers.pause), pool=self._pool,
            motions=self._motions, servo_process=self._servo_process, wait=self._wait)
        self._subscribe(joint_states)
        self._take_parameters()
        for note in start_notes(parameters):
            log.info(note)
        self._pool.start()
        self._reminder = timer(self, REMINDER, self._remind)

    def _simulated(self) -> bool:
        return bool(self.get_clock().ros_time_is_active)

    def _now(self) -> int:
        now: int = self.get_clock().now().nanoseconds
        return now

    def _take_parameters(self) -> None:
        """Load the robot and the scene of the parameters; raises ParameterError."""
        parameters, description = self._own_parameters, self._description
        if parameters.base_source == 'tf' and self._transforms.absent:
            raise ParameterError(f'base_source cannot be tf: {self._transforms.absent}')
        texts = {'urdf': parameters.robot_description,
                 'srdf': parameters.robot_description_semantic}
        description.offer(**{name: text for name, text in texts.items() if text})
        if fault := description.refused or self._scene.fault:
            raise ParameterError(fault)
        if parameters.scene and not description.robot:
            try:
                check_scene_file(parameters.scene)
            except IKError as error:
                raise ParameterError(f"parameter scene, '{parameters.scene}': {error}") from None

    def _remind(self) -> None:
        """Warn of missing inputs, and of another node of this name."""
        log = self.get_logger()
        if self.get_parameter('use_sim_time').value and not self._now():
            log.warning('use_sim_time is true, but nothing has come on /clock: stamps cannot be '
                        'compared, and nothing is moved', throttle_duration_sec=60.0)
        name = self.get_name(), self.get_namespace()
        if self.get_node_names_and_namespaces().count(name) > 1:
            log.error(f'another node is called {self.get_fully_qualified_name()}: both answer '
                      'each request and move the robot (one that was killed is seen for up to '
                      '20 s)', throttle_duration_sec=60.0)
        if self._description.robot is None:
            log.warning('waiting for robot_description: nothing to use has come so far on topic '
                        f"'{self.resolve_topic_name('robot_description')}' or as parameter "
                        'robot_description', once=True)

    def _on_robot(self, robot: Robot) -> None:
        self._motions.set_robot(robot)   # before all else: what moves is stopped
        self._pool.cancel_all()   # searches about a robot that is gone
        self._pool.set_robot(robot)
        self._joint_states.set_robot(robot)
        self._scene.set_robot(robot)

    def _show(self, known: SceneState) -> None:
        self._markers.publish(scene_markers(known.scene, self._made_markers))

    def _why_no_description(self) -> str:
        """Return a warning about a publisher of robot_description with another QoS, or ''."""
        topic = self.resolve_topic_name('robot_description')
        for info in self.get_publishers_info_by_topic(topic):
            if info.qos_profile.durability != DurabilityPolicy.TRANSIENT_LOCAL:
                return (f"node '{info.node_name}' publishes {topic} with durability volatile, "
                        'which does not match: publish it with transient_local, as '
                        'robot_state_publisher does')
        return ''

    def _subscribe(self, joint_states: JointStates) -> None:
        offer = self._description.offer
        self._descriptions = [
            self.create_subscription(String, 'robot_description',
                                     lambda message: offer(urdf=message.data), LATCHED),
            self.create_subscription(String, 'robot_description_semantic',
                                     lambda message: offer(srdf=message.data), LATCHED)]
        # best effort, volatile: no publisher is incompatible, and to watch for that slows services
        unwatched = SubscriptionEventCallbacks(use_default_callbacks=False)
        self.create_subscription(JointState, 'joint_states', joint_states.take,
                                 qos_profile_sensor_data, event_callbacks=unwatched)

    async def _wait(self, start: Callable[[Callable[[object], None]], None]) -> Any:
        """Call start(done) and wait for the result that any thread passes to done."""
        executor = self.executor
        future = Future(executor=executor)

        def done(result: object) -> None:
            if isinstance(result, Exception):
                future.set_exception(result)
            else:
                future.set_result(result)
            executor.wake()   # set_result alone does not end the executor's wait

        self._waiting += 1
        try:
            start(done)
            return await future
        finally:
            self._waiting -= 1

    # -- the end --------------------------------------------------------------------------

    def spin_once(self, executor: SingleThreadedExecutor, seconds: float) -> None:
        """Work off one callback; what goes wrong there must not keep an arm from braking."""
        began = time.thread_time()
        try:
            executor.spin_once(timeout_sec=seconds)
        except Exception:
            self.get_logger().error(traceback.format_exc(), throttle_duration_sec=1.0)
        if (spent := time.thread_time() - began) > LONG:
            self.get_logger().warning(f'a callback computed for {1e3 * spent:.0f} ms',
                                      throttle_duration_sec=1.0)

    def close(self, executor: SingleThreadedExecutor) -> None:
        """Stop motions, answer open requests with their best results, then end the workers."""
        self._motions.close()   # before all else: what moves is braked
        for subscription in self._descriptions:   # which may take long to read
            self.destroy_subscription(subscription)
        for endpoint in self._endpoints:
            endpoint.end()
        self._pool.end()
        self._spin_until_quiet(executor)
        self._servo_process.close()
        self._pool.close()
        self._scene.close()
        executor.shutdown(0)    # without waiting for coroutines that wait
        self.destroy_node()

    def _spin_until_quiet(self, executor: SingleThreadedExecutor) -> None:
        """
        Spin while there is anything to answer, and a moment longer.

        Requests may still be in the queues, of which one spin takes but one, and answers on the
        way, which DDS drops when it hears that their writer is gone. Who asked for a motion is
        answered after it was braked, so the time for that begins then.
        """
        statistics = self._statistics
        total = statistics.requests.total
        begin = last = time.monotonic()
        end = begin + ANSWERING
        while (now := time.monotonic()) < min(last + LINGER, end):
            answered = total()
            if self._motions.moving:
                last = now
                end = min(now, begin + BRAKING) + ANSWERING
            self.spin_once(executor, 0.02)
            if self._waiting or statistics.open_goals or total() > answered:
                last = now


def run() -> int:
    """Run the node until a signal ends it; return the exit code."""
    try:
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    except Exception as error:   # no place for logs, or wrong arguments, such as of a lost file
        if 'logging' in str(error):
            return _refuse(f'ROS cannot write its logs: {error}; valid: ROS_LOG_DIR names a '
                           'directory that can be written to')
        return _refuse(f'the arguments cannot be used: {error}')
    compile_all()   # before the node offers services, which must be answered in time
    try:
        node = IKNode()
    except ParameterError as error:
        rclpy.shutdown()
        return _refuse(str(error))
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    ending = threading.Event()
    for number in SIGNALS:
        signal.signal(number, lambda *_: ending.set())
    sys.setswitchinterval(2e-4)   # the pool's thread must not wait 5 ms to pass an answer on
    gc.freeze()   # what is loaded by now stays: looking through it would take 50 ms each time
    while not ending.is_set() and rclpy.ok():
        node.spin_once(executor, LOOK)
    node.close(executor)
    rclpy.try_shutdown()
    return 0


def _refuse(reason: str) -> int:
    print(f'ros2_ik: {" ".join(reason.split())}', file=sys.stderr)
    return 1
