"""Descents of lm, bfgs, slsqp and clik: formulas, recorded numbers, closed forms, flags."""

from judge import pose, pose_error, TreeJudge
import numpy as np
from oracles import oracle_robot, recorded
import pinocchio as pin
import pytest
from small_robots import SMALL

from ros2_ik.core import (
    Budget,
    Configuration,
    Constraint,
    ExitFlag,
    FramePosition,
    IKProblem,
    PoseTarget,
    solve_pose,
)
from ros2_ik.core.solvers import make_solver
from ros2_ik.core.solvers.lm import LevenbergMarquardt
from ros2_ik.core.solvers.starts import generator_state, N_NEAR, Starts


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


# -- MATLAB's parameters ------------------------------------------------------------------

PLACE = (1, 1, 1, 0, 0, 0)


@pytest.mark.parametrize('bias, damping', [(0.0025, 0.5), (0.1, 1.0), (1e-10, None)])
def test_damped_steps_of_lm_are_the_formula(small, bias, damping):
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


# -- targets that share no joint are descended by themselves -----------------------------------

HANDS = ('left_gripper', 'right_gripper')


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


# -- L-BFGS-B and SLSQP -------------------------------------------------------------------------

UPPER, LOWER = 0.5, 0.4     # links of planar_2r


def descend(solver, problem, budget=None, **options):
    """Run one descent."""
    return make_solver(solver, problem, options).attempt(problem.start, budget or Budget())


def at_place(robot, x, y, start, tolerance=1e-5):
    """Ask a planar arm for a place of its tip."""
    return IKProblem(robot, PoseTarget('tip', pose((x, y, 0)), weights=PLACE,
                                       position_tolerance=tolerance), start=start)


@pytest.mark.parametrize('solver', ['bfgs', 'slsqp'])
@pytest.mark.parametrize('side', [1, -1])
def test_two_links_bend_as_the_law_of_cosines_says(small, solver, side):
    """The law of cosines; of the two postures the one that is near."""
    for x, y in ((0.6, 0.2), (-0.1, 0.5), (0.3, -0.4)):
        distance = np.hypot(x, y)
        bend = side * np.arccos((distance**2 - UPPER**2 - LOWER**2) / (2 * UPPER * LOWER))
        turn = np.arctan2(y, x) - np.arctan2(LOWER * np.sin(bend), UPPER + LOWER * np.cos(bend))
        turn = np.arctan2(np.sin(turn), np.cos(turn))
        found = descend(solver, at_place(small('planar_2r'), x, y, [turn + 0.2, bend - 0.2], 1e-9))
        assert found.exit_flag is ExitFlag.CONVERGED and found.reached
        np.testing.assert_allclose(found.q, [turn, bend], atol=1e-7)


def test_bfgs_ends_by_the_tolerances_of_matlab(small):
    robot = small('planar_2r')
    far, near = at_place(robot, 3.0, 1.0, [0.9, 0.8]), at_place(robot, 0.5, 0.3, [0.9, 0.8])
    for option, flag in (('step_tolerance', ExitFlag.STEP_TOO_SMALL),
                         ('gradient_tolerance', ExitFlag.ERROR_CHANGE_TOO_SMALL)):
        coarse, fine = (descend('bfgs', far, **{option: value}) for value in (0.1, 1e-3))
        assert coarse.exit_flag is fine.exit_flag is flag
        assert coarse.iterations < fine.iterations and coarse.error > fine.error
    assert fine.error == pytest.approx((np.hypot(3, 1) - UPPER - LOWER)**2, abs=1e-6)
    for tolerance in (1e-1, 1e-8):
        found = descend('bfgs', near, solution_tolerance=tolerance)
        assert found.exit_flag is ExitFlag.CONVERGED and found.error < tolerance**2


def test_bfgs_is_not_ended_by_a_small_gradient_near_the_target(small):
    """Small weights make small gradients; what ends a descent is no gradient, seen from there."""
    robot = small('planar_2r')
    target = PoseTarget('tip', pose((0.5, 0.3, 0)), weights=(1, 1e-3, 0, 0, 0, 0),
                        position_tolerance=1e-8)
    found = descend('bfgs', IKProblem(robot, target, start=[0.9, 0.8]))
    assert found.exit_flag is ExitFlag.CONVERGED
    place = TreeJudge(SMALL['planar_2r']).transform(robot.to_joints(found.q), 'tip')[:2, 3]
    np.testing.assert_allclose(place, [0.5, 0.3], atol=1e-8)


@pytest.mark.parametrize('solver', ['bfgs', 'slsqp'])
def test_descents_with_all_joints_locked_end_at_once(small, solver):
    robot = small('planar_2r')
    p = Configuration(robot, [0.0, 0.0]).transform('tip')[:3, 3]
    for off, reached in ((0.0, True), (0.1, False)):
        found = descend(solver, IKProblem(robot, locked=robot.joint_names, constraints=[
            Constraint(FramePosition('tip'), p + off, p + off)]))
        assert (found.reached, found.iterations) == (reached, 0)


# -- Pinocchio's closed loop --------------------------------------------------------------------

CASES = recorded('clik.json')['cases']


@pytest.fixture(scope='module')
def robot():
    return oracle_robot()


def closed_loop(robot, case, budget=None, joint_limits=False, **options):
    """Run one descent of a recorded case, as the example does without limits."""
    problem = IKProblem(robot, [PoseTarget('panda_joint7', np.array(case['oMdes']))],
                        start=case['q_start'], joint_limits=joint_limits)
    solver = make_solver('clik', problem, {'eps': 1e-4, **options})
    return solver.attempt(problem.start, budget or Budget())


@pytest.mark.parametrize('case', CASES, ids=range(len(CASES)))
def test_clik_gives_the_iterates_that_pinocchio_recorded(robot, case):
    found, recorded = closed_loop(robot, case), case['jlog6']
    assert recorded['success'] and found.exit_flag is ExitFlag.CONVERGED
    assert found.iterations == recorded['iterations']
    np.testing.assert_allclose(found.q, recorded['q_final'], rtol=0, atol=1e-9)
    assert np.sqrt(found.error) == pytest.approx(recorded['final_error_norm'], abs=1e-12)
    for i, q in enumerate(recorded['first_iterates'], 1):
        np.testing.assert_allclose(closed_loop(robot, case, it_max=i).q, q, rtol=0, atol=1e-9)


def test_damped_steps_of_clik_are_the_formula(robot):
    """V = -J'(JJ' + damp I)^-1 err, written out with the configuration's own Jacobian."""
    case, damp, dt = CASES[1], 0.05, 0.2
    q = np.array(case['q_start'])
    for _ in range(3):
        at = Configuration(robot, q)
        M = pin.SE3(np.linalg.inv(case['oMdes']) @ at.transform('panda_joint7'))
        err, J = pin.log6(M.inverse()).np, -pin.Jlog6(M) @ at.jacobian('panda_joint7')
        q = q - dt * J.T @ np.linalg.inv(J @ J.T + damp * np.eye(6)) @ err
    found = closed_loop(robot, case, damp=damp, dt=dt, it_max=3)
    np.testing.assert_allclose(found.q, q, rtol=0, atol=1e-12)
    assert found.exit_flag is ExitFlag.ITERATION_LIMIT and found.iterations == 3


def test_eps_is_at_least_as_fine_as_the_tolerances(robot):
    T = Configuration(robot, CASES[0]['q_target_generator']).transform('panda_link7')
    for tolerance in (1e-3, 1e-8):
        solution = solve_pose(robot, 'panda_link7', T, CASES[0]['q_start'], solver='clik',
                              timeout=5.0, position_tolerance=tolerance,
                              orientation_tolerance=tolerance)
        assert solution.success and solution.restarts == 0
        assert solution.errors[0].position <= tolerance
