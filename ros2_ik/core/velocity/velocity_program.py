"""Tasks, limits and barriers of a robot, bound once for a loop of steps."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
import math
from types import MappingProxyType
from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.checks import finite, floats, positive, vector
from ros2_ik.core.errors import IKError, InvalidOptionError, InvalidStateError, InvalidTargetError
from ros2_ik.core.functions import FramePose
from ros2_ik.core.functions.joint_positions import BoundJoints
from ros2_ik.core.functions.placement import as_placement
from ros2_ik.core.kernels import velocity as kernel, velocity_rows
from ros2_ik.core.problem.active_joints import active_joints
from ros2_ik.core.problem.constraint import spread
from ros2_ik.core.problem.program import Program
from ros2_ik.core.robot import Robot
from ros2_ik.core.robot.tree import twelve
from ros2_ik.core.scene import CollisionChecker
from ros2_ik.core.velocity.barrier import Barrier, CollisionBarrier
from ros2_ik.core.velocity.gain import Gain
from ros2_ik.core.velocity.gaps import Gaps, MissedRows, NearPair, NUMBERS
from ros2_ik.core.velocity.limbs import limbs
from ros2_ik.core.velocity.limits import (
    CartesianVelocityLimit,
    ConfigurationLimit,
    JointLimit,
    VelocityLimit,
)
from ros2_ik.core.velocity.task import checked_weight, Task
from ros2_ik.core.velocity.velocity_qp import VelocityQP
from ros2_ik.core.velocity.velocity_result import VelocityResult, VelocityStatus

DAMPING = 1e-9
LOOKS = 3       # at what is near, as long as a step goes further than the last look
TOUCHES = 4     # times that points which a step leads into are added to those near before it
# as they are told, after gaps
LIMITS = [MissedRows(f'{what} limits', 1) for what in ('acceleration', 'velocity', 'position')]
_STATUS = {kernel.DONE: VelocityStatus.SOLVED, kernel.RELAXED: VelocityStatus.RELAXED,
           kernel.NOT_FINITE: VelocityStatus.NO_STEP, kernel.INTERRUPTED: VelocityStatus.NO_STEP}


class VelocityProgram:
    """
    Tasks under limits and barriers, for one step of `dt` [s] after the other.

    Each step solves, for each priority, one quadratic program: min sum of tasks + damping |dq|^2
    under the joints' box and the rows that must hold. There is always a step: of what contradicts
    the rest, the last of these yields first: velocity limits, gaps and barriers, acceleration
    limits, position limits, tasks in `constraints`, tasks by their priority. (Joints brake in
    time: position limits yield only to a start outside of them, or too fast towards them.) After
    the step barriers are looked at again, and it is halved where it would cross one.

    `limits` default to `ConfigurationLimit()` and `VelocityLimit()`; () is none. Tasks in
    `constraints` must hold as far as that goes. `kinetic_energy` is a weight of 1/2 v^T M v, so
    that light links move rather than heavy ones. `locked` joints and the SRDF's passive ones do
    not move. `driven` joints are moved by something else: they keep the velocity given to `reset`,
    which all the rest takes into account. `safe_velocity` is what barriers with a
    `safe_displacement_gain` hold to near bounds, by default rest; `set_safe_velocity` changes it.
    It remembers the velocity of its last step, for accelerations; `reset` forgets it. One thread
    uses it at a time.
    """

    def __init__(self, robot: Robot, tasks: Iterable[Task], dt: float, *,
                 limits: Iterable[Any] | None = None,
                 barriers: Iterable[Barrier | CollisionBarrier] = (),
                 constraints: Iterable[Task] = (), damping: float = DAMPING,
                 kinetic_energy: float = 0.0, locked: Collection[str] = (),
                 driven: Collection[str] = (), safe_velocity: Any = None) -> None:
        self.robot, self.dt = robot, positive(dt, 'dt', InvalidOptionError)
        self.damping = positive(damping, 'damping', InvalidOptionError)
        self.kinetic_energy = finite(kinetic_energy, 'kinetic_energy', InvalidOptionError)
        if self.kinetic_energy < 0:
            raise InvalidOptionError(f'kinetic_energy must be from 0 on, not {kinetic_energy!r}')
        # all are in the program, as those that stay may stand anywhere
        self.active = active_joints(robot, robot.joint_names)
        given = (ConfigurationLimit(), VelocityLimit()) if limits is None else tuple(limits)
        frames = [limit for limit in given if isinstance(limit, CartesianVelocityLimit)]
        every = tuple(barriers)
        for barrier in every:
            if not isinstance(barrier, Barrier | CollisionBarrier):
                raise InvalidOptionError(f'unknown barrier {barrier!r}; valid: Barrier, '
                                         'CollisionBarrier')
        _check_names('barriers', [barrier.name for barrier in every], InvalidOptionError)
        bound = [barrier.bind(robot, self.dt) for barrier in every]
        self._gaps = [gaps for gaps, _ in bound if gaps is not None]
        self._barriers = [barrier for _, barrier in bound if barrier is not None]
        soft, hard = ([task.bind(robot) for task in some] for some in (tasks, constraints))
        self._tasks, self._first_hard = [*soft, *hard], len(soft)
        _check_names('tasks', [task.name for task in self._tasks], InvalidTargetError)
        functions = [*(task.function for task in self._tasks),
                     *(barrier.bounds.function for barrier in self._barriers),
                     *(limit.function for limit in frames)]
        self._program = Program(robot, functions, self.active, robot.neutral)
        numbers, layout, parameters, addresses = self._program.arrays
        # the functions' own stay as they are
        self._program.arrays = numbers, layout, parameters.copy(), addresses
        m, n = self._program.size, len(self.active.columns)
        self._kinds = np.full(m, velocity_rows.UNUSED, dtype=np.int64)
        self._rows = np.zeros((velocity_rows.NUMBERS, m))
        self._rows[velocity_rows.LOWER], self._rows[velocity_rows.SLOWEST] = -np.inf, -np.inf
        self._rows[velocity_rows.UPPER], self._rows[velocity_rows.FASTEST] = np.inf, np.inf
        ranks = sorted({task.priority for task in soft})
        self._ranks = {priority: rank for rank, priority in enumerate(ranks)}
        places = iter(self._program.rows)
        self.placed_tasks = [(task, next(places)) for task in self._tasks]
        for number, (task, place) in enumerate(self.placed_tasks):
            self._enter_task(task, place, number)
        placed = [(task.function, place) for task, place in self.placed_tasks]
        firm = [number >= self._first_hard or task.scaled
                for number, task in enumerate(self._tasks)]
        self._limbs, rows = limbs(robot, [
            *([one for one, task, is_firm in zip(placed, self._tasks, firm, strict=True)
               if not is_firm and task.priority == rank] for rank in ranks or [0]),
            [one for one, is_firm in zip(placed, firm, strict=True) if is_firm]], m)
        self._rows[velocity_rows.LIMB] = rows
        self._placed_barriers = [(barrier.name, next(places)) for barrier in self._barriers]
        for barrier, (_, place) in zip(self._barriers, self._placed_barriers, strict=True):
            self._kinds[place] = velocity_rows.BOUNDED
            self._rows[velocity_rows.LOWER, place] = barrier.bounds.lower
            self._rows[velocity_rows.UPPER, place] = barrier.bounds.upper
            self._rows[velocity_rows.SHARE, place] = barrier.gain.in_step(self.dt)
            self._rows[velocity_rows.PUSH, place] = barrier.push
            self._rows[velocity_rows.CARE, place] = barrier.care.gain
            self._rows[velocity_rows.WITHIN, place] = barrier.care.within
        for limit in frames:
            place = next(places)
            self._placed_barriers.append((f"velocity of '{limit.frame}'", place))
            self._kinds[place] = velocity_rows.BOUNDED
            self._rows[velocity_rows.SLOWEST, place] = -limit.most
            self._rows[velocity_rows.FASTEST, place] = limit.most
        self._box, self._no_gaps = np.empty((8, n)), np.zeros((0, n + NUMBERS))
        self._options = np.array([self.dt, self.damping, 1.0])
        self._enter_limits(given)
        still = {*locked, *(robot.passive_joints & {*robot.joint_names})}
        for joint in map(robot.joint, still):
            self._box[velocity_rows.SPEED, joint.velocity_index:][:joint.velocity_size] = 0.0
        for joint in map(robot.joint, driven):
            columns = slice(joint.velocity_index, joint.velocity_index + joint.velocity_size)
            self._box[velocity_rows.SPEED, columns] = np.inf
            self._box[velocity_rows.ACCELERATION, columns] = 0.0
            self._box[velocity_rows.LOW, columns] = -np.inf
            self._box[velocity_rows.HIGH, columns] = np.inf
        a = self._box[velocity_rows.ACCELERATION]
        # what may not accelerate, or as it likes, never has to come to rest
        self._rest = np.divide(1.0, a * self.dt, out=np.zeros(n), where=(a > 0) & np.isfinite(a))
        self._previous = [(place, self._linear(task)) for task, place in self.placed_tasks
                          if task.follows_previous]
        self._step = kernel.velocity_step.run
        # what is not finite of tasks that are left out, and the kinds of their rows
        self._dropped = dict[str, set[str]]()
        self._left_out = dict[str, Indices]()
        self._before = np.zeros(n)
        self.set_safe_velocity(safe_velocity)

    def _enter_task(self, task: Task, place: slice, number: int) -> None:
        rows, has_target = self._rows, task.target is not None
        rows[velocity_rows.TARGET, place] = task.target if has_target else 0.0
        rows[velocity_rows.RATE, place] = task.velocity
        rows[velocity_rows.SHARE, place] = task.gain.in_step(self.dt) if has_target else 0.0
        rows[velocity_rows.DAMPING, place] = task.lm_damping
        self._kinds[place] = self._enter_weight(number, task, place, task.weight)

    def _enter_weight(self, number: int, task: Task, place: slice, weight: Array) -> Indices:
        """Enter weights of a task's rows, and return of which kind these are then."""
        # without a target velocities are compared, not ways
        self._rows[velocity_rows.WEIGHT, place] = weight / (
            1.0 if task.target is not None else self.dt ** 2)
        if number >= self._first_hard:
            return np.where(weight > 0, velocity_rows.HARD, velocity_rows.UNUSED)
        if task.scaled:
            return np.where(weight > 0, velocity_rows.SCALED, velocity_rows.UNUSED)
        return np.full(weight.shape, self._ranks[task.priority])

    def _linear(self, task: Task) -> Array:
        """Return the Jacobian of a task that follows the velocity before, (m, n)."""
        if not isinstance(task.function, BoundJoints):
            raise InvalidTargetError(f"velocity 'previous' is for joints, not for {task.name}")
        jacobian: Array = task.function.A
        return jacobian

    def _enter_limits(self, limits: Sequence[Any]) -> None:
        box = self._box
        box[:] = np.inf
        box[velocity_rows.LOW] = -np.inf
        box[[velocity_rows.BEFORE, velocity_rows.BEND, velocity_rows.SAFE,
             velocity_rows.SWING]] = 0.0
        for limit in limits:
            if isinstance(limit, JointLimit):
                limit.enter(self.robot, box)
                self._options[2] = min(self._options[2], limit.gain)
            elif isinstance(limit, Barrier | CollisionBarrier):
                raise InvalidOptionError(f'{limit!r} is no limit: give it in barriers=')
            elif not isinstance(limit, CartesianVelocityLimit):
                valid = [one.__name__ for one in (*JointLimit.__subclasses__(),
                                                  CartesianVelocityLimit)]
                raise InvalidOptionError(f'unknown limit {limit!r}; valid: {", ".join(valid)}')

    # -- targets --------------------------------------------------------------------------

    def set_target(self, task: str, target: Any = None, velocity: Any = None) -> None:
        """
        Give a task, told by its name, another target or velocity, or both.

        The target of a pose is a pose, of an orientation a rotation, of a posture joint values,
        of what looks at a point another point, of what points along a direction another one, of
        all else numbers (m,). What is not finite leaves the task out until there is another one
        for it. Raises InvalidTargetError for a wrong name or shape, or for a target of a task
        that has none.
        """
        number = self._number(task)
        bound, place = self.placed_tasks[number]
        bad = self._dropped.get(task, set()).copy()
        if target is not None:
            good = self._set_value(number, bound, place, target)
            (bad.discard if good else bad.add)('target')
        if velocity is not None:
            good = self._set_row(velocity_rows.RATE, bound, place, velocity, f'velocity of {task}')
            (bad.discard if good else bad.add)('velocity')
        if bad and task not in self._dropped:
            self._left_out[task] = self._kinds[place].copy()
            self._kinds[place] = velocity_rows.UNUSED
        if bad:
            self._dropped[task] = bad
        elif self._dropped.pop(task, None):
            self._kinds[place] = self._left_out.pop(task)

    def set_weight(self, task: str, weight: Any) -> None:
        """
        Give a task, told by its name, another weight: a number or one for each row; 0 leaves out.

        Raises InvalidTargetError for a wrong name or shape, or what is negative or not finite.
        """
        number = self._number(task)
        bound, place = self.placed_tasks[number]
        values = spread(checked_weight(weight, task), f'weight of {task}', bound.function.labels,
                        InvalidTargetError)
        kinds = self._enter_weight(number, bound, place, values)
        if task in self._dropped:
            self._left_out[task] = kinds
        else:
            self._kinds[place] = kinds

    def set_gain(self, task: str, gain: float = 1.0, *,
                 gain_per_second: float | None = None) -> None:
        """
        Give a task, told by its name, another gain, as a part of each step or as a rate.

        Raises InvalidTargetError for a wrong name or a task without target, InvalidOptionError.
        """
        bound, place = self.placed_tasks[self._number(task)]
        if bound.target is None:
            raise InvalidTargetError(f'task {task} has a velocity and no target')
        share = Gain.of(gain, gain_per_second, task).in_step(self.dt)
        self._rows[velocity_rows.SHARE, place] = share

    def set_safe_velocity(self, velocity: Any = None) -> None:
        """
        Hold to another velocity (nv,) near the bounds of barriers with a `safe_displacement_gain`.

        None is rest. Raises InvalidOptionError.
        """
        self._box[velocity_rows.SAFE] = 0.0 if velocity is None else vector(
            velocity, 'safe_velocity', self.robot.nv, InvalidOptionError)

    def _set_value(self, number: int, task: Task, place: slice, target: Any) -> bool:
        if task.target is None:
            raise InvalidTargetError(f'task {task.name} has a velocity and no target')
        if isinstance(task.function, FramePose):
            pose = floats(getattr(target, 'homogeneous', target), f'target of {task.name}',
                          'a 4x4 array or a pinocchio.SE3', InvalidTargetError)
            if not np.isfinite(pose).all():
                return False
            self._program.arrays[2][self._program.parameter_places[number]] = twelve(
                as_placement(pose, f'target of {task.name}'))
            return True
        if task.is_at_reference:
            posture = self._plain_posture(task, target)
            return self._set_reference(number, task, target) if posture is None \
                else self._set_posture(number, posture)
        return self._set_row(velocity_rows.TARGET, task, place, target, f'target of {task.name}')

    def _plain_posture(self, task: Task, target: Any) -> Array | None:
        """Return a target (m,) of joints that each have one value in q, None for any other."""
        function, robot = task.function, self.robot
        if not isinstance(function, BoundJoints):
            return None
        names = getattr(function.made_from, 'names', None) or robot.joint_names
        if len(names) != len(function.labels) or not robot.mimics.keys().isdisjoint(names):
            return None
        if type(target) is dict and target.keys() <= set(names) and all(
                type(value) is float for value in target.values()):
            return np.array([target.get(name, 0.0) for name in names])
        plain = type(target) is np.ndarray and target.dtype is _FLOAT
        return target if plain and target.shape == (len(names),) else None

    def _set_posture(self, number: int, target: Array) -> bool:
        """Put values of joints in place, whose rows are f = q - target."""
        if not np.isfinite(target).all():
            return False
        parameters = self._program.arrays[2][self._program.parameter_places[number]]
        parameters.reshape(len(target), -1)[:, 1] = -target
        return True

    def _set_reference(self, number: int, task: Task, reference: Any) -> bool:
        values = reference.values() if isinstance(reference, Mapping) else (reference,)
        for value in values:
            if not np.isfinite(floats(getattr(value, 'homogeneous', value),
                                      f'target of {task.name}', 'numbers',
                                      InvalidTargetError)).all():
                return False
        try:
            function = task.toward(reference, self.robot)
        except IKError as error:
            raise InvalidTargetError(f'target of {task.name}: {error}') from None
        self._program.exchange(number, function)
        return True

    def _set_row(self, row: int, task: Task, place: slice, given: Any, what: str) -> bool:
        """Set numbers of a task's rows, and return whether they are finite: else nothing is."""
        values = floats(given, what, 'numbers', InvalidTargetError)
        if not np.isfinite(values).all():
            return False
        self._rows[row, place] = spread(values, what, task.function.labels, InvalidTargetError)
        return True

    def _number(self, name: str) -> int:
        for number, (task, _) in enumerate(self.placed_tasks):
            if task.name == name:
                return number
        names = ', '.join(f"'{task.name}'" for task, _ in self.placed_tasks)
        raise InvalidTargetError(f'unknown task {name!r}; valid: {names}')

    def set_scene(self, checker: CollisionChecker,
                  velocities: Mapping[str, Any] = MappingProxyType({}), *,
                  barrier: str | None = None) -> None:
        """
        Look at another scene from now on, in which objects move with `velocities`, by name.

        Each (3,) [m/s] in the root frame: such a gap closes by itself, and the arm gives way. All
        barriers of distances look at it, or the `barrier` of that name. Raises InvalidOptionError
        where the program has none.
        """
        for gaps in self._looking(barrier):
            gaps.look(checker, velocities)

    def move_objects(self, poses: Mapping[str, Any],
                     velocities: Mapping[str, Any] = MappingProxyType({}), *,
                     barrier: str | None = None) -> None:
        """
        Put objects of the scene at other `poses`, by name, in much less time than `set_scene`.

        Each (4, 4) or SE3 in the root frame, for an object in the world; the others stay.
        `velocities` as for `set_scene`. The checker that was given stays as it is.

        Raises UnknownObjectError, InvalidTargetError for a bad pose, and InvalidOptionError.
        """
        placed = {name: as_placement(pose, f"pose of object '{name}'")
                  for name, pose in poses.items()}
        for gaps in self._looking(barrier):
            gaps.move(placed, velocities)

    def _looking(self, barrier: str | None) -> list[Gaps]:
        """Return the barriers of distances, or the one of that name; raises InvalidOptionError."""
        looking = [gaps for gaps in self._gaps if barrier in (None, gaps.name)]
        if not looking:
            names = ', '.join(f"'{gaps.name}'" for gaps in self._gaps)
            raise InvalidOptionError('the program has no CollisionBarrier' if not names else
                                     f'no barrier of distances has the name {barrier!r}; '
                                     f'valid: {names}')
        return looking

    # -- steps ----------------------------------------------------------------------------

    def reset(self, velocity: Any = None) -> None:
        """Forget the last step; the next one begins with `velocity` (nv,), by default at rest."""
        if velocity is None:
            self._box[[velocity_rows.BEND, velocity_rows.SWING]] = 0.0
        self._before = np.zeros(self.robot.nv) if velocity is None else vector(
            velocity, 'velocity', self.robot.nv, InvalidStateError)

    def step(self, q: Array) -> VelocityResult:
        """
        Find the velocity at q (nq,).

        Raises InvalidStateError for a q that is not finite or of the wrong length, and what a
        `UserFunction` raises; all else is a status of the result.
        """
        q = self._begin(q)
        f, result = np.empty(self._program.size), np.empty((3, self._box.shape[1]))
        if self._gaps:
            code, scale, missed, x, near = self._solved_among(q, f, result)
        else:
            code, scale, missed, x = self._solved(q, self._no_gaps, f, result)
            near = LIMITS
        self._before = v = result[0] / self.dt
        return VelocityResult(v, x, _STATUS[code], scale, tuple(self._dropped), self,
                              (f, missed, result, self._rows[velocity_rows.TARGET].copy(), near))

    def build_qp(self, q: Array) -> VelocityQP:
        """
        Return the quadratic program of the step that would come now, for another solver.

        Of the first priority, and as the step sees it at first: it is not changed where a bent
        way would cross a bound, nor where bounds ask for more than the acceleration limits.
        Raises InvalidStateError as `step` does, and where functions are not finite at q.
        """
        q = self._begin(q).copy()
        near = [gaps.near(q, self._stopping(self._before * self.dt)) for gaps in self._gaps]
        gaps = np.vstack(near) if near else self._no_gaps
        size, n = self._program.size, self._box.shape[1]
        N, most = n + int((self._kinds == velocity_rows.SCALED).any()), size + len(gaps)
        qp = VelocityQP(np.empty((N, N)), np.empty(N), np.empty((most, N)), np.empty((2, most)),
                        np.empty((2, N)), kernel.STIFF)
        count = self._program.run(
            kernel.velocity_qp.run, None, q, self._kinds, self._limbs,
            self._rows, gaps, self._box, self._options,
            self._inertia(q), np.empty(size), *qp[:5])
        if count < 0:
            raise InvalidStateError('functions of the tasks or barriers are not finite at q')
        return qp._replace(A=qp.A[:count], bounds=qp.bounds[:, :count])

    def _begin(self, q: Array) -> Array:
        """Enter the velocity before, and return a q to begin a step with."""
        if not (type(q) is np.ndarray and q.dtype is _FLOAT and q.shape == (self.robot.nq,)
                and math.isfinite(q.dot(q))):
            q = vector(q, 'q', self.robot.nq, InvalidStateError)
        if self.robot.has_floating_joints:
            q = self.robot.to_q(q)      # with quaternions of length one
        self._box[velocity_rows.BEFORE] = self._before
        for place, A in self._previous:
            self._rows[velocity_rows.RATE, place] = A @ self._before
        return q

    def _solved(self, q: Array, gaps: Array, f: Array, result: Array
                ) -> tuple[int, float, Array, Array]:
        """Fill f and the result; return the code, the scale, what is missed, and where it ends."""
        x, missed = q.copy(), np.empty(len(f) + len(gaps) + len(LIMITS))
        code, scale = self._program.run(
            self._step, None, x, self._kinds, self._limbs, self._rows, gaps,
            self._box, self._options, self._inertia(q), result, f, missed)
        return code, scale, missed, x

    def _inertia(self, q: Array) -> Array:
        """Return the weighted mass matrix, (nv, nv), or (0, 0)."""
        if self.kinetic_energy == 0:
            return _NO_INERTIA
        # LOCAL adds to what was there before where joints mimic others (pinocchio 4.1)
        M = pin.crba(self.robot.model, self.robot.scratch_data(), q, pin.Convention.WORLD)
        # of M only the upper half is filled
        whole: Array = self.kinetic_energy * (np.triu(M) + np.triu(M, 1).T)
        return whole

    def _solved_among(self, q: Array, f: Array, result: Array
                      ) -> tuple[int, float, Array, Array, list[MissedRows]]:
        """Do the same among things that can be run into; all that a step reaches counts."""
        stop = self._stopping(self._before * self.dt)
        near = [gaps.near(q, stop) for gaps in self._gaps]
        for look in range(LOOKS):
            rows = near[0] if len(near) == 1 else np.vstack(near)
            solved = self._solved(q, rows, f, result)
            stop = self._stopping(result[0])
            again = [gaps.nearer(solved[3], stop) for gaps in self._gaps]
            if look == LOOKS - 1 or all(each is None for each in again):
                break
            near = [old if new is None else new for old, new in zip(near, again, strict=True)]
        found = self._kept(q, solved, rows, f, result)
        for gaps in self._gaps:
            gaps.arrive()
        return found

    def _stopping(self, step: Array) -> float:
        """Return how long joints that go a step (n,) each dt take to come to rest [s]."""
        times = np.abs(step) * self._rest
        return float(times.max())

    def _kept(self, q: Array, solved: tuple[int, float, Array, Array], rows: Array, f: Array,
              result: Array) -> tuple[int, float, Array, Array, list[MissedRows]]:
        """Change a step that ends where it may not, and tell what each row is of."""
        owners = [gaps.near_rows for gaps in self._gaps]
        if all(gaps.is_clear(solved[3]) for gaps in self._gaps):
            return *solved, owners + LIMITS
        for _ in range(TOUCHES):    # where one corner is kept, another one may come down
            there = [gaps.crossed(solved[3], result[0]) for gaps in self._gaps]
            owners += [gaps.crossed_rows for gaps in self._gaps]
            if not any(map(len, there)):
                return *solved, owners + LIMITS
            rows = np.vstack([rows, *there])
            solved = self._solved(q, rows, f, result)
        code, scale, missed, x = solved
        for _ in range(kernel.SHORTER):     # what a bent way leads into, rows do not see
            if all(gaps.beyond(x) <= 0 for gaps in self._gaps):
                return code, scale, missed, x, owners + LIMITS
            result[0] *= 0.5
            x = np.array(pin.integrate(self.robot.model, q, result[0]))
        beyond = np.maximum([gaps.beyond(x) for gaps in self._gaps], 0.0)
        if beyond.any() and code == kernel.DONE:
            code = kernel.RELAXED
        return (code, scale, np.concatenate([missed, beyond]), x,
                [*owners, *LIMITS, *(MissedRows(gaps.name, 1) for gaps in self._gaps)])

    # -- what the result tells ------------------------------------------------------------

    def near_pairs(self, within: float) -> list[NearPair]:
        """Return the pairs that were `within` [m] of their margins, nearest first."""
        found = [pair for gaps in self._gaps for pair in gaps.near_pairs(within)]
        return sorted(found, key=lambda pair: pair.gap)

    @property
    def column_names(self) -> list[str]:
        """The joints' names by columns."""
        return [joint.name for joint in self.active.joints for _ in range(joint.velocity_size)]

    def hard_rows(self, others: Iterable[MissedRows]) -> Iterator[tuple[str, slice]]:
        """Give the names and places of what is hard; `others` are those after the functions."""
        yield from ((task.name, place) for task, place in self.placed_tasks)
        yield from self._placed_barriers
        begin = self._program.size
        for name, count, pairs in others:
            for i, (one, other) in enumerate(pairs):
                pair = f"of '{one}' and '{other}'"      # which may be its name already
                yield name if pair in name else f'{name} {pair}', slice(begin + i, begin + i + 1)
            if not pairs:
                yield name, slice(begin, begin + count)
            begin += count


def _check_names(what: str, names: Sequence[str], fault: type[IKError]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise fault(f"{names.count(name)} {what} have the name '{name}'; give others by name=")


_FLOAT = np.dtype(np.float64)
_NO_INERTIA = np.zeros((0, 0))
