"""What is in the way of a motion."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ros2_ik.core import Blockage, Motion, Robot, Scene, Status, WayCheck
from ros2_ik.node.controllers.outcome import Blocked, Outcome
from ros2_ik.node.controllers.trip import Trip
from ros2_ik.node.controllers.turns import Turns
from ros2_ik.node.refusal import Refusal

SLICE = 1e-3        # computing time of a check before others have their turn [s]
LOOK_SLICE = 5e-3   # and in a look at what moves


class OwnScene(NamedTuple):
    """A question's own scene, and that of the node which it was made of."""

    scene: Scene
    base: Scene

    def on(self, present: Scene) -> Scene:
        """Give the node's present scene with what the question adds; raises InvalidSceneError."""
        return self.scene.rebased(self.base, present)


class WayChecks:
    """Checks the ways of trips; `state` completes joint values, `scene` is the PlanningScene."""

    def __init__(self, state: Any, scene: Any, parameters: Any, turns: Turns) -> None:
        self._state, self._scene = state, scene
        self._parameters, self._turns = parameters, turns

    async def check(self, trip: Trip, motion: Motion, own: OwnScene | None,
                    beside: frozenset[str]) -> None:
        """
        Check a motion, with turns for others; raises Blocked, Refusal or InvalidSceneError.

        `beside` are the joints that other motions move: nothing is checked against what moves.
        `own` None is the present scene. Later changes of that one count, too: see `look`.
        """
        if own:
            trip.add_own = own.on
        scene = self._present(trip)
        check = self._made(trip, motion, scene, beside)
        while check and not check.run(SLICE):
            await self._turns.turn()
            trip.check()
        if check and check.blockage:
            raise Blocked(_outcome(check.blockage, trip.robot, trip.joints, scene))

    def look(self, trip: Trip) -> Outcome | None:
        """
        Go on with a check of the way from where a trip's joints are, if the scene has changed.

        Gives why it must stop, or None.
        """
        if trip.scene is None or trip.stopping:
            return None
        if trip.check_left is None and trip.world is not self._scene.known.scene:
            trip.check_left = self._made(trip, trip.ahead(), self._present(trip), frozenset())
        if trip.check_left is None or not trip.check_left.run(LOOK_SLICE):
            return None
        blockage, trip.check_left = trip.check_left.blockage, None
        if blockage is None:
            return None
        where = ('the arm is in contact where it is' if blockage.fraction == 0 else
                 f'ahead, at {_place(blockage, trip.robot, trip.joints)}')
        return Outcome(Status.INVALID_MOTION_PLAN, 'stopped on the way: the scene has changed, '
                       f'and {where}: {_touching(blockage)}', blockage.contacts, trip.planned,
                       trip.scene)

    def _present(self, trip: Trip) -> Scene:
        """Take the present scene for a trip, with what its question adds."""
        trip.world = self._scene.known.scene
        trip.scene = trip.add_own(trip.world)
        return trip.scene

    def touches_braking(self, trip: Trip) -> bool:
        """Whether a trip that has been told to stop touches something of its scene before."""
        return self._touches(trip, trip.braking_way())

    def clear(self, trip: Trip, ends: Mapping[str, float]) -> bool:
        """Return whether joints of a trip may go to these places from where they are measured."""
        return not self._touches(trip, trip.way_to(ends))

    def _touches(self, trip: Trip, way: Motion) -> bool:
        check = trip.scene and self._made(trip, way, trip.scene, frozenset())
        return bool(check and check.run() and check.blockage)

    def _made(self, trip: Trip, motion: Motion, scene: Scene,
              beside: frozenset[str]) -> WayCheck | None:
        """Make a check, None where nothing could touch; raises Refusal."""
        if scene.robot.key != trip.robot.key:
            raise Refusal(Status.INVALID_ROBOT_STATE, 'the scene is one of another robot')
        checker, notes = self._scene.checker(scene)
        trip.notes = list(notes)
        if checker is None:
            return None
        first = dict(zip(trip.joints, motion.at(0.0).position.tolist(), strict=True))
        others = checker.moving_joints - set(trip.joints)
        self._require_known(trip.robot, others)
        if others & beside:
            raise Refusal(Status.CONTROL_FAILED, "another motion moves joint '"
                          f"{min(others & beside)}', and the way can be checked only beside what "
                          'stands still; ask again when it has ended (or avoid_collisions: false)')
        start = self._state.start(trip.robot, first, frozenset(), checked=others)
        trip.notes += start.notes
        return WayCheck(checker, motion, start.q, self._parameters.path_resolution)

    def _require_known(self, robot: Robot, joints: frozenset[str]) -> None:
        """Raise Refusal for joints that stand nobody knows where: a check would mean nothing."""
        unknown = sorted(joints - self._state.known(robot).keys())
        if unknown:
            raise Refusal(Status.ROBOT_STATE_STALE, f"it is not known where joint '{unknown[0]}' "
                          'stands, so that the way cannot be checked for collisions; '
                          'avoid_collisions: false does without')


def _outcome(found: Blockage, robot: Robot, joints: tuple[str, ...], scene: Scene) -> Outcome:
    """Return what touches, and where on the way."""
    what = _touching(found)
    if found.fraction == 0:
        return Outcome(Status.START_STATE_IN_COLLISION, 'the robot is in contact where it '
                       f'stands: {what}; nothing was moved (avoid_collisions: false moves without '
                       'a check)', found.contacts, 0.0, scene)
    if found.fraction == 1:
        return Outcome(Status.GOAL_IN_COLLISION, f'the goal is in contact: {what}; nothing was '
                       'moved', found.contacts, 0.0, scene)
    return Outcome(Status.INVALID_MOTION_PLAN,
                   f'the way there is blocked after {found.fraction:.0%} of its time, at '
                   f'{_place(found, robot, joints)}: {what}; nothing was moved', found.contacts,
                   0.0, scene)


def _touching(found: Blockage) -> str:
    said = [f"'{contact.first}' touches '{contact.second}', {contact.depth:.3g} m deep"
            for contact in found.contacts[:2]]
    more = len(found.contacts) - 2
    if more > 0:
        said.append(f'{more} more contact{"s" * (more > 1)}')
    return '; '.join(said) or 'something touches'


def _place(found: Blockage, robot: Robot, joints: tuple[str, ...]) -> str:
    values = robot.to_joints(found.q, joints)
    return ', '.join(f'{joint} {value:.3g}' for joint, value in values.items())
