"""Collision-free solutions, judged by python-fcl, and reports of unchecked collisions."""

from fcl_judge import FclJudge
from judge import check_if_success, pose
import numpy as np
import pytest
from scenes import scattered, shaped_robot, tool
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
SPHERE = '<sphere radius="0.06"/>'


def collision_free_case(checker, judge, tip, generator):
    """Return random joint values without collision, and the tip pose; the judge confirms them."""
    while True:
        q = checker.robot.random_q(generator)
        if not checker.collides(q):
            joints = checker.robot.to_joints(q)
            assert judge.touching(joints) == set()
            return joints, judge.frames.transform(joints, tip)


# -- solutions ----------------------------------------------------------------------------

@pytest.mark.parametrize('name', TIPS)
def test_poses_among_boxes_are_mostly_solved_without_collision(name, load, judge_of):
    robot, tip, n_solved = load(name), TIPS[name], 0
    generator = np.random.default_rng(0)
    for seed in range(3):
        scene = scattered(robot, seed=seed, most=0.2, lower=(0.3, -0.9, 0))
        judge = FclJudge(robot, raw=True).surround(scene)
        checker = CollisionChecker(robot, scene)
        for _ in range(15):
            joints, T = collision_free_case(checker, judge, tip, generator)
            resting_joints = {name: value for name, value in joints.items()
                              if name not in robot.moving_joints(tip)}
            seed_q = robot.to_q(resting_joints, robot.random_q(generator))
            solution = solve_pose(robot, tip, T, seed_q, timeout=30.0, max_iterations=1000,
                                  scene=scene, random_state=generator)
            check_if_success(judge_of(name), solution, [(tip, T)])
            if solution.success:
                n_solved += 1
                assert judge.touching(solution.joints) == set() and solution.contacts == ()
            else:
                assert solution.status in (Status.GOAL_IN_COLLISION, Status.NO_IK_SOLUTION,
                                           Status.TIMED_OUT)
    assert n_solved >= 41      # of 45


@pytest.mark.parametrize('select', ['nearest', 'cost'])
def test_alternative_solutions_are_collision_free(select, load, judge_of):
    robot, scene = load('ur5'), scattered(load('ur5'), seed=3)
    judge, generator = FclJudge(robot, raw=True).surround(scene), np.random.default_rng(1)
    checker, n_with_alternatives = CollisionChecker(robot, scene), 0
    for _ in range(5):
        _, T = collision_free_case(checker, judge, 'tool0', generator)
        problem = IKProblem(robot, PoseTarget('tool0', T), checker=checker,
                            costs=[LeastSquares(JointPositions(), weight=0.1)]
                            if select == 'cost' else ())
        solution = solve(problem, select=select, solutions=8, timeout=30.0, max_iterations=2000,
                         random_state=0)
        for one in (solution, *solution.alternatives):
            check_if_success(judge_of('ur5'), one, [('tool0', T)])
            if one.success:
                assert judge.touching(one.joints) == set()
        n_with_alternatives += len(solution.alternatives) > 1
    assert n_with_alternatives >= 2


# -- failures -----------------------------------------------------------------------------

@pytest.mark.parametrize('name', TIPS)
def test_target_inside_a_table_has_status_goal_in_collision(name, load):
    robot, tip = load(name), TIPS[name]
    T = pose((0.6, 0.1, 0.1), (np.pi, 0, 0))
    scene = Scene(robot).add(SceneObject('table', [Box([0.6, 0.9, 0.4])], pose((0.7, 0.1, 0.1))))
    if name == 'ur5':      # here with an attached tool
        scene = scene.attach(tool(), 'tool0', ['wrist_3_link', 'ee_link'])
    solution = solve_pose(robot, tip, T, shipped_robots()[name].home, timeout=2.0, scene=scene,
                          random_state=0)
    assert solution.status is Status.GOAL_IN_COLLISION and solution.q is None
    names = {names for contact in solution.contacts for names in (contact.first, contact.second)}
    assert 'table' in names and 'table' in solution.message and 'table' in solution.explain()
    assert solution.restarts <= 8


def test_wide_position_tolerance_avoids_collision_at_the_exact_target():
    robot = shaped_robot('planar_2r', shapes={'tip': SPHERE}, xyz=(0, 0, 0))
    scene = Scene(robot).add(SceneObject('post', [Sphere(0.1)], pose((0.75, 0, 0))))
    T = pose((0.6, 0, 0))                   # the spheres overlap by 0.01 m
    wide = {'weights': [1, 1, 1, 0, 0, 0], 'position_tolerance': 0.05}
    for tolerance, success in ((wide, True), ({**wide, 'position_tolerance': 1e-5}, False)):
        problem = IKProblem(robot, PoseTarget('tip', T, **tolerance),
                            checker=CollisionChecker(robot, scene))
        solution = solve(problem, timeout=0.3, random_state=0)
        assert solution.success == success, solution.explain()


def test_invalid_checker_arguments_are_refused(load):
    with pytest.raises(InvalidOptionError, match='CollisionChecker'):
        IKProblem(load('panda'), PoseTarget('panda_hand', pose()), checker='yes')
    with pytest.raises(InvalidOptionError, match='same robot'):
        IKProblem(load('panda'), PoseTarget('panda_hand', pose()),
                  checker=CollisionChecker(load('ur5')))
    with pytest.raises(InvalidOptionError, match='collisions is False, but there is a checker'):
        IKProblem(load('panda'), PoseTarget('panda_hand', pose()), collisions=False,
                  checker=CollisionChecker(load('panda')))


LINK_SPHERE = '<collision><geometry><sphere radius="{}"/></geometry></collision>'
NOT_CHECKED = 'collisions: not checked'
POSITION_ONLY = (1, 1, 1, 0, 0, 0)     # weights


def with_geometry(text, **bodies):
    """Return a URDF with collision elements added to links."""
    for link, body in bodies.items():
        assert f'<link name="{link}">' in text
        text = text.replace(f'<link name="{link}">', f'<link name="{link}">{body}')
    return text


FOLDING = with_geometry(PLANAR_2R, base=LINK_SPHERE.format(0.2), tip=LINK_SPHERE.format(0.2))
"""Planar arm with links of 0.5 m and 0.4 m and spheres of radius 0.2 m at base and tip."""
T_OVERLAP = np.array([[1, 0, 0, 0.3], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])
"""Tip target at which the two spheres overlap by 0.1 m."""


def solutions_by_interface(robot, T, **options):
    """Yield the solutions of solve_pose, solve and InverseKinematics."""
    target = PoseTarget('tip', T, weights=POSITION_ONLY)
    yield solve_pose(robot, 'tip', T, weights=POSITION_ONLY, timeout=0.2, **options)
    yield solve(IKProblem(robot, [target], **options), timeout=0.2)
    ik = InverseKinematics(robot, **options)
    ik.add_pose_target('tip', T, weights=POSITION_ONLY)
    yield ik.solve(timeout=0.2)


def test_self_collision_is_checked_by_default():
    for solution in solutions_by_interface(Robot.from_urdf(FOLDING), T_OVERLAP):
        assert solution.status is Status.GOAL_IN_COLLISION and solution.q is None
        assert {solution.contacts[0].first, solution.contacts[0].second} == {'base', 'tip'}


def test_disabled_collision_checks_are_reported_as_not_checked():
    for solution in solutions_by_interface(Robot.from_urdf(FOLDING), T_OVERLAP, collisions=False):
        assert solution.success and solution.not_checked == (NOT_CHECKED,)
        assert NOT_CHECKED in [line.strip() for line in solution.explain().splitlines()]


def test_links_without_geometry_are_reported_as_not_checked():
    robot = Robot.from_urdf(FOLDING)
    solution = solve_pose(robot, 'tip', T_OVERLAP, weights=POSITION_ONLY)
    text, = solution.not_checked
    for word in ('collisions', '2 links', 'upper', 'lower'):
        assert word in text
    assert text in solution.explain()
    solution = solve_pose(Robot.from_urdf(PLANAR_2R), 'tip', T_OVERLAP, weights=POSITION_ONLY)
    text, = solution.not_checked
    assert solution.success
    assert text.startswith(NOT_CHECKED) and "'small'" in text and 'no collision elements' in text


MESH = '<collision><geometry><mesh filename="package://nowhere/{}.stl"/></geometry></collision>'


def test_missing_meshes_are_listed_in_the_error_or_skipped():
    robot = Robot.from_urdf(with_geometry(FOLDING, upper=MESH.format('a'), lower=MESH.format('b')))
    T = T_OVERLAP.copy()
    T[0, 3] = 0.8
    for call in (lambda: solve_pose(robot, 'tip', T, weights=POSITION_ONLY),
                 lambda: solve_pose(robot, 'tip', T, weights=POSITION_ONLY, scene=Scene(robot)),
                 lambda: solve(IKProblem(robot, PoseTarget('tip', T, weights=POSITION_ONLY)))):
        with pytest.raises(InvalidSceneError, match='(?s)nowhere/a.stl.*nowhere/b.stl'):
            call()
    options = {'weights': POSITION_ONLY, 'missing_meshes': 'skip'}
    assert not solve_pose(robot, 'tip', T_OVERLAP, **options).success   # the spheres overlap
    solution = solve_pose(robot, 'tip', T, **options)
    text, = solution.not_checked
    assert solution.success
    for word in ('2 links', 'meshes', 'not found', 'upper', 'lower'):
        assert word in text
    assert solve_pose(robot, 'tip', T, weights=POSITION_ONLY, collisions=False).success
    with pytest.raises(InvalidOptionError, match='refuse, skip'):
        solve_pose(robot, 'tip', T, missing_meshes='ignore')
    robot = Robot.from_urdf(with_geometry(PLANAR_2R, upper=MESH.format('a')))    # no geometry left
    solution = solve_pose(robot, 'tip', T_OVERLAP, scene=Scene(robot), **options)
    text, = solution.not_checked
    assert solution.success and text.startswith(NOT_CHECKED) and 'nowhere/a.stl' in text


def test_adjacent_links_are_checked_only_if_the_srdf_disables_pairs():
    """The sphere of the folding arm overlaps that of the base."""
    ball = LINK_SPHERE.format(0.1).replace('<geometry>', '<origin xyz="0.12 0 0"/><geometry>')
    text = with_geometry(urdf(joint('fold', 'revolute', 'foot', 'arm', xyz=(0.12, 0, 0), axis=Z,
                                    limits=(-3, 3)), joint('end', 'fixed', 'foot', 'peg')),
                         foot=LINK_SPHERE.format(0.1), arm=ball)
    T = Configuration(Robot.from_urdf(text), {'fold': 2.9}).transform('arm')
    solution = solve_pose(Robot.from_urdf(text), 'arm', T)
    note = 'adjacent links are not checked against each other (no SRDF disables a pair)'
    assert solution.success and any(note in line for line in solution.not_checked)
    srdf = '<robot name="small"><disable_collisions link1="foot" link2="peg"/></robot>'
    solution = solve_pose(Robot.from_urdf(text, srdf=srdf), 'arm', T, timeout=0.2)
    assert solution.status is Status.GOAL_IN_COLLISION
    assert {solution.contacts[0].first, solution.contacts[0].second} == {'arm', 'foot'}
    assert not any(note in line for line in solution.not_checked)


def test_collisions_argument_that_is_no_bool_is_refused():
    robot = Robot.from_urdf(FOLDING)
    for call in (lambda: solve_pose(robot, 'tip', T_OVERLAP, collisions=None),
                 lambda: solve_pose(robot, 'tip', T_OVERLAP, scene=Scene(robot), collisions=1),
                 lambda: IKProblem(robot, [PoseTarget('tip', T_OVERLAP)], collisions='no'),
                 lambda: InverseKinematics(robot, collisions=np.array([True, False]))):
        with pytest.raises(InvalidOptionError, match='collisions must be True or False'):
            call()


THUMB = with_geometry(urdf(
    joint('thumb', 'revolute', 'palm', 'thumb_base', xyz=(0.1, 0, 0), axis=Z, limits=(-3.0, 3.0)),
    joint('bend', 'revolute', 'thumb_base', 'thumb_tip', xyz=(0.1, 0, 0), axis=Z,
          limits=(-1.0, 1.0)),
    joint('turn', 'revolute', 'palm', 'finger', axis=Z, limits=(-1.0, 1.0)),
    joint('end', 'fixed', 'finger', 'tip', xyz=(0, 0.5, 0))),
    palm=LINK_SPHERE.format(0.06), thumb_tip=LINK_SPHERE.format(0.06))
"""Hand whose thumb touches its palm from 1.9 rad on; moving the finger does not change that."""


def test_collision_that_no_active_joint_can_resolve_ends_the_search():
    robot = Robot.from_urdf(THUMB)
    T = Configuration(robot, {'turn': 0.3}).transform('tip')
    assert solve_pose(robot, 'tip', T, timeout=20.0).success
    solution = solve_pose(robot, 'tip', T, {'thumb': 2.5}, timeout=20.0)
    assert solution.status is Status.GOAL_IN_COLLISION and solution.impossible
    assert solution.restarts < 50
    for word in ("'palm'", "'thumb_tip'", 'no joint that may move', 'SRDF', "scene's `allowed`"):
        assert word in solution.message
    allowed = Scene(robot).allow('palm', 'thumb_tip')
    assert solve_pose(robot, 'tip', T, {'thumb': 2.5}, scene=allowed, timeout=20.0).success
