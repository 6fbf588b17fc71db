"""Workers and their pool, without child processes."""

import pickle
import queue
from types import SimpleNamespace

from node_harness import matrix, reachable, unreachable

from ros2_ik.core import IKProblem, PoseTarget, Status
from ros2_ik.core.internals import Search
from ros2_ik.node.workers import Pool
from ros2_ik.node.workers.jobs import Cancel, Job, Ready, TakeRobot
from ros2_ik.node.workers.pool import START_TIMEOUT

TIP = 'panda_hand_tcp'


def test_search_without_a_free_worker_times_out_as_busy(panda):
    pool = Pool(0, SimpleNamespace(error=print))
    pool.start()
    search, answers = Search(IKProblem(panda, [PoseTarget(TIP, matrix(unreachable().pose))]),
                             timeout=0.2), queue.Queue()
    pool.submit(search, answers.put)
    late = answers.get(timeout=START_TIMEOUT + 5.0)
    assert late.status is Status.TIMED_OUT and str(late).startswith('busy')
    pool.close()


def job(number, robot, target, timeout=60.0, watched=False, **options):
    search = Search(IKProblem(robot, [PoseTarget(TIP, matrix(target.pose))]), random_state=0,
                    timeout=timeout, **options)
    return Job(number, robot.key, search.question(), watched)


def results(here):
    """Return the received results."""
    found = []
    while here.poll():
        if not isinstance(message := here.recv(), Ready):
            found.append(message)
    return found


def turns_until(worker, here, count):
    """Run the worker until `count` results have arrived; return them and the number of turns."""
    found, turns = [], 0
    while len(found) < count:
        worker.turn()
        turns += 1
        found += results(here)
    return found, turns


def test_new_search_runs_before_long_ones(pipe, worker, panda):
    here, _ = pipe
    for number in range(3):
        here.send(job(number, panda, unreachable()))
    for _ in range(60):
        worker.turn()
    here.send(job(9, panda, reachable(panda, TIP, 1), solutions=3))
    (result, *_), turns = turns_until(worker, here, 1)
    assert result.number == 9 and result.solution.status is Status.SUCCESS
    assert turns <= result.solution.restarts + 3   # hardly any turn went to the others


def test_cancelled_job_is_preempted(pipe, worker, panda):
    here, _ = pipe
    here.send(job(1, panda, unreachable()))
    worker.turn()
    here.send(Cancel(1))
    here.send(Cancel(7))   # long since answered: nothing happens
    here.send(job(2, panda, reachable(panda, TIP)))
    worker.turn()
    result = results(here)[0]
    assert result.number == 1 and result.solution.status is Status.PREEMPTED


def test_worker_returns_the_same_solution_as_a_search_here(pipe, worker, panda):
    problem = IKProblem(panda, [PoseTarget(TIP, matrix(reachable(panda, TIP, 4).pose))])
    options = {'solutions': 3, 'random_state': 5, 'timeout': 60.0}    # ends by what it finds
    alone, begun = Search(problem, **options), Search(problem, **options)
    alone.run()
    begun.run(seconds=0)
    pipe[0].send(Job(0, panda.key, begun.question()))
    (found, *_), _ = turns_until(worker, pipe[0], 1)
    here, there = alone.solution(), found.solution
    assert (there.iterations, there.restarts) == (here.iterations, here.restarts)
    assert there.q.tolist() == here.q.tolist()


def test_worker_keeps_two_robots(pipe, worker, panda):
    here, _ = pipe
    for key in 'abc':
        here.send(TakeRobot(key, pickle.dumps(panda)))
    for number, key in enumerate('abc'):
        here.send(job(number, panda, reachable(panda, TIP))._replace(robot_key=key))
    found = {result.number: result for result in turns_until(worker, here, 3)[0]}
    assert found[0].solution is None and 'KeyError' in found[0].failure
    assert found[1].solution.success and found[2].solution.success
