"""
Compare constrained IK with Drake's SNOPT on the same problems, in one run.

    tools/run pip install drake yourdfpy python-fcl trimesh
    tools/run python benchmarks/constrained_ik.py [--kinds cup_level_elbow_low] [--count 100]
    tools/run python benchmarks/constrained_ik.py --kinds clearance

Each problem is made from a hidden random configuration, so it has a solution. Its start is
random, or within 0.1 rad of that configuration. Both solvers take turns of ten problems (--turn),
and restart from random configurations for up to 200 ms; the construction of a problem is not
measured. An answer counts if numpy on yourdfpy's forward kinematics finds every constraint met
within 1e-4 (m, rad) and every joint within its limits; python-fcl measures distances. "wrong" is
the number of claims of success that fail this test. Costs are compared for the first solution, and
for the best solution found in 50 ms. Compare ratios within one run only.

`constrained/kinds.py` and `clearance_kinds.py` have the problems. Their terms are in
`positions.py`, `directions.py`, `whole_body.py` and `clearance.py`, each for both libraries;
obstacles are in `obstacles.py`. `drake_ik.py` has Drake's settings, `drake_world.py` Drake's
scene.
"""

import argparse
from collections.abc import Callable
from functools import cache
import gc

import numpy as np
from peers import exit_with_install_hint
from results import Results

from ros2_ik.core import compile_all, Robot

try:
    from constrained import clearance_kinds
    from constrained.cases import Case, cases, ours
    from constrained.drake_world import drake_robot
    from constrained.judge import Judge
    from constrained.kinds import KINDS
    from constrained.record import compared_costs, CostRecord, TIMEOUT
except ImportError as absent:
    exit_with_install_hint(absent, __doc__, 'drake yourdfpy python-fcl trimesh')

STARTS = ('random', 'near')
LIMITS = 0.05, TIMEOUT    # time limits of the success rates [s]
OURS, DRAKE = 'ros2_ik', 'Drake'
CLEARANCE = [name for name, (_, make_terms, _) in KINDS.items()
             if make_terms.__module__ == clearance_kinds.__name__]
FAMILIES = {'open': [name for name in KINDS if name not in CLEARANCE], 'clearance': CLEARANCE}


@cache
def loaded(robot_name: str) -> tuple[Robot, Judge]:
    robot = Robot.load(robot_name)
    return robot, Judge(robot)


def take_turns(found: list[Case], judge: Judge, turn: int, now: Callable[[], float]
               ) -> dict[str, CostRecord]:
    records = {OURS: CostRecord(), DRAKE: CostRecord()}
    for first in range(0, len(found), turn):
        asked: dict[str, list] = {solver: [] for solver in records}
        gc.collect()    # garbage from the construction and the judging of problems
        for case in found[first:first + turn]:
            drake_problem = drake_robot(case).problem(case.terms, case.start_joints, case.seed)
            asked[OURS].append((case, ours(case)))
            asked[DRAKE].append((case, drake_problem.solve))
            if case.world:    # a scene's data, prepared at its first evaluation, is not measured
                case.prepare()
                drake_problem.prepare()
        for solver, record in records.items():
            record.measure(asked[solver], judge, now)
    return records


def compare(start: str, options: argparse.Namespace, written: Results) -> None:
    results: dict[str, dict[str, CostRecord]] = {}
    for kind in options.kinds:
        robot, judge = loaded(KINDS[kind][0])
        found = cases(kind, robot, judge, start == 'near', options.count)
        # one-time preparation is not measured
        take_turns(found[:1], judge, options.turn, written.now)
        results[kind] = take_turns(found, judge, options.turn, written.now)
        written.add(kind, start, results[kind])
    for kind, records in results.items():
        if records[DRAKE].costs:
            for line in compared_costs(records[OURS], records[DRAKE]):
                print(f'cost of {kind:18s} {line}')
    ratios = [np.mean(of[DRAKE].seconds) / np.mean(of[OURS].seconds) for of in results.values()]
    print(f'{start} start: mean {DRAKE} / {OURS} {np.exp(np.mean(np.log(ratios))):.2f} '
          f'(geometric mean)')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--kinds', nargs='+', default=list(FAMILIES),
                        choices=[*FAMILIES, *KINDS], metavar='KIND',
                        help='; '.join(f'{family}: {", ".join(names)}'
                                       for family, names in FAMILIES.items()))
    parser.add_argument('--count', type=int, default=100)
    parser.add_argument('--starts', nargs='+', default=STARTS, choices=STARTS)
    parser.add_argument('--turn', type=int, default=10, help='problems in one turn of a solver')
    parser.add_argument('--cpu', action='store_true',
                        help='measure CPU time of this process, for a busy machine')
    parser.add_argument('--json', metavar='FILE', help='also write the results to this file')
    options = parser.parse_args()
    options.kinds = [kind for name in options.kinds for kind in FAMILIES.get(name, [name])]
    compile_all()
    written = Results('constrained_ik', options.cpu, options.turn, [DRAKE.lower()], LIMITS)
    for start in options.starts:
        compare(start, options, written)
    written.write(options.json)


if __name__ == '__main__':
    main()
