"""The signed distance of two links or objects, alone and in sqp."""

from differences import check_jacobian
from fcl_judge import FclJudge
from judge import pose
import numpy as np
import pytest
from scenes import scattered, solid

from ros2_ik.core import (
    Configuration,
    Constraint,
    IKProblem,
    InvalidConstraintError,
    PairDistance,
    Robot,
    Search,
    solve,
    UnknownNameError,
)
from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.scene import Scene, SceneObject, Sphere

ITERATIONS = {'max_iterations': 100, 'timeout': 60.0}     # the clock does not decide
BALL = '<sphere radius="0.1"/>'
BALLS = {'left_hand': BALL, 'right_hand': BALL, 'chest': BALL}


@pytest.fixture(scope='module')
def arms():
    """Two arms with balls for hands, their centres at the frames; and a ball in the world."""
    robot = solid('two_arms', shapes=BALLS, xyz=(0, 0, 0))
    scene = Scene(robot).add(SceneObject('post', [Sphere(0.2)], pose((0.6, 0.1, 0.6))))
    return robot, CollisionChecker(robot, scene)


def chord(robot, q, one, other=None):
    """Distance of a frame from another, or from the post."""
    at = Configuration(robot, q)
    to = np.array([0.6, 0.1, 0.6]) if other is None else at.transform(other)[:3, 3]
    return np.linalg.norm(at.transform(one)[:3, 3] - to)


def test_of_balls_it_is_that_of_centres_less_the_radii(arms):
    robot, checker = arms
    hands = PairDistance(checker, 'left_hand', 'right_hand')
    post = PairDistance(checker, 'post', 'left_hand')
    generator, signs = np.random.default_rng(0), set()
    for _ in range(60):
        q = robot.random_q(generator)
        at = Configuration(robot, q)
        assert hands.value(at) == pytest.approx(
            [chord(robot, q, 'left_hand', 'right_hand') - 0.2], abs=1e-8)
        assert post.value(at) == pytest.approx([chord(robot, q, 'left_hand') - 0.3], abs=1e-8)
        signs |= {post.value(at)[0] > 0, hands.value(at)[0] > 0}
        check_jacobian(hands, robot, q, atol=1e-6)
        check_jacobian(post, robot, q, atol=1e-6)
    assert signs == {True, False}


def test_only_joints_between_count(arms):
    robot, checker = arms
    sides = {side: {f'{side}_{i}' for i in range(1, 7)} for side in ('left', 'right')}
    assert PairDistance(checker, 'left_hand', 'right_hand').joints(robot) == \
        sides['left'] | sides['right']
    assert PairDistance(checker, 'chest', 'left_hand').joints(robot) <= sides['left']
    assert PairDistance(checker, 'post', 'left_hand').joints(robot) == \
        sides['left'] | {'torso'}


@pytest.mark.parametrize('name', ['panda', 'baxter'])
def test_as_fcl_whatever_is_allowed(name, load):
    robot, scene = load(name), scattered(load(name), 4, 5)
    judge = FclJudge(robot).surround(scene)
    checker, generator = CollisionChecker(robot, scene), np.random.default_rng(0)
    one, other = {'panda': ('panda_link1', 'panda_link2'),
                  'baxter': ('left_upper_elbow', 'right_upper_elbow')}[name]
    functions = [PairDistance(checker, one, 'box 1'), PairDistance(checker, one, other)]
    for _ in range(20):
        q = robot.random_q(generator)
        judge.place(robot.to_joints(q))
        for function in functions:
            theirs = judge.distance(function.first, function.second)
            value = function.value(Configuration(robot, q))[0]
            assert value == pytest.approx(theirs, abs=3e-6) or theirs > value > 0


def test_names_that_are_not_there(arms):
    robot, checker = arms
    with pytest.raises(UnknownNameError, match="left_hnd.*'left_hand'"):
        PairDistance(checker, 'left_hnd', 'post')
    with pytest.raises(UnknownNameError, match='left_a'):     # a link without geometry
        PairDistance(checker, 'post', 'left_a')
    with pytest.raises(InvalidConstraintError, match='no joint moves'):
        PairDistance(checker, 'left_hand', 'left_hand')
    with pytest.raises(InvalidConstraintError, match='CollisionChecker'):
        PairDistance(robot, 'left_hand', 'post')


def test_two_static_things_are_refused(load):
    robot = load('panda')
    scene = scattered(robot, 2)
    for pair in (('box 0', 'box 1'), ('panda_link0', 'box 1')):
        with pytest.raises(InvalidConstraintError, match='no joint moves'):
            PairDistance(CollisionChecker(robot, scene), *pair)


def test_unmoved_by_allowed_pairs_and_padding_counts(arms):
    robot, checker = arms
    at = Configuration(robot, robot.random_q(np.random.default_rng(2)))
    plain = PairDistance(checker, 'left_hand', 'post').value(at)
    scene = checker.scene.allow('left_hand', 'post')
    assert PairDistance(CollisionChecker(robot, scene), 'left_hand', 'post').value(at) == plain
    padded = checker.scene.with_padding({'left_hand': 0.04})
    assert PairDistance(CollisionChecker(robot, padded), 'left_hand', 'post').value(at) \
        == pytest.approx(plain - 0.04)


@pytest.mark.parametrize('bounds', [(0.05, 0.05), (0.1, 0.2), (-0.02, -0.01), (0.0, 0.0)])
def test_as_a_constraint(bounds, arms):
    """Near, at a distance, in each other."""
    robot, checker = arms
    problem = IKProblem(robot, constraints=[
        Constraint(PairDistance(checker, 'left_hand', 'right_hand'), *bounds)])
    for seed in range(5):
        start = robot.random_q(np.random.default_rng(seed))
        solution = solve(problem, start, random_state=seed, **ITERATIONS)
        assert solution.success, solution.explain()
        distance = chord(robot, solution.q, 'left_hand', 'right_hand') - 0.2
        assert bounds[0] - 2e-6 <= distance <= bounds[1] + 2e-6


def test_travels_with_a_search(arms):
    robot, checker = arms
    problem = IKProblem(robot, constraints=[
        Constraint(PairDistance(checker, 'left_hand', 'right_hand'), 0.1, 0.1)])
    search = Search(problem, random_state=0, **ITERATIONS)
    again = Search.of_question(Robot.from_urdf(robot.urdf, srdf=robot.srdf), search.question())
    for one in (search, again):
        one.run()
    assert search.solution().success and again.solution().success
    np.testing.assert_allclose(search.solution().q, again.solution().q, atol=1e-9)
