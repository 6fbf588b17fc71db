"""Base class of the adapters to controllers; limits and braking of motions."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
import math
import time
from typing import ClassVar, NamedTuple, TYPE_CHECKING

import numpy as np
from rclpy.clock import Clock, ClockType

from ros2_ik.core import Array, Motion, MotionLimits, MotionState, Robot
from ros2_ik.core.internals import braking_motion, braking_on_path, stopped_within
from ros2_ik.node.controllers.topics import TopicContext
from ros2_ik.node.servo.messages import ServoOutput
from ros2_ik.node.state.joint_states import JointStates
from ros2_ik.node.state.motion_clock import MotionClock

if TYPE_CHECKING:
    from ros2_ik.node.parameters import Parameters
    from ros2_ik.node.servo.process import ServoProcess

# maximum delay of motors and controllers; a joint with a larger delay counts as not following [s]
MAX_DELAY = 0.3
# maximum lead of joints over commands [s]: controllers may start before the node is notified
MAX_LEAD = 0.06
N_PATH_SAMPLES = 100    # number of samples of a motion that `nearest_time` compares
# distance from the goal up to which the end of braking counts as the goal [rad, m]
GOAL_EPSILON = 1e-6


@dataclass(frozen=True)
class ControllerContext(TopicContext):
    """
    Parts of the node that controllers and motions use.

    `wait(start)` calls `start(done)` and awaits the result that is passed to `done`.
    """

    parameters: 'Parameters'
    wait: Callable[[Callable[[Callable[[object], None]], None]], Awaitable[object]]
    servo: 'ServoProcess'
    clock: MotionClock      # the time base of motions
    joint_states: JointStates

    async def pause(self, seconds: float) -> None:
        """Sleep for `seconds` of the steady clock; meanwhile the executor runs callbacks."""
        def begin(done: Callable[[object], None]) -> None:
            def end() -> None:
                self.node.destroy_timer(timer)
                done(None)
            timer = self.node.create_timer(seconds, end, self.callback_group,
                                           Clock(clock_type=ClockType.STEADY_TIME))
        await self.wait(begin)


class BrakingLimits(NamedTuple):
    """
    Limits of a braking motion; `bounds` limit its positions (lower, upper; (n,) each).

    Braking takes at least `duration` [s], so that all controllers of a motion stop together.
    """

    limits: MotionLimits
    bounds: tuple[Array, Array]
    duration: float = 0.0


class Controller(ABC):
    """
    Adapter to one controller, which moves `joints`; arrays (n,) are in the order of `joints`.

    `start` takes a whole motion, which replaces the previous motion.

    `failure` is the reason why the current motion cannot continue, or ''. `rejected` is True if
    the controller rejected the motion. `start_time` is the start of the current motion, or the
    time of the release, on the motion clock [s].
    """

    default_topic: ClassVar[str]   # {} is the controller's name
    names_joints: ClassVar[bool] = False     # True: commands name joints, so topics may be shared
    min_start_delay: ClassVar[float] = 0.0   # minimum `start_delay` of each motion [s]

    def __init__(self, name: str, joints: tuple[str, ...], topic: str,
                 context: ControllerContext) -> None:
        self.name, self.joints, self.context = name, joints, context
        self.topic = context.node.resolve_topic_name(topic or self.default_topic.format(name))
        self.failure, self.rejected, self.start_time = '', False, -math.inf
        self.made_at, self._braking = time.monotonic(), False
        self._motion: Motion | None = None

    @abstractmethod
    def unavailable_reason(self) -> str:
        """Return why the controller would not receive or follow a command, or ''."""

    async def prepare(self) -> None:   # noqa: B027  (most have nothing to prepare)
        """Query the controller before a motion; raises RequestError."""

    @property
    @abstractmethod
    def output(self) -> ServoOutput:
        """Encoder with which the servo's process makes commands; valid after `prepare`."""

    @property
    def foreign_goal(self) -> str:
        """Name of the controller's action while another client has an active goal there, or ''."""
        return ''

    # -- commands -------------------------------------------------------------------------

    @abstractmethod
    def start(self, motion: Motion, start_delay: float) -> None:
        """Send a motion that starts in `start_delay` [s]; until then, joints move to its start."""

    def _begin(self, motion: Motion, braking: bool, start_delay: float = 0.0) -> None:
        if not braking:
            self.failure, self.rejected = '', False
        self._motion, self._braking = motion, braking
        self.start_time = self.context.clock.now() + start_delay

    def braking_time(self, within: BrakingLimits) -> float:
        """
        Return the time in which `stop` brakes the joints [s].

        The time is 0 if the joints have not started, inf if they do not follow their commands.
        """
        velocity = self.commanded(self.context.clock.now()).velocity
        return float((np.abs(velocity) / within.limits.acceleration).max())

    @abstractmethod
    def stop(self, within: BrakingLimits) -> None:
        """Brake the motion within limits."""

    def _come_to_rest(self, position: Array, seconds: float) -> None:
        """Replace the motion by one that rests at positions (n,) after `seconds`."""
        zero = np.zeros(len(position))
        self._begin(Motion(self.joints, seconds, lambda _: MotionState(position, zero, zero)),
                    braking=True)

    def release(self, reason: str) -> None:
        """Drop the current motion, which fails with `reason`; send no further commands for it."""
        if self._motion:
            self.failure = reason
        self._motion, self.start_time = None, self.context.clock.now()

    def release_to_other_client(self, topic: str) -> None:
        """Release the controller, because another client commands it on `topic`."""
        self.release(f"another client sends commands to controller '{self.name}', on {topic}; "
                     'nothing more is sent to it')

    def unanswered_reason(self) -> str:
        """Return why the controller may still start a motion (an unanswered goal), or ''."""
        return ''

    # -- commanded state ------------------------------------------------------------------

    @property
    def max_lead(self) -> float:
        """Maximum time by which the joints may be ahead of the commanded state [s]."""
        return MAX_LEAD

    @property
    def has_motion(self) -> bool:
        """True if a motion was started, and not released; an ended motion counts."""
        return self._motion is not None

    def commanded(self, moment: float) -> MotionState:
        """Return the commanded state at a time of the motion clock [s]."""
        return self.motion.at(moment - self.start_time)

    def resting(self) -> Array | None:
        """Return the commanded rest positions (n,), or None while moving or without a motion."""
        is_resting = self._motion and self.context.clock.now() >= self.end_time
        return self.motion.goal if is_resting else None

    @property
    def motion(self) -> Motion:
        """The current motion; there must be one."""
        assert self._motion is not None
        return self._motion

    @property
    def end_time(self) -> float:
        """End of the last motion, or time of the release, on the motion clock [s]."""
        return self.start_time + (self._motion.duration if self._motion else 0.0)

    @abstractmethod
    def close(self) -> None:
        """Destroy publishers, clients and timers."""


def nearest_time(motion: Motion, position: Array, end: float) -> float:
    """Return the sampled time in [0, end] [s] at which a motion is nearest to positions (n,)."""
    times: list[float] = np.linspace(0.0, end, N_PATH_SAMPLES).tolist()
    return min(times, key=lambda time: float(np.abs(motion.at(time).position - position).max()))


def braked(motion: Motion, time: float, at: MotionState, within: BrakingLimits,
           others: Sequence[MotionState] = (), reversible: Sequence[MotionState] = (),
           rate: float = 1.0) -> tuple[Motion, bool]:
    """
    Return a motion that brakes `motion` at `time` [s], and whether it passes the goal of `motion`.

    If it does, `motion` should end at its goal instead. Braking starts at state `at`; for `others`
    and `reversible` see `braking_motion`. `rate` is the actual speed divided by the planned speed;
    0 means that the state is not on the path.
    """
    limits, bounds, duration = within
    braking = None
    if motion.is_curved:
        # on a curve, a joint's velocities in `others` may have opposite signs: let joints reverse
        others, reversible = (), (*others, *reversible)
        if rate:
            braking = braking_on_path(motion, time, (at, *reversible), limits, rate, duration)
    braking = braking or braking_motion(motion.joints, at.position, at.velocity, limits, others,
                                        reversible, duration)
    passes = rate > 0 and passes_goal(braking, motion, (motion.duration - time) / rate)
    return stopped_within(braking, bounds), passes


def passes_goal(braking: Motion, motion: Motion, remaining: float) -> bool:
    """
    Return whether braking `remaining` [s] before a motion's end would overshoot the goal.

    On a curved motion, a joint may pass its goal position long before the end, so the remaining
    time is compared with the braking time. On a straight motion, positions along the motion are
    compared: a joint that hardly moves may be measured beyond its goal long before the end.
    """
    if motion.is_curved:
        return remaining <= braking.duration
    line = motion.goal - motion.at(0.0).position
    return float(line @ (braking.goal - motion.goal)) > GOAL_EPSILON * float(np.linalg.norm(line))


def motion_limits(robot: Robot, joints: Sequence[str], parameters: 'Parameters') -> MotionLimits:
    """Return the velocity, acceleration and jerk limits of joints, without scaling."""
    def chosen(kind: str, default: float) -> Array:
        return np.array([parameters.limit(joint, kind) or default for joint in joints])
    # the smaller of the velocity limits in URDF and parameters
    of_urdf = [robot.joint(joint).velocity_limit for joint in joints]
    velocity = np.minimum(of_urdf, chosen('velocity', math.inf))
    return MotionLimits(
        np.where(np.isinf(velocity), parameters.default_max_velocity, velocity),
        chosen('acceleration', parameters.default_max_acceleration),
        chosen('jerk', parameters.default_max_jerk))


def position_bounds(robot: Robot, joints: Sequence[str]) -> tuple[Array, Array]:
    """Return the lower and upper position limits of joints, (n,) each, +-inf if unlimited."""
    limits = [robot.joint(joint) for joint in joints]
    return (np.array([joint.lower for joint in limits]),
            np.array([joint.upper for joint in limits]))
