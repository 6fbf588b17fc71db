"""Targets that share no joint are descended by themselves."""

import numpy as np
import pytest

from ros2_ik.core import Configuration, IKProblem, PoseTarget, Robot, solve_pose
from ros2_ik.core.kernels.lm import table_of, VALUES
from ros2_ik.core.problem import accept
from ros2_ik.core.solvers.budget import Budget
from ros2_ik.core.solvers.lm import LevenbergMarquardt
from ros2_ik.core.solvers.starts import draw_starts, generator_state, N_NEAR, Starts

HANDS = ('left_gripper', 'right_gripper')
FEET = ('left_sole_link', 'right_sole_link', 'gripper_left_base_link', 'gripper_right_base_link')


def targets(robot, tips, generator):
    at = Configuration(robot, robot.random_q(generator))
    return [PoseTarget(tip, at.transform(tip)) for tip in tips]


def numbered(robot, state):
    """Return eight random starts."""
    return Starts(robot.neutral, N_NEAR + 1, N_NEAR + 8, generator_state(state))


@pytest.fixture(scope='module')
def baxter():
    return Robot.load('baxter')


def test_each_hand_ends_as_it_would_alone(baxter):
    """Also where no start suits both hands."""
    generator, mixed = np.random.default_rng(3), 0
    for number in range(30):
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
    assert mixed > 5


def test_what_shares_a_joint_stays_together():
    generator = np.random.default_rng(0)
    for root_joint, parts in (('fixed', 3), ('freeflyer', 1)):    # two legs, and torso with arms
        robot = Robot.load('talos', root_joint)
        solver = LevenbergMarquardt(IKProblem(robot, targets(robot, FEET, generator)))
        places = solver.problem.structure.solvers['lm'][-1].arrays[0]
        table = table_of(places)
        assert len(table) == parts + 1
        values = places[table[0, VALUES]:table[-1, VALUES]]
        assert sorted(values) == list(range(len(solver.problem.active.indices)))


def test_a_bound_on_iterations_is_one_for_all_parts(baxter):
    generator = np.random.default_rng(1)
    for _ in range(20):
        solver = LevenbergMarquardt(IKProblem(baxter, targets(baxter, HANDS, generator)))
        for most in (1, 7, 30):
            found = solver.find(solver.problem, numbered(baxter, most),
                                Budget(iterations=most))[0]
            assert found.iterations <= most


def test_random_poses_of_a_free_base():
    """Uniform within a metre of the seed, the orientations uniform on the sphere."""
    robot = Robot.load('talos', 'freeflyer')
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


def test_a_free_base_from_random_starts():
    """Some end at the targets from others than the seed."""
    robot, later = Robot.load('talos', 'freeflyer'), 0
    generator = np.random.default_rng(2)
    for _ in range(20):
        problem = IKProblem(robot, targets(robot, FEET, generator), collisions=False,
                            start=robot.random_q(generator))
        solver = LevenbergMarquardt(problem)
        found, used, following = solver.find(problem, Starts(
            problem.start, 0, N_NEAR + solver.batch_size, generator_state(3)), Budget())
        assert following >= used and np.linalg.norm(found.q[3:7]) == pytest.approx(1)
        if found.reached:
            later += used > 1
            assert accept(problem, found.q).accepted
    assert later > 3


def test_a_hand_relative_to_what_the_other_hand_moves():
    """Its frame counted as standing still: no answer was found, 10 of 10 times."""
    robot, generator, hands = Robot.load('talos'), np.random.default_rng(5), (
        'gripper_left_base_link', 'gripper_right_base_link')
    for number in range(5):
        at = Configuration(robot, robot.random_q(generator))
        chest, left, right = (at.transform(frame) for frame in ('torso_2_link', *hands))
        found = solve_pose(robot, hands, [np.linalg.inv(chest) @ left, right],
                           relative_to=['torso_2_link', None], collisions=False,
                           random_state=number, timeout=10)
        assert found.success, found.message
