"""Workers and their pool, without child processes."""

import pickle

from node_harness import matrix, reachable, unreachable

from ros2_ik.core import IKProblem, PoseTarget, Status
from ros2_ik.core.internals import Search
from ros2_ik.node.workers.serve import Job, TakeRobot

TIP = 'panda_hand_tcp'


def job(number, robot, target, timeout=60.0, **options):
    search = Search(IKProblem(robot, [PoseTarget(TIP, matrix(target.pose))]), random_state=0,
                    timeout=timeout, **options)
    return Job(number, robot.key, search.question())


def results(here):
    """Return the received results."""
    found = []
    while here.poll():
        found.append(here.recv())
    return [result for result in found if result.is_final]


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


def test_search_for_an_earlier_robot_fails(pipe, worker, panda):
    here, _ = pipe
    here.send(TakeRobot('b', pickle.dumps(panda)))
    for number, key in enumerate(('a', 'b')):
        here.send(job(number, panda, reachable(panda, TIP))._replace(robot_key=key))
    found = {result.number: result for result in turns_until(worker, here, 2)[0]}
    assert found[0].solution is None and 'KeyError' in found[0].failure
    assert found[1].solution.success
