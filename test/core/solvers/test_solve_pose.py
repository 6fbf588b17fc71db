"""The interface: what may be asked, of which robots, what is refused, and MATLAB's names."""

from judge import check, pose, random_pose, TreeJudge
import numpy as np
import pinocchio as pin
import pytest
from small_robots import joint, SMALL, urdf

from ros2_ik.core import (
    Constraint,
    FramePosition,
    IKError,
    IKProblem,
    InvalidOptionError,
    InvalidTargetError,
    InverseKinematics,
    PoseTarget,
    Robot,
    solve,
    solve_pose,
    UnknownFrameError,
    UnknownJointError,
)

FULL = (1,) * 6


@pytest.mark.parametrize('dress', [pin.SE3, lambda T: T.tolist(), np.asfortranarray])
def test_targets_may_be_se3_lists_or_arrays(small, dress):
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
        check(judge, solve_pose(robot, tip, T, start, timeout=1.0, random_state=0), [(tip, T)])


@pytest.mark.parametrize('root_joint', ['planar', 'freeflyer'])
def test_poses_of_robots_with_free_bases(small, root_joint):
    robot = small('scara', root_joint)
    judge, generator = TreeJudge(SMALL['scara'], root_joint), np.random.default_rng(0)
    for _ in range(5):
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


@pytest.mark.parametrize('target', [pose((np.nan, 0, 0)), np.eye(3), None, np.eye(4) * 2])
def test_malformed_targets_are_refused(small, target):
    with pytest.raises(InvalidTargetError, match="'tip'"):
        solve_pose(small('scara'), 'tip', target)


@pytest.mark.parametrize('arguments, error, word', [
    ({'tip': 'tipp'}, UnknownFrameError, "did you mean 'tip'"), ({'tip': 5}, IKError, ''),
    ({'tip': []}, InvalidTargetError, ''), ({'tip': ['tip']}, InvalidTargetError, 'target'),
    ({'tip': ['tip', 'tip'], 'target': [np.eye(4)]}, InvalidTargetError, 'poses: 1; valid: 2'),
    ({'tip': ['tip'], 'target': [np.eye(4)], 'weights': [FULL] * 2}, InvalidTargetError,
     'weights'),
    ({'seed': {'elbo': 1}}, UnknownJointError, "'elbow'"),
    ({'solver': 'newton'}, IKError, "'newton'"), ({'problem': None}, IKError, "'problem'"),
    ({'scene': 'table'}, InvalidOptionError, 'scene must be a Scene'),
    ({'scene': 'table'}, InvalidOptionError, "load_scene('table'"),
    ({'meshes': 'finest'}, InvalidOptionError, 'valid: exact, hull')])
def test_malformed_questions_are_refused(small, arguments, error, word):
    arguments = {'tip': 'tip', 'target': np.eye(4), **arguments}
    with pytest.raises(error) as caught:
        solve_pose(small('scara'), **arguments)
    assert word in str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_robots_and_problems_of_other_types_are_refused():
    for ask in (lambda: solve_pose('panda', 'tip', np.eye(4)), lambda: InverseKinematics(None),
                lambda: solve_pose(Robot, 'tip', np.eye(4), scene=5),
                lambda: IKProblem('panda', [PoseTarget('tip', np.eye(4))])):
        with pytest.raises(InvalidOptionError,
                           match=r"robot must be a Robot.*Robot.load\('panda'"):
            ask()
    with pytest.raises(InvalidOptionError, match='problem must be an IKProblem'):
        solve('panda')


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


# -- MATLAB's names of options -----------------------------------------------------------------

HAND = 'panda_hand'
T = pose((0.45, 0.1, 0.35), (2.4, 1.1, -0.4))


@pytest.mark.parametrize('theirs, ours', [
    ({'max_time': 0.5}, {'timeout': 0.5}),
    ({'allow_random_restart': False}, {'allow_restarts': False}),
    ({'enforce_joint_limits': False}, {'joint_limits': False})])
def test_matlabs_names_mean_the_same_as_ours(load, theirs, ours):
    one, other = (solve_pose(load('panda'), HAND, T, random_state=0, **options)
                  for options in (theirs, ours))
    np.testing.assert_array_equal(one.best_q, other.best_q)
    assert (one.success, one.restarts) == (other.success, other.restarts)
    with pytest.raises(InvalidOptionError, match=next(iter(theirs))):
        solve_pose(load('panda'), HAND, T, **theirs, **ours)


def test_matlabs_names_work_in_solve_too(load):
    problem = IKProblem(load('panda'), constraints=[
        Constraint(FramePosition(HAND), [3] * 3, [3] * 3)])
    solution = solve(problem, max_time=0.5, allow_random_restart=False)
    assert solution.restarts == 0 and not solution.success
    for both in ({'max_time': 1, 'timeout': 1},
                 {'allow_random_restart': True, 'allow_restarts': True}):
        with pytest.raises(InvalidOptionError, match='another name'):
            solve(problem, **both)


def test_joint_limits_can_be_let_go(load, judge_of):
    """A target that only joints outside their limits reach."""
    beyond = judge_of('panda').transform(
        dict.fromkeys(load('panda').joint_names, 0.0) | {'panda_joint4': 0.4}, HAND)
    seed = {'panda_joint4': 0.3}
    free = solve_pose(load('panda'), HAND, beyond, seed, enforce_joint_limits=False,
                      allow_random_restart=False, max_time=1.0)
    assert free.success and free.joints['panda_joint4'] > 0
    with pytest.raises(InvalidOptionError, match='joint_limits'):
        solve_pose(load('panda'), HAND, beyond, enforce_joint_limits='yes')
