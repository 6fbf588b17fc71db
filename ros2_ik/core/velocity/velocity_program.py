"""Tasks, limits and barriers of a robot, bound once for a loop of steps."""

from collections.abc import Collection, Iterable, Mapping, Sequence
import math
from types import MappingProxyType
from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, ArrayLike, Pose
from ros2_ik.core.checks import non_negative, positive, vector
from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.errors import IKError, InvalidOptionError, InvalidStateError, InvalidTargetError
from ros2_ik.core.kernels import velocity as kernel, velocity_rows as row
from ros2_ik.core.poses import as_transform
from ros2_ik.core.problem.program import Program
from ros2_ik.core.problem.structure import ActiveJoints
from ros2_ik.core.robot import Configuration, Robot
from ros2_ik.core.velocity.barrier import Barrier
from ros2_ik.core.velocity.bound_task import BoundTask
from ros2_ik.core.velocity.distance_constraints import DistanceConstraints, DistanceRows, NearPair
from ros2_ik.core.velocity.limbs import limbs
from ros2_ik.core.velocity.limits import (
    CartesianVelocityLimit,
    ConfigurationLimit,
    JointLimit,
    VelocityLimit,
)
from ros2_ik.core.velocity.task import Task
from ros2_ik.core.velocity.velocity_result import (
    ProgramNames,
    StepNumbers,
    VelocityResult,
    VelocityStatus,
)

DAMPING = 1e-9
LOOKS = 3       # searches for near pairs in a step, while it goes further than the last one
_STATUS = {kernel.DONE: VelocityStatus.SOLVED, kernel.RELAXED: VelocityStatus.RELAXED,
           kernel.NOT_FINITE: VelocityStatus.NO_STEP, kernel.INTERRUPTED: VelocityStatus.NO_STEP}
_FLOAT = np.dtype(np.float64)
_NO_INERTIA = np.zeros((0, 0))
_READ = slice(row.VALUE, row.TARGET + 1)    # rows that a result reads
_ENDS = slice(row.LEAST, row.MOST + 1)


class VelocityProgram:
    """
    Tasks under limits and barriers, for one step of `dt` [s] after the other.

    Each step solves, for each priority, one quadratic program: min sum of tasks + damping |dq|^2
    under the joints' box and the rows that must hold. There is always a step. Where not all can
    hold, what is kept longest comes first here: velocity limits, acceleration limits, position
    limits, gaps and barriers, tasks in `constraints`, tasks by their priority. (Joints brake in
    time: position limits yield only to a start outside of them, or too fast towards them.) A step
    that would still cross a gap or a barrier is halved, whatever the acceleration.

    `limits` default to `ConfigurationLimit()` and `VelocityLimit()`; () is none. Tasks in
    `constraints` must hold as far as that goes. `kinetic_energy` is a weight of 1/2 v^T M v, so
    that light links move rather than heavy ones. `locked` joints and the SRDF's passive ones do
    not move. `driven` joints are moved by something else: they keep the velocity given to `reset`,
    which all the rest takes into account. The velocity of the last step is kept, for
    accelerations; `reset` forgets it. One thread uses a program at a time.
    """

    def __init__(self, robot: Robot, tasks: Iterable[Task], dt: float, *,
                 limits: Iterable[JointLimit | CartesianVelocityLimit] | None = None,
                 barriers: Iterable[Barrier] = (), constraints: Iterable[Task] = (),
                 damping: float = DAMPING, kinetic_energy: float = 0.0,
                 locked: Collection[str] = (), driven: Collection[str] = ()) -> None:
        self.robot, self.dt = robot, positive(dt, 'dt', InvalidOptionError)
        self.damping = positive(damping, 'damping', InvalidOptionError)
        self.kinetic_energy = non_negative(kinetic_energy, 'kinetic_energy', InvalidOptionError)
        given = (ConfigurationLimit(), VelocityLimit()) if limits is None else tuple(limits)
        frames = [limit for limit in given if isinstance(limit, CartesianVelocityLimit)]
        bounded = self._bind_barriers(tuple(barriers))
        soft, hard = ([task.bind(robot) for task in some] for some in (tasks, constraints))
        _check_names('tasks', [task.name for task in (*soft, *hard)], InvalidTargetError)
        functions = [*(task.function for task in (*soft, *hard)),
                     *(barrier.bounds.function for barrier in bounded),
                     *(limit.function.bind(robot) for limit in frames)]
        # all joints are in the program, as those that are held may be anywhere
        self._program = Program(robot, functions, ActiveJoints(robot, robot.joint_names),
                                robot.neutral)
        self._rows = np.zeros((row.NUMBERS, self._program.size))
        self._bind_tasks(soft, hard)
        bounds = self._enter_bounds(bounded, frames)
        self._names = ProgramNames(
            tuple((task.name, task.place) for task in self.tasks if task.task.target is not None),
            (*((task.name, task.place) for task in self.tasks), *bounds),
            tuple(distances.name for distances in self._distances),
            tuple(joint.name for joint in robot.joints for _ in range(joint.velocity_size)))
        self._box = np.empty((row.COLUMN_NUMBERS, robot.nv))
        self._no_gaps = np.zeros((0, robot.nv + row.GAP_NUMBERS))
        self._options = np.array([self.dt, self.damping, 1.0])
        self._enter_limits(given)
        self._hold_joints({*locked, *(robot.passive_joints & {*robot.joint_names})}, driven)
        self._step = kernel.velocity_step.run
        self._before = np.zeros(robot.nv)

    def _bind_barriers(self, barriers: Sequence[Barrier]) -> list[Barrier]:
        """Bind the barriers; return those that limit rows of functions."""
        for barrier in barriers:
            if not isinstance(barrier, Barrier):
                raise InvalidOptionError(f'unknown barrier {barrier!r}; valid: Barrier, '
                                         'CollisionBarrier')
        _check_names('barriers', [barrier.name for barrier in barriers], InvalidOptionError)
        bound = [one for barrier in barriers for one in barrier.bind(self.robot, self.dt)]
        self._distances = [one for one in bound if isinstance(one, DistanceConstraints)]
        return [one for one in bound if isinstance(one, Barrier)]

    def _bind_tasks(self, soft: Sequence[Task], hard: Sequence[Task]) -> None:
        ranks = {priority: rank for rank, priority
                 in enumerate(sorted({task.priority for task in soft}))}
        kinds = [*(row.SCALED if task.scaled else ranks[task.priority] for task in soft),
                 *(row.HARD for _ in hard)]
        self.tasks = [BoundTask(task, self._program, self._rows, number, kind, self.dt)
                      for number, (task, kind) in enumerate(zip([*soft, *hard], kinds,
                                                                strict=True))]
        self._following = [task for task in self.tasks if task.task.follows_previous]
        levels = [[(task.function, task.place)
                   for task, kind in zip(self.tasks, kinds, strict=True) if kind == level]
                  for level in range(max(len(ranks), 1))]
        levels.append([(task.function, task.place)
                       for task, kind in zip(self.tasks, kinds, strict=True) if kind < 0])
        self._limbs, self._rows[row.LIMB] = limbs(self.robot, levels, self._program.size)

    def _enter_bounds(self, barriers: Sequence[Barrier],
                      frames: Sequence[CartesianVelocityLimit]) -> list[tuple[str, slice]]:
        """Enter barriers of functions and limits of frames; return their names and rows."""
        numbers, places = self._rows, self._program.rows[len(self.tasks):]
        numbers[row.LOWER] = numbers[row.SLOWEST] = -np.inf
        numbers[row.UPPER] = numbers[row.FASTEST] = np.inf
        for place in places:
            numbers[row.KIND, place] = row.BOUNDED
        for barrier, place in zip(barriers, places, strict=False):
            numbers[row.LOWER, place] = barrier.bounds.lower
            numbers[row.UPPER, place] = barrier.bounds.upper
            numbers[row.SHARE, place] = barrier.gain.in_step(self.dt)
            numbers[row.PUSH, place] = barrier.push
        for limit, place in zip(frames, places[len(barriers):], strict=True):
            numbers[row.SLOWEST, place] = -limit.most
            numbers[row.FASTEST, place] = limit.most
        names = [*(barrier.name for barrier in barriers),
                 *(f"velocity of '{limit.frame}'" for limit in frames)]
        return list(zip(names, places, strict=True))

    def _enter_limits(self, limits: Sequence[JointLimit | CartesianVelocityLimit]) -> None:
        box = self._box
        box[:], box[row.LOW] = np.inf, -np.inf
        box[row.POSITION:] = 0.0
        for limit in limits:
            if isinstance(limit, JointLimit):
                limit.enter(self.robot, box)
                self._options[2] = min(self._options[2], limit.gain)
            elif not isinstance(limit, CartesianVelocityLimit):
                raise InvalidOptionError(
                    f'unknown limit {limit!r}; valid: AccelerationLimit, CartesianVelocityLimit, '
                    'ConfigurationLimit, VelocityLimit; barriers go in barriers=')

    def _hold_joints(self, locked: Collection[str], driven: Collection[str]) -> None:
        for joint in map(self.robot.joint, locked):
            self._box[row.SPEED, joint.columns] = 0.0
        for joint in map(self.robot.joint, driven):
            self._box[row.SPEED, joint.columns] = np.inf
            self._box[row.ACCELERATION, joint.columns] = 0.0
            self._box[row.LOW, joint.columns] = -np.inf
            self._box[row.HIGH, joint.columns] = np.inf
        a = self._box[row.ACCELERATION]
        # a joint without a limit of acceleration rests at once, a driven one never brakes
        self._rest = np.divide(1.0, a * self.dt, out=np.zeros(len(a)),
                               where=(a > 0) & np.isfinite(a))

    # -- targets --------------------------------------------------------------------------

    def set_target(self, task: str, target: 'ArrayLike | None' = None,
                   velocity: 'ArrayLike | None' = None) -> None:
        """
        Replace the target or the velocity of a task, or both.

        The target of a pose is a pose, of an orientation a rotation, of a posture joint values,
        of what looks at a point another point, of what points along a direction another one, of
        all else numbers (m,). Raises InvalidTargetError for a wrong name or shape, what is not
        finite, or a target of a task that has none; the task then keeps its target.
        """
        self._task(task).set_target(target, velocity)

    def set_weight(self, task: str, weight: 'ArrayLike') -> None:
        """
        Replace the weight of a task by name: a number or one for each row; 0 is none.

        Raises InvalidTargetError for a wrong name or shape, or what is negative or not finite.
        """
        self._task(task).set_weight(weight)

    def set_gain(self, task: str, gain: float = 1.0, *,
                 gain_per_second: float | None = None) -> None:
        """
        Replace the gain of a task by a part for each step or by a rate.

        Raises InvalidTargetError for a wrong name or a task without target, InvalidOptionError.
        """
        self._task(task).set_gain(gain, gain_per_second)

    def _task(self, name: str) -> BoundTask:
        for task in self.tasks:
            if task.name == name:
                return task
        names = ', '.join(f"'{task.name}'" for task in self.tasks)
        raise InvalidTargetError(f'unknown task {name!r}; valid: {names}')

    def set_scene(self, checker: CollisionChecker,
                  velocities: Mapping[str, 'ArrayLike'] = MappingProxyType({})) -> None:
        """
        Use another scene from now on, in which objects move with `velocities`, by name.

        Each (3,) [m/s] in the root frame: such a gap closes by itself, and the arm gives way.
        All barriers of distances use it; tasks and upper bounds of distances stay with the scene
        they were made with. Raises InvalidOptionError where the program has no such barrier.
        """
        self._check_moves(velocities)
        for distances in self._distances:
            distances.set_scene(checker, velocities)

    def move_objects(self, poses: Mapping[str, Pose],
                     velocities: Mapping[str, 'ArrayLike'] = MappingProxyType({})) -> None:
        """
        Put objects of the scene at other `poses`, by name, in much less time than `set_scene`.

        Each (4, 4) or SE3 in the root frame, for an object in the world; the others stay.
        `velocities` as for `set_scene`. The checker that was given stays as it is.

        Raises UnknownObjectError, InvalidTargetError for a bad pose, and InvalidOptionError.
        """
        self._check_moves(velocities)
        T = {name: as_transform(pose, f"pose of object '{name}'") for name, pose in poses.items()}
        for distances in self._distances:
            distances.move(T, velocities)

    def _check_moves(self, velocities: Mapping[str, 'ArrayLike']) -> None:
        if not self._distances:
            raise InvalidOptionError('the program has no CollisionBarrier')
        for name, velocity in velocities.items():
            vector(velocity, f"velocity of '{name}'", 3, InvalidOptionError)

    # -- steps ----------------------------------------------------------------------------

    def reset(self, velocity: 'ArrayLike | None' = None) -> None:
        """
        Set the velocity (nv,) that the next step begins with, by default rest.

        Without one, joints that swung are not damped any more.
        """
        if velocity is None:
            self._box[row.SWING] = 0.0
        self._before = np.zeros(self.robot.nv) if velocity is None else vector(
            velocity, 'velocity', self.robot.nv, InvalidStateError)

    def step(self, q: Array) -> VelocityResult:
        """
        Find the velocity at q (nq,).

        Raises InvalidStateError for a q that is not finite or of the wrong length, and what a
        `UserFunction` raises; all else is a status of the result.
        """
        q = self._begin(q)
        found = self._solve_apart(q) if self._distances else self._solve(q, [])
        self._before = v = found.step / self.dt
        return VelocityResult(v, found.q, _STATUS[found.code], found.scale, self._names, found)

    def _begin(self, q: Array) -> Array:
        """Enter the velocity of the last step; return q checked and normalized."""
        if not (type(q) is np.ndarray and q.dtype is _FLOAT and q.shape == (self.robot.nq,)
                and math.isfinite(q.dot(q))):
            q = vector(q, 'q', self.robot.nq, InvalidStateError)
        if self.robot.has_floating_joints:
            q = self.robot.to_q(q)      # with quaternions of length one
        self._box[row.BEFORE] = self._before
        for task in self._following:
            task.follow(self._before)
        return q

    def _stacked(self, near: Sequence[DistanceRows]) -> Array:
        if len(near) == 1:
            return near[0].rows
        return np.vstack([each.rows for each in near]) if near else self._no_gaps

    def _solve(self, q: Array, near: Sequence[DistanceRows]) -> StepNumbers:
        gaps, x, step = self._stacked(near), q.copy(), np.empty(self.robot.nv)
        missed = np.empty(self._program.size + len(gaps) + len(row.LIMITS))
        code, scale = self._program.run(
            self._step, None, x, self._limbs, self._rows, gaps, self._box, self._options,
            self._inertia(q), step, missed)
        return StepNumbers(code, scale, x, step, self._rows[_READ].copy(),
                           self._box[_ENDS].copy(), missed, tuple(near))

    def _inertia(self, q: Array) -> Array:
        """Return the weighted mass matrix, (nv, nv), or (0, 0)."""
        if self.kinetic_energy == 0:
            return _NO_INERTIA
        # LOCAL adds to what was there before where joints mimic others (pinocchio 4.1)
        M = pin.crba(self.robot.model, self.robot.scratch_data(), q, pin.Convention.WORLD)
        # of M only the upper half is filled
        whole: Array = self.kinetic_energy * (np.triu(M) + np.triu(M, 1).T)
        return whole

    def _solve_apart(self, q: Array) -> StepNumbers:
        """Solve with the rows of all pairs that the step can reach."""
        near = [distances.near(q) for distances in self._distances]
        for _ in range(LOOKS):
            found = self._solve(q, near)
            stop = float((np.abs(found.step) * self._rest).max())    # time to come to rest [s]
            again = [distances.nearer(found.q, stop) for distances in self._distances]
            if all(each is None for each in again):
                break
            near = [old if new is None else new for old, new in zip(near, again, strict=True)]
        # where one corner is kept, another may come down, and a curved path leads nearer than rows
        # say (without this arms came to 4 mm where 10 were asked for)
        for turn in range(kernel.HALVINGS + 1):
            excess = tuple([distances.excess_at(found.q) for distances in self._distances])
            if turn == kernel.HALVINGS or not any(excess):
                break
            step = 0.5 * found.step
            found = found._replace(step=step, scale=0.5 * found.scale,
                                   q=np.array(pin.integrate(self.robot.model, q, step)))
        for distances in self._distances:
            distances.commit()
        code = kernel.RELAXED if any(excess) and found.code == kernel.DONE else found.code
        return found._replace(code=code, excess=excess)

    def near_pairs(self, within: float) -> list[NearPair]:
        """Return the pairs that were `within` [m] of their margins, nearest first."""
        found = [pair for distances in self._distances for pair in distances.near_pairs(within)]
        return sorted(found, key=lambda pair: pair.gap)


def _check_names(what: str, names: Sequence[str], fault: type[IKError]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise fault(f"{names.count(name)} {what} have the name '{name}'; give others by name=")


def solve_velocity(configuration: Configuration, tasks: Iterable[Task], dt: float,
                   **options: Any) -> VelocityResult:
    """Return one step of a `VelocityProgram`, which a loop makes once instead."""
    return VelocityProgram(configuration.robot, tasks, dt, **options).step(configuration.q)
