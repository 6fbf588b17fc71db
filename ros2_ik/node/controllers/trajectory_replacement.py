"""Where joints are, and should be, while a motion is made that is to take over."""

from typing import Any

import numpy as np

from ros2_ik.core import Array, Motion, MotionState
from ros2_ik.node.controllers.joint_feedback import ASIDE, JointFeedback, MOST, offset, tracking
from ros2_ik.node.controllers.motion_execution import MotionExecution

CHANGE = 1e-3   # where one motion goes over into another, so far apart they may be [rad, m]
FASTER = 0.1    # and their velocities [rad/s, m/s]
LOOKS = (0.0, 0.5, 1.0)   # parts of the time until then, when it is looked how fast they are
AHEAD = 0.01    # of the motion that it joins is a robot [s]


class TrajectoryReplacement:
    """
    Where an execution's joints are at a moment of the motion clock, until the execution begins.

    As measured when this was made, or on the way of `others`, the executions it will replace.
    """

    def __init__(self, execution: MotionExecution, others: list[MotionExecution],
                 measured: JointFeedback,
                 parameters: Any) -> None:
        self._execution, self._others, self._measured = execution, others, measured
        self._parameters = parameters
        position, velocity = measured.state(execution.joints)
        self._apart = measured.tremble(execution.joints)
        self._continue(position)
        self._rest = MotionState(position, velocity, np.zeros(len(position)))

    def _continue(self, position: Array) -> None:
        """
        Begin where joints were told to rest, if that is where they are.

        Readings may be a bit old, and back to them would be a step.
        """
        for controller in self._execution.controllers:
            for joint, told in controller.resting().items():
                k = self._execution.joints.index(joint)
                off = abs(position[k] - told)
                if off <= self._parameters.start_tolerance:
                    position[k], self._apart[k] = told, max(self._apart[k], off)

    def at(self, moment: float, now: float | None = None) -> MotionState:
        """Return the state at a moment, as it looks `now`."""
        state = MotionState(*(values.copy() for values in self._rest))
        for other in self._others:
            there = other.commanded(moment, now)
            for k, joint in enumerate(other.joints):
                if joint in self._execution.joints:
                    for values, theirs in zip(state, there, strict=True):
                        values[self._execution.joints.index(joint)] = theirs[k]
        return state

    def strayed(self, moment: float) -> bool:
        """Return whether the robot is not where it should be at this moment."""
        wanted = self.at(moment)
        late = MOST * np.abs(wanted.velocity) if self._others else 0.0
        return bool((np.abs(self._behind(wanted))
                     > self._parameters.start_tolerance + late).any())

    def changed(self, moment: float, start: MotionState, now: float | None = None) -> bool:
        """Return whether it will not be at a state then: those replaced go another way now."""
        there = self.at(moment, now)
        return bool((np.abs(there.position - start.position) > CHANGE).any()
                    or (np.abs(there.velocity - start.velocity) > FASTER).any())

    def before(self, motion: Motion, begin: float, lead: float,
               now: float) -> Motion:
        """
        Return what is left `now` of the way until `begin` + `lead`, and then the motion.

        The robot is somewhat behind its commands: behind its motion it would have to go faster
        than that for a while, so it shall rather be ahead. Who takes commands at once goes on
        from the last one: back to the robot would be a jump.
        """
        way = Motion.recorded(self._execution.joints, lead,
                              lambda time: self.at(begin + time, now))
        late = AHEAD + self.tracking_delay()
        if any(controller.immediate for controller in self._execution.controllers):
            late = 0.0
        way = way.rest(max(now - begin - late, 0.0))
        return way.then(motion, way.duration)

    def until(self, switch: float) -> float:
        """
        Return until when joints may be on the way of the others, whose commands end at `switch`.

        A controller may be late, so may be an arm, and what is measured of it as late again.
        """
        delay = max(controller.delay for controller in self._execution.controllers)
        return switch + delay + 2 * self.tracking_delay()

    def blend_time(self, moment: float, lead: float) -> float:
        """
        Return the time to get onto a motion that is sent at a moment, or up to `lead` later [s].

        Readings that are old may come from a clock that is behind: then the robot is as late as
        they are, beyond what they show. Where readings tremble, or are not quite where the
        joints were told to rest, it is not known where a controller begins.
        """
        if not self._others:
            return self._execution.blend_time([self._rest], 0.0, self._apart)
        age = max(moment - self._measured.heard(self._execution.joints), 0.0)
        states = [self.at(moment + part * lead) for part in LOOKS]
        return self._execution.blend_time(states, self.tracking_delay() + age,
                                          np.full(len(self._apart), ASIDE))

    def tracking_delay(self) -> float:
        """Return by how much the robot is seen to be behind its commands [s]."""
        found = tracking(self._execution.robot, self._execution.joints, self.at, self._measured)
        return MOST if found.tracking_delay is None else found.tracking_delay

    def _behind(self, wanted: MotionState) -> Array:
        return offset(self._execution.robot, self._execution.joints, wanted.position,
                      self._measured.state(self._execution.joints)[0])
