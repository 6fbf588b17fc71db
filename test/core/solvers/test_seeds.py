"""Seeds, groups, locked joints, and the turn that is kept."""

from hypothesis import given, settings, strategies as st
from judge import check, random_pose, TreeJudge
import numpy as np
import pytest
from small_robots import joint, SMALL, urdf, X, Z

from ros2_ik.core import Configuration, IKProblem, InvalidStateError, PoseTarget, Robot, solve_pose
from ros2_ik.core.solvers.starts import chosen_turns


@pytest.mark.parametrize('seed', [None, {'s2': 99.0, 'elbow': 5.0}, [-9.0] * 7])
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


@pytest.mark.parametrize('solver', ['lm', 'sqp'])
def test_limits_that_do_not_count_do_not_bound_turns(load, solver):
    """Panda's joints turn by less than a whole turn, where that counts."""
    panda, rng = load('panda'), np.random.default_rng(5)
    for _ in range(10):
        q, seed = panda.random_q(rng), panda.random_q(rng)
        T = Configuration(panda, q).transform('panda_hand_tcp')
        solution = solve_pose(panda, 'panda_hand_tcp', T, seed, joint_limits=False, solver=solver,
                              collisions=False, timeout=1.0)
        assert np.abs(solution.q - seed)[:7].max() <= np.pi + 1e-9, solution


def test_turns_of_wide_revolute_joints_end_at_their_limits(load, judge_of):
    """UR5's wrists turn 2 pi each way; the answer is the nearest turn within."""
    robot, judge, generator = load('ur5'), judge_of('ur5'), np.random.default_rng(0)
    turned = 0
    for _ in range(15):
        seed = robot.random_q(generator)
        _, T = random_pose(robot, judge, 'tool0', generator)
        solution = solve_pose(robot, 'tool0', T, seed, timeout=1.0, random_state=0,
                              collisions=False)
        check(judge, solution, [('tool0', T)])
        for way in (-2 * np.pi, 2 * np.pi):
            for other in solution.q + way * np.eye(6):
                if (robot.lower <= other).all() and (other <= robot.upper).all():
                    turned += 1
                    assert np.linalg.norm(other - seed) >= np.linalg.norm(solution.q - seed)
    assert turned > 8


@pytest.mark.parametrize('multiplier, whole', [(-2.0, True), (0.5, False)])
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
