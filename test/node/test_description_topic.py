"""How the node comes to its robot: descriptions that come, change, or are wrong."""

from pathlib import Path

from builtin_interfaces.msg import Duration
from node_harness import eventually, neutral, reachable
import pytest
from small_arm import SRDF, URDF
from std_msgs.msg import String

from ros2_ik.core import Robot
from ros2_ik.msg import Status


@pytest.fixture(scope='module')
def node(client, start_shared_node):
    return start_shared_node()


@pytest.fixture(scope='module')
def ur5():
    return Robot.load('ur5')


def refused(client, node, text, topic='robot_description'):
    """Publish a description and wait for the log's new line that refuses it."""
    before = node.text.count('refused')
    client.publish(topic, String(data=text), latched=True)
    eventually(lambda: node.text.count('refused') > before, 'a refusal')
    return [line for line in node.text.splitlines() if 'refused' in line][-1]


def test_no_robot_yet(client, node):
    for response in (client.ik(), client.fk()):
        assert response.status == Status.INVALID_ROBOT_STATE
        assert 'no robot yet' in response.message and 'robot_description' in response.message
    eventually(lambda: 'waiting for robot_description' in node.text, 'a reminder')


def test_volatile_publisher_and_a_broken_description_are_named_in_the_answer(client, node, panda):
    publisher = client.node.create_publisher(String, 'robot_description', 1)
    publisher.publish(String(data=panda.urdf))
    eventually(lambda: 'volatile' in client.ik().message, 'the reason')
    assert 'transient_local' in client.ik().message
    client.node.destroy_publisher(publisher)
    refused(client, node, '<robot name="x"><link name="a"/>')
    assert 'not well-formed' in client.ik().message


def test_swap(client, node, panda, ur5):
    for robot, tip in ((panda, 'panda_hand_tcp'), (ur5, 'tool0'), (panda, 'panda_hand_tcp')):
        client.describe(robot)
        response = client.ik(targets=[reachable(robot, tip)])
        assert response.status == Status.SUCCESS, response.message
        assert set(response.solution.joint_state.name) <= set(robot.joint_names)


def test_swap_during_a_search(client, node, panda, ur5):
    """It ends at once: what it has found is about a robot that is gone."""
    client.describe(panda)
    target = reachable(panda, 'panda_hand_tcp')
    later = client.ik_later(targets=[target], select='nearest', tips=['panda_hand_tcp'],
                            timeout=Duration(sec=9))
    client.fk(state=neutral(panda))   # answered after the search has begun
    client.describe(ur5)
    response = client.wait(later)
    assert response.status == Status.INVALID_ROBOT_STATE and response.seconds < 8
    assert 'the robot was replaced' in response.message
    assert not response.solution.joint_state.name


def test_same_text_is_ignored(client, node, panda):
    client.describe(panda)
    swaps = node.text.count("robot 'panda'")
    for _ in range(5):
        client.publish('robot_description', String(data=panda.urdf), latched=True)
        assert client.ik().message.startswith('there is no target')
    assert node.text.count("robot 'panda'") == swaps


ENTITIES = ''.join(f'<!ENTITY e{i + 1} "{f"&e{i};" * 10}">' for i in range(9))
BOMB = f"""<!DOCTYPE bomb [<!ENTITY e0 "aaaaaaaaaa"> {ENTITIES}]>
<robot name="bomb"><link name="&e9;"/></robot>"""

BROKEN = {
    'no XML': ('/etc/passwd', 'no XML'),
    'empty': ('', 'empty'),
    'not closed': ('<robot name="x"><link name="a"/>', 'not well-formed'),
    'no links': ('<robot name="x"/>', 'no links'),
    'joint to nowhere': (URDF.replace('<child link="hand"/>', '<child link="hnad"/>'), 'hnad'),
    'limits upside down': (URDF.replace('lower="-3" upper="3"', 'lower="3" upper="-3"'), "'turn'"),
    'entity bomb': (BOMB, 'DOCTYPE or entities'),
    'external entity': ('<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot/>',
                        'DOCTYPE or entities'),
    'too long': ('<robot>' + ' ' * 2_000_000, 'at most 2000000 are read'),
}


@pytest.fixture
def described(client, node, panda):
    """Give the node, which has the Panda."""
    client.describe(panda)
    return node


@pytest.mark.parametrize('name', BROKEN)
def test_broken_description(client, described, panda, name):
    """It is refused with the reason, and the old robot stays."""
    text, words = BROKEN[name]
    line = refused(client, described, text)
    assert words in line and "robot 'panda' stays" in line
    assert client.ik(targets=[reachable(panda, 'panda_hand_tcp')]).status == Status.SUCCESS


def test_broken_srdf(client, described, panda):
    line = refused(client, described, '<robot name="panda"><group', 'robot_description_semantic')
    assert 'SRDF' in line and "robot 'panda' stays" in line
    assert client.ik(group='arm').message.startswith('there is no target')


def chain(joints):
    """Give a robot of so many joints."""
    links = ''.join(f'<link name="l{i}"/>' for i in range(joints + 1))
    return f'<robot name="chain">{links}' + ''.join(
        f'<joint name="j{i}" type="revolute"><parent link="l{i}"/><child link="l{i + 1}"/>'
        '<axis xyz="0 1 0"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint>'
        for i in range(joints)) + '</robot>'


def peak_memory(pid):
    """Give the most memory that a process has had [MB]."""
    status = Path(f'/proc/{pid}/status').read_text()
    return int(status.partition('VmHWM:')[2].split()[0]) / 1e3


def test_joints_are_bounded_before_they_take_memory(client, node, panda):
    """Pinocchio's data of 400 joints take 4 GB in each process."""
    client.describe(panda)
    before = peak_memory(node.pid)
    line = refused(client, node, chain(400))
    assert '400 degrees of freedom' in line and 'at most 200 are taken' in line
    assert client.ik(targets=[reachable(panda, 'panda_hand_tcp')]).status == Status.SUCCESS
    assert peak_memory(node.pid) - before < 500


def test_srdf_that_comes_later(client, node):
    """The robot is made anew with it."""
    client.publish('robot_description', String(data=URDF), latched=True)
    eventually(lambda: client.ik(group='hand').status != Status.INVALID_GROUP_NAME,
               'the group that a tree without SRDF has')
    client.publish('robot_description_semantic', String(data=SRDF), latched=True)
    eventually(lambda: client.ik(group='arm').status != Status.INVALID_GROUP_NAME,
               'the group of the SRDF')
