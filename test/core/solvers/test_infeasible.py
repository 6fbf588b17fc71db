"""What cannot be: never a success, within the budget, and said what remains violated."""

import math

from judge import pose
import numpy as np
import pytest
from small_robots import joint, urdf, X, Z

from ros2_ik.core import (
    accept,
    AngleBetweenVectors,
    Constraint,
    FrameOrientation,
    FramePose,
    FramePosition,
    GazeAngle,
    IKProblem,
    JointCoupling,
    JointPositions,
    LeastSquares,
    PointToLineDistance,
    PointToPlane,
    PointToPointDistance,
    Polyhedron,
    PoseTarget,
    Robot,
    ScalarCost,
    solve,
    Status,
    UserFunction,
)

O, UP = (0, 0, 0), (0, 0, 1)      # noqa: E741
INF = math.inf
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
    'a point out of reach': ('zero_links', [Constraint(
        PointToPointDistance('tip', O, (0, 0, 2)), 0, 0, 'meet')], {'meet'}, False),
    'a line out of reach': ('zero_links', [Constraint(
        PointToLineDistance('tip', O, (2, 0, 0), UP), 0, 0.5, 'rod')], {'rod'}, False),
    'a plane out of reach': ('scara', [Constraint(PointToPlane('tip', O, (0, 0, 1), UP), 0,
                                                  name='above')], {'above'}, False),
    'half spaces': ('gantry', [Constraint(Polyhedron('tip', [O], [[1, 0, 0], [-1, 0, 0]]),
                                          upper=[0.1, -0.2], name='wedge')], {'wedge'}, False),
    'a cone behind': ('camera', [Constraint(
        GazeAngle('camera', O, (1, 0, 0), (-1, 0, 0)), 0, 1.0, 'see')], {'see'}, False),
    'exactly behind': ('camera', [Constraint(
        GazeAngle('camera', O, (1, 0, 0), (-1, 0, 0)), 0, 0, 'see')], {'see'}, False),
    'upside down': ('scara', [Constraint(AngleBetweenVectors('tip', UP, UP), 2.0, name='flip')],
                    {'flip'}, False),
    'turned over': ('scara', [Constraint(
        FrameOrientation('tip', pose(rotvec=(np.pi, 0, 0)), form='angle'), 0, 1.0, 'over')],
                    {'over'}, False),
    'rolled': ('scara',
               [Constraint(FrameOrientation('tip', axes='x', form='euler'), 0.5, 1.0, 'rolled')],
               {'rolled'}, False),
    'a pose': ('scara', [Constraint(FramePose('tip', pose((0.3, 0, 0.3), (0.5, 0, 0))), 0, 0,
                                    'there')], {'there'}, False),
    'limits': ('scara', [Constraint(JointPositions(['elbow']), 2.5, 3.0, 'bent')], {'bent'}, True),
    'limits in the way': ('gantry', [box((1.5, 1.0, 0.2), name='beyond')], {'beyond'}, False),
    'two postures': ('scara', [Constraint(JointPositions(['elbow']), 0.5, 0.6, 'one'),
                               Constraint(JointPositions(['elbow']), 0.8, 0.9, 'two')],
                     {'one', 'two'}, True),
    'coupled and not': ('scara', [
        Constraint(JointCoupling(['elbow', 'shoulder'], [1, -1]), 0, 0, 'coupled'),
        Constraint(JointPositions(['elbow', 'shoulder']), [0.5, -1], [0.6, -0.9], 'apart')],
        {'coupled', 'apart'}, False),
    "a user's": ('scara', [Constraint(UserFunction(lambda at: math.cos(at.q[0])), 1.5, 2.0,
                                      'steep')], {'steep'}, False),
    'above and below': ('gantry', [
        Constraint(FramePosition('tip', axes='z'), 0.4, INF, 'high'),
        Constraint(FramePosition('tip', axes='z'), -INF, 0.1, 'low')], {'high', 'low'}, True),
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
        robot = asked.robot
        assert (robot.lower <= solution.best_q).all() and (solution.best_q <= robot.upper).all()
        assert np.isfinite(solution.best_q).all()
        assert accept(asked, solution.best_q).violations == solution.violations


@pytest.mark.parametrize('name', [n for n, case in CASES.items() if case[3]])
def test_what_is_proven_is_told_at_once(problem_of, name):
    asked, names, _ = problem_of(name)
    solution = solve(asked, timeout=60.0)
    assert solution.status is Status.GOAL_CONSTRAINTS_VIOLATED and solution.restarts < 40
    assert all(name in solution.message for name in names)
    assert 'there is no solution' in solution.message


@pytest.mark.parametrize('name, at_best', [
    ('a box out of reach', 2.0 - 0.05 - 0.75), ('a point out of reach', 2.0 - 0.75),
    ('a line out of reach', 2.0 - 0.75 - 0.5), ('a plane out of reach', 1 - 0.35),
    ('limits in the way', 0.45), ("a user's", 0.5), ('upside down', 2.0),
    ('turned over', np.pi - 1.0), ('rolled', 0.5), ('limits', 0.1)])
def test_ends_where_least_is_violated(problem_of, name, at_best):
    asked, _, _ = problem_of(name)
    solution = solve(asked, timeout=60.0, max_iterations=600, random_state=0)
    assert max(v.amount for v in solution.violations) == pytest.approx(at_best, abs=2e-2)


def test_two_boxes_share_what_is_missing(problem_of):
    """The gap is 0.5 m: half of it each."""
    start = [0.3, 0.5, -0.2, -1.0, 0.4, 0.6, 0.1]
    solution = solve(problem_of('two boxes')[0], [start], timeout=60.0, random_state=0)
    assert [v.amount for v in solution.violations] == pytest.approx([0.25, 0.25], abs=1e-3)


def test_limits_that_exclude_a_target(small):
    """Reachable without limits only."""
    robot = small('scara')
    target = PoseTarget('tip', pose((-0.6, 0, 0.3)), weights=(1, 1, 1, 0, 0, 0))
    far_back = Constraint(JointPositions(['elbow']), -0.1, 0.1)
    solution = solve(IKProblem(robot, [target], constraints=[far_back]), timeout=60.0,
                     max_iterations=300, random_state=0)
    assert solution.status is Status.NO_IK_SOLUTION and solution.at_limits
    assert "'tip'" in solution.message and 'limit' in solution.explain()


def test_a_target_and_a_constraint_that_exclude_each_other(small):
    robot = small('gantry')
    target = PoseTarget('tip', pose((0.5, 1.0, 0.2)))
    wall = Constraint(FramePosition('tip', axes='x'), upper=0.2, name='wall')
    solution = solve(IKProblem(robot, [target], constraints=[wall]), timeout=60.0,
                     max_iterations=300, random_state=0)
    assert not solution.success
    text = solution.explain()
    assert 'wall' in text or "'tip'" in text
    assert solution.violations


def test_the_message_names_the_constraint_when_the_target_holds(small):
    robot = small('gantry')
    target = PoseTarget('tip', pose((0.5, 1.0, 0.2)), position_tolerance=1.0)
    wall = Constraint(FramePosition('tip', axes='x'), upper=-0.9, name='wall')
    floor = Constraint(FramePosition('tip', axes='x'), lower=-0.8, name='floor')
    solution = solve(IKProblem(robot, [target], constraints=[wall, floor]), timeout=60.0,
                     max_iterations=100, random_state=0)
    assert 'wall' in solution.message or 'floor' in solution.message


@pytest.mark.parametrize('arguments', [
    {'select': 'nearest'}, {'select': 'cost'}, {'solutions': 3}, {'allow_restarts': False}])
def test_whatever_is_selected(problem_of, arguments):
    for name in ('a box out of reach', 'two boxes', 'a cone behind'):
        costs = [LeastSquares(JointPositions())]
        solution = solve(problem_of(name, costs=costs)[0], timeout=60.0, max_iterations=200,
                         random_state=0, **arguments)
        assert not solution.success and solution.alternatives == ()
        assert solution.restarts == 0 or arguments != {'allow_restarts': False}


def test_several_seeds_are_all_tried(small):
    """What is proven needs no restart; what is not gets each seed."""
    robot = small('scara')
    seeds = [robot.random_q(np.random.default_rng(i)) for i in range(4)]
    solution = solve(IKProblem(robot, constraints=CASES['rolled'][1]), seeds, timeout=60.0,
                     allow_restarts=False)
    assert '4 attempts' in solution.message and solution.restarts == 0


def test_no_way_out_by_turns_of_followers(small):
    """The leader could, its follower's limit forbids it."""
    robot = small('mimic_chain')      # c = 2 b - 0.1 <= 0.6, b = 0.1 - a / 2
    asked = IKProblem(robot, constraints=[Constraint(JointPositions(['a']), -1.0, -0.6, 'a')])
    solution = solve(asked, timeout=60.0, max_iterations=200, random_state=0)
    assert not solution.success
    assert any('a' in v.name for v in solution.violations)


def test_a_slide_that_is_too_short():
    robot = Robot.from_urdf(urdf(joint('s', 'prismatic', 'base', 'tip', axis=X,
                                       limits=(0.0, 1.0))))
    for function in JointPositions(['s']), FramePosition('tip', axes='x'):
        asked = IKProblem(robot, constraints=[Constraint(function, 1.2, 1.5, 'far')])
        solution = solve(asked, timeout=60.0, max_iterations=100, random_state=0)
        proven = isinstance(function, JointPositions)
        assert (solution.status is Status.GOAL_CONSTRAINTS_VIOLATED) is proven
        assert solution.best_joints['s'] == pytest.approx(1.0)
        assert solution.at_limits == ('s',)
