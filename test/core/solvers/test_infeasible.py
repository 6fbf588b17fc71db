"""What cannot be: never a success, within the budget, and said what remains violated."""

import math

from judge import pose
import numpy as np
import pytest
from small_robots import joint, urdf, Z

from ros2_ik.core import (
    accept,
    AngleBetweenVectors,
    Constraint,
    FramePose,
    FramePosition,
    GazeAngle,
    IKProblem,
    JointCoupling,
    JointPositions,
    LeastSquares,
    Polyhedron,
    PoseTarget,
    Robot,
    ScalarCost,
    solve,
    Status,
    UserFunction,
)

O, UP = (0, 0, 0), (0, 0, 1)      # noqa: E741
# a camera on a pan joint that turns little: what is behind it stays behind it
CAMERA = urdf(joint('pan', 'revolute', 'base', 'neck', axis=Z, limits=(-0.5, 0.5)),
              joint('tilt', 'revolute', 'neck', 'camera', axis=(0, 1, 0), limits=(-0.4, 0.4)))


def box(center, half=0.05, name='box', frame='tip'):
    center = np.array(center)
    return Constraint(FramePosition(frame), center - half, center + half, name)


# name: (robot, constraints, of which these names remain violated (one at least), proven)
CASES = {
    'two boxes': ('zero_links', [box((0.3, 0, 0.4), name='left'), box((-0.3, 0, 0.4),
                                                                      name='right')],
                  {'left', 'right'}, True),
    'two boxes of two points': ('zero_links', [
        box((0.3, 0, 0.4), name='tip box'),
        Constraint(FramePosition('tip', (0, 0, 0.01)), [-0.35, -1, 0], [-0.25, 1, 1], 'other')],
        {'tip box', 'other'}, False),
    'a box out of reach': ('zero_links', [box((2.0, 0, 0), name='far')], {'far'}, False),
    'half spaces': ('gantry', [Constraint(Polyhedron('tip', [O], [[1, 0, 0], [-1, 0, 0]]),
                                          upper=[0.1, -0.2], name='wedge')], {'wedge'}, False),
    'exactly behind': ('camera', [Constraint(
        GazeAngle('camera', O, (1, 0, 0), (-1, 0, 0)), 0, 0, 'see')], {'see'}, False),
    'upside down': ('scara', [Constraint(AngleBetweenVectors('tip', UP, UP), 2.0, name='flip')],
                    {'flip'}, False),
    'a pose': ('scara', [Constraint(FramePose('tip', pose((0.3, 0, 0.3), (0.5, 0, 0))), 0, 0,
                                    'there')], {'there'}, False),
    'limits': ('scara', [Constraint(JointPositions(['elbow']), 2.5, 3.0, 'bent')], {'bent'}, True),
    "a follower's limits": ('mimic_chain',      # c = 0.1 - a <= 0.6
                            [Constraint(JointPositions(['a']), -1.0, -0.6, 'lead')], {'lead'},
                            True),
    'coupled and not': ('scara', [
        Constraint(JointCoupling(['elbow', 'shoulder'], [1, -1]), 0, 0, 'coupled'),
        Constraint(JointPositions(['elbow', 'shoulder']), [0.5, -1], [0.6, -0.9], 'apart')],
        {'coupled', 'apart'}, False),
    "a user's": ('scara', [Constraint(UserFunction(lambda at: math.cos(at.q[0])), 1.5, 2.0,
                                      'steep')], {'steep'}, False),
}


@pytest.fixture
def problem_of(small):
    camera = Robot.from_urdf(CAMERA)

    def problem(name, **arguments):
        robot, constraints, names, proven = CASES[name]
        robot = camera if robot == 'camera' else small(robot)
        return IKProblem(robot, constraints=constraints, **arguments), names, proven
    return problem


@pytest.mark.parametrize('costs', [False, True], ids=['', 'costs'])
@pytest.mark.parametrize('name', CASES)
def test_never_a_success(problem_of, ticking, name, costs):
    """Within the budget: an iteration costs a look at the clock, which costs a millisecond."""
    wishes = [LeastSquares(JointPositions()), ScalarCost(lambda at: at.q[0])] if costs else []
    asked, names, proven = problem_of(name, costs=wishes)
    for seed in range(3):
        before = ticking.looks
        solution = solve(asked, timeout=0.2, random_state=seed)
        assert ticking.looks - before < 215
        assert not solution.success and solution.q is None and solution.joints is None
        assert (solution.status is Status.GOAL_CONSTRAINTS_VIOLATED) is proven
        if not proven:
            assert solution.status in (Status.NO_IK_SOLUTION, Status.TIMED_OUT)
            assert solution.restarts > 0
        violated = {violation.name.split(':')[0] for violation in solution.violations}
        assert violated and violated <= names
        text = solution.explain()
        assert all(name in text for name in violated)
        assert any(name in solution.message for name in names)
        assert not proven or 'there is no solution' in solution.message
        robot = asked.robot
        assert (robot.lower <= solution.best_q).all() and (solution.best_q <= robot.upper).all()
        assert np.isfinite(solution.best_q).all()
        assert accept(asked, solution.best_q).violations == solution.violations


@pytest.mark.parametrize('name, at_best', [
    ('a box out of reach', 2.0 - 0.05 - 0.75), ("a user's", 0.5), ('upside down', 2.0),
    ('limits', 0.1)])
def test_ends_where_least_is_violated(problem_of, name, at_best):
    asked, _, _ = problem_of(name)
    solution = solve(asked, timeout=60.0, max_iterations=600, random_state=0)
    assert max(v.amount for v in solution.violations) == pytest.approx(at_best, abs=2e-2)


def test_limits_that_exclude_a_target(small):
    """Reachable without limits only."""
    robot = small('scara')
    target = PoseTarget('tip', pose((-0.6, 0, 0.3)), weights=(1, 1, 1, 0, 0, 0))
    far_back = Constraint(JointPositions(['elbow']), -0.1, 0.1)
    solution = solve(IKProblem(robot, [target], constraints=[far_back]), timeout=60.0,
                     max_iterations=300, random_state=0)
    assert solution.status is Status.NO_IK_SOLUTION and solution.at_limits
    assert "'tip'" in solution.message and 'limit' in solution.explain()


def test_the_message_names_the_constraint_when_the_target_holds(small):
    robot = small('gantry')
    target = PoseTarget('tip', pose((0.5, 1.0, 0.2)), position_tolerance=1.0)
    wall = Constraint(FramePosition('tip', axes='x'), upper=-0.9, name='wall')
    floor = Constraint(FramePosition('tip', axes='x'), lower=-0.8, name='floor')
    solution = solve(IKProblem(robot, [target], constraints=[wall, floor]), timeout=60.0,
                     max_iterations=100, random_state=0)
    assert 'wall' in solution.message or 'floor' in solution.message
