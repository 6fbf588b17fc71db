"""
Feasible random problems are never reported as infeasible.

Each problem is made from a solution, which TreeJudge, python-fcl and the functions confirm.
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

FRESH = None     # new each time
SEEDS = [11, FRESH]
EDGE = 0.999     # questions ask for so much of what their answer just meets
BARE = {'timeout': 5.0, 'max_iterations': 1, 'allow_restarts': False}


@dataclass
class Witnessed:
    """A robot, a solution `q`, and a problem that q solves."""

    robot: Robot
    judge: TreeJudge
    q: np.ndarray
    targets: list = field(default_factory=list)
    constraints: list = field(default_factory=list)
    arguments: dict = field(default_factory=dict)
    options: dict = field(default_factory=dict)


def generator_of(seed):
    """Return a generator, and print its seed for failed tests."""
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


def numbers(text):
    """Convert NumPy values to plain Python."""
    return text.replace('np.float64(', '').replace(')', '')


def witnessed(rng):
    """Return a random robot and solution, many turns from zero for continuous joints."""
    text = numbers(random_arm(rng))
    base = str(rng.choice(['fixed', 'fixed', 'fixed', 'planar', 'freeflyer']))
    robot = Robot.from_urdf(text, root_joint=base)
    q = robot.random_q(rng)
    for one in robot.joints:
        if one.kind == 'continuous':
            q[one.index] = rng.uniform(-12, 12)
        elif one.is_scalar and rng.random() < 0.3:      # at a limit, where it has one
            q[one.index] = rng.choice([limit for limit in (one.lower, one.upper, q[one.index])
                                       if np.isfinite(limit)])
    judge = TreeJudge(text, base)
    return Witnessed(robot, judge, q)


def joints_of(robot, q):
    """Return joint values by name for TreeJudge."""
    return {one.name: q[one.index] if one.size == 1 else q[one.index:one.index + one.size]
            for one in robot.joints}


def small_pose(rng, far, turned):
    """Return a pose error just within the tolerances, in a random direction."""
    push, turn = rng.normal(size=(2, 3))
    return pose(EDGE * far * push / np.linalg.norm(push),
                EDGE * turned * turn / np.linalg.norm(turn))


def add_target(asked, tip, rng):
    """Add a target pose that q misses by the full tolerances."""
    far, turned = 10 ** rng.uniform(-6, 0.3), min(10 ** rng.uniform(-6, 1), 3.1)
    T = asked.judge.transform(joints_of(asked.robot, asked.q), tip)
    wanted = T @ np.linalg.inv(small_pose(rng, far, turned))
    weights = np.ones(6)
    if rng.random() < 0.4:
        weights = rng.choice([0.0, 1.0, 3.0], 6)
        weights[rng.integers(6)] = 1.0
    error = pose_error(T, wanted, weights)
    assert error[0] <= far and error[1] <= turned
    asked.targets.append(PoseTarget(tip, wanted, None, weights.tolist(), far, turned))


def add_positions(asked, rng):
    """Add joint bounds with q at their edges."""
    single = [one for one in asked.robot.joints if one.size == 1]
    if not single:
        return
    chosen = rng.permutation(len(single))[:rng.integers(1, len(single) + 1)]
    names, wrap = [single[i].name for i in chosen], bool(rng.random() < 0.7)
    reference = rng.uniform(-9, 9, len(names))
    f = np.array([asked.q[single[i].index] for i in chosen]) - reference
    turning = [wrap and single[i].kind == 'continuous' for i in chosen]
    f[turning] = pi - (pi - f[turning]) % (2 * pi)
    low, high = rng.choice([1e-9, 0.1, 2.0, 7.0], (2, len(names)))
    asked.constraints.append(Constraint(JointPositions(names, reference, wrap), f - low, f + high))


def add_place(asked, rng):
    """Add bounds on a frame's position that q just meets; those of one frame are compared."""
    function = FramePosition(*rng.choice(asked.judge.links[-2:], 1).tolist())
    value = function.value(Configuration(asked.robot, asked.q))
    low, high = EDGE * rng.choice([0.0, 1e-3, 0.1, 1.0, np.inf], (2, 3))
    tolerance = float(rng.choice([1e-6, 1e-6, 0.01]))
    miss = rng.choice([-1, 0, 1]) * EDGE * tolerance if tolerance > 1e-6 else 0.0
    asked.constraints.append(Constraint(
        function, value - low + miss, value + high + miss, tolerance=tolerance))


def add_coupling(asked, rng):
    """Add linear joint relations that q just meets."""
    single = [one for one in asked.robot.joints if one.size == 1]
    if not single:
        return
    chosen = rng.permutation(len(single))[:rng.integers(1, len(single) + 1)]
    ratios = rng.choice([-2.0, -1.0, 0.0, 0.5, 1.0, 1.0], (rng.integers(1, 3), len(chosen)))
    value = ratios @ [asked.q[single[i].index] for i in chosen]
    low, high = rng.choice([1e-9, 0.1, 2.0, np.inf], (2, len(ratios)))
    asked.constraints.append(Constraint(
        JointCoupling([single[i].name for i in chosen], ratios), value - low, value + high))


def add_bound(asked, rng):
    """Add bounds of joint changes from a seed that q just meets."""
    seed = asked.q.copy()
    most = {}
    for one in asked.robot.joints:
        if one.is_scalar:
            change = float(rng.choice([0.0, 0.3, 2.0, 9.0]))
            seed[one.index] += rng.choice([-1, 1]) * change * (1 - 1e-6)
            most[one.name] = change + 1e-9
    asked.arguments['start'] = seed
    asked.options.update(seeds=[seed], max_joint_change=most)


def question(rng):
    """Return a random problem with a solution."""
    asked = witnessed(rng)
    moved = asked.robot.moving_joints('tip')
    if moved and rng.random() < 0.8:
        for tip in rng.choice(['tip', 'finger'], rng.integers(1, 4)):
            add_target(asked, str(tip), rng)
    for add in (add_positions, add_coupling, add_place, add_place):
        for _ in range(rng.integers(0, 3)):
            add(asked, rng)
    if rng.random() < 0.5:
        add_bound(asked, rng)
    if rng.random() < 0.4 and asked.robot.joint_names:
        count = rng.integers(1, len(asked.robot.joint_names) + 1)
        locked = rng.choice(asked.robot.joint_names, count, replace=False).tolist()
        if moved - set(locked):
            start = asked.arguments.get('start', asked.q).copy()
            for one in map(asked.robot.joint, locked):
                part = slice(one.index, one.index + one.size)
                start[part] = asked.q[part]
                asked.options.get('max_joint_change', {}).pop(one.name, None)
            asked.arguments.update(locked=locked, start=start)
    return asked if asked.targets or asked.constraints else question(rng)


@pytest.mark.parametrize(('seed', 'questions'), [(11, 150), (FRESH, 75)])
def test_feasible_problem_is_never_reported_infeasible(seed, questions):
    rng = generator_of(seed)
    for count in range(questions):
        asked = question(rng)
        problem = IKProblem(asked.robot, asked.targets, constraints=asked.constraints,
                            collisions=False, **asked.arguments)
        found = solve(problem, random_state=0, **BARE, **asked.options)
        assert not found.impossible, (count, found.message, asked)
        assert found.status is not Status.GOAL_CONSTRAINTS_VIOLATED, (count, found.message)


def tool_robot(length, size, rng):
    """Return a planar arm with a box at `length` from its last frame, on an oblique axis."""
    at = rng.normal(size=3)
    at *= length / np.linalg.norm(at)
    kinds = {'axis': (0, 0, 1), 'limits': (-3.0, 3.0)}
    text = urdf(joint('j1', 'revolute', 'base', 'x', **kinds),
                joint('j2', 'revolute', 'x', 'y', (0.5, 0, 0), **kinds),
                joint('j3', 'revolute', 'y', 'tool', (0.5, 0, 0), **kinds))
    box = (f'<collision><origin xyz="{" ".join(map(str, at.tolist()))}"/><geometry>'
           f'<box size="{" ".join(map(str, size.tolist()))}"/></geometry></collision>')
    return Robot.from_urdf(text.replace('<link name="tool">', f'<link name="tool">{box}')), at


def as_fcl(size, T):
    return fcl.CollisionObject(fcl.Box(*size), fcl.Transform(T[:3, :3], T[:3, 3]))


def turned_free(T, at, size, there, thing, tolerance):
    """Return the smallest turn of the tool without contact by fcl, or None."""
    for angle in np.linspace(-EDGE * tolerance, EDGE * tolerance, 41):
        turned = T @ pose(rotvec=(0, 0, angle))
        if not fcl.collide(as_fcl(size, turned @ pose(at)), as_fcl(thing, there),
                           fcl.CollisionRequest(), fcl.CollisionResult()):
            return angle
    return None


@pytest.mark.parametrize('seed', SEEDS)
def test_long_tool_that_can_turn_out_of_contact_is_not_infeasible(seed):
    """Small orientation tolerances move a long tool far."""
    rng, seen = generator_of(seed), {True: 0, False: 0}
    for count in range(40):
        size, thing = rng.uniform(0.05, 0.3, 3), rng.uniform(0.05, 0.9, 3)
        robot, at = tool_robot(10 ** rng.uniform(-1, 1), size, rng)
        q = np.array([0.3, 0.5, 0.2])
        T = pose((0.5 * np.cos(0.3) + 0.5 * np.cos(0.8), 0.5 * np.sin(0.3) + 0.5 * np.sin(0.8),
                  0), (0, 0, 1.0))
        there = T @ pose(at + rng.uniform(-0.1, 0.1, 3), rng.uniform(-1, 1, 3))
        tolerance = float(10 ** rng.uniform(-3, 0))
        scene = Scene(robot).add(SceneObject('thing', [Box(thing.tolist())], there))
        problem = IKProblem(robot, PoseTarget('tool', T, None, [1] * 6, 1e-3, tolerance), start=q,
                            checker=CollisionChecker(robot, scene))
        found = solve(problem, timeout=5.0, max_iterations=40, random_state=0)
        free = turned_free(T, at, size, there, thing, tolerance)
        assert not (found.impossible and free is not None), (count, free, found.message)
        seen[found.impossible] += 1
    assert seen[True] > 3 and seen[False] > 3, seen


def test_cancelled_search_of_locked_joints_is_not_infeasible():
    robot = Robot.from_urdf(numbers(random_arm(np.random.default_rng(3))))
    problem = IKProblem(robot, constraints=[Constraint(JointPositions(), -20, 20)],
                        locked=robot.joint_names, collisions=False)
    found = solve(problem, cancel=lambda: True)
    assert found.status is Status.PREEMPTED and not found.impossible
    assert solve(problem).success


def test_bounded_range_considers_each_turn_of_a_continuous_joint():
    """Not only the turn nearest the start."""
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
