"""Messages of solutions and refusals are true, also for infeasible problems."""

import math

from judge import pose
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from search_questions import FAR, problem, TIP
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

OUT = pose((2.0, 0, 0))
POSITION = (1, 1, 1, 0, 0, 0)


# -- the time ----------------------------------------------------------------------------------

@pytest.mark.parametrize('solver', ['lm', 'sqp'])
def test_one_descent_is_completed_whatever_the_timeout(robot, solver):
    for seed in range(5):
        short = solve(problem(robot, seed), timeout=1e-12, solver=solver)
        long = solve(problem(robot, seed), timeout=100.0, solver=solver, allow_restarts=False)
        assert (short.success, short.iterations) == (long.success, long.iterations)
        assert short.success or short.status is Status.NO_IK_SOLUTION


def test_message_says_timed_out_if_the_error_was_decreasing(robot, ticking):
    """The clock advances by 1 ms per call, and clik reads it in each iteration."""
    cut = solve(problem(robot, 1), solver='clik', timeout=0.12, allow_restarts=False)
    assert cut.status is Status.TIMED_OUT and cut.iterations > 0
    assert 'not finished in' in cut.message and 'longer timeout' in cut.explain()
    far = solve(problem(robot, T=FAR), solver='clik', timeout=0.12, allow_restarts=False)
    assert far.status is Status.NO_IK_SOLUTION and 'out of reach' in far.message


# -- approximate answers -----------------------------------------------------------------------

@pytest.mark.parametrize('part, status', [(1.01, Status.APPROXIMATE),
                                          (0.99, Status.NO_IK_SOLUTION)])
@pytest.mark.parametrize('tolerance', [1e-5, 0.3])
def test_approximate_limits_bound_the_error_and_not_its_excess(robot, part, status, tolerance):
    """An arm with a reach of 0.75 m: the tolerance is not subtracted."""
    asked = IKProblem(robot, [PoseTarget(TIP, OUT, None, POSITION, tolerance)])
    options = {'max_iterations': 600, 'timeout': 30.0, 'random_state': 0}
    least = solve(asked, **options).errors[0].position
    assert least > 1.0
    solution = solve(asked, approximate=(part * least, 0), **options)
    assert solution.status is status
    assert (solution.q is not None) == (status is Status.APPROXIMATE)
    if solution.q is not None:
        assert solution.errors[0].position <= part * least


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


# -- questions ---------------------------------------------------------------------------------

def test_joint_at_plus_and_minus_pi_is_one_solution():
    """A joint from -pi to pi, a solution at +-pi, and a seed of 0."""
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
def test_tolerances_out_of_range_are_refused(robot, name, value):
    with pytest.raises(InvalidTargetError, match=f"{name} of 'tip' must be .* 1e-12 to 1e.09"):
        PoseTarget(TIP, FAR, **{name: value})
    with pytest.raises(InvalidConstraintError, match='tolerance must be .* 1e-12 to 1e.09'):
        Constraint(FramePosition(TIP), lower=(0, 0, 0), tolerance=value)


def test_failure_messages_name_the_tolerances(robot):
    asked = IKProblem(robot, [PoseTarget(TIP, FAR, None, (1,) * 6, 2e-3, 3e-2)])
    solution = solve(asked, max_iterations=100, random_state=0)
    assert 'm, allowed [0, 0.002]; ' in solution.message


@pytest.mark.parametrize('option, meant', [
    ('position_tolerence', 'position_tolerance'), ('dampng', 'damping')])
def test_misspelt_option_suggests_the_right_one(robot, option, meant):
    with pytest.raises(InvalidOptionError, match=f"'{option}' is .*; did you mean '{meant}'"):
        solve_pose(robot, TIP, FAR, **{option: 1})
    with pytest.raises(InvalidOptionError, match=f"'{option}' is neither .*; "):
        solve(problem(robot), **{option: 1})


# -- infeasible problems ------------------------------------------------------------------------

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
def test_infeasible_problems_never_succeed_and_name_violations(problem_of, ticking, name, costs):
    """With a clock that advances by 1 ms per iteration."""
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
def test_best_attempt_of_an_infeasible_problem_has_the_least_violation(problem_of, name, at_best):
    asked, _, _ = problem_of(name)
    solution = solve(asked, timeout=60.0, max_iterations=600, random_state=0)
    assert max(v.amount for v in solution.violations) == pytest.approx(at_best, abs=2e-2)


def far(distance):
    T = np.eye(4)
    T[:3, 3] = np.array([1, 2, -2]) / 3 * distance
    return T


def test_bound_just_beyond_the_stretched_arm_is_out_of_reach(small):
    """Links of 0.5 m and 0.4 m."""
    robot = small('planar_2r')
    reach = np.linalg.norm(Configuration(robot, [0.3, 0.0]).transform('tip')[:3, 3])
    height = Configuration(robot, robot.neutral).transform('tip')[2, 3]
    shoulder = Configuration(robot, robot.neutral).transform('base')[:3, 3]

    def at(distance):
        T = np.eye(4)
        T[:3, 3] = shoulder + distance * np.array([0.6, 0.8, 0]) + [0, 0, height]
        return out_of_reach(IKProblem(robot, PoseTarget('tip', T)))
    assert not at(reach) and not at(reach - 0.01)
    text, = at(reach + 1e-3)
    assert f'{reach:.4g} m' in text and "'tip'" in text and f"'{robot.joint_names[0]}'" in text


def test_message_says_that_the_target_is_out_of_reach(load):
    robot = load('panda')
    solution = solve_pose(robot, 'panda_hand_tcp', far(3.0), max_iterations=50)
    assert solution.status is Status.NO_IK_SOLUTION
    assert 'out of reach: 3.' in solution.message and "'panda_joint1'" in solution.explain()
    assert 'metres' not in solution.message
    in_millimetres = solve_pose(robot, 'panda_hand_tcp', far(300.0), max_iterations=50)
    assert 'positions are in metres' in in_millimetres.message
    near = solve_pose(robot, 'panda_hand_tcp', far(0.2), max_iterations=1)
    assert not near.success and 'out of reach' not in near.message


def test_message_omits_reach_if_it_is_unknown(load):
    position_free = PoseTarget('panda_hand_tcp', far(9.0), weights=(1, 1, 0, 1, 1, 1))
    assert not out_of_reach(IKProblem(load('panda'), position_free))
    beside = PoseTarget('left_gripper', far(9.0), 'right_gripper')
    assert not out_of_reach(IKProblem(load('baxter'), beside))
    rolling = load('panda', 'freeflyer')
    assert not out_of_reach(IKProblem(rolling, PoseTarget('panda_hand_tcp', far(9.0))))


# -- robots with too few joints for all axes of a target ---------------------------------------

TILT = 0.3      # of a SCARA's tip, which it cannot have [rad]


@pytest.mark.parametrize('axes', ['x', 'y', 'xy'])
def test_tilted_target_of_a_scara_names_the_axes_to_free(small, axes):
    """The tilt is about axes of the target: with these free, the target is reachable."""
    robot = small('scara')
    T = Configuration(robot, [0.4, 0.9, -0.1, 1.0]).transform('tip').copy()
    for axis in axes:
        T[:3, :3] = T[:3, :3] @ Rotation.from_euler(axis, TILT).as_matrix()
    answer = solve_pose(robot, 'tip', T, timeout=20.0, random_state=0)
    assert answer.status is Status.NO_IK_SOLUTION and answer.restarts < 2000
    weights = [1, 1, 1, *(int(axis not in axes) for axis in 'xyz')]
    numbers, names = ' '.join(map(str, weights)), ' and '.join(f'r{axis}' for axis in axes)
    assert f'with {names} free (weights {numbers})' in answer.message
    assert solve_pose(robot, 'tip', T, weights=weights, timeout=20.0, random_state=0).success
