"""Collision checks of motions before they begin, and after changes of the scene."""

from typing import NamedTuple

from ros2_ik.core import Motion, Robot, Scene, Status
from ros2_ik.core.internals import PathCollision, PathCollisionCheck
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.controllers.controller import ControllerContext
from ros2_ik.node.motion.motion_execution import MotionExecution, Phase
from ros2_ik.node.motion.outcome import Outcome
from ros2_ik.node.state.current_state import CurrentState
from ros2_ik.node.state.planning_scene import PlanningScene

SLICE = 1e-3        # computing time of a check before others have their turn [s]
LOOK_SLICE = 5e-3   # and in a look at what moves


class OwnScene(NamedTuple):
    """A question's own scene, and that of the node which it was made of."""

    scene: Scene
    base: Scene

    def on(self, present: Scene) -> Scene:
        """Return a present scene with what the question adds; raises InvalidSceneError."""
        return self.scene.rebased(self.base, present)


class PathChecks:
    """Checks the ways of motions; `state` completes joint values, `scene` is the PlanningScene."""

    def __init__(self, state: CurrentState, scene: PlanningScene,
                 context: ControllerContext) -> None:
        self._state, self._scene, self._context = state, scene, context

    async def check(self, execution: MotionExecution, motion: Motion, own: OwnScene | None,
                    beside: frozenset[str]) -> Outcome | None:
        """
        Return the collision on a motion, or None; other checks get turns meanwhile.

        Raises RequestError or InvalidSceneError.

        `beside` are the joints that other motions move: a check that depends on one is refused.
        `own` None is the present scene. Later changes of that one count, too: see `recheck`.
        """
        if own:
            execution.add_own = own.on
        scene = self._present(execution)
        check = self._made(execution, motion, scene, beside)
        while check and not check.run(SLICE):
            await self._context.yield_to_executor()
            execution.check()
        if check and check.collision:
            return _outcome(check.collision, execution.robot, execution.joints, scene)
        return None

    def recheck(self, execution: MotionExecution) -> Outcome | None:
        """
        Go on with a check of the way from where the joints are, if the scene has changed.

        Gives why it must stop, or None.
        """
        if execution.scene is None or execution.phase is Phase.BRAKING:
            return None
        if execution.check_left is None and execution.world is not self._scene.known.scene:
            execution.check_left = self._made(execution, execution.way_left(),
                                              self._present(execution), frozenset())
        if execution.check_left is None or not execution.check_left.run(LOOK_SLICE):
            return None
        collision, execution.check_left = execution.check_left.collision, None
        if collision is None:
            return None
        where = ('the arm is in contact where it is' if collision.fraction == 0 else
                 f'ahead, at {_place(collision, execution.robot, execution.joints)}')
        return Outcome(Status.INVALID_MOTION_PLAN, 'stopped on the way: the scene has changed, '
                       f'and {where}: {_touching(collision)}', collision.contacts,
                       execution.planned, execution.scene)

    def _present(self, execution: MotionExecution) -> Scene:
        """Take the present scene for an execution, with what its question adds."""
        execution.world = self._scene.known.scene
        execution.scene = execution.add_own(execution.world)
        return execution.scene

    def _made(self, execution: MotionExecution, motion: Motion, scene: Scene,
              beside: frozenset[str]) -> PathCollisionCheck | None:
        """Make a check, None where nothing could touch; raises RequestError."""
        if scene.robot.key != execution.robot.key:
            raise RequestError(Status.INVALID_ROBOT_STATE, 'the scene is one of another robot')
        checker, notes = self._scene.checker(scene)
        execution.notes = list(notes)
        if checker is None:
            return None
        first = dict(zip(execution.joints, motion.at(0.0).position.tolist(), strict=True))
        others = checker.moving_joints - set(execution.joints)
        known = self._state.known(execution.robot)
        assumed = {name: value for name, value in execution.assumed.items()
                   if name in others and name not in known}
        if unknown := sorted(others - assumed.keys() - known.keys()):
            raise RequestError(
                Status.ROBOT_STATE_STALE, f"it is not known where joint '{unknown[0]}' "
                'stands, so that the way cannot be checked for collisions; '
                'avoid_collisions: false does without')
        for name in sorted(others):
            if contradiction := self._state.contradiction(name):
                raise RequestError(Status.ROBOT_STATE_STALE, contradiction)
        if others & beside:
            raise RequestError(
                Status.CONTROL_FAILED, "another motion, or the servo, moves joint '"
                f"{min(others & beside)}', and the way can be checked only beside what "
                'stands still; ask again when it has ended (or avoid_collisions: false)')
        start = self._state.start(execution.robot, assumed | first, frozenset(), checked=others)
        execution.notes += start.notes
        resolution = self._context.parameters.path_resolution
        return PathCollisionCheck(checker, motion, start.q, resolution)


def _outcome(found: PathCollision, robot: Robot, joints: tuple[str, ...], scene: Scene) -> Outcome:
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


def _touching(found: PathCollision) -> str:
    said = [f"'{contact.first}' touches '{contact.second}', {contact.depth:.3g} m deep"
            for contact in found.contacts[:2]]
    more = len(found.contacts) - 2
    if more > 0:
        said.append(f'{more} more contact{"s" * (more > 1)}')
    return '; '.join(said) or 'something touches'


def _place(found: PathCollision, robot: Robot, joints: tuple[str, ...]) -> str:
    values = robot.to_joints(found.q, joints)
    return ', '.join(f'{joint} {value:.3g}' for joint, value in values.items())
