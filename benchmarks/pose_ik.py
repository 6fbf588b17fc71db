"""
Compare pose IK with TRAC-IK, the Robotics Toolbox and EAIK on the same problems, in one run.

    tools/run pip install pytracik eaik roboticstoolbox-python yourdfpy
    tools/run python benchmarks/pose_ik.py [--robots panda ur5] [--count 1000]
        [--peers TRAC-IK] [--bound] [--turn 10] [--cpu]

Each problem is a random reachable pose. Its start is random, or within 0.1 rad of a solution.
An answer counts if yourdfpy's forward kinematics puts the tip within 1e-5 m and 1e-4 rad of the
target, and every joint is within its limits. "wrong" counts claims of success that fail this
test. Compare ratios within one run only.

All solvers take turns on the same problems, ten at a time. With --turn 1 the times of the solver
after TRAC-IK would be too long: TRAC-IK starts and ends a thread for each problem, which slows the
next calls (from 0.1 us to 5 us).

RTB is `ik_LM`, the compiled solver of the Robotics Toolbox. EAIK solves in closed form; of its
solutions the one nearest the start counts. For seven joints EAIK tries values of a locked joint.
With --bound, a reused `PoseSolver` is measured as well. No solver checks collisions.
"""

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec

import numpy as np
from peers import exit_with_install_hint
from results import Record, Results

from ros2_ik.core import (
    compile_all,
    Configuration,
    PoseSolver,
    Robot,
    shipped_robots,
    solve_pose,
    SolveOptions,
)

try:
    from constrained.judge import Judge
    from pose_peers import PEERS, Solve, UnsupportedRobotError
except ImportError as absent:
    exit_with_install_hint(absent, __doc__, 'pytracik yourdfpy')

ROBOTS = ('panda', 'ur5', 'xarm7', 'baxter', 'kinova')
TIMEOUT = 0.05    # [s]
NEAR = 0.1        # largest distance of a near start from the solution, per joint value [rad, m]


def ours(robot: Robot, tip: str) -> Solve:
    generator = np.random.default_rng(0)

    def solve(target: np.ndarray, start: np.ndarray) -> dict[str, float] | None:
        return solve_pose(robot, tip, target, start, timeout=TIMEOUT,
                          random_state=generator, collisions=False).joints
    return solve


def bound(robot: Robot, tip: str) -> Solve:
    options = SolveOptions(timeout=TIMEOUT, random_state=np.random.default_rng(0))
    solver = PoseSolver(robot, tip, collisions=False, options=options)
    return lambda target, start: solver.solve(target, start).joints


def installed_peers(names: list[str] | None) -> list[str]:
    """Return the requested peers that are installed; print the others."""
    found = []
    for name in names if names is not None else PEERS:
        _, module, package = PEERS[name]
        if find_spec(module) is not None:
            found.append(name)
        else:
            print(f'{name} is left out, not installed: tools/run pip install {package}')
    return found


def make_solvers(robot: Robot, tip: str, peers: list[str], with_bound: bool) -> dict[str, Solve]:
    solvers = {'ros2_ik': ours(robot, tip)}
    if with_bound:
        solvers['bound'] = bound(robot, tip)
    for peer in peers:
        try:
            solvers[peer] = PEERS[peer][0](robot, tip, TIMEOUT)
        except UnsupportedRobotError as reason:
            print(f'{peer} is left out for {robot.name}: {reason}')
    return solvers


def problems(robot: Robot, tips: Sequence[str], count: int, near: bool
             ) -> list[tuple[list[np.ndarray], np.ndarray]]:
    """Draw target poses (4, 4) of the tips and starts (nq,)."""
    generator, found = np.random.default_rng(1), []
    for _ in range(count):
        q, start = robot.random_q(generator), robot.random_q(generator)
        at = Configuration(robot, q)
        if near:
            # in the tangent space, since a base has a quaternion
            change = generator.uniform(-NEAR, NEAR, robot.nv)
            start = np.clip(at.integrate(change), robot.lower, robot.upper)
        found.append(([at.transform(tip) for tip in tips], start))
    return found


def measure(solvers: dict[str, Solve], judge: Judge, tip: str,
            cases: list[tuple[np.ndarray, ...]], turn: int, now: Callable[[], float]
            ) -> dict[str, Record]:
    records = {name: Record() for name in solvers}
    for solver in solvers.values():    # one-time preparation is not measured
        solver(*cases[0])
    for first in range(0, len(cases), turn):
        for name, solver in solvers.items():
            answers = []
            for target, start in cases[first:first + turn]:
                begin = now()
                joints = solver(target, start)
                answers.append((now() - begin, joints, target))
            # judge after the turn, since judging evicts data from the processor's caches
            for seconds, joints, target in answers:
                records[name].add(seconds, joints, partial(judge.rejection, targets={tip: target}))
    return records


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--bound', action='store_true',
                        help='also measure a PoseSolver, created once per robot')
    parser.add_argument('--robots', nargs='+', default=ROBOTS)
    parser.add_argument('--count', type=int, default=1000)
    parser.add_argument('--peers', nargs='*', choices=list(PEERS), metavar='PEER',
                        help=f'{", ".join(PEERS)}; default: all that are installed')
    parser.add_argument('--cpu', action='store_true', help='measure CPU time, for a busy machine')
    parser.add_argument('--json', metavar='FILE', help='also write the results to this file')
    parser.add_argument('--turn', type=int, default=10, help='problems in one turn of a solver')
    options = parser.parse_args()
    compile_all()
    peers = installed_peers(options.peers)
    results = Results('pose_ik', options.cpu, options.turn, [PEERS[peer][2] for peer in peers],
                      (0.005,))
    for name in options.robots:
        robot, tip = Robot.load(name), shipped_robots()[name].tip
        solvers, judge = make_solvers(robot, tip, peers, options.bound), Judge(robot)
        for near in (False, True):
            cases = [(T, start) for (T,), start in problems(robot, [tip], options.count, near)]
            results.add(name, 'near' if near else 'random',
                        measure(solvers, judge, tip, cases, options.turn, results.now))
    results.write(options.json)


if __name__ == '__main__':
    main()
