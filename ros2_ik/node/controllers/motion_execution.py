"""One motion from the request to its end."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import Enum
from functools import partial
from typing import Any

import numpy as np

from ros2_ik.core import (
    Array,
    Motion,
    MotionLimits,
    MotionState,
    PathCollisionCheck,
    Robot,
    Scene,
    Status,
)
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.controllers.controller import BrakingTask, Controller
from ros2_ik.node.controllers.joint_feedback import Feedback, JointFeedback, MOST, offset, tracking
from ros2_ik.node.controllers.motion_limits import motion_limits, position_bounds
from ros2_ik.node.controllers.outcome import Outcome

SLACK = 0.02   # earlier than it seems to be a robot may be on its way [s]
NEAR = 1e-3    # so alike are places that cannot be told apart [rad, m]
MOMENTS = 400  # of a motion that are looked at for where a robot is
JOIN = 0.1     # seconds that a way beside the motion takes, where they mean nothing
APART = 0.08   # so long after each other may controllers accept one motion [s],
STEP_OUT = 0.25    # part of max_tracking_error by which controllers may be apart on their way
HALF = 0.5     # part of its velocity that joints on an unbraked way have at least
PLACE = 0.1    # who tells no velocities stands when he is at one place for so long [s]
AGAIN = 0.1    # so much later than it should an arm may come to rest, before it is told again [s]

Cancelled = Callable[[], str]   # why it is to end, or ''
Clear = Callable[[Mapping[str, float]], bool]


class Phase(Enum):
    """
    How far an execution has come.

    PLANNED -> SENT -> DONE when the arm is at its goal, or SENT -> BRAKING -> DONE when it
    stands. PLANNED -> DONE is one of which nothing was sent.
    """

    PLANNED = 'planned'
    SENT = 'moving'
    BRAKING = 'stopping'
    DONE = 'done'


class MotionExecution:
    """
    A motion of the joints of some controllers; it owns these joints until it is over.

    When it is stopped, it is over when the arm stands, with the outcome that was the reason.
    """

    def __init__(self, robot: Robot, controllers: list[Controller], goal: dict[str, float],
                 measured: JointFeedback, parameters: Any, cancelled: Cancelled | None) -> None:
        self.robot, self.controllers, self.goal = robot, controllers, goal
        self.who = self.group = ''      # who asked for it, and for which group
        self.joints = tuple(joint for one in controllers for joint in one.joints)
        self._measured, self._parameters = measured, parameters
        self._cancelled = cancelled or (lambda: '')
        self.limits = motion_limits(robot, self.joints, parameters)
        self._before = self.limits      # with those of what it replaced,
        self._joined_at = -np.inf       # on whose way it is until then
        self.max_change: Mapping[str, float] = {}    # how far each joint may move [rad, m]
        self.assumed: Mapping[str, Any] = {}    # values of joints that nothing tells of
        self.motion: Motion | None = None
        self.phase = Phase.PLANNED
        self.sent_at = 0.0              # on the motion clock
        self.planned = 0.0              # duration, without what goes before it [s]
        self.notes: list[str] = []
        self.scene: Scene | None = None       # in which the way was checked,
        self.world: Scene | None = None       # and that of the node which it was made of
        self.add_own: Callable[[Scene], Scene] = lambda scene: scene
        # of the way that is left, in a newer scene
        self.check_left: PathCollisionCheck | None = None
        self.done: Callable[[Outcome], None] | None = None
        self.error = 0.0                # of the farthest joint when last looked at [rad, m]
        self.tracking_delay = 0.0                 # when it was known last [s]
        self._withdrawn: Outcome | None = None
        self.rest_at = np.inf           # when the arm should stand, once it brakes
        self._reason: Outcome | None = None   # why it brakes
        self._open_at = -np.inf         # when controllers had something to answer last
        self._last = 0.0                # until when it is told to brake

    @property
    def under_way(self) -> bool:
        """Whether controllers have it: it moves or brakes."""
        return self.phase in (Phase.SENT, Phase.BRAKING)

    def now(self) -> float:
        """Return the time that motions go by [s]."""
        return self.controllers[0].context.now()

    def shares(self, other: 'MotionExecution') -> bool:
        """Return whether both have a joint."""
        return not set(self.joints).isdisjoint(other.joints)

    # -- before it runs -------------------------------------------------------------------

    def withdraw(self, status: Status, message: str) -> None:
        """Have the execution end before it is sent; who prepares it comes to know by `check`."""
        self._withdrawn = Outcome(status, message)

    def check(self) -> None:
        """Raise RequestError if the execution is not to be any more."""
        if self._withdrawn:
            raise RequestError(self._withdrawn.status, self._withdrawn.message)
        if reason := self._cancelled():
            raise RequestError(Status.PREEMPTED, f'{reason}, before anything was moved')

    # -- while it runs --------------------------------------------------------------------

    def blend_time(self, states: list[MotionState], tracking_delay: float,
                   apart: Array) -> float:
        """
        Return the time to get onto the motion from where the joints are in one of the states [s].

        They may be up to `tracking_delay` [s] late, and `apart` (n,) from there.
        """
        def one(controller: Controller) -> float:
            chosen = [self.joints.index(joint) for joint in controller.joints]
            part = [MotionState(*(values[chosen] for values in state)) for state in states]
            return controller.blend_time(part, self.limits.part(chosen), tracking_delay,
                                         apart[chosen])
        return max(map(one, self.controllers))

    def send(self, motion: Motion, planned: float, join: float = 0.0) -> None:
        """Hand a motion to the controllers, with the time to get onto it."""
        self.motion, self.planned, self.sent_at = motion, planned, self.now()
        self.phase = Phase.SENT
        for controller in self.controllers:
            controller.start(motion.part(controller.joints), join)

    def take_over(self, others: list['MotionExecution'], until: float) -> None:
        """
        Replace others, on whose way this one is until a moment of the motion clock.

        Who is faster there than its own limits allow by now can be stopped only by theirs.
        """
        self._joined_at = until
        for other in others:
            k = [self.joints.index(joint) for joint in other.joints if joint in self.joints]
            theirs = other.limits_now.part([i for i, joint in enumerate(other.joints)
                                            if joint in self.joints])
            self._before = self._before.at_least(k, theirs)

    @property
    def limits_now(self) -> MotionLimits:
        """What the joints may be stopped with where they are by now."""
        return self._before if self.now() < self._joined_at else self.limits

    def commanded(self, moment: float, now: float | None = None) -> MotionState:
        """Where the joints shall be at a moment of the motion clock, as it looks `now`."""
        states = [controller.commanded(moment, now) for controller in self.controllers]
        return MotionState(*(np.concatenate(parts) for parts in zip(*states, strict=True)))

    def ahead(self) -> Motion:
        """
        Return the way from where the joints are measured onto the motion, and on to its end.

        It joins the motion where that was nearest to them by now, and rather earlier: where the
        controller has it, an arm that is late has yet to come.
        """
        assert self.motion is not None
        reached = min(max(self.now() - self.sent_at, 0.0), self.motion.duration)
        moments = np.linspace(0.0, reached, min(2 + int(reached / SLACK), MOMENTS))
        at = self._measured.state(self.joints)[0]
        apart = np.array([np.abs(offset(self.robot, self.joints, self.motion.at(moment).position,
                                        at)).max() for moment in moments.tolist()])
        first = float(moments[np.argmax(apart <= apart.min() + NEAR)])
        rest = self.motion.rest(max(first - (moments[1] - moments[0]) - SLACK, 0.0))
        return self._straight(at, rest.at(0.0).position).then(rest, JOIN)

    def braking_way(self) -> Motion:
        """Return the way from where the joints are measured to where they were told to rest."""
        return self.way_to({joint: place for controller in self.controllers for joint, place in
                            zip(controller.joints, controller.goal.tolist(), strict=True)})

    def way_to(self, ends: Mapping[str, float]) -> Motion:
        """Return the way of some joints from where they are measured; the others stay there."""
        at = self._measured.state(self.joints)[0]
        return self._straight(at, np.array([ends.get(joint, place) for joint, place in zip(
            self.joints, at.tolist(), strict=True)]))

    def _straight(self, start: Array, end: Array) -> Motion:
        """Return a straight way, for a check of it only: it has no velocities."""
        way, rest = offset(self.robot, self.joints, end, start), np.zeros(len(start))
        return Motion(self.joints, JOIN, lambda time: MotionState(
            end + (min(time / JOIN, 1.0) - 1.0) * way, rest, rest))

    def stop(self, status: Status, message: str) -> None:
        """Brake; the outcome comes when the arm stands."""
        self.stop_for(Outcome(status, message, (), self.planned))

    def stop_for(self, outcome: Outcome, clear: Clear | None = None) -> None:
        """
        Brake; this outcome comes when the arm stands.

        `clear` says whether joints may go somewhere, if something has come into the way.
        """
        if self.phase is Phase.SENT:
            self.rest_at = self._brake_all(clear)
            self.phase, self._reason = Phase.BRAKING, outcome
            self._last = self.rest_at + self._parameters.arrival_timeout

    def add_to_reason(self, text: str) -> None:
        """Say more of why it was stopped."""
        assert self._reason is not None
        self._reason = self._reason._replace(message=f'{self._reason.message}; {text}')

    def _brake_all(self, clear: Clear | None) -> float:
        """Brake; gives when the arm will stand."""
        return self.now() + max([self.brake(controller, clear) for controller in self.controllers])

    def brake_others(self, controllers: list[Controller]) -> None:
        """Brake what is not one of these controllers, which another execution has taken."""
        for controller in self.controllers:
            if controller not in controllers:
                self.brake(controller)

    def brake(self, controller: Controller, clear: Clear | None = None) -> float:
        """Stop one of the controllers; gives how long that takes [s]."""
        return controller.stop(self._task_clear(controller, clear))

    def _task_clear(self, controller: Controller, clear: Clear | None) -> BrakingTask:
        """Return what there is to know for braking when something may have come into the way."""
        def may_go(end: Array) -> bool:
            return clear is None or clear(dict(zip(controller.joints, end.tolist(), strict=True)))
        return replace(self._task(controller), clear=clear and may_go,
                       anew=lambda: self._task_clear(controller, clear))

    def _brake_again(self, controllers: list[Controller], anew: bool = False) -> float:
        """Tell some to brake once more; gives when the arm will stand."""
        task = self._plain_task if anew else self._task
        return self.now() + max([controller.stop_again(task(controller), anew)
                                 for controller in controllers])

    def _rest_of_all(self) -> float:
        """When the joints will stand by what controllers were told, on the motion clock."""
        return max((one.rest_at for one in self.controllers if not one.released),
                   default=self.now())

    def _unheard(self, controller: Controller) -> bool:
        """
        Return whether joints are plainly on their way as if they had not been told to brake.

        Late readings may tell of the motion before, which came through the same places with
        another velocity, or rested there.
        """
        joints, measured, seen = controller.joints, self._measured, self._feedback(controller)
        if measured.stale(joints) or not controller.goes_on(seen):
            return False
        found = tracking(self.robot, joints, controller.unbraked, measured, controller.delay)
        if found.tracking_delay is None or seen.sure:
            return found.tracking_delay is not None
        wanted = controller.unbraked(measured.heard(joints) - found.tracking_delay).velocity
        return seen.speeds and bool(seen.velocity @ wanted > HALF * (wanted @ wanted))

    def _task(self, controller: Controller) -> BrakingTask:
        """Return what there is to know for braking a controller's joints."""
        task, joints, measured = self._plain_task(controller), controller.joints, self._measured
        if measured.stale(joints):
            return task
        found = tracking(self.robot, joints, controller.commanded, measured, controller.delay)
        delay = found.tracking_delay
        return replace(task, tracking_delay=self.tracking_delay if delay is None else delay,
                       feedback=self._feedback(controller), on_way=delay is not None)

    def _feedback(self, controller: Controller) -> Feedback:
        """
        Return what is known of a controller's joints, in the turns of its commands.

        Drivers may tell of continuous joints within one turn; no motion takes them farther.
        """
        seen, middle = self._measured.feedback(controller.joints), controller.middle
        return seen._replace(position=middle + offset(self.robot, controller.joints,
                                                      seen.position, middle))

    def _plain_task(self, controller: Controller) -> BrakingTask:
        """Say the same without what is measured now."""
        # what was planned with more than the parameters allow by now needs that to come to rest
        limits = self.limits_now.part([self.joints.index(joint) for joint in controller.joints])
        return BrakingTask(limits, position_bounds(self.robot, controller.joints),
                           self.tracking_delay, anew=partial(self._task, controller))

    def look(self) -> Outcome | None:
        """Look how it goes, stop it if need be, and give the outcome when it is over."""
        if all(one.refused for one in self.controllers):
            return self._refused()
        if self.phase is Phase.SENT:
            arrived = self._judge()
            if arrived:
                return arrived
        if self.phase is not Phase.BRAKING:
            return None
        assert self._reason is not None
        if self.now() < self._last:
            if unheard := [one for one in self.controllers if self._unheard(one)]:
                self._brake_again(unheard, anew=True)
            for one in self.controllers:
                if one.reconsider(partial(self._task, one)):
                    self._last = one.rest_at + self._parameters.arrival_timeout
            self.rest_at = max(self._rest_of_all(), self.rest_at)
            self._last = max(self._last, self.rest_at)
        if self.now() < self.rest_at:
            return None
        outcome = self._standing(self._reason)
        return outcome and self._with_place(outcome)

    def _with_place(self, outcome: Outcome) -> Outcome:
        """Add to an outcome that the arm stands at its goal all the same, if so."""
        assert self.motion is not None
        if self._measured.stale(self.joints) or self._off_goal().max() > (
                self._parameters.goal_tolerance):
            return outcome
        return outcome._replace(message=f'{outcome.message}; the arm is at its goal meanwhile')

    def _refused(self) -> Outcome:
        """Return the outcome where no controller took the motion."""
        status = self._reason.status if self._reason else Status.CONTROL_FAILED
        return Outcome(status, 'nothing was moved: '
                       + '; '.join(one.failure for one in self.controllers))

    def _unanswered(self) -> str:
        """Say which controller may yet take what was sent, so that standing is no rest, or ''."""
        return next((text for one in self.controllers if (text := one.unanswered())), '')

    def _standing(self, outcome: Outcome) -> Outcome | None:
        """Return the outcome when the arm stands, else brake again: the command may be lost."""
        if reason := self._unanswered():
            self._open_at = self.now()
            if self._open_at <= self._last:
                return None
            for one in self.controllers:
                one.disown()
            return outcome._replace(message=f'{outcome.message}; but {reason}')
        ours = [one for one in self.controllers if not one.released]
        for one in self.controllers:
            if one.released and one.failure not in outcome.message:
                outcome = outcome._replace(message=f'{outcome.message}; but {one.failure}')
        joints = [joint for one in ours for joint in one.joints]
        if not joints:
            return outcome
        if reason := self._measured.stale(joints):
            more = '' if outcome.status is Status.ROBOT_STATE_STALE else f': {reason}'
            return outcome._replace(
                message=f'{outcome.message}; it is not known whether the arm stands{more}')
        reason = self._unsettled(ours)
        untold = not reason and self._measured.untold(joints, PLACE)
        if not reason and not untold:   # as of after the controllers' last answers
            known = self._measured.heard(joints) > self._open_at
            return outcome if known or self.now() > self._last else None
        if self.now() > self._last:
            return outcome._replace(message=f'{outcome.message}; but {reason or untold}')
        astray = [one for one in ours
                  if reason and not one.comes_to_rest(self._feedback(one))]
        if astray and self.now() > self.rest_at + AGAIN:
            self.rest_at, self._reason = self._brake_again(astray), outcome
        return None

    def _unsettled(self, controllers: list[Controller]) -> str:
        """
        Return why the joints do not stand where they were told to stop, or ''.

        Readings that are old may show them at rest before they moved.
        """
        for one in controllers:
            at, speeds = self._measured.state(one.joints)
            if speeds.any():
                return 'the arm still moves'
            told = one.commanded(self.now()).position
            off = np.abs(offset(self.robot, one.joints, told, at))
            worst = int(np.argmax(off))
            if off[worst] > self._parameters.goal_tolerance:
                return (f"joint_states have joint '{one.joints[worst]}' at {at[worst]:.4g}, and "
                        f'it was told to stop at {told[worst]:.4g}')
        return ''

    def _judge(self) -> Outcome | None:
        if reason := self._measured.stale(self.joints):
            self.stop(Status.ROBOT_STATE_STALE, f'stopped on the way: {reason}')
        elif reason := self._cancelled():
            self.stop(Status.PREEMPTED, f'stopped on the way: {reason}')
        elif reason := self._trouble() or self._astray():
            self.stop(Status.CONTROL_FAILED, f'stopped on the way: {reason}')
        elif self.now() >= self.end:
            return self._arrival()
        return None

    def _astray(self) -> str:
        """Return which joint is too far from what it is commanded, or ''."""
        found = tracking(self.robot, self.joints, self.commanded, self._measured,
                         max(one.delay for one in self.controllers))
        if found.tracking_delay is not None:
            self.tracking_delay = found.tracking_delay
        worst, limit = int(np.argmax(found.error)), self._parameters.max_tracking_error
        self.error = float(found.error[worst])
        if not limit > 0:
            return ''
        if apart := self._out_of_step(found.aside, STEP_OUT * limit):
            return '; '.join(filter(None, [self._unanswered(), apart]))
        if not self.error > limit:
            return ''
        return '; '.join(filter(None, [
            self._unanswered(),
            f"joint '{self.joints[worst]}' does not follow: it was at "
            f'{found.measured[worst]:.4g}, commanded to be at {found.commanded[worst]:.4g}, and '
            f'{self.error:.3g} from all that was commanded in the last {MOST:g} s; parameter '
            f'max_tracking_error allows {limit:g}']))

    def _out_of_step(self, aside: float, limit: float) -> str:
        """Say that controllers do not keep step, or '': their way was checked together."""
        took = [one.took for one in self.controllers]
        if max(took) - min(took) > APART:
            return (f'the controllers do not keep step: they took {min(took):.2g} and '
                    f'{max(took):.2g} s to accept the motion, more than {APART:g} s apart')
        if len(took) > 1 and aside > limit:
            return (f'the controllers do not keep step: a joint was {aside:.3g} from where it was '
                    'commanded to be together with the others; a quarter of parameter '
                    f'max_tracking_error is allowed, {limit:g}')
        return ''

    @property
    def end(self) -> float:
        """When the motion should be over, on the motion clock."""
        return max(controller.ends_at for controller in self.controllers)

    def _trouble(self) -> str:
        return next((text for one in self.controllers
                     for text in (one.failure, one.unavailable_reason()) if text), '')

    def _arrival(self) -> Outcome | None:
        positions, speeds = self._measured.state(self.joints)
        off = self._off_goal()
        worst = int(np.argmax(off))
        open_yet = self._measured.untold(self.joints, PLACE) or self._unanswered()
        if off[worst] <= self._parameters.goal_tolerance and not speeds.any() and not open_yet:
            text = f'arrived after {self.now() - self.sent_at:.2f} s, {off[worst]:.1g} off'
            return Outcome(Status.SUCCESS, '; '.join([text, *self.notes]), (), self.planned)
        if self.now() > self.end + self._parameters.arrival_timeout:
            self.stop(Status.CONTROL_FAILED, self._shortfall(positions, off, worst))
        return None

    def _off_goal(self) -> Array:
        """Return how far each joint is from its goal, (n,)."""
        assert self.motion is not None
        off: Array = np.abs(offset(self.robot, self.joints,
                                        self._measured.state(self.joints)[0], self.motion.goal))
        return off

    def _shortfall(self, positions: Array, off: Array, worst: int) -> str:
        joint, limit = self.joints[worst], self._parameters.goal_tolerance
        more = int((off > limit).sum()) - 1
        others = f' (and {more} more)' if more > 0 else ''
        where = (f"joint '{joint}'{others} is at {positions[worst]:.4g}, {off[worst]:.3g} from "
                 f'its goal; goal_tolerance allows {limit:g}' if off[worst] > limit
                 else self._unanswered() or 'it does not come to rest')
        return (f'the robot did not arrive within {self._parameters.arrival_timeout:g} s after '
                f'the motion of {self.planned:.2f} s: {where}')
