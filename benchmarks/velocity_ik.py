"""
Compare velocity IK with Pink, mink and placo: same targets, limits and steps, in one run.

    python -m venv placo && placo/bin/pip install placo
    tools/run pip install pin-pink mink 'mujoco<4' daqp yourdfpy trimesh
    tools/run python benchmarks/velocity_ik.py [--placo-python placo/bin/python] [--targets 20]

A Panda's tool, Baxter's two grippers, and Talos' hands and feet move from random target to random
target under position and velocity limits, 250 steps of 0.01 s each, with a weak posture task.
Baxter's and Talos' targets are within 0.5 rad of the start. A Panda does the same among ten
obstacles, without contact with obstacles or itself. Each solver integrates its own velocities.

Criteria are the largest violation of position and velocity limits, the final distance of frames
from their targets (by yourdfpy), the sign changes of joint velocities in the last second of each
target, when the arm should be at rest, and the smallest distance of two links (by Pinocchio).
Times are CPU times of a step [us]. Compare ratios within one run only, on one core (`taskset -c 0
tools/run ...`).
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
from peers import exit_with_install_hint
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
    exit_with_install_hint(absent, __doc__, "yourdfpy trimesh pin-pink mink 'mujoco<4' daqp")

CHILD = Path(__file__).with_name('velocity_placo_child.py')
DT, STEPS = 0.01, 250      # duration of a step [s], steps for each target
POSTURE, GAIN = 1e-3, 0.5  # weight of the posture task, gain of all tasks
MARGIN = 0.01              # smallest allowed distance between links [m]
PINK_PAIRS = 20            # pairs in Pink's barrier
REST = 1e-3                # joints with a lower speed are at rest [rad/s, m/s]
OBSTACLES = 'panda, ten obstacles'


@dataclass(frozen=True)
class Kind:
    """A robot, the frames with targets, and the targets' distance from the start [rad]."""

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
    The start (n,) of a loop, and its targets: poses (4, 4) of each frame.

    `urdf` is the file for the other libraries. With a world, its pairs are kept apart.
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
        # start at zero, or inside the limits if zero is near or beyond a limit
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
    """Joint values after each step (k, n), CPU times (k,) [s], and the number of exceptions."""

    path: np.ndarray
    seconds: np.ndarray
    raised: int


def run(course: Course, set_targets: Callable[[list[np.ndarray]], None],
        step: Callable[[], tuple[np.ndarray, bool]]) -> Run:
    """Run a loop of `step`, which returns joint values and whether an exception was raised."""
    path, seconds, raised = [], [], 0
    for targets in course.targets:
        set_targets(targets)
        for _ in range(STEPS):
            begin = time.process_time()
            q, failed = step()
            seconds.append(time.process_time() - begin)
            path.append(q)
            raised += failed
    return Run(np.array(path), np.array(seconds), raised)


def ours(course: Course) -> Run:
    program = VelocityProgram(course.robot, [
        *(frame_task(frame, gain=GAIN) for frame in course.frames),
        posture_task(course.start, weight=POSTURE, gain=GAIN)], DT,
        barriers=[CollisionBarrier(course.world.checker, MARGIN)] if course.world else [])
    q = course.start

    def set_targets(targets: list[np.ndarray]) -> None:
        for frame, T in zip(course.frames, targets, strict=True):
            program.set_target(frame, T)

    def step() -> tuple[np.ndarray, bool]:
        nonlocal q
        q = program.step(q).q
        return q, False
    return run(course, set_targets, step)


def pinks(course: Course) -> Run:
    robot = course.robot
    model = pin.buildModelFromUrdf(str(course.urdf)) if course.world else pin.Model(robot.model)
    model.velocityLimit = np.array(list(course.speeds.values()))
    tasks = [pink.FrameTask(frame, 1.0, 1.0, lm_damping=1.0, gain=GAIN)
             for frame in course.frames]
    posture = pink.PostureTask(cost=POSTURE ** 0.5, gain=GAIN)
    posture.set_target(course.start)
    geometry, barriers = course.world and course.world.geometry(model), []
    if geometry:
        # with a safe displacement Pink's arm would stay at its start
        barriers.append(pink.barriers.SelfCollisionBarrier(
            PINK_PAIRS, gain=1.0, safe_displacement_gain=0.0, d_min=MARGIN))
    at = pink.Configuration(model, model.createData(), course.start, collision_model=geometry,
                            collision_data=geometry and geometry.createData())

    def set_targets(targets: list[np.ndarray]) -> None:
        for task, T in zip(tasks, targets, strict=True):
            task.set_target(pin.SE3(T))

    def step() -> tuple[np.ndarray, bool]:
        try:
            v = pink.solve_ik(at, [*tasks, posture], DT, solver='daqp', safety_break=False,
                              barriers=barriers)
            at.integrate_inplace(v, DT)
        except pink.exceptions.PinkError:
            return np.array(at.q), True
        return np.array(at.q), False
    return run(course, set_targets, step)


def minks(course: Course) -> Run:
    solver = Mink(course.urdf, course.frames, course.speeds, GAIN, POSTURE, course.pairs, MARGIN)
    solver.start(course.start)
    return run(course, solver.set_targets, lambda: solver.step(DT))


def placos(course: Course, python: str) -> Run:
    request = json.dumps({
        'urdf': str(course.urdf), 'tips': course.frames, 'free_base': False, 'dt': DT,
        'steps': STEPS, 'pairs': course.pairs, 'margin': MARGIN, 'speeds': course.speeds,
        'joints': {joint.name: (joint.lower, joint.upper) for joint in course.robot.joints},
        'start': course.start.tolist(),
        'targets': [[T.tolist() for T in targets] for targets in course.targets]})
    done = subprocess.run([python, CHILD], input=request + '\n', capture_output=True,
                          text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    return Run(np.array(found['path']), np.array(found['seconds']), found['raised'])


def judged(course: Course, done: Run) -> str:
    robot, judge = course.robot, Judge(course.robot)
    v = np.diff(done.path, axis=0, prepend=course.start[None]) / DT
    limits = np.array([joint.velocity_limit for joint in robot.joints])
    beyond = max(0.0, (robot.lower - done.path).max(), (done.path - robot.upper).max())
    faster = max(0.0, (np.abs(v) - limits).max())
    errors, turns = [], 0
    for i, targets in enumerate(course.targets):
        last = slice(i * STEPS + STEPS - 100, (i + 1) * STEPS)
        at = judge.set_joints(robot.to_joints(done.path[last.stop - 1]))
        errors += [np.linalg.norm(at.T(frame)[:3, 3] - T[:3, 3])
                   for frame, T in zip(course.frames, targets, strict=True)]
        # sign changes of joints that are not at rest
        moving = np.where(np.abs(v[last]) > REST, np.sign(v[last]), 0)
        turns += int((moving[1:] * moving[:-1] < 0).sum())
    nearest = (f'   nearest {course.world.nearest(done.path[::5]):7.4f} m, margin {MARGIN} m'
               if course.world else '')
    return (f'{1e6 * np.median(done.seconds):7.1f} {1e6 * done.seconds.mean():7.1f} us   '
            f'beyond limits {beyond:8.1e}  {faster:8.1e}   raised {done.raised:4d}   '
            f'error {np.median(errors):8.1e} m   turns/target {turns / len(course.targets):6.1f}'
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
        solvers['placo'] = lambda course: placos(course, options.placo_python)
    print('CPU time per step: median, mean; largest violation [rad, m], [rad/s, m/s]')
    for name in options.kinds:
        with tempfile.TemporaryDirectory() as folder:
            course = Course.of(KINDS[name], options.targets, np.random.default_rng(options.seed),
                              Path(folder), name == OBSTACLES)
            ours(replace(course, targets=course.targets[:1]))
            for solver, make_run in solvers.items():
                print(f'{name:24s} {solver:8s}{judged(course, make_run(course))}', flush=True)


if __name__ == '__main__':
    main()
