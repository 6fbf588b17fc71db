"""Late and lost replies of a stand-in for the node, over DDS."""

import subprocess
import sys

import pytest

pytest.importorskip('rclpy')
from ros2_ik.demo.domain import unused_domain  # noqa: E402

SLIDE = """<robot name="slide">
  <link name="base"/> <link name="slide"/>
  <joint name="rail" type="prismatic">
    <parent link="base"/> <child link="slide"/> <axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/>
  </joint>
</robot>"""
# answers that rail = 0 is a solution; 'lost': without a response at first; 'making': ready later
STAND_IN = """
import sys
import rclpy
from rclpy.action import ActionServer
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.task import Future
from std_msgs.msg import Bool, String
from ros2_ik.action import SolveConstrainedIK

asked = []

async def execute(handle):
    result = SolveConstrainedIK.Result()
    asked.append(1)
    result.status, result.message = 1, f'asked {len(asked)} times'
    if not was_ready:
        result.status, result.message = -22, 'the geometry is still being made; ask again'
    result.solution.joint_state.name = ['rail']
    result.solution.joint_state.position = [0.0]
    result.position_errors, result.orientation_errors = [8.3e-7], [0.0]
    handle.succeed()
    return result

class Losing(ActionServer):
    async def _execute_goal_request(self, request):
        if sys.argv[1] == 'lost' and not asked:    # the response, as DDS may
            asked.append(1)
            return
        await super()._execute_goal_request(request)

rclpy.init()
node = rclpy.create_node('ros2_ik', namespace=sys.argv[1])
latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
publisher = node.create_publisher(String, 'robot_description', latched)
publisher.publish(String(data=sys.argv[2]))
action = Losing(node, SolveConstrainedIK, '~/solve_constrained_ik', execute,
                callback_group=ReentrantCallbackGroup())
ready, was_ready = node.create_publisher(Bool, '~/ready', latched), []

def become_ready():
    was_ready.append(1)
    ready.publish(Bool(data=True))
    timer.cancel()

timer = node.create_timer(2.0 if sys.argv[1] == 'making' else 0.01, become_ready)
rclpy.spin(node)
"""


@pytest.fixture
def ask(command, monkeypatch):
    """Return a function that starts a stand-in of a kind and calls it."""
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    monkeypatch.setenv('ROS_DOMAIN_ID', str(unused_domain()))
    monkeypatch.setattr('ros2_ik.cli.goal_client.RESEND_PERIOD', 2.0)
    running = []

    def run(kind):
        running.append(subprocess.Popen([sys.executable, '-c', STAND_IN, kind, SLIDE]))
        return command('call', '--tip', 'slide', '--xyz', 0, 0, 0, '--node', f'/{kind}/ros2_ik',
                       '--wait', 50)
    yield run
    for one in running:
        one.kill()
        one.wait()


@pytest.mark.parametrize(('kind', 'times'), [('lost', 2), ('making', 1)])
def test_goal_without_a_reply_is_repeated_and_a_node_that_is_starting_is_awaited(ask, kind, times):
    run = ask(kind)
    assert run.code == 0 and f'SUCCESS: asked {times} times' in run.out, run.out + run.err
    assert '8.3e-07' in run.out
