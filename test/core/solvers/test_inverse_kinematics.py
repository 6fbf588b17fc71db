"""InverseKinematics (Drake's interface), judged by independent forward kinematics."""

from judge import angle, pose, TreeJudge
import numpy as np
from oracles import oracle_robot, recorded
import pytest
from scipy.spatial.transform import Rotation

from ros2_ik.core import (
    Configuration,
    FramePosition,
    IKError,
    InverseKinematics,
    LeastSquares,
    PointToPlane,
    ScalarCost,
    Scene,
    SceneObject,
    Sphere,
)
from ros2_ik.core.errors import (
    InvalidConstraintError,
    InvalidOptionError,
    InvalidStateError,
    UnknownJointError,
)

DRAKE_PROBLEMS = recorded('drake_ik.json')['problems']
HAND, LINK = 'panda_hand', 'panda_link4'
P, Q, N = [0.02, -0.01, 0.1], [0.5, 0.2, 0.4], [0.2, -0.1, 2]
X = pose((0.1, -0.2, 0.4), (0.5, -0.9, 0.7))
DOWN = np.diag([1.0, -1, -1])
TILT = pose(rotvec=(0.3, -0.2, 0.4))[:3, :3]
BOX = [[0.4, 0.1, 0.3], [0.45, 0.2, 0.35]]
NEAR = [[-0.1, -0.1, 0.3], [0.1, 0.1, 0.4]]
ABOVE = [[0, 0, -1, 0, 0, 0], [0, 0, 0, 1, 0, -1]]
AROUND = [[-0.3, 0.5, -0.6], [-0.1, 0.7, -0.5]]
KEYWORDS = {'X_AbarA': X, 'p_AQ_lower': AROUND[0], 'p_AQ_upper': AROUND[1]}


def point(T, p):
    return T[:3, :3] @ np.array(p) + T[:3, 3]


def local(X, p):
    """Return the coordinates in a frame at X of a point of the root frame."""
    return X[:3, :3].T @ (p - X[:3, 3])


def rotation_angle(R):
    return np.linalg.norm(Rotation.from_matrix(R).as_rotvec())


def line_distance(p, q, n):
    n = np.array(n) / np.linalg.norm(n)
    return np.linalg.norm((p - q) - (p - q) @ n * n)


# method, arguments, the measured quantity of the frame poses T(frame), and its bounds
CONSTRAINTS = [
    ('position', (HAND, P, None, *BOX), lambda T: point(T(HAND), P), *BOX),
    ('position', (HAND, P, LINK, *AROUND, X),
     lambda T: local(T(LINK) @ X, point(T(HAND), P)), *AROUND),
    ('position', (HAND, P, LINK, KEYWORDS),
     lambda T: local(T(LINK) @ X, point(T(HAND), P)), *AROUND),
    ('position', (None, Q, HAND, *NEAR, None), lambda T: local(T(HAND), np.array(Q)), *NEAR),
    ('orientation', (None, DOWN, HAND, TILT, 0.2),
     lambda T: rotation_angle(DOWN.T @ T(HAND)[:3, :3] @ TILT), 0, 0.2),
    ('orientation', (None, DOWN, HAND, None, 0),
     lambda T: rotation_angle(DOWN.T @ T(HAND)[:3, :3]), 0, 0),
    ('orientation', (None, DOWN, HAND, None, 4.0),      # Drake wraps this bound
     lambda T: rotation_angle(DOWN.T @ T(HAND)[:3, :3]), 0, np.pi),
    ('gaze_target', (HAND, P, N, None, Q, 0.1),
     lambda T: angle(N, local(T(HAND), np.array(Q)) - P), 0, 0.1),
    ('gaze_target', (None, Q, [0, 0, 1], HAND, P, 2.5),
     lambda T: angle([0, 0, 1], point(T(HAND), P) - Q), 0, 2.5),
    ('angle_between_vectors', (None, [0, 0, 1], HAND, N, 0.5, 0.6),
     lambda T: angle([0, 0, 1], T(HAND)[:3, :3] @ N), 0.5, 0.6),
    ('point_to_point_distance', (HAND, P, 'panda_link2', [0, 0, 0], 0.4, 0.41),
     lambda T: np.linalg.norm(point(T(HAND), P) - T('panda_link2')[:3, 3]), 0.4, 0.41),
    ('point_to_line_distance', (HAND, P, None, Q, N, 0.1, 0.11),
     lambda T: line_distance(point(T(HAND), P), Q, N), 0.1, 0.11),
    ('polyhedron', (None, HAND, np.array([P, Q]).T, ABOVE, [-0.5, 0.2]),
     lambda T: np.array(ABOVE) @ np.concatenate([point(T(HAND), P), point(T(HAND), Q)]),
     -np.inf, [-0.5, 0.2]),
]


def add(ik, method, arguments):
    """Call an add_ method; the last of the arguments may be a dict of keywords."""
    named = arguments[-1] if isinstance(arguments[-1], dict) else {}
    return getattr(ik, f'add_{method}')(*arguments[:len(arguments) - bool(named)], **named)


def pose_function(judge, solution):
    return lambda frame: judge.transform(solution.best_joints, frame)


@pytest.mark.parametrize('method, arguments, measured, lower, upper', CONSTRAINTS)
def test_added_constraint_holds(load, judge_of, method, arguments, measured, lower, upper):
    ik, judge = InverseKinematics(load('panda')), judge_of('panda')
    handle = add(ik, f'{method}_constraint', arguments)
    solution = ik.solve(timeout=2.0, random_state=1)
    assert solution.success, solution.explain()
    value = measured(pose_function(judge, solution))
    assert np.all(value >= np.array(lower) - 2e-6) and np.all(value <= np.array(upper) + 2e-6)
    assert judge.outside(solution.joints) == []
    assert ik.problem.constraints == (handle,)


def test_joint_bounds_hold(load, small):
    ik = InverseKinematics(load('panda'))
    ik.add_joint_constraint('panda_joint1', 0.3, 0.4)
    ik.add_joint_constraint(['panda_joint2', 'panda_joint3'], [0.1, -np.inf], [0.1, -0.5])
    joints = ik.solve(timeout=2.0).joints
    assert 0.3 - 1e-6 <= joints['panda_joint1'] <= 0.4 + 1e-6
    assert joints['panda_joint2'] == pytest.approx(0.1, abs=1e-6)
    assert joints['panda_joint3'] <= -0.5 + 1e-6


@pytest.mark.parametrize('lower, upper, seed', [(3.0, 3.5, -7.0), (9.5, 9.6, 0.0)])
def test_bounds_of_continuous_joints_apply_modulo_a_turn(small, lower, upper, seed):
    ik = InverseKinematics(small('swivel'))
    ik.add_joint_constraint('table', lower, upper)
    solution = ik.solve({'table': seed}, timeout=2.0)
    off = (solution.joints['table'] - (lower + upper) / 2 + np.pi) % (2 * np.pi) - np.pi
    assert abs(off) <= (upper - lower) / 2 + 2e-6


def test_functions_and_callables_are_accepted_as_constraints(load, judge_of):
    ik, judge = InverseKinematics(load('panda')), judge_of('panda')
    ik.add_constraint(PointToPlane(HAND, P, [0, 0, 0.2], [0, 0, 1]), 0, 0, name='on the table')
    ik.add_constraint(lambda at: at.transform(HAND)[:2, 3], [0.4, 0.1], [0.5, 0.2])
    T = pose_function(judge, ik.solve(timeout=2.0, random_state=0))(HAND)
    assert point(T, P)[2] == pytest.approx(0.2, abs=2e-6)
    assert 0.4 - 2e-6 <= T[0, 3] <= 0.5 + 2e-6 and 0.1 - 2e-6 <= T[1, 3] <= 0.2 + 2e-6


# -- costs: method, arguments, Drake's formula of T(frame); each has the minimum 0

# reachable position of point P of the hand in frame LINK [m]
BESIDE = [-0.14429075, 0.1902414, -0.116854]
C = np.array([[2.0, 1, 0], [0, 3, 0], [0, 0, 1]])
COSTS = [
    ('position', (None, Q, HAND, P, C),
     lambda T: (point(T(HAND), P) - Q) @ C @ (point(T(HAND), P) - Q)),
    ('position', (LINK, BESIDE, HAND, P, C),
     lambda T: (local(T(LINK), point(T(HAND), P)) - BESIDE) @ C
     @ (local(T(LINK), point(T(HAND), P)) - BESIDE)),
    ('orientation', (None, DOWN, HAND, TILT, 1.7),
     lambda T: 1.7 * (3 - np.trace(DOWN.T @ T(HAND)[:3, :3] @ TILT)) / 2),
    ('angle_between_vectors', (None, [0, 1, 1], HAND, N, 1.7),
     lambda T: 1.7 * (1 - np.cos(angle([0, 1, 1], T(HAND)[:3, :3] @ N)))),
]


@pytest.mark.parametrize('method, arguments, formula', COSTS)
def test_cost_equals_drake_formula_and_is_minimized(load, judge_of, method, arguments, formula):
    robot, judge = load('panda'), judge_of('panda')
    ik = InverseKinematics(robot)
    cost = add(ik, f'{method}_cost', arguments)
    for seed in range(5):
        at = Configuration(robot, robot.random_q(np.random.default_rng(seed)))
        expected = formula(lambda frame, q=at.q: judge.transform(robot.to_joints(q), frame))
        assert cost.value(at) == pytest.approx(expected, abs=1e-12)
    solution = ik.solve(timeout=30.0, max_iterations=1000, select='cost', random_state=0)
    assert solution.cost == pytest.approx(formula(pose_function(judge, solution)), abs=1e-12)
    assert solution.cost < 1e-6


@pytest.mark.parametrize('axis', np.eye(3))
def test_orientation_cost_leaves_its_maximum(load, axis):
    """Drake reports success at the maximum, half a turn away, with a cost of 2."""
    robot = load('panda')
    R = Configuration(robot).transform(HAND)[:3, :3]
    half_a_turn = R @ (2 * np.outer(axis, axis) - np.eye(3))
    orientation, direction = InverseKinematics(robot), InverseKinematics(robot)
    orientation.add_orientation_cost(None, half_a_turn, HAND, None, 1.0)
    direction.add_angle_between_vectors_cost(None, -R @ axis, HAND, axis, 1.0)
    for ik in (orientation, direction):
        assert ik.solve(robot.neutral, allow_restarts=False, timeout=2.0).cost < 1e-6


def test_posture_cost_has_no_factor_of_one_half(load):
    robot = load('panda')
    q, nominal = robot.random_q(np.random.default_rng(0)), robot.random_q(np.random.default_rng(1))
    ik, at, W = InverseKinematics(robot), Configuration(robot, q), np.arange(1.0, robot.nq + 1)
    assert ik.add_posture_cost(nominal).value(at) == pytest.approx(np.sum((q - nominal)**2))
    assert ik.add_posture_cost(nominal, W).value(at) == pytest.approx(W @ (q - nominal)**2)
    assert ik.add_posture_cost(nominal, np.diag(W)).value(at) == pytest.approx(
        W @ (q - nominal)**2)
    named = ik.add_posture_cost({'panda_joint4': -1.0}, 3)
    assert named.value(at) == pytest.approx(3 * (q[3] + 1)**2)


def test_add_cost_takes_function_with_target_callable_or_cost(load):
    robot = load('panda')
    ik, at = InverseKinematics(robot), Configuration(robot)
    height = PointToPlane(HAND, P, [0, 0, 0], [0, 0, 1])
    z = point(at.transform(HAND), P)[2]
    assert ik.add_cost(height, 0.3, 2).value(at) == pytest.approx((z - 0.3)**2)
    assert ik.add_cost(lambda at: at.transform(HAND)[2, 3], weight=2).value(at) == pytest.approx(
        2 * at.transform(HAND)[2, 3])
    soft = LeastSquares(height, lower=0.1, upper=0.2)
    assert ik.add_cost(soft).function is height and isinstance(ik.problem.costs[1], ScalarCost)
    for bad in ((soft, 1.0), (soft, 0.0, 2.0), (len, 1.0), (soft, [0])):
        with pytest.raises(InvalidConstraintError, match='target and weight'):
            ik.add_cost(*bad)


# -- problems ----------------------------------------------------------------------------

@pytest.mark.parametrize('drake', DRAKE_PROBLEMS, ids=lambda drake: drake['name'])
def test_solutions_cost_no_more_than_those_of_drake(drake):
    ik = InverseKinematics(oracle_robot())
    ik.add_position_constraint(HAND, drake['p_BQ'], None, drake['lower'], drake['upper'])
    if 'R' in drake:
        ik.add_orientation_constraint(None, drake['R'], HAND, np.eye(3), drake['theta_bound'])
    if 'gaze' in drake:
        g = drake['gaze']
        ik.add_gaze_target_constraint(HAND, g['p_AS'], g['n_A'], None, g['p_BT'],
                                      g['cone_half_angle'])
    ik.add_posture_cost(drake['q_guess'])
    solution = ik.solve(drake['q_guess'], timeout=30.0, max_iterations=1000, select='cost',
                        random_state=0)
    if drake['cost'] is None:
        assert not solution.success and solution.violations
        assert all(v.name in solution.explain() for v in solution.violations)
    else:
        assert solution.success, solution.explain()
        assert solution.cost <= drake['cost'] + 1e-9
        difference = solution.q - drake['q_guess']
        assert solution.cost == pytest.approx(difference @ difference)


@pytest.mark.parametrize('with_joint_limits', [True, False])
def test_locked_joints_keep_their_values_despite_limits_and_seeds(load, with_joint_limits):
    locked = {'panda_joint1': 0.3, 'panda_joint4': 0.5}     # the latter outside its limits
    ik = InverseKinematics(load('panda'), with_joint_limits, locked=locked)
    ik.add_position_constraint(HAND, P, None, -1, 1)
    ik.add_angle_between_vectors_constraint(None, [0, 0, 1], HAND, [0, 0, 1], 1, 1.2)
    ik.add_posture_cost(np.zeros(8))
    assert ik.configuration.q[3] == 0.5
    for seed in (None, {'panda_joint1': -1.0}, np.full(8, 0.01)):
        solution = ik.solve(seed, timeout=1.0, random_state=0)
        assert solution.success, solution.explain()
        for name, value in locked.items():
            assert solution.joints[name] == value


@pytest.mark.parametrize('method, bounds, lower, upper', [
    ('minimum_distance_lower_bound_constraint', (0.2,), 0.2, np.inf),
    ('minimum_distance_upper_bound_constraint', (0.05,), 0.0, 0.05),
    ('distance_constraint', (['held', 'other'], 0.1, 0.12), 0.1, 0.12),
])
def test_distance_constraints_hold_for_two_spheres(robot, method, bounds, lower, upper):
    """The expected distance is that of the centers less the radii, 0.05 m and 0.1 m."""
    scene = Scene(robot).attach(SceneObject('held', [Sphere(0.05)], pose(P)), 'tip')
    ik = InverseKinematics(robot, scene=scene.add(SceneObject('other', [Sphere(0.1)], pose(Q))))
    add(ik, method, bounds)
    for seed in range(5):
        solution = ik.solve(robot.random_q(np.random.default_rng(seed)), timeout=1.0)
        assert solution.success, solution.explain()
        T = TreeJudge(robot.urdf).transform(solution.joints, 'tip')
        distance = np.linalg.norm(point(T, P) - Q) - 0.15
        assert lower - 2e-6 <= distance <= upper + 2e-6


def test_remove_drops_constraints_and_costs_from_later_problems(load):
    ik = InverseKinematics(load('panda'))
    first = ik.add_position_constraint(HAND, P, None, *BOX)
    second = ik.add_position_constraint(HAND, P, None, *BOX)
    cost, target = ik.add_posture_cost(np.zeros(8)), ik.add_pose_target(HAND, X)
    before = ik.problem
    ik.remove(first)
    ik.remove(cost)
    assert ik.problem.constraints == (second,) and ik.problem.costs == ()
    assert ik.problem.targets[0].tip == target.tip and before.constraints == (first, second)
    for handle in (first, None, HAND):
        with pytest.raises(InvalidConstraintError, match='not in this problem'):
            ik.remove(handle)


# -- malformed arguments -----------------------------------------------------------------

NAN = float('nan')
MALFORMED = [
    ('position_constraint', (HAND, P, None, *BOX, 2 * X), 'T_relative_A'),
    ('orientation_constraint', (None, DOWN, HAND, None, -0.1), 'theta_bound'),
    ('gaze_target_constraint', (HAND, P, N, None, Q, 3.2), 'cone_half_angle'),
    ('angle_between_vectors_constraint', (None, N, HAND, N, 0.5, 4), 'angle_upper'),
    ('point_to_point_distance_constraint', (HAND, P, None, Q, -0.1, 1), 'distance_lower'),
    ('point_to_line_distance_constraint', (HAND, P, None, Q, N, 0, NAN), 'distance_upper'),
    ('polyhedron_constraint', (None, HAND, [P, Q], ABOVE, [0, 0]), 'p_GP'),
    ('position_cost', (None, Q, HAND, P, [[1, 0, 0]]), r'\(3, 3\)'),
    ('orientation_cost', (None, DOWN, HAND, None, -1), 'c must be'),
    ('posture_cost', ([0.0] * 8, [1, 2]), 'shape'),
    ('distance_constraint', ('panda_hand', 0, 1), 'two links'),
    ('joint_constraint', (['panda_joint1', 'panda_joint1'], 0, 1), 'twice'),
    ('joint_constraint', (['panda_joint1', 'panda_joint2'], [0, 0, 0], 1), 'lower bound'),
    ('constraint', ('x', 0, 1), 'callable'),
    ('constraint', (FramePosition(HAND),), 'has no bounds'),
    ('cost', (3,), 'callable'),
]


@pytest.mark.parametrize('method, arguments, text', MALFORMED)
def test_malformed_arguments_are_refused_by_the_add_method(load, method, arguments, text):
    ik = InverseKinematics(load('panda'))
    with pytest.raises(InvalidConstraintError, match=text):
        add(ik, method, arguments)
    with pytest.raises(InvalidConstraintError, match='neither targets nor constraints'):
        assert ik.problem


def test_malformed_constructor_arguments_are_refused(load):
    robot = load('panda')
    for error, options in ((InvalidOptionError, {'scene': object()}),
                           (InvalidOptionError, {'locked': ['panda_joint1']}),
                           (InvalidOptionError, {'with_joint_limits': 'no'}),
                           (UnknownJointError, {'locked': {'joint': 1.0}}),
                           (InvalidStateError, {'locked': {'panda_joint1': NAN}})):
        with pytest.raises(error):
            InverseKinematics(robot, **options)
    with pytest.raises(IKError):
        InverseKinematics(robot).solve()
