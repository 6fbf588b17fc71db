"""Compiled values and Jacobians are those of the functions; compiled descents end as well."""

from judge import pose
import numpy as np
import pytest
from scipy.optimize import minimize

from ros2_ik.core import (
    AngleBetweenVectors,
    AxisAlignment,
    Configuration,
    Constraint,
    FrameOrientation,
    FramePose,
    FramePosition,
    GazeAngle,
    HalfSpaces,
    IKProblem,
    JointCoupling,
    JointPositions,
    kernels,
    LeastSquares,
    load_kernels,
    LookAt,
    OrientationAngle,
    PointToLineDistance,
    PointToPlane,
    PointToPointDistance,
    PoseTarget,
)
from ros2_ik.core.solvers import Budget, make_solver
from ros2_ik.core.solvers.compiled_rows import compiled_rows, CompiledRows
from ros2_ik.core.solvers.problem_rows import ProblemRows

pytest.importorskip('numba')
P, A, B = (0.1, -0.2, 0.3), (1, 2, 3), (3, 1, -2)
T = pose((0.1, -0.2, 0.4), (0.5, -0.9, 0.7))
TWO = [('baxter', 'left_gripper', 'right_gripper'), ('panda', 'panda_hand', 'panda_link3'),
       ('talos', 'gripper_left_base_link', 'right_sole_link'), ('mimic_chain', 'tip', 'lb'),
       ('gantry', 'tip', None), ('fingers', 'left_tip', 'right_tip'), ('one_joint', 'tip', None)]


@pytest.fixture(autouse=True)
def compiled():
    assert load_kernels()
    yield
    kernels._loaded.clear()


def functions(a, b):
    """Give one of each kind that has a compiled form, of frame a relative to b."""
    return [FramePosition(a, P, b, T, 'zx'), FramePosition(a), FramePose(a, T, b),
            HalfSpaces(a, [P, A], np.arange(12.0).reshape(2, 6), b),
            FrameOrientation(a, T, b, T, 'yz'), OrientationAngle(a, T, b, T),
            PointToPlane(a, P, A, B, b), PointToPointDistance(a, P, A, b),
            PointToLineDistance(a, P, A, B, b), AngleBetweenVectors(a, A, B, b),
            AxisAlignment(a, A, B, b), GazeAngle(a, P, A, B, b), LookAt(a, P, A, B, b)]


def make(name, load, small):
    return load(name) if name in ('baxter', 'panda', 'talos') else small(name)


@pytest.mark.parametrize(('name', 'a', 'b'), TWO, ids=[name for name, *_ in TWO])
def test_same_as_the_functions(name, a, b, load, small):
    robot = make(name, load, small)
    some = [*functions(a, b), JointPositions(wrap=False),
            JointCoupling([robot.joint_names[0]], [2.0], 0.3)]
    problem = IKProblem(robot, constraints=[Constraint(f) for f in some])
    rows = compiled_rows(problem, some)
    assert isinstance(rows, CompiledRows)
    generator = np.random.default_rng(0)
    for _ in range(20):
        q = robot.random_q(generator)
        f, J = rows.evaluate(problem.locked(q))
        at = Configuration(robot, problem.locked(q))
        wanted = [function.evaluate(at) for function in some]
        np.testing.assert_allclose(f, np.concatenate([v for v, _ in wanted]), atol=1e-10)
        np.testing.assert_allclose(J, np.concatenate([j for _, j in wanted])[
            :, problem.free.column], atol=1e-8)


@pytest.mark.parametrize('function', [
    AngleBetweenVectors('tip', A, A), AngleBetweenVectors('tip', A, np.negative(A)),
    AxisAlignment('tip', A, A), AxisAlignment('tip', A, np.negative(A)),
    GazeAngle('tip', (0, 0, 0), (1, 0, 0), (0, 0, 0)), LookAt('tip', (0, 0, 0), A, (0, 0, 0)),
    PointToPointDistance('tip', (0, 0, 0), (0, 0, 0)), OrientationAngle('tip'),
    OrientationAngle('tip', pose((0, 0, 0), (np.pi, 0, 0))),
    PointToLineDistance('tip', (0, 0, 0), (0, 0, 0), B)], ids=str)
def test_where_functions_have_no_gradient(function, small):
    """At the tip's own place with all joints at zero, and next to it."""
    robot = small('zero_links')
    problem = IKProblem(robot, constraints=[Constraint(function)])
    for size in (0, 1e-12, 1e-7):
        q = problem.locked(np.full(robot.nq, float(size)))
        f, J = compiled_rows(problem, [function]).evaluate(q)
        wanted, slope = function.evaluate(Configuration(robot, q))
        # straight behind any direction is one: rounding chooses
        assert np.linalg.norm(f) == pytest.approx(np.linalg.norm(wanted), abs=1e-7)
        assert np.isfinite(J).all() and np.isfinite(slope).all()
        assert np.abs(J).max() <= 10 * max(1.0, np.abs(slope).max())


def test_joints_that_are_held(load):
    robot, generator = load('baxter'), np.random.default_rng(0)
    some = functions('left_gripper', 'right_gripper')
    for _ in range(3):
        problem = IKProblem(robot, constraints=[Constraint(f) for f in some], group='left_arm',
                            start=robot.random_q(generator))
        q = problem.locked(robot.random_q(generator))
        f, J = compiled_rows(problem, some).evaluate(q)
        wanted = [function.evaluate(Configuration(robot, q)) for function in some]
        np.testing.assert_allclose(f, np.concatenate([v for v, _ in wanted]), atol=1e-10)
        np.testing.assert_allclose(J, np.concatenate([j for _, j in wanted])[
            :, problem.free.column], atol=1e-8)


def test_what_is_left_to_plain_python(small, load):
    floating = small('two_arms', 'freeflyer')
    turning = load('kinova')
    for robot, function in ((floating, FramePosition('left_hand')),
                            (turning, JointPositions())):
        rows = ProblemRows(IKProblem(robot, constraints=[Constraint(function)]))
        assert rows.compiled() is None


@pytest.mark.parametrize('seed', range(40))
def test_least_step_is_the_least(seed):
    """Judged by scipy's L-BFGS-B on the same convex function, and by its slope."""
    from ros2_ik.core.kernels.least_step import least_step
    generator = np.random.default_rng(seed)
    n, m = generator.integers(1, 9), generator.integers(0, 15)
    L, A = generator.normal(size=(n, n)), generator.normal(size=(m, n))
    H, h = L @ L.T + 10.0**generator.uniform(-6, 0) * np.eye(n), generator.normal(size=n)
    lower = generator.normal(size=m) - generator.choice([0, 1, 10], m)
    upper = lower + generator.choice([0, 0.1, 1, np.inf], m)
    low, high = -generator.choice([0, 0.3, 2], n) * 1.0, generator.choice([0, 0.3, 2], n) * 1.0
    weight = 10.0**generator.integers(0, 5)
    d, r = np.empty(n), np.empty(m)
    assert least_step(H, h, A, lower, upper, weight, low, high, d, r)

    def value(x):
        away = A @ x - np.clip(A @ x, lower, upper)
        return (0.5 * x @ H @ x + h @ x + 0.5 * weight * away @ away,
                H @ x + h + weight * away @ A)
    best = minimize(value, np.zeros(n), jac=True, bounds=list(zip(low, high, strict=True)),
                    options={'maxiter': 3000, 'ftol': 1e-15, 'gtol': 1e-10})
    found, slope = value(d)
    assert (d >= low).all() and (d <= high).all()
    assert found <= best.fun + 1e-7 * (1 + abs(best.fun))
    scale = 1e-6 * (1 + np.abs(h).max() + weight)
    assert (slope[(d > low) & (d < high)] <= scale).all()
    assert (slope[d <= low] >= -scale).all() or (low == high).any()
    np.testing.assert_allclose(r, A @ d - np.clip(A @ d, lower, upper), atol=1e-9)


@pytest.mark.parametrize('name', ['panda', 'ur5', 'baxter'])
def test_descents_end_as_plain_ones(name, load):
    """Where the plain solver gets, with a cost as low; both are judged by acceptance elsewhere."""
    robot, tip = load(name), {'panda': 'panda_hand', 'ur5': 'tool0',
                              'baxter': 'left_gripper'}[name]
    generator, as_good, reached = np.random.default_rng(1), 0, [0, 0]
    for _ in range(25):
        at = Configuration(robot, robot.random_q(generator))
        p = at.transform(tip)[:3, 3]
        plane = PointToPlane(tip, (0, 0, 0.1), p, (0, 0, 1))
        problem = IKProblem(
            robot, [PoseTarget(tip, at.transform(tip), weights=(1, 1, 1, 1, 1, 0))],
            constraints=[Constraint(plane, -1.0, 1.0)],
            costs=[LeastSquares(JointPositions(wrap=False))])
        start = problem.locked(robot.random_q(generator))
        fast = make_solver('sqp', problem, {}).attempt(start, Budget())
        kernels._loaded.clear()
        plain = make_solver('sqp', problem, {}).attempt(start, Budget())
        load_kernels()
        reached[0] += plain.reached
        reached[1] += fast.reached
        both = plain.reached and fast.reached
        as_good += not both or fast.cost <= plain.cost * 1.01 + 1e-6
    assert abs(reached[0] - reached[1]) <= 2
    assert as_good >= 23
