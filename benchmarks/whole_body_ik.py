"""
Compare IK for poses of several frames with placo on the same problems, in one run.

    python -m venv placo && placo/bin/pip install placo
    tools/run pip install yourdfpy
    tools/run python benchmarks/whole_body_ik.py [--placo-python placo/bin/python] [--count 300]

The frames are Baxter's two grippers, and the hands and feet of Talos with a fixed and with a free
base. Each problem is made from a random configuration. Its start is random, or within 0.1 rad
(0.1 m for the base) of that configuration. placo runs in a separate process, since it needs a
different release of Pinocchio; `placo_child.py` iterates placo's QP on soft frame tasks, and
restarts from a random configuration if the error stalls. Both solvers take turns after each
problem and have 0.2 s for it. Times are CPU times of each solver's process.

An answer counts if yourdfpy's forward kinematics puts every frame within 1e-5 m and 1e-4 rad of
its target, and every joint is within its limits. "wrong" counts claims of success that fail this
test. Compare ratios within one run only, on one core (`taskset -c 0 tools/run ...`).
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
import json
import os
from pathlib import Path
import subprocess
import tempfile
import time
from xml.etree import ElementTree

import numpy as np
from peers import exit_with_install_hint
from results import Record, Results
from scipy.spatial.transform import Rotation

from ros2_ik.core import compile_all, Robot, solve_pose

try:
    from constrained.judge import Judge
    from pose_ik import problems
except ImportError as absent:
    exit_with_install_hint(absent, __doc__, 'yourdfpy')

CHILD = Path(__file__).with_name('placo_child.py')
TIMEOUT = 0.2         # [s]
LIMITS = 0.005, 0.05  # time limits of the success rates [s]
STARTS = ('random', 'near')


@dataclass(frozen=True)
class Kind:
    """A robot and the frames that have target poses."""

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
    """Target poses (4, 4) of a kind's frames, and the start (nq,)."""

    targets: list[np.ndarray]
    start: np.ndarray
    seed: int


# case -> solution (nq,) or None, CPU time [s]
Solve = Callable[[Case], tuple[np.ndarray | None, float]]


def cases(kind: Kind, start: str, count: int) -> list[Case]:
    found = problems(kind.robot, kind.tips, count, start == 'near')
    return [Case(targets, begin, seed) for seed, (targets, begin) in enumerate(found)]


def ours(kind: Kind) -> Solve:
    """Return ros2_ik in this process as a solver."""
    random_state = np.random.default_rng(0)

    def solve(case: Case) -> tuple[np.ndarray | None, float]:
        begin = time.process_time()
        answer = solve_pose(kind.robot, kind.tips, case.targets, case.start, timeout=TIMEOUT,
                            random_state=random_state, collisions=False)
        seconds = time.process_time() - begin
        return answer.q, seconds
    return solve


def without_shapes(urdf: str) -> str:
    """Remove visual and collision elements, since placo does not find their mesh files."""
    root = ElementTree.fromstring(urdf)
    for link in root.iter('link'):
        for shape in [*link.findall('visual'), *link.findall('collision')]:
            link.remove(shape)
    return ElementTree.tostring(root, encoding='unicode')


class Placo:
    """placo in a separate process, which receives the problems through a pipe."""

    def __init__(self, kind: Kind, python: str) -> None:
        self._kind = kind
        # placo reads a file, which exists as long as this object
        urdf = tempfile.NamedTemporaryFile('w', suffix='.urdf')   # noqa: SIM115, closed with self
        urdf.write(without_shapes(kind.robot.urdf))
        urdf.flush()
        self._file = urdf
        self._child = subprocess.Popen(
            [python, CHILD], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True,
            # PYTHONPATH contains ros2_ik's Pinocchio, an incompatible release
            env={name: value for name, value in os.environ.items() if name != 'PYTHONPATH'})
        self.version = self._ask({
            'urdf': urdf.name, 'tips': kind.tips, 'free_base': kind.free_base,
            'joints': {j.name: (j.lower, j.upper) for j in kind.moving}})['placo']

    def _ask(self, request: dict) -> dict:
        assert self._child.stdin and self._child.stdout
        print(json.dumps(request), file=self._child.stdin, flush=True)
        return json.loads(self._child.stdout.readline())

    def solve(self, case: Case) -> tuple[np.ndarray | None, float]:
        """Return the solution (nq,) or None, and the CPU time of placo's process [s]."""
        kind, index = self._kind, [j.index for j in self._kind.moving]
        base = case.start[:7] if kind.free_base else np.array([0, 0, 0, 0, 0, 0, 1.0])
        answer = self._ask({
            'targets': [T.tolist() for T in case.targets], 'start': case.start[index].tolist(),
            'base': base.tolist(), 'seed': case.seed, 'timeout': TIMEOUT})
        if not answer['found']:
            return None, answer['seconds']
        q = case.start.copy()
        q[index] = answer['q']
        if kind.free_base:
            q[:7] = answer['base']
        return q, answer['seconds']

    def close(self) -> None:
        self._child.stdin.close()
        self._child.wait(10)


def rejection(kind: Kind, case: Case, q: np.ndarray) -> str:
    """Return why an answer (nq,) is wrong, or '' if it is right."""
    joints, T_root = kind.robot.to_joints(q), None
    if kind.free_base:
        base, T_root = joints.pop(kind.robot.joints[0].name), np.eye(4)
        T_root[:3, :3] = Rotation.from_quat(base[3:]).as_matrix()
        T_root[:3, 3] = base[:3]
    return kind.judge.rejection(joints, dict(zip(kind.tips, case.targets, strict=True)), T_root)


def take_turns(kind: Kind, solvers: dict[str, Solve], found: list[Case]) -> dict[str, Record]:
    records = {name: Record() for name in solvers}
    for solver in solvers.values():    # one-time preparation is not measured
        solver(found[0])
    for case in found:
        for name, solver in solvers.items():
            q, seconds = solver(case)
            records[name].add(seconds, q, partial(rejection, kind, case))
    return records


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--placo-python', metavar='PATH', help='an interpreter that has placo; '
                        'without it only ros2_ik is measured')
    parser.add_argument('--kinds', nargs='+', default=list(KINDS), choices=list(KINDS),
                        metavar='KIND', help=', '.join(KINDS))
    parser.add_argument('--starts', nargs='+', default=STARTS, choices=STARTS)
    parser.add_argument('--count', type=int, default=300)
    parser.add_argument('--json', metavar='FILE', help='also write the results to this file')
    options = parser.parse_args()
    compile_all()
    results = Results('whole_body_ik', True, 1, ['yourdfpy'], LIMITS)
    for name in options.kinds:
        kind = KINDS[name]
        solvers, placo = {'ros2_ik': ours(kind)}, None
        if options.placo_python:
            placo = Placo(kind, options.placo_python)
            solvers['placo'] = placo.solve
            results.add_versions({'placo': placo.version})
        for start in options.starts:
            found = cases(kind, start, options.count)
            results.add(name, start, take_turns(kind, solvers, found))
        if placo:
            placo.close()
    results.write(options.json)


if __name__ == '__main__':
    main()
