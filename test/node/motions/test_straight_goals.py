"""Straight motions of the tip: on the line, or refused with a reason."""

from arm_harness import HOME, near, stop
from node_harness import eventually, stamped
import numpy as np
import pinocchio as pin
import pytest
from scene_harness import applied, box, diff, pose
from servo_harness import FRAMES, TIP

from ros2_ik.msg import Function, Status

SHIFT = np.array([0.05, 0.25, -0.1])


def place(positions):
    """Return the tip's pose (4, 4) by Pinocchio alone."""
    return FRAMES.tip(np.asarray(positions)).homogeneous


def goal_at(shift, turn=0.0):
    """Return the pose at home, shifted [m] and turned about its z axis [rad]."""
    T = place(list(HOME.values()))
    T[:3, 3] += shift
    T[:3, :3] = T[:3, :3] @ pin.exp3(np.array([0.0, 0.0, turn]))
    return stamped(T), T


def off_the_line(ways, T_end):
    """Return the largest distance [m] and rotation [rad] of the tip from the line."""
    T = place(list(HOME.values()))
    way = T_end[:3, 3] - T[:3, 3]
    turned = pin.log3(T[:3, :3].T @ T_end[:3, :3])
    far, off = 0.0, 0.0
    for positions in ways:
        at = place(positions)
        part = (at[:3, 3] - T[:3, 3]) @ way / (way @ way)
        far = max(far, np.linalg.norm(at[:3, 3] - T[:3, 3] - part * way))
        wanted = T[:3, :3] @ pin.exp3(part * turned)
        off = max(off, np.linalg.norm(pin.log3(wanted.T @ at[:3, :3])))
    return far, off


def test_straight_goal_keeps_the_tip_on_the_line(client, record):
    target, T = goal_at(SHIFT, turn=0.4)
    since = len(record)
    answer = client.ik(targets=[target], tips=[TIP], execute=True, straight=True, tip_speed=0.2)
    assert answer.status == Status.SUCCESS, answer.message
    times, ways, _ = record.way(since)
    assert np.linalg.norm(place(record.still())[:3, 3] - T[:3, 3]) < 1e-3
    far, off = off_the_line(ways, T)
    assert far < 1.5e-3 and off < 1.5e-2
    places = np.array([place(positions)[:3, 3] for positions in ways])
    window = 10     # of so many messages, as stamps tremble
    speeds = np.linalg.norm(places[window:] - places[:-window], axis=1) / (
        times[window:] - times[:-window])
    assert 0.19 < speeds.max() < 0.205
    assert (np.diff((places - places[0]) @ SHIFT) > -1e-4).all()    # nowhere back
    # without `straight` it does not keep to the line: the test can tell
    since = len(record)
    assert client.ik(targets=[stamped(place(list(HOME.values())))], tips=[TIP],
                     execute=True).status == Status.SUCCESS
    assert off_the_line(record.way(since)[1], T)[0] > 5e-3


def test_obstacle_on_the_line_is_named(client, record):
    target, _ = goal_at(SHIFT)
    middle = place(list(HOME.values()))[:3, 3] + SHIFT / 2
    applied(client, diff(box('post', 0.04, at=pose(*middle))))
    record.trajectories.clear()
    answer = client.ik(targets=[target], tips=[TIP], execute=True, straight=True)
    assert answer.status != Status.SUCCESS and "'post'" in answer.message, answer.message
    assert 'breaks at' in answer.message and not answer.solution.joint_state.name
    assert not record.trajectories and near(record.still(), {}) < 1e-3


@pytest.mark.parametrize('far', [0.03, 0.2])
def test_stop_brakes_on_the_line(client, record, far):
    """Also while a joint reverses on the way."""
    target, T = goal_at((0.0, 0.45, 0.0))
    since = len(record)
    asked = client.ik_later(targets=[target], tips=[TIP], execute=True, straight=True,
                            tip_speed=0.15, max_joint_change=3.0)
    start = place(list(HOME.values()))[:3, 3]
    eventually(lambda: np.linalg.norm(place(record.at())[:3, 3] - start) > far, 'the arm moves')
    assert stop(client).success
    answer = client.wait(asked)
    assert answer.status == Status.PREEMPTED and 'stopped on the way' in answer.message
    rest = place(record.still())[:3, 3] - start
    assert far < rest[1] < far + 0.08
    assert off_the_line(record.way(since)[1], T)[0] < 5e-3
    times, positions, _ = record.way(since)
    speeds = np.abs(np.diff(positions, axis=0)) / np.diff(times)[:, None]
    assert speeds.max() < 2.2


def test_malformed_straight_requests_are_refused(client, usual):
    target, _ = goal_at(SHIFT)
    for fields, text in (
            ({'tip_speed': -1.0}, 'tip_speed is -1'), ({'tip_speed': np.nan}, 'tip_speed is nan'),
            ({'tip_speed': 0.05, 'straight': False}, 'tip_speed is 0.05, but straight is false'),
            ({'costs': [Function(kind='joint_positions')]}, 'costs'),
            ({'targets': [target] * 2, 'tips': [TIP, 'panda_link4']},
             'straight: 2 targets; valid: one')):
        answer = client.ik(**{'targets': [target], 'tips': [TIP], 'straight': True, **fields})
        assert answer.status == Status.INVALID_GOAL_CONSTRAINTS, answer.message
        assert text in answer.message


def test_line_beyond_max_joint_change_is_refused(client, record):
    target, _ = goal_at(SHIFT)
    answer = client.ik(targets=[target], tips=[TIP], straight=True, max_joint_change=0.1)
    assert answer.status != Status.SUCCESS and 'max_joint_change' in answer.message
