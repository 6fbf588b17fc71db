"""Seeds, groups, locked joints, and the turn that is kept."""

from hypothesis import given, settings, strategies as st
from judge import check, pose_error, random_pose, TreeJudge
import numpy as np
import pytest
from small_robots import joint, SMALL, TWO_ARMS, urdf, X, Z

from ros2_ik.core import (
    Configuration,
    IKProblem,
    InvalidStateError,
    PoseTarget,
    Robot,
    solve_pose,
)
from ros2_ik.core.solvers.starts import chosen_turns

ARM_JUDGE = TreeJudge(TWO_ARMS)


def test_group_and_locked_joints_stay_exactly(load, judge_of):
    robot, judge, generator = load('baxter'), judge_of('baxter'), np.random.default_rng(0)
    arm = robot.group('left_arm').joint_names
    for _ in range(10):
        start = robot.to_joints(robot.random_q(generator))
        goal = {**start, **{n: robot.to_joints(robot.random_q(generator))[n] for n in arm}}
        T = judge.transform(goal, 'left_gripper')
        solution = solve_pose(robot, 'left_gripper', T, start, group='left_arm', timeout=1.0,
                              random_state=0, collisions=False)
        others = [name for name in robot.joint_names if name not in arm]
        check(judge, solution, [('left_gripper', T)], start, others)
        goal['left_e0'] = start['left_e0']
        T = judge.transform(goal, 'left_gripper')
        solution = solve_pose(robot, 'left_gripper', T, start, group='left_arm', timeout=1.0,
                              locked=['left_e0'], random_state=0, collisions=False)
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


def test_a_seed_outside_the_limits_is_named(small):
    robot = small('zero_links')
    T = Configuration(robot, robot.neutral).transform('tip')
    solution = solve_pose(robot, 'tip', T, {'elbow': -120.0}, timeout=1.0, random_state=0)
    assert "the seed had 'elbow' at -120 rad, outside the limits" in solution.message
    assert 'the seed had' not in solve_pose(robot, 'tip', T, timeout=1.0).message


def test_a_seed_of_the_wrong_length_names_the_joints(small):
    robot = small('planar_2r')
    with pytest.raises(InvalidStateError, match='seed takes 2 values, 3 given; in this order: '
                       + ', '.join(robot.joint_names)):
        solve_pose(robot, 'tip', np.eye(4), [0.0] * 3)


def test_a_seed_that_is_the_answer_is_the_answer(load, judge_of):
    robot, generator = load('panda'), np.random.default_rng(0)
    for _ in range(5):
        q = robot.random_q(generator)
        T = Configuration(robot, q).transform('panda_hand_tcp')
        solution = solve_pose(robot, 'panda_hand_tcp', T, q, collisions=False)
        assert solution.success and solution.iterations == 0
        np.testing.assert_array_equal(solution.q, q)


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


@pytest.mark.parametrize('sign', [1, -1])
def test_a_turn_ends_within_the_limits_to_the_last_bit(sign):
    """From within a hair of one limit, with a seed at the other one, a full turn away."""
    robot = Robot.from_urdf(urdf(joint('j', 'revolute', 'base', 'tip', axis=Z,
                                       limits=(-np.pi, np.pi))))
    problem = IKProblem(robot, PoseTarget('tip', np.eye(4)))
    seed, start = np.array([sign * np.pi]), np.array([-sign * np.pi])
    for _ in range(12):
        kept = chosen_turns(problem, start, seed)
        assert abs(kept[0]) <= np.pi
        start = np.nextafter(start, 0.0)


TURNING_TEXT = urdf(joint('table', 'continuous', 'base', 'arm', xyz=(0, 0, 1), axis=(0, 0.6, 0.8)))
TURNING, TURNING_JUDGE = Robot.from_urdf(TURNING_TEXT), TreeJudge(TURNING_TEXT)


def test_seven_radians_stay_seven():
    T = TURNING_JUDGE.transform({'table': 7.0}, 'arm')
    assert solve_pose(TURNING, 'arm', T, {'table': 7.0}).joints == {'table': 7.0}


@pytest.mark.parametrize('solver', ['auto', 'lm', 'sqp'])
def test_limits_that_do_not_count_do_not_bound_turns(load, solver):
    """Panda's joints turn by less than a whole turn, where that counts."""
    panda, rng = load('panda'), np.random.default_rng(5)
    for _ in range(20):
        q, seed = panda.random_q(rng), panda.random_q(rng)
        T = Configuration(panda, q).transform('panda_hand_tcp')
        solution = solve_pose(panda, 'panda_hand_tcp', T, seed, joint_limits=False, solver=solver,
                              collisions=False, timeout=1.0)
        assert np.abs(solution.q - seed)[:7].max() <= np.pi + 1e-9, solution


def test_turns_of_wide_revolute_joints_end_at_their_limits(load, judge_of):
    """UR5's wrists turn 2 pi each way; the answer is the nearest turn within."""
    robot, judge, generator = load('ur5'), judge_of('ur5'), np.random.default_rng(0)
    turned = 0
    for _ in range(40):
        seed = robot.random_q(generator)
        _, T = random_pose(robot, judge, 'tool0', generator)
        solution = solve_pose(robot, 'tool0', T, seed, timeout=1.0, random_state=0,
                              collisions=False)
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
        solution = solve_pose(robot, tip, T, seed, timeout=1.0, random_state=0, collisions=False)
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
