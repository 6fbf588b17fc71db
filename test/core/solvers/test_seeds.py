"""Seeds: full turns of joints, costs, the change from the seed, and max_joint_change."""

from example_data import data_folder
from fcl_judge import FclJudge
from hypothesis import given, settings, strategies as st
from judge import check, random_pose, TreeJudge
import numpy as np
import pytest
from search_problems import FAR, tip_problem
from small_robots import joint, urdf, X, Z

from ros2_ik.core import (
    accept,
    CollisionChecker,
    Configuration,
    Constraint,
    FramePosition,
    IKProblem,
    InverseKinematics,
    JointCoupling,
    JointPositions,
    LeastSquares,
    load_scene,
    PoseTarget,
    Robot,
    solve,
    solve_pose,
    solver_names,
    Status,
)
from ros2_ik.core.errors import InvalidOptionError, InvalidStateError, UnknownJointError
from ros2_ik.core.internals import Search
from ros2_ik.core.solvers.serialization import pack, unpack


def test_start_outside_the_limits_of_an_unneeded_joint_is_clamped(load):
    """The legs are solved separately, and no target depends on the head."""
    robot, start = load('talos'), {'head_1_joint': 0.7864, 'leg_left_4_joint': 0.5}
    at = Configuration(robot, robot.to_q({'leg_left_4_joint': 0.7, 'leg_right_4_joint': 0.2}))
    solution = solve(IKProblem(robot, [PoseTarget(tip, at.transform(tip)) for tip in (
        'left_sole_link', 'right_sole_link')], 'all', start, collisions=False), random_state=0)
    assert solution.success and solution.joints['head_1_joint'] == 0.785398163397


def test_seed_of_wrong_length_is_refused_with_the_joint_names(small):
    robot = small('planar_2r')
    with pytest.raises(InvalidStateError, match='seed must be 2 finite numbers .* of '
                       + ', '.join(robot.joint_names)):
        solve_pose(robot, 'tip', np.eye(4), [0.0] * 3)


@settings(max_examples=100)
@given(turns=st.integers(-50, 50), offset=st.floats(-3, 3), start=st.floats(-3.0, 3.0))
def test_solutions_are_on_the_turn_nearest_to_the_seed(turns, offset, start):
    seed_table = start + 2 * np.pi * turns
    solution = solve_pose(SWIVEL, 'arm', SWIVEL_JUDGE.transform({'table': start + offset},
                                                                'arm'), [seed_table])
    check(SWIVEL_JUDGE, solution, [('arm', SWIVEL_JUDGE.transform(
        {'table': seed_table + offset}, 'arm'))])
    assert abs(solution.joints['table'] - seed_table) <= np.pi + 1e-3
    assert solution.joints['table'] == pytest.approx(seed_table + offset, abs=1e-3)


SWIVEL_TEXT = urdf(joint('table', 'continuous', 'base', 'arm', xyz=(0, 0, 1), axis=(0, 0.6, 0.8)))
SWIVEL, SWIVEL_JUDGE = Robot.from_urdf(SWIVEL_TEXT), TreeJudge(SWIVEL_TEXT)


def test_turn_of_a_revolute_joint_is_the_nearest_within_its_limits(load, judge_of):
    """Most joints of a UR5 have limits of -2 pi and 2 pi."""
    robot, judge, generator = load('ur5'), judge_of('ur5'), np.random.default_rng(0)
    n_other_turns = 0
    for _ in range(15):
        seed = robot.random_q(generator)
        _, T = random_pose(robot, judge, 'tool0', generator)
        solution = solve_pose(robot, 'tool0', T, seed, timeout=1.0, random_state=0,
                              collisions=False)
        check(judge, solution, [('tool0', T)])
        for turn in (-2 * np.pi, 2 * np.pi):
            for other in solution.q + turn * np.eye(6):
                if (robot.lower <= other).all() and (other <= robot.upper).all():
                    n_other_turns += 1
                    assert np.linalg.norm(other - seed) >= np.linalg.norm(solution.q - seed)
    assert n_other_turns > 8


@pytest.mark.parametrize('limit', [2 * np.pi, np.pi])
def test_target_beyond_a_limit_is_reached_a_full_turn_away(limit):
    text = urdf(joint('table', 'revolute', 'base', 'arm', axis=Z, limits=(-limit, limit)))
    robot, judge = Robot.from_urdf(text), TreeJudge(text)
    # the descent from the seed ends at the limit
    T = judge.transform({'table': limit + 0.9}, 'arm')
    for state in range(20):
        solution = solve_pose(robot, 'arm', T, [limit - 0.1], random_state=state)
        check(judge, solution, [('arm', T)])
        assert abs(solution.q[0]) <= limit and solution.restarts == 1


@pytest.mark.parametrize('multiplier', [-2.0, 0.5])
def test_leader_of_a_mimic_joint_reaches_targets_two_turns_from_the_seed(multiplier):
    text = urdf(joint('lead', 'continuous', 'base', 'a', axis=Z),
                joint('follow', 'continuous', 'a', 'tip', xyz=(0.3, 0, 0), axis=X,
                      mimic=('lead', multiplier, 0.3)))
    robot, judge = Robot.from_urdf(text), TreeJudge(text)
    for value in (0.4, 3.0, -2.0, 8.0):
        T = judge.transform({'lead': value}, 'tip')
        for seed in (value + 0.5, value + 13.0, value - 7.0):
            solution = solve_pose(robot, 'tip', T, [seed], timeout=0.5, random_state=0)
            check(judge, solution, [('tip', T)])


# -- costs whose minimum is in collision --------------------------------------------------------

@pytest.fixture(scope='module')
def tiago():
    """Return a robot whose arm collides with its body in most configurations."""
    folder = data_folder()
    return Robot.from_urdf(folder / 'tiago_description/robots/tiago_no_hand.urdf',
                           package_dirs=[folder.parents[1], folder.parent])


@pytest.mark.parametrize('select', ['first', 'cost'])
def test_posture_cost_in_collision_is_solved_from_a_free_seed(tiago, select):
    checker, random = CollisionChecker(tiago), np.random.default_rng(1)

    def random_q(in_collision):
        return next(q for _ in range(1000)
                    if checker.collides(q := tiago.random_q(random)) == in_collision)
    for _ in range(4):
        seed, ik = random_q(False), InverseKinematics(tiago)
        ik.add_posture_cost(random_q(True))
        solution = ik.solve(seed, timeout=0.2, random_state=0, select=select)
        assert solution.success, solution.explain()
        assert accept(ik.problem, solution.q).accepted and not checker.collides(solution.q)


def test_constrained_posture_cost_in_self_collision_is_solved(load):
    """Past defect: all descents ended in the self-collision of the nominal posture."""
    robot, names = load('ur5'), ['wrist_1_joint', 'shoulder_pan_joint', 'elbow_joint']
    for number in (20262300, 20262336, 20262363):
        rng = np.random.default_rng(number)
        posture, q = robot.random_q(rng), robot.random_q(rng)
        ratios = rng.normal(size=3)
        value = ratios @ q[[robot.joint(name).index for name in names]]
        ik = InverseKinematics(robot)
        ik.add_constraint(JointCoupling(names, [ratios]), value - 1e-3, value + 1e-3)
        ik.add_posture_cost(posture, 0.7)
        solution = ik.solve(robot.random_q(rng), timeout=10.0, random_state=1)
        assert solution.success and abs(
            ratios @ [solution.joints[name] for name in names] - value) < 1.1e-3


def test_cost_with_minimum_inside_a_table_is_solved_near_its_surface(load):
    """The cost pulls the hand to points 1 to 3 cm below the table top."""
    panda, generator = load('panda'), np.random.default_rng(0)
    scene = load_scene('table', panda)
    judge = FclJudge(panda, raw=True).surround(scene)
    start = panda.to_q({'panda_joint2': -.785, 'panda_joint4': -2.356, 'panda_joint6': 1.571,
                        'panda_joint7': .785})
    distances = []
    for _ in range(12):
        point = np.array([*generator.uniform((.45, -.3), (.75, .3)),
                          .2 - generator.uniform(.01, .03)])
        ik = InverseKinematics(panda, scene=scene)
        ik.add_cost(LeastSquares(FramePosition('panda_hand_tcp', [0, 0, 0]), target=point))
        solution = ik.solve(start, timeout=1.0, random_state=0)
        assert solution.success and not np.allclose(solution.q, start)
        assert judge.touching(solution.joints) == set()
        at = Configuration(panda, solution.q).transform('panda_hand_tcp')[:3, 3]
        distances.append(np.linalg.norm(at - point))
    assert np.median(distances) < 0.07


ARM_SOLVERS = ('lm', 'sqp', 'clik', 'bfgs', 'slsqp')


@pytest.fixture(scope='module')
def home(ur5):
    return ur5.to_q({'shoulder_lift_joint': -1.57, 'elbow_joint': 1.57, 'wrist_1_joint': -1.57,
                     'wrist_2_joint': -1.57})


def tip_pose(robot, q, **joints):
    """Return the pose of the tip after these changes of joints from q."""
    values = robot.to_joints(q)
    return Configuration(robot, {k: v + joints.get(k, 0) for k, v in values.items()}
                         ).transform('tool0')


def test_largest_joint_change_is_reported(ur5, home):
    solution = solve_pose(ur5, 'tool0', tip_pose(ur5, home, elbow_joint=0.31), home)
    assert solution.success
    joint, change, unit = solution.travel
    at = ur5.joint(joint).index
    assert change == np.abs(solution.q - home).max() == abs(solution.q[at] - home[at])
    assert solution.message.endswith(f'largest joint change {change:.3g} rad ({joint})')
    assert unit == 'rad' and f'{change:.3g} rad ({joint})' in solution.explain()
    several = solve_pose(ur5, 'tool0', tip_pose(ur5, home, elbow_joint=0.31), home, solutions=3,
                         timeout=2.0, random_state=0)
    for one in (several, *several.alternatives):
        assert one.travel.change == np.abs(one.q - home).max()
        assert f'{one.travel}' in one.message


@pytest.mark.parametrize('most', [0.3, {'elbow_joint': 0.3}])
def test_max_joint_change_holds_for_targets_just_inside_and_outside(ur5, home, most):
    inside, outside = (tip_pose(ur5, home, elbow_joint=by) for by in (0.29, 0.31))
    found = solve_pose(ur5, 'tool0', inside, home, max_joint_change=most, random_state=0)
    assert found.success and abs(found.joints['elbow_joint'] - home[2]) <= 0.3 + 1e-7
    if isinstance(most, dict):     # the other joints are free to move further
        other = solve_pose(ur5, 'tool0', outside, home, max_joint_change=most, random_state=0)
        assert other.success and abs(other.joints['elbow_joint'] - home[2]) <= 0.3
        return
    none = solve_pose(ur5, 'tool0', outside, home, max_joint_change=most, random_state=0)
    assert none.status is Status.NO_IK_SOLUTION and none.q is None
    assert abs(none.best_joints['elbow_joint'] - home[2]) <= 0.3 + 1e-7
    assert 'no solution within max_joint_change 0.3' in none.message


@pytest.mark.parametrize('solver', ARM_SOLVERS)
def test_all_solvers_respect_max_joint_change(load, solver):
    robot, generator = load('panda'), np.random.default_rng(5)
    n_solved = 0
    for _ in range(10):
        seed = robot.random_q(generator)
        near = np.clip(seed + generator.uniform(-0.25, 0.25, robot.nq), robot.lower, robot.upper)
        T = Configuration(robot, near).transform('panda_hand_tcp')
        solution = solve_pose(robot, 'panda_hand_tcp', T, seed, max_joint_change=0.3,
                              solver=solver, timeout=2.0, max_iterations=600, random_state=0,
                              collisions=False)
        change = np.abs(solution.best_q - seed).max()
        assert change <= 0.3 and solution.travel.change == pytest.approx(change)
        n_solved += solution.success
    assert n_solved >= (8 if solver in ('lm', 'sqp') else 4)


def test_max_joint_change_of_a_floating_base_is_refused(small):
    robot = small('scara', 'freeflyer')
    T = Configuration(robot, robot.neutral).transform('tip')
    for bound in ({'root_joint': 0.5}, 0.5):
        with pytest.raises(InvalidOptionError, match="cannot bound 'root_joint', a floating"):
            solve_pose(robot, 'tip', T, max_joint_change=bound)
    assert solve_pose(robot, 'tip', T, max_joint_change={'elbow': 0.5}).success
    assert solve_pose(robot, 'tip', T, locked=['root_joint'], max_joint_change=0.5).success


@pytest.mark.parametrize('solver', solver_names())
def test_max_joint_change_outside_the_joint_limits_is_reported_infeasible(small, solver):
    robot = small('zero_links')
    seed = {'elbow': robot.joint('elbow').upper + 1.0}
    solution = solve(tip_problem(robot), [seed], solver=solver, max_joint_change=0.5, timeout=30.0)
    assert solution.status is Status.GOAL_CONSTRAINTS_VIOLATED and solution.impossible
    assert solution.restarts < 40
    upper = robot.joint('elbow').upper
    assert f"max_joint_change 0.5 of 'elbow' in [{upper + 0.5:.6g}" in solution.message
    assert "limits of 'elbow'" in solution.message


def test_max_joint_change_holds_with_constraints_and_after_serialization(ur5, home):
    problem = IKProblem(ur5, constraints=[Constraint(JointPositions(['elbow_joint']), lower=2.2,
                                                     upper=2.4)], start=home)
    free, bounded = solve(problem), solve(problem, max_joint_change=0.5, timeout=0.1)
    assert free.success and not bounded.success
    assert "max_joint_change 0.5 of 'elbow_joint' in [1.07, 2.07]" in bounded.message
    T = tip_pose(ur5, home, elbow_joint=0.6)
    search = Search(IKProblem(ur5, PoseTarget('tool0', T), start=home), max_joint_change=0.5,
                    random_state=0)
    search.run(seconds=0)
    restored = unpack(pack(search, ur5), ur5)
    restored.run(seconds=0.2)
    solution = restored.solution()
    assert not solution.success and np.abs(solution.best_q - home).max() <= 0.5


@pytest.mark.parametrize('wrong, word', [
    (np.nan, 'max_joint_change'), ('far', 'a number >= 0'), ([1, 2], 'a number >= 0'),
    ({'elbow_joint': -0.1}, 'elbow_joint'), ({'elbow': 1.0}, "did you mean 'elbow_joint'")])
def test_malformed_max_joint_change_is_refused(ur5, wrong, word):
    with pytest.raises((InvalidOptionError, UnknownJointError), match=word):
        solve_pose(ur5, 'tool0', FAR, max_joint_change=wrong)
