"""MATLAB's names and weights: the same answers, and axes of the base frame for the weights."""

from judge import check, pose, TreeJudge
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ros2_ik.core import (
    Configuration,
    Constraint,
    FramePosition,
    IKProblem,
    InvalidOptionError,
    InvalidTargetError,
    solve,
    solve_pose,
    Status,
    UserFunction,
)

HAND = 'panda_hand'
T = pose((0.45, 0.1, 0.35), (2.4, 1.1, -0.4))


def base_error(T_tip, T_target):
    """Rotation vector and position from target to tip along the axes of the base, (6,)."""
    turned = Rotation.from_matrix(T_tip[:3, :3] @ T_target[:3, :3].T)
    return np.concatenate([turned.as_rotvec(), T_tip[:3, 3] - T_target[:3, 3]])


@pytest.mark.parametrize('theirs, ours', [
    ({'max_time': 0.5}, {'timeout': 0.5}),
    ({'allow_random_restart': False}, {'allow_restarts': False}),
    ({'enforce_joint_limits': False}, {'joint_limits': False}),
    ({'matlab_weights': [1, 1, 1, 0.5, 0.5, 0.5]}, {'weights': [0.5, 0.5, 0.5, 1, 1, 1]})])
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
    assert solution.random_restarts == solution.restarts == 0
    assert solution.matlab_status == 'best available'
    for both in ({'max_time': 1, 'timeout': 1},
                 {'allow_random_restart': True, 'allow_restarts': True}):
        with pytest.raises(InvalidOptionError, match='another name'):
            solve(problem, **both)


def test_max_time_is_the_timeout(load, ticking):
    far = UserFunction(lambda at: at.transform(HAND)[:3, 3], 3)     # no proof looks through that
    problem = IKProblem(load('panda'), constraints=[Constraint(far, [3] * 3, [3] * 3)])
    short, long = (solve(problem, max_time=seconds, random_state=0) for seconds in (0.05, 0.5))
    assert 0 < short.random_restarts < long.random_restarts


def test_joint_limits_can_be_let_go(load, judge_of):
    """A target that only joints outside their limits reach."""
    beyond = judge_of('panda').transform(
        dict.fromkeys(load('panda').joint_names, 0.0) | {'panda_joint4': 0.4}, HAND)
    seed = {'panda_joint4': 0.3}
    free = solve_pose(load('panda'), HAND, beyond, seed, enforce_joint_limits=False,
                      allow_random_restart=False, max_time=1.0)
    assert free.matlab_status == 'success' and free.joints['panda_joint4'] > 0
    with pytest.raises(InvalidOptionError, match='joint_limits'):
        solve_pose(load('panda'), HAND, beyond, enforce_joint_limits='yes')


def test_nearest_the_lower_limit_as_matlab(load):
    """On request: by default it is the turn nearest the seed."""
    seed = {'wrist_1_joint': 4.0}
    target = Configuration(load('ur5'), seed).transform('tool0')
    near, low = (solve_pose(load('ur5'), 'tool0', target, seed, winding=winding)
                 for winding in ('seed', 'lower'))
    assert near.joints['wrist_1_joint'] == pytest.approx(4.0, abs=1e-3)
    assert low.joints['wrist_1_joint'] == pytest.approx(4.0 - 2 * np.pi, abs=1e-3)
    with pytest.raises(InvalidOptionError, match='winding'):
        solve_pose(load('ur5'), 'tool0', target, seed, winding='upper')


def test_an_approximate_answer_is_the_best_available(load):
    far = pose((0.9, 0, 0.4))
    options = {'matlab_weights': (0, 0, 0, 1, 1, 1), 'random_state': 0, 'max_iterations': 500,
               'timeout': 20}
    assert solve_pose(load('panda'), HAND, far, **options).status is Status.NO_IK_SOLUTION
    near = solve_pose(load('panda'), HAND, far, approximate=(0.2, 0), **options)
    assert near.status is Status.APPROXIMATE and near.matlab_status == 'best available'


# orientation first
WEIGHTS = [(0, 0, 0, 1, 1, 1), (0, 0, 0, 1, 1, 0), (0, 0, 0, 0, 0, 2), (1, 1, 1, 0, 0, 0),
           (1, 1, 1, 1, 0, 1), (1, 1, 0, 1, 1, 1), (0, 0, 1, 0, 1, 1), (0, 1, 0, 0, 0, 0),
           (0.2, 1, 0.5, 1, 2, 3)]


@pytest.mark.parametrize('weights', WEIGHTS)
@pytest.mark.parametrize('options', [{}, {'relative_to': 'panda_link2'}, {'solver': 'sqp'},
                                     {'solver': 'clik'}], ids=str)
def test_weights_are_orientation_first_along_the_base(load, weights, options):
    judge = TreeJudge(load('panda').urdf)       # yourdfpy passes over moves of a few 1e-9
    target = T
    if 'relative_to' in options:
        home = dict.fromkeys(load('panda').joint_names, 0.1) | {'panda_joint4': -2.0}
        target = judge.transform(home, HAND, 'panda_link2')
    solution = solve_pose(load('panda'), HAND, target, matlab_weights=weights, random_state=0,
                          timeout=3.0, **options)
    assert solution.success, solution.explain()
    tip = judge.transform(solution.joints, HAND, options.get('relative_to'))
    error = base_error(tip, target)
    counted = np.array(weights) > 0
    assert np.linalg.norm(error[:3] * counted[:3]) <= 1e-4
    assert np.linalg.norm(error[3:] * counted[3:]) <= 1e-5
    (reported,) = solution.errors
    assert reported.tip == HAND
    assert reported.orientation == pytest.approx(np.linalg.norm(error[:3] * counted[:3]),
                                                 abs=1e-12)
    assert reported.position == pytest.approx(np.linalg.norm(error[3:] * counted[3:]), abs=1e-12)
    assert judge.outside(solution.joints) == []


@pytest.mark.parametrize('weights', [(0, 0, 0, 1, 1, 0), (1, 1, 0, 1, 1, 1), (0, 0, 1, 0, 1, 1)])
def test_what_has_no_weight_is_not_held(load, judge_of, weights):
    """Only along the base's axes is it free: from a start there nothing has to move."""
    robot, judge = load('panda'), judge_of('panda')
    start = dict.fromkeys(robot.joint_names, 0.1) | {'panda_joint4': -2.0}
    at_start = judge.transform(start, HAND)
    shift = np.where(np.array(weights) > 0, 0, (0.3, -0.2, 0.4, 0.1, 0.2, -0.3))
    # target such that from it to the tip at the start leads `shift`, along the base's axes
    target = at_start.copy()
    target[:3, :3] = Rotation.from_rotvec(shift[:3]).as_matrix().T @ at_start[:3, :3]
    target[:3, 3] -= shift[3:]
    np.testing.assert_allclose(base_error(at_start, target), shift, atol=1e-12)
    solution = solve_pose(robot, HAND, target, start, matlab_weights=weights, collisions=False)
    assert solution.iterations == 0 and solution.success
    assert solution.pose_error_norm < 1e-9


def test_weights_of_several_tips(load, judge_of):
    judge = judge_of('baxter')
    home = dict.fromkeys(load('baxter').joint_names, 0.1)
    tips = ['left_gripper', 'right_gripper']
    targets = [judge.transform(home, tip) for tip in tips]
    rows = [(1, 1, 0, 1, 1, 1), (1, 1, 1, 1, 1, 1)]
    solution = solve_pose(load('baxter'), tips, targets, matlab_weights=rows, timeout=2.0,
                          random_state=0, solutions=2)
    assert [error.tip for error in solution.errors] == tips
    for other in solution.alternatives:
        assert [error.tip for error in other.errors] == tips
    error = base_error(judge.transform(solution.joints, tips[0]), targets[0])
    assert np.linalg.norm(error[[0, 1]]) <= 1e-4 and np.linalg.norm(error[3:]) <= 1e-5
    check(judge, solution, [(tips[1], targets[1])])


@pytest.mark.parametrize('weights', [(1,) * 5, 'x', [-1, 1, 1, 1, 1, 1], [0] * 6,
                                     [float('nan')] * 6, [[1] * 6] * 2, 1.0,
                                     [0, 0, 0, 1, 1, -1], [1, 1, -1, 0, 0, 0]])
def test_bad_weights(load, weights):
    with pytest.raises(InvalidTargetError, match='weights'):
        solve_pose(load('panda'), HAND, T, matlab_weights=weights)
    with pytest.raises(InvalidTargetError, match='weights'):
        solve_pose(load('panda'), [HAND], [T], matlab_weights=weights)
