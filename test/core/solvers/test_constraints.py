"""Hard constraints: each kind, combinations, and configurations without a gradient."""

import math

from function_samples import ROBOTS, SAMPLES
from judge import angle, pose, TreeJudge
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from search_problems import assert_same_solution
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

SLACK = 1e-6 + 1e-8      # tolerance of a constraint plus rounding, in its unit
KINDS = sorted({*SAMPLES} - {'manipulability', 'minimum_distance', 'pair_distance',
                             'region_distance', 'support_polygon', 'user_function'})


def assert_valid(robot, judge, solution):
    """Assert success, joint limits and no violations."""
    assert solution.success, solution.explain()
    assert judge.outside(solution.joints) == []
    assert np.isfinite(solution.q).all() and solution.violations == ()


@pytest.mark.parametrize('width', [0.0, 0.05], ids=['exact', 'wide'])
@pytest.mark.parametrize('name', ['panda', 'two_arms', 'nested'])
@pytest.mark.parametrize('kind', KINDS)
def test_feasible_constraint_of_each_kind_is_solved(
        load, small, judge_of, kind, name, width):
    root, *frames = ROBOTS[name]
    robot = load(name) if root is None else small(name, root)
    judge = judge_of(name) if root is None else TreeJudge(SMALL[name], root)
    for seed, make in enumerate(SAMPLES[kind]):
        generator, function = np.random.default_rng(seed), make(robot, *frames)
        wanted = function.value(Configuration(robot, robot.random_q(generator)))
        low, high = wanted - width * generator.random(), wanted + width * generator.random()
        problem = IKProblem(robot, start=robot.random_q(generator),
                            constraints=[Constraint(function, low, high)], collisions=False)
        solution = solve(problem, timeout=10.0, random_state=0)
        assert_valid(robot, judge, solution)
        found = function.value(Configuration(robot, solution.q))
        assert (found >= low - SLACK).all() and (found <= high + SLACK).all(), (found, low, high)


@pytest.mark.parametrize('function', [
    JointPositions(['shoulder_pan_joint']),
    UserFunction(lambda at: at.joints['shoulder_pan_joint'], joints=['shoulder_pan_joint'])],
    ids=str)
@pytest.mark.parametrize('lower, upper', [(-4.0, -3.5), (6.0, 6.2)])
def test_joint_with_range_of_two_turns_ends_in_the_requested_turn(load, function, lower, upper):
    robot = load('ur5')
    problem = IKProblem(robot, constraints=[Constraint(function, lower, upper)])
    solution = solve(problem, random_state=0, timeout=10.0, max_iterations=500)
    assert solution.success, solution.explain()
    assert lower - SLACK <= solution.joints['shoulder_pan_joint'] <= upper + SLACK


@pytest.mark.parametrize('far', [3.0, 3000.0])
@pytest.mark.parametrize('base', ['planar', 'freeflyer'])
def test_mobile_base_reaches_targets_kilometres_away(small, far, base):
    robot = small('two_arms', base)
    goal = Configuration(robot).transform('left_hand')[:3, 3] + [far, -far / 2, 0.0]
    problem = IKProblem(robot, constraints=[Constraint(FramePosition('left_hand'), goal, goal)])
    solution = solve(problem, allow_restarts=False, solver='sqp')
    assert solution.success, solution.explain()
    at = Configuration(robot, solution.q).transform('left_hand')[:3, 3]
    assert at == pytest.approx(goal, abs=SLACK)


@pytest.mark.parametrize('tolerance', [1e-2, 1e-9])
@pytest.mark.parametrize('width', [0.0, 1e-3])
def test_solutions_respect_wide_and_narrow_constraint_tolerances(small, tolerance, width):
    """The costs pull the solution to the edge of its bounds."""
    robot, judge = small('zero_links'), TreeJudge(SMALL['zero_links'])
    p = np.array([0.3, -0.2, 0.4])
    for seed in range(5):
        problem = IKProblem(
            robot, start=robot.random_q(np.random.default_rng(seed)),
            constraints=[Constraint(FramePosition('tip'), p, p + width, 'box', tolerance),
                         Constraint(JointPositions(['w3']), -1, 1, None, tolerance)],
            costs=[LeastSquares(FramePosition('tip'), p + 1), LeastSquares(JointPositions(), 1.2)])
        solution = solve(problem, timeout=10.0, random_state=0)
        assert_valid(robot, judge, solution)
        found = judge.transform(solution.joints, 'tip')[:3, 3]
        assert (found >= p - tolerance - 1e-12).all()
        assert (found <= p + width + tolerance + 1e-12).all()
        assert abs(solution.joints['w3']) <= 1 + tolerance


def depth(at):
    return -at.transform('b4')[2, 3]


@pytest.mark.parametrize('arguments', [
    {'select': 'cost'}, {'solver_options': {'attempt_iterations': 30}}])
def test_serialized_constrained_search_gives_the_same_solution(robot, arguments):
    p = np.array([0.3, -0.2, 0.4])
    problem = IKProblem(
        robot, constraints=[Constraint(FramePosition('tip'), p - 0.01, p + 0.01),
                            Constraint(UserFunction(depth), -0.5, -0.1, 'depth', 1e-4)],
        costs=[LeastSquares(JointPositions(['s1', 's2']), upper=0.2), ScalarCost(depth)],
        start={'w3': 0.2}, locked=['w3'], joint_limits=False)

    def search():
        return Search(problem, random_state=3, timeout=60.0, max_iterations=200, **arguments)
    uninterrupted, interrupted = search(), search()
    uninterrupted.run()
    interrupted.run(1e-9)
    restored = unpack(pack(interrupted, robot), robot)
    assert restored.problem.kinds == problem.kinds and restored.problem.joint_limits is False
    assert [c.name for c in restored.problem.constraints] == [c.name for c in problem.constraints]
    assert [c.tolerance for c in restored.problem.constraints] == [1e-6, 1e-4]
    restored.run()
    assert_same_solution(uninterrupted.solution(), restored.solution())
    assert uninterrupted.solution().costs == restored.solution().costs


def test_solver_auto_reports_its_choice_and_the_reason(robot):
    target = PoseTarget('tip', pose((0.3, 0, 0.4)))
    for arguments, solver, words in (
            ({}, 'lm', ['poses']),
            ({'constraints': [Constraint(FramePosition('tip'), -9, 9)]}, 'sqp', ['constraints']),
            ({'costs': [ScalarCost(depth)]}, 'sqp', ['scalar costs']),
            ({'costs': [LeastSquares(FramePosition('tip'))]}, 'sqp', ['costs'])):
        solution = solve(IKProblem(robot, [target], **arguments), random_state=0)
        assert solution.solver == solver
        for word in ('auto', *words):
            assert word in solution.solver_reason


O, UP = (0, 0, 0), (0, 0, 1)     # noqa: E741
PI = np.pi
DETERMINISTIC = {'timeout': 60.0, 'random_state': 0}     # iterations limit the search
# spherical wrist and three slides: the tip reaches any orientation and position in its range
SIX_DOF = urdf(joint('a', 'continuous', 'base', 'la', axis=Z),
               joint('b', 'continuous', 'la', 'lb', axis=Y),
               joint('c', 'continuous', 'lb', 'lc', axis=Z),
               joint('x', 'prismatic', 'lc', 'lx', axis=X, limits=(-3.0, 3.0)),
               joint('y', 'prismatic', 'lx', 'ly', axis=Y, limits=(-3.0, 3.0)),
               joint('z', 'prismatic', 'ly', 'tip', axis=Z, limits=(-3.0, 3.0)))
ANGLES = [0.0, 1e-9, 1.0, PI - 1e-9, PI]     # [rad]


@pytest.fixture(scope='module')
def arm():
    return Robot.from_urdf(SIX_DOF)


@pytest.fixture(scope='module')
def judge():
    return TreeJudge(SIX_DOF)


START = np.array([0.4, 0.9, -0.7, 0.1, 0.2, 0.3])


def solve_finite(robot, *constraints, targets=(), start=START, costs=(), limit=2000, **arguments):
    """Solve for constraints (function, lower, upper); assert finite numbers and joint limits."""
    problem = IKProblem(robot, targets, start=start, costs=costs, constraints=[
        c if isinstance(c, Constraint) else Constraint(*c) for c in constraints], **arguments)
    with np.errstate(divide='raise', invalid='raise'):
        solution = solve(problem, **DETERMINISTIC, max_iterations=limit)
    assert np.isfinite(solution.best_q).all() and math.isfinite(solution.cost)
    if problem.joint_limits:
        assert (solution.best_q >= robot.lower).all() and (solution.best_q <= robot.upper).all()
    return solution


def assert_solved(robot, *constraints, **arguments):
    solution = solve_finite(robot, *constraints, **arguments)
    assert solution.success, solution.explain()
    assert solution.violations == ()
    return solution


# -- angles near 0 and half a turn -------------------------------------------------------------

@pytest.mark.parametrize('error', ANGLES)
@pytest.mark.parametrize('axis', [X, (0, 0.6, 0.8)])
def test_orientation_is_solved_from_0_to_half_a_turn_away(arm, judge, error, axis):
    """The gradient is zero or undefined at 0 and at half a turn."""
    R = judge.transform(arm.to_joints(START), 'tip')[:3, :3]
    wanted = R @ Rotation.from_rotvec(error * np.array(axis)).as_matrix()
    whole = FrameOrientation('tip', wanted, form='angle')
    for function, bound in ((FrameOrientation('tip', wanted), 0), (whole, 0), (whole, 1e-9),
                            (whole, 1.0), (whole, PI - 1e-9), (whole, PI)):
        solution = assert_solved(arm, (function, bound, bound))
        found = judge.transform(solution.joints, 'tip')[:3, :3]
        size = Rotation.from_matrix(wanted.T @ found).magnitude()
        assert size == pytest.approx(bound, abs=2e-6)


@pytest.mark.parametrize('error', ANGLES)
@pytest.mark.parametrize('bound', [0, 1e-9, 1.0, PI - 1e-9, PI])
@pytest.mark.parametrize('scale', [1e-8, 1e150])
def test_angle_is_solved_from_parallel_and_antiparallel(arm, judge, error, bound, scale):
    R = judge.transform(arm.to_joints(START), 'tip')[:3, :3]
    other = R @ [0, math.sin(error), math.cos(error)]
    if error > 3:     # exactly, as sin(pi) is not 0
        other = R @ [0, PI - error, -1.0]
    solution = assert_solved(arm, (AngleBetweenVectors('tip', (0, 0, scale), other * scale), bound,
                                   bound))
    found = judge.transform(solution.joints, 'tip')[:3, 2]
    assert angle(found, other) == pytest.approx(bound, abs=2e-6)
    if bound == 0:
        solution = assert_solved(arm, (AngleBetweenVectors('tip', UP, other, form='vector'), 0, 0))
        assert angle(judge.transform(solution.joints, 'tip')[:3, 2], other) <= 2e-6


@pytest.mark.parametrize('distance', [0.0, 1e-15, 1e-6, 100.0])
@pytest.mark.parametrize('error', [0.0, 1.0, PI - 1e-9, PI])
@pytest.mark.parametrize('upper', [0, 0.5, PI])
def test_gaze_is_solved_from_starts_without_gradient(arm, judge, distance, error, upper):
    """Including targets at the camera, exactly ahead and exactly behind."""
    T = judge.transform(arm.to_joints(START), 'tip')
    ray = distance * np.array([math.sin(error) if error < 3 else PI - error, 0, math.cos(error)])
    target = T[:3, :3] @ ray + T[:3, 3]
    solution = assert_solved(arm, (GazeAngle('tip', O, UP, target), 0, upper))
    T = judge.transform(solution.joints, 'tip')
    ahead = T[:3, :3].T @ (target - T[:3, 3])
    if upper < PI:
        assert np.linalg.norm(ahead) > 1e-9
        assert angle(ahead, UP) <= upper + 2e-6 + 1e-15 / np.linalg.norm(ahead)
    if upper == 0:
        assert_solved(arm, (GazeAngle('tip', O, UP, target, form='vector'), 0, 0))


@pytest.mark.parametrize('distance', [0.0, 1e-15, 1e-6, 0.3])
@pytest.mark.parametrize('bound', [0, 1e-9, 0.2])
def test_distance_constraints_are_solved_from_coincident_points(arm, judge, distance, bound):
    p = judge.transform(arm.to_joints(START), 'tip')[:3, 3]
    other = p + distance * np.array([0.6, 0, 0.8])
    solution = assert_solved(arm, (PointToPointDistance('tip', O, other), bound, bound))
    found = judge.transform(solution.joints, 'tip')[:3, 3]
    assert np.linalg.norm(found - other) == pytest.approx(bound, abs=SLACK)
    solution = assert_solved(arm, (PointToLineDistance('tip', O, other, (0.8, 0, -0.6)), bound,
                                   bound))
    found = judge.transform(solution.joints, 'tip')[:3, 3]
    off = np.linalg.norm(np.cross(found - other, (0.8, 0, -0.6)))
    assert off == pytest.approx(bound, abs=SLACK)


# -- bounds of zero width, repeated rows, rows that no joint affects ---------------------------

P, A = (0.03, -0.02, 0.11), (0.2, -0.1, 2)
TURNED = pose(rotvec=(0.5, -0.9, 0.7))
FUNCTIONS = [FrameOrientation('tip', TURNED, form='euler'), CenterOfMass(), JointPositions(),
             FramePose('tip', TURNED), UserFunction(lambda at: at.q[:2] @ at.q[1:3])]


@pytest.mark.parametrize('function', FUNCTIONS, ids=str)
@pytest.mark.parametrize('times', [1, 5])
def test_repeated_equality_constraints_are_solved(arm, function, times):
    goal = np.array([-0.5, 0.6, 1.2, -0.4, 0.7, 1.0])
    function.joints(arm)
    f = function.value(Configuration(arm, goal))
    solution = assert_solved(arm, *[(function, f, f)] * times)
    np.testing.assert_allclose(function.value(Configuration(arm, solution.q)), f, atol=SLACK)


@pytest.mark.parametrize('function', [
    FramePosition('base', P), GazeAngle('base', O, UP, A),
    PointToPointDistance('tip', P, P, 'tip'), UserFunction(lambda at: 0.25)], ids=str)
def test_constraint_that_no_joint_affects_is_met_or_named_as_violated(arm, function):
    f = function.value(Configuration(arm))
    feasible = (PointToPointDistance('tip', O, (0.5, 0, 0)), 0.3, 0.4)
    for constraints in ([(function, f, f)], [(function, f, f), feasible]):
        assert assert_solved(arm, *constraints).q is not None
    for constraints in ([(function, f + 0.1, f + 0.2, 'no')],
                        [(function, f + 0.1, f + 0.2, 'no'), feasible]):
        solution = solve_finite(arm, *constraints, limit=200)
        assert not solution.success and 'no' in solution.explain()
    cost = LeastSquares(function, f + 1.0)
    assert solve_finite(arm, feasible, costs=[cost]).success
    assert solve_finite(arm, costs=[cost]).cost == pytest.approx(0.5 * len(f))


def test_problem_with_all_joints_locked_is_evaluated_at_its_start(arm):
    p = Configuration(arm, START).transform('tip')[:3, 3]
    locked = {'locked': arm.joint_names, 'costs': [LeastSquares(FramePosition('tip'), 1.0)]}
    held = assert_solved(arm, (FramePosition('tip'), p - 0.1, p + 0.1), **locked)
    assert list(held.q) == list(START)
    for function, lower, upper in ((FramePosition('tip'), p + 0.1, p + 0.2),
                                   (PointToPointDistance('tip', O, p), 0.1, 0.2),
                                   (PointToPointDistance('tip', O, p + 1), 0, 0)):
        solution = solve_finite(arm, (function, lower, upper, 'no'), **locked)
        assert not solution.success and list(solution.best_q) == list(START)
        assert 'no' in solution.explain()
    problem = IKProblem(arm, start=START, constraints=[Constraint(FramePosition('tip'), -9, 9)],
                        **locked)
    solution = solve(problem, timeout=0.05, max_iterations=50, select='nearest', solutions=2)
    assert solution.success and solution.alternatives == ()
