"""Problems for a small arm, and comparison of their solutions."""

from judge import pose, TreeJudge
import numpy as np
from small_robots import SMALL

from ros2_ik.core import IKProblem, PoseTarget

ARM, TIP = 'zero_links', 'tip'
FAR = pose((3, 0, 0))     # out of reach


def reachable(robot, seed=0):
    """Return a reachable pose."""
    q = robot.random_q(np.random.default_rng(seed))
    return TreeJudge(SMALL[ARM]).transform(robot.to_joints(q), TIP)


def tip_problem(robot, seed=0, T=None, **arguments):
    """Return a problem with a reachable pose, or T."""
    return IKProblem(robot, [PoseTarget(TIP, reachable(robot, seed) if T is None else T)],
                     **arguments)


def assert_same_solution(a, b):
    """Assert that two solutions are equal except for their durations."""
    assert (a.status, a.iterations, a.restarts, a.errors) == (b.status, b.iterations, b.restarts,
                                                              b.errors)
    np.testing.assert_array_equal(a.best_q, b.best_q)
    assert [list(x.q) for x in a.alternatives] == [list(x.q) for x in b.alternatives]
