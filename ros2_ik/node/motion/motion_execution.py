"""Execution of one motion: sending, supervision, braking, and the outcome."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
import math
import traceback
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ros2_ik.core import Array, Contact, Motion, Robot, Scene, Status
from ros2_ik.core.internals import PathCollisionCheck
from ros2_ik.node.controllers.controller import (
    BrakingLimits,
    Controller,
    GOAL_EPSILON,
    MAX_DELAY,
    motion_limits,
    N_PATH_SAMPLES,
    nearest_time,
    position_bounds,
)
from ros2_ik.node.motion.tracking import tracking

T = TypeVar('T')
ON_THE_WAY = 'stopped on the way: '


class Outcome(NamedTuple):
    """
    Final status of a motion.

    `contacts` are the contacts in `scene` that blocked the motion. `motion_seconds` is the planned
    duration of the motion sent to controllers [s]; 0 if none was sent, or if all rejected it.
    """

    status: Status
    message: str
    contacts: tuple[Contact, ...] = ()
    motion_seconds: float = 0.0
    scene: Scene | None = None


@dataclass(frozen=True)
class MotionRequest:
    """
    A request to move a robot; `joints` are the goal positions by joint name.

    - `group`: name of the group whose joints may move; '' means all joints.
    - `extend_scene`: adds the request's objects and allowed collisions to the node's scene.
    - `stop_count`: the executor's count when the request arrived; a later stop rejects the motion.
    - `requester`: the service or action that requested the motion, for the log and for errors.
    - `velocity_scaling`: 0 means the parameter velocity_scaling.
    - `cancel_reason`: polled until the end; returns a reason to stop, or ''.
    - `max_joint_change`: maximum distances from start to goal, by joint name [rad, m].
    - `path_motion`: motion from the current state to `joints`; None means straight in joint space.
    """

    robot: Robot
    joints: Mapping[str, Any]
    group: str = ''
    avoid_collisions: bool = True
    extend_scene: Callable[[Scene], Scene] | None = None
    stop_count: int = 0
    requester: str = ''
    velocity_scaling: float = 0.0
    cancel_reason: Callable[[], str] = lambda: ''
    max_joint_change: Mapping[str, float] = field(default_factory=dict)
    path_motion: Motion | None = None


class MotionExecution:
    """
    A motion of the joints of one or more controllers; it owns these joints until its end.

    A stopped execution ends when the arm is at rest; its outcome is the reason for the stop.
    `request.joints` are the goal positions of some or all joints of the controllers.
    """

    def __init__(self, request: MotionRequest, controllers: list[Controller]) -> None:
        self.request, self.robot, self.controllers = request, request.robot, controllers
        self.joints = tuple(joint for one in controllers for joint in one.joints)
        context = controllers[0].context
        self._measured, self._parameters = context.joint_states, context.parameters
        self.now = context.clock.now      # returns the time of the motion clock [s]
        self.limits = motion_limits(request.robot, self.joints, context.parameters)
        self.motion: Motion | None = None       # None until it is sent to the controllers
        self.sent_at = 0.0              # on the motion clock [s]
        self.reason: Outcome | None = None      # outcome of a braked motion
        self.notes: list[str] = []
        self.node_scene: Scene | None = None       # the node's scene at the last collision check
        self.checked_scene: Scene | None = None     # `node_scene` with the request's additions
        # running check of the remaining path in a newer scene
        self.recheck: PathCollisionCheck | None = None
        self._stopped_at = 0.0          # start of braking, motion clock [s]
        self._unanswered_at = -np.inf   # last time with an unanswered goal, motion clock [s]

    def _outcome(self, status: Status, message: str,
                 contacts: tuple[Contact, ...] = ()) -> Outcome:
        time = self.motion.duration if self.motion else 0.0
        return Outcome(status, message, contacts, time, self.checked_scene if contacts else None)

    # -- start ----------------------------------------------------------------------------

    def send(self, motion: Motion, start_delay: float) -> None:
        """Send a motion to the controllers; joints reach its start within `start_delay` [s]."""
        self.motion, self.sent_at = motion, self.now()
        for controller in self.controllers:
            controller.start(motion.select(controller.joints), start_delay)

    # -- progress -------------------------------------------------------------------------

    @property
    def end(self) -> float:
        """Planned end on the motion clock [s]; -inf if all controllers were released."""
        return max((one.end_time for one in self.controllers if one.has_motion),
                   default=-math.inf)

    def remaining_motion(self) -> Motion:
        """Return the remaining motion, from one sample before the sample nearest to the arm."""
        motion = self.motion
        assert motion is not None
        near = motion.at(self.now() - min(one.start_time for one in self.controllers)).position
        # the measured positions; continuous joints are in the same turn as their commands
        at = near - self._measured.difference(self.joints, near)
        begin = max(nearest_time(motion, at, motion.duration)
                    - motion.duration / N_PATH_SAMPLES, 0.0)
        return Motion(self.joints, motion.duration - begin, lambda time: motion.at(begin + time))

    # -- braking --------------------------------------------------------------------------

    def stop(self, status: Status, message: str, contacts: tuple[Contact, ...] = ()) -> None:
        """Brake the motion, if it was sent; `supervise` returns the outcome at rest."""
        if self.motion is None or self.reason:
            return
        on_the_way = '' if self.now() > self.end else ON_THE_WAY
        self.reason = self._outcome(status, on_the_way + message, contacts)
        self._stopped_at = self.now()
        # Several controllers stop together, so that the arm stays on the line that was checked.
        # If one controller's joints do not follow, each controller brakes on its own.
        times = self._brake_each(lambda one, within: one.braking_time(within)) \
            if len(self.controllers) > 1 else []
        duration = max(times, default=0.0)
        self._brake_each(lambda one, within: one.stop(within._replace(
            duration=duration if duration < math.inf else 0.0)))

    def _brake_each(self, brake: Callable[[Controller, BrakingLimits], T]) -> list[T]:
        """Call `brake` for each controller that has a motion; return the results."""
        results = []
        for one in self.controllers:
            if not one.has_motion:
                continue
            try:
                results.append(brake(one, BrakingLimits(
                    motion_limits(self.robot, one.joints, self._parameters),
                    position_bounds(self.robot, one.joints))))
            # this error must not keep other controllers and motions from braking
            except Exception as error:
                one.context.node.get_logger().error(traceback.format_exc())
                assert self.reason
                self.reason = _add_reason(self.reason, f"controller '{one.name}' was not braked: "
                                          f'{type(error).__name__}: {error}')
        return results

    # -- supervision ----------------------------------------------------------------------

    def supervise(self) -> Outcome | None:
        """Check the motion, brake it on a fault, and return the outcome at its end, else None."""
        # all controllers have rejected the motion, so there is nothing to brake
        if all(one.rejected for one in self.controllers):
            status = self.reason.status if self.reason else Status.CONTROL_FAILED
            return Outcome(status, 'nothing was moved: '
                           + '; '.join(one.failure for one in self.controllers))
        if self.reason is None and (fault := self._fault()):
            self.stop(*fault)
        return self._outcome_at_end() if self.now() >= self.end else None

    def _fault(self) -> tuple[Status, str] | None:
        """Return status and reason if the motion must stop, else None."""
        if reason := self._measured.stale_reason(self.joints):
            return Status.ROBOT_STATE_STALE, reason
        if reason := self.request.cancel_reason():
            return Status.PREEMPTED, reason
        reason = self._controller_fault() or self._tracking_fault()
        return (Status.CONTROL_FAILED, reason) if reason else None

    def _controller_fault(self) -> str:
        """Return the failure of a controller, or ''."""
        # an unanswered goal counts as a fault only after arrival_timeout
        late = self.now() > self.sent_at + self._parameters.arrival_timeout
        return next((text for one in self.controllers for text in (
            one.failure, one.unavailable_reason(),
            one.unanswered_reason() if late and math.isinf(one.start_time) else '') if text), '')

    def _tracking_fault(self) -> str:
        """Return a text if a joint does not follow or controllers are not synchronous, else ''."""
        assert self.motion is not None
        motion, start_time = self.motion, min(one.start_time for one in self.controllers)
        found = tracking(self.joints, lambda time: motion.at(time - start_time), self._measured,
                         -max(one.max_lead for one in self.controllers))
        worst, limit = int(np.argmax(found.error)), self._parameters.max_tracking_error
        # the path was checked as one motion of all controllers, so they must be synchronous
        begins = [min(one.start_time, self.now()) for one in self.controllers]
        if (apart := max(begins) - min(begins)) > MAX_DELAY:
            return f'the controllers are not synchronous: they started {apart:.2g} s apart'
        if len(begins) > 1 and (away := found.path_error) > limit > 0:
            return (f'the controllers are not synchronous: a joint was {away:.3g} from the '
                    f'common path of all joints; parameter max_tracking_error allows {limit:g}')
        if not found.error[worst] > limit > 0:
            return ''
        joint = self.joints[worst]
        at = self._measured.state([joint])[0][0]
        commanded = motion.at(self._measured.oldest_time([joint]) - start_time).position[worst]
        return (f"joint '{joint}' does not follow: it was at {at:.4g}, commanded to be at "
                f'{commanded:.4g}, '
                f'and {found.error[worst]:.3g} from all its commands of the last {MAX_DELAY:g} s; '
                f'parameter max_tracking_error allows {limit:g}')

    # -- rest -----------------------------------------------------------------------------

    def _outcome_at_end(self) -> Outcome | None:
        """Return the outcome at rest, or when a stopped arm fails to rest in time; else None."""
        # another client may move the joints of released controllers
        ours = [one for one in self.controllers if one.has_motion]
        joints = [joint for one in ours for joint in one.joints]
        outcome, timeout = self.reason, self._parameters.arrival_timeout
        if outcome:
            for one in self.controllers:
                outcome = _add_reason(outcome, one.failure)
        # a controller may still accept a goal, and then move the arm
        reason = next((text for one in self.controllers if (text := one.unanswered_reason())), '')
        if reason:
            self._unanswered_at = self.now()
        elif not joints:
            return outcome
        elif outcome and (stale := self._measured.stale_reason(joints)):
            return _add_reason(outcome, f'it is not known whether the arm is at rest: {stale}')
        else:
            reason = self._unsettled_reason(ours)
        if reason and self.now() > max(self.end, self._stopped_at) + timeout:
            if outcome:
                return _add_reason(outcome, reason)
            self.stop(Status.CONTROL_FAILED, 'the robot did not arrive within '
                      f'{timeout:g} s after the end of the motion: {reason}')
        # wait for readings that were measured after the end
        if reason or self._measured.oldest_time(joints) < max(self.end, self._unanswered_at):
            return None
        if outcome and outcome.message.startswith(ON_THE_WAY) and self._kept_goal(ours):
            return _add_reason(outcome, 'it was too late to brake before the goal')
        text = (f'arrived after {self.now() - self.sent_at:.2f} s, '
                f'{self._end_errors(ours).max():.1g} from the goal')
        return outcome or self._outcome(Status.SUCCESS, '; '.join([text, *self.notes]))

    def _kept_goal(self, controllers: list[Controller]) -> bool:
        """Return whether the controllers' current motions end at the goal of the sent motion."""
        assert self.motion is not None
        goal = self.motion.select(tuple(joint for one in controllers for joint in one.joints)).goal
        return np.allclose(np.concatenate([one.motion.goal for one in controllers]), goal,
                           rtol=0.0, atol=GOAL_EPSILON)

    def _unsettled_reason(self, controllers: list[Controller]) -> str:
        """Return why the joints of controllers are not at rest at the end of the motion, or ''."""
        joints = [joint for one in controllers for joint in one.joints]
        if reason := self._measured.moving_reason(joints):
            return reason
        limit, errors = self._parameters.goal_tolerance, self._end_errors(controllers)
        worst = int(np.argmax(errors))
        if errors[worst] <= limit:
            return ''
        place = 'its commanded rest position' if self.reason else 'its goal'
        return (f"joint '{joints[worst]}' is at {self._measured.state(joints)[0][worst]:.4g}, "
                f'{errors[worst]:.3g} from {place}; goal_tolerance allows {limit:g}')

    def _end_errors(self, controllers: list[Controller]) -> Array:
        """Return the distances (n,) of measured joints from the end of the motion [rad, m]."""
        return np.concatenate([np.abs(self._measured.difference(one.joints, one.motion.goal))
                               for one in controllers])


def _add_reason(outcome: Outcome, reason: str) -> Outcome:
    """Return the outcome with a reason added to its message, unless it is there already."""
    if reason in outcome.message:
        return outcome
    return outcome._replace(message=f'{outcome.message}; but {reason}')
