"""MATLAB's names of options and results."""

from judge import pose
import numpy as np
import pytest

from ros2_ik.core import (
    Constraint,
    FramePosition,
    IKProblem,
    InvalidOptionError,
    solve,
    solve_pose,
    Status,
    UserFunction,
)

HAND = 'panda_hand'
T = pose((0.45, 0.1, 0.35), (2.4, 1.1, -0.4))


@pytest.mark.parametrize('theirs, ours', [
    ({'max_time': 0.5}, {'timeout': 0.5}),
    ({'allow_random_restart': False}, {'allow_restarts': False}),
    ({'enforce_joint_limits': False}, {'joint_limits': False})])
def test_the_same_under_both_names(load, theirs, ours):
    one, other = (solve_pose(load('panda'), HAND, T, random_state=0, **options)
                  for options in (theirs, ours))
    np.testing.assert_array_equal(one.best_q, other.best_q)
    assert (one.success, one.restarts) == (other.success, other.restarts)
    with pytest.raises(InvalidOptionError, match=next(iter(theirs))):
        solve_pose(load('panda'), HAND, T, **theirs, **ours)


def test_in_solve_too(load):
    problem = IKProblem(load('panda'), constraints=[
        Constraint(FramePosition(HAND), [3] * 3, [3] * 3)])
    solution = solve(problem, max_time=0.5, allow_random_restart=False)
    assert solution.restarts == 0 and not solution.success
    for both in ({'max_time': 1, 'timeout': 1},
                 {'allow_random_restart': True, 'allow_restarts': True}):
        with pytest.raises(InvalidOptionError, match='another name'):
            solve(problem, **both)


def test_max_time_is_the_timeout(load, ticking):
    far = UserFunction(lambda at: at.transform(HAND)[:3, 3], 3)     # no proof looks through that
    problem = IKProblem(load('panda'), constraints=[Constraint(far, [3] * 3, [3] * 3)])
    short, long = (solve(problem, max_time=seconds, random_state=0) for seconds in (0.05, 0.5))
    assert 0 < short.restarts < long.restarts


def test_joint_limits_can_be_let_go(load, judge_of):
    """A target that only joints outside their limits reach."""
    beyond = judge_of('panda').transform(
        dict.fromkeys(load('panda').joint_names, 0.0) | {'panda_joint4': 0.4}, HAND)
    seed = {'panda_joint4': 0.3}
    free = solve_pose(load('panda'), HAND, beyond, seed, enforce_joint_limits=False,
                      allow_random_restart=False, max_time=1.0)
    assert free.success and free.joints['panda_joint4'] > 0
    with pytest.raises(InvalidOptionError, match='joint_limits'):
        solve_pose(load('panda'), HAND, beyond, enforce_joint_limits='yes')


def test_an_approximate_answer_is_the_best_available(load):
    far = pose((0.9, 0, 0.4))
    options = {'weights': (1, 1, 1, 0, 0, 0), 'random_state': 0, 'max_iterations': 500,
               'timeout': 20}
    assert solve_pose(load('panda'), HAND, far, **options).status is Status.NO_IK_SOLUTION
    near = solve_pose(load('panda'), HAND, far, approximate=(0.2, 0), **options)
    assert near.status is Status.APPROXIMATE and not near.success
