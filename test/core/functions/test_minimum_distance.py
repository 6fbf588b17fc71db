"""The smallest distances between what a checker checks, alone and in sqp."""

import pickle

from fcl_judge import FclJudge
from judge import pose, pose_error
import numpy as np
import pytest
from scenes import ball_arm, pairs, scattered, solid, tool

from ros2_ik.core import (
    Configuration,
    Constraint,
    IKProblem,
    InvalidConstraintError,
    LeastSquares,
    MinimumDistance,
    PoseTarget,
    Robot,
    Search,
    solve,
)
from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.scene import Box, Scene, SceneObject, Sphere

ITERATIONS = {'max_iterations': 200, 'timeout': 60.0}     # the clock does not decide
BALL = '<sphere radius="0.1"/>'


@pytest.fixture(scope='module')
def panda_world(load):
    robot = load('panda')
    scene = scattered(robot, 6, 2)
    return robot, CollisionChecker(robot, scene), FclJudge(robot).surround(scene)


def clearance(judge, joints):
    """Smallest signed distance of all that is checked, by fcl; far ones are not looked at."""
    judge.place(joints)
    return min(judge.distance(*names) for names in judge.pairs)


def test_rows_are_the_nearest_pairs_smallest_first(panda_world):
    robot, checker, judge = panda_world
    function, generator = MinimumDistance(checker, 0.15, 5), np.random.default_rng(0)
    for _ in range(30):
        q = robot.random_q(generator)
        f, J = function.evaluate(Configuration(robot, q))
        assert f.shape == (5,) and J.shape == (5, robot.nv)
        assert (np.diff(f) >= 0).all() and f.max() <= 0.15
        assert f[0] == pytest.approx(min(0.15, clearance(judge, robot.to_joints(q))), abs=2e-6)
        assert not J[f == 0.15].any()
        np.testing.assert_array_equal(function.value(Configuration(robot, q)), f)


def test_nothing_near_and_nothing_to_check():
    robot = solid('one_joint', shapes={'tip': BALL})
    far = Scene(robot).add(SceneObject('ball', [Sphere(0.1)], pose((5, 0, 0))))
    for checker in (CollisionChecker(robot, far), CollisionChecker(robot)):
        f, J = MinimumDistance(checker, 0.3, 3).evaluate(Configuration(robot))
        assert f.tolist() == [0.3] * 3 and not J.any()
    assert MinimumDistance(CollisionChecker(robot)).joints(robot) == frozenset()
    assert MinimumDistance(CollisionChecker(robot, far)).joints(robot) == {'turn'}


@pytest.mark.parametrize('arguments', [
    ('a checker',), ('c', 0.0), ('c', np.nan), ('c', 'far'), ('c', 0.1, 0), ('c', 0.1, 1.5)])
def test_bad_arguments_are_refused(arguments, panda_world):
    checker = panda_world[1]
    with pytest.raises(InvalidConstraintError):
        MinimumDistance(*(checker if value == 'c' else value for value in arguments))


def test_of_another_robot_is_refused(panda_world, load):
    with pytest.raises(InvalidConstraintError, match='another robot'):
        IKProblem(load('ur5'), constraints=[Constraint(MinimumDistance(panda_world[1]), 0.01)])


def test_keeps_five_centimetres(panda_world):
    """Pose and clearance together, judged by fcl."""
    robot, checker, judge = panda_world
    generator, solved = np.random.default_rng(5), 0
    for _ in range(12):
        q = robot.random_q(generator)
        if clearance(judge, robot.to_joints(q)) < 0.005:
            continue
        T = Configuration(robot, q).transform('panda_hand')
        problem = IKProblem(robot, PoseTarget('panda_hand', T), constraints=[
            Constraint(MinimumDistance(checker), 0.005)])
        solution = solve(problem, random_state=0, **ITERATIONS)
        if solution.success:
            solved += 1
            assert clearance(judge, solution.joints) >= 0.005 - 3e-6
            assert max(pose_error(judge.frames.transform(solution.joints, 'panda_hand'),
                                  T)) < 1e-4
    assert solved >= 2


def test_pushes_out_of_a_box(panda_world):
    """Of a start that touches, without any target."""
    robot, checker, judge = panda_world
    generator, pushed, seen = np.random.default_rng(1), 0, 0
    problem = IKProblem(robot, constraints=[Constraint(MinimumDistance(checker), 0.01)])
    while seen < 20:
        q = robot.random_q(generator)
        if not checker.collides(q):
            continue
        seen += 1
        solution = solve(problem, q, allow_restarts=False, **ITERATIONS)
        if solution.success:
            pushed += 1
            assert clearance(judge, solution.joints) >= 0.01 - 3e-6
        assert (solution.q is None) != solution.success
    assert pushed >= 15


def test_as_a_cost_draws_away():
    """A ball beside a post: the further the better, up to where it no longer counts."""
    robot = ball_arm()
    scene = Scene(robot).add(SceneObject('ball', [Sphere(0.2)], pose((0.7, 0, 0.1))))
    apart = MinimumDistance(CollisionChecker(robot, scene), 0.5, 1)
    problem = IKProblem(robot, costs=[LeastSquares(apart, lower=0.15)])
    for turn in (0.1, -0.1):
        solution = solve(problem, {'turn': turn}, allow_restarts=False, **ITERATIONS)
        assert solution.success and solution.cost < 1e-7
        chord = 2 * 0.7 * np.sin(abs(solution.joints['turn']) / 2)
        assert chord - 0.3 >= 0.15 - 1e-3 and np.sign(solution.joints['turn']) == np.sign(turn)


def test_a_bound_that_no_value_reaches_is_not_passed_over(panda_world):
    """All rows are at most `influence`: more cannot hold, and none may say that it does."""
    robot, checker, _ = panda_world
    beyond = Constraint(MinimumDistance(checker, 0.1), 0.2)
    solution = solve(IKProblem(robot, constraints=[beyond]), **ITERATIONS)
    assert not solution.success


def test_violations_say_how_near(panda_world):
    robot = ball_arm()
    scene = Scene(robot).add(SceneObject('wall', [Box([3, 3, 3])], pose((0, 0, 0))))
    problem = IKProblem(robot, constraints=[Constraint(
        MinimumDistance(CollisionChecker(robot, scene), rows=2), 0.05)])
    solution = solve(problem, **ITERATIONS)
    assert not solution.success and 'distance 1' in solution.explain()
    assert solution.violations[0].value < -0.5 and solution.violations[0].unit == 'm'


def test_survives_pickling_in_a_search(load):
    """Its checker travels along, robot and scene with what is attached included."""
    robot = load('panda')
    fingers = [frame for frame in FclJudge(robot).links if 'finger' in frame]
    scene = scattered(robot, 5, 4).attach(tool(), 'panda_hand', fingers)
    checker = CollisionChecker(robot, scene)
    problem = IKProblem(robot, constraints=[Constraint(MinimumDistance(checker), 0.01)])
    search = Search(problem, random_state=0, **ITERATIONS)
    there = Search.of_question(Robot.load('panda'), search.question())
    for one in (search, there):
        one.run()
    first, second = search.solution(), there.solution()
    assert first.status is second.status
    assert first.success
    np.testing.assert_allclose(first.q, second.q, atol=1e-9)
    assert pairs(checker.in_collision(first.q)) == set()
    function = problem.constraints[0].function
    at = Configuration(robot, robot.random_q(np.random.default_rng(0)))
    np.testing.assert_allclose(pickle.loads(pickle.dumps(function)).value(at),
                               function.value(at), atol=1e-9)
