"""What the endpoints work with."""

from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
import time
from typing import Any, TypeVar

from rclpy.clock import Clock
from std_msgs.msg import Header

from ros2_ik.core import Robot, Scene, Status
from ros2_ik.messages.planning_scenes import with_attached
from ros2_ik.messages.request_error import error_context, RequestError
from ros2_ik.node.motion.motion_executor import MotionExecutor
from ros2_ik.node.parameters import Parameters
from ros2_ik.node.state.current_state import CurrentState
from ros2_ik.node.state.description import Description
from ros2_ik.node.state.joint_states import JointStates
from ros2_ik.node.state.planning_scene import PlanningScene
from ros2_ik.node.state.transforms import LOOK, Transforms
from ros2_ik.node.statistics import Statistics
from ros2_ik.node.workers import Pool

T = TypeVar('T')


@dataclass(frozen=True)
class NodeContext:
    """The context of the node, made once. `sleep(seconds)` is awaited."""

    log: Any
    clock: Clock
    parameters: Parameters
    description: Description
    joint_states: JointStates
    state: CurrentState
    scene: PlanningScene
    transforms: Transforms
    pool: Pool
    execution: MotionExecutor
    statistics: Statistics
    sleep: Callable[[float], Awaitable[None]]
    turns: deque[object] = field(default_factory=deque)     # who waits in `settled`

    async def settled(self, read: Callable[[], T]) -> T:
        """
        Return what `read()` returns once the geometry of a new robot is made.

        While TF has only just begun to be heard, `read` is tried again where it is refused for
        want of a transform. Both take a moment at most: then it is refused for good. Questions
        are read in the order in which they came, so that none to move overtakes another.
        """
        turn = object()
        self.turns.append(turn)
        try:
            while self.scene.geometry.settling or self.turns[0] is not turn:
                await self.sleep(LOOK)
            while True:
                began = time.monotonic()
                try:
                    return read()
                except RequestError as error:
                    if not self.transforms.may_pass(error, began):
                        raise
                await self.sleep(LOOK)
        finally:
            self.turns.remove(turn)

    def robot(self) -> Robot:
        """Return the robot of this moment; raises RequestError when there is none."""
        robot = self.description.robot
        if robot is None:
            refused = self.description.refused
            why = f': {refused}' if refused else '; ' + (
                self.description.missing_reason() or 'robot_description has not been received')
            raise RequestError(Status.INVALID_ROBOT_STATE, f'there is no robot yet{why}')
        return robot

    def scene_with(self, state: Any, given: Mapping[str, Any],
                   place: str) -> tuple[Scene, list[str]]:
        """
        Return the scene of this moment with what a question's RobotState holds besides, and notes.

        `given` are its joint values, `place` is its name with a dot. Raises RequestError.
        """
        scene, notes = self.scene.known.scene, list[str]()
        if len(state.attached_collision_objects):
            now = self.scene.now(scene.robot, given, notes)
            with error_context(f'{place}attached_collision_objects'):
                now.limits.check_held(state.attached_collision_objects)
            scene = with_attached(scene, state, now, place)
        return scene, notes

    def header(self, frame_id: str) -> Header:
        """Make a header stamped now."""
        return Header(stamp=self.clock.now().to_msg(), frame_id=frame_id)
