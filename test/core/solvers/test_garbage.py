"""Random malformed calls: a solution or an IKError, never another exception."""

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

GARBAGE = [
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


def one(generator):
    """Return a random malformed value."""
    return generator.choice(GARBAGE)


SOLVER_OPTIONS = ['damping', 'attempt_iterations', 'eps', 'dt', 'damp', 'it_max', 'unknown']
OPTIONS = ['seed', 'relative_to', 'group', 'locked', 'timeout', 'weights', 'position_tolerance',
           'orientation_tolerance', 'allow_restarts', 'solver', 'select', 'solutions',
           'random_state', 'max_iterations', 'cancel', *SOLVER_OPTIONS]
LIMITED = {'timeout': 0.002, 'max_iterations': 20}


def some_options(generator, names):
    """Return valid limits and one to three malformed options."""
    chosen = generator.sample(names, generator.randint(1, 3))
    options = {**LIMITED, **{name: one(generator) for name in chosen}}
    for name, value in LIMITED.items():      # a long time is no error, nor are many iterations
        if isinstance(options[name], (int, float, np.number)) and options[name] > value:
            options[name] = value
    return options


def ask_solve_pose(robot, generator):
    tip, target = 'tip', T
    if generator.random() < 0.5:
        tip = one(generator)
    if generator.random() < 0.5:
        target = one(generator)
    return solve_pose(robot, tip, target, **some_options(generator, OPTIONS))


def ask_search(robot, generator):
    problem = IKProblem(robot, [PoseTarget('tip', T)])
    names = [n for n in OPTIONS if n not in ('seed', 'relative_to', 'group', 'locked', 'weights',
                                             'position_tolerance', 'orientation_tolerance')]
    seeds = generator.choice([None, one(generator), [one(generator)], [{}, one(generator)]])
    if generator.random() < 0.5:
        return solve(problem, seeds, **some_options(generator, names))
    options = some_options(generator, names)
    for name in ('timeout', 'max_iterations', 'cancel'):
        options.pop(name, None)
    mine = {name: options.pop(name) for name in SOLVER_OPTIONS if name in options}
    return Search(problem, seeds, **options, solver_options=mine)


def ask_configuration(robot, generator):
    at = Configuration(robot)
    ask = generator.choice([
        lambda: Configuration(robot, one(generator)), lambda: at.update(one(generator)),
        lambda: at.transform(one(generator)),
        lambda: at.transform('tip', one(generator)), lambda: at.jacobian(one(generator)),
        lambda: at.jacobian('tip', one(generator)), lambda: at.difference(one(generator)),
        lambda: at.integrate(one(generator)), lambda: at.integrate_inplace(one(generator)),
        lambda: at.integrate(np.ones(4), one(generator)),
        lambda: FramePose(one(generator), T).value(at), lambda: FramePose('tip', one(generator))])
    return ask()


def ask_robot(robot, generator):
    ask = generator.choice([
        lambda: robot.to_q(one(generator)), lambda: robot.to_q({'elbow': one(generator)}),
        lambda: robot.to_q({}, start=one(generator)), lambda: robot.joint(one(generator)),
        lambda: robot.group(one(generator)), lambda: robot.frame_id(one(generator)),
        lambda: robot.moving_joints(one(generator)), lambda: Robot.load(one(generator)),
        lambda: robot.to_joints(robot.neutral, [one(generator)]),
        lambda: Robot.load('ur5', one(generator))])
    return ask()


def ask_checker(robot, generator):
    checker = CollisionChecker(robot)
    ask = generator.choice([
        lambda: checker.collides(one(generator)), lambda: checker.in_collision(one(generator)),
        lambda: checker.distances(robot.neutral, one(generator)),
        lambda: CollisionChecker(robot, one(generator)), lambda: CollisionChecker(one(generator)),
        lambda: CollisionChecker(robot, meshes=one(generator)),
        lambda: IKProblem(robot, PoseTarget('tip', T), change_bound=one(generator))])
    return ask()


def ask_request(robot, generator):
    options = {field.name: one(generator) for field in generator.sample(
        fields(SolveOptions), generator.randint(1, 2))}
    request = IKRequest([PoseTarget('tip', T)], options=SolveOptions(**options))
    return prepare(request, World(robot))


CALLS = {'checker': (ask_checker, 500), 'request': (ask_request, 1000),
         'solve_pose': (ask_solve_pose, 1500), 'solve': (ask_search, 1000),
         'configuration': (ask_configuration, 500), 'robot': (ask_robot, 350)}


@pytest.mark.filterwarnings('error')
@pytest.mark.parametrize('door', CALLS)
def test_malformed_calls_raise_ik_errors_or_are_solved(small, door):
    ask, count = CALLS[door]
    generator, seen = random.Random(door), Counter()
    for _ in range(count):
        try:
            answer = ask(small('scara'), generator)
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
