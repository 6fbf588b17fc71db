"""The viewer's simulated robot, with its solver and its scene."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
import threading

import numpy as np

from ros2_ik.core import (
    Array,
    blocked,
    collision_checker,
    CollisionChecker,
    Contact,
    IKError,
    IKSolution,
    MotionLimits,
    Robot,
    Scene,
    straight_motion,
)
from ros2_ik.core.internals import IKRequest, prepare, TargetError, World

STEP_PERIOD = 1 / 60    # time between two calls of `Arm.step` [s]

# Converts the content of a problem file to a request and a collision checker (None if not needed),
# for a robot at q (nq,) in a scene; raises IKError, which names the wrong field.
Reader = Callable[[Mapping[str, object], Scene, Array], tuple[IKRequest, CollisionChecker | None]]


class AnswerQuality(Enum):
    """Degrees of success of an answer; values are colours of the ghost (r, g, b)."""

    SOLVED = (0.18, 0.72, 0.32)
    IN_CONTACT = (0.96, 0.58, 0.1)    # solves the problem, but is in contact
    FAILED = (0.88, 0.2, 0.2)         # best attempt


@dataclass(frozen=True)
class Answer:
    """
    A configuration `q` (nq,), its `quality` as a solution, and a message.

    `errors` are the errors of the targets [m, rad]. `seconds` is the time of the search [s].
    `more` are further solutions.
    """

    q: Array
    quality: AnswerQuality
    message: str
    errors: tuple[TargetError, ...] = ()
    contacts: Sequence[Contact] = ()
    seconds: float = 0.0
    not_checked: tuple[str, ...] = ()
    more: tuple['Answer', ...] = ()

    @property
    def accepted(self) -> bool:
        """True if the robot may move to `q`."""
        return self.quality is AnswerQuality.SOLVED

    @classmethod
    def of(cls, solution: IKSolution) -> 'Answer':
        """Convert a solution of the library to an answer."""
        quality = (AnswerQuality.SOLVED if solution.success else AnswerQuality.IN_CONTACT
                   if solution.contacts and not solution.violations else AnswerQuality.FAILED)
        return cls(solution.best_q, quality, f'{solution.status.name}: {solution.message}',
                   solution.errors, solution.contacts, solution.seconds, solution.not_checked,
                   tuple(cls.of(other) for other in solution.alternatives))


class Arm:
    """
    A simulated robot at `q` (nq,) in a scene, with its solver; base class of NodeArm.

    If `moving`, the robot may move by itself, and `step` must be called every `STEP_PERIOD`.
    A method that fails raises IKError with the reason. Only `wake` is thread-safe.
    """

    moving = False

    def __init__(self, robot: Robot, q: Array, scene: Scene, read: Reader) -> None:
        self.robot, self.q, self.scene, self._read = robot, q, scene, read
        self._woken = threading.Event()

    def set_state(self, q: Array) -> None:
        """Set the robot's state to q (nq,), at rest."""
        self.q = self.robot.to_q(q)

    def solve(self, problem: Mapping[str, object], seed: Array) -> Answer:
        """Solve `problem`, the content of a problem file; the search starts at `seed` (nq,)."""
        request, checker = self._read(problem, self.scene, seed)
        search = prepare(replace(request, seed=self.robot.to_joints(seed)),
                         World(self.robot, seed, checker))
        search.run()
        return Answer.of(search.solution())

    def go_to(self, q: Array, avoid_collisions: bool) -> str:
        """
        Move the robot to q (nq,) along the straight path in joint space; returns a note.

        Raises IKError if a floating or planar joint has to move, or if the path is not free (only
        with `avoid_collisions`).
        """
        joints = [joint for joint in self.robot.joints if joint.is_scalar]
        indices, count = [joint.index for joint in joints], len(joints)
        if np.abs(np.delete(q - self.q, indices)).max(initial=0.0) > 1e-6:
            raise IKError('the base would have to move: only joints of one value can be moved')
        # the limits do not matter: only the path is checked
        limits = MotionLimits(np.ones(count), np.ones(count), np.full(count, np.inf))
        motion = straight_motion(self.robot, [joint.name for joint in joints], self.q[indices],
                                 q[indices], limits)
        if avoid_collisions and (found := blocked(checker_of(self.scene), motion, self.q)):
            pairs = '; '.join(f"'{one.first}' - '{one.second}'" for one in found.contacts[:3])
            raise IKError(f'the path is not free: contact after {100 * found.fraction:.0f} % of '
                          f'the path ({pairs})')
        self.q = q
        return 'arrived'

    def stop(self) -> None:
        """Stop the robot's motions."""

    def step(self) -> str:
        """Process the robot's messages; returns a note for the user, or ''."""
        return ''

    def add_abort_condition(self, condition: Callable[[], bool]) -> None:
        """Make waits for responses also end, with an IKError, as soon as `condition()` is True."""

    def wait(self, seconds: float) -> None:
        """Wait for a message of the robot, for a call of `wake`, or for at most `seconds`."""
        self._woken.wait(seconds)
        self._woken.clear()

    def wake(self) -> None:
        """End the current or the next call of `wait`; thread-safe."""
        self._woken.set()


def checker_of(scene: Scene) -> CollisionChecker:
    """Return the collision checker of a scene; shapes with missing mesh files are not checked."""
    return collision_checker(scene.robot, scene, missing='skip')
