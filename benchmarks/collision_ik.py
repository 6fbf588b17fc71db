"""
Collision-free IK against TRAC-IK + coal and Drake on the same problems, in one run.

    tools/run pip install pytracik drake python-fcl yourdfpy trimesh
    tools/run python benchmarks/collision_ik.py [--kinds shelf bin] [--count 100] [--drake 10]

Every problem has an answer that touches nothing: it was found by random restarts that know
nothing of the scene. All solvers start at the same random place, take turns and have 200 ms.
TRAC-IK restarts from random seeds until the same checker finds the robot free; Drake's SNOPT has
its minimum-distance constraint on the same hulls, and restarts, too. An answer counts when
yourdfpy's frames are at the targets (1e-5 m, 1e-4 rad), the joints within
their limits, and python-fcl finds no contact; "wrong" are claims of success that fail this test.

`--shares 1000` says which part of so many problems that have a free answer ours solves in 0.2 s
with hulls, convex parts and exact meshes.

`--claims 10000` makes so many claims of ours on scattered boxes and has only them judged; minutes
for Baxter, a part of it with --kinds and another --seed.
"""

import argparse
from collections import Counter
from dataclasses import replace
import time

from collision.cases import Case, cases, many_cases, ours, TracIK
from collision.scenes import KINDS, scattered
import numpy as np
from peers import leave
from results import CPU, Results, WALL

from ros2_ik.core import compile_all, Robot, solve
from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.scene.shapes.mesh import DETAILS

try:
    from collision.record import Judge, Record
except ImportError as absent:
    leave(absent, __doc__, 'pytracik drake python-fcl yourdfpy trimesh')

TRAC, DRAKE = 'TRAC-IK + coal', 'Drake'


def solvers_for(robot: Robot, found: list[Case], drake: int) -> dict:
    tips = list(found[0].targets)
    solvers = {'ros2_ik': (ours, len(found))}
    try:
        solvers[TRAC] = TracIK(robot, tips).question, len(found)
    except ImportError:
        print('pytracik is missing: tools/run pip install pytracik')
    if drake:
        try:
            from collision.drake_ik import DrakeIK
            solvers[DRAKE] = DrakeIK(robot).question, min(drake, len(found))
        except ImportError:
            print('drake is missing: tools/run pip install drake')
    return solvers


def run_kind(kind: str, options: argparse.Namespace) -> dict[str, Record]:
    robot = Robot.load(KINDS[kind][0])
    found, judge = cases(kind, robot, options.count, options.seed), Judge(robot)
    solvers = solvers_for(robot, found, options.drake)
    for case in found[:1]:      # what is made once counts for nobody
        for question, _ in solvers.values():
            question(case)(0.05)
    records = {name: Record() for name in solvers}
    clock = time.process_time if options.cpu else time.perf_counter
    for number, case in enumerate(found):
        warm(case)
        turns = list(solvers.items())
        for name, (question, count) in turns[::1 - 2 * (number % 2)]:   # the first warms caches
            if number < count:
                records[name].measure(case, judge, question(case), clock)
    return records


def warm(case: Case) -> None:
    """Let the checker of a scene make what it makes once: whoever asks first would pay for it."""
    generator = np.random.default_rng(0)
    for _ in range(20):
        case.checker.collides(case.robot.random_q(generator))


def table(options: argparse.Namespace) -> None:
    print('% solved in 20, 50, 200 ms; mean, p99 [ms]; wrong claims')
    results = Results('collision_ik', CPU if options.cpu else WALL, '1 problem each',
                      ['pytracik', 'drake'])
    for kind in options.kinds:
        records = run_kind(kind, options)
        results.add(kind, 'random', {name: record.summary() for name, record in records.items()})
        first = next(iter(records.values()))
        for name, record in records.items():
            print(f'{kind:18s} {name:15s} {len(record.good):4d} {record}   mean / ours '
                  f'{record.mean / first.mean:6.2f}', flush=True)
            for text in record.wrong[:3]:
                print(f'    {text}')
    results.write(options.json)


def claims(options: argparse.Namespace) -> None:
    """Count colliding answers among many that are claimed to be free."""
    kinds = [kind for kind in options.kinds if kind.startswith('scattered')]
    for kind in kinds:
        robot, record = Robot.load(KINDS[kind][0]), Record()
        judge, wanted = Judge(robot), -(-options.claims // len(kinds))
        for case in many_cases(kind, robot, wanted, options.seed):
            record.measure(case, judge, ours(case))
        print(f'{kind}: {sum(record.good)} claims judged free, {len(record.wrong)} wrong, '
              f'{wanted - sum(record.good) - len(record.wrong)} without an answer', flush=True)
        for text in record.wrong[:3]:
            print(f'    {text}')


def shares(options: argparse.Namespace) -> None:
    """Solve problems that have a free answer with what can stand for meshes."""
    for kind in options.kinds:
        robot = Robot.load(KINDS[kind][0])
        judge, records = Judge(robot), {detail: Record() for detail in DETAILS}
        proofs = Counter()
        for case in cases(kind, robot, options.shares):
            for detail, record in records.items():
                checker = CollisionChecker(robot, case.checker.scene, detail)
                checker.collides(case.start)      # what is made once counts for nobody
                question = replace(case, checker=checker)
                record.measure(case, judge, ours(question))
                proofs[detail] += not record.good[-1] and solve(
                    question.problem(checker), [case.start], timeout=0.2,
                    random_state=case.seed).impossible
        for detail, record in records.items():
            print(f'{kind:18s} {detail:7s} {100 * np.mean(record.good):5.1f} % solved, '
                  f'{len(record.wrong)} wrong, {proofs[detail]} said to be impossible, '
                  f'mean {1e3 * record.mean:.1f} ms', flush=True)


def building() -> None:
    """Time what a change of the scene costs (panda, 10 objects)."""
    robot, generator = Robot.load('panda'), np.random.default_rng(0)
    scene = scattered(robot, generator)
    first = timed(lambda: CollisionChecker(robot, scene), 1)
    again = timed(lambda: CollisionChecker(robot, scene), 20)
    box = scene.objects['box 0']
    moved = timed(lambda: CollisionChecker(robot, scene.move('box 0', box.pose)), 50)
    added = timed(lambda: CollisionChecker(robot, scene.remove('box 0').add(box)), 50)
    print(f'checker of panda and 10 objects: first {first:.1f} ms (goal 50), again {again:.2f}; '
          f'one object moved {moved:.2f} ms (goal 1), added {added:.2f} ms (goal 1)')


def timed(make, count: int) -> float:
    """Return the median time of a call [ms]."""
    seconds = []
    for _ in range(count):
        begin = time.perf_counter()
        make()
        seconds.append(time.perf_counter() - begin)
    return 1e3 * float(np.median(seconds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--kinds', nargs='+', default=list(KINDS), choices=list(KINDS),
                        metavar='KIND', help=', '.join(KINDS))
    parser.add_argument('--count', type=int, default=100)
    parser.add_argument('--drake', type=int, default=10, help='how many of them Drake gets, slow')
    parser.add_argument('--cpu', action='store_true',
                        help='take the time this process computes, in all threads, for a machine '
                        'with other work')
    parser.add_argument('--json', metavar='FILE', help='write the table there, too')
    parser.add_argument('--claims', type=int, default=0)
    parser.add_argument('--shares', type=int, default=0)
    parser.add_argument('--seed', type=int, default=0, help='of the cases')
    options = parser.parse_args()
    building()
    compile_all()
    if options.claims:
        claims(options)
    elif options.shares:
        shares(options)
    else:
        table(options)


if __name__ == '__main__':
    main()
