"""What a controller is, and which kinds there are."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
import math
import time
from typing import Any, ClassVar, TypeVar

from rclpy.clock import Clock, ClockType

from ros2_ik.core import Array, Motion, MotionLimits, MotionState, Robot, Status
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.controllers.command_topic import SentMessages
from ros2_ik.node.controllers.joint_feedback import Feedback
from ros2_ik.node.controllers.motion_clock import MotionClock
from ros2_ik.node.controllers.servo_output import ServoOutput

Bounds = tuple[Array, Array]


@dataclass(frozen=True)
class ControllerContext:
    """
    What controllers are made of: the node, a group for their callbacks, and the parameters.

    `wait(start)` calls start(done) and awaits what done is given.
    """

    node: Any
    callback_group: Any
    parameters: Any
    wait: Callable[[Callable[[Callable[[Any], None]], None]], Awaitable[Any]]
    sent: SentMessages = field(default_factory=SentMessages)

    @cached_property
    def clock(self) -> MotionClock:
        """The time that motions go by."""
        return MotionClock(self.node)

    def now(self) -> float:
        """Return that time [s]."""
        return self.clock.now()


class Pauses:
    """What a coroutine awaits to let go of the node's thread."""

    def __init__(self, context: ControllerContext) -> None:
        self._context = context

    async def yield_to_executor(self) -> None:
        """Go on when all that is due has been done."""
        executor = self._context.node.executor
        await self._context.wait(lambda done: executor.create_task(done, None))

    async def pause(self, seconds: float) -> None:
        """Go on after a time on the steady clock."""
        def begin(done: Callable[[Any], None]) -> None:
            def end() -> None:
                self._context.node.destroy_timer(timer)
                done(None)
            timer = self._context.node.create_timer(
                seconds, end, clock=Clock(clock_type=ClockType.STEADY_TIME),
                callback_group=self._context.callback_group)
        await self._context.wait(begin)


@dataclass(frozen=True)
class BrakingTask:
    """
    What there is to know for braking joints.

    They stay inside `bounds`, lower and upper (n,). `tracking_delay` is by how much they are late
    [s], as far as is known. `feedback` is where they were measured, None when that says nothing
    new; `on_way` whether that is where they were told to be not long ago. `clear`, where
    something has come into the way, says whether they may go to positions (n,) from there. `anew`
    says all that as of later, for what could not be told at once.
    """

    limits: MotionLimits
    bounds: Bounds
    tracking_delay: float = 0.0
    feedback: Feedback | None = None
    on_way: bool = True
    clear: Callable[[Array], bool] | None = None
    anew: Callable[[], 'BrakingTask'] | None = None

    def later(self) -> 'BrakingTask':
        """Return what there is to know as of now."""
        return self.anew() if self.anew else self

    def blocked(self, end: Array) -> bool:
        """Return whether joints surely would touch something before they rest."""
        return bool(self.feedback and self.feedback.sure and self.clear and not self.clear(end))


class Controller(ABC):
    """
    Something that moves joints: `joints` in the order that commands have.

    `failure` says what it had against the present motion, or is ''. `released` says that it does
    something else now, for another client or by itself: then nothing more is sent to it.
    `refused` says that it did not take the present motion and does nothing else of ours.
    """

    kind: ClassVar[str]
    usual_topic: ClassVar[str]   # {} is the controller's name
    by_name: ClassVar[bool] = False     # whether others may listen there, too, for their joints
    immediate: ClassVar[bool] = False   # whether joints are to be where it is told at once

    def __init__(self, name: str, joints: tuple[str, ...], topic: str,
                 context: ControllerContext) -> None:
        self.name, self.joints, self.context = name, joints, context
        self.topic = topic or self.usual_topic.format(name)
        self.failure, self.released, self.made = '', False, time.monotonic()
        self.refused = False
        self._braking = False
        self._motion: Motion | None = None
        self._began = self.rest_at = 0.0
        self._disturbed = -math.inf   # when another client commanded it last

    @classmethod
    def unavailable(cls) -> str:
        """Return what is missing here for this kind, or ''."""
        return ''

    @abstractmethod
    def unavailable_reason(self) -> str:
        """Return why no command would be heard, or ''."""

    async def prepare(self) -> None:   # noqa: B027  (most have nothing to prepare)
        """Find out what is needed before a motion; raises RequestError."""

    def servo_output(self, robot: Robot) -> ServoOutput:
        """Return how it is told the servo's steps, after `prepare`; raises RequestError."""
        raise RequestError(Status.CONTROL_FAILED,
                           f"controller '{self.name}' cannot be told the servo's steps")

    @property
    def their_goal(self) -> str:
        """The action of the controller where another client has a goal under way, or ''."""
        return ''

    def blend_time(self, states: Sequence[MotionState], limits: MotionLimits,
                   tracking_delay: float, apart: Array) -> float:
        """
        Return the time that joints take from their present motion onto another one [s].

        They are in one of the states, up to `tracking_delay` [s] later than they should and
        `apart` (n,) from there; what is at once where it is told needs none.
        """
        return 0.0

    def start(self, motion: Motion, join: float = 0.0) -> None:
        """Begin a motion of these joints, in place of the present one, with a time to join it."""
        self.begin(motion)
        self.send(motion, join)

    def begin(self, motion: Motion) -> None:
        """Take down that a motion begins now."""
        self.failure, self.released, self._braking = '', False, False
        self.refused = False
        self._motion, self._began = motion, self.context.now()

    @abstractmethod
    def send(self, motion: Motion, join: float) -> None:
        """Send a motion."""

    def stop(self, task: BrakingTask) -> float:
        """
        Brake as hard as limits allow; returns how long it takes [s].

        What is braking already goes on as it was told, and what is released is told nothing.
        """
        if self.released:
            return 0.0
        if not self._braking:
            self._brake(task)
            self._braking = True
        return max(self.rest_at - self.context.now(), 0.0)

    @abstractmethod
    def _brake(self, task: BrakingTask) -> None:
        """Send what brakes, and set `rest_at`, when the joints will stand on the motion clock."""

    def reconsider(self, task: Callable[[], BrakingTask]) -> bool:
        """Brake what was left to end by itself, if it is known by now that this is not so."""
        return False

    def goes_on(self, feedback: Feedback) -> bool:
        """Return whether joints cannot have heard that they shall brake."""
        return False

    def comes_to_rest(self, feedback: Feedback) -> bool:
        """Return whether joints are on their way to where they shall rest, though slowly."""
        return False

    def unbraked(self, moment: float) -> MotionState:
        """Where the joints would be at a moment of the motion clock if they had not to brake."""
        return self.commanded(moment)

    @abstractmethod
    def stop_again(self, task: BrakingTask, anew: bool) -> float:
        """
        Say once more what was said to brake, since it may be lost; returns how long it takes [s].

        With `anew`, joints that have gone on are braked from where they would be unbraked.
        """

    def cancel(self) -> None:   # noqa: B027  (most say nothing more once a motion is sent)
        """Say no more of the present motion."""

    def unanswered(self) -> str:
        """Say that it has yet to say whether it takes what was sent, and so may still move."""
        return ''

    def disown(self) -> None:   # noqa: B027  (most answer nothing)
        """Cancel what it may yet take: nobody watches it any more."""

    def settle(self) -> None:   # noqa: B027  (the same)
        """Forget what was sent for a motion that is over, and may never be answered."""

    def shares(self, joints: Iterable[str]) -> bool:
        """Return whether it moves some of these joints."""
        return not set(joints).isdisjoint(self.joints)

    def commanded(self, moment: float, now: float | None = None) -> MotionState:
        """
        Where the joints shall be at a moment of the motion clock; after a first motion.

        What is asked of several moments takes one `now` for all: a stream that pauses is late.
        """
        return self.motion.at(moment - self._began)

    def give_way(self, message: Any, topic: str) -> None:
        """Give way to another client's command on a topic, if it concerns these joints."""
        if self.concerns(message):
            self.give_up(topic)

    def give_up(self, topic: str) -> None:
        """Send nothing more: another client commands the controller there."""
        self.cancel()
        self.released, self._disturbed = True, self.context.now()
        self.failure = (f"another client sends commands to controller '{self.name}', on "
                        f'{topic}; nothing more is sent to it')

    def concerns(self, message: Any) -> bool:
        """Return whether a command of another client is one for these joints."""
        return True

    def resting(self) -> dict[str, float]:
        """Return where the joints were told to rest, {} while they move or nobody knows."""
        if self._motion is None or self.released:
            return {}
        state = self.commanded(self.context.now())
        if state.velocity.any():
            return {}
        return dict(zip(self.joints, state.position.tolist(), strict=True))

    @property
    def delay(self) -> float:
        """Return how long it may take to begin what it is sent, as far as it says so [s]."""
        return 0.0

    @property
    def took(self) -> float:
        """Return how long it took by now to begin what it was sent last, as far as it says so."""
        return 0.0

    @property
    def motion(self) -> Motion:
        """The present motion; after a first motion."""
        assert self._motion is not None
        return self._motion

    @property
    def goal(self) -> Array:
        """Where the present motion ends, (n,); after a first motion."""
        return self.motion.goal

    @property
    def middle(self) -> Array:
        """Halfway between both ends of the present motion, (n,); after a first motion."""
        return (self.motion.at(0.0).position + self.motion.goal) / 2

    @property
    def ends_at(self) -> float:
        """When the present motion ends, on the motion clock [s]; after a first motion."""
        return self._began + self.motion.duration

    @property
    def commanded_until(self) -> float:
        """When the last command ended, or another client's came, on the motion clock [s]."""
        return max(self.ends_at if self._motion else -math.inf, self._disturbed)

    @abstractmethod
    def close(self) -> None:
        """Give up what it has of ROS."""


_Kind = TypeVar('_Kind', bound=type[Controller])
_KINDS: dict[str, type[Controller]] = {}


def register_controller(kind: str) -> Callable[[_Kind], _Kind]:
    """Make a class the controller of that kind."""
    def register(made: _Kind) -> _Kind:
        made.kind = kind
        _KINDS[kind] = made
        return made
    return register


def controller_kinds() -> tuple[str, ...]:
    """Names of the kinds."""
    import ros2_ik.node.controllers  # noqa: F401  (late: each of its files registers here)
    return tuple(sorted(_KINDS))


def controller_kind(kind: str) -> type[Controller]:
    """Return the class of a kind."""
    controller_kinds()
    return _KINDS[kind]
