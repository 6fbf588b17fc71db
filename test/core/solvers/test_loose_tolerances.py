"""Poses that can only be met within their tolerances are found, though not exactly."""

from judge import check, inverse, pose
import numpy as np
import pytest

from ros2_ik.core import solve, solve_pose
from ros2_ik.core.problem import IKProblem, PoseTarget
from ros2_ik.core.solvers.search import Search

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
    for _ in range(20):
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


@pytest.mark.parametrize('options', [{}, {'select': 'nearest', 'timeout': 0.1},
                                     {'allow_restarts': False}])
@pytest.mark.parametrize('weights', [(1,) * 6, (1, 1, 1, 1, 1, 0)])
def test_who_is_there_stays(load, judge_of, options, weights):
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


def test_relative_to_a_link_that_is_to_rest(load, judge_of):
    """Only the joints between both links may move, as without tolerances."""
    panda, judge = load('panda'), judge_of('panda')
    generator = np.random.default_rng(6)
    for _ in range(10):
        start = panda.random_q(generator)
        joints = dict(zip(panda.joint_names, panda.random_q(generator), strict=True))
        target = judge.transform(joints, TIP, 'panda_link3') @ inverse(turned(0.3)(generator))
        solution = solve_pose(panda, TIP, target, start, relative_to='panda_link3',
                              position_tolerance=1e-3, orientation_tolerance=0.3, timeout=1.0,
                              collisions=False, random_state=0)
        check(judge, solution, [(TIP, target, 'panda_link3', (1,) * 6, 1e-3, 0.3)],
              dict(zip(panda.joint_names, start, strict=True)), panda.joint_names[:3])


def test_in_another_process(load, judge_of):
    """A search that is begun anew there ends in the same way."""
    panda, judge = load('panda'), judge_of('panda')
    target = displaced(panda, judge, np.random.default_rng(7), turned(0.3))
    problem = IKProblem(panda, PoseTarget(TIP, target, None, position_tolerance=1e-3,
                                          orientation_tolerance=0.3),
                        group='arm', locked=LOCKED, collisions=False)
    search = Search(problem, random_state=0, timeout=5.0)
    search.run(0.0)
    search = Search.of_question(panda, search.question())
    search.run()
    check(judge, search.solution(), [(TIP, target, None, (1,) * 6, 1e-3, 0.3)])
    assert search.attempts == solve(problem, random_state=0, timeout=5.0).restarts + 1


@pytest.mark.parametrize(('position', 'orientation'), [(5e-11, 0.1), (1e-3, 5e-11), (1e-12, 1e9)])
def test_one_tolerance_very_fine_and_one_loose(load, position, orientation):
    """A hundredth of the fine one was refused where the search came to look for the edge."""
    solution = solve_pose(load('panda'), TIP, pose((0.5, 0.1, 5.0)), position_tolerance=position,
                          orientation_tolerance=orientation, random_state=0,
                          **{**ASKED, 'timeout': 0.05})
    assert not solution.success
