"""How many files of the node a request goes through, which a reader has to follow."""

import json
import os
from pathlib import Path
import signal
import sys

from arm_harness import at_home, HOME, mock_robot, TRAJECTORIES
from node_harness import NodeProcess, seed, stamped
import pytest
from traced_node import MARK

from ros2_ik.core import Configuration
from ros2_ik.msg import Status

TIP = 'panda_hand_tcp'


@pytest.fixture(scope='module')
def node(client, domain, tmp_path_factory):
    """Give a node that says which files its requests pass, and moves a panda."""
    with mock_robot(client, tmp_path_factory.mktemp('mock')):
        node = NodeProcess(domain, tmp_path_factory.mktemp('node') / 'log', {
            'workers': 1, **TRAJECTORIES}, program=(
                sys.executable, str(Path(__file__).with_name('traced_node.py'))))
        at_home(client)
        os.kill(node.pid, signal.SIGUSR1)
        yield node
        assert node.end() == 0, node.text


@pytest.mark.parametrize(('execute', 'most'), [(False, 17), (True, 36)])
def test_a_request_passes_few_files(client, node, panda, execute, most):
    there = Configuration(panda, {**HOME, 'panda_joint1': 0.1, 'panda_joint4': -2.3})
    for _ in range(2):      # the second has everything made
        answer = client.ik(targets=[stamped(there.transform(TIP))], tips=[TIP], seed=seed(HOME),
                           execute=execute)
        assert answer.status == Status.SUCCESS, answer.message
    lines = [line for line in node.text.splitlines() if line.startswith(MARK)]
    passed = json.loads(lines[-1].removeprefix(MARK))
    assert len(passed) <= most, '\n'.join(passed)
    assert 'node/endpoints/compute_ik.py' in passed
