"""
Compare collision-free IK with TRAC-IK + coal and Drake on the same problems, in one run.

    tools/run pip install pytracik drake python-fcl yourdfpy trimesh
    tools/run python benchmarks/collision_ik.py [--kinds shelf bin] [--count 100] [--drake 10]

Every problem has a collision-free solution, found in advance by searches that ignore collisions.
All solvers start at the same random configuration, take turns and have 200 ms. TRAC-IK restarts
from random configurations until ros2_ik's checker finds no contact. Drake's SNOPT uses Drake's
minimum-distance constraint on the same hulls, and also restarts. An answer counts if yourdfpy's
frames are at the targets (1e-5 m, 1e-4 rad), the joints are within their limits, and python-fcl
finds no contact. "wrong" is the number of claims of success that fail this test.
"""

import argparse
from collections.abc import Callable
from functools import partial

from collision.cases import Case, cases, ours, TracIK
from collision.scenes import KINDS
import numpy as np
from peers import exit_with_install_hint
from results import Record, Results

from ros2_ik.core import compile_all, Robot

try:
    from constrained.judge import Judge
    from fcl_judge import FclJudge
except ImportError as absent:
    exit_with_install_hint(absent, __doc__, 'pytracik drake python-fcl yourdfpy trimesh')

TIMEOUT = 0.2                           # [s]
LIMITS = 0.02, 0.05, TIMEOUT + 0.05     # for success rates; a solver may exceed TIMEOUT [s]


class ContactJudge(Judge):
    """Judge of frames, limits and, by python-fcl, contacts."""

    def __init__(self, robot: Robot) -> None:
        super().__init__(robot)
        self._fcl = FclJudge(robot, raw=True)

    def contact_rejection(self, case: Case, q: np.ndarray) -> str:
        """Return why an answer (nq,) is wrong, or '' if it is right."""
        joints, fcl = self.robot.to_joints(q), self._fcl.surround(case.checker.scene)
        rejection = self.rejection(joints, case.targets) or ', '.join(
            ' - '.join(sorted(pair)) for pair in fcl.touching(joints))
        return rejection and f'case {case.seed}: {rejection}'


def solvers_for(robot: Robot, found: list[Case], drake: int) -> dict:
    """Return for each solver a function that prepares a case, and its number of cases."""
    solvers = {'ros2_ik': (ours, len(found))}
    try:
        solvers['TRAC-IK + coal'] = TracIK(robot, list(found[0].targets)).prepare, len(found)
    except ImportError:
        print('pytracik is missing: tools/run pip install pytracik')
    if drake:
        try:
            from collision.drake_ik import DrakeIK
            solvers['Drake'] = DrakeIK(robot).prepare, min(drake, len(found))
        except ImportError:
            print('drake is missing: tools/run pip install drake')
    return solvers


def run_kind(kind: str, options: argparse.Namespace, now: Callable[[], float]
             ) -> dict[str, Record]:
    robot = Robot.load(KINDS[kind][0])
    found, judge = cases(kind, robot, options.count, options.seed), ContactJudge(robot)
    solvers = solvers_for(robot, found, options.drake)
    for prepare, _ in solvers.values():     # one-time preparation is not measured
        prepare(found[0])(0.05)
    records = {name: Record() for name in solvers}
    for number, case in enumerate(found):
        warm(case)
        # the order alternates, since the first solver of a case warms the processor's caches
        for name, (prepare, count) in [*solvers.items()][::1 - 2 * (number % 2)]:
            if number >= count:
                continue
            solve_within, begin = prepare(case), now()
            q = solve_within(TIMEOUT)
            records[name].add(now() - begin, q, partial(judge.contact_rejection, case))
    return records


def warm(case: Case) -> None:
    """Let a scene's checker prepare its data, so that no solver's time includes this step."""
    generator = np.random.default_rng(0)
    for _ in range(20):
        case.checker.collides(case.robot.random_q(generator))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--kinds', nargs='+', default=list(KINDS), choices=list(KINDS),
                        metavar='KIND', help=', '.join(KINDS))
    parser.add_argument('--count', type=int, default=100)
    parser.add_argument('--drake', type=int, default=10,
                        help='number of problems for Drake, which is slow')
    parser.add_argument('--cpu', action='store_true', help='measure CPU time, for a busy machine')
    parser.add_argument('--json', metavar='FILE', help='also write the results to this file')
    parser.add_argument('--seed', type=int, default=0, help='random seed of the cases')
    options = parser.parse_args()
    compile_all()
    results = Results('collision_ik', options.cpu, 1, ['pytracik', 'drake'], LIMITS)
    for kind in options.kinds:
        results.add(kind, 'random', run_kind(kind, options, results.now))
    results.write(options.json)


if __name__ == '__main__':
    main()
