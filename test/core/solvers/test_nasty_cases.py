"""Where functions have no gradient, rows repeat or nothing moves: right answers, no NaN."""

import math

from judge import claims, pose, TreeJudge
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from small_robots import joint, SMALL, urdf, X, Y, Z

from ros2_ik.core import (
    AngleBetweenVectors,
    CenterOfMass,
    Configuration,
    Constraint,
    FrameOrientation,
    FramePose,
    FramePosition,
    GazeAngle,
    IKError,
    IKProblem,
    InvalidConstraintError,
    JointCoupling,
    JointPositions,
    LeastSquares,
    Manipulability,
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

O, UP = (0, 0, 0), (0, 0, 1)     # noqa: E741
PI = np.pi
SLACK = 1e-6 + 1e-8
SURE = {'timeout': 60.0, 'random_state': 0}
# three axes that meet: turns any way; a slide each way: stands anywhere
BALL = urdf(joint('a', 'continuous', 'base', 'la', axis=Z),
            joint('b', 'continuous', 'la', 'lb', axis=Y),
            joint('c', 'continuous', 'lb', 'lc', axis=Z),
            joint('x', 'prismatic', 'lc', 'lx', axis=X, limits=(-3.0, 3.0)),
            joint('y', 'prismatic', 'lx', 'ly', axis=Y, limits=(-3.0, 3.0)),
            joint('z', 'prismatic', 'ly', 'tip', axis=Z, limits=(-3.0, 3.0)))
TINY = [0.0, 1e-15, 1e-12, 1e-9, 1e-7, 1e-5, 1e-3]
ANGLES = [*TINY, *(PI - small for small in TINY), 1.0]


@pytest.fixture(scope='module')
def ball():
    return Robot.from_urdf(BALL)


@pytest.fixture(scope='module')
def judge():
    return TreeJudge(BALL)


START = np.array([0.4, 0.9, -0.7, 0.1, 0.2, 0.3])


def answer(robot, *constraints, targets=(), start=START, costs=(), bound=2000, **arguments):
    """Solve (function, lower, upper), and see to it that all is finite and within limits."""
    asked = IKProblem(robot, targets, start=start, costs=costs, constraints=[
        c if isinstance(c, Constraint) else Constraint(*c) for c in constraints], **arguments)
    with np.errstate(divide='raise', invalid='raise'):
        solution = solve(asked, **SURE, max_iterations=bound)
    assert np.isfinite(solution.best_q).all() and math.isfinite(solution.cost)
    if asked.joint_limits:
        assert (solution.best_q >= robot.lower).all() and (solution.best_q <= robot.upper).all()
    return solution


def solved(robot, *constraints, **arguments):
    solution = answer(robot, *constraints, **arguments)
    assert solution.success, solution.explain()
    assert solution.violations == ()
    return solution


# -- angles near nothing and near half a turn --------------------------------------------------

@pytest.mark.parametrize('off', ANGLES)
@pytest.mark.parametrize('axis', [X, Z, (0.6, 0, 0.8), (1, -1, 1)])
def test_orientation_from_an_angle_off(ball, judge, off, axis):
    R = judge.transform(ball.to_joints(START), 'tip')[:3, :3]
    unit = np.array(axis) / np.linalg.norm(axis)
    wanted = R @ Rotation.from_rotvec(off * unit).as_matrix()
    for constraint in ((FrameOrientation('tip', wanted, form='angle'), 0, 0),
                       (FrameOrientation('tip', wanted), 0, 0),
                       (FrameOrientation('tip', wanted, form='angle'), 0, 1e-3)):
        solution = solved(ball, constraint)
        found = judge.transform(solution.joints, 'tip')[:3, :3]
        angle = Rotation.from_matrix(wanted.T @ found).magnitude()
        assert angle <= constraint[2] + 1.5e-6
    target = PoseTarget('tip', pose((0.5, 0.5, 0.5)) @ np.block([
        [wanted, np.zeros((3, 1))], [np.zeros((1, 3)), np.ones((1, 1))]]))
    solution = solved(ball, (FramePosition('tip'), -2, 2), targets=[target])
    claims(judge, solution, [('tip', np.array(target.function.reference.homogeneous))])


@pytest.mark.parametrize('off', ANGLES)
@pytest.mark.parametrize('bound', [1e-9, 1e-3, 1.0, PI - 1e-3, PI - 1e-9, PI])
def test_an_angle_of_a_given_size(ball, judge, off, bound):
    """The gradient at 0 and at half a turn leads away from there."""
    R = judge.transform(ball.to_joints(START), 'tip')[:3, :3]
    wanted = R @ Rotation.from_rotvec([0, 0.6 * off, 0.8 * off]).as_matrix()
    solution = solved(ball, (FrameOrientation('tip', wanted, form='angle'), bound, bound))
    found = judge.transform(solution.joints, 'tip')[:3, :3]
    assert Rotation.from_matrix(wanted.T @ found).magnitude() == pytest.approx(bound, abs=1.5e-6)


def between(a, b):
    return math.atan2(np.linalg.norm(np.cross(a, b)), np.dot(a, b))


@pytest.mark.parametrize('off', ANGLES)
@pytest.mark.parametrize('bound', [0, 1e-9, 1e-3, 1.0, PI - 1e-9, PI])
@pytest.mark.parametrize('scale', [1e-8, 1.0, 1e150])
def test_vectors_parallel_and_antiparallel(ball, judge, off, bound, scale):
    R = judge.transform(ball.to_joints(START), 'tip')[:3, :3]
    other = R @ [0, math.sin(off), math.cos(off)]
    if off > 3:     # exactly, not by rounding of the sine
        other = R @ [0, PI - off, -1.0]
    solution = solved(ball, (AngleBetweenVectors('tip', (0, 0, scale), other * scale), bound,
                             bound))
    found = judge.transform(solution.joints, 'tip')[:3, 2]
    assert between(found, other) == pytest.approx(bound, abs=2e-6)
    if bound == 0:
        solution = solved(ball, (AngleBetweenVectors('tip', UP, other, form='vector'), 0, 0))
        assert between(judge.transform(solution.joints, 'tip')[:3, 2], other) <= 2e-6


@pytest.mark.parametrize('distance', [0.0, 1e-15, 1e-9, 1e-6, 0.5, 100.0])
@pytest.mark.parametrize('off', [0.0, 1e-9, 1.0, PI - 1e-9, PI])
@pytest.mark.parametrize('upper', [0, 0.5, PI])
def test_gaze(ball, judge, distance, off, upper):
    """From inside the target, exactly ahead and exactly behind."""
    T = judge.transform(ball.to_joints(START), 'tip')
    ray = distance * np.array([math.sin(off) if off < 3 else PI - off, 0, math.cos(off)])
    target = T[:3, :3] @ ray + T[:3, 3]
    solution = solved(ball, (GazeAngle('tip', O, UP, target), 0, upper))
    T = judge.transform(solution.joints, 'tip')
    ahead = T[:3, :3].T @ (target - T[:3, 3])
    if upper < PI:
        assert np.linalg.norm(ahead) > 1e-9
        assert between(ahead, UP) <= upper + 2e-6 + 1e-15 / np.linalg.norm(ahead)
    if upper == 0:
        solved(ball, (GazeAngle('tip', O, UP, target, form='vector'), 0, 0))


@pytest.mark.parametrize('distance', [0.0, 1e-15, 1e-12, 1e-9, 1e-6, 0.3])
@pytest.mark.parametrize('bound', [0, 1e-9, 1e-6, 0.2])
def test_points_that_coincide(ball, judge, distance, bound):
    p = judge.transform(ball.to_joints(START), 'tip')[:3, 3]
    other = p + distance * np.array([0.6, 0, 0.8])
    solution = solved(ball, (PointToPointDistance('tip', O, other), bound, bound))
    found = judge.transform(solution.joints, 'tip')[:3, 3]
    assert np.linalg.norm(found - other) == pytest.approx(bound, abs=SLACK)
    solution = solved(ball, (PointToLineDistance('tip', O, other, (0.8, 0, -0.6)), bound, bound))
    found = judge.transform(solution.joints, 'tip')[:3, 3]
    off = np.linalg.norm(np.cross(found - other, (0.8, 0, -0.6)))
    assert off == pytest.approx(bound, abs=SLACK)


@pytest.mark.parametrize('pitch', [PI / 2, -PI / 2, PI / 2 - 1e-9, PI / 2 - 1e-3])
def test_steep_euler_angles(ball, judge, pitch):
    for start in (START, [0, pitch, 0, 0, 0, 0]):
        solution = solved(ball, (FrameOrientation('tip', axes='y', form='euler'), pitch - 1e-4,
                                 pitch + 1e-4),
                          start=start)
        found = judge.transform(solution.joints, 'tip')
        assert abs(math.asin(np.clip(found[0, 2], -1, 1)) - pitch) <= 1.1e-4
    answer(ball, (FrameOrientation('tip', form='euler'), [0.1, pitch, 0.2], [0.1, pitch, 0.2]))


def test_roll_across_half_a_turn(ball, judge):
    """It jumps from pi to -pi there; both ends of the bound stay reachable."""
    for low, high in ((3.0, 3.1), (-3.1, -3.0), (3.14, 4.0)):
        solution = solved(ball, (FrameOrientation('tip', axes='x', form='euler'), low, high))
        R = judge.transform(solution.joints, 'tip')[:3, :3]
        roll = Rotation.from_matrix(R).as_euler('XYZ')[0]
        assert low - SLACK <= roll <= high + SLACK


# -- bounds without width, rows that repeat, rows that nothing moves ---------------------------

P, A, B = (0.03, -0.02, 0.11), (0.2, -0.1, 2), (1, -0.2, 0.4)
TURNED = pose(rotvec=(0.5, -0.9, 0.7))
EVERY = [*(AngleBetweenVectors('tip', A, B, form=form) for form in ('angle', 'vector')),
         *(FrameOrientation('tip', TURNED, form=form) for form in ('euler', 'vector', 'angle')),
         *(GazeAngle('tip', P, A, B, form=form) for form in ('angle', 'vector')),
         CenterOfMass(), FramePose('tip', pose(P, B)), FramePosition('tip', P),
         Polyhedron('tip', [P, A], [[*A, *B], [*B, *P]]), JointCoupling(['a', 'x'], [1, 2]),
         JointPositions(['x', 'y', 'z']), JointPositions(), Manipulability('tip', rows='position'),
         PointToLineDistance('tip', P, A, B), PointToPlane('tip', P, A, B),
         PointToPointDistance('tip', P, B), UserFunction(lambda at: at.q[:2] @ at.q[1:3])]


@pytest.mark.parametrize('function', EVERY, ids=str)
@pytest.mark.parametrize('times', [1, 2, 5])
def test_exactly_one_value_asked_for_often(ball, function, times):
    """Rows that repeat are one row; what they say is what one says."""
    goal = np.array([-0.5, 0.6, 1.2, -0.4, 0.7, 1.0])
    function.joints(ball)
    f = function.value(Configuration(ball, goal))
    solution = solved(ball, *[(function, f, f)] * times)
    np.testing.assert_allclose(function.value(Configuration(ball, solution.q)), f, atol=SLACK)


def test_a_pose_asked_for_twice(ball, judge):
    """As a target, as targets, as a constraint, in parts."""
    T = judge.transform(ball.to_joints(np.array([-0.5, 0.6, 1.2, -0.4, 0.7, 1.0])), 'tip')
    target, parts = PoseTarget('tip', T), [(FramePosition('tip'), T[:3, 3], T[:3, 3]),
                                           (FrameOrientation('tip', T), 0, 0),
                                           (FrameOrientation('tip', T, form='angle'), 0, 0)]
    for targets, constraints in (([target, target], []), ([target], parts),
                                 ([], [(FramePose('tip', T), 0, 0)] * 2), ([], parts + parts)):
        solution = solved(ball, *constraints, targets=targets)
        claims(judge, solution, [('tip', T)])


def test_a_repeated_box_and_costs(ball):
    """The costs' optimum is that of one box."""
    box = (FramePosition('tip'), [0.5, -0.1, -0.1], [0.7, 0.1, 0.1])
    wish = LeastSquares(FramePosition('tip'), [2.0, 0, 0])
    for times in (1, 2, 6):
        solution = solved(ball, *[box] * times, costs=[wish])
        p = Configuration(ball, solution.q).transform('tip')[:3, 3]
        np.testing.assert_allclose(p, [0.7, 0, 0], atol=1e-3)


def test_contradictory_equalities(ball):
    solution = answer(ball, (FramePosition('tip', axes='x'), 0.1, 0.1, 'one'),
                      (FramePosition('tip', axes='x'), 0.2, 0.2, 'two'))
    assert solution.status is Status.GOAL_CONSTRAINTS_VIOLATED
    solution = answer(ball, (FramePose('tip', pose((0.1, 0, 0))), 0, 0, 'one'),
                      (FramePose('tip', pose((0.2, 0, 0))), 0, 0, 'two'))
    assert not solution.success
    assert {v.name.split(':')[0] for v in solution.violations} == {'one', 'two'}
    assert max(v.amount for v in solution.violations) == pytest.approx(0.05, abs=1e-3)


@pytest.mark.parametrize('function', [
    FramePosition('base'), FramePosition('base', P), PointToPlane('base', P, A, B),
    GazeAngle('base', O, UP, A), FramePosition('tip', relative_to='tip'),
    PointToPointDistance('tip', P, P, 'tip'), FrameOrientation('tip', None, 'tip', form='angle'),
    UserFunction(lambda at: 0.25)], ids=str)
def test_what_nothing_moves(ball, function):
    """It holds or it does not; the rest is solved all the same."""
    f = function.value(Configuration(ball))
    wanted = (PointToPointDistance('tip', O, (0.5, 0, 0)), 0.3, 0.4)
    for constraints in ([(function, f, f)], [(function, f, f), wanted]):
        assert solved(ball, *constraints).q is not None
    for constraints in ([(function, f + 0.1, f + 0.2, 'no')],
                        [(function, f + 0.1, f + 0.2, 'no'), wanted]):
        solution = answer(ball, *constraints)
        assert not solution.success and 'no' in solution.explain()
    wish = LeastSquares(function, f + 1.0)
    assert answer(ball, wanted, costs=[wish]).success
    assert answer(ball, costs=[wish]).cost == pytest.approx(0.5 * len(f))


@pytest.mark.parametrize('costs', [[], [LeastSquares(FramePosition('tip'), 1.0)],
                                   [LeastSquares(JointPositions()), ScalarCost(lambda at: 2.0)]])
def test_all_joints_locked(ball, costs):
    """Where it is it stays, and that may do."""
    T = Configuration(ball, START).transform('tip')
    p = T[:3, 3]
    locked = {'locked': ball.joint_names, 'costs': costs}
    held = solved(ball, (FramePosition('tip'), p - 0.1, p + 0.1), **locked)
    assert list(held.q) == list(START)
    for function, lower, upper in ((FramePosition('tip'), p + 0.1, p + 0.2),
                                   (PointToPointDistance('tip', O, p), 0.1, 0.2),
                                   (PointToPointDistance('tip', O, p + 1), 0, 0)):
        solution = answer(ball, (function, lower, upper, 'no'), **locked)
        assert not solution.success and list(solution.best_q) == list(START)
        assert 'no' in solution.explain()
    asked = IKProblem(ball, start=START, constraints=[Constraint(FramePosition('tip'), -9, 9)],
                      **locked)
    for arguments in ({'solutions': 3}, {'select': 'nearest'}, {'select': 'nearest',
                                                               'solutions': 2}):
        solution = solve(asked, timeout=0.05, max_iterations=50, **arguments)
        assert solution.success and solution.alternatives == ()


@pytest.mark.parametrize('name', ['all_fixed', 'one_link'])
def test_robots_without_joints(small, name):
    robot = small(name)
    frame = robot.frame_names[-1]
    p = Configuration(robot).transform(frame)[:3, 3]
    for costs in ([], [LeastSquares(FramePosition(frame))], [ScalarCost(lambda at: 1.0)]):
        for lower, upper, holds in ((p, p, True), (p + 1, p + 2, False)):
            asked = IKProblem(robot, constraints=[Constraint(FramePosition(frame), lower, upper)],
                              costs=costs)
            assert solve(asked, timeout=0.05).success is holds


def test_one_joint(small):
    """All kinds of rows for one joint, more than it can move."""
    robot, judge = small('one_joint'), TreeJudge(SMALL['one_joint'])
    for goal in (-1.5, -1e-9, 0.0, 0.7, 2.5):
        T = judge.transform({'turn': goal}, 'tip')
        for constraints in ([(FramePose('tip', T), 0, 0)],
                            [(PointToPointDistance('tip', O, T[:3, 3]), 0, 0)],
                            [(FrameOrientation('tip', T, form='angle'), 0, 0)],
                            [(JointPositions(['turn']), goal, goal)],
                            [(GazeAngle('tip', O, X, 2 * T[:3, 3] - [0, 0, 0.1]), 0, 0)],
                            [(FramePosition('tip'), T[:3, 3] - 1e-7, T[:3, 3] + 1e-7),
                             (AngleBetweenVectors('tip', X, T[:3, 0]), 0, 0)]):
            solution = solved(robot, *constraints, start=[0.3])
            assert solution.joints['turn'] == pytest.approx(goal, abs=1e-5)


# -- huge and tiny -----------------------------------------------------------------------------

@pytest.mark.parametrize('far', [1e3, 1e6, 1e12, 1e150, 1e300])
def test_far_away(ball, far):
    """Where nothing reaches; and bounds that hold anywhere."""
    point = (min(far, 1e6), 0, 0)    # points are no farther
    for constraint in ((FramePosition('tip'), far, 2 * far), (FramePosition('tip'), far, far),
                       (GazeAngle('tip', O, UP, point), 4e-7, 1e-6),
                       (PointToPlane('tip', O, point, X), 0, math.inf),
                       (UserFunction(lambda at: at.q[0] * far), far, far * 1.1)):
        solution = answer(ball, (*constraint, 'far'), bound=60)
        if not isinstance(constraint[0], (UserFunction, GazeAngle)):
            assert not solution.success and 'far' in solution.explain()
    for lower, upper in ((-far, far), (-math.inf, far), (-far, math.inf)):
        assert solved(ball, (FramePosition('tip'), lower, upper)).iterations == 0


@pytest.mark.parametrize('far', [1.1e6, 1e12, 1e300])
def test_points_beyond_a_million_metres_are_refused(far):
    with pytest.raises(InvalidConstraintError, match='up to 1e.06'):
        GazeAngle('tip', O, UP, (far, 0, 0))


@pytest.mark.parametrize('far', [1e3, 1e6])
def test_points_far_away(ball, far):
    for function in (PointToPointDistance('tip', O, (far, 0, 0)),
                     PointToLineDistance('tip', O, (far, 0, 0), UP)):
        for upper in (0, 0.1):
            solution = answer(ball, (function, 0, upper, 'far'), bound=60)
            assert not solution.success and 'far' in solution.explain()
        assert solved(ball, (function, 0, 2 * far)).iterations == 0


def test_points_too_far_away():
    """Refused by the name of the argument, if at all."""
    for kind, name, arguments in ((PointToPointDistance, 'other_point', ((1e12, 0, 0),)),
                                  (PointToLineDistance, 'line_point', ((1e12, 0, 0), UP))):
        try:
            kind('tip', O, *arguments)
        except IKError as error:
            assert name in str(error)


@pytest.mark.parametrize('scale', [1e-12, 1e-6, 1e6, 1e12, 1e150])
def test_costs_of_any_size(ball, scale):
    """The place of the optimum does not depend on the unit of the cost."""
    p = np.array([0.5, 0.4, 0.3])
    solution = solved(ball, costs=[LeastSquares(FramePosition('tip'), p, scale)])
    np.testing.assert_allclose(Configuration(ball, solution.q).transform('tip')[:3, 3], p,
                               atol=1e-3)
    solution = solved(ball, costs=[ScalarCost(
        lambda at: scale * float(((at.transform('tip')[:3, 3] - p)**2).sum()))])
    if scale > 1e-9:     # of less the differences are rounding
        np.testing.assert_allclose(Configuration(ball, solution.q).transform('tip')[:3, 3], p,
                                   atol=1e-2)


@pytest.mark.parametrize('scale', [1e-3, 1e3])
def test_small_and_large_robots(scale):
    """A watch and a crane: tolerances are metres, whatever the size."""
    robot = Robot.from_urdf(urdf(
        joint('a', 'revolute', 'base', 'la', axis=Z, limits=(-3.0, 3.0)),
        joint('b', 'revolute', 'la', 'lb', xyz=(0.5 * scale, 0, 0), axis=Z, limits=(-2.8, 2.8)),
        joint('c', 'prismatic', 'lb', 'lc', xyz=(0.4 * scale, 0, 0), axis=Z,
              limits=(-scale, scale)),
        joint('e', 'fixed', 'lc', 'tip', xyz=(0.1 * scale, 0, 0))))
    goal = np.array([0.4, -0.9, 0.3 * scale])
    p = Configuration(robot, goal).transform('tip')[:3, 3]
    solution = solved(robot, (FramePosition('tip'), p, p), start=[0.1, 0.2, 0.0])
    found = Configuration(robot, solution.q).transform('tip')[:3, 3]
    assert np.abs(found - p).max() <= SLACK
    solution = solved(robot, (FramePosition('tip', axes='z'), 0.3 * scale, scale),
                      start=[0.1, 0.2, 0.0], costs=[LeastSquares(JointPositions(), 0.2)])
    assert solution.joints['a'] == pytest.approx(0.2, abs=1e-3)


def test_constraints_that_are_steep_or_flat(ball):
    """A user's unit may be anything; the tolerance is in it."""
    for scale in (1e-4, 1.0, 1e4):
        function = UserFunction(lambda at, s=scale: s * at.q[3])
        solution = solved(ball, Constraint(function, 0.5 * scale, 0.5 * scale, None,
                                           1e-6 * scale))
        assert solution.joints['x'] == pytest.approx(0.5, abs=1e-5)


def test_users_functions_that_jump(ball):
    """No gradient tells where to go: a step, a rounding; it ends, and claims nothing wrong."""
    for function in (lambda at: float(at.q[3] > 0.5), lambda at: round(at.q[3]),
                     lambda at: abs(at.q[3]) ** 0.5, lambda at: float(np.sign(at.q[3]))):
        solution = answer(ball, (UserFunction(function), 0.9, 1.1))
        if solution.success:
            assert 0.9 - SLACK <= function(Configuration(ball, solution.q)) <= 1.1 + SLACK


def test_a_start_at_a_singularity(ball):
    """All at zero, where the ball's first and third axis are one."""
    zero = np.zeros(6)
    for goal in ([1.0, 0.5, 0.3, 0.4, -0.2, 0.6], [0, 1e-6, 0, 0, 0, 0], [0, -2.0, 0, 0, 0, 1]):
        T = Configuration(ball, goal).transform('tip')
        solution = solved(ball, (FramePose('tip', T), 0, 0), start=zero)
        np.testing.assert_allclose(Configuration(ball, solution.q).transform('tip'), T, atol=3e-6)
