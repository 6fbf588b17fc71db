"""Where solvers are found, their options, and that nobody need believe them."""

import numpy as np
import pytest

from ros2_ik.core import (
    Attempt,
    Configuration,
    ExitFlag,
    IKProblem,
    InvalidOptionError,
    PoseTarget,
    register_solver,
    solve,
    solve_pose,
    Solver,
    solver_names,
    Status,
    UnknownSolverError,
)
from ros2_ik.core.solvers import solver as registry

Q = np.array([0.3, -0.5, -0.1, 0.7])


@pytest.fixture
def asked(small):
    T = Configuration(small('scara'), Q).transform('tip')
    return IKProblem(small('scara'), [PoseTarget('tip', T)])


@pytest.fixture
def register(monkeypatch):
    """Register a solver for this test only."""
    monkeypatch.setattr(registry, '_SOLVERS', dict(registry._SOLVERS))
    return lambda solver: register_solver('mine')(solver)


def claiming(answer):
    """Make a solver that says of `answer(start)` that it converged without any error."""
    class Claiming(Solver):
        def attempt(self, start, budget):
            return Attempt(answer(start), 0.0, 1, ExitFlag.CONVERGED)
    return Claiming


def test_built_in_solvers():
    assert {'lm', 'clik'} <= set(solver_names())


def test_a_registered_solver_is_used(register, asked):
    solver = register(claiming(lambda start: Q.copy()))
    assert solver.name == 'mine' and 'mine' in solver_names()
    solution = solve(asked, solver='mine')
    assert solution.success and solution.solver == 'mine'
    assert list(solution.q) == list(Q)
    assert solution.solver_reason == 'asked for by name'


LIES = {
    'the start': lambda start: start,
    'another place': lambda start: Q + 0.01,
    'not a number': lambda start: Q * np.nan,
    'infinite': lambda start: Q + np.inf,
    'a limit crossed': lambda start: Q + [4 * np.pi, 0, 0, 0],
}


@pytest.mark.parametrize('lie', LIES)
def test_a_lying_solver_is_not_believed(register, asked, lie):
    register(claiming(LIES[lie]))
    solution = solve(asked, solver='mine', max_iterations=30)
    assert solution.status is Status.NO_IK_SOLUTION
    assert solution.q is None and solution.joints is None
    assert solution.violations
    assert solution.explain()


def test_a_solver_that_moves_locked_joints_is_not_believed(register, small):
    robot = small('scara')
    T = Configuration(robot, Q).transform('tip')
    asked = IKProblem(robot, [PoseTarget('tip', T)], locked=['wrist'])
    register(claiming(lambda start: Q.copy()))
    solution = solve(asked, solver='mine', max_iterations=5)
    assert not solution.success
    assert any("locked joint 'wrist'" in str(v) for v in solution.violations)


def test_a_modest_solver_is_not_ignored(register, asked):
    """It has reached the target without saying so: what counts is the answer."""
    class Modest(Solver):
        def attempt(self, start, budget):
            return Attempt(Q.copy(), 1.0, 1, ExitFlag.ITERATION_LIMIT)
    register(Modest)
    assert solve(asked, solver='mine', max_iterations=5).success


def test_a_solver_may_write_into_its_start(register, asked):
    class Careless(Solver):
        def attempt(self, start, budget):
            start[:] = 99.0
            return Attempt(start, 1.0, 1, ExitFlag.ITERATION_LIMIT)
    register(Careless)
    seed = Q + 0.1
    solve(asked, [seed], solver='mine', max_iterations=5)
    assert list(seed) == list(Q + 0.1)
    assert list(asked.start) == [0, 0, 0, 0]


def test_a_name_can_be_taken_over(register, asked):
    register(claiming(lambda start: start))
    register(claiming(lambda start: Q.copy()))
    assert solve(asked, solver='mine').success


@pytest.mark.parametrize('name', ['lmm', '', None, 5, [], {}])
def test_unknown_solver(asked, name):
    with pytest.raises(UnknownSolverError) as caught:
        solve(asked, solver=name)
    assert "unknown solver '" in str(caught.value) and 'lm' in str(caught.value)


@pytest.mark.parametrize('solver, option', [
    ('lm', 'eps'), ('lm', 'dampin'), ('clik', 'step'), ('auto', 'eps'), ('lm', 'origin'),
    ('clik', 'budget')])
def test_unknown_options(asked, solver, option):
    with pytest.raises(InvalidOptionError) as caught:
        solve(asked, solver=solver, **{option: 1})
    assert f"'{option}'" in str(caught.value) and 'damp' in str(caught.value)


@pytest.mark.parametrize('solver, options', [
    ('lm', {'damping': 'x'}), ('lm', {'damping': np.nan}), ('lm', {'damping': -1.0}),
    ('lm', {'attempt_iterations': 'x'}), ('lm', {'attempt_iterations': -5}),
    ('lm', {'damping': None}), ('clik', {'eps': 'x'}), ('clik', {'eps': 0.0}),
    ('clik', {'eps': np.nan}), ('clik', {'dt': 'x'}), ('clik', {'dt': np.inf}),
    ('clik', {'damp': -1.0}), ('clik', {'damp': 'x'}), ('clik', {'it_max': 'x'}),
    ('lm', {'attempt_iterations': 10**400}),
    ('clik', {'it_max': -1}), ('clik', {'form': 'jlog3'}), ('clik', {'form': []})])
def test_options_out_of_their_range(asked, solver, options):
    with pytest.raises(InvalidOptionError) as caught:
        solve(asked, solver=solver, **options)
    assert next(iter(options)) in str(caught.value)


def test_a_solver_without_options(register, asked):
    register(claiming(lambda start: Q.copy()))
    with pytest.raises(InvalidOptionError, match="'depth'; valid: timeout, solver"):
        solve(asked, solver='mine', depth=3)


def test_solvers_of_other_packages(tmp_path, monkeypatch, small):
    """A distribution with an entry point `ros2_ik.solvers`, as pip would install it."""
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
    monkeypatch.setattr(registry, '_SOLVERS', dict(registry._SOLVERS))
    monkeypatch.syspath_prepend(str(tmp_path))
    assert {'other', 'broken', 'lm', 'clik'} <= set(solver_names())
    T = Configuration(small('scara'), Q).transform('tip')
    solution = solve_pose(small('scara'), 'tip', T, solver='other', answer=Q.copy())
    assert solution.success and solution.solver == 'other'
    assert not solve_pose(small('scara'), 'tip', T, solver='other', answer=Q + 1,
                          max_iterations=3).success
    with pytest.raises(InvalidOptionError, match="'other'.*'depth'.*answer"):
        solve_pose(small('scara'), 'tip', T, solver='other', depth=3)
    assert 'other' in solver_names()       # loading it once does not list it twice
    assert len(set(solver_names())) == len(solver_names())


def test_auto_says_why(asked):
    solution = solve(asked)
    assert solution.solver == 'lm'
    assert solution.solver_reason.startswith('auto')
