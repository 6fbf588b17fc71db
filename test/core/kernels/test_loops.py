"""Descents from several starts, user functions that raise, and logarithms of rotations."""

from judge import pose
import numpy as np
from oracles import recorded
import pytest

from ros2_ik.core import (
    algebra,
    Configuration,
    Constraint,
    FramePosition,
    IKProblem,
    PoseTarget,
    UserFunction,
)
from ros2_ik.core.solvers import Budget, make_solver
from ros2_ik.core.solvers.starts import draw_starts, generator_state, N_NEAR, Starts

LIE = recorded('lie.json')


def test_starts_end_as_each_would_alone(load):
    """Up to the first start whose descent reaches the target."""
    robot, generator, seen = load('panda'), np.random.default_rng(5), set()
    for number in range(60):
        at = Configuration(robot, robot.random_q(generator))
        problem = IKProblem(robot, PoseTarget('panda_hand', at.transform('panda_hand')))
        solver = make_solver('lm', problem, {})
        starts = Starts(problem.start, N_NEAR + 1, N_NEAR + solver.batch_size,
                        generator_state(number))
        rows = draw_starts(problem, starts)
        each = [solver.attempt(row, Budget()) for row in rows]
        first = next((i for i, one in enumerate(each) if one.reached), len(each) - 1)
        best = min(each[:first + 1], key=lambda one: (not one.reached, one.error))
        starts = starts._replace(state=generator_state(number))
        attempt, used, following = solver.find(problem, starts, Budget())
        assert used == first + 1 and following == starts.first + used
        assert np.array_equal(attempt.q, best.q) and attempt.exit_flag is best.exit_flag
        assert attempt.iterations == sum(one.iterations for one in each[:used])
        seen.add((used, attempt.reached))
        bound = each[0].iterations + 2
        short, used, _ = solver.find(problem, starts._replace(state=generator_state(number)),
                                     Budget(iterations=bound))
        assert short.iterations <= bound and used <= 2
    assert len(seen) > 3


def test_a_user_who_raises_ends_a_compiled_loop(load):
    """The error comes out as it is, after one evaluation, and leaves nothing behind."""
    looks = []

    def broken(at):
        looks.append(1)
        if len(looks) == 3:
            raise KeyError('mine')
        return at.q[0]
    robot = load('panda')
    problem = IKProblem(robot, constraints=[Constraint(
        UserFunction(broken, jacobian=lambda at: np.eye(1, robot.nv)), 1.0, 2.0),
        Constraint(FramePosition('panda_hand'), (0.4, 0, 0.4), (0.5, 0.1, 0.5))])
    solver = make_solver('sqp', problem, {})
    with pytest.raises(KeyError, match='mine'):
        solver.attempt(problem.start, Budget())
    assert len(looks) == 3
    assert solver.attempt(problem.start, Budget()).reached


@pytest.mark.parametrize('case', LIE['cases'], ids=lambda case: case['angle'])
def test_logarithms_to_60_digits(case):
    M = np.array(case['M'])
    w = algebra.log3(M[:3, :3].reshape(-1).tolist())
    np.testing.assert_allclose(w, case['log6'][3:], atol=1e-11)
    # near pi the translation magnifies the rounding of M
    np.testing.assert_allclose(algebra.log6(w, tuple(M[:3, 3])), case['log6'][:3], atol=1e-9)


@pytest.mark.parametrize('axis', [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.6, 0, -0.8)])
@pytest.mark.parametrize('angle', [np.pi, np.pi - 1e-9, np.pi - 1e-5, 1e-9, 0.0])
def test_log3_of_half_a_turn(axis, angle):
    w = algebra.log3(pose((0, 0, 0), np.multiply(axis, angle))[:3, :3].reshape(-1))
    np.testing.assert_allclose(np.abs(w), np.abs(np.multiply(axis, angle)), atol=2e-8)
