"""A solver whose arrays serve many questions answers each as one that is made for it alone."""

import numpy as np
import pytest
from small_robots import TWO_ARMS

from ros2_ik.core import (
    Configuration,
    IKProblem,
    JointChangeBound,
    JointPositions,
    LeastSquares,
    PoseTarget,
    Robot,
    solve,
)
from ros2_ik.core.solvers import Budget
from ros2_ik.core.solvers.solver import make_solver
from ros2_ik.core.solvers.starts import generator_state, Starts

SRDF = ('<robot name="small"><group name="left"><chain base_link="chest" tip_link="left_hand"/>'
        '</group></robot>')
WANTED = {
    'a tip': ([('left_hand', None)], {}),
    'what stands where the torso has it': ([('left_hand', None)], {'group': 'left'}),
    'a moving frame': ([('left_hand', 'right_hand')], {}),
    'a frame at rest': ([('left_hand', 'right_hand')], {'group': 'left'}),
    'two tips': ([('left_hand', None), ('right_hand', None)], {}),
    'freed axes': ([('left_hand', None)], {'weights': (1, 1, 1, 0, 2, 0)}),
    'no limits': ([('left_hand', None)], {'joint_limits': False}),
}


@pytest.fixture(scope='module')
def robot():
    return Robot.from_urdf(TWO_ARMS, srdf=SRDF)


def problems(robot, tips, weights=None, **options):
    """Yield problems that differ in poses and start, and in every other one in the limits."""
    generator = np.random.default_rng(7)
    given = {} if weights is None else {'weights': weights}
    for i in range(6):
        at = Configuration(robot, robot.random_q(generator))
        start = robot.random_q(generator)
        problem = IKProblem(robot, [
            PoseTarget(tip, at.transform(tip, frame), frame, **given) for tip, frame in tips],
            start=start, **options)
        yield problem.bounded(JointChangeBound.of(robot, start, 1.0)) if i % 2 else problem


@pytest.mark.parametrize('wanted', WANTED)
def test_same_as_made_anew(robot, wanted):
    tips, options = WANTED[wanted]
    for i, problem in enumerate(problems(robot, tips, **options)):
        found = []
        for _ in range(2):
            solver = make_solver('lm', problem, {})
            starts = Starts(problem.start, 0, 12, generator_state(i))
            found.append(solver.find(problem, starts, Budget())[0])
            problem.structure.solvers.clear()
        for mine, its in zip(*found, strict=True):
            assert np.array_equal(mine, its)
        make_solver('lm', problem, {})      # for the next one


def test_what_is_kept_is_arrays(robot):
    """No problem, and so no scene either, lives on with them."""
    problem = next(problems(robot, [('left_hand', None)]))
    solve(problem)
    held, values, parts = problem.structure.solvers['lm']
    assert isinstance(held, np.ndarray) and isinstance(values, bytes)
    assert all(isinstance(array, np.ndarray) for array in parts.arrays)


def test_another_pose_with_costs_is_answered_as_anew(robot):
    """Also the steps down the costs aim at the new pose."""
    generator, costs = np.random.default_rng(1), [LeastSquares(JointPositions(), weight=0.1)]
    poses = [Configuration(robot, robot.random_q(generator)).transform('left_hand')
             for _ in range(4)]
    problem = IKProblem(robot, PoseTarget('left_hand', poses[0]), costs=costs)
    for pose in poses:
        again = solve(problem.again([pose]), random_state=0, timeout=1.0)
        anew = solve(IKProblem(robot, PoseTarget('left_hand', pose), costs=costs),
                     random_state=0, timeout=1.0)
        assert again.success and anew.success
        assert again.cost == pytest.approx(anew.cost, rel=1e-6)
