"""
Feasible random problems are never reported as infeasible.

Each problem is made from a known solution, confirmed by TreeJudge, python-fcl or the functions.
"""

from dataclasses import dataclass, field
from math import pi

import fcl
from judge import pose, pose_error, TreeJudge
import numpy as np
import pytest
from small_robots import joint, urdf

from ros2_ik.core import (
    Configuration,
    Constraint,
    FramePosition,
    IKProblem,
    JointCoupling,
    JointPositions,
    PoseTarget,
    Robot,
    solve,
    Status,
)
from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.scene import Box, Scene, SceneObject

NEW_SEED = None     # another seed in each run
SEEDS = [11, NEW_SEED]
EDGE = 0.999     # share of each tolerance and bound that the known solution needs
ONE_ITERATION = {'timeout': 5.0, 'max_iterations': 1, 'allow_restarts': False}


@dataclass
class SolvedProblem:
    """A robot, a configuration `q`, and a problem that q solves."""

    robot: Robot
    judge: TreeJudge
    q: np.ndarray
    targets: list = field(default_factory=list)
    constraints: list = field(default_factory=list)
    arguments: dict = field(default_factory=dict)
    options: dict = field(default_factory=dict)


def seeded_generator(seed):
    """Return a generator; print its seed, to reproduce a failed test."""
    entropy = np.random.SeedSequence(seed).entropy
    print('entropy', entropy)
    return np.random.default_rng(entropy)


def random_arm(rng):
    """Return a chain of one to four joints of all kinds, with mimic joints and a finger."""
    texts, links, leaders = [], ['base'], []
    for i in range(rng.integers(1, 5)):
        kind = str(rng.choice(['revolute', 'continuous', 'prismatic']))
        lower = float(rng.uniform(-4, 1))
        limits = None if kind == 'continuous' else (lower, lower + float(rng.uniform(0.1, 7)))
        mimic = None
        if leaders and rng.random() < 0.25:
            mimic = (str(rng.choice(leaders)), float(rng.choice([-2.0, 0.0, 0.5, 1.0])),
                     float(rng.uniform(-0.5, 0.5)))
            limits = None if kind == 'continuous' else (-100.0, 100.0)
        texts.append(joint(f'j{i}', kind, links[-1], f'l{i}', tuple(rng.uniform(-0.5, 0.5, 3)),
                           tuple(rng.uniform(-3, 3, 3)), tuple(rng.normal(size=3)), limits,
                           mimic=mimic))
        links.append(f'l{i}')
        leaders += [] if mimic else [f'j{i}']
    texts.append(joint('mount', 'fixed', links[-1], 'tip', tuple(rng.uniform(-2, 2, 3)),
                       tuple(rng.uniform(-3, 3, 3))))
    texts.append(joint('side', 'fixed', links[-1], 'finger', tuple(rng.uniform(-2, 2, 3))))
    return urdf(*texts)


def plain_numbers(text):
    """Replace representations of NumPy numbers in a text by plain ones."""
    return text.replace('np.float64(', '').replace(')', '')


def random_robot_and_solution(rng):
    """Return a random robot and q, up to two turns from zero for continuous joints."""
    text = plain_numbers(random_arm(rng))
    base = str(rng.choice(['fixed', 'fixed', 'fixed', 'planar', 'freeflyer']))
    robot = Robot.from_urdf(text, root_joint=base)
    q = robot.random_q(rng)
    for one in robot.joints:
        if one.kind == 'continuous':
            q[one.index] = rng.uniform(-12, 12)
        elif one.is_scalar and rng.random() < 0.3:      # at a finite limit, if any
            q[one.index] = rng.choice([limit for limit in (one.lower, one.upper, q[one.index])
                                       if np.isfinite(limit)])
    judge = TreeJudge(text, base)
    return SolvedProblem(robot, judge, q)


def joints_of(robot, q):
    """Return joint values by name for TreeJudge."""
    return {one.name: q[one.index] if one.size == 1 else q[one.index:one.index + one.size]
            for one in robot.joints}


def offset_within(rng, position, angle):
    """Return a pose just within a distance and an angle of the identity, in random directions."""
    shift, turn = rng.normal(size=(2, 3))
    return pose(EDGE * position * shift / np.linalg.norm(shift),
                EDGE * angle * turn / np.linalg.norm(turn))


def add_target(known, tip, rng):
    """Add a target pose whose tolerances q just meets."""
    position, angle = 10 ** rng.uniform(-6, 0.3), min(10 ** rng.uniform(-6, 1), 3.1)
    T = known.judge.transform(joints_of(known.robot, known.q), tip)
    wanted = T @ np.linalg.inv(offset_within(rng, position, angle))
    weights = np.ones(6)
    if rng.random() < 0.4:
        weights = rng.choice([0.0, 1.0, 3.0], 6)
        weights[rng.integers(6)] = 1.0
    error = pose_error(T, wanted, weights)
    assert error[0] <= position and error[1] <= angle
    known.targets.append(PoseTarget(tip, wanted, None, weights.tolist(), position, angle))


def add_joint_bounds(known, rng):
    """Add joint bounds that q meets, some by 1e-9 only."""
    single = [one for one in known.robot.joints if one.size == 1]
    if not single:
        return
    chosen = rng.permutation(len(single))[:rng.integers(1, len(single) + 1)]
    names, wrap = [single[i].name for i in chosen], bool(rng.random() < 0.7)
    reference = rng.uniform(-9, 9, len(names))
    f = np.array([known.q[single[i].index] for i in chosen]) - reference
    turning = [wrap and single[i].kind == 'continuous' for i in chosen]
    f[turning] = pi - (pi - f[turning]) % (2 * pi)
    low, high = rng.choice([1e-9, 0.1, 2.0, 7.0], (2, len(names)))
    known.constraints.append(Constraint(JointPositions(names, reference, wrap), f - low, f + high))


def add_position_bounds(known, rng):
    """Add bounds on a frame's position that q just meets."""
    function = FramePosition(*rng.choice(known.judge.links[-2:], 1).tolist())
    value = function.value(Configuration(known.robot, known.q))
    low, high = EDGE * rng.choice([0.0, 1e-3, 0.1, 1.0, np.inf], (2, 3))
    tolerance = float(rng.choice([1e-6, 1e-6, 0.01]))
    miss = rng.choice([-1, 0, 1]) * EDGE * tolerance if tolerance > 1e-6 else 0.0
    known.constraints.append(Constraint(
        function, value - low + miss, value + high + miss, tolerance=tolerance))


def add_coupling(known, rng):
    """Add bounds on linear combinations of joints that q meets, some by 1e-9 only."""
    single = [one for one in known.robot.joints if one.size == 1]
    if not single:
        return
    chosen = rng.permutation(len(single))[:rng.integers(1, len(single) + 1)]
    ratios = rng.choice([-2.0, -1.0, 0.0, 0.5, 1.0, 1.0], (rng.integers(1, 3), len(chosen)))
    value = ratios @ [known.q[single[i].index] for i in chosen]
    low, high = rng.choice([1e-9, 0.1, 2.0, np.inf], (2, len(ratios)))
    known.constraints.append(Constraint(
        JointCoupling([single[i].name for i in chosen], ratios), value - low, value + high))


def add_max_joint_change(known, rng):
    """Add a seed and max_joint_change that q just meets."""
    seed = known.q.copy()
    most = {}
    for one in known.robot.joints:
        if one.is_scalar:
            change = float(rng.choice([0.0, 0.3, 2.0, 9.0]))
            seed[one.index] += rng.choice([-1, 1]) * change * (1 - 1e-6)
            most[one.name] = change + 1e-9
    known.arguments['start'] = seed
    known.options.update(seeds=[seed], max_joint_change=most)


def random_problem(rng):
    """Return a random problem with a known solution."""
    known = random_robot_and_solution(rng)
    moved = known.robot.moving_joints('tip')
    if moved and rng.random() < 0.8:
        for tip in rng.choice(['tip', 'finger'], rng.integers(1, 4)):
            add_target(known, str(tip), rng)
    for add in (add_joint_bounds, add_coupling, add_position_bounds, add_position_bounds):
        for _ in range(rng.integers(0, 3)):
            add(known, rng)
    if rng.random() < 0.5:
        add_max_joint_change(known, rng)
    if rng.random() < 0.4 and known.robot.joint_names:
        count = rng.integers(1, len(known.robot.joint_names) + 1)
        locked = rng.choice(known.robot.joint_names, count, replace=False).tolist()
        if moved - set(locked):
            start = known.arguments.get('start', known.q).copy()
            for one in map(known.robot.joint, locked):
                part = slice(one.index, one.index + one.size)
                start[part] = known.q[part]
                known.options.get('max_joint_change', {}).pop(one.name, None)
            known.arguments.update(locked=locked, start=start)
    return known if known.targets or known.constraints else random_problem(rng)


@pytest.mark.parametrize(('seed', 'problems'), [(11, 150), (NEW_SEED, 75)])
def test_feasible_problem_is_never_reported_infeasible(seed, problems):
    rng = seeded_generator(seed)
    for count in range(problems):
        known = random_problem(rng)
        problem = IKProblem(known.robot, known.targets, constraints=known.constraints,
                            collisions=False, **known.arguments)
        found = solve(problem, random_state=0, **ONE_ITERATION, **known.options)
        assert not found.impossible, (count, found.message, known)
        assert found.status is not Status.GOAL_CONSTRAINTS_VIOLATED, (count, found.message)


def arm_with_tool(length, size, rng):
    """Return a planar arm and the offset (3,) of the box on its tool, of norm `length`."""
    offset = rng.normal(size=3)
    offset *= length / np.linalg.norm(offset)
    kinds = {'axis': (0, 0, 1), 'limits': (-3.0, 3.0)}
    text = urdf(joint('j1', 'revolute', 'base', 'x', **kinds),
                joint('j2', 'revolute', 'x', 'y', (0.5, 0, 0), **kinds),
                joint('j3', 'revolute', 'y', 'tool', (0.5, 0, 0), **kinds))
    box = (f'<collision><origin xyz="{" ".join(map(str, offset.tolist()))}"/><geometry>'
           f'<box size="{" ".join(map(str, size.tolist()))}"/></geometry></collision>')
    return Robot.from_urdf(text.replace('<link name="tool">', f'<link name="tool">{box}')), offset


def as_fcl(size, T):
    return fcl.CollisionObject(fcl.Box(*size), fcl.Transform(T[:3, :3], T[:3, 3]))


def contact_free_angle(T, offset, size, T_obstacle, obstacle, tolerance):
    """Return a turn of the tool within its tolerance without contact by fcl, or None."""
    for angle in np.linspace(-EDGE * tolerance, EDGE * tolerance, 41):
        turned = T @ pose(rotvec=(0, 0, angle))
        if not fcl.collide(as_fcl(size, turned @ pose(offset)), as_fcl(obstacle, T_obstacle),
                           fcl.CollisionRequest(), fcl.CollisionResult()):
            return angle
    return None


@pytest.mark.parametrize('seed', SEEDS)
def test_long_tool_that_can_turn_out_of_contact_is_not_reported_infeasible(seed):
    """A small turn within the tolerance moves the end of a long tool far."""
    rng, seen = seeded_generator(seed), {True: 0, False: 0}
    for count in range(40):
        size, obstacle = rng.uniform(0.05, 0.3, 3), rng.uniform(0.05, 0.9, 3)
        robot, offset = arm_with_tool(10 ** rng.uniform(-1, 1), size, rng)
        q = np.array([0.3, 0.5, 0.2])
        T = pose((0.5 * np.cos(0.3) + 0.5 * np.cos(0.8), 0.5 * np.sin(0.3) + 0.5 * np.sin(0.8),
                  0), (0, 0, 1.0))
        T_obstacle = T @ pose(offset + rng.uniform(-0.1, 0.1, 3), rng.uniform(-1, 1, 3))
        tolerance = float(10 ** rng.uniform(-3, 0))
        scene = Scene(robot).add(SceneObject('thing', [Box(obstacle.tolist())], T_obstacle))
        problem = IKProblem(robot, PoseTarget('tool', T, None, [1] * 6, 1e-3, tolerance), start=q,
                            checker=CollisionChecker(robot, scene))
        found = solve(problem, timeout=5.0, max_iterations=40, random_state=0)
        free = contact_free_angle(T, offset, size, T_obstacle, obstacle, tolerance)
        assert not (found.impossible and free is not None), (count, free, found.message)
        seen[found.impossible] += 1
    assert seen[True] > 3 and seen[False] > 3, seen


def test_cancelled_search_with_all_joints_locked_is_not_reported_infeasible():
    robot = Robot.from_urdf(plain_numbers(random_arm(np.random.default_rng(3))))
    problem = IKProblem(robot, constraints=[Constraint(JointPositions(), -20, 20)],
                        locked=robot.joint_names, collisions=False)
    found = solve(problem, cancel=lambda: True)
    assert found.status is Status.PREEMPTED and not found.impossible
    assert solve(problem).success


def test_joint_bounds_are_solved_on_any_turn_of_a_continuous_joint():
    """The turn need not be the one nearest to the start."""
    robot = Robot.from_urdf(urdf(joint('j1', 'continuous', 'base', 'x', axis=(0, 0, 1))))
    for reference, lower, upper, start, answer in (
            (4.611281068812049, -0.1276, 1.8723, 1.6051719742874884, 0.0),
            (0.0, 3.0, 3.1, 0.0, 3.05 - 2 * pi)):
        f = pi - (pi - (answer - reference)) % (2 * pi)
        assert lower <= f <= upper
        most = abs(answer - start) + 1e-6
        wanted = Constraint(JointPositions(['j1'], [reference]), lower, upper)
        found = solve(IKProblem(robot, constraints=[wanted], collisions=False, start=[start]),
                      timeout=5.0, max_iterations=300, random_state=0, max_joint_change=most)
        assert found.success, found.message
