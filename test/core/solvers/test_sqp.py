"""Hard constraints of each kind, alone and together; turns, tolerances and other processes."""

import math

from judge import numeric_jacobian, pose, TreeJudge
import numpy as np
import pytest
from search_questions import same
from small_robots import SMALL

from ros2_ik.core import (
    AngleBetweenVectors,
    Budget,
    CenterOfMass,
    Configuration,
    Constraint,
    FrameOrientation,
    FramePose,
    FramePosition,
    GazeAngle,
    IKProblem,
    JointCoupling,
    JointPositions,
    LeastSquares,
    Manipulability,
    PointToLineDistance,
    PointToPlane,
    PointToPointDistance,
    Polyhedron,
    PoseTarget,
    ScalarCost,
    Search,
    solve,
    UserFunction,
)
from ros2_ik.core.solvers import make_solver

P, A, B, Q = (0.03, -0.02, 0.11), (0.2, -0.1, 2), (1, -0.2, 0.4), (0.5, 0.2, 0.6)
TURNED = pose((0.1, -0.2, 0.4), (0.5, -0.9, 0.7))
SLACK = 1e-6 + 1e-8      # the tolerance, and rounding


# of a frame a seen from b; what their values mean is judged in test/core/functions
KINDS = {
    'angle between vectors': lambda a, b: AngleBetweenVectors(a, A, B, b),
    'orientation': lambda a, b: FrameOrientation(a, TURNED, b),
    'euler angles': lambda a, b: FrameOrientation(a, TURNED, b, form='euler'),
    'angle': lambda a, b: FrameOrientation(a, TURNED, b, form='angle'),
    'pose': lambda a, b: FramePose(a, TURNED, b),
    'position': lambda a, b: FramePosition(a, P, b),
    'gaze': lambda a, b: GazeAngle(a, P, A, Q, b),
    'polyhedron': lambda a, b: Polyhedron(a, [P, Q], [[*A, *B], [*Q, *P]], b),
    'line': lambda a, b: PointToLineDistance(a, P, Q, A, b),
    'plane': lambda a, b: PointToPlane(a, P, Q, A, b),
    'point': lambda a, b: PointToPointDistance(a, P, Q, b),
    'centre of mass': lambda a, b: CenterOfMass(),
    'joints': lambda a, b: JointPositions(),
}
# robot: root joint (None: shipped), frame, relative_to
ROBOTS = {'panda': (None, 'panda_hand', None), 'baxter': (None, 'left_gripper', 'right_gripper'),
          'two_arms': ('freeflyer', 'left_hand', None), 'nested': ('fixed', 'tip', 'base')}


def within(robot, judge, solution):
    """Assert success and that the limits are kept."""
    assert solution.success, solution.explain()
    assert judge.outside(solution.joints) == []
    assert np.isfinite(solution.q).all() and solution.violations == ()


@pytest.mark.parametrize('width', [0.0, 0.05], ids=['exact', 'wide'])
@pytest.mark.parametrize('name', ROBOTS)
@pytest.mark.parametrize('kind', KINDS)
def test_each_kind_alone(load, small, judge_of, kind, name, width):
    """Feasible, for somewhere in the limits it holds; from anywhere."""
    root, frame, relative = ROBOTS[name]
    robot = load(name) if root is None else small(name, root)
    judge = judge_of(name) if root is None else TreeJudge(SMALL[name], root)
    function = KINDS[kind](frame, relative)
    for seed in range(3):
        generator = np.random.default_rng(seed)
        wanted = function.value(Configuration(robot, robot.random_q(generator)))
        low, high = wanted - width * generator.random(), wanted + width * generator.random()
        asked = IKProblem(robot, start=robot.random_q(generator),
                          constraints=[Constraint(function, low, high)], collisions=False)
        solution = solve(asked, timeout=10.0, random_state=0)
        within(robot, judge, solution)
        found = function.value(Configuration(robot, solution.q))
        assert (found >= low - SLACK).all() and (found <= high + SLACK).all(), (found, low, high)


def test_manipulability_can_be_bounded(load, judge_of):
    robot, judge = load('panda'), judge_of('panda')
    function = Manipulability('panda_hand', rows='position')
    asked = IKProblem(robot, constraints=[Constraint(function, 0.12)])
    for seed in range(2):
        q = robot.random_q(np.random.default_rng(seed))
        solution = solve(asked, [q], timeout=10.0, random_state=0)
        within(robot, judge, solution)
        J = numeric_jacobian(robot, solution.q, lambda q: judge.transform(robot.to_joints(q),
                                                                          'panda_hand'))[:3]
        assert math.sqrt(np.linalg.det(J @ J.T)) >= 0.12 - 1e-5


@pytest.mark.parametrize('function', [
    JointPositions(['shoulder_pan_joint']),
    UserFunction(lambda at: at.joints['shoulder_pan_joint'], joints=['shoulder_pan_joint'])],
    ids=str)
@pytest.mark.parametrize('lower, upper', [(-4.0, -3.5), (6.0, 6.2)])
def test_turns_that_are_wanted(load, function, lower, upper):
    """A joint of two turns, in one of which it should be."""
    robot = load('ur5')
    asked = IKProblem(robot, constraints=[Constraint(function, lower, upper)])
    solution = solve(asked, random_state=0, timeout=10.0, max_iterations=500)
    assert solution.success, solution.explain()
    assert lower - SLACK <= solution.joints['shoulder_pan_joint'] <= upper + SLACK


@pytest.mark.parametrize('far', [8.0, -25.0])
def test_through_several_turns_of_a_joint_without_limits(load, far):
    """A step is bounded: it was given up after six of them."""
    asked = IKProblem(load('kinova'), constraints=[
        Constraint(JointCoupling(['j2s6s200_joint_1'], [1.0]), far, far)])
    solution = solve(asked, allow_restarts=False, solver='sqp')
    assert solution.success, solution.explain()
    assert solution.joints['j2s6s200_joint_1'] == pytest.approx(far, abs=SLACK)


@pytest.mark.parametrize('far', [3.0, 3000.0])
@pytest.mark.parametrize('base', ['planar', 'freeflyer'])
def test_a_base_goes_far(small, far, base):
    robot = small('two_arms', base)
    goal = Configuration(robot).transform('left_hand')[:3, 3] + [far, -far / 2, 0.0]
    asked = IKProblem(robot, constraints=[Constraint(FramePosition('left_hand'), goal, goal)])
    solution = solve(asked, allow_restarts=False, solver='sqp')
    assert solution.success, solution.explain()
    at = Configuration(robot, solution.q).transform('left_hand')[:3, 3]
    assert at == pytest.approx(goal, abs=SLACK)


@pytest.mark.parametrize('tolerance', [1e-2, 1e-9])
@pytest.mark.parametrize('width', [0.0, 1e-3])
def test_tolerances_of_constraints_are_kept(small, tolerance, width):
    """Wide ones and narrow ones are kept, at the edge of a bound, too."""
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


@pytest.mark.parametrize('violation', [4.9e-7, 5.5e-7, 5e-6])
def test_from_just_outside(small, violation):
    """What is violated by little is mended, and the costs are looked at."""
    robot = small('gantry')
    asked = IKProblem(robot, constraints=[Constraint(FramePosition('tip', axes='x'), upper=0.5)],
                      costs=[LeastSquares(JointPositions(['y']), 0.7)],
                      start=[0.5 + violation, 1.2, -0.1])
    attempt = make_solver('sqp', asked, {}).attempt(asked.start, Budget())
    assert attempt.reached and attempt.q[0] <= 0.5 + 5e-7
    assert attempt.q[1] == pytest.approx(0.7, abs=1e-3)


def test_without_joint_limits(small):
    """The limit of 2 rad is left only if that is allowed."""
    robot, judge = small('scara'), TreeJudge(SMALL['scara'])
    T = judge.transform({'shoulder': 2.6, 'elbow': 0.1, 'lift': 0.0, 'wrist': 0.0}, 'tip')
    target = PoseTarget('tip', T, weights=(1, 1, 1, 0, 0, 0))
    within_them = solve(IKProblem(robot, [target], constraints=[
        Constraint(JointPositions(['elbow']), 0, 1)]), random_state=0)
    assert not within_them.success
    solution = solve(IKProblem(robot, [target], joint_limits=False, constraints=[
        Constraint(JointPositions(['elbow']), 0, 1)]), timeout=10.0, random_state=0)
    assert solution.success and solution.joints['shoulder'] == pytest.approx(2.6, abs=1e-3)


def tall(at):
    return -at.transform('b4')[2, 3]


@pytest.mark.parametrize('arguments', [
    {'select': 'cost'}, {'approximate': (0.1, 0.1), 'solver_options': {'trust': 0.3}}])
def test_begun_anew_after_a_pickle(robot, arguments):
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
    second = Search.of_question(robot, first.question())
    assert second.problem.kinds == asked.kinds and second.problem.joint_limits is False
    assert [c.name for c in second.problem.constraints] == [c.name for c in asked.constraints]
    assert [c.tolerance for c in second.problem.constraints] == [1e-6, 1e-4]
    second.run()
    same(whole.solution(), second.solution())
    assert whole.solution().costs == second.solution().costs


def test_auto_says_which_and_why(robot):
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
