"""Solutions are free of collisions, judged by python-fcl; unchecked collisions are reported."""

from fcl_judge import FclJudge
from judge import claims, pose
import numpy as np
import pytest
from scenes import scattered, solid, tool
from small_robots import joint, PLANAR_2R, urdf, Z

from ros2_ik.core import (
    Box,
    CollisionChecker,
    Configuration,
    IKProblem,
    InverseKinematics,
    JointPositions,
    LeastSquares,
    PoseTarget,
    Robot,
    Scene,
    SceneObject,
    shipped_robots,
    solve,
    solve_pose,
    Sphere,
    Status,
)
from ros2_ik.core.errors import InvalidOptionError, InvalidSceneError

TIPS = {'panda': 'panda_hand', 'ur5': 'tool0', 'baxter': 'left_gripper'}
BALL = '<sphere radius="0.06"/>'


def free_case(checker, judge, tip, generator):
    """Return a configuration without collision, by checker and judge, and the pose of its tip."""
    while True:
        q = checker.robot.random_q(generator)
        if not checker.collides(q):
            joints = checker.robot.to_joints(q)
            assert judge.touching(joints) == set()
            return joints, judge.frames.transform(joints, tip)


# -- solutions ----------------------------------------------------------------------------

@pytest.mark.parametrize('name', TIPS)
def test_solutions_among_boxes_are_collision_free_and_mostly_found(name, load, judge_of):
    robot, tip, found = load(name), TIPS[name], 0
    generator = np.random.default_rng(0)
    for seed in range(3):
        scene = scattered(robot, seed=seed, most=0.2, lower=(0.3, -0.9, 0))
        judge = FclJudge(robot, raw=True).surround(scene)
        checker = CollisionChecker(robot, scene)
        for _ in range(15):
            joints, T = free_case(checker, judge, tip, generator)
            at_rest = {name: value for name, value in joints.items()
                       if name not in robot.moving_joints(tip)}
            seed_q = robot.to_q(at_rest, robot.random_q(generator))
            solution = solve_pose(robot, tip, T, seed_q, timeout=30.0, max_iterations=1000,
                                  scene=scene, random_state=generator)
            claims(judge_of(name), solution, [(tip, T)])
            if solution.success:
                found += 1
                assert judge.touching(solution.joints) == set() and solution.contacts == ()
            else:
                assert solution.status in (Status.GOAL_IN_COLLISION, Status.NO_IK_SOLUTION,
                                           Status.TIMED_OUT)
    assert found >= 41      # of 45


@pytest.mark.parametrize('select', ['nearest', 'cost'])
def test_alternative_solutions_are_collision_free(select, load, judge_of):
    robot, scene = load('ur5'), scattered(load('ur5'), seed=3)
    judge, generator = FclJudge(robot, raw=True).surround(scene), np.random.default_rng(1)
    checker, several = CollisionChecker(robot, scene), 0
    for _ in range(5):
        _, T = free_case(checker, judge, 'tool0', generator)
        problem = IKProblem(robot, PoseTarget('tool0', T), checker=checker,
                            costs=[LeastSquares(JointPositions(), weight=0.1)]
                            if select == 'cost' else ())
        solution = solve(problem, select=select, solutions=8, timeout=30.0, max_iterations=2000,
                         random_state=0)
        for one in (solution, *solution.alternatives):
            claims(judge_of('ur5'), one, [('tool0', T)])
            if one.success:
                assert judge.touching(one.joints) == set()
        several += len(solution.alternatives) > 1
    assert several >= 2


# -- failures -----------------------------------------------------------------------------

@pytest.mark.parametrize('name', TIPS)
def test_target_inside_the_table_is_reported_as_in_collision(name, load):
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


def test_wide_tolerance_avoids_the_collision_of_the_exact_target():
    robot = solid('planar_2r', shapes={'tip': BALL}, xyz=(0, 0, 0))
    scene = Scene(robot).add(SceneObject('post', [Sphere(0.1)], pose((0.75, 0, 0))))
    T = pose((0.6, 0, 0))                   # the balls overlap by a centimetre
    wide = {'weights': [1, 1, 1, 0, 0, 0], 'position_tolerance': 0.05}
    for tolerance, success in ((wide, True), ({**wide, 'position_tolerance': 1e-5}, False)):
        problem = IKProblem(robot, PoseTarget('tip', T, **tolerance),
                            checker=CollisionChecker(robot, scene))
        solution = solve(problem, timeout=0.3, random_state=0)
        assert solution.success == success, solution.explain()


def test_checker_of_another_robot_is_refused(load):
    with pytest.raises(InvalidOptionError, match='CollisionChecker'):
        IKProblem(load('panda'), PoseTarget('panda_hand', pose()), checker='yes')
    with pytest.raises(InvalidOptionError, match='same robot'):
        IKProblem(load('panda'), PoseTarget('panda_hand', pose()),
                  checker=CollisionChecker(load('ur5')))
    with pytest.raises(InvalidOptionError, match='collisions is False, but there is a checker'):
        IKProblem(load('panda'), PoseTarget('panda_hand', pose()), collisions=False,
                  checker=CollisionChecker(load('panda')))


LINK_BALL = '<collision><geometry><sphere radius="{}"/></geometry></collision>'
OFF = 'collisions: not checked'
FREE_AXES = (1, 1, 1, 0, 0, 0)


def with_bodies(text, **bodies):
    """Add collision elements to links."""
    for link, body in bodies.items():
        assert f'<link name="{link}">' in text
        text = text.replace(f'<link name="{link}">', f'<link name="{link}">{body}')
    return text


FOLDING = with_bodies(PLANAR_2R, base=LINK_BALL.format(0.2), tip=LINK_BALL.format(0.2))
"""An arm of .5 and .4 m with a ball at its foot and at its end."""
INSIDE = np.array([[1, 0, 0, 0.3], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])
"""Where the two balls overlap by 10 cm."""


def ways(robot, T, **options):
    """Return the results of each function that solves."""
    target = PoseTarget('tip', T, weights=FREE_AXES)
    yield solve_pose(robot, 'tip', T, weights=FREE_AXES, timeout=0.2, **options)
    yield solve(IKProblem(robot, [target], **options), timeout=0.2)
    ik = InverseKinematics(robot, **options)
    ik.add_pose_target('tip', T, weights=FREE_AXES)
    yield ik.solve(timeout=0.2)


def test_self_collision_is_avoided_by_default():
    for solution in ways(Robot.from_urdf(FOLDING), INSIDE):
        assert solution.status is Status.GOAL_IN_COLLISION and solution.q is None
        assert {solution.contacts[0].first, solution.contacts[0].second} == {'base', 'tip'}


def test_unchecked_collisions_are_reported():
    for solution in ways(Robot.from_urdf(FOLDING), INSIDE, collisions=False):
        assert solution.success and solution.not_checked == (OFF,)
        assert OFF in [line.strip() for line in solution.explain().splitlines()]


def test_links_without_geometry_are_counted_and_named():
    robot = Robot.from_urdf(FOLDING)
    solution = solve_pose(robot, 'tip', INSIDE, weights=FREE_AXES)
    text, = solution.not_checked
    for word in ('collisions', '2 links', 'upper', 'lower'):
        assert word in text
    assert text in solution.explain()
    solution = solve_pose(Robot.from_urdf(PLANAR_2R), 'tip', INSIDE, weights=FREE_AXES)
    text, = solution.not_checked
    assert solution.success
    assert text.startswith(OFF) and "'small'" in text and 'no collision elements' in text


MESH = '<collision><geometry><mesh filename="package://nowhere/{}.stl"/></geometry></collision>'


def test_missing_meshes_are_listed_in_the_error_or_skipped():
    robot = Robot.from_urdf(with_bodies(FOLDING, upper=MESH.format('a'), lower=MESH.format('b')))
    T = INSIDE.copy()
    T[0, 3] = 0.8
    for refused in (lambda: solve_pose(robot, 'tip', T, weights=FREE_AXES),
                    lambda: solve_pose(robot, 'tip', T, weights=FREE_AXES, scene=Scene(robot)),
                    lambda: solve(IKProblem(robot, PoseTarget('tip', T, weights=FREE_AXES)))):
        with pytest.raises(InvalidSceneError, match='(?s)nowhere/a.stl.*nowhere/b.stl'):
            refused()
    options = {'weights': FREE_AXES, 'missing_meshes': 'skip'}
    assert not solve_pose(robot, 'tip', INSIDE, **options).success   # the balls count
    solution = solve_pose(robot, 'tip', T, **options)
    text, = solution.not_checked
    assert solution.success
    for word in ('2 links', 'meshes', 'not found', 'upper', 'lower'):
        assert word in text
    assert solve_pose(robot, 'tip', T, weights=FREE_AXES, collisions=False).success
    with pytest.raises(InvalidOptionError, match='refuse, skip'):
        solve_pose(robot, 'tip', T, missing_meshes='ignore')
    bare = Robot.from_urdf(with_bodies(PLANAR_2R, upper=MESH.format('a')))    # no ball is left
    solution = solve_pose(bare, 'tip', INSIDE, scene=Scene(bare), **options)
    text, = solution.not_checked
    assert solution.success and text.startswith(OFF) and 'nowhere/a.stl' in text


def test_unchecked_adjacent_links_are_named_with_the_srdf_entry():
    """A sphere at the base and one on the link that folds over it."""
    ball = LINK_BALL.format(0.1).replace('<geometry>', '<origin xyz="0.12 0 0"/><geometry>')
    text = with_bodies(urdf(joint('fold', 'revolute', 'foot', 'arm', xyz=(0.12, 0, 0), axis=Z,
                                  limits=(-3, 3)), joint('end', 'fixed', 'foot', 'peg')),
                       foot=LINK_BALL.format(0.1), arm=ball)
    T = Configuration(Robot.from_urdf(text), {'fold': 2.9}).transform('arm')
    solution = solve_pose(Robot.from_urdf(text), 'arm', T)
    sentence = 'adjacent links are not checked against each other (no SRDF disables a pair)'
    assert solution.success and any(sentence in line for line in solution.not_checked)
    srdf = '<robot name="small"><disable_collisions link1="foot" link2="peg"/></robot>'
    solution = solve_pose(Robot.from_urdf(text, srdf=srdf), 'arm', T, timeout=0.2)
    assert solution.status is Status.GOAL_IN_COLLISION
    assert {solution.contacts[0].first, solution.contacts[0].second} == {'arm', 'foot'}
    assert not any(sentence in line for line in solution.not_checked)


def test_collisions_other_than_true_or_false_are_refused():
    robot = Robot.from_urdf(FOLDING)
    for ask in (lambda: solve_pose(robot, 'tip', INSIDE, collisions=None),
                lambda: solve_pose(robot, 'tip', INSIDE, scene=Scene(robot), collisions=1),
                lambda: IKProblem(robot, [PoseTarget('tip', INSIDE)], collisions='no'),
                lambda: InverseKinematics(robot, collisions=np.array([True, False]))):
        with pytest.raises(InvalidOptionError, match='collisions must be True or False'):
            ask()


THUMB = with_bodies(urdf(
    joint('thumb', 'revolute', 'palm', 'thumb_base', xyz=(0.1, 0, 0), axis=Z, limits=(-3.0, 3.0)),
    joint('bend', 'revolute', 'thumb_base', 'thumb_tip', xyz=(0.1, 0, 0), axis=Z,
          limits=(-1.0, 1.0)),
    joint('turn', 'revolute', 'palm', 'finger', axis=Z, limits=(-1.0, 1.0)),
    joint('end', 'fixed', 'finger', 'tip', xyz=(0, 0.5, 0))),
    palm=LINK_BALL.format(0.06), thumb_tip=LINK_BALL.format(0.06))
"""A hand whose thumb, from 1.9 rad on, is in its palm; the finger does not move the thumb."""


def test_collision_that_no_active_joint_can_resolve_is_reported_at_once():
    robot = Robot.from_urdf(THUMB)
    T = Configuration(robot, {'turn': 0.3}).transform('tip')
    assert solve_pose(robot, 'tip', T, timeout=20.0).success
    answer = solve_pose(robot, 'tip', T, {'thumb': 2.5}, timeout=20.0)
    assert answer.status is Status.GOAL_IN_COLLISION and answer.impossible
    assert answer.restarts < 50
    for word in ("'palm'", "'thumb_tip'", 'no joint that may move', 'SRDF', 'Scene.allow'):
        assert word in answer.message
    allowed = Scene(robot).allow('palm', 'thumb_tip')
    assert solve_pose(robot, 'tip', T, {'thumb': 2.5}, scene=allowed, timeout=20.0).success
