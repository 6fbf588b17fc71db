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
    solve,
    solve_pose,
    Solver,
    solver_names,
    Status,
    UnknownSolverError,
)

Q = np.array([0.3, -0.5, -0.1, 0.7])


@pytest.fixture
def asked(small):
    T = Configuration(small('scara'), Q).transform('tip')
    return IKProblem(small('scara'), [PoseTarget('tip', T)])


def claiming(answer):
    """Make a solver that says of `answer(start)` that it converged without any error."""
    class Claiming(Solver):
        def attempt(self, start, budget):
            return Attempt(answer(start), 0.0, 1, ExitFlag.CONVERGED)
    return Claiming


def test_a_registered_solver_is_used(register, asked):
    solver = register(claiming(lambda start: Q.copy()))
    assert solver.name == 'mine' and 'mine' in solver_names()
    solution = solve(asked, solver='mine')
    assert solution.success and solution.solver == 'mine'
    assert list(solution.q) == list(Q)
    assert solution.solver_reason == 'asked for by name'
    with pytest.raises(InvalidOptionError, match="'depth'; valid: timeout, solver"):
        solve(asked, solver='mine', depth=3)


LIES = {
    'another place': lambda start: Q + 0.01,
    'not a number': lambda start: Q * np.nan,
    'a limit crossed': lambda start: Q + [4 * np.pi, 0, 0, 0],
    'a locked joint moved': lambda start: Q,
}


@pytest.mark.parametrize('lie', LIES)
def test_a_lying_solver_is_not_believed(register, asked, lie):
    register(claiming(LIES[lie]))
    locked = ['wrist'] if lie == 'a locked joint moved' else []
    solution = solve(IKProblem(asked.robot, asked.targets, locked=locked), solver='mine',
                     max_iterations=30)
    assert solution.status is Status.NO_IK_SOLUTION
    assert solution.q is None and solution.joints is None
    assert solution.violations
    assert solution.explain()
    assert not locked or "locked joint 'wrist'" in str(solution.violations[0])


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


@pytest.mark.parametrize('name', ['lmm', None, []])
def test_unknown_solvers_are_named(asked, name):
    with pytest.raises(UnknownSolverError) as caught:
        solve(asked, solver=name)
    assert "unknown solver '" in str(caught.value) and 'lm' in str(caught.value)


@pytest.mark.parametrize('solver, option', [
    ('lm', 'eps'), ('lm', 'dampin'), ('clik', 'budget'), ('auto', 'eps')])
def test_unknown_options_are_named(asked, solver, option):
    with pytest.raises(InvalidOptionError) as caught:
        solve(asked, solver=solver, **{option: 1})
    assert f"'{option}'" in str(caught.value) and 'damp' in str(caught.value)


@pytest.mark.parametrize('solver, options', [
    ('lm', {'damping': np.nan}), ('lm', {'attempt_iterations': 10**400}), ('clik', {'eps': 0.0}),
    ('clik', {'dt': np.inf}), ('clik', {'damp': -1.0}), ('clik', {'it_max': 'x'}),
    ('sqp', {'trust': np.nan}), ('sqp', {'damping': -1})])
def test_options_out_of_their_range_are_refused(asked, solver, options):
    with pytest.raises(InvalidOptionError) as caught:
        solve(asked, solver=solver, **options)
    assert next(iter(options)) in str(caught.value)


def test_solvers_of_other_packages(tmp_path, monkeypatch, register, small):
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
