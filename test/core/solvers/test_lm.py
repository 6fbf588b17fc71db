"""Levenberg-Marquardt: one descent from one start."""

from judge import pose, pose_error, TreeJudge
import numpy as np
import pytest
from small_robots import joint, SMALL, urdf, Z

from ros2_ik.core import (
    Budget,
    Configuration,
    ExitFlag,
    IKProblem,
    InvalidOptionError,
    PoseTarget,
    Robot,
    solve_pose,
)
from ros2_ik.core.solvers import make_solver


def attempt(robot, tip, T, start, budget=None, options=None, **arguments):
    """Run one descent."""
    problem = IKProblem(robot, [PoseTarget(tip, T, **arguments)], start=start)
    return make_solver('lm', problem, options or {}).attempt(problem.start, budget or Budget())


@pytest.mark.parametrize('name', ['one_joint', 'planar_2r', 'scara', 'gantry', 'turntable',
                                  'mimic_chain', 'nested', 'zero_links', 'no_limits'])
def test_near_targets_are_reached_in_one_descent(small, name):
    robot, judge = small(name), TreeJudge(SMALL[name])
    generator = np.random.default_rng(1)
    for _ in range(20):
        q = robot.random_q(generator)
        T = judge.transform(robot.to_joints(q), 'tip')
        start = Configuration(robot, q).integrate(generator.uniform(-0.02, 0.02, robot.nv))
        start = np.clip(start, robot.lower, robot.upper)
        found = attempt(robot, 'tip', T, start)
        assert found.exit_flag is ExitFlag.CONVERGED and found.iterations <= 10
        position, orientation = pose_error(judge.transform(robot.to_joints(found.q), 'tip'), T)
        assert position <= 1e-5 and orientation <= 1e-4
        assert judge.outside(dict(robot.to_joints(found.q).items())) == []


def test_converges_quadratically(small):
    """A damping that vanishes at the target: tight tolerances cost one or two more steps."""
    robot = small('two_arms')
    q = robot.random_q(np.random.default_rng(2)) * 0.5
    T, start = Configuration(robot, q).transform('left_hand'), q + 0.1
    coarse = attempt(robot, 'left_hand', T, start, position_tolerance=1e-3,
                     orientation_tolerance=1e-3)
    fine = attempt(robot, 'left_hand', T, start, position_tolerance=1e-11,
                   orientation_tolerance=1e-11)
    assert fine.exit_flag is ExitFlag.CONVERGED
    assert fine.iterations <= coarse.iterations + 3


def test_limits_are_inside_the_step(small):
    """Targets on the limits are reached, not merely approached."""
    robot = small('zero_links')
    generator, reached = np.random.default_rng(3), 0
    for _ in range(50):
        q = robot.random_q(generator)
        on_limit = generator.integers(0, robot.nq, 2)
        q[on_limit] = robot.upper[on_limit]
        T = Configuration(robot, q).transform('tip')
        start = np.clip(q - generator.uniform(0, 0.3, robot.nq), robot.lower, robot.upper)
        found = attempt(robot, 'tip', T, start)
        assert (robot.lower <= found.q).all() and (found.q <= robot.upper).all()
        reached += found.exit_flag is ExitFlag.CONVERGED
    assert reached >= 45


def test_a_joint_that_cannot_move():
    """Lower == upper: the others do its part."""
    robot = Robot.from_urdf(urdf(
        joint('a', 'revolute', 'base', 'la', axis=Z, limits=(0.3, 0.3)),
        joint('b', 'revolute', 'la', 'lb', xyz=(0.5, 0, 0), axis=Z, limits=(-3.0, 3.0)),
        joint('c', 'revolute', 'lb', 'lc', xyz=(0.5, 0, 0), axis=Z, limits=(-3.0, 3.0)),
        joint('end', 'fixed', 'lc', 'tip', xyz=(0.2, 0, 0))))
    T = Configuration(robot, [0.3, 0.5, -0.7]).transform('tip')
    solution = solve_pose(robot, 'tip', T, random_state=0)
    assert solution.success and solution.q[0] == 0.3


def test_gives_up_early_where_nothing_gets_better(small):
    found = attempt(small('scara'), 'tip', pose((5, 0, 0)), [0.1, 0.1, 0.0, 0.0])
    assert found.exit_flag is ExitFlag.ERROR_CHANGE_TOO_SMALL
    assert found.iterations < 40


def test_options_and_budget(small):
    robot, far = small('scara'), pose((5, 0, 0))
    found = attempt(robot, 'tip', far, None, options={'attempt_iterations': 2})
    assert (found.iterations, found.exit_flag) == (2, ExitFlag.ITERATION_LIMIT)
    found = attempt(robot, 'tip', far, None, Budget(iterations=3))
    assert (found.iterations, found.exit_flag) == (3, ExitFlag.ITERATION_LIMIT)
    found = attempt(robot, 'tip', far, None, Budget(deadline=0.0))
    assert (found.iterations, found.exit_flag) == (0, ExitFlag.TIME_LIMIT)
    found = attempt(robot, 'tip', far, None, Budget(cancel=lambda: True))
    assert (found.iterations, found.exit_flag) == (0, ExitFlag.CANCELLED)
    slow = attempt(robot, 'tip', far, None, options={'damping': 1e3, 'attempt_iterations': 3})
    fast = attempt(robot, 'tip', far, None, options={'damping': 1e-6, 'attempt_iterations': 3})
    assert np.abs(slow.q).max() < np.abs(fast.q).max()


def test_the_best_of_the_descent_is_given(small):
    """Also where the last step made it worse."""
    robot, generator = small('zero_links'), np.random.default_rng(4)
    for _ in range(30):
        T = pose(generator.uniform(-1, 1, 3), generator.uniform(-2, 2, 3))
        start = robot.random_q(generator)
        errors = [attempt(robot, 'tip', T, start, options={'attempt_iterations': n}).error
                  for n in range(1, 12)]
        assert (np.diff(errors) <= 0).all()


def test_error_is_that_of_q(small):
    robot = small('scara')
    T = Configuration(robot, [0.3, -0.5, -0.1, 0.7]).transform('tip') @ pose((0, 0, 0.5))
    found = attempt(robot, 'tip', T, None, weights=(1, 1, 1, 1, 1, 0))
    position, orientation = pose_error(
        Configuration(robot, found.q).transform('tip'), T, (1, 1, 1, 1, 1, 0))
    assert found.error == pytest.approx(position**2 + orientation**2)


@pytest.mark.parametrize('name, start', [
    ('zero_links', [0.0] * 7), ('planar_2r', [0.3, 0.0]), ('two_arms', [0.0] * 13)])
def test_exact_singularities_are_left(small, name, start):
    """Stretched out or with axes in line, and the target further in along the arm."""
    robot, tip = small(name), 'left_hand' if name == 'two_arms' else 'tip'
    T = Configuration(robot, start).transform(tip)
    inward = T.copy()
    inward[:3, 3] *= 0.97
    weights = (1, 1, 1, 0, 0, 0)
    solution = solve_pose(robot, tip, inward, start, weights=weights, random_state=0)
    assert solution.success
    again = solve_pose(robot, tip, T, start, random_state=0)     # and the singular pose itself
    assert again.success and again.iterations == 0


def test_steps_at_singularities_are_finite(small):
    robot, start = small('zero_links'), np.zeros(7)
    T = Configuration(robot, start).transform('tip')
    for offset in ((0, 0, -0.05), (1e-9, 0, 0), (0, 0, 0.05), (0, 0.05, 0)):
        found = attempt(robot, 'tip', T @ pose(offset), start)
        assert np.isfinite(found.q).all() and np.isfinite(found.error)


@pytest.mark.parametrize('axis', [(1, 0, 0), (0, 1, 0), (0, 0, 1)])
def test_half_a_turn_away(small, axis):
    """The rotation vector has no direction of its own there; a step is made nevertheless."""
    robot = small('one_link', 'freeflyer')
    found = attempt(robot, 'body', pose((0.1, 0.2, 0.3), np.array(axis) * np.pi), None)
    assert found.exit_flag is ExitFlag.CONVERGED
    np.testing.assert_allclose(Configuration(robot, found.q).transform('body'),
                               pose((0.1, 0.2, 0.3), np.array(axis) * np.pi), atol=1e-4)


# -- MATLAB's parameters ------------------------------------------------------------------

PLACE = (1, 1, 1, 0, 0, 0)
MATLAB = {'gradient_tolerance': 5e-9, 'step_tolerance': 1e-12, 'error_change_tolerance': 1e-12,
          'solution_tolerance': 1e-6, 'damping_bias': 0.0025, 'damping': 0.5,
          'attempt_iterations': 1500}


@pytest.mark.parametrize('bias, damping', [(0.0025, 0.5), (0.1, 1.0), (1e-10, None)])
def test_damped_steps_are_the_formula(small, bias, damping):
    """Steps of (J'J + lambda I)^-1 J'e, written out on the configuration's own Jacobian."""
    robot = small('gantry')     # whose error is linear: log6 is the way that is left
    T = Configuration(robot, [0.3, 1.1, -0.2]).transform('tip')
    q = np.array([0.0, 1.0, -0.1])
    for _ in range(3):
        at = Configuration(robot, q)
        J, e = at.jacobian('tip')[:3], T[:3, 3] - at.transform('tip')[:3, 3]
        factor = 0.0 if damping is None else damping
        q = q + np.linalg.solve(J.T @ J + (factor * e @ e + bias) * np.eye(3), J.T @ e)
    options = {'damping_bias': bias, 'attempt_iterations': 3, 'use_error_damping': bool(damping),
               'solution_tolerance': 1e-30, **({'damping': damping} if damping else {})}
    found = attempt(robot, 'tip', T, [0.0, 1.0, -0.1], options=options)
    np.testing.assert_allclose(found.q, q, rtol=0, atol=1e-12)


def test_with_matlabs_numbers(small):
    robot, judge = small('zero_links'), TreeJudge(SMALL['zero_links'])
    generator = np.random.default_rng(5)
    for _ in range(20):
        q = robot.random_q(generator)
        T = judge.transform(robot.to_joints(q), 'tip')
        start = np.clip(q + generator.uniform(-0.05, 0.05, 7), robot.lower, robot.upper)
        found = attempt(robot, 'tip', T, start, options=MATLAB)
        assert found.exit_flag is ExitFlag.CONVERGED and found.error < 1e-12
        position, orientation = pose_error(judge.transform(robot.to_joints(found.q), 'tip'), T)
        assert position**2 + orientation**2 < 2e-12


def test_each_tolerance_ends_a_descent_with_its_flag(small):
    """Towards a place out of reach, which is approached ever more slowly."""
    robot, far = small('scara'), pose((5, 0, 0))
    free = {'error_change_tolerance': 1e-15, 'attempt_iterations': 1000, 'damping': 0.5}
    expected = {'gradient_tolerance': (1e-3, ExitFlag.ERROR_CHANGE_TOO_SMALL),
                'step_tolerance': (1e-3, ExitFlag.STEP_TOO_SMALL),
                'error_change_tolerance': (1e-3, ExitFlag.ERROR_CHANGE_TOO_SMALL)}
    for option, (value, flag) in expected.items():
        found, finer = (attempt(robot, 'tip', far, [0.9, 0.5, 0, 0.3], weights=PLACE, options={
            **free, option: tolerance}) for tolerance in (value, 1e-2 * value))
        assert found.exit_flag is flag and finer.exit_flag is flag
        assert 0 < found.iterations < finer.iterations < 1000 and finer.error <= found.error
    loose = attempt(robot, 'tip', far, None, options={'solution_tolerance': 10.0})
    assert (loose.exit_flag, loose.iterations) == (ExitFlag.CONVERGED, 0)


def test_a_gradient_that_the_limits_stop_does_not_count(small):
    """At the limit nothing is left to do, however steep the way beyond it is."""
    robot = small('one_joint')
    T = TreeJudge(SMALL['one_joint']).transform({'turn': 3.0}, 'tip')
    found = attempt(robot, 'tip', T, [2.5], options={
        'gradient_tolerance': 1e-6, 'error_change_tolerance': 1e-15})
    assert (found.q[0], found.iterations) == (2.5, 0)
    assert found.exit_flag is ExitFlag.ERROR_CHANGE_TOO_SMALL


@pytest.mark.parametrize('option, value', [
    *((name, value) for name in MATLAB for value in (0, -1.0, np.nan, np.inf, 'small', True)),
    ('use_error_damping', 1), ('use_error_damping', None), ('damping_bias', None)])
def test_bad_options(small, option, value):
    with pytest.raises(InvalidOptionError, match=option):
        attempt(small('scara'), 'tip', pose(), None, options={option: value})
