"""Motions through poses, found as another process does it; judged by the poses and differences."""

import numpy as np
from path_judge import deviation
import pytest

from ros2_ik.core import (
    Configuration,
    IKProblem,
    InvalidOptionError,
    MotionLimits,
    PathOptions,
    PathSearch,
    PoseTarget,
    Robot,
    Status,
    Waypoints,
)

START = {'panda_joint2': -0.785398, 'panda_joint4': -2.35619, 'panda_joint6': 1.5708,
         'panda_joint7': 0.785398}
TIP = 'panda_hand_tcp'
LIMITS = MotionLimits(np.full(7, 2.0), np.full(7, 3.0), np.full(7, 60.0))


@pytest.fixture(scope='module')
def panda():
    return Robot.load('panda')


def search(robot, points):
    """Return the search for a motion by shifts (k, 3) [m] from the start, and its poses."""
    q = robot.to_q(START)
    T = Configuration(robot, q).transform(TIP)
    poses = [T + np.pad(np.array(point)[:, None], ((0, 1), (3, 0))) for point in points]
    problem = IKProblem(robot, PoseTarget(TIP, T), group='arm', start=q)
    return PathSearch(problem, poses, LIMITS, 1.0, PathOptions()), poses


def rests(found):
    """Return the indices of points at which no joint moves."""
    return np.flatnonzero(np.abs(found.states[:, 1]).max(axis=1) < 1e-9).tolist()


def test_tip_rests_at_sharp_corners_alone(panda):
    turns = np.linspace(0, np.pi, 31)     # half a circle, then a corner and a line
    points = [*np.column_stack([0.05 * (1 - np.cos(turns)), 0.05 * np.sin(turns), 0 * turns]),
              (0.1, 0.0, 0.1)]
    asked, poses = search(panda, points)
    other = PathSearch.of_question(panda, asked.question())
    assert other.run()
    found = other.solution()
    assert found.status is Status.SUCCESS and found.fraction == 1.0
    first, corner, last = rests(found)
    assert (first, last) == (0, len(found.times) - 1)
    q = np.repeat(panda.to_q(START)[None], len(found.times), axis=0)
    q[:, [panda.joint(name).index for name in found.joints]] = found.states[:, 0]
    assert deviation(panda, TIP, q[:corner], Waypoints(poses[:-1])) < 2e-3
    assert deviation(panda, TIP, q[corner:], Waypoints(poses[-2:])) < 2e-3
    assert np.linalg.norm(Configuration(panda, q[corner]).transform(TIP) - poses[-2]) < 1e-4


def test_poses_that_are_all_equal_are_reached_at_once(panda):
    asked, _ = search(panda, [(0, 0, 0)] * 3)
    assert asked.run() and asked.solution().fraction == 1.0
    assert asked.solution().times.tolist() == [0.0]


def test_what_was_not_run_is_no_success(panda):
    asked, _ = search(panda, [(0, 0, 0), (0, 0.1, 0)])
    assert asked.solution().status is Status.PREEMPTED and asked.solution().fraction == 0.0
    asked.budget.cancel = lambda: True
    asked.run()
    assert asked.solution().status is Status.PREEMPTED and asked.solution().fraction < 1.0


def test_other_bytes_are_refused(panda):
    with pytest.raises(InvalidOptionError, match='not the question of a path'):
        PathSearch.of_question(panda, b'nothing')
