"""
Launch test with ros2_control's mock hardware: motions arrive, and a stop brakes them.

test_launch_testing.py runs it if controller_manager is installed; pytest does not collect it.
joint_states judge the braking.
"""

from pathlib import Path
import time
import unittest

from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription, SetEnvironmentVariable
from launch.launch_description_sources import PythonLaunchDescriptionSource
import launch_testing
from launch_testing.actions import ReadyToTest
from launch_testing.asserts import assertExitCodes
import rclpy
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from ros2_ik.demo.domain import unused_domain
from ros2_ik.msg import Status
from ros2_ik.srv import Execute

ROOT = Path(__file__).parents[2]
DOMAIN = unused_domain()
JOINT = 'panda_joint1'
LIMIT = 60.0     # timeout of each wait [s]
BACK = 1e-3      # noise of a joint that only moves forward [rad]
LONGEST = 1.0    # a stop at a tenth of the velocity limits is over by then [s]


def generate_test_description():
    """Launch a Panda with controllers on mock hardware."""
    source = PythonLaunchDescriptionSource(str(ROOT / 'launch' / 'demo.launch.py'))
    return LaunchDescription([
        SetEnvironmentVariable('ROS_DOMAIN_ID', str(DOMAIN)),
        IncludeLaunchDescription(source, launch_arguments={
            'robot': 'panda', 'control': 'ros2_control'}.items()),
        ReadyToTest(),
    ])


class TestMotions(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.context = rclpy.Context()
        rclpy.init(context=cls.context, domain_id=DOMAIN)
        cls.node = rclpy.create_node('judge', context=cls.context)
        cls.executor = SingleThreadedExecutor(context=cls.context)
        cls.executor.add_node(cls.node)
        cls.states = []    # times of their stamps [s] and positions of JOINT [rad]
        cls.node.create_subscription(JointState, '/joint_states', cls.take, 100)
        cls.moving = cls.node.create_client(Execute, '/ros2_ik/execute')
        cls.stopping = cls.node.create_client(Trigger, '/ros2_ik/stop')

    @classmethod
    def tearDownClass(cls):
        cls.executor.shutdown()
        cls.node.destroy_node()
        rclpy.shutdown(context=cls.context)

    @classmethod
    def take(cls, message):
        if JOINT in message.name:
            stamp = message.header.stamp
            cls.states.append((stamp.sec + stamp.nanosec * 1e-9,
                               message.position[message.name.index(JOINT)]))

    def until(self, condition, what):
        end = time.monotonic() + LIMIT
        while not condition():
            self.assertLess(time.monotonic(), end, what)
            self.executor.spin_once(timeout_sec=0.1)

    def move(self, position, scaling):
        """Request a motion of the first joint; return the future."""
        request = Execute.Request(group='arm', velocity_scaling=scaling)
        request.goal.is_diff = True
        request.goal.joint_state.name = [JOINT]
        request.goal.joint_state.position = [position]
        return self.moving.call_async(request)

    def answer(self, future):
        self.until(future.done, 'no answer')
        return future.result()

    def arrive(self, position):
        """Move; repeat while controllers or joint_states are missing."""
        end = time.monotonic() + 2 * LIMIT
        while (answer := self.answer(self.move(position, 0.5))).status != Status.SUCCESS:
            self.assertLess(time.monotonic(), end, answer.message)
            self.assertEqual(answer.motion_seconds, 0.0, answer.message)   # refused, not failed
            self.executor.spin_once(timeout_sec=1.0)

    def test_stopped_arm_brakes_and_completes_the_next_motion(self):
        self.until(self.moving.service_is_ready, 'no ~/execute')
        self.arrive(0.0)
        self.assertAlmostEqual(self.states[-1][1], 0.0, places=2)
        future = self.move(1.5, 0.1)
        self.until(lambda: self.states[-1][1] > 0.1, 'no motion')
        stop = self.stopping.call_async(Trigger.Request())
        self.assertTrue(self.answer(stop).success)
        began = self.states[-1]
        answer = self.answer(future)
        self.assertEqual(answer.status, Status.PREEMPTED, answer.message)
        count = len(self.states)
        self.until(lambda: len(self.states) > count + 50, 'no joint_states')
        after = [state for state in self.states if state[0] >= began[0]]
        rest = after[-1][1]
        self.assertLess(rest, 1.0)
        positions = [position for _, position in after]
        self.assertTrue(all(later > earlier - BACK for earlier, later
                            in zip(positions, positions[1:], strict=False)), positions)
        arrived = next(stamp for stamp, position in after if abs(position - rest) < BACK)
        self.assertLess(arrived - began[0], LONGEST)
        self.arrive(0.5)
        self.assertAlmostEqual(self.states[-1][1], 0.5, places=2)


@launch_testing.post_shutdown_test()
class TestEnd(unittest.TestCase):

    def test_processes_end_with_exit_code_0(self, proc_info):
        assertExitCodes(proc_info)
