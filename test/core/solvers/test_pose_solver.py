"""Poses asked for again and again, and how a warm call runs."""

from files_entered import files_entered
import numpy as np
import pytest

from ros2_ik.core import (
    Box,
    Configuration,
    InvalidTargetError,
    PoseSolver,
    Scene,
    SceneObject,
    solve_pose,
    SolveOptions,
    Status,
    UnknownFrameError,
)
from ros2_ik.core.collision import own_collisions

HANDS = ['left_hand', 'right_hand']


def questions(robot, tip, count):
    """Yield poses that some free configuration has, with a seed near it."""
    generator, checker = np.random.default_rng(0), own_collisions(robot).checker
    while count:
        q = robot.random_q(generator)
        if checker is None or not checker.collides(q):
            count -= 1
            yield (Configuration(robot, q).transform(tip),
                   np.clip(q + 0.05, robot.lower, robot.upper))


@pytest.mark.parametrize('name, tip', [('ur5', 'tool0'), ('panda', 'panda_hand_tcp')])
@pytest.mark.parametrize('collisions, files, switches', [(True, 12, 32), (False, 9, 26)])
def test_a_warm_call_passes_few_files(load, name, tip, collisions, files, switches):
    """A reader follows the whole way of a question; see docs/architecture.md."""
    robot, answers = load(name), []
    for T, seed in questions(robot, tip, 4):
        entered = files_entered(lambda T=T, seed=seed: answers.append(
            solve_pose(robot, tip, T, seed, collisions=collisions)))
    assert all(answers)
    assert len(set(entered)) <= files and len(entered) - 1 <= switches, entered


def test_it_answers_as_solve_pose_does(load):
    robot, tip = load('panda'), 'panda_hand_tcp'
    solver = PoseSolver(robot, tip, options=SolveOptions(random_state=3, timeout=5.0))
    for T, seed in questions(robot, tip, 20):
        one = solver.solve(T, seed)
        other = solve_pose(robot, tip, T, seed, random_state=3, timeout=5.0)
        assert one.success and np.array_equal(one.q, other.q)
        assert (one.iterations, one.restarts) == (other.iterations, other.restarts)


def test_several_tips_in_a_list(small):
    robot = small('two_arms')
    solver = PoseSolver(robot, HANDS, locked=['torso'])
    generator = np.random.default_rng(1)
    for _ in range(10):
        q = robot.random_q(generator)
        at = Configuration(robot, q)
        solution = solver.solve([at.transform(hand) for hand in HANDS], q)
        assert solution.success and solution.joints['torso'] == at.joints['torso']


def test_where_held_joints_are_counts(small):
    """What is prepared with one value of a held joint serves no other one."""
    robot, generator = small('two_arms'), np.random.default_rng(2)
    solver = PoseSolver(robot, 'left_hand', locked=['torso'])
    for i in range(20):
        q = robot.random_q(generator)
        T = Configuration(robot, q).transform('left_hand')
        seed = {**robot.to_joints(robot.neutral), 'torso': robot.to_joints(q)['torso']}
        solution = solver.solve(T, seed, options=SolveOptions(timeout=5.0, random_state=i))
        assert solution.success and solution.joints['torso'] == seed['torso']
        assert np.allclose(Configuration(robot, solution.q).transform('left_hand'), T, atol=1e-3)


def test_another_scene_and_other_options(load):
    robot, tip = load('panda'), 'panda_hand_tcp'
    (T, seed), = questions(robot, tip, 1)
    wall = Scene(robot).add(SceneObject('wall', [Box([0.3, 0.3, 0.3])], T))
    solver = PoseSolver(robot, tip)
    assert solver.solve(T, seed).success
    assert solver.solve(T, seed, wall).status is Status.GOAL_IN_COLLISION
    assert not PoseSolver(robot, tip, scene=wall).solve(T, seed)
    assert solver.solve(T, seed, options=SolveOptions(solver='sqp')).solver == 'sqp'
    assert solver.solve(T, seed).success


def test_lists_that_change_later_are_read_again(small):
    robot = small('two_arms')
    joints = robot.to_joints(robot.random_q(np.random.default_rng(3)))
    T = Configuration(robot, {**joints, 'left_1': 0.0}).transform('left_hand')
    locked = ['left_1']
    first = solve_pose(robot, 'left_hand', T, locked=locked, timeout=2.0)
    locked.append('torso')
    second = solve_pose(robot, 'left_hand', T, locked=locked, timeout=2.0)
    assert first.success and first.joints['torso'] != 0.0
    assert not second.success and second.best_joints['torso'] == 0.0


def test_malformed_questions(small):
    robot = small('two_arms')
    with pytest.raises(UnknownFrameError, match='left_hand'):
        PoseSolver(robot, 'left_hnd')
    with pytest.raises(InvalidTargetError, match='tip must be a name'):
        PoseSolver(robot, [])
    with pytest.raises(InvalidTargetError, match='poses: 1; valid: 2'):
        PoseSolver(robot, HANDS).solve([np.eye(4)])
    with pytest.raises(InvalidTargetError, match='2 tips but 1 entries of relative_to'):
        PoseSolver(robot, HANDS, relative_to=[None])
