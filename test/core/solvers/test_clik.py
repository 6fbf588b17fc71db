"""Pinocchio's closed-loop example, iterate by iterate."""

from judge import pose
import numpy as np
from oracles import oracle_robot, recorded
import pinocchio as pin
import pytest

from ros2_ik.core import Budget, Configuration, ExitFlag, IKProblem, PoseTarget, solve_pose
from ros2_ik.core.solvers import make_solver

CASES = recorded('clik.json')['cases']


@pytest.fixture(scope='module')
def robot():
    return oracle_robot()


def attempt(robot, case, budget=None, joint_limits=False, **options):
    """Run one descent of a recorded case, as the example does without limits."""
    problem = IKProblem(robot, [PoseTarget('panda_joint7', np.array(case['oMdes']))],
                        start=case['q_start'], joint_limits=joint_limits)
    solver = make_solver('clik', problem, {'eps': 1e-4, **options})
    return solver.attempt(problem.start, budget or Budget())


@pytest.mark.parametrize('case', CASES, ids=range(len(CASES)))
def test_the_recorded_numbers(robot, case):
    found, recorded = attempt(robot, case), case['jlog6']
    assert recorded['success'] and found.exit_flag is ExitFlag.CONVERGED
    assert found.iterations == recorded['iterations']
    np.testing.assert_allclose(found.q, recorded['q_final'], rtol=0, atol=1e-9)
    assert np.sqrt(found.error) == pytest.approx(recorded['final_error_norm'], abs=1e-12)
    for i, q in enumerate(recorded['first_iterates'], 1):
        np.testing.assert_allclose(attempt(robot, case, it_max=i).q, q, rtol=0, atol=1e-9)


def test_damped_steps_are_the_formula(robot):
    """V = -J'(JJ' + damp I)^-1 err, written out with the configuration's own Jacobian."""
    case, damp, dt = CASES[1], 0.05, 0.2
    q = np.array(case['q_start'])
    for _ in range(3):
        at = Configuration(robot, q)
        M = pin.SE3(np.linalg.inv(case['oMdes']) @ at.transform('panda_joint7'))
        err, J = pin.log6(M.inverse()).np, -pin.Jlog6(M) @ at.jacobian('panda_joint7')
        q = q - dt * J.T @ np.linalg.inv(J @ J.T + damp * np.eye(6)) @ err
    found = attempt(robot, case, damp=damp, dt=dt, it_max=3)
    np.testing.assert_allclose(found.q, q, rtol=0, atol=1e-12)
    assert found.exit_flag is ExitFlag.ITERATION_LIMIT and found.iterations == 3


def test_it_max_and_budget(robot):
    assert attempt(robot, CASES[0], it_max=7).iterations == 7
    found = attempt(robot, CASES[0], Budget(iterations=5))
    assert (found.iterations, found.exit_flag) == (5, ExitFlag.ITERATION_LIMIT)
    found = attempt(robot, CASES[0], Budget(deadline=0.0))
    assert (found.iterations, found.exit_flag) == (0, ExitFlag.TIME_LIMIT)
    found = attempt(robot, CASES[0], Budget(cancel=lambda: True))
    assert (found.iterations, found.exit_flag) == (0, ExitFlag.CANCELLED)


def test_clamping_never_leaves_the_limits(robot):
    """Unreachable targets drive Pinocchio's example to hundreds of radians."""
    T = pose((1.2, 1.2, 1.2))
    case, outside = {'q_start': CASES[0]['q_start'], 'oMdes': T}, 0
    for i in range(1, 60, 6):
        q = attempt(robot, case, it_max=i, dt=1.0, joint_limits=True).q
        assert (robot.lower <= q).all() and (q <= robot.upper).all()
        free = attempt(robot, case, it_max=i, dt=1.0).q
        outside += bool(((free < robot.lower) | (free > robot.upper)).any())
    assert outside > 5


def test_eps_is_at_least_as_fine_as_the_tolerances(robot):
    T = Configuration(robot, CASES[0]['q_target_generator']).transform('panda_link7')
    for tolerance in (1e-3, 1e-8):
        solution = solve_pose(robot, 'panda_link7', T, CASES[0]['q_start'], solver='clik',
                              timeout=5.0, position_tolerance=tolerance,
                              orientation_tolerance=tolerance)
        assert solution.success and solution.restarts == 0
        assert solution.errors[0].position <= tolerance
