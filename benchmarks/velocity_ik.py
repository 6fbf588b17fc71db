"""
Loops of velocity IK against Pink and placo: the same targets, limits and steps, in one run.

    python -m venv placo && placo/bin/pip install placo
    tools/run pip install pin-pink daqp
    tools/run python benchmarks/velocity_ik.py [--placo-python placo/bin/python] [--targets 20]

A Panda's tool, Baxter's two grippers, and Talos' hands and feet go from random target to random
target under position and velocity limits, 250 steps of 0.01 s each, with a weak posture task;
Baxter's and Talos' targets are within 0.5 rad. A Panda does the same among ten obstacles without
touching itself (ros2_ik alone, beside the loop without them). Each solver integrates its own way.
Judged from the joint values alone: how far beyond position and velocity limits a step goes, how
near the targets the frames are at last (forward kinematics of yourdfpy), and how often joint
speeds change their sign in the last second, in which all is to be at rest. Time is the CPU time
of a step [us]; only ratios in one run say something: pin it (`taskset -c 0 tools/run ...`).
"""

import argparse
from dataclasses import dataclass
import json
from pathlib import Path
import subprocess
import tempfile
import time
from typing import Any

import numpy as np
from peers import leave
from whole_body_ik import without_shapes

from ros2_ik.core import (
    Box,
    CollisionBarrier,
    CollisionChecker,
    Configuration,
    frame_task,
    load_kernels,
    posture_task,
    Robot,
    Scene,
    SceneObject,
    Sphere,
    VelocityProgram,
)

try:
    from constrained.judge import Judge
    import pink
    import pinocchio as pin
except ImportError as absent:
    leave(absent, __doc__, 'yourdfpy, pin-pink')

CHILD = Path(__file__).with_name('velocity_placo_child.py')
DT, STEPS, POSTURE, GAIN = 0.01, 250, 1e-3, 0.5
MARGIN = 0.01
MOVES = 1e-3        # slower joints are at rest [rad/s, m/s]


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
        'right_sole_link'), 0.5)}


@dataclass(frozen=True)
class Course:
    """Where a loop starts (n,), and which poses (4, 4) of each frame it is to go to."""

    robot: Robot
    frames: tuple[str, ...]
    start: np.ndarray
    targets: list[list[np.ndarray]]


@dataclass
class Run:
    """Joint values after each step (k, n), CPU times of the steps [s], and exceptions."""

    path: np.ndarray
    seconds: np.ndarray
    raised: int


def course(kind: Kind, count: int, seed: int) -> Course:
    robot, generator = Robot.load(kind.robot_name), np.random.default_rng(seed)
    middle = np.clip(np.zeros(robot.nq), robot.lower + 0.3 * (robot.upper - robot.lower),
                     robot.upper - 0.3 * (robot.upper - robot.lower))
    targets = []
    for _ in range(count):
        q = robot.random_q(generator)
        q = np.clip(q, middle - kind.within, middle + kind.within)
        at = Configuration(robot, q)
        targets.append([at.transform(frame) for frame in kind.frames])
    return Course(robot, kind.frames, middle, targets)


def ours(given: Course, barriers: tuple[Any, ...] = ()) -> Run:
    program = VelocityProgram(given.robot, [
        *(frame_task(frame, gain=GAIN) for frame in given.frames),
        posture_task(given.start, weight=POSTURE, gain=GAIN)], DT, barriers=barriers)
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
    model = pin.Model(robot.model)
    model.velocityLimit = np.array([joint.velocity_limit for joint in robot.joints])
    tasks = [pink.FrameTask(frame, 1.0, 1.0, lm_damping=1.0, gain=GAIN)
             for frame in given.frames]
    posture = pink.PostureTask(cost=POSTURE ** 0.5, gain=GAIN)
    posture.set_target(given.start)
    at = pink.Configuration(model, model.createData(), given.start)
    path, seconds, raised = [], [], 0
    for targets in given.targets:
        for task, T in zip(tasks, targets, strict=True):
            task.set_target(pin.SE3(T))
        for _ in range(STEPS):
            begin = time.process_time()
            try:
                v = pink.solve_ik(at, [*tasks, posture], DT, solver='daqp', safety_break=False)
                at.integrate_inplace(v, DT)
            except pink.exceptions.PinkError:
                raised += 1
            seconds.append(time.process_time() - begin)
            path.append(np.array(at.q))
    return Run(np.array(path), np.array(seconds), raised)


def placos(given: Course, python: str) -> Run:
    robot = given.robot
    with tempfile.TemporaryDirectory() as folder:
        urdf = Path(folder) / 'robot.urdf'
        urdf.write_text(without_shapes(robot.urdf), encoding='utf-8')
        question = json.dumps({
            'urdf': str(urdf), 'tips': given.frames, 'free_base': False, 'dt': DT, 'steps': STEPS,
            'joints': {joint.name: (joint.lower, joint.upper) for joint in robot.joints},
            'speeds': {joint.name: joint.velocity_limit for joint in robot.joints},
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
    return (f'{1e6 * np.median(run.seconds):7.1f} {1e6 * run.seconds.mean():7.1f} us   '
            f'beyond limits {beyond:8.1e}  {faster:8.1e}   raised {run.raised:4d}   '
            f'error {np.median(errors):8.1e} m   turns {turns / len(given.targets):6.1f} a target')


def among_obstacles(count: int, seed: int) -> tuple[Course, CollisionChecker]:
    given, generator = course(KINDS['panda'], count, seed), np.random.default_rng(seed)
    scene = Scene(given.robot)
    for i in range(10):
        T, angle = np.eye(4), 2 * np.pi * i / 10
        T[:3, 3] = 0.6 * np.cos(angle), 0.6 * np.sin(angle), generator.uniform(0.2, 0.9)
        shape = Sphere(0.06) if i % 2 else Box([0.1, 0.1, 0.1])
        scene = scene.add(SceneObject(f'{i}', [shape], T))
    return given, CollisionChecker(given.robot, scene)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--targets', type=int, default=20)
    parser.add_argument('--placo-python', help='an interpreter that has placo')
    parser.add_argument('--seed', type=int, default=0)
    options = parser.parse_args()
    load_kernels()
    print('CPU time of a step: median, mean; largest violation [rad, m], [rad/s, m/s]')
    for name, kind in KINDS.items():
        given = course(kind, options.targets, options.seed)
        ours(Course(given.robot, given.frames, given.start, given.targets[:1]))
        print(f'{name:24s} ros2_ik {judged(given, ours(given))}', flush=True)
        print(f'{"":24s} Pink    {judged(given, pinks(given))}', flush=True)
        if options.placo_python:
            print(f'{"":24s} placo   {judged(given, placos(given, options.placo_python))}',
                  flush=True)
    given, checker = among_obstacles(options.targets, options.seed)
    run = ours(given, (CollisionBarrier(checker, MARGIN),))
    least = min(checker.distances(q, 1.0, 1).distance[0] for q in run.path[::5])
    print(f'{"panda, ten obstacles":24s} ros2_ik {judged(given, run)}   nearest {least:.4f} m '
          f'of {MARGIN} m')


if __name__ == '__main__':
    main()
