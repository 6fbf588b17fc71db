"""Continuous joints, moved over DDS."""

from arm_harness import execute, mock_robot, Recorder
from node_harness import eventually
import numpy as np
import pytest

from ros2_ik.msg import Status

JOINT = 'j2s6s200_joint_1'


@pytest.mark.slow
def test_the_short_way_over_pi(client, tmp_path, start_node):
    """From 3 to -3 it is .28 rad over pi, not 6 rad back."""
    with mock_robot(client, tmp_path, 'kinova'):
        start_node(controllers=['end_effector_controller'], velocity_scaling=1.0,
                   **{'end_effector_controller.group': 'end_effector'})
        eventually(lambda: execute(client, {JOINT: 3.0}).status == Status.SUCCESS,
                   'the first joint at 3', 60)
        record = Recorder(client)
        before = record.at((JOINT,))
        answer = execute(client, {JOINT: -3.0})
        assert answer.status == Status.SUCCESS, answer.message
        after = record.at((JOINT,))
        assert abs(np.remainder(after - before + np.pi, 2 * np.pi) - np.pi
                   - (2 * np.pi - 6)).max() < 2e-3
        way = record.way(0, (JOINT,))[1]
        assert np.cos(way - np.pi).min() > np.cos(0.15)    # always near pi
        record.close()
