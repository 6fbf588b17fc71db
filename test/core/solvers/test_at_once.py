"""The short way to an answer leads where a search does."""

import copy
import dataclasses
from importlib import import_module
import os
import pickle
import time
from types import SimpleNamespace

from judge import pose
import numpy as np
import pytest
from small_robots import TWO_ARMS

from ros2_ik.core import (
    collision_checker,
    Configuration,
    Constraint,
    FramePosition,
    GazeAngle,
    IKProblem,
    IKSolution,
    JointPositions,
    LeastSquares,
    load_scene,
    own_collisions,
    PoseTarget,
    Robot,
    Scene,
    Search,
    solve,
    solve_pose,
)
from ros2_ik.core.solvers import at_once, Budget
from ros2_ik.core.solvers.at_once import answer_at_once
from ros2_ik.core.solvers.lm import PoseDescent
from ros2_ik.core.solvers.search import Begun
from ros2_ik.core.status import ExitFlag

asking = import_module('ros2_ik.core.problem.ik_problem')
solving = import_module('ros2_ik.core.solvers.solve')    # `solve` is a function, too

TIPS = {'panda': 'panda_hand_tcp', 'ur5': 'tool0', 'xarm7': 'link_eef', 'baxter': 'left_gripper'}
SAME = ('status', 'message', 'errors', 'restarts', 'iterations', 'solver', 'solver_reason',
        'exit_flag', 'travel', 'not_checked', 'geometry_notes', 'impossible', 'best_joints')


def searched(problem, **options):
    """Solve by a search: a bound on iterations keeps the short way from being taken."""
    return solve(problem, max_iterations=10**8, timeout=60, **options)


def short_way(problem, budget, allow_restarts, random_state):
    return answer_at_once(problem, problem.start, 'auto', budget, allow_restarts, random_state)


def questions(robot, tip, count=30, spread=None, seed=5, **options):
    """Yield problems whose poses are reached, from a start at random or within `spread`."""
    generator = np.random.default_rng(seed)
    for _ in range(count):
        q = robot.random_q(generator)
        start = robot.random_q(generator)
        if spread is not None:
            start = np.clip(q + spread * (start - q) / np.abs(start - q).max(), robot.lower,
                            robot.upper)
        yield IKProblem(robot, PoseTarget(tip, Configuration(robot, q).transform(tip)),
                        start=start, **options)


@pytest.mark.parametrize('collisions', [True, False])
@pytest.mark.parametrize('spread', [None, 0.1, 0.6])
@pytest.mark.parametrize('name', TIPS)
def test_as_a_search(load, name, spread, collisions):
    """What differs in nothing but the time is the same, whatever stands in the way."""
    robot, short = load(name), 0
    for i, problem in enumerate(questions(robot, TIPS[name], 12, spread, collisions=collisions)):
        solve(problem, timeout=1e-3)     # the solver is kept from now on
        found = short_way(problem, Budget.of(60), i % 3 > 0, i)
        if not isinstance(found, IKSolution):    # there is more to it
            continue
        short += 1
        expected = searched(problem, random_state=i, allow_restarts=i % 3 > 0)
        assert found.success and np.array_equal(found.q, expected.q)
        for name in SAME:
            assert getattr(found, name) == getattr(expected, name), name
    assert short >= (4 if collisions else 6)


@pytest.mark.parametrize('spread', [None, 0.6])
@pytest.mark.parametrize('kind', [np.random.PCG64, np.random.MT19937])
def test_a_generator_of_the_users_goes_on_alike(load, kind, spread):
    """Whether the short way was taken, led nowhere, or was not tried."""
    robot, taken, begun = load('ur5'), 0, 0
    ours, theirs = (np.random.Generator(kind(3)) for _ in range(2))
    for problem in questions(robot, TIPS['ur5'], 25, spread):    # some touch: there is more to it
        solve(problem, timeout=1e-3)
        before = ours.bit_generator.state
        found = short_way(problem, Budget.of(60), True, ours)
        if isinstance(found, Begun):    # it touches
            begun += 1
            search = Search(problem, random_state=ours, budget=Budget.of(60, 2000), begun=found)
            search.run()
            found = search.solution()
        elif found is None:
            assert str(ours.bit_generator.state) == str(before)
            found = solve(problem, max_iterations=2000, timeout=60, random_state=ours)
        else:
            taken += found.restarts > 0
        expected = solve(problem, max_iterations=2000, timeout=60, random_state=theirs)
        assert np.array_equal(found.best_q, expected.best_q)
        assert str(ours.bit_generator.state) == str(theirs.bit_generator.state)
    assert taken > 3 or kind is np.random.MT19937 or spread
    assert begun


def demands(robot, tip, generator):
    """Yield problems that a hidden configuration meets, each of other constraints and costs."""
    for i in range(24):
        q = robot.random_q(generator)
        T = Configuration(robot, q).transform(tip)
        p = T[:3, 3]
        box = Constraint(FramePosition(tip), p - 0.01, p + 0.01)
        cone = Constraint(GazeAngle(tip, [0, 0, 0], [0, 0, 1], p + 0.5 * T[:3, 2]), upper=0.1)
        joint = robot.joint_names[2]
        kept = Constraint(JointPositions([joint]), q[2] - 0.2, q[2] + 0.2)
        posture = LeastSquares(JointPositions(), robot.neutral)
        target = PoseTarget(tip, T)
        yield IKProblem(
            robot, [[], [target]][i % 2], constraints=[[box], [cone, kept], [box, cone]][i % 3],
            costs=[[], [posture]][i % 4 == 3], collisions=i % 5 == 4,
            start=np.clip(q + generator.uniform(-0.2, 0.2, robot.nq), robot.lower, robot.upper)
            if i % 4 > 1 else robot.random_q(generator))


@pytest.mark.parametrize('kind', [np.random.PCG64, np.random.MT19937, None])
@pytest.mark.parametrize('name', ['ur5', 'panda'])
def test_constraints_as_a_search(load, name, kind):
    """Whether the short way leads to the end, or to where a search goes on."""
    robot, short = load(name), 0
    for i, problem in enumerate(demands(robot, TIPS[name], np.random.default_rng(2))):
        ours, theirs = (i if kind is None else np.random.Generator(kind(i)) for _ in range(2))
        allowed = i % 7 > 0
        short += isinstance(short_way(problem, Budget.of(60), allowed, i), IKSolution)
        options = {'allow_restarts': allowed, 'timeout': 60}
        found = solve(problem, random_state=ours, **options)
        expected = searched(problem, random_state=theirs, allow_restarts=allowed)
        assert np.array_equal(found.best_q, expected.best_q)
        # a message says how long it took where nothing was found
        for each in {*SAME, 'costs', 'violations'} - (set() if found else {'message'}):
            assert getattr(found, each) == getattr(expected, each), each
        if kind is not None:
            assert str(ours.bit_generator.state) == str(theirs.bit_generator.state)
    assert short >= 12


def test_the_first_answer_is_that_of_later_ones(load):
    """Though no solver is kept for a robot that nobody has asked about."""
    urdf, tips = load('baxter').urdf, ('left_gripper', 'right_gripper')
    for k in range(10):
        robot = Robot.from_urdf(urdf)
        at = Configuration(robot, robot.random_q(np.random.default_rng(k)))
        problem = IKProblem(robot, [PoseTarget(tip, at.transform(tip)) for tip in tips],
                            collisions=False)
        first, second = (solve(problem, timeout=3.0, random_state=k) for _ in range(2))
        assert first.success and second.success
        assert np.array_equal(first.q, second.q), k


def test_is_taken(load, monkeypatch):
    """By the library's doors where nothing else is asked for."""
    robot, taken = load('panda'), []
    problem = next(questions(robot, TIPS['panda'], spread=0.1, collisions=False))
    solve(problem)     # the solver is kept from now on
    monkeypatch.setattr(at_once, 'accept', lambda *given: taken.append(given) or 1 / 0)
    for ask in (lambda: solve(problem), lambda: solve_pose(
            robot, TIPS['panda'], problem.targets[0].function.reference, problem.start,
            collisions=False)):
        with pytest.raises(ZeroDivisionError):
            ask()
    assert len(taken) == 2
    for option in ({'select': 'nearest'}, {'solutions': 2}, {'winding': 'lower'},
                   {'max_joint_change': 1.0}, {'approximate': (1, 1)}, {'solver': 'lm'},
                   {'progress': lambda *_: None}, {'cancel': lambda: False}):
        assert solve(problem, **option, timeout=0.05).success


def test_a_message_that_is_yet_to_be_written(load):
    """Goes with the solution wherever that goes."""
    robot = load('panda')
    problem = next(questions(robot, TIPS['panda'], spread=0.1, collisions=False))
    solve(problem)     # the solver is kept from now on
    expected = searched(problem).message
    for go in (lambda s: s, copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s)),
               dataclasses.replace, lambda s: SimpleNamespace(**dataclasses.asdict(s))):
        assert go(solve(problem)).message == expected
    assert expected in repr(solve(problem)) and expected in solve(problem).explain()
    with pytest.raises(AttributeError, match="no 'mesage'"):
        _ = solve(problem).mesage


def test_wrong_options_are_refused_though_the_seed_would_do(load):
    robot = load('panda')
    problem = next(questions(robot, TIPS['panda'], spread=0.01, collisions=False))
    solve(problem)
    for wrong in ({'allow_restarts': 2}, {'random_state': -1}, {'random_state': 'x'},
                  {'solutions': True}, {'select': ['first']}, {'timeout': 0}, {'winding': 1}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            solve(problem, **wrong)


def test_again(load):
    """The same question about other poses: as one made anew, which it leaves as it is."""
    robot = load('ur5')
    generator, problems = np.random.default_rng(3), list(questions(robot, 'tool0', 6))
    first = problems[0]
    before = first.targets, first.start.copy()
    for problem in problems[1:]:
        start = robot.random_q(generator)
        T = problem.targets[0].function.reference
        same = first.again([T.homogeneous], start)
        assert np.array_equal(same.start, start) and same.targets[0].function.reference == T
        assert same.checker is first.checker and same.not_checked == first.not_checked
        anew = IKProblem(robot, PoseTarget('tool0', T), start=start)
        one, other = (searched(each, random_state=1) for each in (same, anew))
        assert one.message == other.message and np.array_equal(one.best_q, other.best_q)
    assert first.targets is before[0] and np.array_equal(first.start, before[1])


def test_again_resolves_frames_at_rest_anew():
    """Where a frame stands is looked up in the new start."""
    robot = Robot.from_urdf(TWO_ARMS)
    moving = [name for name in robot.joint_names if name.startswith('left')]
    locked = [name for name in robot.joint_names if name not in moving]
    problem = IKProblem(robot, PoseTarget('left_hand', pose(), 'right_hand'), locked=locked)
    start = robot.random_q(np.random.default_rng(1))
    again, anew = problem.again([pose()], start), IKProblem(
        robot, PoseTarget('left_hand', pose(), 'right_hand'), start=start, locked=locked)
    assert again.targets[0].relative_to is None
    assert again.targets[0].function.reference == anew.targets[0].function.reference
    assert again.targets[0].function.reference != problem.targets[0].function.reference


def test_again_takes_a_checker(load):
    robot = load('panda')
    problem = next(questions(robot, TIPS['panda'], spread=0.1))
    checker = collision_checker(robot, load_scene('floor', robot))
    again = problem.again([problem.targets[0].function.reference], problem.start, checker)
    assert again.checker is checker and problem.checker is not checker


def test_again_keeps_what_is_not_given(load):
    robot = load('panda')
    checker = collision_checker(robot, load_scene('floor', robot))
    start = robot.random_q(np.random.default_rng(0))
    problem = IKProblem(robot, PoseTarget(TIPS['panda'], pose()), start=start, checker=checker,
                        locked=['panda_joint7'])
    again = problem.again([pose([0.4, 0, 0.5])])
    assert again.checker is checker and np.array_equal(again.start, start)
    assert again.not_checked == problem.not_checked


def test_again_refuses_what_a_new_problem_does(load):
    robot, other = load('ur5'), load('xarm7')
    problem = next(questions(robot, 'tool0'))
    for wrong in (own_collisions(other).checker, 'exact'):
        with pytest.raises(ValueError, match='checker must be'):
            problem.again([np.eye(4)], checker=wrong)
    with pytest.raises(ValueError, match='collisions is False'):
        next(questions(robot, 'tool0', collisions=False)).again(
            [np.eye(4)], checker=own_collisions(robot).checker)


def test_again_after_variation_takes_poses_in_the_same_frame():
    robot = Robot.from_urdf(TWO_ARMS)
    locked = [name for name in robot.joint_names if not name.startswith('left')]
    T = pose([0.1, 0, 0.2])
    problem = IKProblem(robot, PoseTarget('left_hand', pose(), 'right_hand'), locked=locked,
                        start=robot.random_q(np.random.default_rng(1)))
    expected = problem.again([T]).targets[0].function.reference
    assert problem.varied(costs=[]).again([T]).targets[0].function.reference == expected


def test_forked_processes_draw_their_own():
    mine = at_once.shared(os.getpid()).random()
    reading, writing = os.pipe()
    if not os.fork():
        os.write(writing, at_once.shared(os.getpid()).random().hex().encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        theirs = float.fromhex(answer.read())
    os.wait()
    assert theirs not in (mine, at_once.shared(os.getpid()).random())


def test_what_a_free_base_begins_with():
    """A search does not draw what moves a base as the short way does: it goes on with others."""
    robot, generator = Robot.load('talos', 'freeflyer'), np.random.default_rng(4)
    tip = 'left_sole_link'
    T = Configuration(robot, robot.random_q(generator)).transform(tip)
    problem = IKProblem(robot, PoseTarget(tip, T), start=robot.random_q(generator),
                        collisions=False)
    drawn = generator.random((3, len(problem.active.indices)))
    touching = PoseDescent(robot.random_q(generator), 0.0, ExitFlag.CONVERGED, 9, 2, 0, 0.0)
    begun = at_once._begun(problem, touching, drawn, generator)
    assert [used for _, used, _ in begun.attempts] == [2]
    assert begun.drawn.shape == (0, robot.nq)


def test_meshes_that_are_not_asked_for_are_not_read(load, monkeypatch):
    robot = load('xarm7')
    checker = collision_checker(robot, Scene(robot), 'hull')
    monkeypatch.setattr(solving, 'own_collisions', lambda *_: SimpleNamespace(checker=checker))
    monkeypatch.setattr(asking, 'own_collisions', lambda *_: 1 / 0)
    solving._kept_problem.cache_clear()
    assert solve_pose(robot, TIPS['xarm7'], Configuration(robot).transform(TIPS['xarm7']),
                      meshes='hull', timeout=1).success


@pytest.mark.parametrize('wrong, count', [([], 0), ([np.eye(4)] * 2, 2), (None, 'None')])
def test_again_wants_one_pose_for_each_target(load, wrong, count):
    problem = next(questions(load('ur5'), 'tool0'))
    with pytest.raises(ValueError, match=f'poses: {count}; valid: 1'):
        problem.again(wrong)
    with pytest.raises(ValueError, match='tool0'):
        problem.again([np.zeros((4, 4))])


def test_time_over_before_restarts(load, monkeypatch):
    """One descent is made however short the time is; no other one when it is over."""
    robot = load('panda')
    for problem in questions(robot, TIPS['panda'], 20, collisions=False):
        solve(problem, timeout=1)
        late = Budget.of(1e-9)
        time.sleep(1e-3)
        found = short_way(problem, late, True, 0)
        if isinstance(found, Begun):
            assert [used for _, used, _ in found.attempts] == [1]
        else:
            assert found.restarts == 0
