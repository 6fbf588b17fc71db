"""The mock robot's joint_trajectory_controller follows the rules of ros2_controllers."""

import math
import time

from mock_harness import ARM, HOME, positions, seconds, TOPIC, trajectory, velocities
import pytest


@pytest.fixture
def home(mock):
    """Move the arm home; return the joint values at home."""
    mock.wait_for_rest()
    if [positions(mock.states[-1])[joint] for joint in ARM] != HOME:
        mock.move(TOPIC, trajectory(ARM, (0.2, HOME)))
    return dict(zip(ARM, HOME, strict=True))


def shifted(*shifts):
    """Return the home position plus shifts of the first joints [rad]."""
    return [at + (shifts[i] if i < len(shifts) else 0.0) for i, at in enumerate(HOME)]


def assert_follows(states, formula, until):
    """Compare the samples of joint 1 with a formula t -> (position, velocity)."""
    compared = 0
    for state in states:
        t = seconds(state, states[0])
        if not 0 < t < until:
            continue
        position, velocity = formula(t)
        assert positions(state)[ARM[0]] == pytest.approx(position, abs=1e-6)
        assert velocities(state)[ARM[0]] == pytest.approx(velocity, abs=1e-5)
        compared += 1
    assert compared >= 5


def cubic(t, T, p, v, end, w):
    """Return position and velocity at t of the cubic from p, v to `end`, w in time T."""
    c = (3 * (end - p) - (2 * v + w) * T) / T**2
    d = (2 * (p - end) + (v + w) * T) / T**3
    return p + v * t + c * t**2 + d * t**3, v + 2 * c * t + 3 * d * t**2


def test_trajectory_of_positions_is_interpolated_linearly(mock, home):
    states = mock.move(TOPIC, trajectory(ARM, (0.4, shifted(0.2)), (0.8, shifted(0.1))))
    assert_follows(states, lambda t: (0.5 * t, 0.5), 0.4)
    assert_follows(states, lambda t: (
        (0.5 * t, 0.5) if t < 0.4 else (0.2 - 0.25 * (t - 0.4), -0.25)), 0.8)
    assert positions(states[-1])[ARM[0]] == pytest.approx(0.1, abs=1e-12)
    assert not any(states[-1].velocity)


def test_trajectory_with_accelerations_is_interpolated_by_quintics(mock, home):
    still = [0.0] * 7
    states = mock.move(TOPIC, trajectory(ARM, (0.4, shifted(0.2), still, still),
                                         (0.8, shifted(0.4), still, still)))

    def formula(t):
        if t < 0.4:
            return cubic(t, 0.4, 0.0, 0.0, 0.2, 0.0)
        s = (t - 0.4) / 0.4
        return (0.2 + 0.2 * (10 * s**3 - 15 * s**4 + 6 * s**5),
                0.2 * (30 * s**2 - 60 * s**3 + 30 * s**4) / 0.4)
    assert_follows(states, formula, 0.8)


def test_trajectory_with_joints_in_another_order_is_followed(mock, home):
    goal = dict(zip(ARM, shifted(0.1, 0.2, -0.1, 0.3, 0.05, -0.2, 0.15), strict=True))
    names = ARM[::-1]
    states = mock.move(TOPIC, trajectory(names, (0.4, [goal[name] for name in names])))
    assert {name: positions(states[-1])[name] for name in ARM} == pytest.approx(goal)


def test_joint_states_are_sorted_and_contain_mimic_joints(mock):
    names = mock.states[-1].name
    assert names == sorted(names) and set(names) == {
        *ARM, 'panda_finger_joint1', 'panda_finger_joint2'}
    states = mock.move('hand_controller/joint_trajectory',
                       trajectory(['panda_finger_joint1'], (0.3, [0.03])))
    for state in states:
        at, fast = positions(state), velocities(state)
        assert at['panda_finger_joint2'] == at['panda_finger_joint1']
        assert fast['panda_finger_joint2'] == fast['panda_finger_joint1']
    assert positions(states[-1])['panda_finger_joint2'] == pytest.approx(0.03)


GOAL, STILL = shifted(0.2), [0.0] * 7


@pytest.mark.parametrize(('message', 'reason'), [
    (trajectory(ARM[:6], (0.3, GOAL[:6])), 'this controller has'),
    (trajectory([*ARM[:6], 'panda_finger_joint1'], (0.3, GOAL)), "'panda_finger_joint1']; this"),
    (trajectory(ARM), 'no points'),
    (trajectory(ARM, (0.3, GOAL), (0.3, GOAL)), 'time_from_start does not increase'),
    (trajectory(ARM, (0.3, GOAL, [0.0] * 6 + [2e-7])), 'the last point has velocities'),
    (trajectory(ARM, (0.3, GOAL), stamp=time.time() - 60), 'by header.stamp'),
    (trajectory(ARM, (0.3, GOAL[:6])), 'has [6, 0, 0, 0] positions'),
    (trajectory(ARM, (0.3, GOAL, STILL, STILL[:4])), 'has [7, 7, 4, 0] positions'),
    (trajectory(ARM, (0.3, GOAL, STILL, STILL, STILL)), 'has [7, 7, 7, 7] positions'),
])
def test_malformed_trajectories_are_refused(mock, home, message, reason):
    mock.assert_refused(TOPIC, message, reason)


@pytest.mark.parametrize('first_time', [0.0, 1e-6, 0.01])
def test_step_of_a_joint_is_logged_as_a_defect(mock, home, first_time):
    count_before = mock.text.count('defect: ')
    mock.move(TOPIC, trajectory(ARM, (first_time, shifted(1.57), [0.0] * 7, [0.0] * 7),
                                (0.3, shifted(1.57), [0.0] * 7, [0.0] * 7)))
    mock.until(lambda: mock.text.count('defect: ') > count_before and 'panda_joint1' in
               mock.text.rpartition('defect: ')[2], 'a defect')


def states_in_motion(mock, message):
    """Send a trajectory; return states during its motion."""
    start = mock.wait_for_rest()
    mock.send(TOPIC, message, lambda: positions(mock.states[-1]) != start, 'motion')
    first = len(mock.states) - 1
    mock.wait_for_states(10)
    return mock.states[first:]


def return_home(mock):
    """Replace a long motion by a short one to home."""
    mock.send(TOPIC, trajectory(ARM, (0.3, HOME)),
              lambda: velocities(mock.states[-1])[ARM[0]] < 0, 'the way back')


def seconds_since(state, stamp):
    return state.header.stamp.sec + state.header.stamp.nanosec * 1e-9 - stamp


def test_trajectory_with_a_past_stamp_is_joined_midway(mock, home):
    stamp = math.floor(time.time()) - 60.0
    states = states_in_motion(mock, trajectory(
        ARM, (50.0, shifted(0.2)), (200.0, shifted(0.8)), stamp=stamp))
    for state in states:
        expected = 0.2 + 0.6 * (seconds_since(state, stamp) - 50) / 150
        assert positions(state)[ARM[0]] == pytest.approx(expected, abs=1e-6)
    return_home(mock)


def test_trajectory_with_a_future_stamp_is_approached_at_once(mock, home):
    stamp = math.floor(time.time()) + 100.0
    states = states_in_motion(mock, trajectory(ARM, (10.0, shifted(0.2)), stamp=stamp))
    for state in states:
        left = 10 - seconds_since(state, stamp)
        assert positions(state)[ARM[0]] == pytest.approx(
            0.2 - velocities(state)[ARM[0]] * left, abs=1e-6)
    return_home(mock)


def test_new_trajectory_continues_from_the_current_state_without_a_step(mock, home):
    states_in_motion(mock, trajectory(ARM, (1.0, shifted(1.0))))
    count = len(mock.states)
    mock.send(TOPIC, trajectory(ARM, (2.0, shifted(0.0, 0.1))),
              lambda: velocities(mock.states[-1])[ARM[0]] < 0, 'the way back')
    assert mock.wait_for_rest()[ARM[1]] == pytest.approx(HOME[1] + 0.1)
    for before, after in zip(mock.states[count:], mock.states[count + 1:], strict=False):
        step = abs(positions(after)[ARM[0]] - positions(before)[ARM[0]])
        assert step <= 1.001 * seconds(after, before) + 1e-9   # no step
        assert step > 0 or velocities(after)[ARM[0]] == 0      # no standstill for a cycle
    mock.wait_for_states(20)
    assert positions(mock.states[-1])[ARM[0]] == pytest.approx(0.0, abs=1e-12)


def test_nan_positions_are_followed_and_logged_as_a_defect(mock, home):
    count_before = mock.text.count('defect: panda_joint3 was sent to nan')
    mock.send(TOPIC, trajectory(ARM, (0.3, [0.1, 0.1, math.nan, *HOME[3:]])),
              lambda: math.isnan(positions(mock.states[-1])[ARM[2]]), 'NaN')
    mock.wait_for_log('defect: panda_joint3 was sent to nan', count_before)
    mock.send(TOPIC, trajectory(ARM, (0.3, HOME)),
              lambda: not math.isnan(positions(mock.states[-1])[ARM[2]]), 'a number')
