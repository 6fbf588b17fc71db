"""The velocity program: tasks, limits and barriers, bound to a robot once for many steps."""

from collections.abc import Collection, Iterable, Mapping, Sequence
import math
from types import MappingProxyType
from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, ArrayLike, FLOAT, Pose
from ros2_ik.core.checks import instance, instances, non_negative, positive, vector, vectors
from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.errors import IKError, InvalidOptionError, InvalidStateError, InvalidTargetError
from ros2_ik.core.kernels import velocity as kernel, velocity_rows as row
from ros2_ik.core.poses import as_transforms
from ros2_ik.core.problem.program import Program
from ros2_ik.core.problem.structure import ActiveJoints
from ros2_ik.core.robot import Configuration, Robot
from ros2_ik.core.velocity.bound_task import BoundTask, limbs
from ros2_ik.core.velocity.distance_constraints import (
    check_objects,
    DistanceConstraints,
    DistanceRows,
    NearPair,
)
from ros2_ik.core.velocity.limits import (
    Barrier,
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

DAMPING = 1e-9      # default weight of 1/2 |dq|^2
MAX_SEARCHES = 3    # maximum number of solves per step; a repeated solve has rows for more pairs
OWN_EXCESS = 1e-6   # tolerance above the violation that the driven joints alone cause [m]
_STATUS = {kernel.DONE: VelocityStatus.SOLVED, kernel.RELAXED: VelocityStatus.RELAXED,
           kernel.NOT_FINITE: VelocityStatus.NO_STEP, kernel.INTERRUPTED: VelocityStatus.NO_STEP}
_NO_INERTIA = np.zeros((0, 0))
_VALUES = slice(row.VALUE, row.TARGET + 1)  # of the table `rows`: values and targets
_RANGE = slice(row.MIN_STEP, row.MAX_STEP + 1)  # of the table `joints`: least and largest step


class VelocityProgram:
    """
    A controller that computes joint velocities for consecutive steps of `dt` [s].

    Each step solves one quadratic program per priority: minimize the cost of the tasks plus
    1/2 damping |dq|^2, subject to limits, barriers and tasks in `constraints`. If these conflict,
    the step still has a result. The order of precedence is: acceleration limits, velocity limits,
    position limits, barriers, tasks in `constraints` and scaled tasks, other tasks by priority.
    (Joints brake early enough for position limits: a joint is outside its limits only if it starts
    there, or initially moves towards a limit too fast.) A step that would still violate a barrier
    is halved, up to 8 times, regardless of acceleration limits.

    `limits` default to `ConfigurationLimit()` and `VelocityLimit()`; () means no limits.
    `kinetic_energy`, the weight of the energy 1/2 v^T M v, makes the motion prefer light links.
    `locked` joints and the SRDF's passive joints do not move. `driven` joints are moved by another
    controller: they keep the velocity passed to `reset`, and tasks and barriers account for their
    motion. The velocity of the last step is stored for acceleration limits; `reset` replaces it.
    A program must not be used by two threads at the same time.
    """

    def __init__(self, robot: Robot, tasks: Iterable[Task], dt: float, *,
                 limits: Iterable[JointLimit | CartesianVelocityLimit] | None = None,
                 barriers: Iterable[Barrier] = (), constraints: Iterable[Task] = (),
                 damping: float = DAMPING, kinetic_energy: float = 0.0,
                 locked: Collection[str] = (), driven: Collection[str] = ()) -> None:
        instance(robot, Robot, 'robot', InvalidOptionError)
        self.robot, self.dt = robot, positive(dt, 'dt', InvalidOptionError)
        self.damping = positive(damping, 'damping', InvalidOptionError)
        self.kinetic_energy = non_negative(kinetic_energy, 'kinetic_energy', InvalidOptionError)
        given = (ConfigurationLimit(), VelocityLimit()) if limits is None else tuple(limits)
        frames = [limit for limit in given if isinstance(limit, CartesianVelocityLimit)]
        bounded = self._bind_barriers(instances(barriers, Barrier, 'barriers', InvalidOptionError))
        soft, hard = (
            [task.bind(robot) for task in instances(some, Task, what, InvalidTargetError)]
            for what, some in (('tasks', tasks), ('constraints', constraints)))
        _check_names('tasks', [task.name for task in (*soft, *hard)], InvalidTargetError)
        functions = [*(task.function for task in (*soft, *hard)),
                     *(barrier.bounds.function for barrier in bounded),
                     *(limit.function.bind(robot) for limit in frames)]
        # all joints are active, because even locked joints may have new values in the q of a step
        self._program = Program(robot, functions, ActiveJoints(robot, robot.joint_names),
                                robot.neutral)
        self._rows = np.zeros((row.NUMBERS, self._program.size))
        self._bind_tasks(soft, hard)
        bounds = self._enter_bounds(bounded, frames)
        self._names = ProgramNames(
            tuple((one.name, one.row_slice) for one in self.tasks if one.task.target is not None),
            (*((task.name, task.row_slice) for task in self.tasks), *bounds),
            tuple(joint.name for joint in robot.joints for _ in range(joint.velocity_size)))
        # table of the joints: limits, and state kept between steps (see velocity_rows)
        self._joints = np.empty((row.COLUMN_NUMBERS, robot.nv))
        self._no_gaps = np.zeros((0, robot.nv + row.NUMBERS))
        self._options = np.array([self.dt, self.damping, 1.0])
        self._enter_limits(given)
        locked, driven = (instances(names, str, what, InvalidOptionError)
                          for what, names in (('locked', locked), ('driven', driven)))
        passive = robot.passive_joints & ({*robot.joint_names} - {*driven})
        self._lock_joints({*locked, *passive}, driven)
        self._step = kernel.velocity_step.run
        self._last_velocity = np.zeros(robot.nv)

    def _bind_barriers(self, barriers: Sequence[Barrier]) -> list[Barrier]:
        """Bind barriers to the robot; store distance constraints, and return other barriers."""
        _check_names('barriers', [barrier.name for barrier in barriers], InvalidOptionError)
        bound = [barrier.bind(self.robot, self.dt) for barrier in barriers]
        self._distances = [one for one in bound if isinstance(one, DistanceConstraints)]
        return [one for one in bound if isinstance(one, Barrier)]

    def _bind_tasks(self, soft: Sequence[Task], hard: Sequence[Task]) -> None:
        # the kind of a soft row is the rank of its task's priority (0, 1, 2 ...)
        ranks = {priority: rank for rank, priority
                 in enumerate(sorted({task.priority for task in soft}))}
        kinds = [*(row.SCALED if task.scaled else ranks[task.priority] for task in soft),
                 *(row.HARD for _ in hard)]
        self.tasks = [BoundTask(task, self._program, self._rows, number, kind, self.dt)
                      for number, (task, kind) in enumerate(zip([*soft, *hard], kinds,
                                                                strict=True))]
        self._without_target = {task.name for task in self.tasks if task.task.awaits_target}
        self._following = [task for task in self.tasks if task.task.follows_previous]
        # limbs (joints coupled by tasks) of each priority, then those of hard and scaled tasks
        levels = [[(task.function, task.row_slice)
                   for task, kind in zip(self.tasks, kinds, strict=True) if kind == level]
                  for level in range(max(len(ranks), 1))]
        levels.append([(task.function, task.row_slice)
                       for task, kind in zip(self.tasks, kinds, strict=True) if kind < 0])
        self._limbs, self._rows[row.LIMB] = limbs(self.robot, levels, self._program.size)

    def _enter_bounds(self, barriers: Sequence[Barrier],
                      frames: Sequence[CartesianVelocityLimit]) -> list[tuple[str, slice]]:
        """Write bounds of barriers and frame velocities to the table; return names and slices."""
        # LOWER, UPPER: bounds of barriers; MIN_RATE, MAX_RATE: bounds of frame velocities
        table, row_slices = self._rows, self._program.rows[len(self.tasks):]
        table[row.LOWER] = table[row.MIN_RATE] = -np.inf
        table[row.UPPER] = table[row.MAX_RATE] = np.inf
        for row_slice in row_slices:
            table[row.KIND, row_slice] = row.BOUNDED
        for barrier, row_slice in zip(barriers, row_slices, strict=False):
            table[row.LOWER, row_slice] = barrier.bounds.lower
            table[row.UPPER, row_slice] = barrier.bounds.upper
            table[row.GAIN, row_slice] = barrier.gain_in_step(self.dt)
            table[row.PUSH, row_slice] = barrier.push
        for limit, row_slice in zip(frames, row_slices[len(barriers):], strict=True):
            table[row.MIN_RATE, row_slice] = -limit.most
            table[row.MAX_RATE, row_slice] = limit.most
        names = [*(barrier.name for barrier in barriers),
                 *(f"velocity of '{limit.frame}'" for limit in frames)]
        return list(zip(names, row_slices, strict=True))

    def _enter_limits(self, limits: Sequence[JointLimit | CartesianVelocityLimit]) -> None:
        joints = self._joints
        # start without limits; then each limit fills its rows
        joints[:], joints[row.LOW] = np.inf, -np.inf
        joints[row.POSITION:] = 0.0
        for limit in limits:
            if isinstance(limit, JointLimit):
                limit.enter(self.robot, joints)
                # the smallest gain of all limits applies to all position limits
                self._options[2] = min(self._options[2], limit.gain)
            elif not isinstance(limit, CartesianVelocityLimit):
                raise InvalidOptionError(
                    f'unknown limit {limit!r}; valid: AccelerationLimit, CartesianVelocityLimit, '
                    'ConfigurationLimit, VelocityLimit; barriers go in barriers=')

    def _lock_joints(self, locked: Collection[str], driven: Collection[str]) -> None:
        for joint in map(self.robot.joint, locked):
            self._joints[row.SPEED, joint.columns] = 0.0
        # an acceleration limit of 0 keeps a driven joint at the velocity of the last step
        for joint in map(self.robot.joint, driven):
            if not self._joints[row.SPEED, joint.columns].all():
                raise InvalidOptionError(f"joint '{joint.name}' is driven, but also locked, by "
                                         'locked= or by a velocity limit of 0')
            self._joints[row.SPEED, joint.columns] = np.inf
            self._joints[row.ACCELERATION, joint.columns] = 0.0
            self._joints[row.LOW, joint.columns] = -np.inf
            self._joints[row.HIGH, joint.columns] = np.inf
        # factor from a step's displacement |dq| to the braking time |v| / a: 1 / (a dt), or 0 for
        # driven joints, and for joints without an acceleration limit, which can stop at once
        a = self._joints[row.ACCELERATION]
        self._braking_time_ratio = np.divide(1.0, a * self.dt, out=np.zeros(len(a)),
                                             where=(a > 0) & np.isfinite(a))

    # -- targets --------------------------------------------------------------------------

    def set_target(self, task: str, target: 'ArrayLike | None' = None,
                   velocity: 'ArrayLike | None' = None) -> None:
        """
        Replace the target or the velocity of a task, or both.

        The form of a target depends on the function: a pose for frame tasks, a rotation for
        orientations, joint values for postures, a point (3,) for gaze tasks, a direction (3,) for
        axis alignment, numbers (m,) for other functions. Raises InvalidTargetError for an unknown
        task, a wrong shape, numbers that are not finite, or a target for a task that has only a
        velocity; the task is then unchanged.
        """
        self._task(task).set_target(target, velocity)
        if target is not None:
            self._without_target.discard(task)

    def set_weight(self, task: str, weight: 'ArrayLike') -> None:
        """
        Replace the weight of a task: one number or one for each row (m,); 0 disables a row.

        Raises InvalidTargetError for an unknown task, a wrong shape, or numbers that are negative
        or not finite.
        """
        self._task(task).set_weight(weight)

    def set_gain(self, task: str, gain: float | None = None, *,
                 gain_per_second: float | None = None) -> None:
        """
        Replace the gain of a task: a fraction per step, or a rate [1/s]; see `Task`.

        Raises InvalidTargetError for an unknown task or a task without target, InvalidOptionError
        for an invalid gain.
        """
        self._task(task).set_gain(gain, gain_per_second)

    def _task(self, name: str) -> BoundTask:
        for task in self.tasks:
            if task.name == name:
                return task
        names = ', '.join(f"'{task.name}'" for task in self.tasks)
        raise InvalidTargetError(f'unknown task {name!r}; valid: {names}')

    def set_scene(self, checker: CollisionChecker,
                  velocities: Mapping[str, 'ArrayLike'] = MappingProxyType({}),
                  owned: bool = False) -> None:
        """
        Use another scene from the next step on, for all barriers of distances.

        `velocities` maps names of moving objects to velocities (3,) [m/s] in the root frame; the
        robot evades these objects. Tasks continue to use the scene with which they were made. With
        `owned`, `move_objects` moves objects in this checker itself, not in a copy.

        Raises UnknownObjectError, UnknownGeometryError and, for another robot's checker or without
        a barrier of distances, InvalidOptionError; the program is then unchanged.
        """
        moving = self._checked_velocities(velocities)
        if not (isinstance(checker, CollisionChecker) and checker.robot.key == self.robot.key):
            raise InvalidOptionError('checker must be a CollisionChecker of the same robot, not '
                                     f'{checker!r}')
        check_objects(moving, checker.scene)
        restricted = [distances.restrict(checker) for distances in self._distances]
        for distances, one in zip(self._distances, restricted, strict=True):
            distances.set_scene(one, moving, owned)

    def move_objects(self, poses: Mapping[str, Pose],
                     velocities: Mapping[str, 'ArrayLike'] = MappingProxyType({})) -> None:
        """
        Move world objects of the scene; much faster than `set_scene`.

        `poses` maps names to (4, 4) arrays or pinocchio.SE3 in the root frame; other objects stay.
        `velocities` and owned checkers: see `set_scene`. The first move copies other checkers.

        Raises UnknownObjectError, InvalidTargetError for a bad pose, and InvalidOptionError; no
        object has moved then.
        """
        moving, T = self._checked_velocities(velocities), as_transforms(poses, 'pose of object')
        for distances in self._distances:
            check_objects((*poses, *moving), distances.scene)
        for distances in self._distances:
            distances.move(tuple(poses), T, moving)

    def _checked_velocities(self, velocities: Mapping[str, 'ArrayLike']
                            ) -> dict[str, list[float]]:
        if not self._distances:
            raise InvalidOptionError('the program has no CollisionBarrier')
        rows = vectors(velocities, 'velocity of', 3, InvalidOptionError)
        return dict(zip(velocities, rows.tolist(), strict=True))

    # -- steps ----------------------------------------------------------------------------

    def reset(self, velocity: 'ArrayLike | None' = None) -> None:
        """
        Set the velocity (nv,) at the start of the next step, by default 0.

        A call without `velocity` also clears the damping of joints that oscillated.
        """
        if velocity is None:
            self._joints[row.OSCILLATION_DAMPING] = 0.0
        self._last_velocity = np.zeros(self.robot.nv) if velocity is None else vector(
            velocity, 'velocity', self.robot.nv, InvalidStateError)

    def step(self, q: Array) -> VelocityResult:
        """
        Compute the velocity at the configuration q (nq,), and the configuration after the step.

        Raises InvalidStateError for a q that is not finite or of the wrong length,
        InvalidTargetError for a task without target, and the errors of `UserFunction`s; for other
        failures, see the status of the result.
        """
        if self._without_target:
            raise InvalidTargetError(f"task '{min(self._without_target)}' has no target yet; call "
                                     'set_target before the first step')
        q = self._prepare(q)
        found = self._solve_with_distances(q) if self._distances else self._solve(q, [])
        self._last_velocity = v = found.step / self.dt
        return VelocityResult(v, found.q, _STATUS[found.code], found.scale, self._names, found)

    def _prepare(self, q: Array) -> Array:
        """Write the last velocity to the tables; return q, checked and normalized."""
        # a valid array, the usual case, skips the slower check of arbitrary input
        if not (type(q) is np.ndarray and q.dtype is FLOAT and q.shape == (self.robot.nq,)
                and math.isfinite(q.dot(q))):
            q = vector(q, 'q', self.robot.nq, InvalidStateError)
        # normalizes quaternions
        if self.robot.floating_joints:
            q = self.robot.to_q(q)
        self._joints[row.LAST_VELOCITY] = self._last_velocity
        for task in self._following:
            task.follow(self._last_velocity)
        return q

    def _solve(self, q: Array, near: Sequence[DistanceRows]) -> StepNumbers:
        gaps = near[0].rows if near else self._no_gaps
        if len(near) > 1:
            gaps = np.vstack([each.rows for each in near])
        # the compiled step moves x to the end of the step; it fills rows, joints, step, violations
        x, step = q.copy(), np.empty(self.robot.nv)
        violations = np.empty(self._program.size + len(gaps) + len(row.LIMITS))
        given = (x, self._limbs, self._rows, gaps, self._joints, self._options, self._inertia(q),
                 step, violations)
        # a direct call saves 5 % of a step
        code, scale = (self._step(*self._program.arrays, *given) if self._program.is_compiled
                       else self._program.run(self._run_step, None, *given))
        return StepNumbers(code, scale, x, step, self._rows[_VALUES].copy(),
                           self._joints[_RANGE].copy(), violations, tuple(near))

    def _run_step(self, arrays: tuple[Array, ...], *given: Any) -> Any:
        return self._step(*arrays, *given)

    def _inertia(self, q: Array) -> Array:
        """Return the weighted mass matrix (nv, nv), or an empty one if the weight is 0."""
        if self.kinetic_energy == 0:
            return _NO_INERTIA
        # not Convention.LOCAL: with mimic joints, pinocchio 4.1 would add to M's old content
        M = pin.crba(self.robot.model, self.robot.scratch_data(), q, pin.Convention.WORLD)
        # crba fills the upper triangle only
        whole: Array = self.kinetic_energy * (np.triu(M) + np.triu(M, 1).T)
        return whole

    def _solve_with_distances(self, q: Array) -> StepNumbers:
        """Solve a step with rows for pairs that the step may bring near each other."""
        # solve again with more rows while the step approaches pairs that have no row
        near = [distances.rows_at_start(q) for distances in self._distances]
        for _ in range(MAX_SEARCHES):
            found = self._solve(q, near)
            braking_time = float((np.abs(found.step) * self._braking_time_ratio).max())
            changed = [each.rows_for_step(found.q, braking_time) for each in self._distances]
            if all(each is None for each in changed):
                break
            near = [old if new is None else new for old, new in zip(near, changed, strict=True)]
        # Rows are linear and refer to the nearest points of a pair. As paths are curved, and other
        # points may approach, distances may be smaller than predicted; if so, halve the step.
        # (Measured without halving: arms came as near as 4 mm with a margin of 10 mm.)
        driven = self._joints[row.ACCELERATION] == 0
        excess, allowed = self._excess_at(found.q), (0.0,) * len(self._distances)
        if any(excess):
            # an excess that the driven joints cause alone is allowed: stopping the other joints
            # would not reduce it
            alone = pin.integrate(self.robot.model, q, np.where(driven, found.step, 0.0))
            allowed = tuple([by and by + OWN_EXCESS for by in self._excess_at(alone)])
            excess = self._excess_at(found.q)
        halvings = 0
        while halvings < kernel.HALVINGS and any(
                by > most for by, most in zip(excess, allowed, strict=True)):
            # driven joints keep their velocity
            step = np.where(driven, 1.0, 0.5) * found.step
            found = found._replace(step=step, scale=0.5 * found.scale,
                                   q=np.array(pin.integrate(self.robot.model, q, step)))
            excess, halvings = self._excess_at(found.q), halvings + 1
        # a halved step may exceed acceleration limits and miss hard tasks
        is_relaxed = found.code == kernel.DONE and (halvings or any(excess))
        return found._replace(code=kernel.RELAXED if is_relaxed else found.code, excess=excess)

    def _excess_at(self, end: Array) -> tuple[float, ...]:
        """Return the violation [m] of each barrier of distances at `end` (nq,) of a step."""
        return tuple([distances.excess_at(end) for distances in self._distances])

    def near_pairs(self, within: float) -> list[NearPair]:
        """Return pairs of the last step with distance - margin < `within` [m], nearest first."""
        found = [pair for distances in self._distances for pair in distances.near_pairs(within)]
        return sorted(found, key=lambda pair: pair.gap)


def _check_names(what: str, names: Sequence[str], fault: type[IKError]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise fault(f"{names.count(name)} {what} have the name '{name}'; set others by name=")


def solve_velocity(configuration: Configuration, tasks: Iterable[Task], dt: float,
                   **options: Any) -> VelocityResult:
    """Return one step of a new `VelocityProgram`; a loop should keep one program instead."""
    instance(configuration, Configuration, 'configuration', InvalidStateError)
    return VelocityProgram(configuration.robot, tasks, dt, **options).step(configuration.q)
