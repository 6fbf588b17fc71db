"""Hard constraints: each kind, combinations, and configurations without a gradient."""

import math

from function_samples import ROBOTS, SAMPLES
from judge import angle, pose, TreeJudge
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from search_questions import same
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
    IKProblem,
    JointPositions,
    LeastSquares,
    PointToLineDistance,
    PointToPointDistance,
    PoseTarget,
    Robot,
    ScalarCost,
    solve,
    UserFunction,
)
from ros2_ik.core.internals import Search
from ros2_ik.core.solvers.serialization import pack, unpack

SLACK = 1e-6 + 1e-8      # the tolerance, and rounding
BOUNDED = sorted({*SAMPLES} - {'manipulability', 'minimum_distance', 'pair_distance',
                               'region_distance', 'support_polygon', 'user_function'})


def within(robot, judge, solution):
    """Assert success and that the bounds hold."""
    assert solution.success, solution.explain()
    assert judge.outside(solution.joints) == []
    assert np.isfinite(solution.q).all() and solution.violations == ()


@pytest.mark.parametrize('width', [0.0, 0.05], ids=['exact', 'wide'])
@pytest.mark.parametrize('name', ['panda', 'two_arms', 'nested'])
@pytest.mark.parametrize('kind', BOUNDED)
def test_feasible_constraint_of_each_kind_is_solved(
        load, small, judge_of, kind, name, width):
    root, *frames = ROBOTS[name]
    robot = load(name) if root is None else small(name, root)
    judge = judge_of(name) if root is None else TreeJudge(SMALL[name], root)
    for seed, make in enumerate(SAMPLES[kind]):
        generator, function = np.random.default_rng(seed), make(robot, *frames)
        wanted = function.value(Configuration(robot, robot.random_q(generator)))
        low, high = wanted - width * generator.random(), wanted + width * generator.random()
        asked = IKProblem(robot, start=robot.random_q(generator),
                          constraints=[Constraint(function, low, high)], collisions=False)
        solution = solve(asked, timeout=10.0, random_state=0)
        within(robot, judge, solution)
        found = function.value(Configuration(robot, solution.q))
        assert (found >= low - SLACK).all() and (found <= high + SLACK).all(), (found, low, high)


@pytest.mark.parametrize('function', [
    JointPositions(['shoulder_pan_joint']),
    UserFunction(lambda at: at.joints['shoulder_pan_joint'], joints=['shoulder_pan_joint'])],
    ids=str)
@pytest.mark.parametrize('lower, upper', [(-4.0, -3.5), (6.0, 6.2)])
def test_bounded_joint_of_two_turns_ends_in_the_requested_turn(load, function, lower, upper):
    robot = load('ur5')
    asked = IKProblem(robot, constraints=[Constraint(function, lower, upper)])
    solution = solve(asked, random_state=0, timeout=10.0, max_iterations=500)
    assert solution.success, solution.explain()
    assert lower - SLACK <= solution.joints['shoulder_pan_joint'] <= upper + SLACK


@pytest.mark.parametrize('far', [3.0, 3000.0])
@pytest.mark.parametrize('base', ['planar', 'freeflyer'])
def test_floating_base_reaches_targets_kilometres_away(small, far, base):
    robot = small('two_arms', base)
    goal = Configuration(robot).transform('left_hand')[:3, 3] + [far, -far / 2, 0.0]
    asked = IKProblem(robot, constraints=[Constraint(FramePosition('left_hand'), goal, goal)])
    solution = solve(asked, allow_restarts=False, solver='sqp')
    assert solution.success, solution.explain()
    at = Configuration(robot, solution.q).transform('left_hand')[:3, 3]
    assert at == pytest.approx(goal, abs=SLACK)


@pytest.mark.parametrize('tolerance', [1e-2, 1e-9])
@pytest.mark.parametrize('width', [0.0, 1e-3])
def test_solutions_keep_wide_and_narrow_constraint_tolerances(small, tolerance, width):
    """Also at the edge of a bound."""
    robot, judge = small('zero_links'), TreeJudge(SMALL['zero_links'])
    p = np.array([0.3, -0.2, 0.4])
    for seed in range(5):
        asked = IKProblem(
            robot, start=robot.random_q(np.random.default_rng(seed)),
            constraints=[Constraint(FramePosition('tip'), p, p + width, 'box', tolerance),
                         Constraint(JointPositions(['w3']), -1, 1, None, tolerance)],
            costs=[LeastSquares(FramePosition('tip'), p + 1), LeastSquares(JointPositions(), 1.2)])
        solution = solve(asked, timeout=10.0, random_state=0)
        within(robot, judge, solution)
        found = judge.transform(solution.joints, 'tip')[:3, 3]
        assert (found >= p - tolerance - 1e-12).all()
        assert (found <= p + width + tolerance + 1e-12).all()
        assert abs(solution.joints['w3']) <= 1 + tolerance


def tall(at):
    return -at.transform('b4')[2, 3]


@pytest.mark.parametrize('arguments', [
    {'select': 'cost'}, {'solver_options': {'attempt_iterations': 30}}])
def test_constrained_search_in_another_process_gives_the_same_solution(robot, arguments):
    p = np.array([0.3, -0.2, 0.4])
    asked = IKProblem(
        robot, constraints=[Constraint(FramePosition('tip'), p - 0.01, p + 0.01),
                            Constraint(UserFunction(tall), -0.5, -0.1, 'tall', 1e-4)],
        costs=[LeastSquares(JointPositions(['s1', 's2']), upper=0.2), ScalarCost(tall)],
        start={'w3': 0.2}, locked=['w3'], joint_limits=False)

    def search():
        return Search(asked, random_state=3, timeout=60.0, max_iterations=200, **arguments)
    whole, first = search(), search()
    whole.run()
    first.run(1e-9)
    second = unpack(pack(first, robot), robot)
    assert second.problem.kinds == asked.kinds and second.problem.joint_limits is False
    assert [c.name for c in second.problem.constraints] == [c.name for c in asked.constraints]
    assert [c.tolerance for c in second.problem.constraints] == [1e-6, 1e-4]
    second.run()
    same(whole.solution(), second.solution())
    assert whole.solution().costs == second.solution().costs


def test_solver_auto_reports_its_choice_and_the_reason(robot):
    target = PoseTarget('tip', pose((0.3, 0, 0.4)))
    for arguments, solver, words in (
            ({}, 'lm', ['poses']),
            ({'constraints': [Constraint(FramePosition('tip'), -9, 9)]}, 'sqp', ['constraints']),
            ({'costs': [ScalarCost(tall)]}, 'sqp', ['scalar costs']),
            ({'costs': [LeastSquares(FramePosition('tip'))]}, 'sqp', ['costs'])):
        solution = solve(IKProblem(robot, [target], **arguments), random_state=0)
        assert solution.solver == solver
        for word in ('auto', *words):
            assert word in solution.solver_reason


O, UP = (0, 0, 0), (0, 0, 1)     # noqa: E741
PI = np.pi
SURE = {'timeout': 60.0, 'random_state': 0}
# three axes that meet: turns any way; a slide each way: stands anywhere
BALL = urdf(joint('a', 'continuous', 'base', 'la', axis=Z),
            joint('b', 'continuous', 'la', 'lb', axis=Y),
            joint('c', 'continuous', 'lb', 'lc', axis=Z),
            joint('x', 'prismatic', 'lc', 'lx', axis=X, limits=(-3.0, 3.0)),
            joint('y', 'prismatic', 'lx', 'ly', axis=Y, limits=(-3.0, 3.0)),
            joint('z', 'prismatic', 'ly', 'tip', axis=Z, limits=(-3.0, 3.0)))
ANGLES = [0.0, 1e-9, 1.0, PI - 1e-9, PI]


@pytest.fixture(scope='module')
def ball():
    return Robot.from_urdf(BALL)


@pytest.fixture(scope='module')
def judge():
    return TreeJudge(BALL)


START = np.array([0.4, 0.9, -0.7, 0.1, 0.2, 0.3])


def answer(robot, *constraints, targets=(), start=START, costs=(), bound=2000, **arguments):
    """Solve (function, lower, upper); assert that all numbers are finite and limits hold."""
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
def test_orientation_is_solved_from_0_to_half_a_turn_away(ball, judge, off, axis):
    """The gradient vanishes or has no direction at 0 and at half a turn."""
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
def test_angles_are_solved_from_parallel_and_antiparallel(ball, judge, off, bound, scale):
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
def test_gaze_is_solved_from_starts_without_gradient(ball, judge, distance, off, upper):
    """Inside the target, exactly ahead and exactly behind."""
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
def test_distance_constraints_are_solved_where_points_coincide(ball, judge, distance, bound):
    p = judge.transform(ball.to_joints(START), 'tip')[:3, 3]
    other = p + distance * np.array([0.6, 0, 0.8])
    solution = solved(ball, (PointToPointDistance('tip', O, other), bound, bound))
    found = judge.transform(solution.joints, 'tip')[:3, 3]
    assert np.linalg.norm(found - other) == pytest.approx(bound, abs=SLACK)
    solution = solved(ball, (PointToLineDistance('tip', O, other, (0.8, 0, -0.6)), bound, bound))
    found = judge.transform(solution.joints, 'tip')[:3, 3]
    off = np.linalg.norm(np.cross(found - other, (0.8, 0, -0.6)))
    assert off == pytest.approx(bound, abs=SLACK)


# -- bounds without width, rows that repeat, rows that nothing moves ---------------------------

P, A = (0.03, -0.02, 0.11), (0.2, -0.1, 2)
TURNED = pose(rotvec=(0.5, -0.9, 0.7))
EVERY = [FrameOrientation('tip', TURNED, form='euler'), CenterOfMass(), FramePose('tip', TURNED),
         JointPositions(), UserFunction(lambda at: at.q[:2] @ at.q[1:3])]


@pytest.mark.parametrize('function', EVERY, ids=str)
@pytest.mark.parametrize('times', [1, 5])
def test_repeated_equality_constraints_are_solved(ball, function, times):
    goal = np.array([-0.5, 0.6, 1.2, -0.4, 0.7, 1.0])
    function.joints(ball)
    f = function.value(Configuration(ball, goal))
    solution = solved(ball, *[(function, f, f)] * times)
    np.testing.assert_allclose(function.value(Configuration(ball, solution.q)), f, atol=SLACK)


@pytest.mark.parametrize('function', [
    FramePosition('base', P), GazeAngle('base', O, UP, A),
    PointToPointDistance('tip', P, P, 'tip'), UserFunction(lambda at: 0.25)], ids=str)
def test_constraint_that_no_joint_affects_holds_or_is_reported(ball, function):
    """The other constraints are solved in both cases."""
    f = function.value(Configuration(ball))
    wanted = (PointToPointDistance('tip', O, (0.5, 0, 0)), 0.3, 0.4)
    for constraints in ([(function, f, f)], [(function, f, f), wanted]):
        assert solved(ball, *constraints).q is not None
    for constraints in ([(function, f + 0.1, f + 0.2, 'no')],
                        [(function, f + 0.1, f + 0.2, 'no'), wanted]):
        solution = answer(ball, *constraints, bound=200)
        assert not solution.success and 'no' in solution.explain()
    wish = LeastSquares(function, f + 1.0)
    assert answer(ball, wanted, costs=[wish]).success
    assert answer(ball, costs=[wish]).cost == pytest.approx(0.5 * len(f))


def test_problem_with_all_joints_locked_is_decided_at_the_seed(ball):
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
