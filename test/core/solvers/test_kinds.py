"""Which parts of a problem each solver can use: refused with the names of others, or solved."""

from itertools import combinations
import re

from judge import TreeJudge
import numpy as np
import pytest
from small_robots import SMALL

from ros2_ik.core import (
    accept,
    Budget,
    Configuration,
    Constraint,
    ExitFlag,
    FramePosition,
    IKProblem,
    InvalidOptionError,
    JointPositions,
    LeastSquares,
    PointToPointDistance,
    PoseTarget,
    ScalarCost,
    solve,
    solver_names,
    UserFunction,
)
from ros2_ik.core.solvers import make_solver

KINDS = ('targets', 'constraints', 'costs', 'scalar costs')
BUILT_IN = {'clik': {'targets'}, 'lm': {'targets'}, 'sqp': set(KINDS),
            'slsqp': set(KINDS), 'bfgs': {'targets', 'constraints'}}
ALL_KINDS = [name for name, kinds in BUILT_IN.items() if kinds == set(KINDS)]
MIXTURES = [set(some) for size in (1, 2, 3, 4) for some in combinations(KINDS, size)]
START = {'x': 0.0, 'y': 0.9, 'z': -0.1}
WISH, OTHER_WISH = np.array([0.1, 1.0, 0.2]), np.array([0.5, 0.9, 0.4])


def gantry_problem(robot, kinds):
    """
    Ask a gantry, whose tip may be anywhere in a box, for parts of one question.

    x = 0.3 must hold, 1.2 <= y <= 1.4 must hold, the tip should be near one point and another.
    """
    T = np.eye(4)
    T[0, 3] = 0.3
    tip = FramePosition('tip')
    parts = {
        'targets': {'targets': [PoseTarget('tip', T, weights=(1, 0, 0, 0, 0, 0))]},
        'constraints': {'constraints': [Constraint(tip, [-np.inf, 1.2, -np.inf],
                                                   [np.inf, 1.4, np.inf])]},
        'costs': {'costs': [LeastSquares(tip, WISH)]},
        'scalar costs': {'costs': [ScalarCost(
            lambda at: 0.5 * float(np.sum((tip.value(at) - OTHER_WISH)**2)))]}}
    question = {'targets': [], 'constraints': [], 'costs': []}
    for kind in kinds:
        for name, value in parts[kind].items():
            question[name] = question[name] + value
    return IKProblem(robot, start=START, **question)


def best_place(kinds):
    """Give the tip's place, NaN where anything will do: the coordinates do not mix."""
    wishes = [wish for kind, wish in (('costs', WISH), ('scalar costs', OTHER_WISH))
              if kind in kinds]
    place = np.mean(wishes, axis=0) if wishes else np.full(3, np.nan)
    if 'constraints' in kinds:
        place[1] = max(place[1], 1.2)
    if 'targets' in kinds:
        place[0] = 0.3
    return place


@pytest.mark.parametrize('kinds', MIXTURES, ids=lambda kinds: ' + '.join(sorted(kinds)))
@pytest.mark.parametrize('solver', solver_names())
def test_solved_or_refused(small, solver, kinds):
    robot = small('gantry')
    problem, able = gantry_problem(robot, kinds), BUILT_IN[solver]
    if not kinds <= able:
        with pytest.raises(InvalidOptionError) as refusal:
            solve(problem, solver=solver)
        text = str(refusal.value)
        assert f"'{solver}'" in text and any(f'cannot use {kind}' in text for kind in kinds - able)
        listed = set(re.search(r'these can: (.*)', text)[1].split(', '))
        assert listed & set(BUILT_IN) == {name for name, k in BUILT_IN.items() if kinds <= k}
        return
    solution = solve(problem, solver=solver, timeout=10.0, random_state=0)
    assert solution.success and solution.solver == solver, solution.explain()
    place = TreeJudge(SMALL['gantry']).transform(solution.joints, 'tip')[:3, 3]
    expected = best_place(kinds)
    wanted = np.isfinite(expected)
    np.testing.assert_allclose(place[wanted], expected[wanted], atol=1e-4)
    if 'constraints' in kinds:
        assert 1.2 - 1e-6 <= place[1] <= 1.4 + 1e-6


# -- problems of every kind, for the solvers that can use all -----------------------------

@pytest.mark.parametrize('solver', ALL_KINDS)
def test_nearest_point_of_a_sphere(small, solver):
    """A curved constraint: its multiplier counts."""
    center, wish = np.array([0.0, 1.0, 0.2]), np.array([0.6, 1.3, 0.4])
    problem = IKProblem(small('gantry'), start=START, constraints=[
        Constraint(PointToPointDistance('tip', (0, 0, 0), center), 0.25, 0.25)],
        costs=[LeastSquares(FramePosition('tip'), wish)])
    solution = solve(problem, solver=solver, timeout=10.0, random_state=0)
    assert solution.success
    nearest = center + 0.25 * (wish - center) / np.linalg.norm(wish - center)
    place = TreeJudge(SMALL['gantry']).transform(solution.joints, 'tip')[:3, 3]
    assert solution.cost == pytest.approx(0.5 * (np.linalg.norm(wish - center) - 0.25)**2,
                                          abs=1e-6)
    np.testing.assert_allclose(place, nearest, atol=1e-3)     # where costs differ by 1e-6


@pytest.mark.parametrize('solver', ALL_KINDS)
def test_costs_end_at_the_limits(small, solver):
    robot = small('one_joint')    # -1.5 ... 2.5
    for wish, end in ((4.0, 2.5), (-3.0, -1.5), (1.0, 1.0)):
        problem = IKProblem(robot, costs=[ScalarCost(lambda at, w=wish: float(at.q[0] - w)**2)])
        solution = solve(problem, solver=solver, timeout=10.0)
        assert solution.success and solution.q[0] == pytest.approx(end, abs=1e-4)


@pytest.mark.parametrize('solver', ALL_KINDS)
@pytest.mark.parametrize('name, root_joint', [('mimic_chain', 'fixed'), ('two_arms', 'freeflyer'),
                                              ('nested', 'fixed'), ('fingers', 'fixed')])
def test_other_joints(small, solver, name, root_joint):
    """Followers, floating and planar joints; all kinds at once."""
    robot, judge = small(name, root_joint), TreeJudge(SMALL[name], root_joint)
    tip = {'two_arms': 'left_hand', 'fingers': 'left_tip'}.get(name, 'tip')
    generator = np.random.default_rng(0)
    for _ in range(3):
        start = robot.random_q(generator)
        goal = Configuration(robot, start).integrate(generator.uniform(-0.2, 0.2, robot.nv))
        goal = robot.to_joints(np.clip(goal, robot.lower, robot.upper))
        T = judge.transform(goal, tip)
        problem = IKProblem(
            robot, [PoseTarget(tip, T, weights=(1, 1, 0, 0, 0, 0))], start=start,
            constraints=[Constraint(FramePosition(tip), T[:3, 3] - 0.02, T[:3, 3] + 0.02)],
            costs=[LeastSquares(FramePosition(tip, axes='z'), T[2, 3]),
                   ScalarCost(lambda at, q=start: float(np.sum((at.q - q)**2)), weight=1e-3)])
        solution = solve(problem, solver=solver, timeout=20.0, random_state=0)
        assert solution.success, solution.explain()
        assert judge.outside(solution.joints) == []
        found = judge.transform(solution.joints, tip)[:3, 3]
        assert np.abs((found - T[:3, 3]) @ T[:3, :2]).max() < 1.1e-5
        assert np.abs(found - T[:3, 3]).max() < 0.02 + 1e-6


@pytest.mark.parametrize('solver', ALL_KINDS)
def test_locked_joints_do_not_serve_the_costs(small, solver):
    robot = small('zero_links')
    problem = IKProblem(robot, start={'s2': 0.3, 'w2': 5.0}, locked=['s2', 'w2'],
                        costs=[LeastSquares(JointPositions(robot.joint_names), np.full(7, -0.7))])
    solution = solve(problem, solver=solver, timeout=10.0)
    np.testing.assert_allclose(solution.q, [-0.7, 0.3, -0.7, -0.7, -0.7, 5.0, -0.7], atol=1e-4)
    assert (solution.q[1], solution.q[5]) == (0.3, 5.0)


@pytest.mark.parametrize('solver', ALL_KINDS)
def test_more_equations_than_joints(small, solver):
    """Said twice, or implied: six rows for two joints, and a cost that has no say."""
    robot = small('planar_2r')
    T = TreeJudge(SMALL['planar_2r']).transform({'shoulder': 0.4, 'elbow': 0.9}, 'tip')
    problem = IKProblem(
        robot, [PoseTarget('tip', T)], start=[0.2, 0.5],
        constraints=[Constraint(FramePosition('tip'), T[:3, 3], T[:3, 3])],
        costs=[LeastSquares(JointPositions(['shoulder']), 0.0)])
    solution = solve(problem, solver=solver, timeout=10.0, allow_restarts=False)
    assert solution.success
    np.testing.assert_allclose(solution.q, [0.4, 0.9], atol=1e-4)


@pytest.mark.parametrize('solver', ALL_KINDS)
def test_what_cannot_be_is_violated_least(small, solver):
    """Two boxes that exclude each other: the squares are least half way."""
    problem = IKProblem(small('gantry'), start=START, constraints=[
        Constraint(FramePosition('tip'), [0.1, 0.7, 0], [0.2, 0.8, 0.1], 'one'),
        Constraint(FramePosition('tip'), [0.5, 0.7, 0], [0.6, 0.8, 0.1], 'other')],
        costs=[LeastSquares(FramePosition('tip'), WISH)])
    attempt = make_solver(solver, problem, {}).attempt(problem.start, Budget())
    assert not attempt.reached and not accept(problem, attempt.q).accepted
    place = Configuration(problem.robot, attempt.q).transform('tip')[:3, 3]
    assert place[0] == pytest.approx(0.35, abs=1e-4)
    assert 0.7 - 1e-4 <= place[1] <= 0.8 + 1e-4
    assert attempt.error == pytest.approx(2 * 0.15**2, rel=1e-3)


# -- budgets -----------------------------------------------------------------------------

# evaluated by Python in each iteration, where a descent can be interrupted
POSITION = UserFunction(lambda at: at.transform('tip')[:3, 3], 3)


def posture_problem(robot, position=None):
    """Ask for a place of the tip in a posture far away."""
    p = Configuration(robot, np.full(7, -0.4)).transform('tip')[:3, 3]
    return IKProblem(robot, start=np.full(7, -0.3), constraints=[Constraint(
                         position or FramePosition('tip'), p, p)],
                     costs=[LeastSquares(JointPositions(robot.joint_names),
                                         [1.0, 0.5, -1.0, -0.3, 1.0, 1.0, 1.0]),
                            ScalarCost(lambda at: float(np.sum(np.cos(at.q))), weight=0.1)])


@pytest.mark.parametrize('solver', ALL_KINDS)
def test_iterations_are_bounded_with_costs(small, solver):
    problem = posture_problem(small('zero_links'))
    make, costs = make_solver(solver, problem, {}), []
    for bound in range(1, 40, 3):
        attempt = make.attempt(problem.start, Budget(iterations=bound))
        assert attempt.iterations <= bound
        if attempt.reached:
            assert accept(problem, attempt.q).accepted
            costs.append(attempt.cost)
            assert attempt.cost == pytest.approx(sum(accept(problem, attempt.q).costs))
    assert len(costs) > 5 and (np.diff(costs) <= 1e-9).all()    # the best so far is given
    full = make.attempt(problem.start, Budget())
    assert full.exit_flag is ExitFlag.CONVERGED and full.cost <= costs[-1] + 1e-9


@pytest.mark.parametrize('solver', ALL_KINDS)
def test_the_deadline_is_kept_with_costs(small, ticking, solver):
    """What holds is kept, though the clock cuts the way down the costs off."""
    problem = posture_problem(small('zero_links'), POSITION)
    make, before = make_solver(solver, problem, {}), ticking.looks
    full = make.attempt(problem.start, Budget())
    looks, before = ticking.looks - before, ticking.looks
    assert looks >= full.iterations     # it is looked at in every iteration
    short = make.attempt(problem.start, Budget(deadline=(before + looks - 2.5) * 1e-3))
    assert ticking.looks - before <= looks and short.exit_flag is ExitFlag.TIME_LIMIT
    assert short.reached and accept(problem, short.q).accepted and short.cost >= full.cost - 1e-9
    early = make.attempt(problem.start, Budget(deadline=(ticking.looks + 1.5) * 1e-3))
    assert early.exit_flag is ExitFlag.TIME_LIMIT and early.iterations <= 2
    assert not early.reached


@pytest.mark.parametrize('solver', ALL_KINDS)
def test_errors_of_user_callables_pass_through(small, solver):
    """SciPy's loops neither swallow nor change them."""
    def broken(at):
        raise KeyError('mine')
    problem = IKProblem(small('planar_2r'), costs=[ScalarCost(broken)])
    with pytest.raises(KeyError, match='mine'):
        solve(problem, solver=solver)
