"""
Constrained IK against Drake's SNOPT on the same problems, in one run.

    tools/run pip install drake yourdfpy python-fcl trimesh
    tools/run python benchmarks/constrained_ik.py [--kinds cup_level_elbow_low] [--count 100]
    tools/run python benchmarks/constrained_ik.py --kinds clearance

A problem is made from a hidden random configuration, so it has an answer; it starts at random, or
within 0.1 rad of that configuration. All solvers take turns of ten problems (`--turn 1` leaves
none what it has in the caches of the processor), restart from random configurations
until 200 ms are over, and are timed without the making of the problem. An answer counts when
numpy on yourdfpy's forward kinematics finds every demand met within 1e-4 (m, rad) and every joint
within its limits; distances are python-fcl's. "wrong" are claims of success that fail this test.
Costs are compared twice: those of the first answer, and of the best found in 50 ms. Only ratios
in one run say something.

`constrained/kinds.py` and `clearance_kinds.py` have the problems; what they ask for stands in
`positions.py`, `directions.py`, `whole_body.py` and `clearance.py` there, each thing in the words
of both libraries. Obstacles are in `obstacles.py`. How Drake is set up to do its best is in
`drake_ik.py`, and among obstacles in `drake_world.py`.
"""

import argparse
from functools import cache
import gc
import time

import numpy as np
from peers import leave
from results import CPU, Results as Written, WALL

from ros2_ik.core import compile_all, Robot
from ros2_ik.core.errors import InvalidOptionError

try:
    from constrained import clearance_kinds
    from constrained.cases import Case, cases, ours
    from constrained.drake_world import drake_robot
    from constrained.judge import Judge
    from constrained.kinds import KINDS
    from constrained.record import compared_costs, HEADER, Record
except ImportError as absent:
    leave(absent, __doc__, 'drake yourdfpy python-fcl trimesh')

STARTS = {'random': 'random start', 'near': 'start within 0.1 rad'}
DRAKE = 'Drake'
NAMES = {'sqp': 'ros2_ik'}    # in what is written
CLEARANCE = [name for name, (_, ask, _) in KINDS.items()
             if ask.__module__ == clearance_kinds.__name__]
FAMILIES = {'open': [name for name in KINDS if name not in CLEARANCE], 'clearance': CLEARANCE}

Results = dict[str, dict[str, Record]]    # kind -> solver -> record


@cache
def robot_of(kind: str) -> tuple[Robot, Judge]:
    return loaded(KINDS[kind][0])


@cache
def loaded(name: str) -> tuple[Robot, Judge]:
    robot = Robot.load(name)
    return robot, Judge(robot)


def run_kind(kind: str, start: str, options: argparse.Namespace) -> dict[str, Record]:
    (robot, judge), solvers = robot_of(kind), options.solvers
    found = cases(kind, robot, judge, start == 'near', options.count)
    clock = time.process_time if options.cpu else time.perf_counter

    def take_turns(some: list[Case]) -> dict[str, Record]:
        records = {solver: Record() for solver in (*solvers, DRAKE)}
        for first in range(0, len(some), options.turn):
            asked: dict[str, list] = {solver: [] for solver in records}
            gc.collect()    # what the making and judging of problems has left behind
            for case in some[first:first + options.turn]:
                question = drake_robot(case).question(case.terms, case.start_joints, case.seed)
                for solver in solvers:
                    asked[solver].append((case, ours(case, solver)))
                asked[DRAKE].append((case, question.solve))
                if case.world:    # what a scene makes when first looked at counts for nobody
                    case.look()
                    question.look()
            for solver, record in records.items():
                record.measure(asked[solver], judge, clock)
        return records
    take_turns(found[:1])    # what is made once counts for nobody
    return take_turns(found)


def table(start: str, options: argparse.Namespace, written: Written) -> None:
    names = (*options.solvers, DRAKE)
    print(f'\n{STARTS[start]}{", CPU time" * options.cpu}: % solved in 20, 50, 200 ms; mean, p99 '
          '[ms]; wrong claims')
    print(' ' * 24 + ''.join(f'{name:^43s}' for name in names))
    print(' ' * 24 + (HEADER + ' ' * 4) * len(names) + f'{DRAKE} / {names[0]}')
    results: Results = {}
    for kind in options.kinds:
        records = results[kind] = run_kind(kind, start, options)
        written.add(kind, start, {NAMES.get(name, name): record.summary()
                                  for name, record in records.items()})
        ratio = records[DRAKE].mean / records[names[0]].mean
        print(f'{kind:24s}' + ''.join(f'{record!s:43s}' for record in records.values())
              + f'{ratio:7.2f}', flush=True)
    for kind, records in results.items():
        for solver in options.solvers if records[DRAKE].costs else ():
            for line in compared_costs(records[solver], records[DRAKE]):
                print(f'cost of {kind:18s} {solver}, {DRAKE}: {line}')
    for solver in reversed(names):
        summarize(solver, results)


def summarize(solver: str, results: Results) -> None:
    records = {kind: of[solver] for kind, of in results.items()}
    ratios = [of[DRAKE].mean / of[solver].mean for of in results.values()]
    wrong = [f'{kind} {record.wrong}' for kind, record in records.items() if record.wrong]
    short = [f'{kind} {record.within(0.05):.0f} %' for kind, record in records.items()
             if record.within(0.05) < 100]
    mean = f'mean {DRAKE} / {solver} {np.exp(np.mean(np.log(ratios))):.2f} (geometric mean)'
    print(f'{solver}: ' + '; '.join([
        *([] if solver == DRAKE else [mean]),
        f'wrong claims {sum(len(record.wrong) for record in records.values())} {", ".join(wrong)}',
        f'below 100 % at 50 ms: {", ".join(short) or "none"}']))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--kinds', nargs='+', default=list(FAMILIES),
                        choices=[*FAMILIES, *KINDS], metavar='KIND',
                        help='; '.join(f'{family}: {", ".join(names)}'
                                       for family, names in FAMILIES.items()))
    parser.add_argument('--count', type=int, default=100)
    parser.add_argument('--starts', nargs='+', default=list(STARTS), choices=list(STARTS))
    parser.add_argument('--solvers', nargs='+', default=['sqp'],
                        help="ros2_ik's, the first one is compared; 'slsqp' is scipy's")
    parser.add_argument('--turn', type=int, default=10, help='problems that one of them solves')
    parser.add_argument('--cpu', action='store_true',
                        help='take the time this process computes, for a machine with other work')
    parser.add_argument('--json', metavar='FILE', help='write the results there, too')
    options = parser.parse_args()
    options.kinds = [kind for name in options.kinds for kind in FAMILIES.get(name, [name])]
    compile_all()
    written = Written('constrained_ik', CPU if options.cpu else WALL, '1 problem each',
                      [DRAKE.lower()])
    try:
        for start in options.starts:
            table(start, options, written)
    except InvalidOptionError as error:    # not every solver takes constraints
        parser.error(str(error))
    written.write(options.json)


if __name__ == '__main__':
    main()
