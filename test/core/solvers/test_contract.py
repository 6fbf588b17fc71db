"""What every solver keeps to, those of other packages included."""

import threading

from judge import check, pose, TreeJudge
import numpy as np
import pytest
from small_robots import SMALL

from ros2_ik.core import (
    Attempt,
    Budget,
    Configuration,
    ExitFlag,
    IKProblem,
    PoseTarget,
    solve_pose,
    solver_names,
    Status,
)
from ros2_ik.core.solvers import make_solver

SOLVERS = solver_names()
COMPILED = 'lm', 'sqp'    # their descents from poses cannot be interrupted
SOME = [pytest.param(name, marks=pytest.mark.slow) if name == 'bfgs' else name for name in SOLVERS]
FAR = pose((9, 0, 0))
ROBOTS = [('scara', 'tip'), ('turntable', 'tip'), ('mimic_chain', 'tip'), ('nested', 'tip'),
          ('two_arms', 'left_hand')]


@pytest.mark.parametrize('robot_name, tip', ROBOTS)
@pytest.mark.parametrize('solver', SOLVERS)
def test_reachable_poses_near_the_start(small, solver, robot_name, tip):
    robot, judge = small(robot_name), TreeJudge(SMALL[robot_name])
    generator = np.random.default_rng(0)
    for _ in range(5):
        start = np.clip(robot.random_q(generator) * 0.6, robot.lower, robot.upper)
        if robot_name == 'nested':
            start = robot.to_q(robot.to_joints(start))
        q = Configuration(robot, start).integrate(generator.uniform(-0.05, 0.05, robot.nv))
        T = judge.transform(robot.to_joints(np.clip(q, robot.lower, robot.upper)), tip)
        solution = solve_pose(robot, tip, T, start, solver=solver, timeout=5.0, random_state=0)
        check(judge, solution, [(tip, T)])
        assert solution.solver == solver


@pytest.mark.parametrize('solver', SOLVERS)
def test_weights_frames_and_several_tips(small, solver):
    robot, judge = small('two_arms'), TreeJudge(SMALL['two_arms'])
    generator, tips = np.random.default_rng(0), ['left_hand', 'right_hand']
    frames, weights = ['right_b', None], [(1, 1, 1, 1, 1, 0), (1, 1, 1, 0, 0, 0)]
    for _ in range(3):
        start = robot.random_q(generator) * 0.5
        joints = robot.to_joints(start + generator.uniform(-0.05, 0.05, robot.nq))
        targets = [judge.transform(joints, tip, frame)
                   for tip, frame in zip(tips, frames, strict=True)]
        solution = solve_pose(robot, tips, targets, start, solver=solver, relative_to=frames,
                              weights=weights, timeout=5.0, random_state=0)
        check(judge, solution, list(zip(tips, targets, frames, weights, strict=True)))


@pytest.mark.parametrize('scale', [2.0**-20, 2.0**20])
@pytest.mark.parametrize('solver', SOLVERS)
def test_only_the_ratio_of_weights_counts(small, solver, scale):
    robot, judge = small('zero_links'), TreeJudge(SMALL['zero_links'])
    generator, weights = np.random.default_rng(0), tuple(scale * np.array((1, 0.5, 1, 0.25, 1, 0)))
    for _ in range(3):
        start = robot.random_q(generator) * 0.6
        goal = np.clip(start + generator.uniform(-0.1, 0.1, 7), robot.lower, robot.upper)
        T = judge.transform(robot.to_joints(goal), 'tip')
        solution = solve_pose(robot, 'tip', T, start, solver=solver, weights=weights,
                              timeout=30.0, random_state=0)
        check(judge, solution, [('tip', T, None, weights)])


def asked(robot, T=FAR, **arguments):
    """Ask for a pose of the tip."""
    return IKProblem(robot, [PoseTarget('tip', T)], **arguments)


@pytest.mark.parametrize('solver', SOLVERS)
def test_an_attempt_is_well_formed(small, solver):
    robot = small('zero_links')
    generator = np.random.default_rng(0)
    for bound in (1, 2, 9, 100, 100, 100):
        T = FAR if bound < 9 else Configuration(robot, robot.random_q(generator)).transform('tip')
        start = robot.random_q(generator)
        start.setflags(write=False)
        attempt = make_solver(solver, asked(robot, T), {}).attempt(
            start, Budget(iterations=bound))
        assert isinstance(attempt, Attempt)
        assert attempt.q.shape == (robot.nq,) and np.isfinite(attempt.q).all()
        assert attempt.error >= 0 and np.isfinite(attempt.error)
        assert 0 <= attempt.iterations <= bound and isinstance(attempt.exit_flag, ExitFlag)
        assert (robot.lower <= attempt.q).all() and (attempt.q <= robot.upper).all()


@pytest.mark.parametrize('solver', SOLVERS)
def test_what_is_locked_is_not_moved(small, solver):
    robot = small('zero_links')
    problem = asked(robot, start={'s2': 0.3, 'w2': 5.0}, locked=['s2', 'w2'])
    start = problem.locked(np.full(7, -0.5))
    attempt = make_solver(solver, problem, {}).attempt(start, Budget(iterations=30))
    assert (attempt.q[1], attempt.q[5]) == (0.3, 5.0)
    assert (attempt.q[[0, 2, 3, 4, 6]] != -0.5).any()


@pytest.mark.parametrize('solver', SOME)
def test_the_deadline_is_kept(small, ticking, solver):
    """Solvers in Python look at the clock in each iteration, compiled ones before each batch."""
    make = make_solver(solver, asked(small('zero_links')), {})
    attempt = make.attempt(np.zeros(7), Budget(deadline=-1.0))
    assert attempt.exit_flag is ExitFlag.TIME_LIMIT and attempt.iterations <= 1
    for seed in range(2):
        before = ticking.looks
        solution = solve_pose(small('zero_links'), 'tip', FAR, solver=solver, timeout=0.3,
                              random_state=seed)
        assert not solution.success
        if solver in COMPILED:
            assert 300 <= ticking.looks - before < 310
        else:
            assert 100 < solution.iterations < 300 <= ticking.looks - before < 310


@pytest.mark.parametrize('solver', SOLVERS)
def test_cancelling(small, solver):
    make = make_solver(solver, asked(small('zero_links')), {})
    event = threading.Event()
    event.set()
    attempt = make.attempt(np.zeros(7), Budget(cancel=event))
    assert attempt.exit_flag is ExitFlag.CANCELLED and attempt.iterations <= 1
    if solver not in COMPILED:
        looks = []
        attempt = make.attempt(np.zeros(7), Budget(
            cancel=lambda: looks.append(0) or len(looks) > 3))
        assert attempt.exit_flag is ExitFlag.CANCELLED and attempt.iterations <= 4
    solution = solve_pose(small('zero_links'), 'tip', FAR, solver=solver, cancel=event)
    assert solution.status is Status.PREEMPTED


@pytest.mark.parametrize('solver', SOLVERS)
def test_deterministic(small, solver):
    robot = small('zero_links')
    generator = np.random.default_rng(0)
    for _ in range(3):
        T = Configuration(robot, robot.random_q(generator)).transform('tip')
        one, two = (solve_pose(robot, 'tip', T, solver=solver, timeout=30.0, max_iterations=300,
                               random_state=5) for _ in range(2))
        np.testing.assert_array_equal(one.best_q, two.best_q)
        assert (one.status, one.iterations, one.restarts) == (two.status, two.iterations,
                                                              two.restarts)
