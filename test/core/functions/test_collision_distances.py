"""MinimumDistance and PairDistance: functions of collision distances."""

from fcl_judge import FclJudge
from judge import pose
import numpy as np
import pytest
from scenes import scattered, shaped_robot

from ros2_ik.core import Configuration, Constraint, IKProblem, MinimumDistance, PairDistance, solve
from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.errors import InvalidConstraintError, UnknownNameError
from ros2_ik.core.scene import Scene, SceneObject, Sphere

LIMITS = {'max_iterations': 200, 'timeout': 60.0}     # the timeout [s] is not reached
BALL = '<sphere radius="0.1"/>'
BALL_OBJECT = SceneObject('ball', [Sphere(0.1)], pose((5, 0, 0)))


@pytest.fixture(scope='module')
def panda_world(load):
    robot = load('panda')
    scene = scattered(robot, 6, 2)
    return robot, CollisionChecker(robot, scene), FclJudge(robot).surround(scene)


def clearance(judge, joints):
    """Return the smallest signed distance [m] of all checked pairs by fcl."""
    judge.place(joints)
    return min(judge.distance(*names) for names in judge.pairs)


def test_minimum_distance_rows_are_the_nearest_pairs_in_order(panda_world):
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


def test_minimum_distance_is_the_cutoff_if_no_pair_is_near():
    robot = shaped_robot('one_joint', shapes={'tip': BALL})
    far = Scene(robot).add(BALL_OBJECT)
    for checker in (CollisionChecker(robot, far), CollisionChecker(robot)):
        f, J = MinimumDistance(checker, 0.3, 3).evaluate(Configuration(robot))
        assert f.tolist() == [0.3] * 3 and not J.any()
    assert MinimumDistance(CollisionChecker(robot)).joints(robot) == frozenset()
    assert MinimumDistance(CollisionChecker(robot, far)).joints(robot) == {'turn'}


def test_minimum_distance_with_checker_of_another_robot_is_refused(panda_world, load):
    with pytest.raises(InvalidConstraintError, match='another robot'):
        IKProblem(load('ur5'), constraints=[Constraint(MinimumDistance(panda_world[1]), 0.01)])


def test_minimum_distance_constraint_is_met_from_most_colliding_starts(panda_world):
    robot, checker, judge = panda_world
    generator, solved, starts = np.random.default_rng(1), 0, 0
    problem = IKProblem(robot, constraints=[Constraint(MinimumDistance(checker), 0.01)])
    while starts < 20:
        q = robot.random_q(generator)
        if not checker.collides(q):
            continue
        starts += 1
        solution = solve(problem, q, allow_restarts=False, **LIMITS)
        if solution.success:
            solved += 1
            assert clearance(judge, solution.joints) >= 0.01 - 3e-6
        assert (solution.q is None) != solution.success
    assert solved >= 15


BALLS = {'left_hand': BALL, 'right_hand': BALL, 'chest': BALL}


@pytest.fixture(scope='module')
def two_arms():
    """Return a robot with spherical hands, and its checker with a spherical post."""
    robot = shaped_robot('two_arms', shapes=BALLS, xyz=(0, 0, 0))
    scene = Scene(robot).add(SceneObject('post', [Sphere(0.2)], pose((0.6, 0.1, 0.6))))
    return robot, CollisionChecker(robot, scene)


def center_distance(robot, q, one, other=None):
    """Return the distance of a frame's origin from that of another, or from the post [m]."""
    at = Configuration(robot, q)
    to = np.array([0.6, 0.1, 0.6]) if other is None else at.transform(other)[:3, 3]
    return np.linalg.norm(at.transform(one)[:3, 3] - to)


def test_pair_distance_of_spheres_equals_the_closed_form(two_arms):
    robot, checker = two_arms
    hands = PairDistance(checker, 'left_hand', 'right_hand')
    post = PairDistance(checker, 'post', 'left_hand')
    generator, signs = np.random.default_rng(0), set()
    for _ in range(60):
        q = robot.random_q(generator)
        at = Configuration(robot, q)
        assert hands.value(at) == pytest.approx(
            [center_distance(robot, q, 'left_hand', 'right_hand') - 0.2], abs=1e-8)
        assert post.value(at) == pytest.approx(
            [center_distance(robot, q, 'left_hand') - 0.3], abs=1e-8)
        signs |= {post.value(at)[0] > 0, hands.value(at)[0] > 0}
    assert signs == {True, False}


def test_malformed_arguments_of_a_pair_distance_are_refused(two_arms):
    robot, checker = two_arms
    with pytest.raises(UnknownNameError, match="left_hnd.*'left_hand'"):
        PairDistance(checker, 'left_hnd', 'post')
    with pytest.raises(UnknownNameError, match='left_a'):     # a link without geometry
        PairDistance(checker, 'post', 'left_a')
    with pytest.raises(InvalidConstraintError, match='no joint moves'):
        PairDistance(CollisionChecker(robot, checker.scene.add(BALL_OBJECT)), 'post', 'ball')
    with pytest.raises(InvalidConstraintError, match="two links or objects, not 'post' twice"):
        PairDistance(checker, 'post', 'post')
    with pytest.raises(InvalidConstraintError, match='CollisionChecker'):
        PairDistance(robot, 'left_hand', 'post')


def test_pair_distance_ignores_allowed_pairs_and_includes_padding(two_arms):
    robot, checker = two_arms
    at = Configuration(robot, robot.random_q(np.random.default_rng(2)))
    plain = PairDistance(checker, 'left_hand', 'post').value(at)
    scene = checker.scene.allow('left_hand', 'post')
    assert PairDistance(CollisionChecker(robot, scene), 'left_hand', 'post').value(at) == plain
    padded = checker.scene.with_padding({'left_hand': 0.04})
    assert PairDistance(CollisionChecker(robot, padded), 'left_hand', 'post').value(at) \
        == pytest.approx(plain - 0.04)
