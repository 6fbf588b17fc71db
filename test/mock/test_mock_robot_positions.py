"""The mock robot's position controller, joint_command, and the switching of controllers."""

import math

from mock_harness import ARM, positions, seconds, TOPIC, trajectory, velocities
import pytest
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

COMMANDS = 'arm_position_controller/commands'


@pytest.fixture
def streamed(mock):
    """Return the mock robot with its position controller active."""
    assert mock.set('active', ['arm_position_controller', 'hand_controller']) == ''
    yield mock
    assert mock.set('active', ['arm_controller', 'hand_controller']) == ''


def command(*values):
    return Float64MultiArray(data=[float(value) for value in values])


def arm(state):
    return [positions(state)[joint] for joint in ARM]


def test_position_command_is_a_step_with_its_velocity(streamed):
    streamed.move(COMMANDS, command(0.0, -0.7, 0.0, -2.3, 0.0, 1.5, 0.7))
    states = streamed.move(COMMANDS, command(0.3, -0.7, 0.0, -2.3, 0.0, 1.5, 0.7))
    assert arm(states[1]) == pytest.approx([0.3, -0.7, 0.0, -2.3, 0.0, 1.5, 0.7])
    assert velocities(states[1])[ARM[0]] == pytest.approx(
        0.3 / max(seconds(states[1], states[0]), 0.01))
    streamed.logged('defect: panda_joint1 moves at')


@pytest.mark.parametrize('values', [[math.nan] + [0.0] * 6, [0.0] * 6 + [math.inf], [0.1] * 6])
def test_malformed_position_command_is_dropped(streamed, values):
    streamed.refused(COMMANDS, command(*values), 'are not 7 finite positions')


def test_inactive_controller_ignores_commands(mock):
    mock.refused(COMMANDS, command(*[0.1] * 7), 'the controller is not active')
    assert mock.set('active', ['arm_position_controller']) == ''
    mock.refused(TOPIC, trajectory(ARM, (0.3, [0.1] * 7)), 'the controller is not active')
    assert mock.set('active', ['arm_controller', 'hand_controller']) == ''


def test_deactivating_a_controller_stops_its_motion(mock):
    start = arm(mock.states[-1])
    mock.send(TOPIC, trajectory(ARM, (20.0, [start[0] + 1.0, *start[1:]])),
              lambda: arm(mock.states[-1]) != start, 'motion')
    assert mock.set('active', ['arm_position_controller']) == ''
    stopped = mock.rest()
    assert mock.set('active', ['arm_controller', 'hand_controller']) == ''
    assert mock.hear(20) == stopped


@pytest.mark.parametrize(('active', 'reason'), [
    (['arm_controler'], "no controller 'arm_controler'; there are arm_controller, arm_pos"),
    (['arm_controller', 'arm_position_controller'], "both command 'panda_joint1'"),
])
def test_invalid_set_of_active_controllers_is_refused(mock, active, reason):
    before = mock.get('active')
    assert reason in mock.set('active', active)
    assert mock.get('active') == before


def test_joint_command_moves_joints_by_name(mock):
    start = positions(mock.states[-1])
    states = mock.move('joint_command', JointState(name=['panda_joint5', 'panda_joint1'],
                                                   position=[0.01, start['panda_joint1']]))
    assert positions(states[-1]) == pytest.approx(start | {'panda_joint5': 0.01})
    for names, reason in ((ARM, '1 positions for 7 names'), (['x'], "unknown joints: ['x']")):
        mock.refused('joint_command', JointState(name=names, position=[0.0]), reason)
