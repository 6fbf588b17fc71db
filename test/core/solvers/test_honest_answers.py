"""What answers and refusals say is so."""

from judge import pose
import numpy as np
import pytest
from search_questions import FAR, problem, reachable, TIP

from ros2_ik.core import (
    Box,
    collision_checker,
    Configuration,
    Constraint,
    FramePosition,
    IKProblem,
    InvalidConstraintError,
    InvalidOptionError,
    InvalidTargetError,
    PoseTarget,
    Robot,
    Scene,
    SceneObject,
    solve,
    solve_pose,
    Status,
)

OUT = pose((2.0, 0, 0))
POSITION = (1, 1, 1, 0, 0, 0)


# -- the time ----------------------------------------------------------------------------------

@pytest.mark.parametrize('solver', ['lm', 'sqp'])
def test_one_whole_descent_is_made_whatever_the_time(robot, solver):
    for seed in range(5):
        short = solve(problem(robot, seed), timeout=1e-12, solver=solver)
        long = solve(problem(robot, seed), timeout=100.0, solver=solver, allow_restarts=False)
        assert (short.success, short.iterations) == (long.success, long.iterations)
        assert short.success or short.status is Status.NO_IK_SOLUTION


def test_set_up_is_not_counted(robot, monkeypatch, ticking):
    """However long it takes to prepare a problem, the time for the search is whole."""
    from ros2_ik.core.solvers import search
    make = search.make_solver

    def slow(*arguments):
        ticking.looks += 10_000
        return make(*arguments)
    monkeypatch.setattr(search, 'make_solver', slow)
    solution = solve(problem(robot, T=FAR), timeout=0.2, random_state=0)
    assert solution.restarts > 5 and 0.2 <= solution.seconds < 0.22


def test_time_ran_out_is_said_where_the_error_shrank(robot, ticking):
    """The clock advances by 1 ms with each look, and clik looks in each iteration."""
    cut = solve(problem(robot, 1), solver='clik', timeout=0.12, allow_restarts=False)
    assert cut.status is Status.TIMED_OUT and cut.iterations > 0
    assert 'not finished in' in cut.message and 'longer timeout' in cut.explain()
    far = solve(problem(robot, T=FAR), solver='clik', timeout=0.12, allow_restarts=False)
    assert far.status is Status.NO_IK_SOLUTION and 'out of reach' in far.message


# -- approximate answers -----------------------------------------------------------------------

@pytest.mark.parametrize('part, status', [(1.01, Status.APPROXIMATE),
                                          (0.99, Status.NO_IK_SOLUTION)])
@pytest.mark.parametrize('tolerance', [1e-5, 0.3])
def test_approximate_is_compared_with_the_error_not_the_excess(robot, part, status, tolerance):
    """Two links' reach is 0.75 m: what is asked is compared as asked, whatever the tolerance."""
    asked = IKProblem(robot, [PoseTarget(TIP, OUT, None, POSITION, tolerance)])
    options = {'max_iterations': 600, 'timeout': 30.0, 'random_state': 0}
    least = solve(asked, **options).errors[0].position
    assert least > 1.0
    solution = solve(asked, approximate=(part * least, 0), **options)
    assert solution.status is status
    assert (solution.q is not None) == (status is Status.APPROXIMATE)
    if solution.q is not None:
        assert solution.errors[0].position <= part * least


def test_each_target_of_an_approximate_answer_counts(small):
    robot = small('planar_2r')
    there = Configuration(robot, [0.3, 1.0])
    elbow = [name for name in robot.frame_names if name != 'tip'][-1]
    targets = [PoseTarget('tip', pose((0.02, 0, 0)) @ there.transform('tip'), None, POSITION),
               PoseTarget(elbow, there.transform(elbow), None, POSITION)]
    options = {'max_iterations': 400, 'timeout': 30.0, 'random_state': 0}
    errors = [e.position for e in solve(IKProblem(robot, targets), **options).errors]
    for bound in (0.5 * max(errors), 1.5 * max(errors)):
        solution = solve(IKProblem(robot, targets), approximate=(bound, 0), **options)
        if solution.q is not None:
            assert max(e.position for e in solution.errors) <= bound
    assert solution.status is Status.APPROXIMATE


def test_an_approximate_answer_touches_nothing(load):
    robot = load('panda')
    q = robot.to_q({'panda_joint2': -0.785, 'panda_joint4': -2.356, 'panda_joint6': 1.571})
    T = Configuration(robot, q).transform('panda_hand_tcp')
    scene = Scene(robot).add(SceneObject('block', [Box([0.3, 0.3, 0.3])], T))
    out = pose((1.2, 0, 0)) @ T
    for world in (scene, Scene(robot)):
        solution = solve_pose(robot, 'panda_hand_tcp', out, q, weights=POSITION, scene=world,
                              approximate=(2.0, 4.0), timeout=0.3, random_state=0)
        if solution.q is not None:
            assert not collision_checker(robot, world).collides(solution.q)
    assert solution.status is Status.APPROXIMATE


def test_a_target_in_contact_has_approximate_answers(load):
    """That nothing can be at the target says nothing of what is near it."""
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

@pytest.mark.parametrize('kind', [np.float32, np.int8, int])
def test_one_seed_of_any_kind_of_number(robot, kind):
    T, values = reachable(robot, 2), np.zeros(7)
    expected = solve(problem(robot, T=T), [values], random_state=0)
    for seed in (values.astype(kind), [kind(0)] * 7, tuple(kind(0) for _ in range(7)),
                 [values.astype(kind)]):
        solution = solve(problem(robot, T=T), seed, random_state=0)
        np.testing.assert_array_equal(solution.best_q, expected.best_q)


def test_the_same_posture_at_both_ends_of_a_turn_is_one():
    """A joint from -pi to pi, an answer at +-pi, a seed in the middle."""
    text = """<robot name="r"><link name="a"/><link name="b"/><link name="tip"/>
      <joint name="turn" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
        <limit lower="{0}" upper="{1}" effort="1" velocity="1"/></joint>
      <joint name="end" type="fixed"><parent link="b"/><child link="tip"/>
        <origin xyz="0.5 0 0"/></joint></robot>"""
    for half in (np.pi, 3.1416):
        robot = Robot.from_urdf(text.format(-half, half))
        T = Configuration(robot, [np.pi - 2e-6]).transform('tip')
        solution = solve_pose(robot, 'tip', T, solutions=3, timeout=0.2, random_state=0,
                              orientation_tolerance=1e-3, position_tolerance=1e-3)
        assert solution.success and solution.alternatives == ()


def test_two_poses_of_one_tip_that_agree_are_possible(load):
    robot, generator = load('panda'), np.random.default_rng(0)
    for _ in range(8):
        at = Configuration(robot, robot.random_q(generator))
        one, two = at.transform('panda_hand_tcp'), at.transform('panda_hand')
        near = one @ pose(generator.normal(size=3) * 1e-6, generator.normal(size=3) * 1e-6)
        free = (1, 0, 1, 0, 0, 0)
        aside = one @ pose((0, 0.3, 0), (0.0, 0.7, 0))     # along the freed y axis
        solution = solve_pose(robot, ['panda_hand_tcp', 'panda_hand', 'panda_hand_tcp',
                                      'panda_hand_tcp'], [one, two, near, aside],
                              at.q, weights=[(1,) * 6, (1,) * 6, (1,) * 6, free], collisions=False)
        assert solution.success, solution.message


@pytest.mark.parametrize('name', ['position_tolerance', 'orientation_tolerance'])
@pytest.mark.parametrize('value', [1e-13, 1e10, -1, np.nan, '1'])
def test_tolerances_that_cannot_be_are_refused_in_words(robot, name, value):
    with pytest.raises(InvalidTargetError, match=f"{name} of 'tip' must be .* 1e-12 to 1e.09"):
        PoseTarget(TIP, FAR, **{name: value})
    with pytest.raises(InvalidConstraintError, match='tolerance must be .* 1e-12 to 1e.09'):
        Constraint(FramePosition(TIP), lower=(0, 0, 0), tolerance=value)


@pytest.mark.parametrize('value', [1e9, 1e-12])
def test_the_ends_of_tolerances_work(robot, value):
    asked = IKProblem(robot, [PoseTarget(TIP, reachable(robot, 1), None, (1,) * 6, value, value)])
    assert solve(asked, timeout=5.0, random_state=0).success


def test_failures_name_the_tolerances(robot):
    asked = IKProblem(robot, [PoseTarget(TIP, FAR, None, (1,) * 6, 2e-3, 3e-2)])
    solution = solve(asked, max_iterations=100, random_state=0)
    assert '(allowed 0.002 m and 0.03 rad)' in solution.message


@pytest.mark.parametrize('option, meant', [
    ('position_tolerence', 'position_tolerance'), ('dampng', 'damping')])
def test_a_misspelt_option_says_what_may_be_meant(robot, option, meant):
    with pytest.raises(InvalidOptionError, match=f"no option '{option}'; did you mean '{meant}'"):
        solve_pose(robot, TIP, FAR, **{option: 1})
    with pytest.raises(InvalidOptionError, match=f"no option '{option}'; "):
        solve(problem(robot), **{option: 1})


def test_an_option_like_no_other_lists_those_that_are(robot):
    with pytest.raises(InvalidOptionError, match='valid: damping, attempt_iterations'):
        solve_pose(robot, TIP, FAR, xyzzy=1)
    with pytest.raises(InvalidOptionError, match="select is 'nearst'; valid: first, nearest"):
        solve_pose(robot, TIP, FAR, select='nearst')
