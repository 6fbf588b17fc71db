"""
Poses of several frames at once against placo, on the same problems, in one run.

    python -m venv placo && placo/bin/pip install placo
    tools/run pip install yourdfpy
    tools/run python benchmarks/whole_body_ik.py [--placo-python placo/bin/python] [--count 300]

Baxter's two grippers, and Talos' two hands and two feet with a fixed and with a free base. Each
problem is made from a random configuration; it starts at random, or within 0.1 rad (0.1 m for the
base) of that configuration. placo runs in a process of its own (it needs another release of
Pinocchio): its QP is iterated on soft frame tasks (`placo_child.py`), from random configurations
once it stalls. Both take turns problem by problem, have 0.2 s and count the CPU time of their own
process. An answer counts when yourdfpy's forward kinematics puts every frame within 1e-5 m and
1e-4 rad of its target and every joint is within its limits; "wrong" are claims of success that
fail this test. Only ratios in one run say something: pin it (`taskset -c 0 tools/run ...`).
"""

import argparse
from dataclasses import dataclass
from functools import cached_property
import json
import os
from pathlib import Path
import subprocess
import tempfile
import time
from xml.etree import ElementTree

import numpy as np
from peers import leave
from results import CPU, Results, summary, table_row

from ros2_ik.core import compile_all, Configuration, Robot, solve_pose

try:
    from constrained.judge import Judge
except ImportError as absent:
    leave(absent, __doc__, 'yourdfpy')

CHILD = Path(__file__).with_name('placo_child.py')
TIMEOUT = 0.2         # [s]
WITHIN = 0.005, 0.05
STARTS = {'random': 'random start', 'near': 'start within 0.1'}
NEAR = 0.1            # [rad, m]
POSITION, ORIENTATION = 1e-5, 1e-4
PLACO = 'placo'


@dataclass(frozen=True)
class Kind:
    """A robot and the frames whose poses are asked for."""

    robot_name: str
    root_joint: str
    tips: tuple[str, ...]

    @cached_property
    def robot(self) -> Robot:
        return Robot.load(self.robot_name, self.root_joint)

    @cached_property
    def judge(self) -> Judge:
        return Judge(Robot.load(self.robot_name, 'fixed'))

    @property
    def free_base(self) -> bool:
        return self.root_joint == 'freeflyer'

    @cached_property
    def moving(self) -> list:
        """The joints with one value that move the frames."""
        names = set().union(*(self.robot.moving_joints(tip) for tip in self.tips))
        return [j for j in self.robot.joints if j.name in names and j.is_scalar]


HANDS_AND_FEET = ('gripper_left_base_link', 'gripper_right_base_link', 'left_sole_link',
                  'right_sole_link')
KINDS = {
    'two_arms': Kind('baxter', 'fixed', ('left_gripper', 'right_gripper')),
    'hands_and_feet': Kind('talos', 'fixed', HANDS_AND_FEET),
    'hands_and_feet_free': Kind('talos', 'freeflyer', HANDS_AND_FEET),
}


@dataclass(frozen=True)
class Case:
    """Target poses (4, 4) of a kind's frames, and where to start (nq,)."""

    targets: list[np.ndarray]
    start: np.ndarray
    seed: int


def cases(kind: Kind, start: str, count: int) -> list[Case]:
    robot, generator, found = kind.robot, np.random.default_rng(1), []
    for seed in range(count):
        q, begin = robot.random_q(generator), robot.random_q(generator)
        if start == 'near':
            change = generator.uniform(-NEAR, NEAR, robot.nv)
            begin = np.clip(Configuration(robot, q).integrate(change), robot.lower, robot.upper)
        at = Configuration(robot, q)
        found.append(Case([at.transform(tip) for tip in kind.tips], begin, seed))
    return found


class Ours:
    """ros2_ik in this process."""

    def __init__(self, kind: Kind) -> None:
        self._kind, self._random = kind, np.random.default_rng(0)

    def solve(self, case: Case) -> tuple[np.ndarray | None, float]:
        kind = self._kind
        begin = time.process_time()
        answer = solve_pose(kind.robot, kind.tips, case.targets, case.start, timeout=TIMEOUT,
                            random_state=self._random, collisions=False)
        seconds = time.process_time() - begin
        return answer.q, seconds


def without_shapes(urdf: str) -> str:
    """Leave out the meshes, which placo looks for in other places."""
    root = ElementTree.fromstring(urdf)
    for link in root.iter('link'):
        for shape in [*link.findall('visual'), *link.findall('collision')]:
            link.remove(shape)
    return ElementTree.tostring(root, encoding='unicode')


class Placo:
    """placo in a process of its own, problems sent through a pipe."""

    def __init__(self, kind: Kind, python: str) -> None:
        self._kind = kind
        urdf = tempfile.NamedTemporaryFile('w', suffix='.urdf')   # noqa: SIM115, as long as it
        urdf.write(without_shapes(kind.robot.urdf))
        urdf.flush()
        self._file = urdf
        self._child = subprocess.Popen(
            [python, CHILD], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True,
            env={name: value for name, value in os.environ.items() if name != 'PYTHONPATH'})
        self.version = self._ask({
            'urdf': urdf.name, 'tips': kind.tips, 'free_base': kind.free_base,
            'joints': {j.name: (j.lower, j.upper) for j in kind.moving}})['placo']

    def _ask(self, given: dict) -> dict:
        assert self._child.stdin and self._child.stdout
        print(json.dumps(given), file=self._child.stdin, flush=True)
        return json.loads(self._child.stdout.readline())

    def solve(self, case: Case) -> tuple[np.ndarray | None, float]:
        kind, places = self._kind, [j.index for j in self._kind.moving]
        base = case.start[:7] if kind.free_base else np.array([0, 0, 0, 0, 0, 0, 1.0])
        answer = self._ask({
            'targets': [T.tolist() for T in case.targets], 'start': case.start[places].tolist(),
            'base': base.tolist(), 'seed': case.seed, 'timeout': TIMEOUT})
        if not answer['found']:
            return None, answer['seconds']
        q = case.start.copy()
        q[places] = answer['q']
        if kind.free_base:
            q[:7] = answer['base']
        return q, answer['seconds']

    def close(self) -> None:
        self._child.stdin.close()
        self._child.wait(10)


class Record:
    """Times [s], successes and wrong claims of one solver."""

    def __init__(self) -> None:
        self._seconds: list[float] = []
        self._good: list[bool] = []
        self._wrong = 0

    def add(self, kind: Kind, case: Case, q: np.ndarray | None, seconds: float) -> None:
        good = q is not None and is_right(kind, case, q)
        self._seconds.append(seconds)
        self._good.append(good)
        self._wrong += q is not None and not good

    def summary(self) -> dict:
        return summary(self._seconds, self._good, self._wrong, WITHIN)


def is_right(kind: Kind, case: Case, q: np.ndarray) -> bool:
    """Judge an answer (nq,) by other code than the solvers'."""
    joints, base = kind.robot.to_joints(q), np.eye(4)
    if kind.free_base:
        value = joints.pop(kind.robot.joints[0].name)
        base[:3, :3], base[:3, 3] = rotation(value[3:]), value[:3]
    at = kind.judge.look(joints)
    if not at.is_within_limits():
        return False
    for tip, target in zip(kind.tips, case.targets, strict=True):
        T = base @ at.T(tip)
        if np.linalg.norm(T[:3, 3] - target[:3, 3]) > POSITION \
                or angle(target[:3, :3].T @ T[:3, :3]) > ORIENTATION:
            return False
    return True


def rotation(quaternion: np.ndarray) -> np.ndarray:
    """Return the matrix of a quaternion x y z w, (3, 3)."""
    x, y, z, w = quaternion / np.linalg.norm(quaternion)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * K + 2 * K @ K


def angle(R: np.ndarray) -> float:
    sine = np.linalg.norm([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
    return float(np.arctan2(sine, (np.trace(R) - 1) / 2))


def take_turns(kind: Kind, solvers: dict, found: list[Case]) -> dict[str, dict]:
    records = {name: Record() for name in solvers}
    for solver in solvers.values():    # what is made once counts for nobody
        solver.solve(found[0])
    for case in found:
        for name, solver in solvers.items():
            records[name].add(kind, case, *solver.solve(case))
    return {name: record.summary() for name, record in records.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--placo-python', metavar='PATH', help='an interpreter that has placo; '
                        'without one ros2_ik is measured alone')
    parser.add_argument('--kinds', nargs='+', default=list(KINDS), choices=list(KINDS),
                        metavar='KIND', help=', '.join(KINDS))
    parser.add_argument('--starts', nargs='+', default=list(STARTS), choices=list(STARTS))
    parser.add_argument('--count', type=int, default=300)
    parser.add_argument('--json', metavar='FILE', help='write the results there, too')
    options = parser.parse_args()
    compile_all()
    results = Results('whole_body_ik', CPU, '1 problem each', ['yourdfpy'])
    for name in options.kinds:
        kind = KINDS[name]
        solvers: dict = {'ros2_ik': Ours(kind)}
        if options.placo_python:
            solvers[PLACO] = Placo(kind, options.placo_python)
            results.add_versions({PLACO: solvers[PLACO].version})
        for start in options.starts:
            found = take_turns(kind, solvers, cases(kind, start, options.count))
            print(f'{name}, {kind.robot_name}, {STARTS[start]}:')
            for solver, row in found.items():
                print(f'    {solver:8s} {table_row(row)}   mean / ours '
                      f'{row["mean_ms"] / found["ros2_ik"]["mean_ms"]:5.2f}', flush=True)
            results.add(name, start, found)
        if options.placo_python:
            solvers[PLACO].close()
    results.write(options.json)


if __name__ == '__main__':
    main()
