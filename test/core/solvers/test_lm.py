"""Levenberg-Marquardt: one descent from one start; targets that share no joint."""

from judge import pose, pose_error, TreeJudge
import numpy as np
import pytest
from small_robots import SMALL

from ros2_ik.core import (
    Budget,
    Configuration,
    ExitFlag,
    IKProblem,
    InvalidOptionError,
    PoseTarget,
    solve_pose,
)
from ros2_ik.core.solvers import make_solver
from ros2_ik.core.solvers.lm import LevenbergMarquardt
from ros2_ik.core.solvers.starts import draw_starts, generator_state, N_NEAR, Starts


def attempt(robot, tip, T, start, budget=None, options=None, **arguments):
    """Run one descent."""
    problem = IKProblem(robot, [PoseTarget(tip, T, **arguments)], start=start)
    return make_solver('lm', problem, options or {}).attempt(problem.start, budget or Budget())


@pytest.mark.parametrize('weights', [(1,) * 6, (1, 0.5, 0, 2, 1, 0)])
@pytest.mark.parametrize('name, root, relative_to', [
    ('two_arms', 'fixed', None), ('two_arms', 'fixed', 'right_hand'),
    ('two_arms', 'freeflyer', 'left_a'), ('mimic_chain', 'fixed', None),
    ('nested', 'fixed', None)])
def test_near_targets_need_few_steps(small, name, root, relative_to, weights):
    """A wrong derivative still arrives, by restarts; a right one in a few steps."""
    robot, judge = small(name, root), TreeJudge(SMALL[name], root)
    tip, generator = 'left_hand' if name == 'two_arms' else 'tip', np.random.default_rng(1)
    for _ in range(10):
        q = robot.random_q(generator)
        T = judge.transform(robot.to_joints(q), tip, relative_to)
        start = Configuration(robot, q).integrate(generator.uniform(-0.02, 0.02, robot.nv))
        found = attempt(robot, tip, T, np.clip(start, robot.lower, robot.upper),
                        relative_to=relative_to, weights=weights)
        assert found.exit_flag is ExitFlag.CONVERGED and found.iterations <= 10
        position, orientation = pose_error(
            judge.transform(robot.to_joints(found.q), tip, relative_to), T, weights)
        assert position <= 1e-5 and orientation <= 1e-4


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


def test_gives_up_early_where_nothing_gets_better(small):
    found = attempt(small('scara'), 'tip', pose((5, 0, 0)), [0.1, 0.1, 0.0, 0.0])
    assert found.exit_flag is ExitFlag.ERROR_CHANGE_TOO_SMALL
    assert found.iterations < 40


def test_iterations_of_an_attempt_are_bounded(small):
    robot, far = small('scara'), pose((5, 0, 0))
    found = attempt(robot, 'tip', far, None, options={'attempt_iterations': 2})
    assert (found.iterations, found.exit_flag) == (2, ExitFlag.ITERATION_LIMIT)
    found = attempt(robot, 'tip', far, None, Budget(iterations=3))
    assert (found.iterations, found.exit_flag) == (3, ExitFlag.ITERATION_LIMIT)


def test_the_best_of_the_descent_is_given(small):
    """Also where the last step made it worse."""
    robot, generator = small('zero_links'), np.random.default_rng(4)
    for _ in range(10):
        T = pose(generator.uniform(-1, 1, 3), generator.uniform(-2, 2, 3))
        start = robot.random_q(generator)
        errors = [attempt(robot, 'tip', T, start, options={'attempt_iterations': n}).error
                  for n in range(1, 12)]
        assert (np.diff(errors) <= 0).all()


@pytest.mark.parametrize('axis', [(1, 0, 0), (0.6, 0, -0.8)])
def test_half_a_turn_away(small, axis):
    """The rotation vector has no direction of its own there; a step is made nevertheless."""
    robot = small('one_link', 'freeflyer')
    found = attempt(robot, 'body', pose((0.1, 0.2, 0.3), np.array(axis) * np.pi), None)
    assert found.exit_flag is ExitFlag.CONVERGED
    np.testing.assert_allclose(Configuration(robot, found.q).transform('body'),
                               pose((0.1, 0.2, 0.3), np.array(axis) * np.pi), atol=1e-4)


# -- MATLAB's parameters ------------------------------------------------------------------

PLACE = (1, 1, 1, 0, 0, 0)
MATLAB = ('gradient_tolerance', 'step_tolerance', 'error_change_tolerance', 'solution_tolerance',
          'damping_bias', 'damping', 'attempt_iterations')


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
    *((name, value) for name in MATLAB for value in (0, np.inf, 'small')),
    ('use_error_damping', 1)])
def test_bad_options_are_refused(small, option, value):
    with pytest.raises(InvalidOptionError, match=option):
        attempt(small('scara'), 'tip', pose(), None, options={option: value})


# -- targets that share no joint are descended by themselves -----------------------------------

HANDS = ('left_gripper', 'right_gripper')
FEET = ('left_sole_link', 'right_sole_link', 'gripper_left_base_link', 'gripper_right_base_link')


def targets(robot, tips, generator):
    at = Configuration(robot, robot.random_q(generator))
    return [PoseTarget(tip, at.transform(tip)) for tip in tips]


def numbered(robot, state):
    """Return eight random starts."""
    return Starts(robot.neutral, N_NEAR + 1, N_NEAR + 8, generator_state(state))


def test_each_hand_ends_as_it_would_alone(load):
    """Also where no start suits both hands."""
    baxter, generator, mixed = load('baxter'), np.random.default_rng(3), 0
    for number in range(15):
        asked = targets(baxter, HANDS, generator)
        both = LevenbergMarquardt(IKProblem(baxter, asked))
        found, used, _ = both.find(both.problem, numbered(baxter, number), Budget())
        starts = numbered(baxter, number)   # whose generator the hands share, one after the other
        alone = [LevenbergMarquardt(IKProblem(baxter, target)) for target in asked]
        ends = [one.find(one.problem, starts, Budget())[:2] for one in alone]
        for one, (end, _) in zip(alone, ends, strict=True):
            place = one.problem.active.indices
            assert np.array_equal(found.q[place], end.q[place])
        assert found.reached is all(end.reached for end, _ in ends)
        assert used == max(count for _, count in ends)
        assert found.iterations == sum(end.iterations for end, _ in ends)
        assert found.error == pytest.approx(sum(end.error for end, _ in ends))
        mixed += len({count for _, count in ends}) == 2
    assert mixed > 2


def test_random_poses_of_a_free_base(load):
    """Uniform within a metre of the seed, the orientations uniform on the sphere."""
    robot = load('talos', 'freeflyer')
    problem = IKProblem(robot, targets(robot, FEET, np.random.default_rng(0)), collisions=False)
    seed = np.array(robot.neutral)
    seed[:3] = 1, 2, 3
    drawn = draw_starts(problem, Starts(seed, N_NEAR + 1, N_NEAR + 20_000, generator_state(1)))
    p, quaternions = drawn[:, :3] - seed[:3], drawn[:, 3:7]
    assert np.abs(p).max() <= 1 and np.abs(p.mean(axis=0)).max() < 0.02
    assert p.std(axis=0) == pytest.approx(np.full(3, 1 / np.sqrt(3)), abs=0.01)
    assert np.linalg.norm(quaternions, axis=1) == pytest.approx(np.ones(len(drawn)))
    # moments of a point on the sphere in four dimensions
    assert quaternions.mean(axis=0) == pytest.approx(np.zeros(4), abs=0.02)
    assert np.cov(quaternions.T) == pytest.approx(np.eye(4) / 4, abs=0.02)
    assert (quaternions**4).mean(axis=0) == pytest.approx(np.full(4, 1 / 8), abs=0.01)


def test_a_hand_relative_to_what_the_other_hand_moves(load):
    """Its frame counted as standing still: no answer was found, 10 of 10 times."""
    robot, generator, hands = load('talos'), np.random.default_rng(5), (
        'gripper_left_base_link', 'gripper_right_base_link')
    for number in range(5):
        at = Configuration(robot, robot.random_q(generator))
        chest, left, right = (at.transform(frame) for frame in ('torso_2_link', *hands))
        found = solve_pose(robot, hands, [np.linalg.inv(chest) @ left, right],
                           relative_to=['torso_2_link', None], collisions=False,
                           random_state=number, timeout=10)
        assert found.success, found.message
