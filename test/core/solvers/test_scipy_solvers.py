"""L-BFGS-B with MATLAB's parameters and SLSQP: closed forms, other methods, and their options."""

from judge import pose, TreeJudge
import numpy as np
import pytest
from scipy.optimize import Bounds, minimize, NonlinearConstraint
from small_robots import SMALL

from ros2_ik.core import (
    Budget,
    Configuration,
    Constraint,
    ExitFlag,
    FramePosition,
    IKProblem,
    InvalidOptionError,
    JointPositions,
    LeastSquares,
    PoseTarget,
    ScalarCost,
    solve,
)
from ros2_ik.core.solvers import make_solver

UPPER, LOWER = 0.5, 0.4     # links of planar_2r
PLACE = (1, 1, 1, 0, 0, 0)


def attempt(solver, problem, budget=None, **options):
    """Run one descent."""
    return make_solver(solver, problem, options).attempt(problem.start, budget or Budget())


def at_place(robot, x, y, start, tolerance=1e-5):
    """Ask a planar arm for a place of its tip."""
    return IKProblem(robot, PoseTarget('tip', pose((x, y, 0)), weights=PLACE,
                                       position_tolerance=tolerance), start=start)


@pytest.mark.parametrize('solver', ['bfgs', 'slsqp'])
@pytest.mark.parametrize('side', [1, -1])
def test_two_links(small, solver, side):
    """The law of cosines; of the two postures the one that is near."""
    for x, y in ((0.6, 0.2), (-0.1, 0.5), (0.3, -0.4)):
        distance = np.hypot(x, y)
        bend = side * np.arccos((distance**2 - UPPER**2 - LOWER**2) / (2 * UPPER * LOWER))
        turn = np.arctan2(y, x) - np.arctan2(LOWER * np.sin(bend), UPPER + LOWER * np.cos(bend))
        turn = np.arctan2(np.sin(turn), np.cos(turn))
        found = attempt(solver, at_place(small('planar_2r'), x, y, [turn + 0.2, bend - 0.2], 1e-9))
        assert found.exit_flag is ExitFlag.CONVERGED and found.reached
        np.testing.assert_allclose(found.q, [turn, bend], atol=1e-7)


@pytest.mark.parametrize('solver', ['bfgs', 'slsqp'])
def test_exit_flags_of_the_budget(small, solver):
    problem = at_place(small('planar_2r'), 3.0, 1.0, [0.9, 0.8])
    found = attempt(solver, problem, attempt_iterations=2)
    assert (found.exit_flag, found.iterations) == (ExitFlag.ITERATION_LIMIT, 2)
    found = attempt(solver, problem, Budget(iterations=1))
    assert (found.exit_flag, found.iterations) == (ExitFlag.ITERATION_LIMIT, 1)
    found = attempt(solver, problem, Budget(deadline=0.0))
    assert (found.exit_flag, found.iterations) == (ExitFlag.TIME_LIMIT, 0)


@pytest.mark.parametrize('solver, option', [
    ('bfgs', 'gradient_tolerance'), ('bfgs', 'step_tolerance'), ('bfgs', 'solution_tolerance'),
    ('bfgs', 'attempt_iterations'), ('slsqp', 'ftol'), ('slsqp', 'attempt_iterations')])
def test_bad_options_are_refused(small, solver, option):
    for value in (-1.0, np.nan, 'small'):
        with pytest.raises(InvalidOptionError, match=option):
            attempt(solver, at_place(small('planar_2r'), 0.3, 0.3, None), **{option: value})


# -- BFGS ---------------------------------------------------------------------------------

def test_bfgs_has_matlabs_objective(small):
    """The sum of the squares of weighted errors: out of reach, it is least where they balance."""
    robot, judge = small('gantry'), TreeJudge(SMALL['gantry'])
    targets = [PoseTarget('tip', pose(p), weights=PLACE)
               for p in ((0.2, 1.0, 0.1), (0.8, 1.4, 0.4))]
    found = attempt('bfgs', IKProblem(robot, targets, start={'x': 0, 'y': 0.6, 'z': 0}))
    place = judge.transform(robot.to_joints(found.q), 'tip')[:3, 3]
    np.testing.assert_allclose(place, [0.5, 1.2, 0.25], atol=1e-6)
    assert not found.reached and found.exit_flag is ExitFlag.ERROR_CHANGE_TOO_SMALL
    assert found.error == pytest.approx(0.5 * (0.6**2 + 0.4**2 + 0.3**2))


def test_bfgs_projects_the_gradient_on_the_limits(small):
    """An optimum on a limit is reached exactly, and found to be one."""
    robot = small('gantry')     # x within 1, y from 0.5 to 1.5, z from 0 to 0.5
    target = PoseTarget('tip', pose((2.0, 0.2, 0.3)), weights=PLACE)
    found = attempt('bfgs', IKProblem(robot, target, start={'x': 0, 'y': 1.0, 'z': -0.1}))
    assert (found.q[0], found.q[1]) == (1.0, 0.5)
    assert found.q[2] == pytest.approx(-0.3, abs=1e-6)
    assert found.exit_flag is ExitFlag.ERROR_CHANGE_TOO_SMALL
    assert found.error == pytest.approx(1.0**2 + 0.3**2)


def test_bfgs_ends_by_the_tolerances_of_matlab(small):
    robot = small('planar_2r')
    far, near = at_place(robot, 3.0, 1.0, [0.9, 0.8]), at_place(robot, 0.5, 0.3, [0.9, 0.8])
    for option, flag in (('step_tolerance', ExitFlag.STEP_TOO_SMALL),
                         ('gradient_tolerance', ExitFlag.ERROR_CHANGE_TOO_SMALL)):
        coarse, fine = (attempt('bfgs', far, **{option: value}) for value in (0.1, 1e-3))
        assert coarse.exit_flag is fine.exit_flag is flag
        assert coarse.iterations < fine.iterations and coarse.error > fine.error
    assert fine.error == pytest.approx((np.hypot(3, 1) - UPPER - LOWER)**2, abs=1e-6)
    for tolerance in (1e-1, 1e-8):
        found = attempt('bfgs', near, solution_tolerance=tolerance)
        assert found.exit_flag is ExitFlag.CONVERGED and found.error < tolerance**2


def test_bfgs_is_not_ended_by_a_small_gradient_near_the_target(small):
    """Small weights make small gradients; what ends a descent is no gradient, seen from there."""
    robot = small('planar_2r')
    target = PoseTarget('tip', pose((0.5, 0.3, 0)), weights=(1, 1e-3, 0, 0, 0, 0),
                        position_tolerance=1e-8)
    found = attempt('bfgs', IKProblem(robot, target, start=[0.9, 0.8]))
    assert found.exit_flag is ExitFlag.CONVERGED
    place = TreeJudge(SMALL['planar_2r']).transform(robot.to_joints(found.q), 'tip')[:2, 3]
    np.testing.assert_allclose(place, [0.5, 0.3], atol=1e-8)


@pytest.mark.parametrize('solver', ['bfgs', 'slsqp'])
def test_nothing_may_move(small, solver):
    robot = small('planar_2r')
    p = Configuration(robot, [0.0, 0.0]).transform('tip')[:3, 3]
    for off, reached in ((0.0, True), (0.1, False)):
        found = attempt(solver, IKProblem(robot, locked=robot.joint_names, constraints=[
            Constraint(FramePosition('tip'), p + off, p + off)]))
        assert (found.reached, found.iterations) == (reached, 0)


# -- SLSQP --------------------------------------------------------------------------------

def test_slsqp_has_the_minimum_of_another_method(small):
    """trust-constr on the matrices of the judge, with its own differences."""
    robot, judge = small('two_arms'), TreeJudge(SMALL['two_arms'])
    start, wish = np.full(13, 0.2), np.linspace(-0.3, 0.5, 13)

    def place(q):
        return judge.transform(robot.to_joints(q), 'left_hand')[:3, 3]
    p = place(np.full(13, 0.4))
    found = solve(IKProblem(robot, start=start, constraints=[
        Constraint(FramePosition('left_hand'), p - 0.01, p + 0.01)],
        costs=[LeastSquares(JointPositions(robot.joint_names), wish)]), solver='slsqp',
        timeout=10.0, allow_restarts=False)
    other = minimize(lambda q: 0.5 * np.sum((q - wish)**2), start, jac=lambda q: q - wish,
                     method='trust-constr', bounds=Bounds(robot.lower, robot.upper),
                     constraints=[NonlinearConstraint(place, p - 0.01, p + 0.01)],
                     options={'gtol': 1e-7, 'xtol': 1e-9, 'maxiter': 300})
    assert found.success and found.cost == pytest.approx(other.fun, abs=1e-5)
    np.testing.assert_allclose(found.q, other.x, atol=1e-3)


def test_slsqp_ends_out_of_reach_where_the_error_is_least(small):
    found = attempt('slsqp', at_place(small('planar_2r'), 2.0, 0.0, [0.3, 0.3]))
    assert found.exit_flag is ExitFlag.ERROR_CHANGE_TOO_SMALL and not found.reached
    assert found.error == pytest.approx((2 - UPPER - LOWER)**2, abs=1e-9)


def test_slsqp_ftol_is_how_near_to_the_minimum(small):
    """Cosines, whose minimum is known and flat enough to be approached slowly."""
    wish = np.linspace(-0.5, 0.4, 7)
    problem = IKProblem(small('zero_links'), start=np.full(7, -0.3), costs=[
        ScalarCost(lambda at: float(np.sum(1 - np.cos(at.q - wish)**3)))])
    coarse, fine = (attempt('slsqp', problem, ftol=ftol) for ftol in (1e-2, 1e-12))
    assert coarse.iterations < fine.iterations
    assert fine.cost < 1e-9 < coarse.cost
    np.testing.assert_allclose(fine.q, wish, atol=1e-4)
