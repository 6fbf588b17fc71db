"""One motion from the request to its end."""

from collections.abc import Callable
import time
from typing import Any

import numpy as np

from ros2_ik.core import Motion, MotionState, Robot, Scene, Status, WayCheck
from ros2_ik.node.controllers.controller import Controller
from ros2_ik.node.controllers.lag import lag
from ros2_ik.node.controllers.measured import Measured, offset
from ros2_ik.node.controllers.motion_limits import motion_limits
from ros2_ik.node.controllers.outcome import Outcome
from ros2_ik.node.refusal import Refusal

AGAIN = 0.1   # so much later than it should an arm may come to rest, before it is told again [s]

Cancelled = Callable[[], bool]


class Trip:
    """
    A motion of the joints of some controllers; it owns these joints until it is over.

    First it is prepared (`sent` is None), then it runs. When it is stopped, it is over when the
    arm stands, with the outcome that was the reason.
    """

    def __init__(self, robot: Robot, controllers: list[Controller], goal: dict[str, float],
                 measured: Measured, parameters: Any, cancelled: Cancelled | None) -> None:
        self.robot, self.controllers, self.goal = robot, controllers, goal
        self.joints = tuple(joint for one in controllers for joint in one.joints)
        self._measured, self._parameters = measured, parameters
        self._cancelled = cancelled or (lambda: False)
        self.limits = motion_limits(robot, self.joints, parameters)
        self.motion: Motion | None = None
        self.sent: float | None = None
        self.planned = 0.0              # duration, without what goes before it [s]
        self.notes: list[str] = []
        self.scene: Scene | None = None       # in which the way was checked, if it is the node's
        self.check_left: WayCheck | None = None   # of the way that is left, in a newer scene
        self.done: Callable[[Outcome], None] | None = None
        self._late: float | None = None   # when last looked at
        self._withdrawn: Outcome | None = None
        self._stopped: tuple[float, Outcome] | None = None   # when the arm will stand, and why
        self._last = 0.0                # until when it is told to brake

    def shares(self, other: 'Trip') -> bool:
        """Whether both have a joint."""
        return not set(self.joints).isdisjoint(other.joints)

    # -- before it runs -------------------------------------------------------------------

    def withdraw(self, status: Status, message: str) -> None:
        """Have the trip end before it is sent; who prepares it comes to know by `check`."""
        self._withdrawn = Outcome(status, message)

    def check(self) -> None:
        """Raise Refusal if the trip is not to be any more."""
        if self._withdrawn:
            raise Refusal(self._withdrawn.status, self._withdrawn.message)
        if self._cancelled():
            raise Refusal(Status.PREEMPTED, 'cancelled before anything was moved')

    # -- while it runs --------------------------------------------------------------------

    def joining(self, velocity: np.ndarray) -> float:
        """Give the time to get onto the motion where the joints move with a velocity (n,) [s]."""
        moving = dict(zip(self.joints, velocity.tolist(), strict=True))
        return max(controller.joining(
            np.array([moving[joint] for joint in controller.joints]),
            motion_limits(self.robot, controller.joints, self._parameters))
            for controller in self.controllers)

    def send(self, motion: Motion, planned: float, join: float = 0.0) -> None:
        """Hand a motion to the controllers, with the time to get onto it."""
        self.motion, self.planned, self.sent = motion, planned, time.monotonic()
        for controller in self.controllers:
            controller.start(motion.part(controller.joints), join)

    def commanded(self, moment: float) -> MotionState:
        """Where the joints shall be at a moment of the steady clock."""
        states = [controller.commanded(moment) for controller in self.controllers]
        return MotionState(*(np.concatenate(parts) for parts in zip(*states, strict=True)))

    def left(self) -> Motion:
        """Give what is left of the motion."""
        assert self.motion is not None and self.sent is not None
        return self.motion.rest(time.monotonic() - self.sent)

    def stop(self, status: Status, message: str) -> None:
        """Brake; the outcome comes when the arm stands."""
        self.stop_for(Outcome(status, message, (), self.planned))

    def stop_for(self, outcome: Outcome) -> None:
        """Brake; this outcome comes when the arm stands."""
        if self._stopped is None:
            self._stopped = self._brake_all(), outcome
            self._last = self._stopped[0] + self._parameters.arrival_timeout

    def _brake_all(self) -> float:
        """Brake; gives when the arm will stand."""
        return max([self.brake(controller) for controller in self.controllers]) + time.monotonic()

    def brake_others(self, controllers: list[Controller]) -> None:
        """Brake what is not one of these controllers, which another trip has taken."""
        for controller in self.controllers:
            if controller not in controllers:
                self.brake(controller)

    def brake(self, controller: Controller) -> float:
        """Stop one of the controllers; gives how long that takes [s]."""
        joints, measured = controller.joints, self._measured
        limits = motion_limits(self.robot, joints, self._parameters)
        fresh = not measured.stale(joints)
        if fresh:
            self._late = lag(self.robot, joints, controller.commanded, measured)
        if fresh and self._late is None:
            state = MotionState(*measured.state(joints), np.zeros(len(joints)))
            return controller.stop(state, limits, None)
        late = self._late or 0.0   # on its way, as far as is known
        return controller.stop(controller.commanded(time.monotonic() - late), limits, late)

    def look(self) -> Outcome | None:
        """Look how it goes, stop it if need be, and give the outcome when it is over."""
        if self._stopped is None:
            arrived = self._judge()
            if arrived:
                return arrived
        if self._stopped and time.monotonic() >= self._stopped[0]:
            return self._standing(self._stopped[1])
        return None

    def _standing(self, outcome: Outcome) -> Outcome | None:
        """Give the outcome when the arm stands, else brake again: the command may be lost."""
        if self._measured.stale(self.joints) or self._measured.still(self.joints):
            return outcome
        if time.monotonic() > self._last:
            return outcome._replace(message=f'{outcome.message}; but the arm still moves')
        if time.monotonic() > self._stopped[0] + AGAIN:
            self._stopped = self._brake_all(), outcome
        return None

    def _judge(self) -> Outcome | None:
        reason = self._measured.stale(self.joints)
        if not reason:
            self._late = lag(self.robot, self.joints, self.commanded, self._measured)
        if reason:
            self.stop(Status.ROBOT_STATE_STALE, f'stopped on the way: {reason}')
        elif self._cancelled():
            self.stop(Status.PREEMPTED, 'stopped on the way: cancelled')
        elif reason := self._trouble():
            self.stop(Status.CONTROL_FAILED, f'stopped on the way: {reason}')
        elif time.monotonic() >= self.end:
            return self._arrival()
        return None

    @property
    def end(self) -> float:
        """When the motion should be over, on the steady clock."""
        assert self.motion is not None and self.sent is not None
        return self.sent + self.motion.duration

    def _trouble(self) -> str:
        return next((text for one in self.controllers for text in (one.failure, one.deaf())
                     if text), '')

    def _arrival(self) -> Outcome | None:
        assert self.motion is not None
        positions, speeds = self._measured.state(self.joints)
        off = np.abs(offset(self.robot, self.joints, positions, self.motion.goal))
        worst = int(np.argmax(off))
        if off[worst] <= self._parameters.goal_tolerance and not speeds.any():
            text = f'arrived after {time.monotonic() - self.sent:.2f} s, {off[worst]:.1g} off'
            return Outcome(Status.SUCCESS, '; '.join([text, *self.notes]), (), self.planned)
        if time.monotonic() > self.end + self._parameters.arrival_timeout:
            self.stop(Status.CONTROL_FAILED, self._shortfall(positions, off, worst))
        return None

    def _shortfall(self, positions: np.ndarray, off: np.ndarray, worst: int) -> str:
        joint, limit = self.joints[worst], self._parameters.goal_tolerance
        more = int((off > limit).sum()) - 1
        others = f' (and {more} more)' if more > 0 else ''
        where = (f"joint '{joint}'{others} is at {positions[worst]:.4g}, {off[worst]:.3g} from "
                 f'its goal; goal_tolerance allows {limit:g}' if off[worst] > limit
                 else 'it does not come to rest')
        return (f'the robot did not arrive within {self._parameters.arrival_timeout:g} s after '
                f'the motion of {self.planned:.2f} s: {where}')
