"""Only answers that touch nothing, judged by python-fcl; and what is said when there are none."""

from itertools import islice

from judge import claims, pose, TreeJudge
import numpy as np
import pytest
from scenes import pair, pairs, random_pose, scattered, solid, tool
from solid_judge import SolidJudge

from ros2_ik.core import (
    Configuration,
    Constraint,
    FramePosition,
    IKProblem,
    InvalidOptionError,
    JointPositions,
    LeastSquares,
    PointToPointDistance,
    PoseTarget,
    Robot,
    Search,
    shipped_robots,
    solve,
    solve_pose,
    Status,
)
from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.scene import Box, Scene, SceneObject, Sphere

TIPS = {'panda': 'panda_hand', 'ur5': 'tool0', 'baxter': 'left_gripper'}
BALL = '<sphere radius="0.06"/>'


def free_case(checker, judge, tip, generator):
    """Give a free configuration, which the judge finds free, too, and where it has the tip."""
    while True:
        q = checker.robot.random_q(generator)
        if not checker.collides(q):
            joints = checker.robot.to_joints(q)
            assert judge.touching(joints) == set()
            return joints, judge.frames.transform(joints, tip)


def table(height=0.2):
    return SceneObject('table', [Box([1.0, 1.6, 0.1])], pose((0.7, 0, height - 0.05)))


# -- no colliding answers -----------------------------------------------------------------

@pytest.mark.parametrize('name', TIPS)
def test_claims_are_free_and_most_are_found(name, load, judge_of):
    robot, tip, found = load(name), TIPS[name], 0
    generator = np.random.default_rng(0)
    for seed in range(5):
        scene = scattered(robot, seed=seed, most=0.2, lower=(0.3, -0.9, 0))
        judge = SolidJudge(robot).surround(scene)
        checker = CollisionChecker(robot, scene)
        for _ in range(20):
            joints, T = free_case(checker, judge, tip, generator)
            at_rest = {name: value for name, value in joints.items()
                       if name not in robot.moving_joints(tip)}
            seed_q = robot.to_q(at_rest, robot.random_q(generator))
            solution = solve_pose(robot, tip, T, seed_q, timeout=0.2, scene=scene,
                                  random_state=generator)
            claims(judge_of(name), solution, [(tip, T)])
            if solution.success:
                found += 1
                assert judge.touching(solution.joints) == set() and solution.contacts == ()
            else:
                assert solution.status in (Status.GOAL_IN_COLLISION, Status.NO_IK_SOLUTION,
                                           Status.TIMED_OUT)
    assert found >= 90


@pytest.mark.parametrize('select', ['nearest', 'cost'])
def test_all_alternatives_are_free(select, load, judge_of):
    robot, scene = load('ur5'), scattered(load('ur5'), seed=3)
    judge, generator = SolidJudge(robot).surround(scene), np.random.default_rng(1)
    checker, several = CollisionChecker(robot, scene), 0
    for _ in range(5):
        _, T = free_case(checker, judge, 'tool0', generator)
        problem = IKProblem(robot, PoseTarget('tool0', T), checker=checker,
                            costs=[LeastSquares(JointPositions(), weight=0.1)]
                            if select == 'cost' else ())
        solution = solve(problem, select=select, solutions=8, timeout=0.2, random_state=0)
        for one in (solution, *solution.alternatives):
            claims(judge_of('ur5'), one, [('tool0', T)])
            if one.success:
                assert judge.touching(one.joints) == set()
        several += len(solution.alternatives) > 1
    assert several >= 2


def test_with_constraints_and_costs(load):
    robot, scene = load('panda'), scattered(load('panda'), seed=1)
    judge, generator = SolidJudge(robot).surround(scene), np.random.default_rng(2)
    checker, found = CollisionChecker(robot, scene), 0
    for _ in range(15):
        joints, T = free_case(checker, judge, 'panda_hand', generator)
        elbow = judge.frames.transform(joints, 'panda_link4')[:3, 3]
        problem = IKProblem(
            robot, checker=checker,
            constraints=[Constraint(FramePosition('panda_hand'), T[:3, 3], T[:3, 3]),
                         Constraint(PointToPointDistance('panda_link4', [0] * 3, elbow), 0, 0.2)],
            costs=[LeastSquares(JointPositions(), weight=0.01)])
        solution = solve(problem, robot.random_q(generator), timeout=0.3, random_state=0)
        if solution.success:
            found += 1
            assert judge.touching(solution.joints) == set()
            at = judge.frames.transform(solution.joints, 'panda_hand')[:3, 3]
            assert np.linalg.norm(at - T[:3, 3]) < 1e-5
    assert found >= 12


@pytest.mark.parametrize(('name', 'root', 'tip'), [
    ('mimic_chain', 'fixed', 'tip'), ('two_arms', 'freeflyer', 'left_hand'),
    ('nested', 'fixed', 'tip')])
def test_on_all_kinds_of_joints(name, root, tip):
    root_link, middle = {'mimic_chain': ('base', 'lb'), 'two_arms': ('base', 'right_c'),
                         'nested': ('base', 'drone')}[name]
    shapes = {root_link: BALL, middle: BALL, tip: '<box size="0.05 0.08 0.02"/>'}
    robot, generator = solid(name, root, shapes), np.random.default_rng(3)
    scene = Scene(robot)
    for i in range(4):
        scene = scene.add(SceneObject(f'box {i}', [Box(generator.uniform(0.05, 0.2, 3))],
                                      random_pose(generator, -0.6, 0.6)))
    frames = TreeJudge(robot.urdf, root)
    judge, found = SolidJudge(robot, frames, root != 'fixed').surround(scene), 0
    checker, cases = CollisionChecker(robot, scene), 0
    free = (q for q in (robot.random_q(generator) for _ in range(2000)) if not checker.collides(q))
    for q in islice(free, 15):
        cases += 1
        T = Configuration(robot, q).transform(tip)
        solution = solve_pose(robot, tip, T, q, timeout=0.2, scene=scene, random_state=0)
        claims(frames, solution, [(tip, T)])
        if solution.success:
            found += 1
            assert judge.touching(solution.joints) == set()
    assert found == cases == 15      # the seed is an answer


# -- what is said when there is none ------------------------------------------------------

@pytest.mark.parametrize('name', TIPS)
def test_a_target_inside_the_table(name, load):
    """It is known after two answers that the hand cannot be there."""
    robot, tip = load(name), TIPS[name]
    T = pose((0.6, 0.1, 0.1), (np.pi, 0, 0))
    scene = Scene(robot).add(SceneObject('table', [Box([0.6, 0.9, 0.4])], pose((0.7, 0.1, 0.1))))
    if name == 'ur5':      # whose tip is just before its last link
        scene = scene.attach(tool(), 'tool0', ['wrist_3_link', 'ee_link'])
    solution = solve_pose(robot, tip, T, shipped_robots()[name].home, timeout=2.0, scene=scene,
                          random_state=0)
    assert solution.status is Status.GOAL_IN_COLLISION and solution.q is None
    names = {names for contact in solution.contacts for names in (contact.first, contact.second)}
    assert 'table' in names and 'table' in solution.message and 'table' in solution.explain()
    assert solution.restarts <= 8


def test_out_of_reach_is_not_a_collision(load):
    robot = load('panda')
    scene = Scene(robot).add(SceneObject('post', [Sphere(0.1)], pose((3, 0, 0.5))))
    for xyz in ((3, 0, 0.5), (2, 0, 0.5)):
        solution = solve_pose(robot, 'panda_hand', pose(xyz), timeout=0.1, scene=scene,
                              random_state=0)
        assert solution.status in (Status.NO_IK_SOLUTION, Status.TIMED_OUT), solution.explain()
        assert solution.q is None


def test_a_wide_tolerance_may_avoid_what_the_exact_target_touches():
    robot = solid('planar_2r', shapes={'tip': BALL}, xyz=(0, 0, 0))
    scene = Scene(robot).add(SceneObject('post', [Sphere(0.1)], pose((0.75, 0, 0))))
    T = pose((0.6, 0, 0))                   # the balls overlap by a centimetre
    wide = {'weights': [1, 1, 1, 0, 0, 0], 'position_tolerance': 0.05}
    for tolerance, success in ((wide, True), ({**wide, 'position_tolerance': 1e-5}, False)):
        problem = IKProblem(robot, PoseTarget('tip', T, **tolerance),
                            checker=CollisionChecker(robot, scene))
        solution = solve(problem, timeout=0.3, random_state=0)
        assert solution.success == success, solution.explain()


def test_a_held_tool_beside_the_table(load):
    robot = load('panda')
    fingers = ['panda_leftfinger', 'panda_rightfinger']
    scene = Scene(robot).add(table(0.3)).attach(tool(0.35), 'panda_hand', fingers)
    without = SolidJudge(robot).surround(Scene(robot).add(table(0.3)))
    T = pose((0.6, 0, 0.5), (np.pi, 0, 0))       # the hand is free, its tool is not
    solution = solve_pose(robot, 'panda_hand', T, timeout=1.0, scene=scene, random_state=0)
    assert solution.status is Status.GOAL_IN_COLLISION
    assert pair('stick', 'table') in pairs(solution.contacts)
    bare = Scene(robot).add(table(0.3))
    solution = solve_pose(robot, 'panda_hand', T, timeout=1.0, scene=bare, random_state=0)
    assert solution.success and without.touching(solution.joints) == set()


# -- in another process, and checkers that are refused --------------------------------------

def test_a_checker_is_made_once_there(load):
    """For all searches in one scene; another scene has another checker."""
    robot, there = load('panda'), Robot.load('panda')
    T = Configuration(robot, robot.neutral).transform('panda_hand')

    def sent(checker):
        problem = IKProblem(robot, PoseTarget('panda_hand', T), checker=checker)
        return Search.of_question(there, Search(problem).question()).problem.checker
    scene = scattered(robot, seed=2)
    ball = SceneObject('ball', [Sphere(0.06)], pose((0.4, 0.0, 0.4)))
    one, other = CollisionChecker(robot, scene), CollisionChecker(robot, scene.add(ball))
    first = sent(one)
    assert sent(one) is first and first.robot is there and first.scene == scene
    assert sent(other).scene == other.scene != scene and sent(one) is first


def test_a_checker_of_another_robot_is_refused(load):
    with pytest.raises(InvalidOptionError, match='CollisionChecker'):
        IKProblem(load('panda'), PoseTarget('panda_hand', pose()), checker='yes')
    with pytest.raises(InvalidOptionError, match='same robot'):
        IKProblem(load('panda'), PoseTarget('panda_hand', pose()),
                  checker=CollisionChecker(load('ur5')))
    with pytest.raises(InvalidOptionError, match='collisions is False, but there is a checker'):
        IKProblem(load('panda'), PoseTarget('panda_hand', pose()), collisions=False,
                  checker=CollisionChecker(load('panda')))


def test_all_few_answers_touch(load):
    """Six joints: when all of many answers touch, no time is spent on more of them."""
    robot = load('ur5')
    T = Configuration(robot, [0.3, -1.2, 1.4, -0.9, -1.3, 0.4]).transform('tool0')
    elbows = {tuple(np.round(solve_pose(robot, 'tool0', T, random_state=i, collisions=False,
                                        seed=robot.random_q(np.random.default_rng(i))).q, 2))
              for i in range(30)}
    assert len(elbows) > 2
    scene = Scene(robot).add(SceneObject('round the shoulder', [Sphere(0.2)], pose((0, 0, 0.3))))
    solution = solve_pose(robot, 'tool0', T, timeout=60, scene=scene, random_state=0)
    assert solution.status is Status.GOAL_IN_COLLISION and not solution.impossible
    assert 'no solution without contact found' in solution.message
    assert 100 < solution.restarts < 5000
