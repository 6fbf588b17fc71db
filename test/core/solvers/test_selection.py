"""Which answer is given, and several of them."""

from judge import check, claims, numeric_jacobian, pose, TreeJudge
import numpy as np
import pytest
from search_questions import ARM, FAR, problem, reachable, TIP
from small_robots import SMALL

from ros2_ik.core import (
    Attempt,
    Configuration,
    Constraint,
    ExitFlag,
    FramePosition,
    IKError,
    IKProblem,
    InvalidOptionError,
    InvalidStateError,
    InverseKinematics,
    JointPositions,
    LeastSquares,
    PoseTarget,
    register_solver,
    Search,
    solve,
    solve_pose,
    Solver,
    Status,
    UnknownJointError,
)
from ros2_ik.core.solvers import solver as registry


def test_several_solutions_are_distinct_and_all_hold(robot):
    judge = TreeJudge(SMALL[ARM])
    for seed in range(5):
        T = reachable(robot, seed)
        solution = solve(problem(robot, T=T), solutions=6, timeout=2.0, random_state=0)
        assert len(solution.alternatives) == 5
        every = [solution, *solution.alternatives]
        for one in every:
            check(judge, one, [(TIP, T)])
        for i, one in enumerate(every):
            for other in every[i + 1:]:
                assert np.abs(one.q - other.q).max() >= 1e-2
        seed_q = robot.neutral
        distances = [np.linalg.norm(s.q - seed_q) for s in solution.alternatives]
        assert distances == sorted(distances)


@pytest.mark.parametrize('seed', range(4))
def test_better_answers_do_not_slide_together(small, seed):
    """One that took the place of an answer like it was like another one, too."""
    ik = InverseKinematics(small('one_joint'), collisions=False)
    ik.add_position_constraint('arm', [1, 0, 0], None, [0, 0.4, -1], [1, 0.5, 1])
    answer = ik.solve([0.45], timeout=30.0, max_iterations=2500, select='nearest', solutions=4,
                      random_state=seed)
    found = np.sort([one.q[0] for one in (answer, *answer.alternatives)])
    assert len(found) == 4 and np.diff(found).min() >= 1e-2


def test_fewer_solutions_than_asked_for(small):
    """Two elbows: no third answer exists, and the time is kept."""
    robot = small('planar_2r')
    T = Configuration(robot, [0.3, 1.0]).transform('tip')
    solution = solve_pose(robot, 'tip', T, solutions=5, weights=(1, 1, 1, 0, 0, 0), timeout=0.2,
                          random_state=0)
    assert solution.seconds >= 0.2
    assert solution.success and len(solution.alternatives) == 1
    elbows = sorted(s.q[1] for s in (solution, *solution.alternatives))
    assert elbows == pytest.approx([-1.0, 1.0], abs=1e-3)


def test_nearest_is_the_nearest_of_all_that_were_found(robot):
    for i in range(3):
        seed_q = robot.random_q(np.random.default_rng(100 + i))
        asked = problem(robot, i, start=seed_q)
        enough = {'timeout': 30.0, 'max_iterations': 1500, 'random_state': 0}
        solution = solve(asked, select='nearest', solutions=1000, **enough)
        assert solution.success and len(solution.alternatives) > 5
        distances = [np.linalg.norm(s.q - seed_q) for s in (solution, *solution.alternatives)]
        assert distances == sorted(distances)
        one, first = solve(asked, select='nearest', **enough), solve(asked, **enough)
        assert one.alternatives == () and list(one.q) == list(solution.q)
        assert distances[0] <= np.linalg.norm(first.q - seed_q)


def test_nearest_of_two_elbows(small):
    """A robot with exactly two answers: the one on the seed's side, from any seed."""
    robot, weights = small('planar_2r'), (1, 1, 1, 0, 0, 0)
    T = Configuration(robot, [0.3, 1.0]).transform('tip')
    solution = solve_pose(robot, 'tip', T, [0.3, 1.0], weights=weights, solutions=2, timeout=30.0,
                          random_state=0)
    both = [solution.q, solution.alternatives[0].q]
    generator = np.random.default_rng(0)
    for _ in range(10):
        seed_q = robot.random_q(generator)
        nearest = solve_pose(robot, 'tip', T, seed_q, weights=weights, select='nearest',
                             max_iterations=200, timeout=30.0, random_state=0)
        expected = min(both, key=lambda q: np.linalg.norm(q - seed_q))
        np.testing.assert_allclose(nearest.q, expected, atol=1e-3)


def test_of_two_answers_that_are_one_the_nearer_is_kept(robot, monkeypatch):
    """Answers within a hundredth are the same; the one nearest the seed stands for all."""
    answer = robot.random_q(np.random.default_rng(0)) * 0.5
    offsets = iter([0.004, 0.002, 0.006, 0.001, 0.003])

    class LocalSearch(Solver):
        def attempt(self, start, budget):
            q = answer + next(offsets)
            return Attempt(q, 0.0, 1, ExitFlag.CONVERGED)
    monkeypatch.setattr(registry, '_SOLVERS', dict(registry._SOLVERS))
    register_solver('nearby')(LocalSearch)
    T = Configuration(robot, answer).transform(TIP)
    asked = IKProblem(robot, [PoseTarget(TIP, T, None, (1,) * 6, 0.1, 0.1)], start=answer)
    solution = solve(asked, solver='nearby', select='nearest', solutions=9, max_iterations=5,
                     timeout=5.0)
    assert solution.alternatives == ()
    np.testing.assert_array_equal(solution.q, answer + 0.001)


@pytest.mark.parametrize('arguments, word', [
    ({'select': 'best'}, 'nearest'), ({'select': None}, 'first'), ({'select': []}, 'first'),
    ({'select': np.array(['first', 'nearest'])}, 'first'), ({'solutions': 0}, 'solutions'),
    ({'solutions': -1}, 'solutions'), ({'solutions': 1.5}, 'solutions'),
    ({'solutions': '2'}, 'solutions'), ({'solutions': None}, 'solutions'),
    ({'allow_restarts': 'maybe'}, 'allow_restarts'), ({'budget': 5}, 'udget')])
def test_options_that_are_none(robot, arguments, word):
    with pytest.raises(InvalidOptionError, match=word):
        Search(problem(robot), **arguments)


@pytest.mark.parametrize('seeds, error', [
    ([[0.0]], InvalidStateError), ([[np.nan] * 7], InvalidStateError),
    ([{'ghost': 1}], UnknownJointError), (5, IKError), ([5], InvalidStateError),
    ('abc', IKError), ([None, 'a'], InvalidStateError)])
def test_seeds_that_are_none(robot, seeds, error):
    with pytest.raises(error):
        Search(problem(robot), seeds)


@pytest.mark.parametrize('wrap', [lambda q: q, lambda q: [q], lambda q: q[None],
                                  lambda q: [q.tolist()], lambda q: (q,)])
def test_one_seed_in_many_dresses(robot, starts, wrap):
    """One array is one seed, or refused in words; never something else in silence."""
    q = robot.random_q(np.random.default_rng(0))
    try:
        solve(problem(robot, T=FAR), wrap(q), solver='recorder', max_iterations=1)
    except IKError:
        assert wrap(q) is q
    else:
        np.testing.assert_array_equal(starts, [q])


# -- by cost, by manipulability ---------------------------------------------------------------

POSITION = (1, 1, 1, 0, 0, 0)
ENOUGH = {'timeout': 60.0, 'random_state': 0}


def test_the_cheapest_of_all_that_were_found(robot):
    """In the order of their cost, each with its own."""
    wanted = robot.random_q(np.random.default_rng(1)) * 0.5
    for seed in range(3):
        T = reachable(robot, seed)
        asked = IKProblem(robot, [PoseTarget(TIP, T)], costs=[
            LeastSquares(JointPositions(reference=wanted), 0.0, 2.0, 'posture')])
        solution = solve(asked, select='cost', solutions=1000, max_iterations=1500, **ENOUGH)
        every = [solution, *solution.alternatives]
        assert len(every) > 3
        for one in every:
            claims(TreeJudge(SMALL[ARM]), one, [(TIP, T)])
            assert one.cost == pytest.approx(((one.q - wanted)**2).sum())
            assert [name for name, _ in one.costs] == ['posture']
        costs = [one.cost for one in every]
        assert costs == sorted(costs)
        one = solve(asked, select='cost', max_iterations=1500, **ENOUGH)
        first = solve(asked, max_iterations=1500, **ENOUGH)
        assert one.alternatives == () and list(one.q) == list(solution.q)
        assert first.cost >= one.cost and 'cheapest' in one.message


def test_the_most_manipulable(robot):
    """By the judge's own Jacobian."""
    judge = TreeJudge(SMALL[ARM])

    def measure(q):
        J = numeric_jacobian(robot, q, lambda q: judge.transform(robot.to_joints(q), TIP))
        return np.sqrt(max(np.linalg.det(J @ J.T), 0))
    T = reachable(robot, 2)
    asked = IKProblem(robot, [PoseTarget(TIP, T)])
    solution = solve(asked, select='manipulability', solutions=1000, max_iterations=600, **ENOUGH)
    every = [solution, *solution.alternatives]
    assert len(every) > 3
    for one in every:
        claims(judge, one, [(TIP, T)])
    found = [measure(one.q) for one in every]
    assert (np.diff(found) <= 1e-6).all() and found[0] > found[-1] + 1e-3
    one = solve(asked, select='manipulability', max_iterations=600, **ENOUGH)
    assert list(one.q) == list(solution.q) and 'manipulable' in one.message


def test_the_most_manipulable_of_two_tips(small):
    """The product over the tips; of one relative to the other, too."""
    robot = small('two_arms')
    q = robot.random_q(np.random.default_rng(0)) * 0.5
    at = Configuration(robot, q)
    targets = [PoseTarget('left_hand', at.transform('left_hand')),
               PoseTarget('right_hand', at.transform('right_hand', 'left_hand'), 'left_hand')]
    solution = solve(IKProblem(robot, targets), select='manipulability', max_iterations=300,
                     **ENOUGH)
    assert solution.success
    check(TreeJudge(SMALL['two_arms']), solution, [
        ('left_hand', at.transform('left_hand')),
        ('right_hand', at.transform('right_hand', 'left_hand'), 'left_hand')])


def test_selections_that_need_something(robot):
    box = Constraint(FramePosition(TIP), -1, 1)
    with pytest.raises(InvalidOptionError, match='manipulability'):
        Search(IKProblem(robot, constraints=[box]), select='manipulability')
    with pytest.raises(InvalidOptionError, match='cost'):
        Search(problem(robot), select='cost')


# -- turns -------------------------------------------------------------------------------------

def test_turns_near_the_seed(small):
    """The wrist has two turns, the others one."""
    robot, judge = small('scara'), TreeJudge(SMALL['scara'])
    for wrist in (-6.0, -1.0, 0.5, 5.0):
        goal = {'shoulder': 0.4, 'elbow': 0.9, 'lift': -0.1, 'wrist': wrist}
        T = judge.transform(goal, 'tip')
        for seed in ([0.3, 0.8, 0, 0], [0.3, 0.8, 0, 6.0], [0.3, 0.8, 0, -6.0]):
            near = solve(IKProblem(robot, [PoseTarget('tip', T)], start=seed), **ENOUGH)
            check(judge, near, [('tip', T)])
            for other in near.joints['wrist'] + np.array([-2, 2]) * np.pi:
                assert (abs(other) > 2 * np.pi
                        or abs(other - seed[3]) >= abs(near.joints['wrist'] - seed[3]))


def test_turns_without_a_lower_limit(small):
    """A continuous joint has none: the turn nearest the seed stays."""
    robot = small('turntable')
    T = Configuration(robot, {'table': 0.5, 'pole': 0.3}).transform('tip')
    seed = {'table': 0.4 + 4 * np.pi, 'pole': 0.2}
    asked = IKProblem(robot, [PoseTarget('tip', T)], start=seed)
    solution = solve(asked, **ENOUGH)
    assert solution.success
    assert solution.joints['table'] == pytest.approx(0.5 + 4 * np.pi, abs=1e-2)


def test_turns_that_a_constraint_counts_are_kept(small):
    robot = small('scara')
    T = Configuration(robot, [0.4, 0.9, -0.1, 5.0]).transform('tip')
    asked = IKProblem(robot, [PoseTarget('tip', T)], constraints=[
        Constraint(JointPositions(['wrist']), 4.0, 6.0)])
    solution = solve(asked, max_iterations=2000, **ENOUGH)
    assert solution.success, solution.explain()
    assert solution.joints['wrist'] == pytest.approx(5.0, abs=1e-3)


# -- approximate answers -----------------------------------------------------------------------

OUT = pose((0.8, 0, 0))      # the arm reaches 0.75


def reached_for(robot, approximate, weights=POSITION, T=OUT, **arguments):
    asked = IKProblem(robot, [PoseTarget(TIP, T, None, weights)], **arguments)
    return solve(asked, approximate=approximate, max_iterations=600, **ENOUGH)


def test_approximate_only_when_asked_for_and_within(robot):
    """0.05 m are missing."""
    for approximate, status in ((None, Status.NO_IK_SOLUTION),
                                ((0.04, 0.1), Status.NO_IK_SOLUTION),
                                ((0.06, 0.0), Status.APPROXIMATE), ((9, 9), Status.APPROXIMATE)):
        solution = reached_for(robot, approximate)
        assert solution.status is status and not solution.success
        assert (solution.q is None) is (status is not Status.APPROXIMATE)
        assert (solution.joints is None) is (status is not Status.APPROXIMATE)
        assert solution.violations
        if status is Status.APPROXIMATE:
            p = TreeJudge(SMALL[ARM]).transform(solution.joints, TIP)[:3, 3]
            assert 0.05 - 1e-9 <= np.linalg.norm(p - OUT[:3, 3]) <= 0.06
            assert list(solution.q) == list(solution.best_q)
            assert 'approximate' in solution.message and 'APPROXIMATE' in solution.explain()


def test_a_right_answer_is_not_approximate(robot):
    for seed in range(5):
        solution = reached_for(robot, (1.0, 1.0), (1,) * 6, reachable(robot, seed))
        assert solution.status is Status.SUCCESS
        check(TreeJudge(SMALL[ARM]), solution, [(TIP, reachable(robot, seed))])


def test_approximate_in_angle(small):
    """A SCARA's tip cannot tilt: by 0.3 rad it stays off."""
    robot = small('scara')
    T = Configuration(robot, [0.4, 0.9, -0.1, 1.0]).transform('tip') @ pose(rotvec=(0.3, 0, 0))
    for approximate, status in (((1.0, 0.2), Status.NO_IK_SOLUTION),
                                ((1e-3, 0.31), Status.APPROXIMATE)):
        solution = solve(IKProblem(robot, [PoseTarget('tip', T)]), approximate=approximate,
                         max_iterations=600, **ENOUGH)
        assert solution.status is status


def test_approximate_constraints_count_by_their_unit(robot):
    for approximate, status in (((0.04, 9), Status.NO_IK_SOLUTION),
                                ((0.06, 0), Status.APPROXIMATE)):
        asked = IKProblem(robot, constraints=[
            Constraint(FramePosition(TIP, axes='x'), 0.8, name='out')])
        solution = solve(asked, approximate=approximate, max_iterations=400, **ENOUGH)
        assert solution.status is status
        assert [v.name for v in solution.violations] == ['out: x']


def test_locked_joints_and_limits_hold_in_approximate_answers(robot):
    start = robot.random_q(np.random.default_rng(0))
    solution = reached_for(robot, (9.0, 9.0), T=pose((5, 0, 0)), start=start, locked=['s2', 'w1'])
    assert solution.status is Status.APPROXIMATE
    assert (solution.q[1], solution.q[4]) == (start[1], start[4])
    assert (robot.lower <= solution.q).all() and (solution.q <= robot.upper).all()


def test_approximate_finds_what_tolerances_find(load):
    """Where little is allowed in position and much in orientation, and near the least error."""
    robot, generator, worse = load('ur5'), np.random.default_rng(3), []
    for k in range(20):
        seed = robot.random_q(generator)
        T, away, turn = (Configuration(robot, seed).transform('tool0').copy(),
                         *generator.normal(size=(2, 3)))
        T[:3, 3] += away / np.linalg.norm(away) * 0.016
        T = T @ pose(rotvec=turn / np.linalg.norm(turn) * 0.4)
        answer = solve_pose(robot, 'tool0', T, seed, approximate=(0.02, 0.5), timeout=30.0,
                            locked=['elbow_joint'], collisions=False, random_state=k,
                            max_iterations=2000)
        assert answer.q is not None, answer.message
        error, = answer.errors
        squared = (error.position / 0.02)**2 + (error.orientation / 0.5)**2
        worse.append(squared / (0.8**2 + 0.8**2))    # of the pose that is known
        assert error.position <= 0.02 and error.orientation <= 0.5
    assert max(worse) <= 1 + 1e-6


@pytest.mark.parametrize('wrong', [(-1, 0), (0, -1e-9), 0.1, (0.1,), (0.1, 0.1, 0.1), 'ab',
                                   (np.nan, 0), (np.inf, 1), (None, 0), {}, True])
def test_approximations_that_make_no_sense(robot, wrong):
    with pytest.raises(InvalidOptionError, match='approximate'):
        Search(problem(robot), approximate=wrong)
