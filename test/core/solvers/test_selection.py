"""Which answer is given, and several of them."""

from judge import check, claims, numeric_jacobian, pose, TreeJudge
import numpy as np
import pytest
from search_questions import ARM, problem, reachable, TIP
from small_robots import SMALL

from ros2_ik.core import (
    Configuration,
    Constraint,
    FramePosition,
    IKError,
    IKProblem,
    InvalidOptionError,
    InvalidStateError,
    InverseKinematics,
    JointPositions,
    LeastSquares,
    PoseTarget,
    Search,
    solve,
    solve_pose,
    Status,
    UnknownJointError,
)

POSITION = (1, 1, 1, 0, 0, 0)
ENOUGH = {'timeout': 60.0, 'random_state': 0}


def test_several_solutions_are_distinct_and_all_hold(robot):
    judge = TreeJudge(SMALL[ARM])
    for seed in range(2):
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


@pytest.mark.parametrize('seed', range(2))
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


@pytest.mark.parametrize('select, word', [
    ('nearest', 'nearest'), ('cost', 'cheapest'), ('manipulability', 'manipulable')])
def test_the_best_of_all_that_were_found(robot, select, word):
    """All in order; one alone is the first of these."""
    judge, wanted = TreeJudge(SMALL[ARM]), robot.random_q(np.random.default_rng(1)) * 0.5

    def rank(q):
        if select == 'manipulability':    # by the judge's own Jacobian
            J = numeric_jacobian(robot, q, lambda q: judge.transform(robot.to_joints(q), TIP))
            return -np.sqrt(max(np.linalg.det(J @ J.T), 0))
        return ((q - wanted)**2).sum()
    T = reachable(robot, 2)
    costs = [LeastSquares(JointPositions(reference=wanted), 0.0, 2.0)] if select == 'cost' else []
    asked = IKProblem(robot, [PoseTarget(TIP, T)], costs=costs, start=wanted)
    solution = solve(asked, select=select, solutions=1000, max_iterations=1500, **ENOUGH)
    every = [solution, *solution.alternatives]
    assert len(every) > 3
    for one in every:
        claims(judge, one, [(TIP, T)])
        assert select != 'cost' or one.cost == pytest.approx(rank(one.q))
    found = [rank(one.q) for one in every]
    assert (np.diff(found) >= -1e-6).all() and found[0] < found[-1] - 1e-3
    one = solve(asked, select=select, max_iterations=1500, **ENOUGH)
    assert list(one.q) == list(solution.q) and one.alternatives == () and word in one.message
    assert rank(solve(asked, max_iterations=1500, **ENOUGH).q) >= found[0] - 1e-6


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


@pytest.mark.parametrize('arguments, word', [
    ({'select': 'best'}, 'nearest'), ({'select': np.array(['first', 'nearest'])}, 'first'),
    ({'solutions': 0}, 'solutions'), ({'allow_restarts': 'maybe'}, 'allow_restarts'),
    ({'timeout': -1}, 'timeout'), ({'max_iterations': 0}, 'max_iterations'),
    ({'cancel': 'stop'}, 'cancel'), ({'budget': 5}, 'udget'), ({'random_state': 1.5}, 'random'),
    ({'approximate': (0, -1e-9)}, 'approximate'), ({'approximate': 0.1}, 'approximate')])
def test_malformed_options_are_refused(robot, arguments, word):
    with pytest.raises(InvalidOptionError, match=word):
        Search(problem(robot), **arguments)


@pytest.mark.parametrize('seeds, error', [
    ([[0.0]], InvalidStateError), ([[np.nan] * 7], InvalidStateError),
    ([{'ghost': 1}], UnknownJointError), (5, IKError), ('abc', IKError)])
def test_malformed_seeds_are_refused(robot, seeds, error):
    with pytest.raises(error):
        Search(problem(robot), seeds)


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


# -- approximate answers -----------------------------------------------------------------------

OUT = pose((0.8, 0, 0))      # the arm reaches 0.75


def reached_for(robot, approximate, weights=POSITION, T=OUT, **arguments):
    asked = IKProblem(robot, [PoseTarget(TIP, T, None, weights)], **arguments)
    return solve(asked, approximate=approximate, max_iterations=600, **ENOUGH)


def test_approximate_only_when_asked_for_and_within(robot):
    """0.05 m are missing."""
    for approximate, status in ((None, Status.NO_IK_SOLUTION),
                                ((0.04, 0.1), Status.NO_IK_SOLUTION),
                                ((0.06, 0.0), Status.APPROXIMATE)):
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
    solution = reached_for(robot, (1.0, 1.0), (1,) * 6, reachable(robot))
    assert solution.status is Status.SUCCESS
    check(TreeJudge(SMALL[ARM]), solution, [(TIP, reachable(robot))])


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
    for k in range(10):
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
