"""
Without a scene the robot is checked against itself, and what is not checked is said.

Contacts are judged by python-fcl on the hulls of the files' meshes.
"""


from fcl_judge import FclJudge
import numpy as np
import pytest
from small_robots import joint, PLANAR_2R, urdf, Z
import trimesh

from ros2_ik.core import (
    Box,
    CollisionChecker,
    Configuration,
    Constraint,
    FramePosition,
    IKProblem,
    InvalidOptionError,
    InvalidSceneError,
    InverseKinematics,
    MinimumDistance,
    PoseTarget,
    Robot,
    Scene,
    SceneObject,
    Search,
    solve,
    solve_pose,
    Status,
)

BALL = '<collision><geometry><sphere radius="{}"/></geometry></collision>'
OFF = 'collisions: not checked'
FREE_AXES = (1, 1, 1, 0, 0, 0)


def with_bodies(text, **bodies):
    """Put collision elements on links."""
    for link, body in bodies.items():
        assert f'<link name="{link}">' in text
        text = text.replace(f'<link name="{link}">', f'<link name="{link}">{body}')
    return text


FOLDING = with_bodies(PLANAR_2R, base=BALL.format(0.2), tip=BALL.format(0.2))
"""An arm of .5 and .4 m with a ball at its foot and at its end."""
INSIDE = np.array([[1, 0, 0, 0.3], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])
"""Where the two balls overlap by 10 cm."""


def ways(robot, T, **options):
    """Answers of each way to ask."""
    target = PoseTarget('tip', T, weights=FREE_AXES)
    yield solve_pose(robot, 'tip', T, weights=FREE_AXES, timeout=0.2, **options)
    yield solve(IKProblem(robot, [target], **options), timeout=0.2)
    ik = InverseKinematics(robot, **options)
    ik.add_pose_target('tip', T, weights=FREE_AXES)
    yield ik.solve(timeout=0.2)


def test_the_robot_does_not_touch_itself_by_default():
    for solution in ways(Robot.from_urdf(FOLDING), INSIDE):
        assert solution.status is Status.GOAL_IN_COLLISION and solution.q is None
        assert {solution.contacts[0].first, solution.contacts[0].second} == {'base', 'tip'}


def test_switched_off_and_said():
    for solution in ways(Robot.from_urdf(FOLDING), INSIDE, collisions=False):
        assert solution.success and solution.not_checked == (OFF,)
        assert OFF in [line.strip() for line in solution.explain().splitlines()]


def test_an_inverse_kinematics_with_a_scene_is_free_in_it():
    robot = Robot.from_urdf(FOLDING)
    T = INSIDE.copy()
    T[0, 3] = 0.7
    scene = Scene(robot).add(SceneObject('wall', [Box([0.1, 2, 2])], T))
    for given, success in ((scene, False), (None, True)):
        ik = InverseKinematics(robot, scene=given)
        ik.add_pose_target('tip', T, weights=FREE_AXES)
        assert ik.solve(timeout=0.2).success is success


@pytest.mark.parametrize('name, tip', [('ur5', 'tool0'), ('panda', 'panda_hand_tcp')])
def test_answers_to_random_poses_are_free_of_self_collision(name, tip, load):
    """30 of 200 successes on the UR5 were in self-collision."""
    robot, generator = load(name), np.random.default_rng(0)
    judge, touched = FclJudge(robot, raw=True).surround(Scene(robot)), 0
    for i in range(40):
        T = Configuration(robot, robot.random_q(generator)).transform(tip)
        seed = robot.random_q(generator)
        if (solution := solve_pose(robot, tip, T, seed, random_state=i, timeout=0.1)).success:
            assert judge.touching(solution.joints) == set()
        bare = solve_pose(robot, tip, T, seed, random_state=i, timeout=0.1, collisions=False)
        touched += bare.success and judge.touching(bare.joints) != set()
    assert touched > 1


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


def test_missing_meshes_are_refused_with_the_list_or_skipped():
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


def test_collision_elements_that_cannot_be_read_are_refused_or_skipped():
    broken = '<collision><geometry><pyramid size="1"/></geometry></collision>'
    robot = Robot.from_urdf(with_bodies(FOLDING, upper=broken))
    T = INSIDE.copy()
    T[0, 3] = 0.8
    with pytest.raises(InvalidSceneError, match='pyramid'):
        solve_pose(robot, 'tip', T, weights=FREE_AXES)
    solution = solve_pose(robot, 'tip', T, weights=FREE_AXES, missing_meshes='skip')
    assert solution.success
    assert any('1 link' in text and 'upper' in text for text in solution.not_checked)


def test_adjacent_links_are_named_as_unchecked_or_with_the_srdf_entry_to_write():
    """A ball at the foot and one on the link that folds over it."""
    ball = BALL.format(0.1).replace('<geometry>', '<origin xyz="0.12 0 0"/><geometry>')
    text = with_bodies(urdf(joint('fold', 'revolute', 'foot', 'arm', xyz=(0.12, 0, 0), axis=Z,
                                  limits=(-3, 3)), joint('end', 'fixed', 'foot', 'peg')),
                       foot=BALL.format(0.1), arm=ball)
    T = Configuration(Robot.from_urdf(text), {'fold': 2.9}).transform('arm')
    solution = solve_pose(Robot.from_urdf(text), 'arm', T)
    sentence = 'adjacent links are not checked against each other (no SRDF)'
    assert solution.success and any(sentence in line for line in solution.not_checked)
    srdf = '<robot name="small"><disable_collisions link1="foot" link2="peg"/></robot>'
    solution = solve_pose(Robot.from_urdf(text, srdf=srdf), 'arm', T, timeout=0.2)
    assert solution.status is Status.GOAL_IN_COLLISION
    assert "'arm' and 'foot' are adjacent links: an SRDF entry" in solution.message \
        or "'foot' and 'arm' are adjacent links: an SRDF entry" in solution.message
    assert not any(sentence in line for line in solution.not_checked)


def test_what_is_not_checked_travels(load):
    """To a worker and back."""
    robot = Robot.from_urdf(FOLDING)
    for options in ({}, {'collisions': False}):
        problem = IKProblem(robot, [PoseTarget('tip', INSIDE, weights=FREE_AXES)], **options)
        search = Search.of_question(robot, Search(problem, timeout=0.2).question())
        search.run()
        assert search.problem.not_checked == problem.not_checked
        assert search.solution().not_checked == problem.not_checked
        assert search.solution().success == (not problem.collisions)


def test_collisions_other_than_true_or_false_are_refused():
    robot = Robot.from_urdf(FOLDING)
    for ask in (lambda: solve_pose(robot, 'tip', INSIDE, collisions=None),
                lambda: solve_pose(robot, 'tip', INSIDE, scene=Scene(robot), collisions=1),
                lambda: IKProblem(robot, [PoseTarget('tip', INSIDE)], collisions='no'),
                lambda: InverseKinematics(robot, collisions=np.array([True, False]))):
        with pytest.raises(InvalidOptionError, match='collisions is True or False'):
            ask()


def test_the_way_out_of_contact_moves_no_other_joints():
    """A flap could make room, but no joint that the question is about moves it."""
    flap = ('<link name="flap">' + BALL.format(0.1) + '</link><joint name="hinge" type="revolute">'
            '<parent link="post"/><child link="flap"/><origin xyz="0.5 0 0"/><axis xyz="0 0 1"/>'
            '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>')
    pole = joint('mast', 'revolute', 'base', 'post', xyz=(-0.1, 0, 0), axis=Z, limits=(-1, 1))
    text = with_bodies(PLANAR_2R, tip=BALL.format(0.2)).replace(
        '</robot>', f'<link name="post"/>{flap}{pole}</robot>')
    robot = Robot.from_urdf(text)
    problem = IKProblem(robot, constraints=[Constraint(FramePosition('tip'), [0.3, 0, -1],
                                                       [0.4, 0.1, 1])])
    solution = solve(problem, timeout=0.3, random_state=0)
    assert solution.status is Status.GOAL_IN_COLLISION and solution.contacts
    assert not solution.violations
    assert solution.best_joints['mast'] == solution.best_joints['hinge'] == 0


def test_failures_cut_no_meshes(tmp_path, monkeypatch):
    """The time of a request is its bound, whatever its message could tell after longer work."""
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'cache'))
    ball = trimesh.creation.icosphere(2, 0.2)     # 320 triangles
    ball.vertices *= np.random.default_rng(1).uniform(0.8, 1.2, (len(ball.vertices), 1))
    ball.export(tmp_path / 'ball.stl')
    body = ('<collision><geometry>'
            f'<mesh filename="file://{tmp_path}/ball.stl"/></geometry></collision>')
    robot = Robot.from_urdf(with_bodies(PLANAR_2R, base=body, tip=body))
    target = PoseTarget('tip', INSIDE, weights=FREE_AXES)
    for timeout in (0.05, 0.3):
        solution = solve(IKProblem(robot, [target]), timeout=timeout)
        assert solution.status is Status.GOAL_IN_COLLISION and solution.contacts[0].depth > 0.03
    assert [path.name for path in (tmp_path / 'cache' / 'ros2_ik').iterdir()
            if path.name.startswith('pieces')] == []
    # whoever asks for distances has them cut before the search
    checker = CollisionChecker(robot)
    MinimumDistance(checker)
    assert not checker.distances_are_coarse
    assert list((tmp_path / 'cache' / 'ros2_ik').glob('pieces*/*'))


def test_a_failure_looks_at_no_more_than_there_is_time_for(monkeypatch, ticking):
    """A look takes 40 ms."""
    robot, looks = Robot.from_urdf(FOLDING), 0
    look = CollisionChecker.in_collision

    def slow(*arguments, **options):
        nonlocal looks
        looks += 1
        ticking.looks += 40
        return look(*arguments, **options)

    monkeypatch.setattr(CollisionChecker, 'in_collision', slow)
    solution = solve_pose(robot, 'tip', INSIDE, weights=FREE_AXES, timeout=0.2)
    assert solution.status is Status.GOAL_IN_COLLISION and solution.restarts > 6
    assert solution.contacts and 'these touch' in solution.message
    assert looks <= 4     # one at the first answer in contact


THUMB = with_bodies(urdf(
    joint('thumb', 'revolute', 'palm', 'thumb_base', xyz=(0.1, 0, 0), axis=Z, limits=(-3.0, 3.0)),
    joint('bend', 'revolute', 'thumb_base', 'thumb_tip', xyz=(0.1, 0, 0), axis=Z,
          limits=(-1.0, 1.0)),
    joint('turn', 'revolute', 'palm', 'finger', axis=Z, limits=(-1.0, 1.0)),
    joint('end', 'fixed', 'finger', 'tip', xyz=(0, 0.5, 0))),
    palm=BALL.format(0.06), thumb_tip=BALL.format(0.06))
"""A hand whose thumb, from 1.9 rad on, is in its palm; the finger does not move the thumb."""


def test_links_that_no_moving_joint_parts_are_named_at_once():
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
