"""~/execute while the collision geometry of a new robot is being created."""

import sys

from arm_harness import execute, execute_later, FAST, HOME, near, stop, TRAJECTORIES
from node_harness import eventually, NodeProcess
import pytest
from std_msgs.msg import String

from ros2_ik.msg import Status

ASIDE = {'panda_joint1': 0.4}
# the node; the geometry is created once the file of the first argument exists
LATE_GEOMETRY = """
from pathlib import Path
import sys, time
from ros2_ik.node import main
from ros2_ik.node.state.planning_scene import CollisionGeometry
path, build = Path(sys.argv.pop(1)), CollisionGeometry._build
def late(*arguments):
    while not path.exists():
        time.sleep(0.02)
    return build(*arguments)
CollisionGeometry._build = late
main()
"""


@pytest.fixture
def made(tmp_path):
    """Return the file that lets the node create geometry."""
    return tmp_path / 'made'


@pytest.fixture
def node(domain, mock, made, tmp_path):
    """Return a node whose geometry is not created yet."""
    node = NodeProcess(domain, tmp_path / 'log', {'workers': 1, **TRAJECTORIES, **FAST},
                       program=(sys.executable, '-c', LATE_GEOMETRY, str(made)))
    yield node
    made.touch()
    assert node.end() == 0 and 'Traceback' not in node.text, node.text


def answered(client, joints, status, **fields):
    """Request motions until one is answered with a status; return the answer."""
    return eventually(lambda: (answer := execute(client, joints, **fields)).status == status
                      and answer, status, 60.0)


def test_motion_without_geometry_is_refused_unless_it_needs_no_check(
        client, node, made, record, panda):
    answer = answered(client, ASIDE, Status.COLLISION_CHECKING_UNAVAILABLE)
    assert 'geometry is still being made' in answer.message and answer.motion_seconds == 0
    assert near(record.still(), {}) < 1e-3 and not record.trajectories
    answer = answered(client, ASIDE, Status.SUCCESS, avoid_collisions=False)
    assert 'the path was not checked for collisions' in answer.message
    made.touch()
    assert 'not checked' not in answered(client, HOME, Status.SUCCESS).message
    # a stop while a request waits for the geometry of the next robot
    made.unlink()
    sent, robots = len(record.trajectories), node.descriptions
    client.publish('robot_description', String(data=f'{panda.urdf} '), latched=True)
    eventually(lambda: node.descriptions > robots, 'the next robot')
    asked = execute_later(client, ASIDE)
    for _ in range(2):      # the second one is sent after the node has taken the request
        stop(client)
    answer = client.wait(asked)
    assert answer.status == Status.PREEMPTED and 'nothing was moved' in answer.message
    assert near(record.still(), {}) < 1e-3 and len(record.trajectories) == sent
