"""Services ~/apply_planning_scene, ~/get_planning_scene, and topics that change the scene."""

from collections.abc import Iterable, Mapping
import traceback
from typing import Any

from ros2_ik.core import IKError, Status
from ros2_ik.node.conversions.planning_scenes import changed_scene, Known
from ros2_ik.node.conversions.robot_states import joint_values
from ros2_ik.node.conversions.scene_changes import changed_attached, changed_object, Now
from ros2_ik.node.conversions.scene_messages import scene_message
from ros2_ik.node.endpoints.defect import failed
from ros2_ik.node.parts import Parts
from ros2_ik.node.refusal import Refusal
from ros2_ik.node.state.planning_scene import Change


class PlanningSceneEndpoints:
    """Takes changes of the scene, each as a whole or not at all, and gives the scene."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def apply(self, request: Any, response: Any) -> Any:
        """Answer ApplyPlanningScene; never raises."""
        response.success, response.message = self._try(*self._whole(request.scene))
        status = Status.SUCCESS if response.success else Status.INVALID_GOAL_CONSTRAINTS
        self._parts.statistics.count('apply_planning_scene', status)
        return response

    def get(self, request: Any, response: Any) -> Any:
        """Answer GetPlanningScene; never raises."""
        parts = self._parts
        try:
            robot = parts.robot()
            known = parts.scene.known
            response.scene = scene_message(known, parts.state.known(robot),
                                           request.components.components,
                                           parts.header(robot.root_frame))
            response.status = int(Status.SUCCESS)
            response.message = _contents(known.scene) + (
                f'; {parts.scene.fault}' if parts.scene.fault else '')
        except Exception as error:
            response = failed(response, error, parts.log)
        parts.statistics.count('get_planning_scene', response.status)
        return response

    # -- topics: what fails is told in the log --------------------------------------------

    def take_scene(self, message: Any) -> None:
        """Take a PlanningScene."""
        self._tell('planning_scene', *self._try(*self._whole(message)))

    def take_object(self, message: Any) -> None:
        """Take a CollisionObject."""
        def change(known: Known, now: Now) -> Known:
            return known._replace(scene=changed_object(known.scene, message, now))
        self._tell('collision_object', *self._try(change, None))

    def take_attached(self, message: Any) -> None:
        """Take an AttachedCollisionObject."""
        def change(known: Known, now: Now) -> Known:
            return known._replace(scene=changed_attached(known.scene, message, now))
        self._tell('attached_collision_object', *self._try(change, None))

    def _tell(self, topic: str, success: bool, message: str) -> None:
        if success:
            self._parts.log.debug(f'{topic}: {message}')
        else:
            self._parts.log.error(f'{topic}: a message is refused: {message}')

    # -- both -----------------------------------------------------------------------------

    def _whole(self, message: Any) -> tuple[Change, Any, list[str]]:
        said = [] if message.is_diff else ['the whole scene was replaced, since is_diff is false']
        return lambda known, now: changed_scene(known, message, now), message.robot_state, said

    def _try(self, change: Change, state: Any, said: Iterable[str] = ()) -> tuple[bool, str]:
        """Change the scene; gives whether it was done, and sentences for a person."""
        try:
            robot = self._parts.robot()
            given: Mapping[str, Any] = {} if state is None else joint_values(state, robot,
                                                                             'robot_state')
            scene, notes = self._parts.scene.apply(change, given)
        except (Refusal, IKError) as error:
            return False, str(error)
        except Exception as error:
            self._parts.log.error(''.join(traceback.format_exception(error)))
            return False, f'{type(error).__name__}: {error}'
        for note in notes:
            self._parts.log.warning(note)
        return True, '; '.join([_contents(scene), *said, *notes])


def _contents(scene: Any) -> str:
    objects, held = list(scene.objects), list(scene.attached)
    text = f'the scene has {_list(objects)}'
    return f'{text}; attached: {_list(held)}' if held else text


def _list(names: list[str]) -> str:
    quoted = ', '.join(f"'{name}'" for name in names[:5])
    more = f' and {len(names) - 5} more' if len(names) > 5 else ''
    return f'{quoted}{more}' if names else 'no objects'
