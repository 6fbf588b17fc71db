"""Compiled loops make the steps of the same loops as plain Python."""

from judge import pose
import numpy as np
from oracles import recorded
import pytest

from ros2_ik.core import (
    algebra,
    CenterOfMass,
    Configuration,
    Constraint,
    FrameOrientation,
    FramePosition,
    GazeAngle,
    IKProblem,
    JointPositions,
    LeastSquares,
    PointToPlane,
    PoseTarget,
    UserFunction,
)
from ros2_ik.core.kernels import source
from ros2_ik.core.solvers import Budget, make_solver
from ros2_ik.core.solvers.solver import Starts
from ros2_ik.core.solvers.starts import draw_starts, generator_state, N_NEAR

pytest.importorskip('numba')
LIE = recorded('lie.json')
TIPS = {'panda': ['panda_hand'], 'baxter': ['left_gripper', 'right_gripper'],
        'talos': ['gripper_left_base_link', 'right_sole_link']}
SMALL = {'gantry': ['tip'], 'scara': ['tip'], 'mimic_chain': ['tip'], 'one_joint': ['tip'],
         'fingers': ['left_tip', 'right_tip'], 'no_limits': ['tip'], 'turntable': ['tip'],
         'planar_2r': ['tip'], 'two_arms': ['left_hand', 'right_hand']}
CASES = [*((name, 'fixed') for name in (*TIPS, *SMALL)), ('two_arms', 'freeflyer'),
         ('turntable', 'freeflyer')]


def robot_and_tips(name, root, load, small):
    return (load(name), TIPS[name]) if name in TIPS else (small(name, root), SMALL[name])


def both(solver, problem, starts, monkeypatch, **options):
    """Make attempts of the compiled and of the plain solver from the same starts."""
    assert source.is_compiled()
    fast = make_solver(solver, problem, options)
    with monkeypatch.context() as plain:
        plain.setattr(source._state, 'compiled', False)
        slow = make_solver(solver, problem, options)
        return [(slow.attempt(q, Budget()), fast.attempt(q, Budget())) for q in starts]


def assert_same(attempts):
    """Check equality up to rounding, which a chaotic descent may blow up now and then."""
    same = sum(slow.exit_flag == fast.exit_flag and slow.iterations == fast.iterations
               and np.allclose(slow.q, fast.q, atol=1e-6)
               and np.isclose(slow.error, fast.error, rtol=1e-5, atol=1e-13)
               and np.isclose(slow.cost, fast.cost, rtol=1e-5, atol=1e-10)
               for slow, fast in attempts)
    assert same >= len(attempts) - 1, f'{same} of {len(attempts)}'


@pytest.mark.parametrize(('name', 'root'), CASES)
@pytest.mark.parametrize('weights', [(1,) * 6, (2, 1, 0, 0, 0, 0.1)])
def test_poses(name, root, weights, load, small, monkeypatch):
    robot, tips = robot_and_tips(name, root, load, small)
    generator = np.random.default_rng(0)
    at = Configuration(robot, robot.random_q(generator))
    problem = IKProblem(robot, [PoseTarget(tip, at.transform(tip), weights=weights)
                                for tip in tips])
    starts = [problem.locked(robot.random_q(generator)) for _ in range(6)]
    assert_same(both('lm', problem, starts, monkeypatch))


@pytest.mark.parametrize(('name', 'root'), [('panda', 'fixed'), ('baxter', 'fixed'),
                                            ('mimic_chain', 'fixed'), ('two_arms', 'freeflyer')])
def test_constraints_and_costs(name, root, load, small, monkeypatch):
    robot, tips = robot_and_tips(name, root, load, small)
    generator = np.random.default_rng(0)
    at = Configuration(robot, robot.random_q(generator))
    p, R = at.transform(tips[0])[:3, 3], at.transform(tips[0])[:3, :3]
    constraints = [Constraint(FramePosition(tips[0], (0, 0, 0.1)), p - 0.1, p + 0.1),
                   Constraint(PointToPlane(tips[0], (0, 0, 0), p, (0, 0.6, 0.8)), 0, np.inf),
                   Constraint(GazeAngle(tips[-1], (0, 0, 0), (0, 0, 1), p + 1), 0, 2.0),
                   Constraint(FrameOrientation(tips[0], R, axes='x', form='euler'), -0.4, 0.4)]
    problem = IKProblem(robot, constraints=constraints, costs=[
        LeastSquares(JointPositions(), weight=0.1), LeastSquares(CenterOfMass(), p),
        LeastSquares(UserFunction(lambda at: at.q[:1], jacobian=lambda at: np.eye(1, robot.nv)))])
    starts = [problem.locked(robot.random_q(generator)) for _ in range(4)]
    assert_same(both('sqp', problem, starts, monkeypatch, attempt_iterations=8,
                     cost_iterations=3))


def test_starts_in_turn(load):
    """They end as each by itself would, up to the first that arrives, and stay as they were."""
    robot = load('panda')
    generator = np.random.default_rng(5)
    seen = set()
    for _ in range(60):
        at = Configuration(robot, robot.random_q(generator))
        problem = IKProblem(robot, PoseTarget('panda_hand', at.transform('panda_hand')))
        solver = make_solver('lm', problem, {})
        seed, last = robot.random_q(generator), N_NEAR + solver.batch_size
        starts = draw_starts(problem, Starts(seed, N_NEAR + 1, last, generator_state(7)))
        each = [solver.attempt(start, Budget()) for start in starts]
        first = next((i for i, one in enumerate(each) if one.reached), len(each) - 1)
        best = min(each[:first + 1], key=lambda one: (not one.reached, one.error))
        attempt, used, _ = solver.find(
            Starts(seed, N_NEAR + 1, last, generator_state(7)), Budget())
        assert used == first + 1
        assert np.array_equal(attempt.q, best.q) and attempt.exit_flag is best.exit_flag
        assert attempt.iterations == sum(one.iterations for one in each[:used])
        seen.add((used, attempt.reached))
        bound = each[0].iterations + 2
        short, used, _ = solver.find(
            Starts(seed, N_NEAR + 1, last, generator_state(7)), Budget(iterations=bound))
        assert short.iterations <= bound and used <= 2
    assert len(seen) > 3


def test_a_user_who_raises_ends_a_compiled_loop(load):
    """The error comes out as it is, after one evaluation, and leaves nothing behind."""
    looks = []

    def broken(at):
        looks.append(1)
        if len(looks) == 3:
            raise KeyError('mine')
        return at.q[0]
    robot = load('panda')
    problem = IKProblem(robot, constraints=[Constraint(
        UserFunction(broken, jacobian=lambda at: np.eye(1, robot.nv)), 1.0, 2.0),
        Constraint(FramePosition('panda_hand'), (0.4, 0, 0.4), (0.5, 0.1, 0.5))])
    solver = make_solver('sqp', problem, {})
    with pytest.raises(KeyError, match='mine'):
        solver.attempt(problem.start, Budget())
    assert len(looks) == 3
    assert solver.attempt(problem.start, Budget()).reached


@pytest.mark.parametrize('case', LIE['cases'], ids=lambda case: case['angle'])
def test_logarithms_to_60_digits(case):
    M = np.array(case['M'])
    w = algebra.log3(M[:3, :3].reshape(-1).tolist())
    np.testing.assert_allclose(w, case['log6'][3:], atol=1e-11)
    # near pi the translation magnifies the rounding of M
    np.testing.assert_allclose(algebra.log6(w, tuple(M[:3, 3])), case['log6'][:3], atol=1e-9)


@pytest.mark.parametrize('axis', [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.6, 0, -0.8)])
@pytest.mark.parametrize('angle', [np.pi, np.pi - 1e-9, np.pi - 1e-5, 1e-9, 0.0])
def test_log3_of_half_a_turn(axis, angle):
    w = algebra.log3(pose((0, 0, 0), np.multiply(axis, angle))[:3, :3].reshape(-1))
    np.testing.assert_allclose(np.abs(w), np.abs(np.multiply(axis, angle)), atol=2e-8)
