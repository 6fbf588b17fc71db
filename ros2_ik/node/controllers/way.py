"""What is in the way of a motion."""

from typing import Any

from ros2_ik.core import Blockage, Motion, Robot, Scene, Status, WayCheck
from ros2_ik.node.controllers.outcome import Blocked, Outcome
from ros2_ik.node.controllers.trip import Trip
from ros2_ik.node.controllers.turns import Turns
from ros2_ik.node.refusal import Refusal

SLICE = 1e-3   # computing time of a check before others have their turn [s]


class Ways:
    """Checks the ways of trips; `state` completes joint values, `scene` is the PlanningScene."""

    def __init__(self, state: Any, scene: Any, parameters: Any, turns: Turns) -> None:
        self._state, self._scene = state, scene
        self._parameters, self._turns = parameters, turns

    async def check(self, trip: Trip, motion: Motion, scene: Scene | None) -> None:
        """Check a motion, with turns for others; raises Blocked or Refusal."""
        scene = self._scene.known.scene if scene is None else scene
        if scene.robot.key != trip.robot.key:
            raise Refusal(Status.INVALID_ROBOT_STATE, 'the scene is one of another robot')
        checker, notes = self._scene.checker(scene)
        trip.notes = list(notes)
        if checker is None:
            return
        first = dict(zip(trip.joints, motion.at(0.0).position.tolist(), strict=True))
        start = self._state.start(trip.robot, first, frozenset(),
                                  checked=checker.moving_joints - set(trip.joints))
        trip.notes += start.notes
        check = WayCheck(checker, motion, start.q, self._parameters.path_resolution)
        while not check.run(SLICE):
            await self._turns.turn()
            trip.check()
        if check.blockage:
            raise Blocked(_outcome(check.blockage, trip.robot, trip.joints, scene))


def _outcome(found: Blockage, robot: Robot, joints: tuple[str, ...], scene: Scene) -> Outcome:
    """Say what touches, and where on the way."""
    said = [f"'{contact.first}' touches '{contact.second}', {contact.depth:.3g} m deep"
            for contact in found.contacts[:2]]
    if len(found.contacts) > 2:
        said.append(f'{len(found.contacts) - 2} more contacts')
    what = '; '.join(said) or 'something touches'
    if found.fraction == 0:
        return Outcome(Status.START_STATE_IN_COLLISION, 'the robot is in contact where it '
                       f'stands: {what}; nothing was moved', found.contacts, 0.0, scene)
    if found.fraction == 1:
        return Outcome(Status.GOAL_IN_COLLISION, f'the goal is in contact: {what}; nothing was '
                       'moved', found.contacts, 0.0, scene)
    values = robot.to_joints(found.q, joints)
    where = ', '.join(f'{joint} {value:.3g}' for joint, value in values.items())
    return Outcome(Status.INVALID_MOTION_PLAN,
                   f'the way there is blocked after {found.fraction:.0%} of it, at {where}: '
                   f'{what}; nothing was moved', found.contacts, 0.0, scene)
