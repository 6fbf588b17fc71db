"""Thousands of random poses: what is claimed is true, and reachable poses are found."""

from collections import Counter
from math import cos, hypot, pi, sin

from judge import check, TreeJudge
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ros2_ik.core import Configuration, IKProblem, PoseTarget, shipped_robots, solve, solve_pose

# Closed forms of the tips: (x, y, z, yaw) from q; all these robots turn about z only.
FORMS = {
    'one_joint': lambda q: (0.7 * cos(q[0]), 0.7 * sin(q[0]), 0.1, q[0]),
    'planar_2r': lambda q: (0.5 * cos(q[0]) + 0.4 * cos(q[0] + q[1]),
                            0.5 * sin(q[0]) + 0.4 * sin(q[0] + q[1]), 0.0, q[0] + q[1]),
    'scara': lambda q: (0.4 * cos(q[0]) + 0.3 * cos(q[0] + q[1]),
                        0.4 * sin(q[0]) + 0.3 * sin(q[0] + q[1]), 0.3 + q[2],
                        q[0] + q[1] + q[3]),
    'gantry': lambda q: (q[0], q[1], -q[2], 0.0),
}
LIMITS = {
    'one_joint': ((-1.5,), (2.5,)), 'planar_2r': ((-pi, -2.8), (pi, 2.8)),
    'scara': ((-2.0, -2.4, -0.2, -2 * pi), (2.0, 2.4, 0.05, 2 * pi)),
    'gantry': ((-1.0, 0.5, -0.5), (1.0, 1.5, 0.0)),
}


def matrix(x, y, z, yaw):
    """Give the pose at a place, turned about z."""
    return np.array([[cos(yaw), -sin(yaw), 0, x], [sin(yaw), cos(yaw), 0, y], [0, 0, 1, z],
                     [0, 0, 0, 1.0]])


def random_weights(generator):
    """All ones, or some axes freed."""
    if generator.random() < 0.5:
        return (1,) * 6
    weights = generator.choice([0.0, 0.3, 1.0, 4.0], 6, p=[0.4, 0.1, 0.4, 0.1])
    return tuple(weights) if weights.any() else (0, 0, 1, 0, 0, 0)


def random_target(generator, form, lower, upper):
    """Give a pose that is reached, nearly reached, or anywhere; turned and moved off its axes."""
    T = matrix(*form(generator.uniform(lower, upper)))
    kind = generator.integers(4)
    if kind == 1:
        T[:3, 3] += generator.normal(size=3) * 10.0 ** -generator.integers(1, 8)
    elif kind == 2:
        T[:3, :3] = Rotation.random(random_state=int(generator.integers(2**31))).as_matrix()
    elif kind == 3:
        T[:3, :3] = T[:3, :3] @ Rotation.from_rotvec(
            generator.normal(size=3) * 10.0 ** -generator.integers(0, 7)).as_matrix()
    return T


def holds(form, q, target):
    """Judge q by closed form and scipy."""
    T, T_target = matrix(*form(q)), target.T
    R = T_target[:3, :3].T
    p = (R @ (T[:3, 3] - T_target[:3, 3]))[target.counted[:3]]
    w = Rotation.from_matrix(R @ T[:3, :3]).as_rotvec()[target.counted[3:]]
    return (hypot(*p) <= target.tolerances[0] and hypot(*w) <= target.tolerances[1])


class Target:
    """What was asked, as the judge needs it."""

    def __init__(self, T, weights, tolerances):
        self.T, self.counted, self.tolerances = T, np.array(weights) > 0, tolerances


@pytest.mark.parametrize('name', FORMS)
def test_success_and_failure_agree_with_closed_forms(small, name):
    robot, form, count = small(name), FORMS[name], 500
    lower, upper = (np.array(limit) for limit in LIMITS[name])
    generator, found = np.random.default_rng(99), Counter()
    for i in range(count):
        weights = random_weights(generator)
        tolerances = 10.0 ** -generator.integers(1, 7), 10.0 ** -generator.integers(1, 7)
        target = Target(random_target(generator, form, lower, upper), weights, tolerances)
        seed = generator.uniform(lower - 1, upper + 1)
        asked = IKProblem(robot, [PoseTarget('tip', target.T, None, weights, *tolerances)])
        solver = 'clik' if i % 10 == 0 else 'lm'
        solution = solve(asked, [seed], timeout=1.0, max_iterations=15, random_state=i,
                         solver=solver)
        found[solution.success] += 1
        answers = [solution, *solution.alternatives] if solution.success else []
        for answer in answers:
            assert (lower <= answer.q).all() and (answer.q <= upper).all()
            assert holds(form, answer.q, target), (i, answer.explain())
        if not solution.success:
            assert solution.q is None and solution.joints is None
            assert (lower <= solution.best_q).all() and (solution.best_q <= upper).all()
            assert not holds(form, solution.best_q, target), (i, solution.explain())
    assert found[True] > 0.32 * count and found[False] > 0.12 * count


def test_the_closed_forms_are_right(small):
    """They and the library were written by different hands."""
    from ros2_ik.core import Configuration
    for name, form in FORMS.items():
        q = small(name).random_q(np.random.default_rng(0))
        np.testing.assert_allclose(Configuration(small(name), q).transform('tip'),
                                   matrix(*form(q)), atol=1e-15)
        assert (small(name).lower == LIMITS[name][0]).all()


# -- arms --------------------------------------------------------------------------------------

# Baxter's tip moves with its left arm only: no group is needed.
ARMS = ['panda', 'ur5', 'xarm7', 'baxter', 'kinova']


@pytest.mark.parametrize('name', ARMS)
def test_300_reachable_poses_of_each_arm_are_solved(load, judge_of, name):
    """Each in 2000 iterations, some 50 ms; the clock would also measure the machine."""
    robot, judge, tip = load(name), judge_of(name), shipped_robots()[name].tip
    generator = np.random.default_rng(2024)
    for i in range(300):
        goal = robot.to_joints(robot.random_q(generator))
        start = robot.random_q(generator)
        T = judge.transform(goal, tip)
        solution = solve_pose(robot, tip, T, start, timeout=60.0, max_iterations=2000,
                              random_state=i, collisions=False)
        check(judge, solution, [(tip, T)])
        moving = robot.moving_joints(tip)
        assert all(solution.joints[j.name] == start[j.index] for j in robot.joints
                   if j.name not in moving)


@pytest.mark.parametrize('name', ARMS)
def test_poses_with_joints_on_their_limits_are_solved(load, judge_of, name):
    """Poses that are reached only with joints exactly on their limits."""
    robot, judge, tip = load(name), judge_of(name), shipped_robots()[name].tip
    generator = np.random.default_rng(0)
    for i in range(15):
        q = robot.random_q(generator)
        on = (generator.random(robot.nq) < 0.5) & np.isfinite(robot.upper)
        q[on] = np.where(generator.random(robot.nq) < 0.5, robot.lower, robot.upper)[on]
        T = judge.transform(robot.to_joints(q), tip)
        solution = solve_pose(robot, tip, T, np.clip(q + 0.05, robot.lower, robot.upper),
                              timeout=2.0, random_state=i, collisions=False)
        check(judge, solution, [(tip, T)])


# -- humanoids of forty joints and more, several tips at once ----------------------------------

TALOS = ['gripper_left_base_link', 'gripper_right_base_link', 'left_sole_link', 'right_sole_link']


def targets_of(judge, joints, tips, frame=None):
    """Give poses that the tips have together."""
    return [judge.transform(joints, tip, frame) for tip in tips]


def near(robot, q, generator, size):
    """Give a configuration some way off, within the limits; a base stays."""
    other = q.copy()
    for j in robot.joints:
        if j.is_scalar:
            other[j.index] += size * generator.uniform(-1, 1)
    return np.clip(other, robot.lower, robot.upper)


def test_four_tips_of_a_humanoid_with_a_free_base_are_solved(load, home_of):
    """Feet where they are, hands elsewhere: the trunk moves."""
    robot = load('talos', 'freeflyer')
    judge = TreeJudge(robot.urdf, 'freeflyer', (robot.joint_names[0], robot.root_frame))
    generator = np.random.default_rng(1)
    home = robot.to_q(home_of('talos'))
    for i in range(8):
        q = Configuration(robot, near(robot, home, generator, 0.3)).integrate(
            [*generator.uniform(-0.2, 0.2, 6), *np.zeros(robot.nv - 6)])
        targets = targets_of(judge, robot.to_joints(q), TALOS)
        solution = solve_pose(robot, TALOS, targets, home, timeout=3.0, random_state=i,
                              collisions=False)
        check(judge, solution, list(zip(TALOS, targets, strict=True)))
        assert np.linalg.norm(solution.q[3:7]) == pytest.approx(1.0, abs=1e-12)
