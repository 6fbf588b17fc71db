"""How far answers are from the seed: said, bounded, and no farther than needed."""

from pathlib import Path
import sys

from judge import pose
import numpy as np
import pytest
from search_questions import FAR, problem

from ros2_ik.core import (
    Configuration,
    Constraint,
    IKProblem,
    InvalidOptionError,
    JointPositions,
    PoseTarget,
    Search,
    solve,
    solve_pose,
    solver_names,
    Status,
    UnknownJointError,
)

sys.path.insert(0, str(Path(__file__).parents[3] / 'benchmarks'))
import path_steps  # noqa: E402

ARM_SOLVERS = ('lm', 'sqp', 'clik', 'bfgs', 'slsqp')


@pytest.fixture(scope='module')
def ur5(load):
    return load('ur5')


@pytest.fixture(scope='module')
def home(ur5):
    return ur5.to_q({'shoulder_lift_joint': -1.57, 'elbow_joint': 1.57, 'wrist_1_joint': -1.57,
                     'wrist_2_joint': -1.57})


def moved(robot, q, **joints):
    """Pose of the tip with some joints moved from q."""
    there = robot.to_joints(q)
    return Configuration(robot, {k: v + joints.get(k, 0) for k, v in there.items()}
                         ).transform('tool0')


def test_every_answer_says_how_far_it_is(ur5, home):
    solution = solve_pose(ur5, 'tool0', moved(ur5, home, elbow_joint=0.31), home)
    assert solution.success
    joint, change, unit = solution.travel
    at = ur5.joint(joint).index
    assert change == np.abs(solution.q - home).max() == abs(solution.q[at] - home[at])
    assert solution.message.endswith(f'largest joint change {change:.3g} rad ({joint})')
    assert unit == 'rad' and f'{change:.3g} rad ({joint})' in solution.explain()
    several = solve_pose(ur5, 'tool0', moved(ur5, home, elbow_joint=0.31), home, solutions=3,
                         timeout=2.0, random_state=0)
    for one in (several, *several.alternatives):
        assert one.travel.change == np.abs(one.q - home).max()
        assert f'{one.travel}' in one.message


def test_travel_of_a_slide_is_in_metres(small):
    robot = small('gantry')
    middle = robot.to_joints((robot.lower + robot.upper) / 2)
    there = middle | {'x': middle['x'] + 0.5, 'y': middle['y'] + 0.05}
    T = Configuration(robot, there).transform('tip')
    solution = solve_pose(robot, 'tip', T, middle)
    assert solution.success and str(solution.travel) == '0.5 m (x)'


@pytest.mark.parametrize('most', [0.3, [0.3] * 6, {'elbow_joint': 0.3}])
def test_a_bound_is_a_bound(ur5, home, most):
    """Just inside it holds, just outside it does not, however long one looks."""
    inside, outside = (moved(ur5, home, elbow_joint=by) for by in (0.29, 0.31))
    found = solve_pose(ur5, 'tool0', inside, home, max_joint_change=most, random_state=0)
    assert found.success and abs(found.joints['elbow_joint'] - home[2]) <= 0.3 + 1e-7
    if isinstance(most, dict):     # the other joints find another way
        other = solve_pose(ur5, 'tool0', outside, home, max_joint_change=most, random_state=0)
        assert not other.success or abs(other.joints['elbow_joint'] - home[2]) <= 0.3
        return
    none = solve_pose(ur5, 'tool0', outside, home, max_joint_change=most, random_state=0)
    assert none.status is Status.NO_IK_SOLUTION and none.q is None
    assert abs(none.best_joints['elbow_joint'] - home[2]) <= 0.3 + 1e-7
    assert 'no solution within max_joint_change 0.3' in none.message


@pytest.mark.parametrize('solver', ARM_SOLVERS)
def test_all_solvers_keep_the_bound(load, solver):
    robot, generator = load('panda'), np.random.default_rng(5)
    held = 0
    for _ in range(10):
        seed = robot.random_q(generator)
        near = np.clip(seed + generator.uniform(-0.25, 0.25, robot.nq), robot.lower, robot.upper)
        T = Configuration(robot, near).transform('panda_hand_tcp')
        solution = solve_pose(robot, 'panda_hand_tcp', T, seed, max_joint_change=0.3,
                              solver=solver, timeout=2.0, max_iterations=600, random_state=0,
                              collisions=False)
        change = np.abs(solution.best_q - seed).max()
        assert change <= 0.3 and solution.travel.change == pytest.approx(change)
        held += solution.success
    assert held >= (8 if solver in ('lm', 'sqp') else 4)


def test_turns_count(small):
    """A continuous joint that may change by 1 rad does not come round from the other side."""
    robot = small('no_limits')
    seed = {'yaw': 50.0}
    T = Configuration(robot, {'yaw': 50.0 + 0.9}).transform('tip')
    solution = solve_pose(robot, 'tip', T, seed, max_joint_change=1.0)
    assert solution.success and abs(solution.joints['yaw'] - 50.0) <= 1.0
    T = Configuration(robot, {'yaw': 50.0 + 2.0}).transform('tip')
    solution = solve_pose(robot, 'tip', T, seed, max_joint_change=1.0, timeout=0.1)
    assert not solution.success or solution.travel.change <= 1.0


@pytest.mark.parametrize('turn, holds', [(0.45, True), (0.6, False)])
def test_a_free_base_is_bounded_in_metres_and_in_radians(small, turn, holds):
    robot = small('scara', 'freeflyer')
    seed = {'root_joint': [5, 6, 7, 0, 0, 0, 1]}
    half = turn / 2
    T = Configuration(robot, {'root_joint': [5.2, 6, 7, np.sin(half), 0, 0, np.cos(half)]}
                      ).transform('tip')
    locked = [name for name in robot.joint_names if name != 'root_joint']
    bound = {'root_joint': 0.5}
    solution = solve_pose(robot, 'tip', T, seed, locked=locked, max_joint_change=bound,
                          random_state=0, timeout=0.2)
    assert solution.success is holds
    if not holds:
        assert "change of joint 'root_joint': 0.6 rad, allowed [0, 0.5]" in solution.message
    solution = solve_pose(robot, 'tip', pose((0.6, 0, 0)) @ T, seed, locked=locked,
                          max_joint_change=bound, random_state=0, timeout=0.2)
    assert not solution.success


def test_planar_base_is_bounded_by_the_length_of_its_path(small):
    robot = small('scara', 'planar')
    seed = {'root_joint': [1.0, 2.0, 0.3]}
    T = Configuration(robot, {'root_joint': [1.4, 2.4, 0.3]}).transform('tip')
    locked = [name for name in robot.joint_names if name != 'root_joint']
    for most, holds in ((0.45, False), (0.6, True)):    # 0.57 m of path, 0.4 m along each axis
        solution = solve_pose(robot, 'tip', T, seed, locked=locked, random_state=0, timeout=0.2,
                              max_joint_change={'root_joint': most})
        assert solution.success is holds


@pytest.mark.parametrize('solver', solver_names())
def test_a_bound_that_excludes_all_is_told_at_once(small, solver):
    robot = small('zero_links')
    seed = {'elbow': robot.joint('elbow').upper + 1.0}
    solution = solve(problem(robot), [seed], solver=solver, max_joint_change=0.5, timeout=30.0)
    assert solution.status is Status.GOAL_CONSTRAINTS_VIOLATED and solution.impossible
    assert solution.restarts < 40
    upper = robot.joint('elbow').upper
    assert f"max_joint_change 0.5 of 'elbow' in [{upper + 0.5:.6g}" in solution.message
    assert "limits of 'elbow'" in solution.message


def test_bounds_go_with_constraints_and_slices(ur5, home):
    asked = IKProblem(ur5, constraints=[Constraint(JointPositions(['elbow_joint']), lower=2.2,
                                                   upper=2.4)], start=home)
    free, bound = solve(asked), solve(asked, max_joint_change=0.5, timeout=0.1)
    assert free.success and not bound.success
    assert "max_joint_change 0.5 of 'elbow_joint' in [1.07, 2.07]" in bound.message
    T = moved(ur5, home, elbow_joint=0.6)
    search = Search(IKProblem(ur5, PoseTarget('tool0', T), start=home), max_joint_change=0.5,
                    random_state=0)
    search.run(seconds=0)
    again = Search.of_question(ur5, search.question())
    again.run(seconds=0.2)
    solution = again.solution()
    assert not solution.success and np.abs(solution.best_q - home).max() <= 0.5


@pytest.mark.parametrize('wrong, word', [
    (np.nan, 'max_joint_change'), ('far', 'one number'), ([1, 2], '6 joints'),
    ({'elbow_joint': -0.1}, 'elbow_joint'), ({'elbow': 1.0}, "did you mean 'elbow_joint'")])
def test_malformed_bounds_are_refused(ur5, wrong, word):
    with pytest.raises((InvalidOptionError, UnknownJointError), match=word):
        solve_pose(ur5, 'tool0', FAR, max_joint_change=wrong)


def follow(judged, paths):
    """Follow paths; one may lead out of reach with its first step, so some more if need be."""
    for count in range(20):
        if count < paths or not judged.statuses['SUCCESS']:
            judged.follow()
    assert judged.statuses['SUCCESS'] > 0


@pytest.mark.parametrize('name, paths, state', [('xarm7', 3, 5), ('ur5', 1, None),
                                                ('panda', 1, None)])
def test_steps_of_a_path_stay_near_where_small_steps_do(load, name, paths, state):
    """See benchmarks/path_steps.py; without a state the paths are others in each run."""
    entropy = np.random.SeedSequence(state).entropy
    judged = path_steps.Paths(name, np.random.default_rng(entropy), False, 0.2)
    follow(judged, paths)
    assert not [swing for swing in judged.swings if swing.avoidable], entropy
