"""Repeated requests: cached state is not stale, and a warm call enters few files."""

import gc
from itertools import groupby
from pathlib import Path
import sys
import weakref

import numpy as np
import pytest
from small_robots import joint, urdf, WIDE, Y, Z

from ros2_ik import core
from ros2_ik.core import (
    CollisionChecker,
    Configuration,
    IKProblem,
    InverseKinematics,
    JointPositions,
    LeastSquares,
    PoseSolver,
    PoseTarget,
    Robot,
    Scene,
    solve,
    solve_pose,
    SolveOptions,
)
from ros2_ik.core.collision import self_collision_check
from ros2_ik.core.errors import InvalidOptionError

CORE = str(Path(core.__file__).parent)


def files_entered(call):
    """Return the files of the core that a call enters, in order."""
    names = []

    def trace(frame, event, argument):
        name = frame.f_code.co_filename
        if not name.startswith(CORE):
            return None
        names.append(name.removeprefix(CORE))
        return trace
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return [name for name, _ in groupby(names)]


def poses_and_seeds(robot, tip, count):
    """Yield tip poses of collision-free configurations, each with a near seed."""
    generator, checker = np.random.default_rng(0), self_collision_check(robot).checker
    while count:
        q = robot.random_q(generator)
        if checker is None or not checker.collides(q):
            count -= 1
            yield (Configuration(robot, q).transform(tip),
                   np.clip(q + 0.05, robot.lower, robot.upper))


@pytest.mark.parametrize('collisions, files, switches', [(True, 12, 32), (False, 9, 26)])
def test_warm_solve_pose_enters_few_files(load, collisions, files, switches):
    """A reader can follow a request through few files; see docs/architecture.md."""
    robot, tip, solutions = load('panda'), 'panda_hand_tcp', []
    for T, seed in poses_and_seeds(robot, tip, 4):
        entered = files_entered(lambda T=T, seed=seed: solutions.append(
            solve_pose(robot, tip, T, seed, collisions=collisions)))
    assert all(solutions)
    assert len(set(entered)) <= files and len(entered) - 1 <= switches, entered


def test_creation_of_a_pose_solver_draws_no_random_numbers(load):
    generator = np.random.default_rng(3)
    PoseSolver(load('panda'), 'panda_hand', options=SolveOptions(random_state=generator))
    assert generator.integers(10**9) == np.random.default_rng(3).integers(10**9)


def test_checker_of_a_finished_search_is_freed(load):
    """A checker for 1,000 objects takes 100 MB."""
    robot = load('panda')
    checker = CollisionChecker(robot, Scene(robot))
    problem = IKProblem(robot, PoseTarget('panda_hand', Configuration(
        robot, robot.neutral).transform('panda_hand')), checker=checker)
    assert solve(problem)
    alive = weakref.ref(checker)
    del checker, problem
    gc.collect()
    assert alive() is None


def test_warm_inverse_kinematics_enters_few_files(load):
    """The problem has two constraints and a cost."""
    robot, solutions = load('panda'), []
    tip, ik = 'panda_hand_tcp', InverseKinematics(robot)
    for T, seed in poses_and_seeds(robot, tip, 4):
        handles = [ik.add_position_constraint(tip, [0, 0, 0], None, T[:3, 3] - 0.02,
                                              T[:3, 3] + 0.02),
                   ik.add_gaze_target_constraint(tip, [0, 0, 0], [0, 0, 1], None,
                                                 T[:3, 3] + 0.5 * T[:3, 2], 0.2),
                   ik.add_posture_cost(seed - 0.05, 0.01)]
        entered = files_entered(lambda seed=seed: solutions.append(ik.solve(seed, timeout=1.0)))
        for handle in handles:
            ik.remove(handle)
    assert solutions[-1].success and solutions[-1].iterations > 0
    assert len(set(entered)) <= 20 and len(entered) - 1 <= 72, entered


def test_arms_coupled_by_a_relative_target_are_solved_with_a_third_arm():
    """Past defect: poses of other targets were used, so that no solution was found."""
    arms = [text for arm, y in (('a', 0.5), ('b', -0.5), ('c', 0.0)) for text in (
        joint(f'{arm}_1', 'revolute', 'base', f'{arm}_x', xyz=(0, y, 0.2), axis=Z, limits=WIDE),
        joint(f'{arm}_2', 'revolute', f'{arm}_x', f'{arm}_y', axis=Y, limits=WIDE),
        joint(f'{arm}_3', 'revolute', f'{arm}_y', f'{arm}_tip', xyz=(0.3, 0, 0), axis=Y,
              limits=WIDE))]
    robot = Robot.from_urdf(urdf(*arms))
    at = Configuration(robot, [0.3, -0.5, 0.7, 0.2, 0.4, -0.6, -0.4, 0.5, 0.9])
    targets = [*(PoseTarget(tip, at.transform(tip)) for tip in ('a_tip', 'b_tip', 'c_tip')),
               PoseTarget('a_tip', at.transform('a_tip', 'b_tip'), relative_to='b_tip')]
    problem = IKProblem(robot, targets, collisions=False)
    assert solve(problem, random_state=0, max_iterations=1000, timeout=10.0).success


def test_pose_solver_uses_the_current_value_of_a_locked_joint(small):
    robot, generator = small('two_arms'), np.random.default_rng(2)
    solver = PoseSolver(robot, 'left_hand', locked=['torso'])
    for i in range(20):
        q = robot.random_q(generator)
        T = Configuration(robot, q).transform('left_hand')
        seed = {**robot.to_joints(robot.neutral), 'torso': robot.to_joints(q)['torso']}
        solution = solver.solve(T, seed, options=SolveOptions(timeout=5.0, random_state=i))
        assert solution.success and solution.joints['torso'] == seed['torso']
        assert np.allclose(Configuration(robot, solution.q).transform('left_hand'), T, atol=1e-3)
    with pytest.raises(InvalidOptionError, match='options must be SolveOptions, not 3'):
        solver.solve(T, options=3)


def test_problem_with_replaced_poses_equals_a_new_problem(small):
    robot = small('two_arms')
    generator, costs = np.random.default_rng(1), [LeastSquares(JointPositions(), weight=0.1)]
    poses = [Configuration(robot, robot.random_q(generator)).transform('left_hand')
             for _ in range(4)]
    problem = IKProblem(robot, PoseTarget('left_hand', poses[0]), costs=costs)
    for pose in poses:
        replaced = solve(problem.with_poses([pose]), random_state=0, timeout=1.0)
        fresh = solve(IKProblem(robot, PoseTarget('left_hand', pose), costs=costs),
                      random_state=0, timeout=1.0)
        assert replaced.success and fresh.success
        assert replaced.cost == pytest.approx(fresh.cost, rel=1e-6)
