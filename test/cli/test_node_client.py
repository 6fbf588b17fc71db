"""The node client of the command: robot descriptions, and late or lost replies."""

import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy')
from node_harness import Client  # noqa: E402
from rclpy.qos import DurabilityPolicy, QoSProfile  # noqa: E402
from std_msgs.msg import String  # noqa: E402

from ros2_ik.cli.node_arm import NodeArm  # noqa: E402
from ros2_ik.cli.node_client import NodeClient  # noqa: E402
from ros2_ik.core import Robot  # noqa: E402
from ros2_ik.demo.domain import unused_domain  # noqa: E402

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@pytest.fixture
def create_publisher(monkeypatch):
    """Return a function that creates publishers of String, in a separate ROS domain."""
    domain = unused_domain()
    monkeypatch.setenv('ROS_DOMAIN_ID', str(domain))
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    client = Client(domain)
    # a parameter, so that the node has parameter services
    with client.other_node('ros2_ik', wheels=4) as node:
        yield lambda topic: node.create_publisher(String, topic, LATCHED)
    client.close()


@pytest.mark.parametrize('delay', [0.0, 1.5])
def test_client_waits_for_a_late_srdf(create_publisher, delay):
    """Without the SRDF the robot would have other groups and tips."""
    panda = Robot.load('panda')
    create_publisher('robot_description').publish(String(data=panda.urdf))
    semantic = create_publisher('robot_description_semantic')
    timer = threading.Timer(delay, lambda: semantic.publish(String(data=panda.srdf)))
    timer.start()
    with NodeClient('/ros2_ik') as client:
        found = client.robot(10.0)
    timer.join()
    assert found is not None and found.groups.keys() == panda.groups.keys()


def test_client_ignores_malformed_descriptions_and_needs_no_srdf(create_publisher, capsys):
    publish = create_publisher('robot_description').publish
    publish(String(data='<robot'))
    timer = threading.Timer(1.0, lambda: publish(String(data=Robot.load('panda').urdf)))
    timer.start()
    with NodeClient('/ros2_ik') as client:
        assert client.needed_robot(10.0).name == 'panda'
        assert 'robot description: ' in capsys.readouterr().err
        publish(String(data='<robot'))
        assert not client.spin_until(lambda: client.has_another_robot, 1.0)
        assert capsys.readouterr().err.count('robot description: ') == 1
        publish(String(data=SLIDE_URDF))
        assert client.spin_until(lambda: client.has_another_robot, 10.0)


def test_added_abort_condition_keeps_the_others(create_publisher):
    """Past defect: Ctrl-C did not end the waits of `ros2_ik goals`."""
    with NodeClient('/ros2_ik', lambda: True) as client:
        NodeArm.add_abort_condition(SimpleNamespace(_client=client), lambda: False)
        client.spin_until(lambda: False, 300.0)


def test_missing_service_is_told_from_a_missing_node(create_publisher, command):
    assert '/ros2_ik is still starting' in command('stop', '--wait', 1).refusal()
    assert 'start one by' in command('stop', '--wait', 1, '--node', '/other/ros2_ik').refusal()


# -- replies -----------------------------------------------------------------------------------

SLIDE_URDF = """<robot name="slide">
  <link name="base"/> <link name="slide"/>
  <joint name="rail" type="prismatic">
    <parent link="base"/> <child link="slide"/> <axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/>
  </joint>
</robot>"""
# returns the solution rail = 0; 'lost' drops its first response, 'making' is ready after 2 s
STAND_IN_NODE = """
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

class LossyServer(ActionServer):
    async def _execute_goal_request(self, request):
        if sys.argv[1] == 'lost' and not asked:    # DDS may lose the response
            asked.append(1)
            return
        await super()._execute_goal_request(request)

rclpy.init()
node = rclpy.create_node('ros2_ik', namespace=sys.argv[1])
latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
publisher = node.create_publisher(String, 'robot_description', latched)
publisher.publish(String(data=sys.argv[2]))
action = LossyServer(node, SolveConstrainedIK, '~/solve_constrained_ik', execute,
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
def call_stand_in(command, monkeypatch):
    """Return a function that starts a stand-in node of a kind and calls it."""
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    monkeypatch.setenv('ROS_DOMAIN_ID', str(unused_domain()))
    monkeypatch.setattr('ros2_ik.cli.goal_client.RESEND_PERIOD', 2.0)
    processes = []

    def run(kind):
        processes.append(subprocess.Popen([sys.executable, '-c', STAND_IN_NODE, kind, SLIDE_URDF]))
        return command('call', '--tip', 'slide', '--xyz', 0, 0, 0, '--node', f'/{kind}/ros2_ik',
                       '--wait', 50)
    yield run
    for process in processes:
        process.kill()
        process.wait()


@pytest.mark.parametrize(('kind', 'requests'), [('lost', 2), ('making', 1)])
def test_call_resends_a_lost_goal_and_waits_for_a_starting_node(call_stand_in, kind, requests):
    run = call_stand_in(kind)
    assert run.code == 0 and f'SUCCESS: asked {requests} times' in run.out, run.out + run.err
    assert '8.3e-07' in run.out
