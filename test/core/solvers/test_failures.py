"""Status and message of failed, approximate and infeasible solutions."""

import math

from judge import pose
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from search_problems import FAR, TIP, tip_problem
from small_robots import joint, urdf, Z

from ros2_ik.core import (
    accept,
    AngleBetweenVectors,
    Box,
    collision_checker,
    Configuration,
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
    Scene,
    SceneObject,
    solve,
    solve_pose,
    Status,
    UserFunction,
)
from ros2_ik.core.errors import InvalidConstraintError, InvalidOptionError, InvalidTargetError
from ros2_ik.core.problem import out_of_reach

OUT_OF_REACH = pose((2.0, 0, 0))
POSITION_ONLY = (1, 1, 1, 0, 0, 0)     # weights


# -- timeouts ----------------------------------------------------------------------------------

@pytest.mark.parametrize('solver', ['lm', 'sqp'])
def test_first_descent_is_completed_despite_a_tiny_timeout(robot, solver):
    for seed in range(5):
        short = solve(tip_problem(robot, seed), timeout=1e-12, solver=solver)
        long = solve(tip_problem(robot, seed), timeout=100.0, solver=solver, allow_restarts=False)
        assert (short.success, short.iterations) == (long.success, long.iterations)
        assert short.success or short.status is Status.NO_IK_SOLUTION


def test_timeout_has_status_timed_out_unless_out_of_reach(robot, clock):
    """The clock advances by 1 ms per reading, and clik reads it in each iteration."""
    cut = solve(tip_problem(robot, 1), solver='clik', timeout=0.12, allow_restarts=False)
    assert cut.status is Status.TIMED_OUT and cut.iterations > 0
    assert 'not finished in' in cut.message and 'longer timeout' in cut.explain()
    far = solve(tip_problem(robot, T=FAR), solver='clik', timeout=0.12, allow_restarts=False)
    assert far.status is Status.NO_IK_SOLUTION and 'out of reach' in far.message


# -- approximate solutions ---------------------------------------------------------------------

@pytest.mark.parametrize('factor, status', [(1.01, Status.APPROXIMATE),
                                            (0.99, Status.NO_IK_SOLUTION)])
@pytest.mark.parametrize('tolerance', [1e-5, 0.3])
def test_approximate_limits_bound_the_whole_error(robot, factor, status, tolerance):
    """The reach is 0.75 m; the tolerance is not subtracted from the error."""
    problem = IKProblem(robot, [PoseTarget(TIP, OUT_OF_REACH, None, POSITION_ONLY, tolerance)])
    options = {'max_iterations': 600, 'timeout': 30.0, 'random_state': 0}
    least = solve(problem, **options).errors[0].position
    assert least > 1.0
    solution = solve(problem, approximate=(factor * least, 0), **options)
    assert solution.status is status
    assert (solution.q is not None) == (status is Status.APPROXIMATE)
    if solution.q is not None:
        assert solution.errors[0].position <= factor * least


def test_target_in_collision_has_approximate_solutions(load):
    robot = load('ur5')
    T = np.diag([1.0, -1.0, -1.0, 1.0])
    T[:3, 3] = 0.5, 0.1, 0.3
    scene = Scene(robot).add(SceneObject('block', [Box([0.4, 0.4, 0.2])], pose((0.5, 0.1, 0.25))))
    exact, near = (solve_pose(robot, 'tool0', T, scene=scene, approximate=bound, timeout=1.0,
                              random_state=0) for bound in (None, (0.5, 0.5)))
    assert exact.impossible and exact.status is Status.GOAL_IN_COLLISION
    assert near.status is Status.APPROXIMATE and not near.impossible
    assert not collision_checker(robot, scene).collides(near.q)


# -- requests ----------------------------------------------------------------------------------

def test_solutions_at_plus_and_minus_pi_count_as_one():
    """The solution is at pi or -pi, both within the limits of the joint."""
    for half in (math.pi, 3.1416):
        robot = Robot.from_urdf(urdf(
            joint('turn', 'revolute', 'a', 'b', axis=Z, limits=(-half, half)),
            joint('end', 'fixed', 'b', 'tip', xyz=(0.5, 0, 0))))
        T = Configuration(robot, [np.pi - 2e-6]).transform('tip')
        solution = solve_pose(robot, 'tip', T, solutions=3, timeout=0.2, random_state=0,
                              orientation_tolerance=1e-3, position_tolerance=1e-3)
        assert solution.success and solution.alternatives == ()


@pytest.mark.parametrize('name', ['position_tolerance', 'orientation_tolerance'])
@pytest.mark.parametrize('value', [1e-13, 1e10, -1, np.nan, '1'])
def test_invalid_tolerances_are_refused(robot, name, value):
    with pytest.raises(InvalidTargetError, match=f"{name} of 'tip' must be .* 1e-12 to 1e.09"):
        PoseTarget(TIP, FAR, **{name: value})
    with pytest.raises(InvalidConstraintError, match='tolerance must be .* 1e-12 to 1e.09'):
        Constraint(FramePosition(TIP), lower=(0, 0, 0), tolerance=value)


def test_failure_message_states_the_allowed_error(robot):
    problem = IKProblem(robot, [PoseTarget(TIP, FAR, None, (1,) * 6, 2e-3, 3e-2)])
    solution = solve(problem, max_iterations=100, random_state=0)
    assert 'm, allowed [0, 0.002]; ' in solution.message


@pytest.mark.parametrize('option, meant', [
    ('position_tolerence', 'position_tolerance'), ('dampng', 'damping')])
def test_misspelt_option_is_refused_with_a_suggestion(robot, option, meant):
    with pytest.raises(InvalidOptionError, match=f"'{option}' is .*; did you mean '{meant}'"):
        solve_pose(robot, TIP, FAR, **{option: 1})
    with pytest.raises(InvalidOptionError, match=f"'{option}' is neither .*; "):
        solve(tip_problem(robot), **{option: 1})


# -- infeasible problems ------------------------------------------------------------------------

O, UP = (0, 0, 0), (0, 0, 1)      # noqa: E741
# the pan joint turns by 0.5 rad at most: a point behind the camera stays behind it
CAMERA = urdf(joint('pan', 'revolute', 'base', 'neck', axis=Z, limits=(-0.5, 0.5)),
              joint('tilt', 'revolute', 'neck', 'camera', axis=(0, 1, 0), limits=(-0.4, 0.4)))


def box(center, half=0.05, name='box', frame='tip'):
    center = np.array(center)
    return Constraint(FramePosition(frame), center - half, center + half, name)


# case: robot, constraints, names of those that may be violated, whether it is proven infeasible
CASES = {
    'disjoint boxes': ('zero_links', [box((0.3, 0, 0.4), name='left'), box((-0.3, 0, 0.4),
                                                                           name='right')],
                       {'left', 'right'}, True),
    'disjoint boxes of two points': ('zero_links', [
        box((0.3, 0, 0.4), name='tip box'),
        Constraint(FramePosition('tip', (0, 0, 0.01)), [-0.35, -1, 0], [-0.25, 1, 1], 'other')],
        {'tip box', 'other'}, False),
    'box out of reach': ('zero_links', [box((2.0, 0, 0), name='far')], {'far'}, False),
    'half-spaces': ('gantry', [Constraint(Polyhedron('tip', [O], [[1, 0, 0], [-1, 0, 0]]),
                                          upper=[0.1, -0.2], name='wedge')], {'wedge'}, False),
    'gaze exactly behind': ('camera', [Constraint(
        GazeAngle('camera', O, (1, 0, 0), (-1, 0, 0)), 0, 0, 'see')], {'see'}, False),
    'tilted axis': ('scara', [Constraint(AngleBetweenVectors('tip', UP, UP), 2.0, name='flip')],
                    {'flip'}, False),
    'tilted pose': ('scara', [Constraint(FramePose('tip', pose((0.3, 0, 0.3), (0.5, 0, 0))), 0, 0,
                                         'there')], {'there'}, False),
    'limits': ('scara', [Constraint(JointPositions(['elbow']), 2.5, 3.0, 'bent')], {'bent'}, True),
    'mimic limits': ('mimic_chain',      # c = 0.1 - a <= 0.6
                     [Constraint(JointPositions(['a']), -1.0, -0.6, 'lead')], {'lead'},
                     True),
    'coupling and joint bounds': ('scara', [
        Constraint(JointCoupling(['elbow', 'shoulder'], [1, -1]), 0, 0, 'coupled'),
        Constraint(JointPositions(['elbow', 'shoulder']), [0.5, -1], [0.6, -0.9], 'apart')],
        {'coupled', 'apart'}, False),
    'user function': ('scara', [Constraint(UserFunction(lambda at: math.cos(at.q[0])), 1.5, 2.0,
                                           'steep')], {'steep'}, False),
}


@pytest.fixture
def problem_of(small):
    camera = Robot.from_urdf(CAMERA)

    def make(name, **arguments):
        robot, constraints, names, proven = CASES[name]
        robot = camera if robot == 'camera' else small(robot)
        return IKProblem(robot, constraints=constraints, **arguments), names, proven
    return make


@pytest.mark.parametrize('costs', [False, True], ids=['no costs', 'costs'])
@pytest.mark.parametrize('name', CASES)
def test_infeasible_problems_never_succeed_and_name_violations(problem_of, clock, name, costs):
    """The clock advances by 1 ms per reading."""
    functions = [LeastSquares(JointPositions()), ScalarCost(lambda at: at.q[0])] if costs else []
    problem, names, proven = problem_of(name, costs=functions)
    for seed in range(3):
        reads = clock.reads
        solution = solve(problem, timeout=0.2, random_state=seed)
        assert clock.reads - reads < 215
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
        robot = problem.robot
        assert (robot.lower <= solution.best_q).all() and (solution.best_q <= robot.upper).all()
        assert np.isfinite(solution.best_q).all()
        assert accept(problem, solution.best_q).violations == solution.violations


@pytest.mark.parametrize('name, least', [
    ('box out of reach', 2.0 - 0.05 - 0.75), ('user function', 0.5), ('tilted axis', 2.0),
    ('limits', 0.1)])
def test_best_attempt_of_an_infeasible_problem_has_the_least_violation(problem_of, name, least):
    problem, _, _ = problem_of(name)
    solution = solve(problem, timeout=60.0, max_iterations=600, random_state=0)
    assert max(v.amount for v in solution.violations) == pytest.approx(least, abs=2e-2)


def pose_at(distance):
    T = np.eye(4)
    T[:3, 3] = np.array([1, 2, -2]) / 3 * distance
    return T


def test_target_just_beyond_the_stretched_arm_is_out_of_reach(small):
    """The links are 0.5 m and 0.4 m long."""
    robot = small('planar_2r')
    reach = np.linalg.norm(Configuration(robot, [0.3, 0.0]).transform('tip')[:3, 3])
    height = Configuration(robot, robot.neutral).transform('tip')[2, 3]
    shoulder = Configuration(robot, robot.neutral).transform('base')[:3, 3]

    def reason(distance):
        T = np.eye(4)
        T[:3, 3] = shoulder + distance * np.array([0.6, 0.8, 0]) + [0, 0, height]
        return out_of_reach(IKProblem(robot, PoseTarget('tip', T)))
    assert not reason(reach) and not reason(reach - 0.01)
    text, = reason(reach + 1e-3)
    assert f'{reach:.4g} m' in text and "'tip'" in text and f"'{robot.joint_names[0]}'" in text


def test_message_reports_a_target_out_of_reach(load):
    robot = load('panda')
    solution = solve_pose(robot, 'panda_hand_tcp', pose_at(3.0), max_iterations=50)
    assert solution.status is Status.NO_IK_SOLUTION
    assert 'out of reach: 3.' in solution.message and "'panda_joint1'" in solution.explain()
    assert 'metres' not in solution.message
    in_millimetres = solve_pose(robot, 'panda_hand_tcp', pose_at(300.0), max_iterations=50)
    assert 'positions are in metres' in in_millimetres.message
    near = solve_pose(robot, 'panda_hand_tcp', pose_at(0.2), max_iterations=1)
    assert not near.success and 'out of reach' not in near.message


def test_reach_is_unknown_for_free_axes_moving_frames_and_floating_bases(load):
    position_free = PoseTarget('panda_hand_tcp', pose_at(9.0), weights=(1, 1, 0, 1, 1, 1))
    assert not out_of_reach(IKProblem(load('panda'), position_free))
    relative = PoseTarget('left_gripper', pose_at(9.0), 'right_gripper')
    assert not out_of_reach(IKProblem(load('baxter'), relative))
    floating = load('panda', 'freeflyer')
    assert not out_of_reach(IKProblem(floating, PoseTarget('panda_hand_tcp', pose_at(9.0))))


# -- robots with too few joints for all axes of a target ---------------------------------------

TILT = 0.3      # a tilt that a SCARA's tip cannot have [rad]


@pytest.mark.parametrize('axes', ['x', 'y', 'xy'])
def test_message_for_tilted_target_of_a_scara_names_the_axes_to_free(small, axes):
    """The tilt is about axes of the target: with these free, the target is reachable."""
    robot = small('scara')
    T = Configuration(robot, [0.4, 0.9, -0.1, 1.0]).transform('tip').copy()
    for axis in axes:
        T[:3, :3] = T[:3, :3] @ Rotation.from_euler(axis, TILT).as_matrix()
    solution = solve_pose(robot, 'tip', T, timeout=20.0, random_state=0)
    assert solution.status is Status.NO_IK_SOLUTION and solution.restarts < 2000
    weights = [1, 1, 1, *(int(axis not in axes) for axis in 'xyz')]
    numbers, names = ' '.join(map(str, weights)), ' and '.join(f'r{axis}' for axis in axes)
    assert f'with {names} free (weights {numbers})' in solution.message
    assert solve_pose(robot, 'tip', T, weights=weights, timeout=20.0, random_state=0).success
