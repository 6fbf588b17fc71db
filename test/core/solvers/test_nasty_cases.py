"""Where functions have no gradient, rows repeat or nothing moves: right answers, no NaN."""

import math

from judge import angle, claims, pose, TreeJudge
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from small_robots import joint, urdf, X, Y, Z

from ros2_ik.core import (
    AngleBetweenVectors,
    CenterOfMass,
    Configuration,
    Constraint,
    FrameOrientation,
    FramePose,
    FramePosition,
    GazeAngle,
    IKProblem,
    InvalidConstraintError,
    JointCoupling,
    JointPositions,
    LeastSquares,
    Manipulability,
    PointToLineDistance,
    PointToPlane,
    PointToPointDistance,
    PoseTarget,
    Robot,
    ScalarCost,
    solve,
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
ANGLES = [0.0, 1e-15, 1e-9, 1e-5, 1.0, PI - 1e-5, PI - 1e-9, PI]


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
@pytest.mark.parametrize('axis', [X, (0, 0.6, 0.8)])
def test_orientation_from_an_angle_off(ball, judge, off, axis):
    """The gradient at 0 and at half a turn leads away from there."""
    R = judge.transform(ball.to_joints(START), 'tip')[:3, :3]
    wanted = R @ Rotation.from_rotvec(off * np.array(axis)).as_matrix()
    whole = FrameOrientation('tip', wanted, form='angle')
    for function, bound in ((FrameOrientation('tip', wanted), 0), (whole, 0), (whole, 1e-9),
                            (whole, 1.0), (whole, PI - 1e-9), (whole, PI)):
        solution = solved(ball, (function, bound, bound))
        found = judge.transform(solution.joints, 'tip')[:3, :3]
        size = Rotation.from_matrix(wanted.T @ found).magnitude()
        assert size == pytest.approx(bound, abs=2e-6)


@pytest.mark.parametrize('off', ANGLES)
@pytest.mark.parametrize('bound', [0, 1e-9, 1.0, PI - 1e-9, PI])
@pytest.mark.parametrize('scale', [1e-8, 1e150])
def test_vectors_parallel_and_antiparallel(ball, judge, off, bound, scale):
    R = judge.transform(ball.to_joints(START), 'tip')[:3, :3]
    other = R @ [0, math.sin(off), math.cos(off)]
    if off > 3:     # exactly, not by rounding of the sine
        other = R @ [0, PI - off, -1.0]
    solution = solved(ball, (AngleBetweenVectors('tip', (0, 0, scale), other * scale), bound,
                             bound))
    found = judge.transform(solution.joints, 'tip')[:3, 2]
    assert angle(found, other) == pytest.approx(bound, abs=2e-6)
    if bound == 0:
        solution = solved(ball, (AngleBetweenVectors('tip', UP, other, form='vector'), 0, 0))
        assert angle(judge.transform(solution.joints, 'tip')[:3, 2], other) <= 2e-6


@pytest.mark.parametrize('distance', [0.0, 1e-15, 1e-6, 100.0])
@pytest.mark.parametrize('off', [0.0, 1.0, PI - 1e-9, PI])
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
        assert angle(ahead, UP) <= upper + 2e-6 + 1e-15 / np.linalg.norm(ahead)
    if upper == 0:
        solved(ball, (GazeAngle('tip', O, UP, target, form='vector'), 0, 0))


@pytest.mark.parametrize('distance', [0.0, 1e-15, 1e-6, 0.3])
@pytest.mark.parametrize('bound', [0, 1e-9, 0.2])
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


@pytest.mark.parametrize('pitch', [-PI / 2, PI / 2 - 1e-9])
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
EVERY = [*(FrameOrientation('tip', TURNED, form=form) for form in ('euler', 'vector')),
         CenterOfMass(), FramePose('tip', pose(P, B)), JointCoupling(['a', 'x'], [1, 2]),
         JointPositions(), Manipulability('tip', rows='position'), PointToPlane('tip', P, A, B),
         UserFunction(lambda at: at.q[:2] @ at.q[1:3])]


@pytest.mark.parametrize('function', EVERY, ids=str)
@pytest.mark.parametrize('times', [1, 5])
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


@pytest.mark.parametrize('function', [
    FramePosition('base', P), GazeAngle('base', O, UP, A),
    PointToPointDistance('tip', P, P, 'tip'), UserFunction(lambda at: 0.25)], ids=str)
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


def test_all_joints_locked(ball):
    """Where it is it stays, and that may do."""
    p = Configuration(ball, START).transform('tip')[:3, 3]
    locked = {'locked': ball.joint_names, 'costs': [LeastSquares(FramePosition('tip'), 1.0)]}
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
    solution = solve(asked, timeout=0.05, max_iterations=50, select='nearest', solutions=2)
    assert solution.success and solution.alternatives == ()


def test_a_robot_without_joints(small):
    robot = small('one_link')
    for lower, upper, holds in ((0, 0, True), (1, 2, False)):
        asked = IKProblem(robot, constraints=[Constraint(FramePosition('body'), lower, upper)],
                          costs=[ScalarCost(lambda at: 1.0)])
        assert solve(asked, timeout=0.05).success is holds


# -- huge and tiny -----------------------------------------------------------------------------

@pytest.mark.parametrize('far', [1e3, 1e12, 1e300])
def test_far_away(ball, far):
    """Where nothing reaches; and bounds that hold anywhere."""
    point = (min(far, 1e6), 0, 0)    # points are no farther
    for constraint in ((FramePosition('tip'), far, 2 * far), (FramePosition('tip'), far, far),
                       (PointToPointDistance('tip', O, point), 0, 0.1),
                       (GazeAngle('tip', O, UP, point), 4e-7, 1e-6),
                       (PointToPlane('tip', O, point, X), 0, math.inf),
                       (UserFunction(lambda at: at.q[0] * far), far, far * 1.1)):
        solution = answer(ball, (*constraint, 'far'), bound=60)
        if not isinstance(constraint[0], (UserFunction, GazeAngle)):
            assert not solution.success and 'far' in solution.explain()
    for lower, upper in ((-far, far), (-math.inf, far), (-far, math.inf)):
        assert solved(ball, (FramePosition('tip'), lower, upper)).iterations == 0


def test_points_beyond_a_million_metres_are_refused():
    with pytest.raises(InvalidConstraintError, match='up to 1e.06'):
        GazeAngle('tip', O, UP, (1.1e6, 0, 0))


@pytest.mark.parametrize('scale', [1e-12, 1e12, 1e150])
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


def test_constraints_that_are_steep_or_flat(ball):
    """A user's unit may be anything; the tolerance is in it."""
    for scale in (1e-4, 1.0, 1e4):
        function = UserFunction(lambda at, s=scale: s * at.q[3])
        solution = solved(ball, Constraint(function, 0.5 * scale, 0.5 * scale, None,
                                           1e-6 * scale))
        assert solution.joints['x'] == pytest.approx(0.5, abs=1e-5)


def test_a_start_at_a_singularity(ball):
    """All at zero, where the ball's first and third axis are one."""
    zero = np.zeros(6)
    for goal in ([1.0, 0.5, 0.3, 0.4, -0.2, 0.6], [0, 1e-6, 0, 0, 0, 0], [0, -2.0, 0, 0, 0, 1]):
        T = Configuration(ball, goal).transform('tip')
        solution = solved(ball, (FramePose('tip', T), 0, 0), start=zero)
        np.testing.assert_allclose(Configuration(ball, solution.q).transform('tip'), T, atol=3e-6)
