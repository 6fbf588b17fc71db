"""The compiled descent makes the steps of the plain one, which is built on Pinocchio."""


from judge import pose
import numpy as np
from oracles import recorded
import pytest

from ros2_ik.core import Configuration, IKProblem, kernels, load_kernels, PoseTarget, solve_pose
from ros2_ik.core.solvers.budget import Budget
from ros2_ik.core.solvers.lm import LevenbergMarquardt

pytest.importorskip('numba')
LIE = recorded('lie.json')
TIPS = {'panda': ['panda_hand'], 'ur5': ['tool0'], 'baxter': ['left_gripper', 'right_gripper'],
        'talos': ['gripper_left_base_link', 'right_sole_link']}
SMALL = {'gantry': ['tip'], 'scara': ['tip'], 'mimic_chain': ['tip'], 'one_joint': ['tip'],
         'fingers': ['left_tip', 'right_tip'], 'no_limits': ['tip'], 'turntable': ['tip'],
         'planar_2r': ['tip'], 'two_arms': ['left_hand', 'right_hand']}


@pytest.fixture
def compiled():
    """Solvers made while this is used are compiled, where they can be."""
    assert load_kernels()
    yield
    kernels._loaded.clear()


def both(problem, starts, **options):
    """Make attempts of the plain and of the compiled solver from the same starts."""
    assert kernels.kernel('pose_descent') is not None
    fast = LevenbergMarquardt(problem, **options)
    kernels._loaded.clear()
    plain = LevenbergMarquardt(problem, **options)
    assert fast._compiled is not None and plain._compiled is None
    return [(plain.attempt(q, Budget()), fast.attempt(q, Budget())) for q in starts]


def assert_same(attempts):
    """Check equality up to rounding, which a chaotic descent may blow up now and then."""
    same = 0
    for plain, fast in attempts:
        same += (plain.exit_flag == fast.exit_flag and plain.iterations == fast.iterations
                 and np.allclose(plain.q, fast.q, atol=1e-6)
                 and np.isclose(plain.error, fast.error, rtol=1e-5, atol=1e-13))
    assert same >= 0.97 * len(attempts), f'{same} of {len(attempts)}'


def targets_at(robot, tips, q, **options):
    at = Configuration(robot, q)
    return [PoseTarget(tip, at.transform(tip), **options) for tip in tips]


def robot_and_tips(name, load, small):
    return (load(name), TIPS[name]) if name in TIPS else (small(name), SMALL[name])


@pytest.mark.parametrize('name', [*TIPS, *SMALL])
@pytest.mark.parametrize('weights', [(1,) * 6, (1, 1, 1, 0.3, 0.3, 0), (2, 1, 0, 0, 0, 0.1)])
def test_same_as_plain(name, weights, load, small, compiled):
    robot, tips = robot_and_tips(name, load, small)
    generator = np.random.default_rng(0)
    targets = targets_at(robot, tips, robot.random_q(generator), weights=weights)
    problem = IKProblem(robot, targets)
    assert_same(both(problem, [problem.locked(robot.random_q(generator)) for _ in range(60)]))


def test_same_out_of_reach(load, compiled):
    """Joints come to stand on their limits."""
    robot, generator = load('panda'), np.random.default_rng(0)
    problem = IKProblem(robot, PoseTarget('panda_hand', pose((0.9, 0.9, 0.9), (0, 0, 1))))
    attempts = both(problem, [problem.locked(robot.random_q(generator)) for _ in range(60)])
    # at rest, rounding decides by how many iterations: compare where it ends
    for plain, fast in attempts:
        assert plain.exit_flag != 1 and fast.exit_flag != 1
    assert np.isclose(min(p.error for p, _ in attempts), min(f.error for _, f in attempts),
                      rtol=0.05)
    for _, fast in attempts:
        assert (fast.q >= robot.lower).all() and (fast.q <= robot.upper).all()


def test_locked_joints_stay_and_their_values_count(load, compiled):
    robot, generator = load('panda'), np.random.default_rng(0)
    for value in (0.3, -0.4, 0.3):
        q = robot.to_q({'panda_joint3': value, 'panda_joint4': -1.5})
        problem = IKProblem(robot, targets_at(robot, ['panda_hand'], q), start=q,
                            locked=['panda_joint3'])
        load_kernels()
        attempts = both(problem, [problem.locked(robot.random_q(generator)) for _ in range(30)])
        assert_same(attempts)
        assert any(fast.exit_flag == 1 for _, fast in attempts)
        assert all(fast.q[2] == value for _, fast in attempts)


def test_most_iterations(load, compiled):
    robot = load('ur5')
    problem = IKProblem(robot, PoseTarget('tool0', pose((0.3, 0.3, 0.3), (0, 0, 1))))
    attempt = LevenbergMarquardt(problem).attempt(robot.neutral, Budget(iterations=2))
    assert attempt.iterations == 2 and attempt.exit_flag == 2


def test_what_it_leaves_to_plain_python(small, compiled):
    """A floating joint on the way, or a target in a frame that moves."""
    floating, arms = small('two_arms', 'freeflyer'), small('two_arms')
    T = pose((0.1, 0.1, 0.1), (0, 0, 1))
    for problem in (IKProblem(floating, PoseTarget('left_hand', T)),
                    IKProblem(arms, PoseTarget('left_hand', T, 'right_hand'))):
        assert LevenbergMarquardt(problem)._compiled is None
    held = IKProblem(floating, PoseTarget('left_hand', T), locked=[floating.joint_names[0]])
    assert LevenbergMarquardt(held)._compiled is not None


def test_answers_are_the_same(load, compiled):
    robot, generator = load('panda'), np.random.default_rng(0)
    T = Configuration(robot, robot.random_q(generator)).transform('panda_hand')
    fast = solve_pose(robot, 'panda_hand', T, random_state=0, timeout=1,
                      collisions=False)
    kernels._loaded.clear()
    plain = solve_pose(robot, 'panda_hand', T, random_state=0, timeout=1,
                       collisions=False)
    assert fast.success and plain.success and fast.restarts == plain.restarts
    np.testing.assert_allclose(fast.q, plain.q, atol=1e-6)


@pytest.mark.parametrize('case', LIE['cases'], ids=lambda case: case['angle'])
def testlog6_to_60_digits(case, compiled):
    from ros2_ik.core.kernels.placements import log6
    e, M = np.empty(6), np.array(case['M'])
    log6(M, e)
    # the upper part is the logarithm's translation, which near pi magnifies the rounding of M
    np.testing.assert_allclose(e[3:], case['log6'][3:], atol=1e-11)
    np.testing.assert_allclose(e[:3], case['log6'][:3], atol=1e-9)


@pytest.mark.parametrize('axis', [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.6, 0, -0.8)])
@pytest.mark.parametrize('angle', [np.pi, np.pi - 1e-9, np.pi - 1e-5, 1e-9, 0.0])
def testlog3_of_half_a_turn(axis, angle, compiled):
    from ros2_ik.core.kernels.placements import log3
    w = np.empty(3)
    log3(pose((0, 0, 0), np.multiply(axis, angle)), w)
    np.testing.assert_allclose(np.abs(w), np.abs(np.multiply(axis, angle)), atol=2e-8)


def test_starts_in_turn(load, compiled):
    """They end as each by itself would, up to the first that arrives, and stay as they were."""
    robot = load('panda')
    generator = np.random.default_rng(5)
    seen = set()
    for _ in range(60):
        problem = IKProblem(robot, targets_at(robot, ['panda_hand'], robot.random_q(generator)))
        solver = LevenbergMarquardt(problem)
        starts = np.array([robot.random_q(generator) for _ in range(solver.at_once)])
        given = starts.copy()
        each = [solver.attempt(start, Budget()) for start in starts]
        first = next((i for i, one in enumerate(each) if one.reached), len(each) - 1)
        best = min(each[:first + 1], key=lambda one: (not one.reached, one.error))
        attempt, used = solver.attempt_in_turn(starts, Budget())
        assert used == first + 1 and np.array_equal(starts, given)
        assert np.array_equal(attempt.q, best.q) and attempt.exit_flag is best.exit_flag
        assert attempt.iterations == sum(one.iterations for one in each[:used])
        seen.add((used, attempt.reached))
        bound = each[0].iterations + 2
        short, used = solver.attempt_in_turn(starts, Budget(iterations=bound))
        assert short.iterations <= bound and used <= 2
    assert len(seen) > 3
