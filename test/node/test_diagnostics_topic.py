"""The state of health on /diagnostics."""


from builtin_interfaces.msg import Duration
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from node_harness import eventually, reachable, unreachable
import pytest
from std_msgs.msg import String


@pytest.fixture(scope='module')
def health(client):
    """Give a function that waits for a part's status with a given level or text."""
    latest = {}

    def take(message):
        latest.update({status.name.split(': ')[1]: status for status in message.status})

    subscription = client.node.create_subscription(DiagnosticArray, '/diagnostics', take, 10)

    def wait(part, condition):
        def found():
            status = latest.get(part)
            values = {value.key: value.value for value in status.values} if status else {}
            return status and condition(status, values) and (status, values)
        return eventually(found, f'{part}: {latest.get(part)}')
    yield wait
    client.node.destroy_subscription(subscription)


@pytest.fixture(scope='module')
def node(client, start_shared_node):
    return start_shared_node(joint_state_timeout=0.5)


def test_without_robot(health, node):
    status, _ = health('robot', lambda status, _: True)
    assert status.level == DiagnosticStatus.ERROR and status.message == 'no robot yet'
    assert status.name == '/ros2_ik: robot' and status.hardware_id == '/ros2_ik'
    status, _ = health('joint_states', lambda status, _: True)
    assert status.level == DiagnosticStatus.WARN and status.message == 'none received'


def test_robot(client, health, node, panda):
    client.describe(panda)
    _, values = health('robot', lambda status, _: status.level == DiagnosticStatus.OK)
    assert values['robot'] == 'panda' and values['groups'] == 'arm, hand, arm_and_hand'
    client.publish('robot_description', String(data='<robot'), latched=True)
    status, values = health('robot', lambda status, _: status.level == DiagnosticStatus.WARN)
    assert 'refused' in status.message and values['robot'] == 'panda'
    assert 'not well-formed' in values['refused description']
    client.publish('robot_description', String(data=panda.urdf), latched=True)
    health('robot', lambda status, _: status.level == DiagnosticStatus.OK)


def test_requests(client, health, node, panda):
    before = int(health('requests', lambda *_: True)[1].get('requests compute_ik', 0))
    for number in range(5):
        client.ik(targets=[reachable(panda, 'panda_hand_tcp', number)])
    client.ik(targets=[unreachable()], timeout=Duration(nanosec=50_000_000))
    client.ik()
    _, values = health('requests', lambda _, values:
                       int(values.get('requests compute_ik', 0)) >= before + 7)
    assert int(values['failures NO_IK_SOLUTION']) == 1
    assert int(values['failures INVALID_GOAL_CONSTRAINTS']) >= 1
    assert values['refused as busy'] == '0'
    _, workers = health('workers', lambda *_: True)
    assert workers['workers'] == '1' and workers['replaced'] == '0'
    times = [float(values[f'solve time p{percent} [ms]']) for percent in (50, 90, 99)]
    assert 0 < times[0] <= times[1] <= times[2] < 5000


def test_joint_states(client, health, node):
    def fresh(status, _):
        client.joint_states({'panda_joint1': 0.1})
        return status.level == DiagnosticStatus.OK
    _, values = health('joint_states', fresh)
    assert float(values['age [s]']) < 0.5
    health('joint_states', lambda status, _: status.level == DiagnosticStatus.STALE)
