"""SLSQP of SciPy, and the descents in the tangent space that it shares with `bfgs`."""

from judge import pose, step, TreeJudge
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
from ros2_ik.core.solvers.problem_rows import ProblemRows
from ros2_ik.core.solvers.scipy_solvers import LocalDescent

UPPER, LOWER = 0.5, 0.4     # links of planar_2r


def elbow(distance):
    """Angle of the elbow at which the tip is that far from the base: the law of cosines."""
    return np.arccos((distance**2 - UPPER**2 - LOWER**2) / (2 * UPPER * LOWER))


def attempt(problem, budget=None, **options):
    """Run one descent."""
    return make_solver('slsqp', problem, options).attempt(problem.start, budget or Budget())


def at_place(robot, p, start, **arguments):
    """Ask for a place of the tip."""
    return IKProblem(robot, start=start, constraints=[
        Constraint(FramePosition('tip', axes='xy'), p, p)], **arguments)


@pytest.mark.parametrize('side', [1, -1])
def test_two_links(small, side):
    """Of the two postures, the one on the side where the descent begins."""
    for x, y in ((0.6, 0.2), (-0.1, 0.5), (0.3, -0.4)):
        bend, distance = side * elbow(np.hypot(x, y)), np.hypot(x, y)
        turn = np.arctan2(y, x) - side * np.arccos(
            (UPPER**2 + distance**2 - LOWER**2) / (2 * UPPER * distance))
        turn = np.arctan2(np.sin(turn), np.cos(turn))
        start = np.clip([turn + 0.2, bend - 0.3], small('planar_2r').lower,
                        small('planar_2r').upper)
        found = attempt(at_place(small('planar_2r'), [x, y], start))
        assert found.exit_flag is ExitFlag.CONVERGED and found.reached
        np.testing.assert_allclose(found.q, [turn, bend], atol=1e-5)


def test_the_same_minimum_as_another_method_of_scipy(small):
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


def test_more_equations_than_joints(small):
    """SciPy refuses them; whole poses of arms with few joints are found nevertheless."""
    for name in ('one_joint', 'scara', 'gantry', 'turntable'):
        robot, judge = small(name), TreeJudge(SMALL[name])
        generator = np.random.default_rng(0)
        for _ in range(5):
            start = 0.5 * robot.random_q(generator)
            start = np.clip(start, robot.lower, robot.upper)
            q = np.clip(start + generator.uniform(-0.1, 0.1, robot.nq), robot.lower, robot.upper)
            T = judge.transform(robot.to_joints(q), 'tip')
            found = attempt(IKProblem(robot, [PoseTarget('tip', T)], start=start))
            assert found.exit_flag is ExitFlag.CONVERGED
            np.testing.assert_allclose(judge.transform(robot.to_joints(found.q), 'tip'), T,
                                       atol=1e-4)


def test_exit_flags(small):
    robot = small('planar_2r')
    found = attempt(at_place(robot, [2.0, 0.0], [0.3, 0.3]))
    assert found.exit_flag is ExitFlag.ERROR_CHANGE_TOO_SMALL and not found.reached
    assert found.error == pytest.approx((2 - UPPER - LOWER)**2, abs=1e-9)
    found = attempt(at_place(robot, [2.0, 0.0], [0.3, 0.3]), attempt_iterations=2)
    assert (found.exit_flag, found.iterations) == (ExitFlag.ITERATION_LIMIT, 2)
    found = attempt(at_place(robot, [2.0, 0.0], [0.3, 0.3]), Budget(deadline=0.0))
    assert (found.exit_flag, found.iterations) == (ExitFlag.TIME_LIMIT, 0)
    there = Configuration(robot, [0.3, 0.3]).transform('tip')[:2, 3]
    found = attempt(at_place(robot, there, [0.3, 0.3]), Budget(deadline=0.0))
    assert (found.exit_flag, found.iterations) == (ExitFlag.CONVERGED, 0)


def test_ftol_is_how_near_to_the_minimum(small):
    """Cosines, whose minimum is known and flat enough to be approached slowly."""
    wish = np.linspace(-0.5, 0.4, 7)
    problem = IKProblem(small('zero_links'), start=np.full(7, -0.3), costs=[
        ScalarCost(lambda at: float(np.sum(1 - np.cos(at.q - wish)**3)))])
    coarse, fine = (attempt(problem, ftol=ftol) for ftol in (1e-2, 1e-12))
    assert coarse.iterations < fine.iterations
    assert fine.cost < 1e-9 < coarse.cost
    np.testing.assert_allclose(fine.q, wish, atol=1e-4)


@pytest.mark.parametrize('option', ['ftol', 'attempt_iterations'])
@pytest.mark.parametrize('value', [0, -1, np.nan, 'much', None])
def test_bad_options(small, option, value):
    with pytest.raises(InvalidOptionError, match=option):
        make_solver('slsqp', at_place(small('planar_2r'), [0.3, 0.3], None), {option: value})


# -- the tangent space round the start ----------------------------------------------------

@pytest.mark.parametrize('name, root_joint', [
    ('zero_links', 'fixed'), ('two_arms', 'freeflyer'), ('one_joint', 'planar'),
    ('nested', 'fixed'), ('mimic_chain', 'fixed'), ('mimic_chain', 'freeflyer')])
def test_derivatives_are_those_of_x(small, name, root_joint):
    """Far from the start too, where a step from there is no step from x."""
    robot = small(name, root_joint)
    tip = 'left_hand' if name == 'two_arms' else 'tip'
    generator = np.random.default_rng(0)
    start = Configuration(robot, robot.neutral).integrate(generator.uniform(-0.1, 0.1, robot.nv))
    problem = IKProblem(robot, start=start, joint_limits=False,
                        constraints=[Constraint(FramePosition(tip, point=(0.1, 0.2, 0.3)), 9, 9)],
                        costs=[LeastSquares(FramePosition(tip, axes='xz'), 0.3)])
    local = LocalDescent(ProblemRows(problem), start, Budget(), 100)
    n = len(problem.active.columns)
    for _ in range(3):
        x, h = generator.uniform(-0.8, 0.8, n), 1e-6
        point = local.at(x)
        ends = [(local.at(x + v), local.at(x - v)) for v in h * np.eye(n)]
        J = np.array([(a.f - b.f) / (2 * h) for a, b in ends]).T
        gradient = np.array([(a.cost - b.cost) / (2 * h) for a, b in ends])
        np.testing.assert_allclose(point.J, J, atol=1e-6)
        np.testing.assert_allclose(point.gradient, gradient, atol=1e-6)


def test_x_is_a_step_from_the_start(small):
    robot = small('two_arms', 'freeflyer')
    generator = np.random.default_rng(1)
    start = robot.random_q(generator)
    problem = IKProblem(robot, start=start, joint_limits=False, costs=[
        LeastSquares(FramePosition('left_hand'), 0.0)])
    local = LocalDescent(ProblemRows(problem), start, Budget(), 100)
    x = generator.uniform(-1, 1, len(problem.active.columns))
    v = np.zeros(robot.nv)
    v[problem.active.columns] = x
    expected = step(robot, start, v)
    found = local.at(x).q
    if found[3:7] @ expected[3:7] < 0:
        expected[3:7] *= -1
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_limits_of_x(small):
    """Limits seen from the start; a rotation vector covers every orientation within pi."""
    robot = small('one_joint', 'freeflyer')
    start = robot.to_q({'turn': 0.5})
    problem = IKProblem(robot, [PoseTarget('tip', pose((1, 0, 0)))], start=start)
    local = LocalDescent(ProblemRows(problem), start, Budget(), 100)
    lower = dict(zip(problem.active.columns.tolist(), local.low.tolist(), strict=True))
    turn = robot.joint('turn').velocity_index
    assert lower.pop(turn) == -2.0 and local.high.max() == np.inf
    assert list(lower.values()) == [-np.inf] * 3 + [-np.pi] * 3


def test_the_best_point_is_kept_and_the_budget_counted(small):
    robot = small('gantry')
    start = robot.to_q({'x': 0.0, 'y': 1.0, 'z': -0.2})
    problem = IKProblem(robot, start=start, constraints=[
        Constraint(FramePosition('tip', axes='x'), 0.3, 0.5)],
        costs=[LeastSquares(FramePosition('tip', axes='y'), 1.2)])
    local = LocalDescent(ProblemRows(problem), start, Budget(), 2)
    far, near = local.at(np.array([-0.5, 0, 0])), local.at(np.array([0.2, 0, 0]))
    assert far.error == pytest.approx(0.64) and near.error == pytest.approx(0.01)
    assert local.best is near and not near.holds
    inside = local.at(np.array([0.4, 0, 0]))
    assert inside.holds and local.best is inside
    cheaper = local.at(np.array([0.4, 0.1, 0]))
    local.at(np.array([0.2, 0.2, 0]))         # cheaper still, but outside
    assert local.best is cheaper
    end = local.ended(ExitFlag.ITERATION_LIMIT)
    assert end.exit_flag is ExitFlag.ITERATION_LIMIT
    assert end.holds and end.cost == pytest.approx(0.5 * 0.1**2)
