"""The door: one pose, or one for each tip."""

from hypothesis import given, settings, strategies as st
from judge import check, claims, inverse, pose, pose_error, TreeJudge
import numpy as np
import pinocchio as pin
import pytest
from small_robots import joint, SMALL, TWO_ARMS, urdf, X, Z

from ros2_ik.core import (
    Configuration,
    IKError,
    InvalidTargetError,
    Robot,
    solve_pose,
    Status,
    UnknownFrameError,
    UnknownGroupError,
    UnknownJointError,
)

FULL = (1,) * 6


def random_pose(robot, judge, tip, generator, relative_to=None):
    """Give joint values and the pose that they mean, by the judge."""
    joints = robot.to_joints(robot.random_q(generator))
    return joints, judge.transform(joints, tip, relative_to)


# -- targets ---------------------------------------------------------------------------------

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
    with pytest.raises(InvalidTargetError, match="no joint moves 'tip'"):
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
    ({'tip': ['tip', 'tip'], 'target': [np.eye(4)]}, InvalidTargetError, '2 tips but 1 target'),
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


# -- freed axes ------------------------------------------------------------------------------

FREED = {
    'roll about z': ((1, 1, 1, 1, 1, 0), lambda g: pose(rotvec=(0, 0, g.uniform(-1, 1) * 6.28))),
    'roll about x': ((1, 1, 1, 0, 1, 1), lambda g: pose(rotvec=(g.uniform(-1, 1) * 6.28, 0, 0))),
    'pitch about y': ((1, 1, 1, 1, 0, 1), lambda g: pose(rotvec=(0, g.uniform(-1, 1) * 6.28, 0))),
    'along z': ((1, 1, 0, 1, 1, 1), lambda g: pose((0, 0, g.uniform(-100, 100)))),
    'along x and about z': ((0, 1, 1, 1, 1, 0), lambda g: pose((g.uniform(-50, 50), 0, 0)) @ pose(
        rotvec=(0, 0, g.uniform(-1, 1) * 6.28))),
    'in a plane': ((0, 0, 1, 1, 1, 1), lambda g: pose((*g.uniform(-50, 50, 2), 0))),
    'position only': ((1, 1, 1, 0, 0, 0), lambda g: pose(rotvec=g.uniform(-1, 1, 3) * 1.8)),
    'orientation only': ((0, 0, 0, 1, 1, 1), lambda g: pose(g.uniform(-100, 100, 3))),
    'one row of rotation': ((0, 0, 0, 0, 0, 1), lambda g: pose(
        g.uniform(-9, 9, 3), (*g.uniform(-1.5, 1.5, 2), 0))),
    'one row of position': ((0, 1, 0, 0, 0, 0), lambda g: pose(
        (*g.uniform(-9, 9, 1), 0, 7), g.uniform(-1, 1, 3) * 1.8)),
    'unequal weights': ((10, 1, 0.1, 1, 0.3, 0), lambda g: pose(rotvec=(0, 0, g.uniform(-6, 6)))),
}


@pytest.mark.parametrize('robot_name, tip', [('panda', 'panda_hand_tcp'), ('ur5', 'tool0')])
@pytest.mark.parametrize('freed', FREED)
def test_freed_axes_may_be_far_off(load, judge_of, robot_name, tip, freed):
    """The target is turned and moved along what is free: by up to a turn, by up to 100 m."""
    robot, judge = load(robot_name), judge_of(robot_name)
    weights, displace = FREED[freed]
    generator = np.random.default_rng(0)
    for _ in range(10):
        _, T = random_pose(robot, judge, tip, generator)
        target = T @ inverse(displace(generator))
        assert pose_error(T, target, weights) == pytest.approx((0, 0), abs=1e-7)
        solution = solve_pose(robot, tip, target, robot.random_q(generator), weights=weights,
                              timeout=1.0, random_state=0)
        check(judge, solution, [(tip, target, None, weights)])
        if weights[3:] == (1, 1, 0):     # the axis itself, judged without any logarithm
            z = judge.transform(solution.joints, tip)[:3, 2]
            assert np.linalg.norm(np.cross(z, target[:3, 2])) <= 1e-4
            assert z @ target[:3, 2] > 0


def test_scara_needs_a_freed_axis(small):
    """Four joints and a tool that is to be tilted: impossible, but not with rx and ry free."""
    robot, judge = small('scara'), TreeJudge(SMALL['scara'])
    T = judge.transform({'shoulder': 0.3, 'elbow': -0.5, 'lift': -0.1, 'wrist': 0.7}, 'tip')
    tilted = T @ pose(rotvec=(0.4, 0, 0))
    assert not solve_pose(robot, 'tip', tilted, max_iterations=200).success
    weights = (1, 1, 1, 0, 1, 1)
    check(judge, solve_pose(robot, 'tip', tilted, weights=weights, random_state=0),
          [('tip', tilted, None, weights)])


def test_weights_do_not_move_the_tolerances(load, judge_of):
    """A small weight asks for no less, a large one for no more."""
    robot, judge = load('ur5'), judge_of('ur5')
    generator = np.random.default_rng(1)
    for scale in (1e-3, 1.0, 1e3):
        _, T = random_pose(robot, judge, 'tool0', generator)
        weights = np.array([1, 1, 1, 1, 1, 1.0]) * scale
        weights[3:] *= generator.uniform(0.1, 10, 3)
        solution = solve_pose(robot, 'tool0', T, weights=weights, timeout=1.0, random_state=0)
        check(judge, solution, [('tool0', T, None, weights)])


@pytest.mark.parametrize('weights', [(1,) * 6, (1, 2, 0.5, 1, 0.25, 1), (1, 1, 1, 1, 1, 0)])
def test_only_the_ratio_of_weights_counts(load, judge_of, weights):
    """A millionth of each asks for the same, and finds it as fast."""
    robot, judge, generator = load('ur5'), judge_of('ur5'), np.random.default_rng(3)
    for _ in range(10):
        _, T = random_pose(robot, judge, 'tool0', generator)
        start = robot.random_q(generator)
        iterations = []
        for scale in (1.0, 2.0**-20, 2.0**20):
            scaled = tuple(scale * np.array(weights))
            solution = solve_pose(robot, 'tool0', T, start, weights=scaled, timeout=5.0,
                                  random_state=0)
            check(judge, solution, [('tool0', T, None, weights)])
            iterations.append(solution.iterations)
        assert max(iterations) <= 2 * min(iterations) + 20, iterations


@pytest.mark.parametrize('position, orientation', [(1e-2, 1e-4), (1e-5, 0.5), (1e-9, 1e-9),
                                                   (0.3, 3.0)])
def test_tolerances_are_met(load, judge_of, position, orientation):
    robot, judge, generator = load('ur5'), judge_of('ur5'), np.random.default_rng(2)
    for _ in range(5):
        _, T = random_pose(robot, judge, 'tool0', generator)
        solution = solve_pose(robot, 'tool0', T, timeout=1.0, random_state=0,
                              position_tolerance=position, orientation_tolerance=orientation)
        check(judge, solution, [('tool0', T, None, FULL, position, orientation)])


# -- relative_to -------------------------------------------------------------------------------

ARM_JUDGE = TreeJudge(TWO_ARMS)


@pytest.mark.parametrize('relative_to', ['base', 'chest', 'right_c', 'right_hand', 'left_a'])
def test_relative_to_frames_that_move_or_not(small, relative_to):
    """What was asked holds in the answer, wherever the frame then is."""
    robot, generator = small('two_arms'), np.random.default_rng(0)
    for _ in range(8):
        _, T = random_pose(robot, ARM_JUDGE, 'left_hand', generator, relative_to)
        seed = robot.random_q(generator)
        solution = solve_pose(robot, 'left_hand', T, seed, relative_to=relative_to, timeout=1.0,
                              random_state=0)
        check(ARM_JUDGE, solution, [('left_hand', T, relative_to)])


@pytest.mark.parametrize('weights', [FULL, (1, 1, 0, 1, 1, 0), (1, 1, 1, 0, 0, 0)])
def test_relative_to_the_other_hand_with_freed_axes(small, weights):
    robot, generator = small('two_arms'), np.random.default_rng(1)
    for _ in range(8):
        _, T = random_pose(robot, ARM_JUDGE, 'left_hand', generator, 'right_hand')
        target = T @ pose((0, 0, 30.0 * (weights[2] == 0)), (0, 0, 5.0 * (weights[5] == 0)))
        solution = solve_pose(robot, 'left_hand', target, robot.random_q(generator),
                              relative_to='right_hand', weights=weights, timeout=1.0,
                              random_state=0)
        check(ARM_JUDGE, solution, [('left_hand', target, 'right_hand', weights)])


def test_relative_to_a_frame_that_is_held_where_the_seed_has_it(small):
    robot = small('two_arms')
    seed = {'right_1': 0.4, 'right_2': -0.3, 'torso': 0.2}
    start = robot.to_joints(robot.to_q(seed))
    right = [f'right_{i}' for i in range(1, 7)] + ['torso']
    goal = {**start, 'left_1': 0.2, 'left_2': 0.4, 'left_3': -0.3}
    T = ARM_JUDGE.transform(goal, 'left_hand', 'right_hand')
    solution = solve_pose(robot, 'left_hand', T, seed, relative_to='right_hand', locked=right,
                          timeout=1.0, random_state=0)
    check(ARM_JUDGE, solution, [('left_hand', T, 'right_hand')], start, right)


def test_relative_to_its_own_child():
    """A base told where its hand should be: the same question upside down."""
    robot = Robot.from_urdf(SMALL['scara'])
    judge = TreeJudge(SMALL['scara'])
    _, T = random_pose(robot, judge, 'base', np.random.default_rng(0), 'tip')
    check(judge, solve_pose(robot, 'base', T, relative_to='tip', random_state=0),
          [('base', T, 'tip')])


def test_follower_of_a_shared_joint():
    text = urdf(joint('trunk', 'revolute', 'base', 'body', axis=Z, limits=(-1.0, 1.0)),
                joint('arm', 'revolute', 'body', 'left', axis=X, limits=(-1.0, 1.0),
                      mimic=('trunk', 1.0, 0.0)),
                joint('side', 'fixed', 'body', 'right', xyz=(0, 1, 0)))
    robot, judge = Robot.from_urdf(text), TreeJudge(text)
    T = judge.transform({'trunk': 0.6}, 'left', 'right')
    solution = solve_pose(robot, 'left', T, relative_to='right')
    check(judge, solution, [('left', T, 'right')])
    assert solution.joints['trunk'] == pytest.approx(0.6, abs=1e-3)


# -- groups, locked joints, seeds --------------------------------------------------------------

def test_group_and_locked_joints_stay_exactly(load, judge_of):
    robot, judge, generator = load('baxter'), judge_of('baxter'), np.random.default_rng(0)
    arm = robot.group('left_arm').joint_names
    for _ in range(10):
        start = robot.to_joints(robot.random_q(generator))
        goal = {**start, **{n: robot.to_joints(robot.random_q(generator))[n] for n in arm}}
        T = judge.transform(goal, 'left_gripper')
        solution = solve_pose(robot, 'left_gripper', T, start, group='left_arm', timeout=1.0,
                              random_state=0)
        others = [name for name in robot.joint_names if name not in arm]
        check(judge, solution, [('left_gripper', T)], start, others)
        goal['left_e0'] = start['left_e0']
        T = judge.transform(goal, 'left_gripper')
        solution = solve_pose(robot, 'left_gripper', T, start, group='left_arm', timeout=1.0,
                              locked=['left_e0'], random_state=0)
        check(judge, solution, [('left_gripper', T)], start, [*others, 'left_e0'])


def test_locked_joints_outside_their_limits_stay_there(small):
    robot = small('two_arms')
    seed = {'torso': 3.0, 'right_1': -5.0}     # limits 2 and -2
    goal = robot.to_joints(robot.to_q({**seed, 'left_1': 0.3, 'left_2': 0.4, 'left_3': -0.5}))
    T = ARM_JUDGE.transform(goal, 'left_hand')
    solution = solve_pose(robot, 'left_hand', T, seed, locked=['torso'], timeout=1.0,
                          random_state=0)
    assert solution.success, solution.explain()
    assert (solution.joints['torso'], solution.joints['right_1']) == (3.0, -5.0)
    assert pose_error(ARM_JUDGE.transform(solution.joints, 'left_hand'), T)[0] <= 1e-5


@pytest.mark.parametrize('seed', [None, {}, {'s2': 0.4}, {'s2': 99.0, 'elbow': 5.0}, [9.0] * 7,
                                  [-9.0] * 7, {'w1': 2 * np.pi}])
def test_seeds_partial_or_outside_the_limits(small, seed):
    robot, judge = small('zero_links'), TreeJudge(SMALL['zero_links'])
    _, T = random_pose(robot, judge, 'tip', np.random.default_rng(4))
    given = None if seed is None else dict(seed) if isinstance(seed, dict) else list(seed)
    check(judge, solve_pose(robot, 'tip', T, seed, timeout=1.0, random_state=0), [('tip', T)])
    assert seed == given


def test_a_seed_that_is_the_answer_is_the_answer(load, judge_of):
    robot, generator = load('panda'), np.random.default_rng(0)
    for _ in range(5):
        q = robot.random_q(generator)
        T = Configuration(robot, q).transform('panda_hand_tcp')
        solution = solve_pose(robot, 'panda_hand_tcp', T, q)
        assert solution.success and solution.iterations == 0
        np.testing.assert_array_equal(solution.q, q)


# -- turns -------------------------------------------------------------------------------------

@settings(max_examples=100)
@given(turns=st.integers(-50, 50), offset=st.floats(-3, 3), start=st.floats(-3.0, 3.0))
def test_answers_are_on_the_turn_nearest_the_seed(turns, offset, start):
    seed_table = start + 2 * np.pi * turns
    solution = solve_pose(TURNING, 'arm', TURNING_JUDGE.transform({'table': start + offset},
                                                                  'arm'), [seed_table])
    check(TURNING_JUDGE, solution, [('arm', TURNING_JUDGE.transform(
        {'table': seed_table + offset}, 'arm'))])
    assert abs(solution.joints['table'] - seed_table) <= np.pi + 1e-3
    assert solution.joints['table'] == pytest.approx(seed_table + offset, abs=1e-3)


TURNING_TEXT = urdf(joint('table', 'continuous', 'base', 'arm', xyz=(0, 0, 1), axis=(0, 0.6, 0.8)))
TURNING, TURNING_JUDGE = Robot.from_urdf(TURNING_TEXT), TreeJudge(TURNING_TEXT)


def test_seven_radians_stay_seven():
    T = TURNING_JUDGE.transform({'table': 7.0}, 'arm')
    assert solve_pose(TURNING, 'arm', T, {'table': 7.0}).joints == {'table': 7.0}


def test_turns_of_wide_revolute_joints_end_at_their_limits(load, judge_of):
    """UR5's wrists turn 2 pi each way; the answer is the nearest turn within."""
    robot, judge, generator = load('ur5'), judge_of('ur5'), np.random.default_rng(0)
    turned = 0
    for _ in range(40):
        seed = robot.random_q(generator)
        _, T = random_pose(robot, judge, 'tool0', generator)
        solution = solve_pose(robot, 'tool0', T, seed, timeout=1.0, random_state=0)
        check(judge, solution, [('tool0', T)])
        for way in (-2 * np.pi, 2 * np.pi):
            for i in range(6):
                other = solution.q.copy()
                other[i] += way
                within = (robot.lower <= other).all() and (other <= robot.upper).all()
                turned += within
                if within:
                    assert np.linalg.norm(other - seed) >= np.linalg.norm(solution.q - seed)
    assert turned > 20


def test_answers_of_kinova_are_on_the_nearest_turn(load, judge_of):
    robot, judge, generator = load('kinova'), judge_of('kinova'), np.random.default_rng(0)
    tip = 'j2s6s200_end_effector'
    continuous = [j.index for j in robot.joints if j.kind == 'continuous']
    assert continuous
    for _ in range(20):
        seed = robot.random_q(generator)
        seed[continuous] += 2 * np.pi * generator.integers(-5, 5, len(continuous))
        _, T = random_pose(robot, judge, tip, generator)
        solution = solve_pose(robot, tip, T, seed, timeout=1.0, random_state=0)
        check(judge, solution, [(tip, T)])
        assert np.abs(solution.q - seed)[continuous].max() <= np.pi + 1e-9


@pytest.mark.parametrize('multiplier, whole', [(-2.0, True), (1.0, True), (0.5, False)])
def test_turns_of_a_leader_are_turns_of_its_follower_or_are_left_alone(multiplier, whole):
    text = urdf(joint('lead', 'continuous', 'base', 'a', axis=Z),
                joint('follow', 'continuous', 'a', 'tip', xyz=(0.3, 0, 0), axis=X,
                      mimic=('lead', multiplier, 0.3)))
    robot, judge = Robot.from_urdf(text), TreeJudge(text)
    for value in (0.4, 3.0, -2.0, 8.0):
        T = judge.transform({'lead': value}, 'tip')
        for seed in (value + 0.5, value + 13.0, value - 7.0):
            solution = solve_pose(robot, 'tip', T, [seed], timeout=0.5, random_state=0)
            check(judge, solution, [('tip', T)])
            if whole:
                assert abs(solution.q[0] - seed) <= np.pi + 1e-3


def test_a_slide_that_follows_a_turning_joint_has_no_turns():
    """One turn of the leader moves it by 2 pi metres."""
    text = urdf(joint('screw', 'continuous', 'base', 'nut', axis=Z),
                joint('slide', 'prismatic', 'nut', 'tip', axis=Z, mimic=('screw', 1.0, 0.0)))
    robot, judge = Robot.from_urdf(text), TreeJudge(text)
    for value, seed in ((0.3, 6.5), (6.5, 0.3), (0.3, 3.0)):
        T = judge.transform({'screw': value}, 'tip')
        solution = solve_pose(robot, 'tip', T, [seed], timeout=0.5, random_state=0)
        check(judge, solution, [('tip', T)])
        assert solution.q[0] == pytest.approx(value, abs=1e-3)


def test_planar_base_answers_on_the_nearest_turn(small):
    robot, judge = small('one_link', 'planar'), TreeJudge(SMALL['one_link'], 'planar')
    for theta in (20.0, -20.0, 3.0, 100.0):
        T = judge.transform({'root_joint': [1, 2, theta + 1.0]}, 'body')
        solution = solve_pose(robot, 'body', T, [0, 0, theta])
        check(judge, solution, [('body', T)])
        assert solution.q[2] == pytest.approx(theta + 1.0, abs=1e-3)


# -- several tips -------------------------------------------------------------------------------

TIPS = ['left_hand', 'right_hand']


def test_two_tips(small):
    robot, generator = small('two_arms'), np.random.default_rng(0)
    for _ in range(10):
        joints = robot.to_joints(robot.random_q(generator))
        targets = [ARM_JUDGE.transform(joints, tip) for tip in TIPS]
        solution = solve_pose(robot, TIPS, targets, robot.random_q(generator), timeout=2.0,
                              random_state=0)
        check(ARM_JUDGE, solution, list(zip(TIPS, targets, strict=True)))
        assert [error.tip for error in solution.errors] == TIPS


def test_two_tips_each_with_its_own_frame_and_weights(small):
    robot, generator = small('two_arms'), np.random.default_rng(1)
    frames, weights = [None, 'left_hand'], [(1, 1, 1, 0, 0, 0), (1, 1, 0, 1, 1, 0)]
    for _ in range(10):
        joints = robot.to_joints(robot.random_q(generator))
        targets = [ARM_JUDGE.transform(joints, tip, frame)
                   for tip, frame in zip(TIPS, frames, strict=True)]
        targets[1] = targets[1] @ pose((0, 0, 20.0), (0, 0, 4.0))
        for tips, Ts in ((TIPS, targets), (tuple(TIPS), tuple(targets))):
            solution = solve_pose(robot, tips, Ts, relative_to=frames, weights=weights,
                                  timeout=2.0, random_state=0)
            check(ARM_JUDGE, solution, list(zip(TIPS, targets, frames, weights, strict=True)))


def test_one_of_two_out_of_reach_is_no_success(small):
    robot = small('two_arms')
    joints = robot.to_joints(robot.random_q(np.random.default_rng(0)))
    targets = [ARM_JUDGE.transform(joints, 'left_hand'), pose((9, 0, 0))]
    solution = solve_pose(robot, TIPS, targets, max_iterations=300, random_state=0)
    assert not solution.success
    assert any("'right_hand'" in violation.name for violation in solution.violations)
    claims(ARM_JUDGE, solution, [])


def test_contradicting_targets_for_one_tip(small):
    robot = small('two_arms')
    joints = robot.to_joints(robot.random_q(np.random.default_rng(0)))
    T = ARM_JUDGE.transform(joints, 'left_hand')
    solution = solve_pose(robot, ['left_hand'] * 2, [T, T @ pose((0.1, 0, 0))],
                          max_iterations=300, random_state=0)
    assert not solution.success
    solution = solve_pose(robot, ['left_hand'] * 2, [T, T], timeout=1.0, random_state=0)
    check(ARM_JUDGE, solution, [('left_hand', T)])


# -- nothing is changed ------------------------------------------------------------------------

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
