"""
Loops of velocity IK against Pink, mink and placo: the same targets, limits and steps, in one run.

    python -m venv placo && placo/bin/pip install placo
    tools/run pip install pin-pink mink 'mujoco<4' daqp yourdfpy trimesh
    tools/run python benchmarks/velocity_ik.py [--placo-python placo/bin/python] [--targets 20]

A Panda's tool, Baxter's two grippers, and Talos' hands and feet go from random target to random
target under position and velocity limits, 250 steps of 0.01 s each, with a weak posture task;
Baxter's and Talos' targets are within 0.5 rad. A Panda does the same among ten obstacles without
touching these or itself. Each solver integrates its own way.
Judged from the joint values alone: how far beyond position and velocity limits a step goes, how
near the targets the frames are at last (forward kinematics of yourdfpy), how often joint
speeds change their sign in the last second, in which all is to be at rest, and how near two links
come to each other (Pinocchio). Time is the CPU time of a step [us]; only ratios in one run say
something: pin it (`taskset -c 0 tools/run ...`).
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
import json
from pathlib import Path
import subprocess
import tempfile
import time

import numpy as np
from peers import leave
from whole_body_ik import without_shapes

from ros2_ik.core import (
    CollisionBarrier,
    compile_all,
    Configuration,
    frame_task,
    posture_task,
    Robot,
    VelocityProgram,
)

try:
    from constrained.judge import Judge
    import pink
    import pinocchio as pin
    from velocity_mink import Mink
    from velocity_world import World
except ImportError as absent:
    leave(absent, __doc__, 'yourdfpy, trimesh, pin-pink, mink, mujoco')

CHILD = Path(__file__).with_name('velocity_placo_child.py')
DT, STEPS, POSTURE, GAIN = 0.01, 250, 1e-3, 0.5
MARGIN, ROWS = 0.01, 20    # between links [m]; pairs that Pink looks at
MOVES = 1e-3               # slower joints are at rest [rad/s, m/s]
OBSTACLES = 'panda, ten obstacles'


@dataclass(frozen=True)
class Kind:
    """A robot, the frames that follow targets, and how far these are in joint space [rad]."""

    robot_name: str
    frames: tuple[str, ...]
    within: float


KINDS = {
    'panda': Kind('panda', ('panda_hand_tcp',), np.inf),
    'baxter, two arms': Kind('baxter', ('left_gripper', 'right_gripper'), 0.5),
    'talos, hands and feet': Kind('talos', (
        'gripper_left_base_link', 'gripper_right_base_link', 'left_sole_link',
        'right_sole_link'), 0.5),
    OBSTACLES: Kind('panda', ('panda_hand_tcp',), np.inf)}


@dataclass(frozen=True)
class Course:
    """
    Where a loop starts (n,), and which poses (4, 4) of each frame it is to go to.

    `urdf` is what the others read; in a world its links and obstacles are to stay apart.
    """

    robot: Robot
    frames: tuple[str, ...]
    start: np.ndarray
    targets: list[list[np.ndarray]]
    urdf: Path
    world: World | None = None

    @classmethod
    def of(cls, kind: Kind, count: int, generator: np.random.Generator, folder: Path,
           in_world: bool) -> 'Course':
        robot, world, urdf = Robot.load(kind.robot_name), None, folder / 'robot.urdf'
        if in_world:
            world = World.around(robot, generator, folder)
            robot, urdf = world.robot, world.urdf
        else:
            urdf.write_text(without_shapes(robot.urdf), encoding='utf-8')
        middle = np.clip(np.zeros(robot.nq), robot.lower + 0.3 * (robot.upper - robot.lower),
                         robot.upper - 0.3 * (robot.upper - robot.lower))
        targets = []
        for _ in range(count):
            q = robot.random_q(generator)
            q = np.clip(q, middle - kind.within, middle + kind.within)
            at = Configuration(robot, q)
            targets.append([at.transform(frame) for frame in kind.frames])
        return cls(robot, kind.frames, middle, targets, urdf, world)

    @property
    def speeds(self) -> dict[str, float]:
        return {joint.name: joint.velocity_limit for joint in self.robot.joints}

    @property
    def pairs(self) -> list[tuple[str, str]]:
        return self.world.pairs if self.world else []


@dataclass
class Run:
    """Joint values after each step (k, n), CPU times of the steps [s], and exceptions."""

    path: np.ndarray
    seconds: np.ndarray
    raised: int


def ours(given: Course) -> Run:
    program = VelocityProgram(given.robot, [
        *(frame_task(frame, gain=GAIN) for frame in given.frames),
        posture_task(given.start, weight=POSTURE, gain=GAIN)], DT,
        barriers=[CollisionBarrier(given.world.checker, MARGIN)] if given.world else [])
    q, path, seconds = given.start, [], []
    for targets in given.targets:
        for frame, T in zip(given.frames, targets, strict=True):
            program.set_target(frame, T)
        for _ in range(STEPS):
            begin = time.process_time()
            q = program.step(q).q
            seconds.append(time.process_time() - begin)
            path.append(q)
    return Run(np.array(path), np.array(seconds), 0)


def pinks(given: Course) -> Run:
    robot = given.robot
    model = pin.buildModelFromUrdf(str(given.urdf)) if given.world else pin.Model(robot.model)
    model.velocityLimit = np.array(list(given.speeds.values()))
    tasks = [pink.FrameTask(frame, 1.0, 1.0, lm_damping=1.0, gain=GAIN)
             for frame in given.frames]
    posture = pink.PostureTask(cost=POSTURE ** 0.5, gain=GAIN)
    posture.set_target(given.start)
    geometry, barriers = given.world and given.world.geometry(model), []
    if geometry:
        # its safe displacement would hold the arm where it is, see Pink's barriers
        barriers.append(pink.barriers.SelfCollisionBarrier(
            ROWS, gain=1.0, safe_displacement_gain=0.0, d_min=MARGIN))
    at = pink.Configuration(model, model.createData(), given.start, collision_model=geometry,
                            collision_data=geometry and geometry.createData())
    path, seconds, raised = [], [], 0
    for targets in given.targets:
        for task, T in zip(tasks, targets, strict=True):
            task.set_target(pin.SE3(T))
        for _ in range(STEPS):
            begin = time.process_time()
            try:
                v = pink.solve_ik(at, [*tasks, posture], DT, solver='daqp', safety_break=False,
                                  barriers=barriers)
                at.integrate_inplace(v, DT)
            except pink.exceptions.PinkError:
                raised += 1
            seconds.append(time.process_time() - begin)
            path.append(np.array(at.q))
    return Run(np.array(path), np.array(seconds), raised)


def minks(given: Course) -> Run:
    solver = Mink(given.urdf, given.frames, given.speeds, GAIN, POSTURE, given.pairs, MARGIN)
    path, seconds, raised = zip(*solver.run(given.start, given.targets, STEPS, DT), strict=True)
    return Run(np.array(path), np.array(seconds), sum(raised))


def placos(given: Course, python: str) -> Run:
    question = json.dumps({
        'urdf': str(given.urdf), 'tips': given.frames, 'free_base': False, 'dt': DT,
        'steps': STEPS, 'pairs': given.pairs, 'margin': MARGIN, 'speeds': given.speeds,
        'joints': {joint.name: (joint.lower, joint.upper) for joint in given.robot.joints},
        'start': given.start.tolist(),
        'targets': [[T.tolist() for T in targets] for targets in given.targets]})
    done = subprocess.run([python, CHILD], input=question + '\n', capture_output=True,
                          text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    return Run(np.array(found['path']), np.array(found['seconds']), found['raised'])


def judged(given: Course, run: Run) -> str:
    robot, judge = given.robot, Judge(given.robot)
    v = np.diff(run.path, axis=0, prepend=given.start[None]) / DT
    limits = np.array([joint.velocity_limit for joint in robot.joints])
    beyond = max(0.0, (robot.lower - run.path).max(), (run.path - robot.upper).max())
    faster = max(0.0, (np.abs(v) - limits).max())
    errors, turns = [], 0
    for i, targets in enumerate(given.targets):
        last = slice(i * STEPS + STEPS - 100, (i + 1) * STEPS)
        look = judge.look(robot.to_joints(run.path[last.stop - 1]))
        errors += [np.linalg.norm(look.T(frame)[:3, 3] - T[:3, 3])
                   for frame, T in zip(given.frames, targets, strict=True)]
        moving = np.where(np.abs(v[last]) > MOVES, np.sign(v[last]), 0)
        turns += int((moving[1:] * moving[:-1] < 0).sum())
    nearest = (f'   nearest {given.world.nearest(run.path[::5]):7.4f} m of {MARGIN} m'
               if given.world else '')
    return (f'{1e6 * np.median(run.seconds):7.1f} {1e6 * run.seconds.mean():7.1f} us   '
            f'beyond limits {beyond:8.1e}  {faster:8.1e}   raised {run.raised:4d}   '
            f'error {np.median(errors):8.1e} m   turns {turns / len(given.targets):6.1f} a target'
            f'{nearest}')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--targets', type=int, default=20)
    parser.add_argument('--kinds', nargs='+', default=list(KINDS), choices=list(KINDS))
    parser.add_argument('--placo-python', help='an interpreter that has placo')
    parser.add_argument('--seed', type=int, default=0)
    options = parser.parse_args()
    compile_all()
    solvers: dict[str, Callable[[Course], Run]] = {'ros2_ik': ours, 'Pink': pinks, 'mink': minks}
    if options.placo_python:
        solvers['placo'] = lambda given: placos(given, options.placo_python)
    print('CPU time of a step: median, mean; largest violation [rad, m], [rad/s, m/s]')
    for name in options.kinds:
        with tempfile.TemporaryDirectory() as folder:
            given = Course.of(KINDS[name], options.targets, np.random.default_rng(options.seed),
                              Path(folder), name == OBSTACLES)
            ours(replace(given, targets=given.targets[:1]))
            for solver, run in solvers.items():
                print(f'{name:24s} {solver:8s}{judged(given, run(given))}', flush=True)


if __name__ == '__main__':
    main()
