"""BFGS with projected gradients, and MATLAB's parameters."""

from judge import pose, TreeJudge
import numpy as np
import pytest
from small_robots import SMALL

from ros2_ik.core import (
    Budget,
    Configuration,
    Constraint,
    ExitFlag,
    FramePosition,
    IKProblem,
    InvalidOptionError,
    PoseTarget,
    solve,
)
from ros2_ik.core.solvers import make_solver

UPPER, LOWER = 0.5, 0.4     # links of planar_2r
PLACE = (1, 1, 1, 0, 0, 0)


def attempt(problem, budget=None, **options):
    """Run one descent."""
    return make_solver('bfgs', problem, options).attempt(problem.start, budget or Budget())


def at_place(robot, x, y, start, tolerance=1e-5):
    """Ask a planar arm for a place of its tip."""
    return IKProblem(robot, PoseTarget('tip', pose((x, y, 0)), weights=PLACE,
                                       position_tolerance=tolerance), start=start)


@pytest.mark.parametrize('side', [1, -1])
def test_two_links(small, side):
    """The law of cosines; of the two postures the one that is near."""
    for x, y in ((0.6, 0.2), (-0.1, 0.5), (0.3, -0.4)):
        distance = np.hypot(x, y)
        bend = side * np.arccos((distance**2 - UPPER**2 - LOWER**2) / (2 * UPPER * LOWER))
        turn = np.arctan2(y, x) - np.arctan2(LOWER * np.sin(bend), UPPER + LOWER * np.cos(bend))
        turn = np.arctan2(np.sin(turn), np.cos(turn))
        found = attempt(at_place(small('planar_2r'), x, y, [turn + 0.2, bend - 0.2], 1e-9))
        assert found.exit_flag is ExitFlag.CONVERGED and found.reached
        np.testing.assert_allclose(found.q, [turn, bend], atol=1e-7)


def test_matlabs_objective(small):
    """The sum of the squares of weighted errors: out of reach, it is least where they balance."""
    robot, judge = small('gantry'), TreeJudge(SMALL['gantry'])
    targets = [PoseTarget('tip', pose(p), weights=(*w, 0, 0, 0))
               for p, w in (((0.2, 1.0, 0.1), (1, 1, 1)), ((0.8, 1.4, 0.4), (1, 1, 1)))]
    found = attempt(IKProblem(robot, targets, start={'x': 0, 'y': 0.6, 'z': 0}))
    place = judge.transform(robot.to_joints(found.q), 'tip')[:3, 3]
    np.testing.assert_allclose(place, [0.5, 1.2, 0.25], atol=1e-6)
    assert not found.reached and found.exit_flag is ExitFlag.ERROR_CHANGE_TOO_SMALL
    assert found.error == pytest.approx(0.5 * (0.6**2 + 0.4**2 + 0.3**2))


def test_the_gradient_is_projected_on_the_limits(small):
    """An optimum on a limit is reached exactly, and found to be one."""
    robot = small('gantry')     # x within 1, y from 0.5 to 1.5, z from 0 to 0.5
    target = PoseTarget('tip', pose((2.0, 0.2, 0.3)), weights=PLACE)
    found = attempt(IKProblem(robot, target, start={'x': 0, 'y': 1.0, 'z': -0.1}))
    assert (found.q[0], found.q[1]) == (1.0, 0.5)
    assert found.q[2] == pytest.approx(-0.3, abs=1e-6)
    assert found.exit_flag is ExitFlag.ERROR_CHANGE_TOO_SMALL
    assert found.error == pytest.approx(1.0**2 + 0.3**2)


def test_tolerances_of_matlab(small):
    robot = small('planar_2r')
    far, near = at_place(robot, 3.0, 1.0, [0.9, 0.8]), at_place(robot, 0.5, 0.3, [0.9, 0.8])
    for option, flag in (('step_tolerance', ExitFlag.STEP_TOO_SMALL),
                         ('gradient_tolerance', ExitFlag.ERROR_CHANGE_TOO_SMALL)):
        coarse, fine = (attempt(far, **{option: value}) for value in (0.1, 1e-3))
        assert coarse.exit_flag is fine.exit_flag is flag
        assert coarse.iterations < fine.iterations and coarse.error > fine.error
    assert fine.error == pytest.approx((np.hypot(3, 1) - UPPER - LOWER)**2, abs=1e-6)
    for tolerance in (1e-1, 1e-4, 1e-8):
        found = attempt(near, solution_tolerance=tolerance)
        assert found.exit_flag is ExitFlag.CONVERGED and found.error < tolerance**2
    assert attempt(near, solution_tolerance=1e-1).error > 1e-6


def test_a_gradient_near_the_target_is_no_end(small):
    """Small weights make small gradients; what ends a descent is no gradient, seen from there."""
    robot = small('planar_2r')
    target = PoseTarget('tip', pose((0.5, 0.3, 0)), weights=(1, 1e-3, 0, 0, 0, 0),
                        position_tolerance=1e-8)
    found = attempt(IKProblem(robot, target, start=[0.9, 0.8]))
    assert found.exit_flag is ExitFlag.CONVERGED
    place = TreeJudge(SMALL['planar_2r']).transform(robot.to_joints(found.q), 'tip')[:2, 3]
    np.testing.assert_allclose(place, [0.5, 0.3], atol=1e-8)


def test_exit_flags_of_the_budget(small):
    problem = at_place(small('planar_2r'), 3.0, 1.0, [0.9, 0.8])
    found = attempt(problem, attempt_iterations=2)
    assert (found.exit_flag, found.iterations) == (ExitFlag.ITERATION_LIMIT, 2)
    found = attempt(problem, Budget(iterations=1))
    assert (found.exit_flag, found.iterations) == (ExitFlag.ITERATION_LIMIT, 1)
    found = attempt(problem, Budget(deadline=0.0))
    assert (found.exit_flag, found.iterations) == (ExitFlag.TIME_LIMIT, 0)


def test_restarts_find_what_one_descent_does_not(small):
    """As MATLAB's AllowRandomRestart."""
    robot, judge = small('zero_links'), TreeJudge(SMALL['zero_links'])
    generator, alone = np.random.default_rng(0), 0
    for _ in range(20):
        T = judge.transform(robot.to_joints(robot.random_q(generator)), 'tip')
        problem = IKProblem(robot, PoseTarget('tip', T), start=robot.random_q(generator))
        alone += solve(problem, solver='bfgs', timeout=20.0, allow_restarts=False).success
        solution = solve(problem, solver='bfgs', timeout=20.0, random_state=0)
        assert solution.success
        np.testing.assert_allclose(judge.transform(solution.joints, 'tip'), T, atol=1e-4)
    assert 0 < alone < 20


def test_nothing_may_move(small):
    robot = small('planar_2r')
    p = Configuration(robot, [0.0, 0.0]).transform('tip')[:3, 3]
    for off, reached in ((0.0, True), (0.1, False)):
        problem = IKProblem(robot, locked=robot.joint_names, constraints=[
            Constraint(FramePosition('tip'), p + off, p + off)])
        found = attempt(problem)
        assert (found.reached, found.iterations) == (reached, 0)


@pytest.mark.parametrize('option', ['gradient_tolerance', 'step_tolerance', 'solution_tolerance',
                                    'attempt_iterations'])
@pytest.mark.parametrize('value', [0, -1.0, np.nan, 'small', True])
def test_bad_options(small, option, value):
    with pytest.raises(InvalidOptionError, match=option):
        attempt(at_place(small('planar_2r'), 0.3, 0.3, None), **{option: value})
