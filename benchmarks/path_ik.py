"""
Compare solve_path with solves seeded by the last answer, on weld seams of 1000 poses.

    tools/run pip install pytracik yourdfpy
    tools/run python benchmarks/path_ik.py [--robot ur5] [--seams 20] [--starts 4] [--poses 1000]

Each seam is a smooth curve through six random poses of a torch that points down, tilted by up to
0.9 rad about each axis; the first seam is known to be hard. Other seams are used only if every
twentieth pose is in reach. All solvers take turns on the same seams with the same random starts.
No solver checks collisions, since TRAC-IK cannot.

A solver passes a seam if it reaches all poses and no joint moves by more than 0.2 rad from one
pose to the next; yourdfpy's forward kinematics judges all poses (1e-5 m, 1e-4 rad). "fraction" is
the mean fraction of the poses before the first failure or jump; "largest step" is the largest
joint change from pose to pose in all seams [rad]. Times are CPU times of this process, per pose.
"""

import argparse
from collections.abc import Callable
import time

import numpy as np
from peers import exit_with_install_hint
from seams import HARD, seam, seam_starts

from ros2_ik.core import compile_all, PoseSolver, Robot, shipped_robots, solve_path, SolveOptions

try:
    from constrained.judge import Judge
    from pose_ik import bound, TIMEOUT
    from pose_peers import Solve, trac_ik
except ImportError as absent:
    exit_with_install_hint(absent, __doc__, 'pytracik yourdfpy')

JUMP = 0.2      # a larger step of a joint is a jump [rad]
# poses (n, 4, 4), start (nq,) -> configurations (k, nq) at the first k poses, k <= n
Follow = Callable[[np.ndarray, np.ndarray], np.ndarray]


def whole_path(robot: Robot, tip: str) -> Follow:
    """Solve all poses together, by solve_path."""
    def follow(poses: np.ndarray, start: np.ndarray) -> np.ndarray:
        path = solve_path(robot, tip, poses, start, collisions=False, max_joint_step=JUMP)
        at_poses = np.isin(path.parameters, path.tool_path.knots)   # others are in between
        return path.q[at_poses]
    return follow


def seeded(robot: Robot, solve: Solve) -> Follow:
    """Seed each pose with the last answer."""
    def follow(poses: np.ndarray, start: np.ndarray) -> np.ndarray:
        q = [start]
        for T in poses:
            joints = solve(T, q[-1])
            if joints is None:
                break
            q.append(robot.to_q(joints, start))
        return np.array(q[1:])
    return follow


class Score:
    """Fractions, largest joint steps and times of one solver."""

    def __init__(self) -> None:
        self.fractions, self.steps, self.seconds = list[float](), list[float](), list[float]()

    def add(self, judge: Judge, tip: str, poses: np.ndarray, q: np.ndarray,
            seconds: float) -> None:
        """Add configurations (k, nq) at the first k poses of a seam."""
        reached = [not judge.rejection(judge.robot.to_joints(each), {tip: T})
                   for each, T in zip(q, poses, strict=False)]
        steps = np.abs(np.diff(q, axis=0)).max(axis=1, initial=0.0) if len(q) else np.zeros(0)
        # a pose is good if it is reached without a jump from the pose before
        good = np.array(reached) & np.append(True, steps <= JUMP)[:len(q)]
        first_bad = int(np.argmin(good)) if not good.all() else len(good)
        self.fractions.append(first_bad / len(poses))
        self.steps.append(float(steps.max(initial=0.0)))
        self.seconds.append(seconds / len(poses))

    def __str__(self) -> str:
        fractions = np.array(self.fractions)
        return (f'passed {int((fractions == 1).sum()):3d} of {len(fractions)}   fraction '
                f'{fractions.mean():.3f}   largest step {max(self.steps):.2f} rad   '
                f'{1e3 * np.mean(self.seconds):.3f} ms per pose')


def reachable_seams(robot: Robot, tip: str, count: int, poses: int) -> list[np.ndarray]:
    """Return the hard seam, then the first seams with every twentieth pose in reach."""
    solver = PoseSolver(robot, tip, collisions=False, options=SolveOptions(random_state=0))
    found, number = [seam(HARD, poses)], 0
    while len(found) < count:
        each = seam(number, poses)
        if number != HARD and all(solver.solve(T).success for T in each[::20]):
            found.append(each)
        number += 1
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--robot', default='ur5')
    parser.add_argument('--seams', type=int, default=20)
    parser.add_argument('--starts', type=int, default=4)
    parser.add_argument('--poses', type=int, default=1000)
    options = parser.parse_args()
    compile_all()
    robot, tip = Robot.load(options.robot), shipped_robots()[options.robot].tip
    solvers = {'solve_path': whole_path(robot, tip),
               'seeded ros2_ik': seeded(robot, bound(robot, tip)),
               'seeded TRAC-IK': seeded(robot, trac_ik(robot, tip, TIMEOUT))}
    judge, scores = Judge(robot), {name: [Score(), Score()] for name in solvers}
    seams = reachable_seams(robot, tip, options.seams, options.poses)
    starts = seam_starts(options.starts, robot.nq)
    for follow in solvers.values():     # one-time preparation is not measured
        follow(seams[0][:3], starts[0])
    for number, poses in enumerate(seams):
        for start in starts:
            for name, follow in solvers.items():
                begin = time.process_time()
                q = follow(poses, start)
                scores[name][number > 0].add(judge, tip, poses, q, time.process_time() - begin)
    for k, title in enumerate(('the hard seam', f'{options.seams - 1} other seams')):
        print(f'{options.robot}, {title}, {options.starts} starts each:')
        for name, both in scores.items():
            if both[k].fractions:
                print(f'    {name:15s} {both[k]}')


if __name__ == '__main__':
    main()
