"""Arguments of solve_pose: robots, targets, frames, tolerances, and refusals."""

from judge import check, inverse, pose, pose_error, random_pose, TreeJudge
import numpy as np
import pytest
from small_robots import joint, SMALL, TWO_ARMS, urdf

from ros2_ik.core import (
    Configuration,
    IKError,
    IKProblem,
    InverseKinematics,
    PoseTarget,
    Robot,
    self_pairs,
    solve,
    solve_pose,
    VelocityProgram,
)
from ros2_ik.core.errors import (
    InvalidOptionError,
    InvalidTargetError,
    UnknownFrameError,
    UnknownJointError,
    UnknownNameError,
)

FULL = (1,) * 6


@pytest.mark.parametrize('name', ['one_joint', 'planar_2r', 'scara', 'gantry', 'turntable',
                                  'mimic_chain', 'fingers', 'zero_links', 'no_limits',
                                  'two_arms', 'nested'])
def test_reachable_poses_of_each_small_robot_are_solved(small, name):
    robot, judge, generator = small(name), TreeJudge(SMALL[name]), np.random.default_rng(0)
    tip = {'two_arms': 'left_hand', 'fingers': 'left_tip'}.get(name, 'tip')
    for _ in range(25):
        _, T = random_pose(robot, judge, tip, generator)
        start = robot.random_q(generator)
        check(judge, solve_pose(robot, tip, T, start, timeout=1.0, random_state=0), [(tip, T)])


def test_target_of_a_robot_without_joints_is_refused(small):
    with pytest.raises(InvalidTargetError, match="no active joint moves 'tip'"):
        solve_pose(small('all_fixed'), 'tip', np.eye(4))


@pytest.mark.parametrize('arguments, error, word', [
    ({'tip': 'tipp'}, UnknownFrameError, "did you mean 'tip'"), ({'tip': 5}, IKError, ''),
    ({'tip': []}, InvalidTargetError, ''), ({'tip': ['tip']}, InvalidTargetError, 'target'),
    ({'tip': ['tip', 'tip'], 'target': [np.eye(4)]}, InvalidTargetError, 'each of 2 tips, not 1'),
    ({'tip': ['tip'], 'target': [np.eye(4)], 'weights': [FULL] * 2}, InvalidTargetError,
     'weights'),
    ({'seed': {'elbo': 1}}, UnknownJointError, "'elbow'"),
    ({'solver': 'lmm'}, UnknownNameError, "unknown solver 'lmm'; did you mean 'lm'"),
    ({'problem': None}, IKError, "'problem'"),
    ({'scene': 'table'}, InvalidOptionError, "an instance of Scene, such as load_scene('table'"),
    ({'joint_limits': 'yes'}, InvalidOptionError, 'joint_limits'),
    ({'meshes': 'finest'}, InvalidOptionError, 'valid: exact, hull')])
def test_malformed_arguments_are_refused(small, arguments, error, word):
    arguments = {'tip': 'tip', 'target': np.eye(4), **arguments}
    with pytest.raises(error) as caught:
        solve_pose(small('scara'), **arguments)
    assert word in str(caught.value) and isinstance(caught.value, ValueError)


def test_robots_and_problems_of_wrong_types_are_refused():
    for call in (lambda: solve_pose('panda', 'tip', np.eye(4)), lambda: InverseKinematics(None),
                 lambda: solve_pose(Robot, 'tip', np.eye(4), scene=5),
                 lambda: Configuration('panda'), lambda: VelocityProgram(None, [], 0.01),
                 lambda: self_pairs('panda'),
                 lambda: IKProblem('panda', [PoseTarget('tip', np.eye(4))])):
        with pytest.raises(InvalidOptionError,
                           match=r"robot must be an instance of Robot.*Robot.load\('panda'"):
            call()
    with pytest.raises(InvalidOptionError, match='problem must be an IKProblem'):
        solve('panda')


GRIP = urdf(joint('turn', 'revolute', 'base', 'arm', axis=(0, 0, 1), limits=(-1.5, 2.5)),
            joint('end', 'fixed', 'arm', 'tip', xyz=(0.7, 0, 0.1)),
            *(joint(f'grip{i}', 'prismatic', 'tip', f'finger{i}', axis=(0, 1, 0),
                    limits=(0.0, 0.03)) for i in range(5)))


@pytest.mark.parametrize('reachable', [True, False], ids=['success', 'failure'])
@pytest.mark.parametrize('seed, words', [
    ({'grip1': 0.5}, "; outside the limits in the seed: 'grip1' at 0.5 (limits 0 .. 0.03)"),
    ({'grip1': 0.5, 'grip3': -0.002}, "in the seed: 'grip1' at 0.5 (limits 0 .. 0.03), 'grip3' "
     'at -0.002 (limits 0 .. 0.03)'),
    ({f'grip{i}': 0.04 for i in range(5)}, "'grip2' at 0.04 (limits 0 .. 0.03) and 2 more"),
    ({'grip1': 0.0309}, None)])     # less than 1e-3 m outside
def test_unmoved_joints_outside_their_limits_are_named_in_the_message(seed, words, reachable):
    """They keep their values, since the robot may be in such a state."""
    robot = Robot.from_urdf(GRIP)
    T = TreeJudge(GRIP).transform({'turn': 0.3, **{f'grip{i}': 0 for i in range(5)}}, 'tip')
    solution = solve_pose(robot, 'tip', T if reachable else pose((0, 0, 5)), seed, timeout=30.0,
                          max_iterations=100, random_state=0)
    assert solution.success is reachable
    assert all(solution.best_joints[name] == value for name, value in seed.items())
    assert solution.message.endswith(words or '')
    assert ('outside the limits' in solution.message) == (words is not None)


# -- without joint limits -----------------------------------------------------------------------

HAND = 'panda_hand'


def test_joint_limits_can_be_ignored(load, judge_of):
    """The target needs a joint outside its limits."""
    T = judge_of('panda').transform(
        dict.fromkeys(load('panda').joint_names, 0.0) | {'panda_joint4': 0.4}, HAND)
    seed = {'panda_joint4': 0.3}
    free = solve_pose(load('panda'), HAND, T, seed, joint_limits=False, allow_restarts=False,
                      timeout=1.0)
    assert free.success and free.joints['panda_joint4'] > 0


# -- freed axes, weights and tolerances --------------------------------------------------------

FREED = {
    'roll about z': ((1, 1, 1, 1, 1, 0), lambda g: pose(rotvec=(0, 0, g.uniform(-1, 1) * 6.28))),
    'along x and about z': ((0, 1, 1, 1, 1, 0), lambda g: pose((g.uniform(-50, 50), 0, 0)) @ pose(
        rotvec=(0, 0, g.uniform(-1, 1) * 6.28))),
    'in a plane': ((0, 0, 1, 1, 1, 1), lambda g: pose((*g.uniform(-50, 50, 2), 0))),
    'position only': ((1, 1, 1, 0, 0, 0), lambda g: pose(rotvec=g.uniform(-1, 1, 3) * 1.8)),
    'orientation only': ((0, 0, 0, 1, 1, 1), lambda g: pose(g.uniform(-100, 100, 3))),
    'one axis of position': ((0, 1, 0, 0, 0, 0), lambda g: pose(
        (*g.uniform(-9, 9, 1), 0, 7), g.uniform(-1, 1, 3) * 1.8)),
    'unequal weights': ((10, 1, 0.1, 1, 0.3, 0), lambda g: pose(rotvec=(0, 0, g.uniform(-6, 6)))),
}


@pytest.mark.parametrize('robot_name, tip', [('ur5', 'tool0'), ('panda', 'panda_hand_tcp')])
@pytest.mark.parametrize('freed', FREED)
def test_targets_displaced_far_along_free_axes_are_solved(load, judge_of, robot_name, tip, freed):
    """The displacement is up to a turn about, and 100 m along the free axes."""
    robot, judge = load(robot_name), judge_of(robot_name)
    weights, displace = FREED[freed]
    generator = np.random.default_rng(0)
    for _ in range(10):
        _, T = random_pose(robot, judge, tip, generator)
        target = T @ inverse(displace(generator))
        assert pose_error(T, target, weights) == pytest.approx((0, 0), abs=1e-7)
        solution = solve_pose(robot, tip, target, robot.random_q(generator), weights=weights,
                              timeout=60.0, random_state=0, collisions=False)
        check(judge, solution, [(tip, target, None, weights)])
        if weights[3:] == (1, 1, 0):     # compare the z axis itself, without a logarithm
            z = judge.transform(solution.joints, tip)[:3, 2]
            assert np.linalg.norm(np.cross(z, target[:3, 2])) <= 1e-4
            assert z @ target[:3, 2] > 0


# -- targets that can be reached only within their tolerances ----------------------------------

TIP = 'panda_hand_tcp'
LOCKED = ('panda_joint3', 'panda_joint5')    # five joints are left: poses are not reached exactly
OPTIONS = {'timeout': 1.0, 'group': 'arm', 'collisions': False}


def unreachable_target(panda, judge, generator, displace):
    """Return a reachable pose, moved by the inverse of displace(generator)."""
    joints = dict(zip(panda.joint_names, panda.random_q(generator), strict=True))
    rest = dict(zip(panda.joint_names, panda.neutral, strict=True))
    return judge.transform({**joints, **{name: rest[name] for name in LOCKED}}, TIP) @ inverse(
        displace(generator))


def random_displacement(part, most):
    """Return a function that draws a pose with a part, xyz or rotvec, of a norm below `most`."""
    def draw(generator):
        axis = generator.normal(size=3)
        return pose(**{part: axis / np.linalg.norm(axis) * generator.uniform(0.5, 0.95) * most})
    return draw


@pytest.mark.parametrize(('position', 'orientation', 'displace', 'weights'), [
    (1e-3, 0.3, random_displacement('rotvec', 0.3), (1,) * 6),
    (0.05, 1e-3, random_displacement('xyz', 0.05), (1,) * 6),
    (1e-3, 2e-2, random_displacement('rotvec', 2e-2), (1,) * 6),
    (1e-3, 0.3, lambda g: pose(rotvec=(*(0.27 * np.sin([a := g.uniform(0, 6), a + 1.57])),
                                       g.uniform(-1, 1))), (1, 1, 1, 1, 1, 0))])
def test_targets_reachable_only_within_tolerances_are_solved(
        load, judge_of, position, orientation, displace, weights):
    panda, judge = load('panda'), judge_of('panda')
    generator = np.random.default_rng(3)
    for _ in range(10):
        target = unreachable_target(panda, judge, generator, displace)
        solution = solve_pose(panda, TIP, target, locked=LOCKED, weights=weights, random_state=0,
                              position_tolerance=position, orientation_tolerance=orientation,
                              **OPTIONS)
        check(judge, solution, [(TIP, target, None, weights, position, orientation)])


def test_tolerances_apply_without_restarts(load, judge_of):
    panda, judge = load('panda'), judge_of('panda')
    seed = {'panda_joint2': 0.3, 'panda_joint4': -1.8, 'panda_joint6': 1.7}
    near = {**dict.fromkeys(panda.joint_names, 0.0), **seed, 'panda_joint2': 0.4}
    target = judge.transform(near, TIP) @ pose(rotvec=(0.15, 0.05, 0))
    options = {'locked': LOCKED, 'allow_restarts': False, 'position_tolerance': 1e-3, **OPTIONS}
    solution = solve_pose(panda, TIP, target, seed, orientation_tolerance=0.2, **options)
    check(judge, solution, [(TIP, target, None, (1,) * 6, 1e-3, 0.2)])
    assert 0 < solution.travel.change < 0.5
    none = solve_pose(panda, TIP, target, seed, orientation_tolerance=0.01, **options)
    assert not none.success and none.restarts == 1


@pytest.mark.parametrize('options', [{}, {'select': 'nearest', 'timeout': 0.1}])
@pytest.mark.parametrize('weights', [(1,) * 6, (1, 1, 1, 1, 1, 0)])
def test_seed_within_the_tolerances_is_returned_unchanged(load, judge_of, options, weights):
    panda, judge = load('panda'), judge_of('panda')
    generator = np.random.default_rng(5)
    for _ in range(5):
        seed = panda.random_q(generator)
        target = judge.transform(dict(zip(panda.joint_names, seed, strict=True)), TIP) @ pose(
            (0.01, 0, 0), (0.15, 0.1, 0))
        solution = solve_pose(panda, TIP, target, seed, position_tolerance=0.02, weights=weights,
                              orientation_tolerance=0.2, **{**OPTIONS, **options})
        check(judge, solution, [(TIP, target, None, weights, 0.02, 0.2)])
        assert np.array_equal(solution.q, seed)


# -- targets relative to fixed frames, moving frames and frames below the tip ------------------

ARM_JUDGE = TreeJudge(TWO_ARMS)


@pytest.mark.parametrize('tip, relative_to', [
    ('left_hand', 'base'), ('left_hand', 'chest'), ('left_hand', 'right_hand'),
    ('left_hand', 'left_a'), ('base', 'left_hand')])
def test_targets_relative_to_fixed_and_moving_frames_are_solved(small, tip, relative_to):
    robot, generator = small('two_arms'), np.random.default_rng(0)
    for _ in range(8):
        _, T = random_pose(robot, ARM_JUDGE, tip, generator, relative_to)
        seed = robot.random_q(generator)
        solution = solve_pose(robot, tip, T, seed, relative_to=relative_to, timeout=1.0,
                              random_state=0)
        check(ARM_JUDGE, solution, [(tip, T, relative_to)])


def test_contradicting_targets_of_one_tip_fail_and_equal_ones_succeed(small):
    robot = small('two_arms')
    joints = robot.to_joints(robot.random_q(np.random.default_rng(0)))
    T = ARM_JUDGE.transform(joints, 'left_hand')
    assert not solve_pose(robot, ['left_hand'] * 2, [T, T @ pose((0.1, 0, 0))],
                          max_iterations=300, random_state=0).success
    solution = solve_pose(robot, ['left_hand'] * 2, [T, T], timeout=1.0, random_state=0)
    check(ARM_JUDGE, solution, [('left_hand', T)])
