"""The end of a node whose servo moves the arm."""

import os
import signal
import time

from arm_harness import at_home, mock_robot, POSITIONS, TRAJECTORIES
from node_harness import nodes
import pytest
from servo_harness import Servo, twist


@pytest.mark.parametrize(('number', 'kind'), [
    (signal.SIGTERM, 'joint_trajectory'),
    pytest.param(signal.SIGINT, 'position', marks=pytest.mark.slow),
    pytest.param(signal.SIGTERM, 'position', marks=pytest.mark.slow),
    pytest.param(signal.SIGINT, 'joint_trajectory', marks=pytest.mark.slow)])
def test_a_node_that_ends_brakes(client, domain, kind, number, tmp_path):
    """Its servo was killed in full motion, and a stream ended without a ramp."""
    streams = kind == 'position'
    active = POSITIONS if streams else TRAJECTORIES
    with mock_robot(client, tmp_path, active=str(active['controllers']),
                    rate=250.0 if streams else 100.0) as mock, nodes(domain, tmp_path) as start:
        node = start(**active)
        at_home(client)
        servo = Servo(client, mock, streams)
        servo.on('twist')
        since = len(servo.record)
        with servo.commanding('twist', twist(0, 0.2, 0, 0, 0, 0)):
            time.sleep(0.8)
            os.kill(node.pid, number)
            assert node.process.wait(5) == 0
            servo.rest()
        servo.judge(since)
        servo.record.close()
