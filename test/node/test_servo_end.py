"""The servo of a node that ends, and of a controller that is slow."""

import os
import signal

from arm_harness import at_home, mock_robot, POSITIONS, TRAJECTORIES
from node_harness import eventually, nodes
import numpy as np
import pytest
from servo_harness import ACCELERATION, FRAMES, Servo, twist


@pytest.mark.parametrize(('number', 'kind'), [
    (signal.SIGTERM, 'joint_trajectory'),
    pytest.param(signal.SIGINT, 'position', marks=pytest.mark.slow)])
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
            before = servo.q()
            eventually(lambda: np.abs(servo.q() - before).max() > 0.1, 'full motion')
            os.kill(node.pid, number)
            assert node.process.wait(5) == 0
            servo.rest()
        servo.judge(since)
        servo.record.close()


def test_a_speed_slider_neither_slows_nor_jerks_the_arm(client, domain, tmp_path):
    """Between messages the arm went as slowly as the slider says, and then caught up."""
    with mock_robot(client, tmp_path, active=str(TRAJECTORIES['controllers']),
                    rate=100.0) as mock, nodes(domain, tmp_path) as start:
        start(**TRAJECTORIES)
        at_home(client)
        servo = Servo(client, mock, False)
        mock.set('time_scale', 0.2)
        servo.on('twist')
        with servo.commanding('twist', twist(0, 0.15, 0, 0, 0, 0)):
            begin = FRAMES.tip(servo.q()).translation
            eventually(lambda: np.linalg.norm(
                FRAMES.tip(servo.q()).translation - begin) > 0.05, 'a steady motion')
            since = len(servo.record)
            eventually(lambda: len(servo.record) > since + 100, 'a second of it')
            way = servo.record.way(since)
        servo.rest()
        first, last = (FRAMES.tip(q).translation for q in (way.positions[0], way.positions[-1]))
        seconds = way.times[-1] - way.times[0]
        assert np.linalg.norm(last - first) / seconds > 0.06     # slower on a busy computer
        speeds = np.diff(way.positions, axis=0) / np.diff(way.times)[:, None]
        changes = np.abs(np.diff(speeds, axis=0)) / np.diff(way.times)[1:, None]
        assert (np.percentile(changes, 75, axis=0) < 1.1 * ACCELERATION).all()    # was 5 to 14
        servo.record.close()
