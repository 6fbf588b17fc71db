"""A search in slices, and one that goes on in another process."""

import pickle
import threading

import numpy as np
import pytest
from search_questions import FAR, problem, same

from ros2_ik.core import Configuration, IKProblem, PoseTarget, Robot, Search, solve, Status


@pytest.mark.parametrize('arguments', [
    {}, {'solutions': 5}, {'select': 'nearest'},
    {'solver': 'clik', 'solver_options': {'it_max': 60, 'dt': 0.5}}])
def test_slices_give_the_same_answer(robot, arguments):
    for seed in range(4):
        def search(seed=seed):
            return Search(problem(robot, seed), random_state=3, timeout=30.0, max_iterations=400,
                          **arguments)
        whole, sliced = search(), search()
        assert whole.run() is True and whole.finished
        slices = 1
        while not sliced.run(1e-9):      # one attempt a slice
            slices += 1
            assert not sliced.finished and slices < 500
        same(whole.solution(), sliced.solution())
        assert whole.attempts == sliced.attempts >= slices


def test_a_slice_is_no_longer_than_it_may_be(robot, ticking):
    """It ends with the attempt in which it is used up."""
    search = Search(problem(robot, T=FAR))
    search.budget.deadline = 1e9
    for _ in range(20):
        before, attempts = ticking.looks, search.attempts
        assert search.run(0.1) is False
        assert search.attempts > attempts + 1
        assert 100 <= ticking.looks - before < 100 + 50


def test_the_answer_so_far(robot):
    search = Search(problem(robot, T=FAR), timeout=30.0)
    early = search.solution()
    assert early.status is Status.TIMED_OUT and not early.success
    search.run(1e-9)
    assert search.solution().status is Status.TIMED_OUT
    assert search.solution().message.startswith(('not finished after', 'not finished in'))
    search.budget.cancel = lambda: True
    assert search.run() is True
    assert search.solution().status is Status.PREEMPTED


@pytest.mark.parametrize('arguments', [
    {'solutions': 5}, {'solver': 'clik', 'solver_options': {'it_max': 60, 'dt': 0.5}}])
@pytest.mark.parametrize('slices', [0, 3])
def test_begun_anew_after_a_pickle(robot, slices, arguments):
    """Another process ends where the first would have ended, however far that one came."""
    other_robot = pickle.loads(pickle.dumps(robot))
    for seed in range(3):
        def search(seed=seed):
            return Search(problem(robot, seed, start={'s1': 0.2}, locked=['s3']), random_state=3,
                          timeout=30.0, max_iterations=300, **arguments)
        whole, first = search(), search()
        whole.run()
        for _ in range(slices):
            first.run(1e-9)
        data = first.question()
        assert len(data) < 20000 and b'<robot' not in data
        second = Search.of_question(other_robot, data)
        assert second.problem.joint_names == first.problem.joint_names
        second.run()
        same(whole.solution(), second.solution())


def test_begun_anew_keeps_what_was_asked(small):
    robot = small('two_arms')
    T = Configuration(robot, {'left_1': 0.3, 'right_2': 0.5}).transform('left_hand', 'right_hand')
    asked = IKProblem(robot, [PoseTarget('left_hand', T, 'right_hand', (1, 1, 1, 1, 0, 1), 1e-4,
                                         1e-3)], None, {'torso': 0.4})
    first = Search(asked, [{'left_2': 0.1}], timeout=7.0, max_iterations=50,
                   cancel=threading.Event())
    second = Search.of_question(robot, first.question())
    target = second.problem.targets[0]
    assert (target.relative_to, list(target.weights)) == ('right_hand', [1, 1, 1, 1, 0, 1])
    assert (target.position_tolerance, target.orientation_tolerance) == (1e-4, 1e-3)
    assert second.problem.start[0] == 0.4
    assert (second.budget.deadline, second.budget.iterations) == (first.budget.deadline, 50)
    assert second.budget.cancel is None
    second.run()
    assert second.solution().success


def test_what_was_asked_before_changes_no_digit():
    """What questions share was made with the start of the first one."""
    T, generator = np.eye(4), np.random.default_rng(3)
    T[:3, 3] = 0.4, 0.2, 0.5
    answers = []
    for before in (None, *(Robot.load('panda').random_q(generator) for _ in range(3))):
        panda = Robot.load('panda')
        if before is not None:
            solve(IKProblem(panda, [PoseTarget('panda_hand_tcp', T)], start=before))
        target = Configuration(panda, panda.random_q(np.random.default_rng(7))).transform(
            'panda_hand_tcp')
        answers.append(solve(IKProblem(panda, [PoseTarget('panda_hand_tcp', target)]),
                             random_state=5))
    for answer in answers[1:]:
        same(answer, answers[0])
