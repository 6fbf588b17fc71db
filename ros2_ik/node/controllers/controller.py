"""Adapters to controllers: the base class, and the registry of kinds."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
import math
import time
from typing import ClassVar, TYPE_CHECKING

import numpy as np
from rclpy.callback_groups import CallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from ros2_ik.core import Array, Motion, MotionLimits, MotionState, Robot
from ros2_ik.core.internals import braking_motion
from ros2_ik.node.servo.servo_output import ServoOutput
from ros2_ik.node.state.motion_clock import MotionClock

if TYPE_CHECKING:
    from ros2_ik.node.parameters import Parameters
    from ros2_ik.node.servo.process import ServoProcess

ASIDE = 0.01      # joints so far from their commanded way are not on it [rad, m]
MOST_LATE = 0.3   # motors and controllers have a delay; one that is later does not follow [s]
USUAL_DELAY = 0.06   # an arm that is later is braked from where it is measured [s]
BEYOND = 1e-6     # so far beyond the goal is not beyond it [rad, m]


@dataclass(frozen=True)
class ControllerContext:
    """
    Parts from which controllers are made: node, callback group, parameters.

    `wait(start)` calls start(done) and awaits what done is given. `servo` is the servo's process.
    """

    node: Node
    callback_group: CallbackGroup
    parameters: 'Parameters'
    wait: Callable[[Callable[[Callable[[object], None]], None]], Awaitable[object]]
    servo: 'ServoProcess'
    listeners: Counter[str] = field(default_factory=Counter)   # of commands, by topic

    @cached_property
    def clock(self) -> MotionClock:
        """The clock by which motions are timed."""
        return MotionClock(self.node)

    def now(self) -> float:
        """Return that time [s]."""
        return self.clock.now()

    async def yield_to_executor(self) -> None:
        """Go on when all that is due has been done."""
        executor = self.node.executor
        await self.wait(lambda done: executor.create_task(done, None))

    async def pause(self, seconds: float) -> None:
        """Go on after a time on the steady clock."""
        def begin(done: Callable[[object], None]) -> None:
            def end() -> None:
                self.node.destroy_timer(timer)
                done(None)
            timer = self.node.create_timer(seconds, end, self.callback_group,
                                           Clock(clock_type=ClockType.STEADY_TIME))
        await self.wait(begin)


class Controller(ABC):
    """
    Moves `joints`, in the order of its commands, by one controller of the robot.

    Each motion is sent as a whole, at once, and replaces the one before.

    `failure` is why the present motion cannot go on, or ''. `released` means that the controller
    does something else, for another client or by itself: nothing more is sent to it. `refused`
    means that it did not accept the present motion.
    """

    kind: ClassVar[str]
    usual_topic: ClassVar[str]   # {} is the controller's name
    by_name: ClassVar[bool] = False     # whether others may listen there, too, for their joints

    def __init_subclass__(cls, kind: str = '') -> None:
        """Register a class as the controller of a kind."""
        if kind:
            cls.kind = kind
            _KINDS[kind] = cls

    def __init__(self, name: str, joints: tuple[str, ...], topic: str,
                 context: ControllerContext) -> None:
        self.name, self.joints, self.context = name, joints, context
        self.topic = topic or self.usual_topic.format(name)
        self.failure, self.released, self.refused = '', False, False
        self.made = time.monotonic()
        self._motion: Motion | None = None
        self._braking = False
        self.began = -math.inf        # when the present motion did, on the motion clock [s]
        self._released_at = -math.inf

    @classmethod
    def unavailable(cls) -> str:
        """Return the missing package for this kind, or ''."""
        return ''

    @abstractmethod
    def unavailable_reason(self) -> str:
        """Return why no command would be received, or ''."""

    async def prepare(self) -> None:   # noqa: B027  (most have nothing to prepare)
        """Get ready for a motion; raises RequestError."""

    @abstractmethod
    def servo_output(self, robot: Robot) -> ServoOutput:
        """Return the output for the servo's steps, after `prepare`; raises RequestError."""

    @property
    def their_goal(self) -> str:
        """The action of the controller where another client has a goal under way, or ''."""
        return ''

    # -- commands -------------------------------------------------------------------------

    @abstractmethod
    def start(self, motion: Motion, join: float) -> None:
        """Begin a motion of these joints, which are at rest and get to its start in `join` [s]."""

    def _begin(self, motion: Motion, braking: bool) -> None:
        if not braking:
            self.failure, self.released, self.refused = '', False, False
        self._motion, self._braking, self.began = motion, braking, self.context.now()

    @abstractmethod
    def stop(self, limits: MotionLimits, bounds: tuple[Array, Array], delay: float = USUAL_DELAY,
             measured: MotionState | None = None) -> None:
        """
        Brake within limits, inside `bounds`, lower and upper (n,), unless it is released.

        The joints are up to `delay` [s] behind their commands. `measured` is given where they are
        later than USUAL_DELAY, or do not follow at all: they brake from there.
        """

    def cancel(self) -> None:
        """Forget the present motion: something else commands its joints now."""
        self._motion, self._released_at = None, self.context.now()

    def release(self, reason: str) -> None:
        """Send nothing more, for a reason."""
        self.released, self._released_at, self.failure = True, self.context.now(), reason

    def give_way(self, topic: str) -> None:
        """Send nothing more: another client commands the controller there."""
        self.release(f"another client sends commands to controller '{self.name}', on {topic}; "
                     'nothing more is sent to it')

    def unanswered(self) -> str:
        """Return what it has yet to answer, and so may still move by, or ''."""
        return ''

    def forget(self) -> None:   # noqa: B027  (most answer nothing)
        """Drop the commands of a finished motion; cancel a goal that may still be accepted."""

    # -- what was commanded ---------------------------------------------------------------

    def shares(self, joints: Iterable[str]) -> bool:
        """Return whether it moves some of these joints."""
        return not set(joints).isdisjoint(self.joints)

    def commanded(self, moment: float) -> MotionState:
        """Return where the joints are commanded to be at a moment of the motion clock."""
        return self.motion.at(moment - self.began)

    def resting(self) -> dict[str, float]:
        """Return the commanded rest positions, {} while the joints move or these are unknown."""
        if self._motion is None or self.released or self.context.now() < self.rest_at:
            return {}
        return dict(zip(self.joints, self.motion.goal.tolist(), strict=True))

    @property
    def motion(self) -> Motion:
        """The present motion; after a first motion."""
        assert self._motion is not None
        return self._motion

    @property
    def rest_at(self) -> float:
        """End of the present motion on the motion clock [s]; there must be one."""
        return self.began + self.motion.duration

    @property
    def commanded_until(self) -> float:
        """End of the last command, or receipt of another client's, on the motion clock [s]."""
        return self.rest_at if self._motion and not self.released else self._released_at

    @abstractmethod
    def close(self) -> None:
        """Destroy publishers, clients and timers."""


_KINDS: dict[str, type[Controller]] = {}


def controller_kinds() -> tuple[str, ...]:
    """Names of the kinds."""
    import ros2_ik.node.controllers  # noqa: F401  (late: each of its files registers here)
    return tuple(sorted(_KINDS))


def controller_kind(kind: str) -> type[Controller]:
    """Return the class of a kind."""
    controller_kinds()
    return _KINDS[kind]


def braked(motion: Motion, at: MotionState, left: float, limits: MotionLimits,
           bounds: tuple[Array, Array]) -> Motion | None:
    """Return what brakes joints from a state of a motion, `left` [s] before its end, if needed."""
    braking = braking_motion(motion.joints, at.position, at.velocity, limits, at.acceleration,
                             bounds)
    return None if passes_goal(braking, motion, left) else braking


def passes_goal(braking: Motion, motion: Motion, left: float) -> bool:
    """
    Return whether a motion, `left` [s] before its end, comes to rest before braking would.

    That is where braking goes beyond its goal, but on a curved motion: there a joint may be
    beyond its goal long before the end.
    """
    if motion.is_curved:
        return left <= braking.duration
    ahead = np.sign(motion.goal - motion.at(0.0).position)
    return bool((ahead * (braking.goal - motion.goal) > BEYOND).any())
