"""Straight motions of the tip: deviation from the line, stops and refusals."""

from arm_harness import distance, HOME, stop
from node_harness import eventually, stamped
import numpy as np
import pinocchio as pin
import pytest
from scene_harness import applied, box, diff, pose
from servo_harness import FRAMES, TIP

from ros2_ik.msg import Function, Status

SHIFT = np.array([0.05, 0.25, -0.1])


def tip_pose(positions):
    """Return the pose of the tip (4, 4) by Pinocchio alone."""
    return FRAMES.tip(np.asarray(positions)).homogeneous


def shifted_goal(shift, angle=0.0):
    """Return the pose at HOME, shifted [m] and rotated about its z axis [rad]; as (4, 4), too."""
    T = tip_pose(list(HOME.values()))
    T[:3, 3] += shift
    T[:3, :3] = T[:3, :3] @ pin.exp3(np.array([0.0, 0.0, angle]))
    return stamped(T), T


def line_deviation(states, T_end):
    """Return the largest deviation of the tip from the line, in position [m] and angle [rad]."""
    T = tip_pose(list(HOME.values()))
    line = T_end[:3, 3] - T[:3, 3]
    rotation = pin.log3(T[:3, :3].T @ T_end[:3, :3])
    distance, angle = 0.0, 0.0
    for positions in states:
        tip = tip_pose(positions)
        s = (tip[:3, 3] - T[:3, 3]) @ line / (line @ line)
        distance = max(distance, np.linalg.norm(tip[:3, 3] - T[:3, 3] - s * line))
        expected = T[:3, :3] @ pin.exp3(s * rotation)
        angle = max(angle, np.linalg.norm(pin.log3(expected.T @ tip[:3, :3])))
    return distance, angle


def test_straight_goal_keeps_the_tip_on_the_line(client, record):
    target, T = shifted_goal(SHIFT, angle=0.4)
    since = len(record)
    answer = client.ik(targets=[target], tips=[TIP], execute=True, straight=True, tip_speed=0.2)
    assert answer.status == Status.SUCCESS, answer.message
    times, states, _ = record.motion(since)
    assert np.linalg.norm(tip_pose(record.wait_for_rest())[:3, 3] - T[:3, 3]) < 1e-3
    deviation, angle = line_deviation(states, T)
    assert deviation < 1.5e-3 and angle < 1.5e-2
    tips = np.array([tip_pose(positions)[:3, 3] for positions in states])
    window = 10     # messages per mean, as stamps jitter
    speeds = np.linalg.norm(tips[window:] - tips[:-window], axis=1) / (
        times[window:] - times[:-window])
    assert 0.19 < speeds.max() < 0.205
    assert (np.diff((tips - tips[0]) @ SHIFT) > -1e-4).all()    # never backwards
    # without `straight` the tip leaves the line, so this test can fail
    since = len(record)
    assert client.ik(targets=[stamped(tip_pose(list(HOME.values())))], tips=[TIP],
                     execute=True).status == Status.SUCCESS
    assert line_deviation(record.motion(since)[1], T)[0] > 5e-3


def test_straight_goal_through_an_obstacle_is_refused_and_names_it(client, record):
    target, _ = shifted_goal(SHIFT)
    middle = tip_pose(list(HOME.values()))[:3, 3] + SHIFT / 2
    applied(client, diff(box('post', 0.04, at=pose(*middle))))
    record.trajectories.clear()
    answer = client.ik(targets=[target], tips=[TIP], execute=True, straight=True)
    assert answer.status == Status.GOAL_IN_COLLISION and "'post'" in answer.message, answer
    assert 'breaks at' in answer.message and not answer.solution.joint_state.name
    assert not record.trajectories and distance(record.wait_for_rest(), {}) < 1e-3


@pytest.mark.parametrize('traveled', [0.03, 0.2])     # from the start [m]
def test_stop_brakes_on_the_line(client, record, traveled):
    """The stop may come while a joint reverses."""
    target, T = shifted_goal((0.0, 0.45, 0.0))
    since = len(record)
    future = client.ik_async(targets=[target], tips=[TIP], execute=True, straight=True,
                             tip_speed=0.15, max_joint_change=3.0)
    start = tip_pose(list(HOME.values()))[:3, 3]
    eventually(lambda: future.done()
               or np.linalg.norm(tip_pose(record.read())[:3, 3] - start) > traveled, 'motion')
    assert not future.done(), future.result()
    assert stop(client).success
    answer = client.wait(future)
    assert answer.status == Status.PREEMPTED and 'stopped on the way' in answer.message
    rest = tip_pose(record.wait_for_rest())[:3, 3] - start
    assert traveled < rest[1] < traveled + 0.08
    assert line_deviation(record.motion(since)[1], T)[0] < 5e-3
    times, positions, _ = record.motion(since)
    speeds = np.abs(np.diff(positions, axis=0)) / np.diff(times)[:, None]
    assert speeds.max() < 2.2


def test_malformed_straight_goals_are_refused(client, standard_parameters):
    target, _ = shifted_goal(SHIFT)
    for fields, text in (
            ({'tip_speed': -1.0}, 'tip_speed is -1'), ({'tip_speed': np.nan}, 'tip_speed is nan'),
            ({'tip_speed': 0.05, 'straight': False}, 'tip_speed is 0.05, but straight is false'),
            ({'costs': [Function(kind='joint_positions')]}, 'costs'),
            ({'targets': [target] * 2, 'tips': [TIP, 'panda_link4']},
             'straight: 2 targets; valid: one')):
        answer = client.ik(**{'targets': [target], 'tips': [TIP], 'straight': True, **fields})
        assert answer.status == Status.INVALID_GOAL_CONSTRAINTS, answer.message
        assert text in answer.message


def test_straight_goal_beyond_max_joint_change_is_refused(client, record):
    target, _ = shifted_goal(SHIFT)
    answer = client.ik(targets=[target], tips=[TIP], straight=True, max_joint_change=0.1)
    assert answer.status == Status.NO_IK_SOLUTION, answer.message
    assert 'no solution within max_joint_change 0.1' in answer.message
