"""Contract of all registered solvers, and registration of further ones."""

from judge import check, pose, TreeJudge
import numpy as np
import pytest
from small_robots import SMALL

from ros2_ik.core import (
    Attempt,
    Budget,
    Configuration,
    ExitFlag,
    IKProblem,
    PoseTarget,
    solve,
    solve_pose,
    Solver,
    solver_names,
    Status,
)
from ros2_ik.core.errors import InvalidOptionError
from ros2_ik.core.solvers import make_solver

SOLVERS = solver_names()
FAR = pose((9, 0, 0))     # out of reach
ROBOTS = [('scara', 'tip'), ('turntable', 'tip'), ('mimic_chain', 'tip'), ('nested', 'tip'),
          ('two_arms', 'left_hand')]


@pytest.mark.parametrize('robot_name, tip', ROBOTS)
@pytest.mark.parametrize('solver', SOLVERS)
def test_reachable_poses_near_the_start_are_solved(small, solver, robot_name, tip):
    robot, judge = small(robot_name), TreeJudge(SMALL[robot_name])
    generator = np.random.default_rng(0)
    if robot_name == 'nested' and solver in ('bfgs', 'slsqp'):
        with pytest.raises(InvalidOptionError, match=f"'{solver}' moves no floating joints"):
            solve_pose(robot, tip, np.eye(4), solver=solver)
        return
    for _ in range(5):
        start = np.clip(robot.random_q(generator) * 0.6, robot.lower, robot.upper)
        if robot_name == 'nested':
            start = robot.to_q(robot.to_joints(start))
        q = Configuration(robot, start).integrate(generator.uniform(-0.05, 0.05, robot.nv))
        T = judge.transform(robot.to_joints(np.clip(q, robot.lower, robot.upper)), tip)
        solution = solve_pose(robot, tip, T, start, solver=solver, timeout=5.0, random_state=0)
        check(judge, solution, [(tip, T)])
        assert solution.solver == solver


@pytest.mark.parametrize('solver', SOLVERS)
def test_two_tips_with_weights_and_moving_reference_frames_are_solved(small, solver):
    robot, judge = small('two_arms'), TreeJudge(SMALL['two_arms'])
    generator, tips = np.random.default_rng(0), ['left_hand', 'right_hand']
    frames, weights = ['right_b', None], [(1, 1, 1, 1, 1, 0), (1, 1, 1, 0, 0, 0)]
    for _ in range(3):
        start = robot.random_q(generator) * 0.5
        joints = robot.to_joints(start + generator.uniform(-0.05, 0.05, robot.nq))
        targets = [judge.transform(joints, tip, frame)
                   for tip, frame in zip(tips, frames, strict=True)]
        solution = solve_pose(robot, tips, targets, start, solver=solver, relative_to=frames,
                              weights=weights, timeout=5.0, random_state=0)
        check(judge, solution, list(zip(tips, targets, frames, weights, strict=True)))


def tip_problem(robot, T=FAR, **arguments):
    """Return a problem with a target pose of the tip."""
    return IKProblem(robot, [PoseTarget('tip', T)], **arguments)


@pytest.mark.parametrize('solver', SOLVERS)
def test_attempt_is_finite_and_within_its_budget_and_joint_limits(small, solver):
    robot = small('zero_links')
    generator = np.random.default_rng(0)
    for budget in (1, 2, 9, 100, 100, 100):
        T = FAR if budget < 9 else Configuration(robot, robot.random_q(generator)).transform('tip')
        start = robot.random_q(generator)
        start.setflags(write=False)
        attempt = make_solver(solver, tip_problem(robot, T), {}).attempt(
            start, Budget(iterations=budget))
        assert isinstance(attempt, Attempt)
        assert attempt.q.shape == (robot.nq,) and np.isfinite(attempt.q).all()
        assert attempt.error >= 0 and np.isfinite(attempt.error)
        assert 0 <= attempt.iterations <= budget and isinstance(attempt.exit_flag, ExitFlag)
        assert (robot.lower <= attempt.q).all() and (attempt.q <= robot.upper).all()


@pytest.mark.parametrize('solver', SOLVERS)
def test_equal_random_states_give_equal_solutions(small, solver):
    robot = small('zero_links')
    generator = np.random.default_rng(0)
    for _ in range(3):
        T = Configuration(robot, robot.random_q(generator)).transform('tip')
        one, two = (solve_pose(robot, 'tip', T, solver=solver, timeout=30.0, max_iterations=300,
                               random_state=5) for _ in range(2))
        np.testing.assert_array_equal(one.best_q, two.best_q)
        assert (one.status, one.iterations, one.restarts) == (two.status, two.iterations,
                                                              two.restarts)


Q = np.array([0.3, -0.5, -0.1, 0.7])


@pytest.fixture
def problem(small):
    T = Configuration(small('scara'), Q).transform('tip')
    return IKProblem(small('scara'), [PoseTarget('tip', T)])


def converging_at(answer):
    """Return a solver class that reports convergence without error at `answer(start)`."""
    class Converging(Solver):
        def attempt(self, start, budget):
            return Attempt(answer(start), 0.0, 1, ExitFlag.CONVERGED)
    return Converging


def test_registered_solver_is_used(register, problem):
    solver = register(converging_at(lambda start: Q.copy()))
    assert solver.name == 'mine' and 'mine' in solver_names()
    solution = solve(problem, solver='mine')
    assert solution.success and solution.solver == 'mine'
    assert list(solution.q) == list(Q)
    assert solution.solver_reason == 'named in the options'
    with pytest.raises(InvalidOptionError, match="'depth' is .*'mine'; valid: timeout, sol"):
        solve(problem, solver='mine', depth=3)


FALSE_ANSWERS = {
    'wrong pose': lambda start: Q + 0.01,
    'nan': lambda start: Q * np.nan,
    'beyond a joint limit': lambda start: Q + [4 * np.pi, 0, 0, 0],
    'locked joint moved': lambda start: Q,
}


@pytest.mark.parametrize('case', FALSE_ANSWERS)
def test_false_convergence_of_a_solver_is_not_reported_as_success(register, problem, case):
    register(converging_at(FALSE_ANSWERS[case]))
    locked = ['wrist'] if case == 'locked joint moved' else []
    solution = solve(IKProblem(problem.robot, problem.targets, locked=locked), solver='mine',
                     max_iterations=30)
    assert solution.status is Status.NO_IK_SOLUTION
    assert solution.q is None and solution.joints is None
    assert solution.violations
    assert solution.explain()
    assert not locked or "locked joint 'wrist'" in str(solution.violations[0])


@pytest.mark.parametrize('solver, options', [
    ('lm', {'damping': np.nan}), ('lm', {'attempt_iterations': 10**400}), ('clik', {'eps': 0.0}),
    ('clik', {'dt': np.inf}), ('clik', {'damp': -1.0}), ('clik', {'it_max': 'x'}),
    ('sqp', {'attempt_iterations': 0}), ('bfgs', {'gradient_tolerance': np.nan})])
def test_invalid_solver_options_are_refused(problem, solver, options):
    with pytest.raises(InvalidOptionError) as caught:
        solve(problem, solver=solver, **options)
    assert next(iter(options)) in str(caught.value)


def test_solver_of_an_entry_point_is_listed_and_used(tmp_path, monkeypatch, register, small):
    """Install a distribution with entry points of the group `ros2_ik.solvers`, as pip does."""
    (tmp_path / 'others_solver.py').write_text(
        'from ros2_ik.core import Attempt, ExitFlag, Solver\n'
        'class Other(Solver):\n'
        '    def __init__(self, problem, answer=None):\n'
        '        super().__init__(problem)\n'
        '        self.answer = answer\n'
        '    def attempt(self, start, budget):\n'
        '        return Attempt(self.answer, 0.0, 1, ExitFlag.CONVERGED)\n', encoding='utf-8')
    info = tmp_path / 'others_package-1.0.dist-info'
    info.mkdir()
    (info / 'METADATA').write_text('Metadata-Version: 2.1\nName: others-package\nVersion: 1.0\n',
                                   encoding='utf-8')
    (info / 'entry_points.txt').write_text(
        '[ros2_ik.solvers]\nother = others_solver:Other\nbroken = no_such_module:Solver\n',
        encoding='utf-8')
    monkeypatch.syspath_prepend(str(tmp_path))
    assert {'other', 'broken', 'lm', 'clik'} <= set(solver_names())
    T = Configuration(small('scara'), Q).transform('tip')
    solution = solve_pose(small('scara'), 'tip', T, solver='other', answer=Q.copy())
    assert solution.success and solution.solver == 'other'
    assert not solve_pose(small('scara'), 'tip', T, solver='other', answer=Q + 1,
                          max_iterations=3).success
    with pytest.raises(InvalidOptionError, match="'depth'.*'other'.*answer"):
        solve_pose(small('scara'), 'tip', T, solver='other', depth=3)
    assert 'other' in solver_names()       # a loaded solver is not listed twice
    assert len(set(solver_names())) == len(solver_names())
