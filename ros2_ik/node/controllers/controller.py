"""What a controller is, and which kinds there are."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
import time
from typing import Any, ClassVar, TypeVar

import numpy as np

from ros2_ik.core import Motion, MotionLimits, MotionState


@dataclass(frozen=True)
class Wiring:
    """
    What controllers are made of: the node, a group for their callbacks, and the parameters.

    `wait(start)` calls start(done) and awaits what done is given.
    """

    node: Any
    callback_group: Any
    parameters: Any
    wait: Callable[[Callable[[Callable[[Any], None]], None]], Awaitable[Any]]


class Controller(ABC):
    """
    Something that moves joints: `joints` in the order that commands have.

    `failure` says what it had against the present motion, or is ''.
    """

    kind: ClassVar[str]
    usual_topic: ClassVar[str]   # {} is the controller's name
    by_name: ClassVar[bool] = False     # whether others may listen there, too, for their joints
    immediate: ClassVar[bool] = False   # whether joints are to be where it is told at once

    def __init__(self, name: str, joints: tuple[str, ...], topic: str, wiring: Wiring) -> None:
        self.name, self.joints, self.wiring = name, joints, wiring
        self.topic = topic or self.usual_topic.format(name)
        self.failure, self.made = '', time.monotonic()
        self._motion: Motion | None = None
        self._began = 0.0

    @classmethod
    def unavailable(cls) -> str:
        """Say what is missing here for this kind, or ''."""
        return ''

    @abstractmethod
    def deaf(self) -> str:
        """Say why no command would be heard, or ''."""

    async def prepare(self) -> None:   # noqa: B027  (most have nothing to prepare)
        """Find out what is needed before a motion; raises Refusal."""

    def joining(self, velocity: np.ndarray, limits: MotionLimits) -> float:
        """
        Give the time that joints take from their present motion onto another one [s].

        They move with a velocity (n,); what is at once where it is told needs none.
        """
        return 0.0

    def start(self, motion: Motion, join: float = 0.0) -> None:
        """Begin a motion of these joints, in place of the present one, with a time to join it."""
        self.begin(motion)
        self.send(motion, join)

    def begin(self, motion: Motion) -> None:
        """Take down that a motion begins now."""
        self.failure, self._motion, self._began = '', motion, time.monotonic()

    @abstractmethod
    def send(self, motion: Motion, join: float) -> None:
        """Send a motion."""

    @abstractmethod
    def stop(self, state: MotionState, limits: MotionLimits, late: float | None) -> float:
        """
        Brake as hard as limits allow from a state; gives how long that takes [s].

        `late` says by how much the joints are behind their motion [s], None if they are not on it.
        """

    def hush(self) -> None:   # noqa: B027  (most say nothing more once a motion is sent)
        """Say no more of the present motion."""

    def shares(self, joints: Iterable[str]) -> bool:
        """Whether it moves some of these joints."""
        return not set(joints).isdisjoint(self.joints)

    def commanded(self, moment: float) -> MotionState:
        """Where the joints shall be at a moment of the steady clock; after a first motion."""
        assert self._motion is not None
        return self._motion.at(moment - self._began)

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
    """Give the class of a kind."""
    controller_kinds()
    return _KINDS[kind]


def unheard(publisher: Any) -> str:
    """Say that a publisher has no subscribers, or ''."""
    if publisher.get_subscription_count():
        return ''
    return f'nobody listens on {publisher.topic_name}'
