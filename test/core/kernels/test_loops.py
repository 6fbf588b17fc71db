"""Descents from several starts, their steps at limits, user functions that raise, logarithms."""

from judge import pose
import numpy as np
from oracles import recorded
import pytest

from ros2_ik.core import algebra, Configuration, IKProblem, PoseTarget
from ros2_ik.core.kernels.lm import step_within
from ros2_ik.core.solvers import Budget, make_solver
from ros2_ik.core.solvers.starts import draw_starts, generator_state, N_NEAR, Starts

LIE = recorded('lie.json')


def test_starts_end_as_each_would_alone(load):
    """Up to the first start whose descent reaches the target."""
    robot, generator, seen = load('panda'), np.random.default_rng(5), set()
    for number in range(20):
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


@pytest.mark.parametrize('case', LIE['cases'], ids=lambda case: case['angle'])
def test_logarithms_to_60_digits(case):
    M = np.array(case['M'])
    w = algebra.log3(M[:3, :3].reshape(-1).tolist())
    np.testing.assert_allclose(w, case['log6'][3:], atol=1e-11)
    # near pi the translation magnifies the rounding of M
    np.testing.assert_allclose(algebra.log6(w, tuple(M[:3, 3])), case['log6'][:3], atol=1e-9)


@pytest.mark.parametrize('axis', [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.6, 0, -0.8)])
def test_logarithm_of_half_a_turn_has_either_sign(axis):
    w = algebra.log3(pose(rotvec=np.multiply(axis, np.pi))[:3, :3].reshape(-1))
    np.testing.assert_allclose(np.abs(w), np.abs(np.multiply(axis, np.pi)), atol=2e-8)


@pytest.mark.parametrize('at_once', [True, False])
def test_joints_held_at_a_limit_stay_and_the_others_step_as_without_them(at_once):
    generator, n, some = np.random.default_rng(0), 6, 0
    for _ in range(200):
        A, g = generator.normal(size=(n, n)), generator.normal(size=n)
        H = A @ A.T + 0.1 * np.eye(n)
        low, high = (np.where(generator.random(n) < 0.3, 0.0, sign * 1e9) for sign in (-1, 1))
        K, d, held = np.empty((n, n)), np.empty(n), np.empty(n, dtype=bool)
        step_within(H, g, low, high, K, d, held, at_once)
        assert (low <= d).all() and (d <= high).all() and not d[held].any()
        outward = (g < 0) & (low == 0) | (g > 0) & (high == 0)
        assert not at_once or held[outward].all()
        free = ~held & (low < d) & (d < high)
        some += held.any() and free.any()
        if (d[~free] == 0).all() and (held | free).all():
            assert H[np.ix_(free, free)] @ d[free] == pytest.approx(g[free], abs=1e-7)
    assert some > 100
