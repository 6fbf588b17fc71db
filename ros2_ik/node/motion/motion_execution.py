"""Execution of a motion, until its end."""

from collections.abc import Callable, Mapping
from enum import Enum
import math
from typing import Any

import numpy as np

from ros2_ik.core import Array, Motion, MotionState, Robot, Scene, Status
from ros2_ik.core.internals import PathCollisionCheck
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.controllers.controller import Controller, MOST_LATE, USUAL_DELAY
from ros2_ik.node.controllers.motion_limits import motion_limits, position_bounds
from ros2_ik.node.motion.outcome import Outcome
from ros2_ik.node.motion.tracking import tracking
from ros2_ik.node.parameters import Parameters
from ros2_ik.node.state.measured_joints import MeasuredJoints, offset

N_WAY = 100    # states of a motion among which the nearest to the arm is looked for

Cancelled = Callable[[], str]   # why it is to end, or ''


class Phase(Enum):
    """
    Phase of an execution; it ends with the arm at its goal, or braked, when it stands.

    An execution of which nothing was sent ends as PLANNED.
    """

    PLANNED = 'planned'
    SENT = 'moving'
    BRAKING = 'stopping'


class MotionExecution:
    """
    A motion of the joints of some controllers; it owns these joints until it is over.

    When it is stopped, it is over when the arm stands, with the outcome that was the reason.
    """

    def __init__(self, robot: Robot, controllers: list[Controller], goal: dict[str, float],
                 measured: MeasuredJoints, parameters: Parameters,
                 cancelled: Cancelled | None) -> None:
        self.robot, self.controllers, self.goal = robot, controllers, goal
        self.who = self.group = ''      # who asked for it, and for which group
        self.joints = tuple(joint for one in controllers for joint in one.joints)
        self._measured, self._parameters = measured, parameters
        self._cancelled = cancelled or (lambda: '')
        self.limits = motion_limits(robot, self.joints, parameters)
        self.max_change: Mapping[str, float] = {}    # how far each joint may move [rad, m]
        self.assumed: Mapping[str, Any] = {}    # values for joints without any reading
        self.way: Motion | None = None      # where it is not straight in joint space
        self.motion: Motion | None = None
        self.phase = Phase.PLANNED
        self.sent_at = 0.0              # on the motion clock
        self.planned = 0.0              # duration [s]
        self.notes: list[str] = []
        self.scene: Scene | None = None       # in which the way was checked,
        self.world: Scene | None = None       # and the node's scene that it was made from
        self.add_own: Callable[[Scene], Scene] = lambda scene: scene
        # of the way that is left, in a newer scene
        self.check_left: PathCollisionCheck | None = None
        self._withdrawn: RequestError | None = None     # why it is not to begin
        self._reason: Outcome | None = None   # why it brakes
        self._stopped_at = 0.0          # when it began to brake
        self._open_at = -np.inf         # when controllers had something to answer last

    @property
    def under_way(self) -> bool:
        """Return whether controllers have it: it moves or brakes."""
        return self.phase in (Phase.SENT, Phase.BRAKING)

    def now(self) -> float:
        """Return the time that motions go by [s]."""
        return self.controllers[0].context.now()

    # -- before it runs -------------------------------------------------------------------

    def check(self) -> None:
        """Raise RequestError if the execution was stopped."""
        if self._withdrawn:
            raise self._withdrawn
        if reason := self._cancelled():
            raise RequestError(Status.PREEMPTED, f'{reason}, before anything was moved')

    def send(self, motion: Motion, join: float) -> None:
        """Hand a motion to the controllers, with the time to get to its start [s]."""
        self.motion, self.planned, self.sent_at = motion, motion.duration, self.now()
        self.phase = Phase.SENT
        for controller in self.controllers:
            controller.start(motion.part(controller.joints), join)

    # -- where it is ----------------------------------------------------------------------

    @property
    def end(self) -> float:
        """Time when the joints should be at rest [motion clock]; -inf if others move them."""
        return max((one.rest_at for one in self.controllers if not one.released),
                   default=-np.inf)

    def way_left(self) -> Motion:
        """Return the rest of the motion from just before where the joints are measured."""
        motion = self.motion
        assert motion is not None
        times = np.linspace(0.0, motion.duration, N_WAY)
        way = np.array([motion.at(time).position for time in times])
        apart = offset(self.robot, self.joints, way, self._measured.state(self.joints)[0])
        nearest = int(np.argmin(np.abs(apart).max(axis=1)))
        begin = float(times[max(nearest - 1, 0)])
        return Motion(self.joints, motion.duration - begin, lambda time: motion.at(begin + time))

    # -- how it is stopped ----------------------------------------------------------------

    def stop(self, status: Status, message: str) -> None:
        """Brake, or do not begin; the outcome comes when the arm stands."""
        if self.phase is Phase.PLANNED:
            self._withdrawn = RequestError(status, f'nothing was moved: {message}')
        else:
            self.stop_for(Outcome(status, f'stopped on the way: {message}', (), self.planned))

    def stop_for(self, outcome: Outcome) -> None:
        """Brake; `outcome` is the result, given once the arm stands."""
        if self.phase is Phase.SENT:
            self.phase, self._reason, self._stopped_at = Phase.BRAKING, outcome, self.now()
            defect = None
            for one in self.controllers:
                try:
                    self._brake(one)
                except Exception as error:   # it must keep no other one from being braked
                    defect = error
            if defect:
                raise defect

    def _brake(self, controller: Controller) -> None:
        """Brake a controller's joints, from where they are measured if they are late."""
        joints, at, delay = controller.joints, None, USUAL_DELAY
        if not self._measured.stale(joints):
            found = tracking(self.robot, joints, controller.commanded, self._measured)
            if not found.on_way or found.delay > USUAL_DELAY:
                at = (self._measured_now(controller) if self._measured.tell_velocities(joints)
                      else None)
            # at the beginning it may be later than it looks
            elif self._measured.moment(joints) > controller.began + USUAL_DELAY:
                delay = found.delay
        controller.stop(self.limits.part([self.joints.index(joint) for joint in joints]),
                        position_bounds(self.robot, joints), delay, at)

    def _measured_now(self, controller: Controller) -> MotionState:
        """
        Return the measured positions of a controller's joints, in the turns of its commands.

        Drivers may tell of continuous joints within one turn; they are less than half a turn late.
        """
        position, velocity = self._measured.state(controller.joints)
        told = controller.commanded(self.now()).position
        age = np.array([max(self.now() - self._measured.moment([joint]), 0.0)
                        for joint in controller.joints])
        return MotionState(
            told + offset(self.robot, controller.joints, position, told) + age * velocity,
            velocity, np.zeros(len(velocity)))

    # -- how it goes on -------------------------------------------------------------------

    def supervise(self) -> Outcome | None:
        """Look how it goes, stop it if need be, and return the outcome when it is over."""
        if all(one.refused for one in self.controllers):
            status = self._reason.status if self._reason else Status.CONTROL_FAILED
            return Outcome(status, 'nothing was moved: '
                           + '; '.join(one.failure for one in self.controllers))
        if self.phase is Phase.SENT:
            return self._judge()
        if self.phase is not Phase.BRAKING:
            return None
        if self.now() < self.end:
            return None
        assert self._reason is not None
        return self._standing(self._reason)

    def _judge(self) -> Outcome | None:
        if reason := self._measured.stale(self.joints):
            self.stop(Status.ROBOT_STATE_STALE, reason)
        elif reason := self._cancelled():
            self.stop(Status.PREEMPTED, reason)
        elif reason := self._trouble() or self._astray():
            self.stop(Status.CONTROL_FAILED, reason)
        elif self.now() >= self.end:
            return self._arrival()
        return None

    def _trouble(self) -> str:
        """Return what a controller has against the motion, or ''."""
        late = self.now() > self.sent_at + self._parameters.arrival_timeout
        return next((text for one in self.controllers for text in (
            one.failure, one.unavailable_reason(),
            one.unanswered() if late and math.isinf(one.began) else '') if text), '')

    def _astray(self) -> str:
        """Return which joint is too far from what it is commanded, or ''."""
        assert self.motion is not None
        motion, began = self.motion, min(one.began for one in self.controllers)
        found = tracking(self.robot, self.joints, lambda moment: motion.at(moment - began),
                         self._measured)
        worst, limit = int(np.argmax(found.error)), self._parameters.max_tracking_error
        begins = [min(one.began, self.now()) for one in self.controllers]
        if (apart := max(begins) - min(begins)) > MOST_LATE:    # they were checked as one motion
            return f'the controllers do not keep step: they began {apart:.2g} s apart'
        if len(begins) > 1 and found.aside > limit > 0:
            return (f'the controllers do not keep step: a joint was {found.aside:.3g} from where '
                    'it was commanded to be together with the others; parameter '
                    f'max_tracking_error allows {limit:g}')
        if not found.error[worst] > limit > 0:
            return ''
        return '; '.join(filter(None, [
            self._unanswered(),
            f"joint '{self.joints[worst]}' does not follow: it was at "
            f'{found.measured[worst]:.4g}, commanded to be at {found.commanded[worst]:.4g}, and '
            f'{found.error[worst]:.3g} from all that was commanded in the last {MOST_LATE:g} s; '
            f'parameter max_tracking_error allows {limit:g}']))

    def _unanswered(self) -> str:
        """Return the controller that may still accept a goal and move the arm, or ''."""
        return next((text for one in self.controllers if (text := one.unanswered())), '')

    def _arrival(self) -> Outcome | None:
        reason = self._unsettled(self.controllers, 'its goal')
        if not reason:
            off = self._off(self.controllers).max()
            text = f'arrived after {self.now() - self.sent_at:.2f} s, {off:.1g} off'
            return Outcome(Status.SUCCESS, '; '.join([text, *self.notes]), (), self.planned)
        if self.now() > self.end + self._parameters.arrival_timeout:
            self.stop_for(Outcome(
                Status.CONTROL_FAILED, 'the robot did not arrive within '
                f'{self._parameters.arrival_timeout:g} s after the motion of {self.planned:.2f} '
                f's: {reason}', (), self.planned))
        return None

    # -- how it comes to rest -------------------------------------------------------------

    def _standing(self, outcome: Outcome) -> Outcome | None:
        """Return the outcome once the arm is known to stand, or to take too long for that."""
        for one in self.controllers:
            if one.released:
                outcome = _but(outcome, one.failure)
        ours = [one for one in self.controllers if not one.released]
        joints = [joint for one in ours for joint in one.joints]
        if (reason := self._unanswered()) or not joints:
            self._open_at = self.now()
        elif reason := self._measured.stale(joints):
            more = '' if outcome.status is Status.ROBOT_STATE_STALE else f': {reason}'
            return outcome._replace(
                message=f'{outcome.message}; it is not known whether the arm stands{more}')
        else:
            reason = self._unsettled(ours, 'where it was told to stop')
        if reason:
            late = self.now() > max(self.end, self._stopped_at) + self._parameters.arrival_timeout
            return _but(outcome, reason) if late else None
        if not joints:
            return outcome
        since = max(self.end, self._open_at)
        return outcome if self._measured.moment(joints) >= since else None

    def _unsettled(self, controllers: list[Controller], place: str) -> str:
        """Return why the joints of controllers do not stand where their motions end, or ''."""
        joints = [joint for one in controllers for joint in one.joints]
        if self._measured.moves(joints):
            return 'the arm still moves'
        limit, off = self._parameters.goal_tolerance, self._off(controllers)
        worst = int(np.argmax(off))
        if off[worst] > limit:
            more = int((off > limit).sum()) - 1
            others = f' (and {more} more)' if more > 0 else ''
            at = self._measured.state(joints)[0][worst]
            return (f"joint '{joints[worst]}'{others} is at {at:.4g}, {off[worst]:.3g} from "
                    f'{place}; goal_tolerance allows {limit:g}')
        return self._unanswered()

    def _off(self, controllers: list[Controller]) -> Array:
        """Return how far each joint of controllers is from where its motion ends, (n,)."""
        return np.concatenate([np.abs(offset(
            self.robot, one.joints, one.motion.goal, self._measured.state(one.joints)[0]))
            for one in controllers])

    # -- what is reported of it -----------------------------------------------------------

    def log_line(self, outcome: Outcome) -> str:
        """Return who moved what, how far and how long, and the outcome, once it was sent."""
        assert self.motion is not None
        end = np.concatenate([one.commanded(self.now()).position for one in self.controllers])
        far = np.abs(end - self.motion.at(0.0).position)
        k = int(np.argmax(far))
        group = f"group '{self.group}'" if self.group else f'{len(self.joints)} joints'
        return (f'motion by {self.who} of {group} with {self._names}: '
                f"joint '{self.joints[k]}' went {far[k]:.3g}, the others less, in "
                f'{self.now() - self.sent_at:.2f} s: {Status(outcome.status).name}: '
                f'{outcome.message}')

    def progress(self) -> dict[str, str]:
        """Return names and values for /diagnostics; valid once the motion was sent."""
        gone, left = self.now() - self.sent_at, self.end - self.now()
        return {'asked for by': self.who, 'group': self.group, 'controllers': self._names,
                'state': self.phase.value,
                'fraction': f'{min(gone / self.planned, 1.0) if self.planned else 1.0:.3f}',
                'time left [s]': f'{max(left, 0.0):.3f}'}

    @property
    def _names(self) -> str:
        return ', '.join(controller.name for controller in self.controllers)


def _but(outcome: Outcome, reason: str) -> Outcome:
    """Add what else is true of an outcome, unless it says so already."""
    if reason in outcome.message:
        return outcome
    return outcome._replace(message=f'{outcome.message}; but {reason}')
