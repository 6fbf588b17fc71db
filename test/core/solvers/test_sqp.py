"""Hard constraints: what is solved holds, by kinematics and formulas that are not ours."""

import math
import threading

from judge import angle, claims, inverse, numeric_jacobian, pose, TreeJudge
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from search_questions import same
from small_robots import SMALL

from ros2_ik.core import (
    AngleBetweenVectors,
    Budget,
    CenterOfMass,
    Configuration,
    Constraint,
    ExitFlag,
    FrameOrientation,
    FramePose,
    FramePosition,
    GazeAngle,
    IKProblem,
    InvalidOptionError,
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
    Search,
    solve,
    Status,
    UserFunction,
)
from ros2_ik.core.solvers import make_solver

P, A, B, Q = (0.03, -0.02, 0.11), (0.2, -0.1, 2), (1, -0.2, 0.4), (0.5, 0.2, 0.6)
TURNED = pose((0.1, -0.2, 0.4), (0.5, -0.9, 0.7))[:3, :3]
SLACK = 1e-6 + 1e-8      # the tolerance, and rounding


def ray(T, origin=P, target=Q):
    """Give the ray from a point of a frame at T to a point, in the frame's axes."""
    return T[:3, :3].T @ (np.array(target) - T[:3, 3]) - origin


def at_point(T, point=P):
    return T[:3, :3] @ point + T[:3, 3]


def from_line(p, point, direction):
    n = np.array(direction) / np.linalg.norm(direction)
    return np.linalg.norm(np.cross(p - point, n))


def off(T, R=TURNED):
    """Give the rotation from R to that of T."""
    return Rotation.from_matrix(R.T @ T[:3, :3])


# kind: our function of two frames, and its value by numpy from the pose of the one in the other
FORMULAS = {
    'angle_between_vectors': (lambda a, b: AngleBetweenVectors(a, A, B, b),
                              lambda T: [angle(T[:3, :3] @ A, B)]),
    'frame_orientation euler': (lambda a, b: FrameOrientation(a, TURNED, b, form='euler'),
                                lambda T: off(T).as_euler('XYZ')),
    'frame_orientation': (lambda a, b: FrameOrientation(a, TURNED, b),
                          lambda T: off(T).as_rotvec()),
    'frame_pose': (lambda a, b: FramePose(a, pose(Q, (0.5, -0.9, 0.7)), b),
                   lambda T: [*TURNED.T @ (T[:3, 3] - Q), *off(T).as_rotvec()]),
    'frame_position': (lambda a, b: FramePosition(a, P, b), at_point),
    'gaze_angle': (lambda a, b: GazeAngle(a, P, A, Q, b), lambda T: [angle(ray(T), A)]),
    'polyhedron': (lambda a, b: Polyhedron(a, [P, Q], [[*A, *B], [*Q, *P]], b),
                   lambda T: np.array([[*A, *B], [*Q, *P]]) @ [*at_point(T), *at_point(T, Q)]),
    'frame_orientation angle': (lambda a, b: FrameOrientation(a, TURNED, b, form='angle'),
                                lambda T: [off(T).magnitude()]),
    'point_to_line_distance': (lambda a, b: PointToLineDistance(a, P, Q, A, b),
                               lambda T: [from_line(at_point(T), Q, A)]),
    'point_to_plane': (lambda a, b: PointToPlane(a, P, Q, A, b),
                       lambda T: [(at_point(T) - Q) @ A / np.linalg.norm(A)]),
    'point_to_point_distance': (lambda a, b: PointToPointDistance(a, P, Q, b),
                                lambda T: [np.linalg.norm(at_point(T) - Q)]),
}
# robot: root joint (None: shipped), frame, relative_to
ROBOTS = {'panda': (None, 'panda_hand', None), 'ur5': (None, 'tool0', 'upper_arm_link'),
          'baxter': (None, 'left_gripper', 'right_gripper'),
          'talos': (None, 'gripper_left_base_link', 'left_sole_link'),
          'two_arms': ('freeflyer', 'left_hand', None),
          'nested': ('fixed', 'tip', 'base')}


@pytest.fixture
def robot_of(load, small, judge_of):
    """Give a robot, its judge and two frames."""
    def robot(name):
        root, *frames = ROBOTS[name]
        if root is None:
            return load(name), judge_of(name), *frames
        return small(name, root), TreeJudge(SMALL[name], root), *frames
    return robot


def moved(robot, q, size, generator):
    """Give another configuration within the limits, `size` away at most in each joint."""
    far = Configuration(robot, q).integrate(generator.uniform(-size, size, robot.nv))
    return np.clip(far, robot.lower, robot.upper)


def within(robot, judge, solution):
    """Assert success and that the limits are kept."""
    assert solution.success, solution.explain()
    assert judge.outside(solution.joints) == []
    assert np.isfinite(solution.q).all() and solution.violations == ()


@pytest.mark.parametrize('width', [0.0, 0.05], ids=['exact', 'wide'])
@pytest.mark.parametrize('name', ROBOTS)
@pytest.mark.parametrize('kind', FORMULAS)
def test_each_kind_alone(robot_of, kind, name, width):
    """Feasible, for somewhere in the limits it holds; from anywhere."""
    robot, judge, frame, relative = robot_of(name)
    make, formula = FORMULAS[kind]
    for seed in range(3):
        generator = np.random.default_rng(seed)

        def value(joints):
            return np.array(formula(judge.transform(joints, frame, relative)))
        wanted = value(robot.to_joints(robot.random_q(generator)))
        low, high = wanted - width * generator.random(2)[0], wanted + width * generator.random()
        asked = IKProblem(robot, start=robot.random_q(generator),
                          constraints=[Constraint(make(frame, relative), low, high)],
                          collisions=False)
        solution = solve(asked, timeout=10.0, random_state=0)
        within(robot, judge, solution)
        assert solution.solver == 'sqp'
        found = value(solution.joints)
        assert (found >= low - SLACK).all() and (found <= high + SLACK).all(), (found, low, high)


@pytest.mark.parametrize('name', ROBOTS)
@pytest.mark.parametrize('make', [
    lambda a, b, T: (AngleBetweenVectors(a, A, T[:3, :3] @ A, b), 0,
                     lambda S: angle(S[:3, :3] @ A, T[:3, :3] @ A)),
    lambda a, b, T: (AngleBetweenVectors(a, A, T[:3, :3] @ A, b), np.pi,
                     lambda S: np.pi - angle(S[:3, :3] @ A, -T[:3, :3] @ A)),
    lambda a, b, T: (AngleBetweenVectors(a, A, T[:3, :3] @ A, b, form='vector'), 0,
                     lambda S: angle(S[:3, :3] @ A, T[:3, :3] @ A)),
    lambda a, b, T: (GazeAngle(a, P, A, at_point(T, P + 0.3 * np.array(A)), b), 0,
                     lambda S: angle(ray(S, P, at_point(T, P + 0.3 * np.array(A))), A)),
    lambda a, b, T: (GazeAngle(a, P, A, at_point(T, P - 0.3 * np.array(A)), b), np.pi,
                     lambda S: np.pi - angle(ray(S, P, at_point(T, P - 0.3 * np.array(A))),
                                             -np.array(A))),
    lambda a, b, T: (GazeAngle(a, P, A, at_point(T, P + 0.3 * np.array(A)), b, form='vector'), 0,
                     lambda S: angle(ray(S, P, at_point(T, P + 0.3 * np.array(A))), A)),
    lambda a, b,
    T: (FrameOrientation(a, T, b, form='angle'), 0, lambda S: off(S, T[:3, :3]).magnitude()),
    lambda a, b, T: (FrameOrientation(a, T @ pose(rotvec=(np.pi, 0, 0)), b, form='angle'), np.pi,
                     lambda S: off(S, (T @ pose(rotvec=(np.pi, 0, 0)))[:3, :3]).magnitude()),
    lambda a, b, T: (PointToPointDistance(a, P, at_point(T), b), 0,
                     lambda S: np.linalg.norm(at_point(S) - at_point(T))),
    lambda a, b, T: (PointToLineDistance(a, P, at_point(T), B, b), 0,
                     lambda S: from_line(at_point(S), at_point(T), B)),
], ids=['parallel', 'antiparallel', 'aligned', 'gaze', 'gaze behind', 'look at', 'same',
        'half a turn', 'same point', 'on the line'])
def test_exact_where_there_is_no_gradient(robot_of, make, name):
    robot, judge, frame, relative = robot_of(name)
    for seed in range(3):
        generator = np.random.default_rng(seed)
        T = judge.transform(robot.to_joints(robot.random_q(generator)), frame, relative)
        function, bound, formula = make(frame, relative, T)
        asked = IKProblem(robot, start=robot.random_q(generator),
                          constraints=[Constraint(function, bound, bound)], collisions=False)
        solution = solve(asked, timeout=10.0, random_state=0)
        within(robot, judge, solution)
        found = formula(judge.transform(solution.joints, frame, relative))
        assert found == pytest.approx(bound, abs=1.5e-6), (found, bound)


# -- what is not about a frame ----------------------------------------------------------------

@pytest.mark.parametrize('name', ['panda', 'talos', 'two_arms'])
def test_center_of_mass(load, small, name):
    root = 'freeflyer' if name == 'two_arms' else 'fixed'
    robot = small(name, root) if name == 'two_arms' else load(name)
    judge = TreeJudge(robot.urdf, root)
    generator = np.random.default_rng(0)
    center = judge.center_of_mass(robot.to_joints(robot.random_q(generator)))
    for half in (0.0, 0.03):
        asked = IKProblem(robot, start=robot.random_q(generator),
                          constraints=[Constraint(CenterOfMass(), center - half, center + half)],
                          collisions=False)
        solution = solve(asked, timeout=10.0, random_state=0)
        within(robot, judge, solution)
        found = judge.center_of_mass(solution.joints)
        assert np.abs(found - center).max() <= half + SLACK


def test_joints_and_couplings(load, judge_of):
    robot, judge = load('panda'), judge_of('panda')
    names = [f'panda_joint{i}' for i in (2, 4, 6)]
    asked = IKProblem(robot, constraints=[
        Constraint(JointPositions(names, [0.1, -1.0, 1.0]), [0.2, -0.3, 0], [0.3, -0.3, 0.5]),
        Constraint(JointCoupling([names[0], 'panda_joint1'], [1.0, -2.0], 0.1), 0, 0)])
    for seed in range(5):
        q = robot.random_q(np.random.default_rng(seed))
        solution = solve(asked, [q], timeout=10.0, random_state=0)
        within(robot, judge, solution)
        joints = solution.joints
        two, four, six = (joints[name] for name in names)
        assert 0.3 - SLACK <= two <= 0.4 + SLACK and four == pytest.approx(-1.3, abs=SLACK)
        assert 1.0 - SLACK <= six <= 1.5 + SLACK
        assert two - 2 * joints['panda_joint1'] - 0.1 == pytest.approx(0, abs=SLACK)


def test_manipulability(load, judge_of):
    robot, judge = load('panda'), judge_of('panda')
    function = Manipulability('panda_hand', rows='position')
    asked = IKProblem(robot, constraints=[Constraint(function, 0.12)])
    for seed in range(5):
        q = robot.random_q(np.random.default_rng(seed))
        solution = solve(asked, [q], timeout=10.0, random_state=0)
        within(robot, judge, solution)
        J = numeric_jacobian(robot, solution.q, lambda q: judge.transform(robot.to_joints(q),
                                                                          'panda_hand'))[:3]
        assert math.sqrt(np.linalg.det(J @ J.T)) >= 0.12 - 1e-5


@pytest.mark.parametrize('jacobian', [None, lambda at: np.array([2 * at.q])])
def test_a_users_function(small, jacobian):
    robot = small('zero_links')
    function = UserFunction(lambda at: at.q @ at.q, ['squares [rad2]'], jacobian)
    asked = IKProblem(robot, constraints=[Constraint(function, 0.5, 0.5)])
    for seed in range(5):
        q = robot.random_q(np.random.default_rng(seed))
        solution = solve(asked, [q], timeout=10.0, random_state=0)
        assert solution.success and solution.q @ solution.q == pytest.approx(0.5, abs=SLACK)


@pytest.mark.parametrize('function', [
    JointPositions(['shoulder_pan_joint']), JointCoupling(['shoulder_pan_joint'], [1.0]),
    UserFunction(lambda at: at.joints['shoulder_pan_joint'], joints=['shoulder_pan_joint'])],
    ids=str)
@pytest.mark.parametrize('lower, upper', [(3.5, 4.0), (-4.0, -3.5), (6.0, 6.2), (0.1, 0.2)])
def test_turns_that_are_wanted(load, function, lower, upper):
    """A joint of two turns, in one of which it should be."""
    robot = load('ur5')
    asked = IKProblem(robot, constraints=[Constraint(function, lower, upper)])
    search = Search(asked, random_state=0, timeout=10.0, max_iterations=500)
    search.run()
    solution = search.solution()
    assert solution.success, solution.explain()
    assert lower - SLACK <= solution.joints['shoulder_pan_joint'] <= upper + SLACK


@pytest.mark.parametrize('far', [8.0, 13.0, -25.0])
def test_through_several_turns_of_a_joint_without_limits(load, far):
    """A step is bounded: it was given up after six of them."""
    asked = IKProblem(load('kinova'), constraints=[
        Constraint(JointCoupling(['j2s6s200_joint_1'], [1.0]), far, far)])
    solution = solve(asked, allow_restarts=False, solver='sqp')
    assert solution.success, solution.explain()
    assert solution.joints['j2s6s200_joint_1'] == pytest.approx(far, abs=SLACK)


@pytest.mark.parametrize('far', [3.0, 30.0, 3000.0])
@pytest.mark.parametrize('base', ['planar', 'freeflyer'])
def test_a_base_goes_far(small, far, base):
    robot = small('two_arms', base)
    goal = Configuration(robot).transform('left_hand')[:3, 3] + [far, -far / 2, 0.0]
    asked = IKProblem(robot, constraints=[Constraint(FramePosition('left_hand'), goal, goal)])
    solution = solve(asked, allow_restarts=False, solver='sqp')
    assert solution.success, solution.explain()
    at = Configuration(robot, solution.q).transform('left_hand')[:3, 3]
    assert at == pytest.approx(goal, abs=SLACK)


@pytest.mark.parametrize('tolerance', [1e-2, 1e-4, 1e-6, 1e-8, 1e-9])
@pytest.mark.parametrize('width', [0.0, 1e-9, 1e-3])
def test_tolerances(small, tolerance, width):
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


@pytest.mark.parametrize('violation', [2e-7, 4.9e-7, 5.5e-7, 9e-7, 1.1e-6, 5e-6])
def test_from_just_outside(small, violation):
    """What is violated by little is mended, and the costs are looked at."""
    robot = small('gantry')
    asked = IKProblem(robot, constraints=[Constraint(FramePosition('tip', axes='x'), upper=0.5)],
                      costs=[LeastSquares(JointPositions(['y']), 0.7)],
                      start=[0.5 + violation, 1.2, -0.1])
    attempt = make_solver('sqp', asked, {}).attempt(asked.start, Budget())
    assert attempt.reached and attempt.q[0] <= 0.5 + 5e-7
    assert attempt.q[1] == pytest.approx(0.7, abs=1e-3)


# -- joints that may move, and how far --------------------------------------------------------

def box(frame, center, half, relative=None):
    """Ask for a frame's origin in a box."""
    center = np.array(center)
    return Constraint(FramePosition(frame, relative_to=relative), center - half, center + half)


@pytest.mark.parametrize('name', ROBOTS)
def test_locked_joints_stay_exactly(robot_of, name):
    robot, judge, frame, relative = robot_of(name)
    for seed in range(3):
        generator = np.random.default_rng(seed)
        start = robot.random_q(generator)
        used = sorted(robot.moving_joints(frame, relative))
        locked = [str(n) for n in generator.choice(used, len(used) // 3, replace=False)]
        free = moved(robot, start, 0.3, generator)
        goal = IKProblem(robot, start=start, locked=locked,
                         constraints=[box(frame, [0, 0, 0], 1, relative)]).locked(free)
        T = judge.transform(robot.to_joints(goal), frame, relative)
        asked = IKProblem(robot, start=start, locked=locked,
                          constraints=[box(frame, T[:3, 3], 0.01, relative)], collisions=False)
        solution = solve(asked, timeout=10.0, random_state=0)
        within(robot, judge, solution)
        at_start = robot.to_joints(start)
        for other in set(robot.joint_names) - (set(used) - set(locked)):
            np.testing.assert_array_equal(solution.joints[other], at_start[other])


def test_a_start_outside_the_limits(load, judge_of):
    robot, judge = load('panda'), judge_of('panda')
    generator = np.random.default_rng(0)
    for _ in range(5):
        start = robot.random_q(generator) * 3 + 1
        T = judge.transform(robot.to_joints(robot.random_q(generator)), 'panda_hand')
        asked = IKProblem(robot, start=start, constraints=[box('panda_hand', T[:3, 3], 1e-3)],
                          collisions=False)
        solution = solve(asked, timeout=10.0, random_state=0)
        assert solution.success
        moving = {f'panda_joint{i}' for i in range(1, 8)}
        assert not moving & set(judge.outside(solution.joints))


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
    solution = solve(IKProblem(robot, joint_limits=False, costs=[
        LeastSquares(JointPositions(['shoulder', 'elbow']), [2.6, -2.9])]), timeout=10.0)
    assert solution.joints['shoulder'] == pytest.approx(2.6, abs=1e-3)
    assert solution.joints['elbow'] == pytest.approx(-2.9, abs=1e-3)


def test_locked_joints_without_joint_limits(small):
    robot = small('zero_links')
    asked = IKProblem(robot, start={'s2': 7.0}, locked=['s2'], joint_limits=False,
                      constraints=[box('tip', [0.2, 0, 0.4], 0.05)])
    solution = solve(asked, timeout=10.0, random_state=0)
    assert solution.success and solution.joints['s2'] == 7.0


def test_only_a_group_moves():
    srdf = ('<robot name="small"><group name="left">'
            '<chain base_link="chest" tip_link="left_hand"/></group></robot>')
    robot, judge = Robot.from_urdf(SMALL['two_arms'], srdf=srdf), TreeJudge(SMALL['two_arms'])
    generator = np.random.default_rng(0)
    start = robot.random_q(generator) * 0.5
    goal = robot.to_joints(start) | {'left_2': 0.5, 'left_4': 1.0}
    T = judge.transform(goal, 'left_hand', 'right_hand')
    asked = IKProblem(robot, group='left', start=start, constraints=[
        box('left_hand', T[:3, 3], 1e-3, 'right_hand')], costs=[LeastSquares(CenterOfMass())])
    solution = solve(asked, timeout=10.0, random_state=0)
    within(robot, judge, solution)
    before = robot.to_joints(start)
    assert all(solution.joints[name] == before[name] for name in robot.joint_names
               if not name.startswith('left'))
    p = judge.transform(solution.joints, 'left_hand', 'right_hand')[:3, 3]
    assert np.abs(p - T[:3, 3]).max() <= 1e-3 + SLACK


@pytest.mark.parametrize('name', ['panda', 'baxter', 'talos', 'two_arms'])
def test_targets_constraints_and_costs_together(robot_of, name):
    robot, judge, frame, relative = robot_of(name)
    for seed in range(3):
        generator = np.random.default_rng(seed)
        goal = robot.to_joints(robot.random_q(generator))
        T = judge.transform(goal, frame, relative)
        weights = (1, 1, 1, 1, 1, 0)
        axis = T[:3, :3] @ A
        middle = [joint.name for joint in robot.joints if joint.is_scalar
                  and joint.name in robot.moving_joints(frame, relative)][-3:]
        reference = {n: goal[n] for n in middle}
        asked = IKProblem(
            robot, [PoseTarget(frame, T, relative, weights)], start=robot.random_q(generator),
            constraints=[Constraint(AngleBetweenVectors(frame, A, axis, relative), 0, 0.4),
                         Constraint(JointPositions(middle, reference), -0.6, 0.6)],
            costs=[LeastSquares(JointPositions(middle, reference), 0, 0.1)], collisions=False)
        solution = solve(asked, timeout=10.0, random_state=0)
        within(robot, judge, solution)
        claims(judge, solution, [(frame, T, relative, weights)])
        found = judge.transform(solution.joints, frame, relative)
        assert angle(found[:3, :3] @ A, axis) <= 0.4 + SLACK
        assert all(abs(solution.joints[n] - goal[n]) <= 0.6 + SLACK for n in middle)
        r = np.array([solution.joints[n] - goal[n] for n in middle])
        assert solution.cost == pytest.approx(0.05 * r @ r, abs=1e-12)
        assert [n for n, _ in solution.costs] == [asked.costs[0].name]


def test_a_moving_frame(robot_of):
    """Both hands of a free-flyer, one relative to the other, wherever it flies."""
    robot, judge, *_ = robot_of('two_arms')
    generator = np.random.default_rng(0)
    for _ in range(3):
        T = judge.transform(robot.to_joints(robot.random_q(generator)), 'left_hand', 'right_hand')
        asked = IKProblem(robot, start=robot.random_q(generator), constraints=[
            Constraint(FramePose('left_hand', T, 'right_hand'), 0, 0),
            box('left_hand', [2, 1, 0.5], 0.01)])
        solution = solve(asked, timeout=10.0, random_state=0)
        within(robot, judge, solution)
        left, right = (judge.transform(solution.joints, f) for f in ('left_hand', 'right_hand'))
        np.testing.assert_allclose(inverse(right) @ left, T, atol=2e-6)
        assert np.abs(left[:3, 3] - [2, 1, 0.5]).max() <= 0.01 + SLACK


# -- the search round it ----------------------------------------------------------------------

NEAR = np.array([0.3, 0.5, -0.2, -1.0, 0.4, 0.6, 0.1])


def hard(robot, *more):
    """Ask for what takes some iterations, and costs."""
    return IKProblem(robot, start=NEAR,
                     constraints=[box('tip', [0.3, -0.2, 0.4], 1e-3),
                                  Constraint(GazeAngle('tip', P, A, Q), 0.2, 0.3), *more],
                     costs=[LeastSquares(FramePosition('b4'), [0, 0, 1])])


FAR = [5.0, 0, 0]


@pytest.mark.parametrize('arguments', [
    {}, {'solutions': 4}, {'select': 'cost'}, {'select': 'nearest', 'solutions': 2}])
def test_deterministic(robot, arguments):
    seeds = [robot.random_q(np.random.default_rng(i)) for i in range(2)]
    one, two = (solve(hard(robot), seeds, timeout=60.0, max_iterations=400, random_state=5,
                      **arguments) for _ in range(2))
    same(one, two)
    assert one.costs == two.costs and one.success


# evaluated by Python in each iteration, where a descent can be interrupted
ASKED = Constraint(UserFunction(lambda at: at.transform('tip')[:3, 3], 3), -2.0, 2.0)


def test_cancelled_within_an_iteration(robot):
    event = threading.Event()
    event.set()
    solution = solve(hard(robot), cancel=event)
    assert solution.status is Status.PREEMPTED and solution.iterations == 0
    for bound in (1, 3, 7, 12):
        looks = []
        attempt = make_solver('sqp', hard(robot, ASKED), {}).attempt(
            NEAR, Budget(cancel=lambda looks=looks, b=bound: looks.append(0)
                                  or len(looks) > b))
        assert attempt.exit_flag is ExitFlag.CANCELLED and attempt.iterations <= bound
        assert len(looks) <= bound + 2


def test_the_deadline_is_kept(robot, ticking):
    """Looked at in every iteration, with costs or without: an attempt ends within one."""
    # in a function that no proof looks through
    place = UserFunction(lambda at: at.transform('tip')[:3, 3], 3)
    unreachable = IKProblem(robot, constraints=[Constraint(place, FAR, FAR)])
    for asked in (hard(robot), hard(robot, ASKED), unreachable):
        attempt = make_solver('sqp', asked, {}).attempt(robot.neutral, Budget(deadline=-1.0))
        assert attempt.exit_flag is ExitFlag.TIME_LIMIT and attempt.iterations <= 1
    for seed in range(3):
        before = ticking.looks
        solution = solve(unreachable, timeout=0.3, random_state=seed)
        assert not solution.success
        assert 100 < solution.iterations < 300 <= ticking.looks - before < 310
        before = ticking.looks
        solution = solve(hard(robot, ASKED), timeout=0.3, select='cost', random_state=seed)
        assert 100 < solution.iterations < 300 <= ticking.looks - before < 315


@pytest.mark.parametrize('bound', [1, 2, 5, 10, 40])
def test_iterations_are_bounded(robot, bound):
    for asked in (hard(robot), IKProblem(robot, constraints=[box('tip', FAR, 0.1)])):
        attempt = make_solver('sqp', asked, {}).attempt(robot.neutral, Budget(iterations=bound))
        assert attempt.iterations <= bound
        solution = solve(asked, timeout=60.0, max_iterations=bound, random_state=0)
        assert solution.iterations <= bound


def test_costs_cut_off_still_hold(robot):
    """Where the rows hold, running out of iterations on the costs is no failure."""
    whole = solve(hard(robot), timeout=60.0, random_state=0, allow_restarts=False)
    assert whole.success
    for bound in range(whole.iterations // 2, whole.iterations):
        short = solve(hard(robot), timeout=60.0, random_state=0, max_iterations=bound)
        if short.success:
            assert short.violations == () and short.cost >= whole.cost - 1e-9
    assert short.success


def tall(at):
    return -at.transform('b4')[2, 3]


@pytest.mark.parametrize('slices', [0, 1, 3])
@pytest.mark.parametrize('arguments', [
    {'select': 'cost'}, {'solutions': 4}, {'select': 'nearest'},
    {'approximate': (0.1, 0.1), 'solver_options': {'trust': 0.3}}])
def test_begun_anew_after_a_pickle(robot, slices, arguments):
    asked = IKProblem(
        robot, constraints=[box('tip', [0.3, -0.2, 0.4], 1e-2),
                            Constraint(UserFunction(tall), -0.5, -0.1, 'tall', 1e-4)],
        costs=[LeastSquares(JointPositions(['s1', 's2']), upper=0.2), ScalarCost(tall)],
        start={'w3': 0.2}, locked=['w3'], joint_limits=False)

    def search():
        return Search(asked, random_state=3, timeout=60.0, max_iterations=200, **arguments)
    whole, first = search(), search()
    whole.run()
    for _ in range(slices):
        first.run(1e-9)
    second = Search.of_question(robot, first.question())
    assert second.problem.kinds == asked.kinds and second.problem.joint_limits is False
    assert [c.name for c in second.problem.constraints] == [c.name for c in asked.constraints]
    assert [c.tolerance for c in second.problem.constraints] == [1e-6, 1e-4]
    second.run()
    same(whole.solution(), second.solution())
    assert whole.solution().costs == second.solution().costs


def test_begun_anew_finds_what_is_impossible(robot):
    asked = IKProblem(robot, constraints=[box('tip', [0.3, 0, 0.4], 0.1),
                                          box('tip', [-0.3, 0, 0.4], 0.1)])
    search = Search(asked, timeout=60.0)
    search.run(1e-9)
    second = Search.of_question(robot, search.question())
    second.run()
    assert second.solution().status is Status.GOAL_CONSTRAINTS_VIOLATED


@pytest.mark.parametrize('options, word', [
    ({'damping': 0}, 'damping'), ({'damping': -1}, 'damping'), ({'trust': 0}, 'trust'),
    ({'trust': math.nan}, 'trust'), ({'attempt_iterations': 0}, 'attempt_iterations'),
    ({'cost_iterations': 1.5}, 'cost_iterations'), ({'step': 1}, 'damping')])
def test_options_that_make_no_sense(robot, options, word):
    with pytest.raises(InvalidOptionError, match=word):
        solve(hard(robot), solver='sqp', **options)


@pytest.mark.parametrize('solver', ['lm', 'clik'])
def test_solvers_that_cannot_say_so(robot, solver):
    with pytest.raises(InvalidOptionError, match='sqp') as caught:
        solve(hard(robot), solver=solver)
    assert solver in str(caught.value)


def test_auto_says_which_and_why(robot):
    target = PoseTarget('tip', pose((0.3, 0, 0.4)))
    for arguments, solver, words in (
            ({}, 'lm', ['poses']), ({'constraints': [box('tip', FAR, 9)]}, 'sqp', ['constraints']),
            ({'costs': [ScalarCost(tall)]}, 'sqp', ['scalar costs']),
            ({'costs': [LeastSquares(FramePosition('tip'))]}, 'sqp', ['costs'])):
        solution = solve(IKProblem(robot, [target], **arguments), random_state=0)
        assert solution.solver == solver
        for word in ('auto', *words):
            assert word in solution.solver_reason


def test_poses_by_sqp(robot):
    """Where targets alone are asked for it does as the others do."""
    judge = TreeJudge(SMALL['zero_links'])
    for seed in range(20):
        generator = np.random.default_rng(seed)
        T = judge.transform(robot.to_joints(robot.random_q(generator)), 'tip')
        solution = solve(IKProblem(robot, [PoseTarget('tip', T)]), solver='sqp', timeout=10.0,
                         random_state=0)
        within(robot, judge, solution)
        claims(judge, solution, [('tip', T)])
