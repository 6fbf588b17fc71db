"""Collision checks of motions before their start and after changes of the scene."""

from ros2_ik.core import Motion, Status
from ros2_ik.core.internals import COLLISIONS_OFF, join_first, PathCollision, PathCollisionCheck
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.controllers.controller import ControllerContext
from ros2_ik.node.motion.motion_execution import MotionExecution, Outcome
from ros2_ik.node.state.current_state import CurrentState
from ros2_ik.node.state.planning_scene import PlanningScene

CHECK_SLICE = 2e-3            # computing time of a check before it yields to other callbacks [s]
RECHECK_SLICE = 5e-3    # computing time of a recheck per supervision step [s]


class PathChecks:
    """Collision checks of motions; `state` has the positions of joints outside a motion."""

    def __init__(self, state: CurrentState, scene: PlanningScene,
                 context: ControllerContext) -> None:
        self._state, self._scene, self._context = state, scene, context

    def recheck(self, execution: MotionExecution) -> None:
        """
        After a change of the scene, check the remaining path, computing for up to RECHECK_SLICE.

        Stop the motion if its path is blocked. Raises RequestError or InvalidSceneError.
        """
        if execution.checked_scene is None or execution.reason:
            return
        # a running check is finished first; a still newer scene is checked after it
        if execution.recheck is None and execution.node_scene is not self._scene.current.scene:
            execution.recheck = self.begin(execution, execution.remaining_motion(), frozenset())
        if execution.recheck is None or not execution.recheck.run(RECHECK_SLICE):
            return
        collision, execution.recheck = execution.recheck.collision, None
        if collision:
            where = ('the arm is in contact at its position' if collision.fraction == 0 else
                     f'ahead, at {_positions(collision, execution)}')
            execution.stop(Status.INVALID_MOTION_PLAN, f'the scene has changed, and {where}: '
                           f'{_contacts(collision)}', collision.contacts)

    def begin(self, execution: MotionExecution, motion: Motion,
              joints_of_others: frozenset[str]) -> PathCollisionCheck | None:
        """
        Return the check of a motion in the current scene, None without collision geometry.

        `joints_of_others` are the joints of other motions and the servo: a check that depends on
        one of them is refused. Raises RequestError or InvalidSceneError.
        """
        execution.node_scene = scene = self._scene.current.scene
        if execution.request.extend_scene:
            scene = execution.request.extend_scene(scene)
        execution.checked_scene = scene
        if scene.robot.key != execution.robot.key:
            raise RequestError(Status.INVALID_ROBOT_STATE,
                               'the scene belongs to another robot description')
        checker = self._scene.checker(scene)
        if checker is None:
            execution.notes = [COLLISIONS_OFF, *self._scene.left_out]
            return None
        first = dict(zip(execution.joints, motion.at(0.0).position.tolist(), strict=True))
        # joints that are not part of the motion, but move bodies that are checked
        others = checker.moving_joints - set(execution.joints)
        if unknown := sorted(others - self._state.known_values(execution.robot).keys()):
            raise RequestError(
                Status.ROBOT_STATE_STALE, f"the position of joint '{unknown[0]}' is unknown, so "
                'the path cannot be checked for collisions: publish its joint_states '
                '(avoid_collisions: false moves without a check)')
        self._context.joint_states.require_agreement(others)
        if taken := others & joints_of_others:
            raise RequestError(
                Status.CONTROL_FAILED, "another motion, or the servo, moves joint '"
                f"{min(taken)}', and a path can be checked only while all other joints "
                'are at rest; repeat the request later (or with avoid_collisions: false)')
        start = self._state.start(execution.robot, first, frozenset(), checked=others)
        execution.notes = [*start.notes, *self._scene.left_out]
        resolution = self._context.parameters.path_resolution
        return PathCollisionCheck(checker, motion, start.q, resolution)


def blocked_outcome(found: PathCollision, execution: MotionExecution) -> Outcome:
    """Return the outcome for a collision at the start, at the goal or in between."""
    status, where = {
        0.0: (Status.START_STATE_IN_COLLISION, 'the robot is in contact at its current state '
            '(avoid_collisions: false moves without a check)'),
        1.0: (Status.GOAL_IN_COLLISION, 'the goal is in contact')}.get(found.fraction, (
            Status.INVALID_MOTION_PLAN, f'the path is blocked after {found.fraction:.0%} of its '
            f'time, at {_positions(found, execution)}'))
    return Outcome(status, f'{where}: {_contacts(found)}; nothing was moved', found.contacts, 0.0,
                   execution.checked_scene)


def _contacts(found: PathCollision) -> str:
    return join_first([f"'{contact.first}' touches '{contact.second}', {contact.depth:.3g} m deep"
                       for contact in found.contacts])


def _positions(found: PathCollision, execution: MotionExecution) -> str:
    values = execution.robot.to_joints(found.q, execution.joints)
    return ', '.join(f'{joint} {value:.3g}' for joint, value in values.items())
