"""The door: what may be asked, of which robots, and what is refused."""

from judge import check, pose, pose_error, random_pose, TreeJudge
import numpy as np
import pinocchio as pin
import pytest
from small_robots import joint, SMALL, urdf

from ros2_ik.core import (
    IKError,
    IKProblem,
    InvalidOptionError,
    InvalidTargetError,
    InverseKinematics,
    PoseTarget,
    Robot,
    solve,
    solve_pose,
    Status,
    UnknownFrameError,
    UnknownGroupError,
    UnknownJointError,
)

FULL = (1,) * 6


@pytest.mark.parametrize('dress', [lambda T: T, pin.SE3, lambda T: T.tolist(), np.asfortranarray])
def test_kinds_of_targets(small, dress):
    robot, judge = small('scara'), TreeJudge(SMALL['scara'])
    T = judge.transform({'shoulder': 0.3, 'elbow': -0.5, 'lift': -0.1, 'wrist': 0.7}, 'tip')
    check(judge, solve_pose(robot, 'tip', dress(T), random_state=0), [('tip', T)])


@pytest.mark.parametrize('name', ['one_joint', 'planar_2r', 'scara', 'gantry', 'turntable',
                                  'mimic_chain', 'fingers', 'zero_links', 'no_limits',
                                  'two_arms', 'nested'])
def test_every_kind_of_robot_is_served(small, name):
    robot, judge, generator = small(name), TreeJudge(SMALL[name]), np.random.default_rng(0)
    tip = {'two_arms': 'left_hand', 'fingers': 'left_tip'}.get(name, 'tip')
    for _ in range(25):
        _, T = random_pose(robot, judge, tip, generator)
        start = robot.random_q(generator)
        solution = solve_pose(robot, tip, T, start, timeout=1.0, random_state=0)
        assert solution.success, solution.explain()
        joints = dict(solution.joints)
        assert judge.outside(joints) == []
        position, orientation = pose_error(judge.transform(joints, tip), T)
        assert position <= 1e-5 and orientation <= 1e-4


@pytest.mark.parametrize('root_joint', ['planar', 'freeflyer'])
def test_free_bases(small, root_joint):
    robot = small('scara', root_joint)
    judge, generator = TreeJudge(SMALL['scara'], root_joint), np.random.default_rng(0)
    for _ in range(15):
        _, T = random_pose(robot, judge, 'tip', generator)
        check(judge, solve_pose(robot, 'tip', T, timeout=1.0, random_state=0), [('tip', T)])
        _, T = random_pose(robot, judge, 'base', generator)
        check(judge, solve_pose(robot, 'base', T, timeout=1.0, random_state=0), [('base', T)])


def test_locked_base_stays(small):
    robot = small('scara', 'freeflyer')
    judge = TreeJudge(SMALL['scara'], 'freeflyer')
    base = [1, 2, 3, 0.1, 0.2, 0.3, 0.927]
    seed = robot.to_joints(robot.to_q({'root_joint': base}))
    T = judge.transform({**seed, 'shoulder': 0.3, 'elbow': -0.5, 'lift': -0.1}, 'tip')
    solution = solve_pose(robot, 'tip', T, seed, locked=['root_joint'], random_state=0)
    check(judge, solution, [('tip', T)], seed, ['root_joint'])


def test_robot_that_cannot_move(small):
    with pytest.raises(InvalidTargetError, match="no active joint moves 'tip'"):
        solve_pose(small('all_fixed'), 'tip', np.eye(4))


def test_one_joint_unreachable(small):
    solution = solve_pose(small('one_joint'), 'tip', pose((0, 0, 5)), max_iterations=100)
    assert solution.status is Status.NO_IK_SOLUTION
    assert solution.errors[0].position == pytest.approx(np.hypot(0.7, 4.9), abs=1e-3)


@pytest.mark.parametrize('target', [pose((np.nan, 0, 0)), np.zeros((4, 4)), np.eye(3), None,
                                    'here', np.diag([1.0, 1, -1, 1]), np.eye(4) * 2])
def test_targets_that_are_none(small, target):
    with pytest.raises(InvalidTargetError, match="'tip'"):
        solve_pose(small('scara'), 'tip', target)


@pytest.mark.parametrize('arguments, error, word', [
    ({'tip': 'tipp'}, UnknownFrameError, "did you mean 'tip'"),
    ({'tip': None}, IKError, ''), ({'tip': 5}, IKError, ''), ({'tip': [['tip']]}, IKError, ''),
    ({'tip': []}, InvalidTargetError, ''), ({'tip': ['tip']}, InvalidTargetError, 'target'),
    ({'tip': ['tip'], 'target': None}, IKError, ''),
    ({'tip': ['tip', 'tip'], 'target': [np.eye(4)]}, InvalidTargetError, 'poses: 1; valid: 2'),
    ({'relative_to': 'bas'}, UnknownFrameError, "'base'"),
    ({'relative_to': ['base']}, IKError, ''), ({'relative_to': {}}, IKError, ''),
    ({'tip': ['tip'], 'target': [np.eye(4)], 'relative_to': ['base'] * 2}, InvalidTargetError,
     'relative_to'),
    ({'tip': ['tip'], 'target': [np.eye(4)], 'weights': [FULL] * 2}, InvalidTargetError,
     'weights'),
    ({'group': 'gripper'}, UnknownGroupError, "'gripper'"),
    ({'seed': {'elbo': 1}}, UnknownJointError, "'elbow'"),
    ({'seed': [0, 0]}, IKError, '2 given'), ({'seed': {'lift': np.nan}}, IKError, 'lift'),
    ({'position_tolerance': -1}, InvalidTargetError, 'position_tolerance'),
    ({'orientation_tolerance': np.nan}, InvalidTargetError, 'orientation_tolerance'),
    ({'timeout': -1}, IKError, 'timeout'), ({'timeout': np.nan}, IKError, 'timeout'),
    ({'max_iterations': 0}, IKError, 'max_iterations'),
    ({'solver': 'newton'}, IKError, "'newton'"), ({'select': 'best'}, IKError, "'best'"),
    ({'solutions': 0}, IKError, 'solutions'), ({'stepsize': 1}, IKError, "'stepsize'"),
    ({'seeds': [{}]}, IKError, "'seeds'"), ({'problem': None}, IKError, "'problem'"),
    ({'budget': None}, IKError, "'budget'"),
    ({'locked': ['elbo']}, UnknownJointError, "'elbow'")])
def test_malformed_questions(small, arguments, error, word):
    arguments = {'tip': 'tip', 'target': np.eye(4), **arguments}
    with pytest.raises(error) as caught:
        solve_pose(small('scara'), **arguments)
    assert word in str(caught.value)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize('scene', ['table', {}, 5])
def test_scenes_that_are_none(small, scene):
    with pytest.raises(InvalidOptionError, match=r"scene must be a Scene.*load_scene\('table'"):
        solve_pose(small('scara'), 'tip', np.eye(4), scene=scene)


@pytest.mark.parametrize('ask', [
    lambda robot: solve_pose(robot, 'tip', np.eye(4)), InverseKinematics,
    lambda robot: solve_pose(robot, 'tip', np.eye(4), scene=5),
    lambda robot: IKProblem(robot, [PoseTarget('tip', np.eye(4))])])
@pytest.mark.parametrize('robot', ['panda', None, Robot])
def test_robots_that_are_none(ask, robot):
    with pytest.raises(InvalidOptionError, match=r"robot must be a Robot.*Robot.load\('panda'"):
        ask(robot)


@pytest.mark.parametrize('problem', ['panda', None, np.eye(4)])
def test_problems_that_are_none(problem):
    with pytest.raises(InvalidOptionError, match='problem must be an IKProblem'):
        solve(problem)


GRIP = urdf(joint('turn', 'revolute', 'base', 'arm', axis=(0, 0, 1), limits=(-1.5, 2.5)),
            joint('end', 'fixed', 'arm', 'tip', xyz=(0.7, 0, 0.1)),
            *(joint(f'grip{i}', 'prismatic', 'tip', f'finger{i}', axis=(0, 1, 0),
                    limits=(0.0, 0.03)) for i in range(5)))


@pytest.mark.parametrize('there', [True, False], ids=['success', 'failure'])
@pytest.mark.parametrize('seed, words', [
    ({'grip1': 0.5}, "; held outside its limits: 'grip1' at 0.5 (limits 0 .. 0.03)"),
    ({'grip1': 0.5, 'grip3': -0.002}, "; held outside their limits: 'grip1' at 0.5 (limits 0 .. "
     "0.03), 'grip3' at -0.002 (limits 0 .. 0.03)"),
    ({f'grip{i}': 0.04 for i in range(5)}, "'grip2' at 0.04 (limits 0 .. 0.03) and 2 more"),
    ({'grip1': 0.0309, 'turn': 7.0}, None)])     # a hair, and one that moves
def test_joints_held_outside_their_limits_are_told(seed, words, there):
    """They stay: a robot may stand there."""
    robot = Robot.from_urdf(GRIP)
    T = TreeJudge(GRIP).transform({'turn': 0.3, **{f'grip{i}': 0 for i in range(5)}}, 'tip')
    solution = solve_pose(robot, 'tip', T if there else pose((0, 0, 5)), seed, timeout=30.0,
                          max_iterations=100, random_state=0)
    assert solution.success is there
    assert all(solution.best_joints[name] == value for name, value in seed.items()
               if name != 'turn')
    if words is None:
        assert 'held outside' not in solution.message
    else:
        assert solution.message.endswith(words) and 'held outside' in solution.message


def test_locked_joints_outside_their_limits_are_told_unless_there_are_none(small):
    robot, judge = small('scara'), TreeJudge(SMALL['scara'])
    seed = {'shoulder': 0.3, 'elbow': -5.0, 'lift': -0.1, 'wrist': 0.7}
    T = judge.transform({**seed, 'shoulder': 0.5}, 'tip')
    solution = solve_pose(robot, 'tip', T, seed, locked=['elbow'], random_state=0, timeout=30.0)
    assert solution.success and solution.joints['elbow'] == -5.0
    assert "held outside its limits: 'elbow' at -5 (limits -2.4 .. 2.4)" in solution.message
    solution = solve_pose(robot, 'tip', T, seed, locked=['elbow'], random_state=0, timeout=30.0,
                          joint_limits=False)
    assert solution.success and 'limits' not in solution.message


def test_arguments_are_left_as_they_are(small):
    robot = small('zero_links')
    seed = np.full(7, 9.0)
    T, weights = TreeJudge(SMALL['zero_links']).transform(
        robot.to_joints(robot.neutral), 'tip'), np.array([1.0, 1, 1, 1, 1, 0])
    copies = seed.copy(), T.copy(), weights.copy()
    solution = solve_pose(robot, 'tip', T, seed, weights=weights)
    for one, other in zip((seed, T, weights), copies, strict=True):
        np.testing.assert_array_equal(one, other)
    assert solution.success
    assert not np.shares_memory(solution.q, seed)


def test_an_answer_does_not_change_with_the_next_question(small):
    robot, judge = small('zero_links'), TreeJudge(SMALL['zero_links'])
    generator = np.random.default_rng(0)
    _, T = random_pose(robot, judge, 'tip', generator)
    first = solve_pose(robot, 'tip', T, timeout=1.0, random_state=0)
    q, joints = first.q.copy(), dict(first.joints)
    for _ in range(5):
        solve_pose(robot, 'tip', random_pose(robot, judge, 'tip', generator)[1])
    np.testing.assert_array_equal(first.q, q)
    assert first.joints == joints
