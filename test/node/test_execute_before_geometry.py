"""~/execute before the collision geometry of a new robot is created."""

import sys

from arm_harness import distance, execute, execute_async, FAST, HOME, stop, TRAJECTORIES
from node_harness import eventually, NodeProcess
import pytest
from std_msgs.msg import String

from ros2_ik.msg import Status

ASIDE = {'panda_joint1': 0.4}
# program of the node that creates the geometry once the file of its first argument exists
LATE_GEOMETRY = """
from pathlib import Path
import sys, time
from ros2_ik.node import main
from ros2_ik.node.state.planning_scene import GeometryBuilder
path, build = Path(sys.argv.pop(1)), GeometryBuilder._build
def late(*arguments):
    while not path.exists():
        time.sleep(0.02)
    return build(*arguments)
GeometryBuilder._build = late
main()
"""


@pytest.fixture
def go_file(tmp_path):
    """Return the file whose existence lets the node create geometry."""
    return tmp_path / 'go'


@pytest.fixture
def node(domain, mock, go_file, tmp_path):
    """Return a node that has not created its geometry yet."""
    node = NodeProcess(domain, tmp_path / 'log', {'workers': 1, **TRAJECTORIES, **FAST},
                       program=(sys.executable, '-c', LATE_GEOMETRY, str(go_file)))
    yield node
    go_file.touch()
    assert node.end() == 0 and 'Traceback' not in node.text, node.text


def execute_until(client, joints, status, **fields):
    """Repeat ~/execute until its response has a status; return the response."""
    return eventually(lambda: (answer := execute(client, joints, **fields)).status == status
                      and answer, status, 60.0)


def test_motion_before_the_geometry_is_ready_is_refused_unless_it_needs_no_check(
        client, node, go_file, record, panda):
    answer = execute_until(client, ASIDE, Status.COLLISION_CHECKING_UNAVAILABLE)
    assert 'geometry is still being made' in answer.message and answer.motion_seconds == 0
    assert distance(record.wait_for_rest(), {}) < 1e-3 and not record.trajectories
    answer = execute_until(client, ASIDE, Status.SUCCESS, avoid_collisions=False)
    assert 'the path was not checked for collisions' in answer.message
    go_file.touch()
    assert 'not checked' not in execute_until(client, HOME, Status.SUCCESS).message
    # stop a request that waits for the geometry of the next robot
    go_file.unlink()
    sent, count = len(record.trajectories), node.description_count
    changed = panda.urdf.replace('velocity="2.1', 'velocity="2.0')
    client.publish('robot_description', String(data=changed), latched=True)
    eventually(lambda: node.description_count > count, 'the next robot')
    future = execute_async(client, ASIDE)
    for _ in range(2):      # the second stop follows the request in any case
        stop(client)
    answer = client.wait(future)
    assert answer.status == Status.PREEMPTED and 'nothing was moved' in answer.message
    assert distance(record.wait_for_rest(), {}) < 1e-3 and len(record.trajectories) == sent
