"""Targets: freed axes, loose tolerances, moving frames and several tips, by a judge of poses."""

from judge import check, claims, inverse, pose, pose_error, random_pose, TreeJudge
import numpy as np
import pytest
from small_robots import joint, TWO_ARMS, urdf, X, Z

from ros2_ik.core import Robot, solve_pose

# -- freed axes, weights and tolerances --------------------------------------------------------

FREED = {
    'roll about z': ((1, 1, 1, 1, 1, 0), lambda g: pose(rotvec=(0, 0, g.uniform(-1, 1) * 6.28))),
    'along x and about z': ((0, 1, 1, 1, 1, 0), lambda g: pose((g.uniform(-50, 50), 0, 0)) @ pose(
        rotvec=(0, 0, g.uniform(-1, 1) * 6.28))),
    'in a plane': ((0, 0, 1, 1, 1, 1), lambda g: pose((*g.uniform(-50, 50, 2), 0))),
    'position only': ((1, 1, 1, 0, 0, 0), lambda g: pose(rotvec=g.uniform(-1, 1, 3) * 1.8)),
    'orientation only': ((0, 0, 0, 1, 1, 1), lambda g: pose(g.uniform(-100, 100, 3))),
    'one row of position': ((0, 1, 0, 0, 0, 0), lambda g: pose(
        (*g.uniform(-9, 9, 1), 0, 7), g.uniform(-1, 1, 3) * 1.8)),
    'unequal weights': ((10, 1, 0.1, 1, 0.3, 0), lambda g: pose(rotvec=(0, 0, g.uniform(-6, 6)))),
}


@pytest.mark.parametrize('robot_name, tip, solver', [
    ('ur5', 'tool0', 'lm'), ('panda', 'panda_hand_tcp', 'clik')])
@pytest.mark.parametrize('freed', FREED)
def test_freed_axes_may_be_far_off(load, judge_of, robot_name, tip, solver, freed):
    """The target is turned and moved along what is free: by up to a turn, by up to 100 m."""
    robot, judge = load(robot_name), judge_of(robot_name)
    weights, displace = FREED[freed]
    generator = np.random.default_rng(0)
    for _ in range(10):
        _, T = random_pose(robot, judge, tip, generator)
        target = T @ inverse(displace(generator))
        assert pose_error(T, target, weights) == pytest.approx((0, 0), abs=1e-7)
        solution = solve_pose(robot, tip, target, robot.random_q(generator), weights=weights,
                              timeout=60.0, solver=solver, random_state=0, collisions=False)
        check(judge, solution, [(tip, target, None, weights)])
        if weights[3:] == (1, 1, 0):     # the axis itself, judged without any logarithm
            z = judge.transform(solution.joints, tip)[:3, 2]
            assert np.linalg.norm(np.cross(z, target[:3, 2])) <= 1e-4
            assert z @ target[:3, 2] > 0


# -- met only within the tolerances ------------------------------------------------------------

TIP = 'panda_hand_tcp'
LOCKED = ('panda_joint3', 'panda_joint5')    # five joints are left: no pose is met exactly
ASKED = {'timeout': 1.0, 'group': 'arm', 'collisions': False}


def displaced(panda, judge, generator, moved, locked=LOCKED):
    """Give a target that is as far from where the tip can be as `moved` says."""
    joints = dict(zip(panda.joint_names, panda.random_q(generator), strict=True))
    rest = dict(zip(panda.joint_names, panda.neutral, strict=True))
    return judge.transform({**joints, **{name: rest[name] for name in locked}}, TIP) @ inverse(
        moved(generator))


def turned(most):
    def by(generator):
        axis = generator.normal(size=3)
        return pose(rotvec=axis / np.linalg.norm(axis) * generator.uniform(0.5, 0.95) * most)
    return by


def shifted(most):
    def by(generator):
        way = generator.normal(size=3)
        return pose(way / np.linalg.norm(way) * generator.uniform(0.5, 0.95) * most)
    return by


@pytest.mark.parametrize(('position', 'orientation', 'moved', 'weights'), [
    (1e-3, 0.3, turned(0.3), (1,) * 6), (0.05, 1e-3, shifted(0.05), (1,) * 6),
    (1e-3, 2e-2, turned(2e-2), (1,) * 6),
    (1e-3, 0.3, lambda g: pose(rotvec=(*(0.27 * np.sin([a := g.uniform(0, 6), a + 1.57])),
                                       g.uniform(-1, 1))), (1, 1, 1, 1, 1, 0))])
def test_only_within_the_tolerances(load, judge_of, position, orientation, moved, weights):
    panda, judge = load('panda'), judge_of('panda')
    generator = np.random.default_rng(3)
    for _ in range(10):
        target = displaced(panda, judge, generator, moved)
        solution = solve_pose(panda, TIP, target, locked=LOCKED, weights=weights, random_state=0,
                              position_tolerance=position, orientation_tolerance=orientation,
                              **ASKED)
        check(judge, solution, [(TIP, target, None, weights, position, orientation)])


def test_the_seed_alone_is_tried_with_them_too(load, judge_of):
    panda, judge = load('panda'), judge_of('panda')
    seed = {'panda_joint2': 0.3, 'panda_joint4': -1.8, 'panda_joint6': 1.7}
    near = {**dict.fromkeys(panda.joint_names, 0.0), **seed, 'panda_joint2': 0.4}
    target = judge.transform(near, TIP) @ pose(rotvec=(0.15, 0.05, 0))
    asked = {'locked': LOCKED, 'allow_restarts': False, 'position_tolerance': 1e-3, **ASKED}
    solution = solve_pose(panda, TIP, target, seed, orientation_tolerance=0.2, **asked)
    check(judge, solution, [(TIP, target, None, (1,) * 6, 1e-3, 0.2)])
    assert 0 < solution.travel.change < 0.5
    none = solve_pose(panda, TIP, target, seed, orientation_tolerance=0.01, **asked)
    assert not none.success and none.restarts == 1


@pytest.mark.parametrize('options', [{}, {'select': 'nearest', 'timeout': 0.1}])
@pytest.mark.parametrize('weights', [(1,) * 6, (1, 1, 1, 1, 1, 0)])
def test_an_arm_within_the_tolerances_stays(load, judge_of, options, weights):
    panda, judge = load('panda'), judge_of('panda')
    generator = np.random.default_rng(5)
    for _ in range(5):
        seed = panda.random_q(generator)
        target = judge.transform(dict(zip(panda.joint_names, seed, strict=True)), TIP) @ pose(
            (0.01, 0, 0), (0.15, 0.1, 0))
        solution = solve_pose(panda, TIP, target, seed, position_tolerance=0.02, weights=weights,
                              orientation_tolerance=0.2, **{**ASKED, **options})
        check(judge, solution, [(TIP, target, None, weights, 0.02, 0.2)])
        assert np.array_equal(solution.q, seed)


@pytest.mark.parametrize(('position', 'orientation'), [(5e-11, 0.1), (1e-12, 1e9)])
def test_one_tolerance_very_fine_and_one_loose(load, position, orientation):
    """A hundredth of the fine one was refused where the search came to look for the edge."""
    solution = solve_pose(load('panda'), TIP, pose((0.5, 0.1, 5.0)), position_tolerance=position,
                          orientation_tolerance=orientation, random_state=0,
                          **{**ASKED, 'timeout': 0.05})
    assert not solution.success


# -- relative to frames that stand still, move, or hang on the tip -----------------------------

ARM_JUDGE = TreeJudge(TWO_ARMS)


@pytest.mark.parametrize('tip, relative_to', [
    ('left_hand', 'base'), ('left_hand', 'chest'), ('left_hand', 'right_hand'),
    ('left_hand', 'left_a'), ('base', 'left_hand')])
def test_relative_to_frames_that_move_or_not(small, tip, relative_to):
    """What was asked holds in the answer, wherever the frame then is."""
    robot, generator = small('two_arms'), np.random.default_rng(0)
    for _ in range(8):
        _, T = random_pose(robot, ARM_JUDGE, tip, generator, relative_to)
        seed = robot.random_q(generator)
        solution = solve_pose(robot, tip, T, seed, relative_to=relative_to, timeout=1.0,
                              random_state=0)
        check(ARM_JUDGE, solution, [(tip, T, relative_to)])


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


# -- one target for each tip -------------------------------------------------------------------

TIPS = ['left_hand', 'right_hand']


def test_two_tips_each_with_its_own_frame_and_weights(small):
    robot, generator = small('two_arms'), np.random.default_rng(1)
    frames, weights = [None, 'left_hand'], [(1, 1, 1, 0, 0, 0), (1, 1, 0, 1, 1, 0)]
    for _ in range(5):
        joints = robot.to_joints(robot.random_q(generator))
        targets = [ARM_JUDGE.transform(joints, tip, frame)
                   for tip, frame in zip(TIPS, frames, strict=True)]
        targets[1] = targets[1] @ pose((0, 0, 20.0), (0, 0, 4.0))
        solution = solve_pose(robot, tuple(TIPS), tuple(targets), relative_to=frames,
                              weights=weights, timeout=2.0, random_state=0)
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
