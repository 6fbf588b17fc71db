"""Along the answers of an arm that has joints to spare, out of contact."""

from judge import pose_error
import numpy as np
import pytest
from scenes import scattered
from solid_judge import SolidJudge

from ros2_ik.core import Budget, Configuration, IKProblem, PoseTarget, solve
from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.kernels.self_motion import step_along
from ros2_ik.core.solvers.lm import LevenbergMarquardt
from ros2_ik.core.solvers.self_motion import SelfMotion

TIPS = {'panda': 'panda_hand_tcp', 'xarm7': 'link_eef', 'baxter': 'left_gripper'}


def asked(robot, tip, generator):
    T = Configuration(robot, robot.random_q(generator)).transform(tip)
    return IKProblem(robot, PoseTarget(tip, T), collisions=False), T


@pytest.mark.parametrize('name', TIPS)
def test_steps_stay_on_the_target(name, load, judge_of):
    robot, generator, steps = load(name), np.random.default_rng(3), 0
    for _ in range(4):
        problem, T = asked(robot, TIPS[name], generator)
        solver = LevenbergMarquardt(problem)
        ends = (solver.attempt(robot.random_q(generator), Budget()) for _ in range(50))
        answer = next(end.q for end in ends if end.reached)
        place, rows = problem.active.place, solver.rows
        for sign in (1.0, -1.0):
            x, along = answer[place], sign * np.ones(len(problem.active.columns))
            for _ in range(3):
                before, way = x.copy(), along.copy()
                goes_on, _ = step_along.run(
                    *rows.hard.arrays, x, along, rows.limits, rows.rows, rows.bounds,
                    solver.options, 0.2, 6)
                if not goes_on:
                    break
                steps += 1
                q = answer.copy()
                q[place] = x
                errors = pose_error(judge_of(name).transform(robot.to_joints(q), TIPS[name]), T)
                assert errors[0] < 1e-5 and errors[1] < 1e-4
                assert 0.02 < np.linalg.norm(x - before) < 0.4
                assert (x - before) @ along > 0 and along @ way > 0
                assert (x >= robot.lower[place]).all() and (x <= robot.upper[place]).all()
    assert steps > 6


class Counting(CollisionChecker):
    """Counts how often it is asked."""

    asked = 0

    def collides(self, at):
        self.asked += 1
        return super().collides(at)


@pytest.mark.parametrize('name', ['panda', 'xarm7'])
def test_ends_are_free_and_vain_walks_are_not_repeated(name, load, judge_of):
    robot, tip, generator = load(name), TIPS[name], np.random.default_rng(4)
    scene = scattered(robot, 8, 2)
    judge, checker, freed, vain = SolidJudge(robot).surround(scene), Counting(robot, scene), 0, 0
    for _ in range(60):
        problem, T = asked(robot, tip, generator)
        touching = LevenbergMarquardt(problem).attempt(robot.random_q(generator), Budget())
        if not touching.reached or not checker.collides(touching.q):
            continue
        motion, checker.asked = SelfMotion(problem, checker), 0
        assert motion.is_possible
        found = motion.escape_collision(touching, Budget())
        if found is None:
            vain, checker.asked = vain + 1, 0
            assert motion.escape_collision(touching, Budget()) is None and not checker.asked
            continue
        freed += 1
        joints = robot.to_joints(found.q)
        errors = pose_error(judge_of(name).transform(joints, tip), T)
        assert errors[0] < 1e-5 and errors[1] < 1e-4 and not judge.touching(joints)
        resting = np.setdiff1d(np.arange(robot.nq), problem.active.indices)
        assert (found.q >= robot.lower).all() and (found.q <= robot.upper).all()
        assert np.array_equal(found.q[resting], touching.q[resting])
    assert freed > 3 and vain


def test_where_there_is_one(load):
    """Six joints have none to spare, unless axes are freed."""
    robot = load('ur5')
    checker = CollisionChecker(robot)
    for weights, expected in (((1,) * 6, False), ((1, 1, 1, 1, 1, 0), True)):
        problem = IKProblem(robot, PoseTarget('tool0', Configuration(robot, robot.neutral)
                                              .transform('tool0'), weights=weights))
        assert SelfMotion(problem, checker).is_possible is expected


def test_it_is_walked_before_restarts(load):
    """The answer is on the curve through the first that touches, as far as it is free."""
    robot, generator, walked = load('panda'), np.random.default_rng(5), 0
    checker = CollisionChecker(robot, scattered(robot, 8, 2))
    for _ in range(60):
        problem, T = asked(robot, TIPS['panda'], generator)
        start = problem.locked(robot.random_q(generator))
        first = LevenbergMarquardt(problem).attempt(start, Budget())
        if not first.reached or not checker.collides(first.q):
            continue
        free = SelfMotion(problem, checker).escape_collision(first, Budget())
        if free is None:
            continue
        walked += 1
        problem = IKProblem(robot, PoseTarget(TIPS['panda'], T), start=start, checker=checker)
        found = solve(problem, timeout=5, random_state=0)
        assert found.success
        if found.restarts == 0:
            np.testing.assert_allclose(found.q, free.q, atol=1e-9)
    assert walked > 3
