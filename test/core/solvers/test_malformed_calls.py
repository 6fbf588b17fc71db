"""Random malformed calls return a solution or raise an IKError, never another exception."""

from collections import Counter
from dataclasses import fields
import random

import numpy as np
import pinocchio as pin
import pytest

from ros2_ik.core import (
    CollisionChecker,
    Configuration,
    FramePose,
    IKError,
    IKProblem,
    IKSolution,
    PoseTarget,
    Robot,
    solve,
    solve_pose,
    SolveOptions,
)
from ros2_ik.core.internals import Search
from ros2_ik.core.request import IKRequest, prepare, World

T = np.eye(4)
T[:3, 3] = 0.5, 0.1, 0.3
NAN, INF = float('nan'), float('inf')

MALFORMED = [
    None, True, False, 0, 1, -1, 2, 3.5, -2.5, NAN, INF, -INF, 10**400, -10**30, 1e308, 1j, '',
    'tip', 'base', 'elbow', 'lm', 'clik', 'first', 'x', '0', '\0', '\ud800', '<robot/>', b'tip',
    (), [], {}, set(), (1,), [1, 2, 3, 4], [0.1] * 6, (1,) * 6, [[1]], [[]], [None], ['tip'],
    ['tip', 'base'], {'elbow': 0.3}, {'elbow': NAN}, {'elbow': 'a'}, {'elbow': None}, {1: 2},
    {'tip': T}, {'lift': [0.1]}, np.zeros(4), np.zeros(0), np.zeros((2, 2)), np.zeros((4, 4)),
    np.eye(4), np.eye(3), T, [T], [T, T], (T,), T.tolist(), np.full((4, 4), NAN), T * 2, T * 1j,
    T.astype(object), np.array(['tip']), np.array(None), np.float32(0.5), np.int64(3),
    np.array(0.5), np.array([1, 'a'], dtype=object), np.nan * np.ones(4), np.ones((4, 1)),
    pin.SE3.Identity(), pin.SE3.Random(), object(), object, len, print, lambda: None,
    lambda *a: True, Exception, range(4), range(6), iter([1, 2]), (i for i in range(3)),
    slice(1), ..., NotImplemented, bytearray(4), memoryview(b'abcd'), frozenset(['tip']),
    np.random.default_rng(0), 'auto', 'nearest', 1e-3, 'tippp', ['elbow'], ('elbow',),
    complex(NAN),
]


def bad(generator):
    """Return a random value, malformed for most arguments."""
    return generator.choice(MALFORMED)


SOLVER_OPTIONS = ['damping', 'attempt_iterations', 'eps', 'dt', 'damp', 'it_max', 'unknown']
OPTIONS = ['seed', 'relative_to', 'group', 'locked', 'timeout', 'weights', 'position_tolerance',
           'orientation_tolerance', 'allow_restarts', 'solver', 'select', 'solutions',
           'random_state', 'max_iterations', 'cancel', *SOLVER_OPTIONS]
BUDGET = {'timeout': 0.002, 'max_iterations': 20}     # [s], iterations


def random_options(generator, names):
    """Return a small budget and one to three random options."""
    chosen = generator.sample(names, generator.randint(1, 3))
    options = {**BUDGET, **{name: bad(generator) for name in chosen}}
    for name, value in BUDGET.items():      # a large budget is valid, but slow
        if isinstance(options[name], (int, float, np.number)) and options[name] > value:
            options[name] = value
    return options


def call_solve_pose(robot, generator):
    tip, target = 'tip', T
    if generator.random() < 0.5:
        tip = bad(generator)
    if generator.random() < 0.5:
        target = bad(generator)
    return solve_pose(robot, tip, target, **random_options(generator, OPTIONS))


def call_search(robot, generator):
    problem = IKProblem(robot, [PoseTarget('tip', T)])
    names = [n for n in OPTIONS if n not in ('seed', 'relative_to', 'group', 'locked', 'weights',
                                             'position_tolerance', 'orientation_tolerance')]
    seeds = generator.choice([None, bad(generator), [bad(generator)], [{}, bad(generator)]])
    if generator.random() < 0.5:
        return solve(problem, seeds, **random_options(generator, names))
    options = random_options(generator, names)
    for name in ('timeout', 'max_iterations', 'cancel'):
        options.pop(name, None)
    solver_options = {name: options.pop(name) for name in SOLVER_OPTIONS if name in options}
    return Search(problem, seeds, **options, solver_options=solver_options)


def call_configuration(robot, generator):
    at = Configuration(robot)
    call = generator.choice([
        lambda: Configuration(robot, bad(generator)), lambda: at.update(bad(generator)),
        lambda: at.transform(bad(generator)),
        lambda: at.transform('tip', bad(generator)), lambda: at.jacobian(bad(generator)),
        lambda: at.jacobian('tip', bad(generator)), lambda: at.difference(bad(generator)),
        lambda: at.integrate(bad(generator)), lambda: at.integrate_inplace(bad(generator)),
        lambda: at.integrate(np.ones(4), bad(generator)),
        lambda: FramePose(bad(generator), T).value(at), lambda: FramePose('tip', bad(generator))])
    return call()


def call_robot(robot, generator):
    call = generator.choice([
        lambda: robot.to_q(bad(generator)), lambda: robot.to_q({'elbow': bad(generator)}),
        lambda: robot.to_q({}, start=bad(generator)), lambda: robot.joint(bad(generator)),
        lambda: robot.group(bad(generator)), lambda: robot.frame_id(bad(generator)),
        lambda: robot.moving_joints(bad(generator)), lambda: Robot.load(bad(generator)),
        lambda: robot.to_joints(robot.neutral, [bad(generator)]),
        lambda: Robot.load('ur5', bad(generator))])
    return call()


def call_checker(robot, generator):
    checker = CollisionChecker(robot)
    call = generator.choice([
        lambda: checker.collides(bad(generator)), lambda: checker.in_collision(bad(generator)),
        lambda: checker.distances(robot.neutral, bad(generator)),
        lambda: CollisionChecker(robot, bad(generator)), lambda: CollisionChecker(bad(generator)),
        lambda: CollisionChecker(robot, meshes=bad(generator)),
        lambda: IKProblem(robot, PoseTarget('tip', T), change_bound=bad(generator))])
    return call()


def call_request(robot, generator):
    options = {field.name: bad(generator) for field in generator.sample(
        fields(SolveOptions), generator.randint(1, 2))}
    request = IKRequest([PoseTarget('tip', T)], options=SolveOptions(**options))
    return prepare(request, World(robot))


CALLS = {'checker': (call_checker, 500), 'request': (call_request, 1000),
         'solve_pose': (call_solve_pose, 1500), 'solve': (call_search, 1000),
         'configuration': (call_configuration, 500), 'robot': (call_robot, 350)}


@pytest.mark.filterwarnings('error')
@pytest.mark.parametrize('interface', CALLS)
def test_malformed_calls_raise_only_ik_errors(small, interface):
    call, count = CALLS[interface]
    generator, seen = random.Random(interface), Counter()
    for _ in range(count):
        try:
            answer = call(small('scara'), generator)
        except IKError as error:
            assert len(str(error)) < 3000 and str(error)
            seen['refused'] += 1
        except Exception as error:
            seen[f'{type(error).__name__}: {error}'[:150]] += 1
        else:
            seen['answered'] += 1
            if isinstance(answer, IKSolution):
                assert answer.success == (answer.q is not None)
    refused, answered = seen.pop('refused', 0), seen.pop('answered', 0)
    assert not seen, '\n'.join(f'{count} x {text}' for text, count in seen.most_common())
    assert refused > count / 10 and refused + answered == count
