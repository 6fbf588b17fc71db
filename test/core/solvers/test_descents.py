"""Descents of lm, bfgs, slsqp and clik: formulas, recorded iterates and exit flags."""

from judge import pose, pose_error, TreeJudge
import numpy as np
from oracles import oracle_robot, recorded
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
    Robot,
    solve,
    solve_pose,
)
from ros2_ik.core.solvers import make_solver


def descend_lm(robot, tip, T, start, options=None, **arguments):
    """Run one descent of lm."""
    problem = IKProblem(robot, [PoseTarget(tip, T, **arguments)], start=start)
    return make_solver('lm', problem, options or {}).attempt(problem.start, Budget())


@pytest.mark.parametrize('weights', [(1,) * 6, (1, 0.5, 0, 2, 1, 0)])
@pytest.mark.parametrize('name, root, relative_to', [
    ('two_arms', 'fixed', None), ('two_arms', 'fixed', 'right_hand'),
    ('two_arms', 'freeflyer', 'left_a'), ('mimic_chain', 'fixed', None),
    ('nested', 'fixed', None)])
def test_lm_descends_to_near_targets_in_few_iterations(small, name, root, relative_to, weights):
    """With a wrong derivative a descent may converge, but slowly."""
    robot, judge = small(name, root), TreeJudge(SMALL[name], root)
    tip, generator = 'left_hand' if name == 'two_arms' else 'tip', np.random.default_rng(1)
    for _ in range(10):
        q = robot.random_q(generator)
        T = judge.transform(robot.to_joints(q), tip, relative_to)
        start = Configuration(robot, q).integrate(generator.uniform(-0.02, 0.02, robot.nv))
        found = descend_lm(robot, tip, T, np.clip(start, robot.lower, robot.upper),
                           relative_to=relative_to, weights=weights)
        assert found.exit_flag is ExitFlag.CONVERGED and found.iterations <= 10
        position, orientation = pose_error(
            judge.transform(robot.to_joints(found.q), tip, relative_to), T, weights)
        assert position <= 1e-5 and orientation <= 1e-4


# -- lm with MATLAB's parameters ----------------------------------------------------------

POSITION_ONLY = (1, 1, 1, 0, 0, 0)     # weights


@pytest.mark.parametrize('bias, damping', [(0.0025, 0.5), (0.1, 1.0), (1e-10, None)])
def test_lm_steps_equal_damped_least_squares(small, bias, damping):
    """A step is (J'J + lambda I)^-1 J'e with the Jacobian of the configuration."""
    robot = small('gantry')     # its error is linear in q
    T = Configuration(robot, [0.3, 1.1, -0.2]).transform('tip')
    q = np.array([0.0, 1.0, -0.1])
    for _ in range(3):
        at = Configuration(robot, q)
        J, e = at.jacobian('tip')[:3], T[:3, 3] - at.transform('tip')[:3, 3]
        factor = 0.0 if damping is None else damping
        q = q + np.linalg.solve(J.T @ J + (factor * e @ e + bias) * np.eye(3), J.T @ e)
    options = {'damping_bias': bias, 'attempt_iterations': 3, 'use_error_damping': bool(damping),
               'solution_tolerance': 1e-30, **({'damping': damping} if damping else {})}
    found = descend_lm(robot, 'tip', T, [0.0, 1.0, -0.1], options=options)
    np.testing.assert_allclose(found.q, q, rtol=0, atol=1e-12)


def test_each_tolerance_ends_a_descent_with_its_exit_flag(small):
    """The target is out of reach, so steps and error changes decrease."""
    robot, far = small('scara'), pose((5, 0, 0))
    coarse, fine, unbounded = (descend_lm(
        robot, 'tip', far, [0.9, 0.5, 0, 0.3], weights=POSITION_ONLY,
        options={'damping': 0.5, 'attempt_iterations': 1000, **tolerance})
        for tolerance in ({'step_tolerance': 0.3}, {'step_tolerance': 0.1}, {}))
    assert coarse.exit_flag is fine.exit_flag is ExitFlag.STEP_TOO_SMALL
    assert unbounded.exit_flag is ExitFlag.ERROR_CHANGE_TOO_SMALL
    assert 0 < coarse.iterations < fine.iterations < unbounded.iterations
    loose = descend_lm(robot, 'tip', far, None, options={'solution_tolerance': 10.0})
    assert (loose.exit_flag, loose.iterations) == (ExitFlag.CONVERGED, 0)


# -- targets that share no joint are descended separately ----------------------------------------


def test_joint_that_moves_no_target_stays_at_the_seed(load):
    """Past defect: with two separate targets, the joint moved to its neutral position."""
    baxter, hands = load('baxter'), ('left_gripper', 'right_gripper')
    robot = Robot.from_urdf(baxter.urdf, srdf=baxter.srdf.replace('</robot>', (
        '<group name="all"><joint name="head_pan"/><group name="left_arm"/>'
        '<group name="right_arm"/></group></robot>')))
    at = Configuration(robot, robot.random_q(np.random.default_rng(3)))
    found = solve(IKProblem(robot, [PoseTarget(hand, at.transform(hand)) for hand in hands],
                            'all', collisions=False), [{'head_pan': 0.4}], timeout=5.0)
    assert found.success and found.joints['head_pan'] == 0.4


def test_target_relative_to_a_moving_torso_is_solved(load):
    """Past defect: the reference frame was treated as fixed, and no target was solved."""
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

UPPER, LOWER = 0.5, 0.4     # link lengths of planar_2r [m]


def descend(solver, problem, **options):
    """Run one descent."""
    return make_solver(solver, problem, options).attempt(problem.start, Budget())


def position_problem(robot, x, y, start):
    """Return a problem with a tip position of a planar arm."""
    return IKProblem(robot, PoseTarget('tip', pose((x, y, 0)), weights=POSITION_ONLY), start=start)


def test_bfgs_stops_at_its_gradient_tolerance(small):
    robot = small('planar_2r')
    far = position_problem(robot, 3.0, 1.0, [0.9, 0.8])
    coarse, fine = (descend('bfgs', far, gradient_tolerance=value) for value in (0.1, 1e-3))
    assert coarse.exit_flag is fine.exit_flag is ExitFlag.ERROR_CHANGE_TOO_SMALL
    assert coarse.iterations < fine.iterations and coarse.error > fine.error
    assert fine.error == pytest.approx((np.hypot(3, 1) - UPPER - LOWER)**2, abs=1e-6)
    found = descend('bfgs', position_problem(robot, 0.5, 0.3, [0.9, 0.8]))
    assert found.exit_flag is ExitFlag.CONVERGED and found.error < 1e-10


@pytest.mark.parametrize('solver', ['bfgs', 'slsqp'])
def test_descents_with_all_joints_locked_take_no_iterations(small, solver):
    robot = small('planar_2r')
    p = Configuration(robot, [0.0, 0.0]).transform('tip')[:3, 3]
    for off, reached in ((0.0, True), (0.1, False)):
        found = descend(solver, IKProblem(robot, locked=robot.joint_names, constraints=[
            Constraint(FramePosition('tip'), p + off, p + off)]))
        assert (found.reached, found.iterations) == (reached, 0)


# -- clik, against Pinocchio's closed-loop example ----------------------------------------------

CASES = recorded('clik.json')['cases']


@pytest.fixture(scope='module')
def robot():
    return oracle_robot()


def descend_clik(robot, case, **options):
    """Run one descent of clik from a recorded start, without joint limits."""
    problem = IKProblem(robot, [PoseTarget('panda_joint7', np.array(case['oMdes']))],
                        start=case['q_start'], joint_limits=False)
    return descend('clik', problem, eps=1e-4, **options)


@pytest.mark.parametrize('case', CASES, ids=range(len(CASES)))
def test_clik_iterates_equal_those_of_pinocchio(robot, case):
    found, recorded = descend_clik(robot, case), case['jlog6']
    assert recorded['success'] and found.exit_flag is ExitFlag.CONVERGED
    assert found.iterations == recorded['iterations']
    np.testing.assert_allclose(found.q, recorded['q_final'], rtol=0, atol=1e-9)
    assert np.sqrt(found.error) == pytest.approx(recorded['final_error_norm'], abs=1e-12)
    for i, q in enumerate(recorded['first_iterates'], 1):
        np.testing.assert_allclose(descend_clik(robot, case, it_max=i).q, q, rtol=0, atol=1e-9)


def test_clik_eps_does_not_exceed_the_target_tolerances(robot):
    T = Configuration(robot, CASES[0]['q_target_generator']).transform('panda_link7')
    for tolerance in (1e-3, 1e-8):
        solution = solve_pose(robot, 'panda_link7', T, CASES[0]['q_start'], solver='clik',
                              timeout=5.0, position_tolerance=tolerance,
                              orientation_tolerance=tolerance)
        assert solution.success and solution.restarts == 0
        assert solution.errors[0].position <= tolerance
