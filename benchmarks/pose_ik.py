"""
Pose IK against TRAC-IK, the Robotics Toolbox and EAIK on the same problems, in one run.

    tools/run pip install pytracik eaik roboticstoolbox-python yourdfpy
    tools/run python benchmarks/pose_ik.py [--robots panda ur5] [--count 1000]
        [--peers TRAC-IK] [--bound] [--collisions] [--turn 10] [--cpu]

Each problem is a random reachable pose with a random start, or one within 0.1 rad of an answer.
All solvers take turns on the same problems, ten by ten: TRAC-IK begins and ends a thread for
each, and what the system does for that falls to whatever runs next (with --turn 1 to ours: what
takes 0.1 us then takes 5). An answer counts when yourdfpy's forward kinematics
puts the tip within 1e-5 m and 1e-4 rad of the target and every joint is within its limits;
"wrong" are claims of success that fail this test. Only the ratio in one run says something.

RTB is the Robotics Toolbox' compiled `ik_LM`. EAIK is a closed form, and chooses the solution
nearest the start; for seven joints it holds one at values that are tried in turn.
With --bound a `PoseSolver`, which is made once, is in the run, too.
TRAC-IK allows all contacts, and so does ours here. With --collisions ours is compared with itself
as it is by default, checked against itself, on poses that some configuration free of contact has:
"same search" is the mean over the problems where the check led to no other answer.
"""

import argparse
from collections.abc import Callable
from importlib.util import find_spec
import io
import time

import numpy as np
from peers import leave
from results import CPU, Results, summary, table_row, WALL

from ros2_ik.core import (
    CollisionChecker,
    compile_all,
    Configuration,
    PoseSolver,
    Robot,
    shipped_robots,
    solve_pose,
    SolveOptions,
)

try:
    from pose_peers import PEERS, Solve, Unsuited
    import yourdfpy
except ImportError as absent:
    leave(absent, __doc__, 'pytracik yourdfpy')

ROBOTS = ('panda', 'ur5', 'xarm7', 'baxter', 'kinova')
OURS = 'ros2_ik'
TIMEOUT = 0.05


class Judge:
    """Forward kinematics and limits by other code than the solvers'."""

    def __init__(self, robot: Robot, tip: str) -> None:
        self._urdf = yourdfpy.URDF.load(io.BytesIO(robot.urdf.encode()), load_meshes=False,
                                        build_scene_graph=True)
        self._root, self._tip = robot.root_frame, tip
        self._limits = {j.name: (j.lower, j.upper) for j in robot.joints}

    def accepts(self, joints: dict[str, float], target: np.ndarray) -> bool:
        # without joints that follow others
        joints = {name: value for name, value in joints.items() if name in self._limits}
        for name, value in joints.items():
            lower, upper = self._limits[name]
            if not lower - 1e-6 <= value <= upper + 1e-6:   # TRAC-IK keeps them as float32
                return False
        self._urdf.update_cfg(joints)
        T = self._urdf.get_transform(self._tip, self._root)
        R = target[:3, :3].T @ T[:3, :3]
        sine = np.linalg.norm([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
        angle = np.arctan2(sine, (np.trace(R) - 1) / 2)
        return np.linalg.norm(T[:3, 3] - target[:3, 3]) <= 1e-5 and angle <= 1e-4


def ours(robot: Robot, tip: str, collisions: bool = False) -> Solve:
    generator = np.random.default_rng(0)

    def solve(target: np.ndarray, start: np.ndarray) -> dict[str, float] | None:
        return solve_pose(robot, tip, target, start, timeout=TIMEOUT,
                          random_state=generator, collisions=collisions).joints
    return solve


def bound(robot: Robot, tip: str) -> Solve:
    options = SolveOptions(timeout=TIMEOUT, random_state=np.random.default_rng(0))
    solver = PoseSolver(robot, tip, collisions=False, options=options)
    return lambda target, start: solver.solve(target, start).joints


def found_peers(names: list[str] | None) -> list[str]:
    """Return the peers that are wanted and installed, and say which are not."""
    found = []
    for name in names if names is not None else PEERS:
        _, module, package = PEERS[name]
        if find_spec(module) is not None:
            found.append(name)
        else:
            print(f'{name} is not installed, and left out: tools/run pip install {package}')
    return found


def problems(robot: Robot, tip: str, count: int, near: bool,
             checker: CollisionChecker | None = None) -> list[tuple[np.ndarray, ...]]:
    """Draw poses and starts; with a checker such that an answer touches nothing."""
    generator = np.random.default_rng(1)
    found = []
    still = [j.index for j in robot.joints if j.name not in robot.moving_joints(tip)]
    while len(found) < count:
        q = robot.random_q(generator)
        start = robot.random_q(generator)
        if checker is not None:
            start[still] = q[still] = robot.neutral[still]
            if checker.collides(q):
                continue
        if near:
            start = np.clip(q + generator.uniform(-0.1, 0.1, robot.nq), robot.lower, robot.upper)
        found.append((Configuration(robot, q).transform(tip), start))
    return found


def measure(solvers: dict[str, Solve], judge: Judge, cases: list[tuple[np.ndarray, ...]],
            turn: int, clock: Callable[[], float]) -> dict[str, dict]:
    seconds: dict[str, list[float]] = {name: [] for name in solvers}
    good: dict[str, list[bool]] = {name: [] for name in solvers}
    wrong = dict.fromkeys(solvers, 0)
    for solver in solvers.values():    # what is made once counts for nobody
        solver(*cases[0])
    for first in range(0, len(cases), turn):
        for name, solver in solvers.items():
            answers = []
            for target, start in cases[first:first + turn]:
                begin = clock()
                joints = solver(target, start)
                seconds[name].append(clock() - begin)
                answers.append((joints, target))
            for joints, target in answers:
                right = joints is not None and judge.accepts(joints, target)
                good[name].append(right)
                wrong[name] += joints is not None and not right
    return {name: summary(seconds[name], good[name], wrong[name], (0.005,)) for name in solvers}


def compare_with_check(robot: Robot, tip: str, cases: list[tuple[np.ndarray, ...]]) -> None:
    """Print what the check of the robot against itself costs, the best of five rounds each."""
    best = np.full((2, len(cases)), np.inf)
    answers: list[list[np.ndarray | None]] = [[None] * len(cases), [None] * len(cases)]
    for _ in range(5):
        for i, (target, start) in enumerate(cases):
            for k, collisions in enumerate((False, True)):
                begin = time.perf_counter()
                answers[k][i] = solve_pose(robot, tip, target, start, timeout=TIMEOUT,
                                           random_state=i, collisions=collisions).q
                best[k, i] = min(best[k, i], time.perf_counter() - begin)
    same = np.array([a is not None and b is not None and np.array_equal(a, b)
                     for a, b in zip(*answers, strict=True)])
    for k, name in enumerate(('unchecked', 'checked')):
        ms, found = best[k] * 1e3, sum(q is not None for q in answers[k])
        print(f'    {name:10s} answers {found:4d}   mean {ms.mean():7.3f} ms   median '
              f'{np.median(ms):7.3f}   same search ({same.sum()}): mean {ms[same].mean():7.3f}   '
              f'ratio {best[k][same].mean() / best[0][same].mean():5.2f}')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--collisions', action='store_true',
                        help='what it costs to check the robot against itself')
    parser.add_argument('--bound', action='store_true',
                        help='also a PoseSolver, which is made once')
    parser.add_argument('--robots', nargs='+', default=ROBOTS)
    parser.add_argument('--count', type=int, default=1000)
    parser.add_argument('--peers', nargs='*', choices=list(PEERS), metavar='PEER',
                        help=f'{", ".join(PEERS)}; by default all that are installed')
    parser.add_argument('--cpu', action='store_true',
                        help='take the time this process computes, in all threads, for a machine '
                        'with other work')
    parser.add_argument('--json', metavar='FILE', help='write the results there, too')
    parser.add_argument('--turn', type=int, default=10, help='problems that one of them solves')
    arguments = parser.parse_args()
    compile_all()
    peers = [] if arguments.collisions else found_peers(arguments.peers)
    clock = time.process_time if arguments.cpu else time.perf_counter
    results = Results('pose_ik', CPU if arguments.cpu else WALL, f'{arguments.turn} problems each',
                      [PEERS[peer][2] for peer in peers])
    for name in arguments.robots:
        robot, tip = Robot.load(name), shipped_robots()[name].tip
        if arguments.collisions:
            print(f'{name}, {tip}, random start:')
            compare_with_check(robot, tip, problems(robot, tip, arguments.count, False,
                                                    CollisionChecker(robot)))
            continue
        solvers = {OURS: ours(robot, tip)}
        if arguments.bound:
            solvers['bound'] = bound(robot, tip)
        for peer in peers:
            try:
                solvers[peer] = PEERS[peer][0](robot, tip, TIMEOUT)
            except Unsuited as reason:
                print(f'{peer} is left out for {name}: {reason}')
        judge = Judge(robot, tip)
        for near in (False, True):
            start = 'near' if near else 'random'
            print(f'{name}, {tip}, {"start within 0.1 rad" if near else "random start"}:')
            found = measure(solvers, judge, problems(robot, tip, arguments.count, near),
                            arguments.turn, clock)
            for solver, row in found.items():
                print(f'    {solver:8s} {table_row(row)}   mean / ours '
                      f'{row["mean_ms"] / found[OURS]["mean_ms"]:5.2f}', flush=True)
            results.add(name, start, found)
    results.write(arguments.json)


if __name__ == '__main__':
    main()
