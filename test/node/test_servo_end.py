"""The servo of a node that ends."""

import os
import signal

from arm_harness import at_home, mock_robot, POSITIONS, TRAJECTORIES
from node_harness import eventually, nodes
import numpy as np
import pytest
from servo_harness import Servo, twist


@pytest.mark.parametrize(('number', 'kind'), [
    (signal.SIGTERM, 'joint_trajectory'),
    pytest.param(signal.SIGINT, 'position', marks=pytest.mark.slow)])
def test_servo_of_an_ending_node_brakes(client, domain, kind, number, tmp_path):
    """Past defect: it was killed in full motion, and a stream ended without a ramp."""
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
            before = servo.q()
            eventually(lambda: np.abs(servo.q() - before).max() > 0.1, 'full motion')
            os.kill(node.pid, number)
            assert node.process.wait(20) == 0
            servo.rest()
        servo.judge(since)
        servo.record.close()
