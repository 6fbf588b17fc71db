"""
Launch test with ros2_control's mock hardware: motions reach their goals, a stop brakes.

test_launch_testing.py runs it if controller_manager is installed; pytest does not collect it.
The braking is judged by joint_states.
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
TIMEOUT = 60.0       # of each wait [s]
NOISE = 1e-3         # accepted backward motion of a braking joint [rad]
MAX_STOP_TIME = 1.0  # from a tenth of the velocity limits [s]


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
        cls.states = []    # stamps of joint_states [s] and positions of JOINT [rad]
        cls.node.create_subscription(JointState, '/joint_states', cls.record_state, 100)
        cls.execute_client = cls.node.create_client(Execute, '/ros2_ik/execute')
        cls.stop_client = cls.node.create_client(Trigger, '/ros2_ik/stop')

    @classmethod
    def tearDownClass(cls):
        cls.executor.shutdown()
        cls.node.destroy_node()
        rclpy.shutdown(context=cls.context)

    @classmethod
    def record_state(cls, message):
        if JOINT in message.name:
            stamp = message.header.stamp
            cls.states.append((stamp.sec + stamp.nanosec * 1e-9,
                               message.position[message.name.index(JOINT)]))

    def wait_until(self, condition, what):
        end = time.monotonic() + TIMEOUT
        while not condition():
            self.assertLess(time.monotonic(), end, what)
            self.executor.spin_once(timeout_sec=0.1)

    def request_motion(self, position, scaling):
        """Request a motion of the first joint; return the future."""
        request = Execute.Request(group='arm', velocity_scaling=scaling)
        request.goal.is_diff = True
        request.goal.joint_state.name = [JOINT]
        request.goal.joint_state.position = [position]
        return self.execute_client.call_async(request)

    def wait_for_response(self, future):
        self.wait_until(future.done, 'no answer')
        return future.result()

    def move_to(self, position):
        """Move to a position; repeat while controllers or joint_states are missing."""
        end = time.monotonic() + 2 * TIMEOUT
        while (answer := self.wait_for_response(
                self.request_motion(position, 0.5))).status != Status.SUCCESS:
            self.assertLess(time.monotonic(), end, answer.message)
            self.assertEqual(answer.motion_seconds, 0.0, answer.message)   # refused, not failed
            self.executor.spin_once(timeout_sec=1.0)

    def test_stopped_arm_brakes_and_completes_the_next_motion(self):
        self.wait_until(self.execute_client.service_is_ready, 'no ~/execute')
        self.move_to(0.0)
        self.assertAlmostEqual(self.states[-1][1], 0.0, places=2)
        future = self.request_motion(1.5, 0.1)
        self.wait_until(lambda: self.states[-1][1] > 0.1, 'no motion')
        stop = self.stop_client.call_async(Trigger.Request())
        self.assertTrue(self.wait_for_response(stop).success)
        state_at_stop = self.states[-1]
        answer = self.wait_for_response(future)
        self.assertEqual(answer.status, Status.PREEMPTED, answer.message)
        count = len(self.states)
        self.wait_until(lambda: len(self.states) > count + 50, 'no joint_states')
        after = [state for state in self.states if state[0] >= state_at_stop[0]]
        final = after[-1][1]
        self.assertLess(final, 1.0)
        positions = [position for _, position in after]
        self.assertTrue(all(later > earlier - NOISE for earlier, later
                            in zip(positions, positions[1:], strict=False)), positions)
        rest_stamp = next(stamp for stamp, position in after if abs(position - final) < NOISE)
        self.assertLess(rest_stamp - state_at_stop[0], MAX_STOP_TIME)
        self.move_to(0.5)
        self.assertAlmostEqual(self.states[-1][1], 0.5, places=2)


@launch_testing.post_shutdown_test()
class TestEnd(unittest.TestCase):

    def test_processes_end_with_exit_code_0(self, proc_info):
        assertExitCodes(proc_info)
