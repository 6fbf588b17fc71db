"""The rows that a descent works on: error and derivative of every kind of target."""

from judge import pose, step
import numpy as np
import pytest

from ros2_ik.core import IKProblem, PoseTarget, solve_pose
from ros2_ik.core.robot import Configuration
from ros2_ik.core.solvers.problem_rows import ProblemRows

FREED = (1, 0.5, 0, 2, 1, 0)


@pytest.mark.parametrize('relative_to', [None, 'right_c', 'left_b', 'chest'])
@pytest.mark.parametrize('weights', [(1,) * 6, (1, 2, 3, 1, 0.5, 2), FREED, (1, 1, 1, 0, 0, 0)])
@pytest.mark.parametrize('root_joint', ['fixed', 'freeflyer'])
def test_rows_are_the_derivative(small, root_joint, weights, relative_to):
    """Weighted, and without the rows that are freed."""
    robot, generator = small('two_arms', root_joint), np.random.default_rng(0)
    q = robot.random_q(generator)
    T = Configuration(robot, q).transform('left_hand', relative_to)
    T = T @ pose((0.3, -0.2, 0.4), (0.5, -0.7, 0.9))
    problem = IKProblem(robot, [PoseTarget('left_hand', T, relative_to, weights)], start=q)
    rows = ProblemRows(problem)
    f, J, _ = rows.evaluate(q)
    assert len(f) == np.count_nonzero(weights)
    columns = [j.velocity_index + i for j in robot.joints if j.name in problem.joint_names
               for i in range(j.velocity_size)]
    assert J.shape == (len(f), len(columns))
    h = 1e-6
    numeric = [(rows.evaluate(step(robot, q, h * v))[0]
                - rows.evaluate(step(robot, q, -h * v))[0]) / (2 * h)
               for v in np.eye(robot.nv)[columns]]
    np.testing.assert_allclose(J.T, numeric, atol=1e-7)


@pytest.mark.parametrize('relative_to', ['right_hand', 'right_b', 'left_a', 'base', None])
@pytest.mark.parametrize('weights', [(1,) * 6, FREED])
def test_near_targets_need_few_steps(small, weights, relative_to):
    """A wrong derivative still arrives, by restarts; a right one in a few steps."""
    robot, generator = small('two_arms'), np.random.default_rng(1)
    for _ in range(10):
        q = robot.random_q(generator) * 0.7
        start = q + generator.uniform(-0.05, 0.05, robot.nq)
        T = Configuration(robot, q).transform('left_hand', relative_to)
        solution = solve_pose(robot, 'left_hand', T, start, relative_to=relative_to,
                              weights=weights, allow_restarts=False, timeout=5.0)
        assert solution.success and solution.iterations <= 8, solution.explain()
