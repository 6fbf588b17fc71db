"""
Services and topics that change or return the planning scene.

MoveIt's services have the request fields of the node's own services, and share their callbacks.
"""

from functools import partial

from moveit_msgs.msg import (
    AttachedCollisionObject,
    CollisionObject,
    PlanningScene as PlanningSceneMessage,
)
from moveit_msgs.srv import (
    ApplyPlanningScene as MoveItApplyPlanningScene,
    GetPlanningScene as MoveItGetPlanningScene,
)
from rclpy.publisher import Publisher
from visualization_msgs.msg import MarkerArray

from ros2_ik.core import Scene, Status
from ros2_ik.messages.markers import scene_markers
from ros2_ik.messages.planning_scenes import scene_diff, scene_message, SceneState
from ros2_ik.node.endpoints.endpoint import (
    Endpoint,
    LATCHED,
    publisher,
    QUEUE,
    reason_of,
    set_status,
)
from ros2_ik.node.state.planning_scene import contents
from ros2_ik.srv import ApplyPlanningScene, GetPlanningScene

MONITORED = 'monitored_planning_scene'


class PlanningSceneEndpoints(Endpoint):
    """Services and topics for the planning scene; a change is applied completely or not at all."""

    def offer(self) -> None:
        self.serve(ApplyPlanningScene, '~/apply_planning_scene', self.apply)
        self.serve(GetPlanningScene, '~/get_planning_scene', self.get)
        self.serve_as_moveit(MoveItApplyPlanningScene, 'apply_planning_scene', self.apply)
        self.serve_as_moveit(MoveItGetPlanningScene, 'get_planning_scene', self.get)
        # a reliable and latched publisher matches every subscriber
        self._markers = publisher(self.node, MarkerArray, '~/scene_markers', LATCHED)
        self._monitored: Publisher | None = None
        self._published: SceneState | None = None
        self.scene.on_change = self._publish
        self.offer_as_moveit(self.node.resolve_topic_name(MONITORED), self.node.count_publishers,
                             self._monitor)
        # a long queue, since a publisher may send many objects in a burst
        for topic, kind in (('planning_scene', PlanningSceneMessage),
                            ('collision_object', CollisionObject),
                            ('attached_collision_object', AttachedCollisionObject)):
            self.node.create_subscription(kind, f'~/{topic}', partial(self._change, topic), QUEUE)

    async def apply(self, request: ApplyPlanningScene.Request,
                    response: ApplyPlanningScene.Response) -> None:
        """Answer ApplyPlanningScene when the new scene is in use."""
        scene = await self.wait(lambda done: self.scene.apply(request.scene, done))
        response.success = True
        replaced = '' if request.scene.is_diff else (
            '; the whole scene was replaced, since is_diff is false')
        matrix = request.scene.allowed_collision_matrix
        if replaced and not (matrix.entry_names or matrix.default_entry_names):
            replaced += '; its empty allowed_collision_matrix removes the pairs of the SRDF'
        set_status(response, Status.SUCCESS, f'the scene has {contents(scene)}{replaced}')

    async def get(self, request: GetPlanningScene.Request,
                  response: GetPlanningScene.Response) -> None:
        """Answer GetPlanningScene with the requested components of the scene."""
        robot = self.description.current()
        state, joints = self.scene.current, self.current_state.known_values(robot)
        head = self.header(robot.root_frame)
        # in PlanningScene's second thread: creating a message with many triangles takes seconds
        response.scene = await self.scene.in_thread(lambda: scene_message(
            state, joints, request.components.components, head))
        set_status(response, Status.SUCCESS, f'the scene has {contents(state.scene)}')

    # -- topics ~/scene_markers and monitored_planning_scene -------------------------------

    def _monitor(self) -> None:
        self._monitored = publisher(self.node, PlanningSceneMessage, MONITORED, 100)

    def _publish(self, state: SceneState) -> None:
        """Publish a new scene's markers and diff; called in the second thread of PlanningScene."""
        self._markers.publish(scene_markers(state.scene))
        last, self._published = self._published, state
        if self._monitored is not None and self._monitored.get_subscription_count():
            robot = state.scene.robot
            self._monitored.publish(scene_diff(last, state, self.current_state.known_values(robot),
                                               self.header(robot.root_frame)))

    # -- topics that change the scene; errors are logged ----------------------------------

    def _change(self, topic: str, message: PlanningSceneMessage | CollisionObject
                | AttachedCollisionObject) -> None:
        """Apply a PlanningScene message, or an object as a scene diff."""
        log, scene = self.node.get_logger(), message
        if topic != 'planning_scene':
            scene = PlanningSceneMessage(is_diff=True)
            scene.robot_state.is_diff = True
            (scene.world.collision_objects if topic == 'collision_object'
             else scene.robot_state.attached_collision_objects).append(message)

        def done(result: Scene | Exception) -> None:
            if isinstance(result, Exception):
                log.error(f'{topic}: message refused: {reason_of(result, log)[1]}')
        try:
            self.scene.apply(scene, done)
        except Exception as error:
            done(error)
