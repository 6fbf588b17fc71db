"""What is in the way of a motion."""

from typing import Any

from ros2_ik.core import Blockage, Motion, Robot, Scene, Status, WayCheck
from ros2_ik.node.controllers.outcome import Blocked, Outcome
from ros2_ik.node.controllers.trip import Trip
from ros2_ik.node.controllers.turns import Turns
from ros2_ik.node.refusal import Refusal

SLICE = 1e-3   # computing time of a check before others have their turn [s]


class WayChecks:
    """Checks the ways of trips; `state` completes joint values, `scene` is the PlanningScene."""

    def __init__(self, state: Any, scene: Any, parameters: Any, turns: Turns) -> None:
        self._state, self._scene = state, scene
        self._parameters, self._turns = parameters, turns

    def own(self, scene: Scene | None) -> Scene | None:
        """Give a scene, or None if it is the present one: then the one of the check counts."""
        return None if scene is None or scene is self._scene.known.scene else scene

    async def check(self, trip: Trip, motion: Motion, scene: Scene | None,
                    beside: frozenset[str]) -> None:
        """
        Check a motion, with turns for others; raises Blocked or Refusal.

        `beside` are the joints that other motions move: nothing is checked against what moves.
        """
        scene = self._scene.known.scene if scene is None else scene
        if scene.robot.key != trip.robot.key:
            raise Refusal(Status.INVALID_ROBOT_STATE, 'the scene is one of another robot')
        checker, notes = self._scene.checker(scene)
        trip.notes = list(notes)
        if checker is None:
            return
        first = dict(zip(trip.joints, motion.at(0.0).position.tolist(), strict=True))
        others = checker.moving_joints - set(trip.joints)
        self._require_known(trip.robot, others)
        if others & beside:
            raise Refusal(Status.CONTROL_FAILED, "another motion moves joint '"
                          f"{min(others & beside)}', and the way can be checked only beside what "
                          'stands still; ask again when it has ended (or avoid_collisions: false)')
        start = self._state.start(trip.robot, first, frozenset(), checked=others)
        trip.notes += start.notes
        check = WayCheck(checker, motion, start.q, self._parameters.path_resolution)
        while not check.run(SLICE):
            await self._turns.turn()
            trip.check()
        if check.blockage:
            raise Blocked(_outcome(check.blockage, trip.robot, trip.joints, scene))

    def _require_known(self, robot: Robot, joints: frozenset[str]) -> None:
        """Raise Refusal for joints that stand nobody knows where: a check would mean nothing."""
        unknown = sorted(joints - self._state.known(robot).keys())
        if unknown:
            raise Refusal(Status.ROBOT_STATE_STALE, f"it is not known where joint '{unknown[0]}' "
                          'stands, so that the way cannot be checked for collisions; '
                          'avoid_collisions: false does without')


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
