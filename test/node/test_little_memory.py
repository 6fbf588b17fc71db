"""With little memory the node starts and answers, or says in words why it does not."""

from contextlib import suppress
import os
import resource
import signal

from ament_index_python.packages import get_package_prefix
from node_harness import children, eventually, reachable
import pytest

from ros2_ik.msg import Status

NODE = f'{get_package_prefix("ros2_ik")}/lib/ros2_ik/ik_node'
TIP = 'panda_hand_tcp'
LITTLE = 200 << 20   # bytes: nothing more is allocated


def starve(pid):
    resource.prlimit(pid, resource.RLIMIT_AS, (LITTLE, LITTLE))


@pytest.mark.slow
def test_workers_that_fail_are_no_end(start_node, client, panda):
    node = start_node()
    workers = eventually(node.workers, 'a worker')
    server = next(child for child in children(node.pid) if set(workers) <= set(children(child)))
    starve(server)   # those that it forks have no more
    for worker in workers:
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)
    eventually(lambda: 'a worker process died' in node.text, 'a worker that ends')
    client.describe(panda)
    answer = client.ik(targets=[reachable(panda, TIP, 1)], avoid_collisions=False)
    assert answer.status == Status.SUCCESS, answer.message
    assert node.process.poll() is None
    assert node.end() == 0
    node.log.write_text('')   # with the last words of the starved
