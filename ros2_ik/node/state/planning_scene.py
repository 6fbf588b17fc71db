"""The node's planning scene, its changes, and the robot's collision geometry."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache, partial
import os
import time
import traceback
from typing import Any, NamedTuple, TypeVar

from moveit_msgs.msg import PlanningScene as PlanningSceneMessage, RobotState
from rclpy.impl.rcutils_logger import RcutilsLogger

from ros2_ik.core import (
    AllowedCollisions,
    collision_checker,
    CollisionChecker,
    Configuration,
    IKError,
    load_scene,
    Mesh,
    Robot,
    Scene,
    Status,
)
from ros2_ik.core.errors import counted
from ros2_ik.core.internals import join_first
from ros2_ik.messages.planning_scenes import changed_scene, copy_scene, SceneState, with_attached
from ros2_ik.messages.request_error import error_context, invalid, RequestError
from ros2_ik.messages.robot_states import joint_values
from ros2_ik.messages.scene_changes import check_size, ConversionContext
from ros2_ik.node.parameters import Parameters
from ros2_ik.node.process import end_with_parent, start_process
from ros2_ik.node.state.current_state import CurrentState
from ros2_ik.node.state.transforms import RETRY_PERIOD, Transforms

MAX_WAITING = 1000   # maximum number of queued changes
MAX_SHAPES = 1000    # maximum number in a scene; each takes about 0.2 MB in each process
GEOMETRY_TIMEOUT = 2.0   # time for which requests wait for a new robot's geometry [s]
PARTS_NICENESS = 10            # of the process that computes convex parts
N_THREADS = 2    # so that the next robot does not wait for a robot whose geometry takes long

Done = Callable[[Scene | Exception], None]
T = TypeVar('T')


class GeometryBuilder:
    """
    Creates the collision geometry of the current robot, in background threads.

    Convex parts of meshes, which take seconds to a minute, are computed in a separate process.
    `options` are the arguments `meshes` and `missing` of `collision_checker`.
    """

    def __init__(self, options: tuple[str, str], log: RcutilsLogger) -> None:
        self.options, self._log = options, log
        self._executor = ThreadPoolExecutor(N_THREADS, 'collision geometry')
        self._future: Future[CollisionChecker] | None = None
        self._since = 0.0

    def build(self, robot: Robot) -> None:
        """Start creating the geometry of a robot."""
        if self._future:
            self._future.cancel()
        self._since, self._future = time.monotonic(), self._executor.submit(self._build, robot)

    @property
    def is_building(self) -> bool:
        """True while the geometry of the current robot is being created."""
        return self._future is not None and not self._future.done()

    @property
    def is_pending(self) -> bool:
        """True in the first GEOMETRY_TIMEOUT seconds of the creation, in which requests wait."""
        return self.is_building and time.monotonic() < self._since + GEOMETRY_TIMEOUT

    def checker(self) -> CollisionChecker:
        """Return a checker with the robot's geometry; raises RequestError if there is none."""
        assert self._future is not None
        if self.is_building:
            raise RequestError(Status.COLLISION_CHECKING_UNAVAILABLE,
                               "the robot's collision geometry is still being made, for "
                               f'{time.monotonic() - self._since:.0f} s so far; try again')
        try:
            return self._future.result()
        except Exception as fault:
            raise RequestError(
                Status.COLLISION_CHECKING_UNAVAILABLE,
                f"collisions cannot be checked: {fault} (parameter missing_meshes 'skip' "
                'omits the element, avoid_collisions: false disables the check)') from None

    # -- in a thread ----------------------------------------------------------------------

    def _build(self, robot: Robot) -> CollisionChecker:
        try:
            checker = collision_checker(robot, Scene(robot), *self.options)
            checker.distance_check  # noqa: B018 - loads convex parts into the cache of all checkers
            geometry = checker.geometry
        except Exception as error:
            if not isinstance(error, IKError):
                self._log.error(traceback.format_exc())
            self._log.error(f"collisions of robot '{robot.name}' cannot be checked: {error}")
            raise
        for text in geometry.warnings:
            self._log.warning(f'collision geometry: {text}')
        if meshes := geometry.without_parts:
            self._log.info(f"computing convex parts of robot '{robot.name}' in the background, of "
                           f'{counted(len(meshes), "mesh file")}; until then distances are those '
                           'of convex hulls')
            # in another thread: sending the meshes may block until the new process has loaded
            self._executor.submit(start_process, _compute_parts, meshes).add_done_callback(
                lambda started: started.exception() and self._log.error(
                    f'convex parts are not computed: {started.exception()}'))
        return checker


class StateInScene(NamedTuple):
    """A scene with a RobotState's attached objects, and the state's joint positions (`given`)."""

    scene: Scene
    given: dict[str, Any]


class PlanningScene:
    """
    The current scene of the current robot; a change replaces the immutable scene as a whole.

    Call methods in the node's thread only. A second thread computes changes, and calls `on_change`
    with each new scene. `post(function)` starts an async function in the node's thread;
    `wait(start)` calls `start(done)` and awaits the result that is passed to `done`.
    """

    def __init__(self, parameters: Parameters, state: CurrentState, transforms: Transforms,
                 log: RcutilsLogger, post: Callable[..., object], wait: Any) -> None:
        self._parameters, self._state, self._transforms = parameters, state, transforms
        self.geometry = GeometryBuilder((parameters.meshes, parameters.missing_meshes), log)
        self._log = log
        self.on_change: Callable[[SceneState], None] = lambda known: None
        self._post, self._wait = post, wait
        self._thread = ThreadPoolExecutor(1, 'scene changes')
        self._current: SceneState | None = None
        self._changes = deque[tuple[PlanningSceneMessage, Done]]()

    def scene_for_robot(self, robot: Robot) -> SceneState:
        """
        Return the scene for a new robot; raises IKError if the scene does not fit the robot.

        The current scene is kept if the robot's name and root frame stay the same; otherwise the
        scene named by parameter `scene` is loaded.
        """
        old, name = self._current, self._parameters.scene
        before = old.scene.robot if old else robot
        if old and (before.name, before.root_frame) == (robot.name, robot.root_frame):
            kept = SceneState(transfer_scene(old.scene, robot), old.name, old.octomap)
            self._log.info(f"robot '{robot.name}' has a new description; the scene stays, with "
                           f'{contents(kept.scene)}')
            return kept
        with error_context(f"parameter scene, '{name}'"):
            scene = load_scene(name, robot) if name else Scene(robot)
        if old:
            self._log.warning(f"the scene of robot '{before.name}' was discarded, with "
                              f'{contents(old.scene)}')
        return SceneState(scene, name)

    def set_robot(self, new: SceneState) -> None:
        """Replace the robot and its scene."""
        self.geometry.build(new.scene.robot)
        self._put(new)

    def _put(self, state: SceneState) -> None:
        self._current = state
        self._thread.submit(self._notify, state)

    def _notify(self, state: SceneState) -> None:
        try:
            self.on_change(state)
        # the thread pool would swallow the exception
        except Exception as error:
            self._log.error(f'the scene cannot be shown: {type(error).__name__}: {error}')

    # -- reading --------------------------------------------------------------------------

    @property
    def current(self) -> SceneState:
        """The current scene; raises RequestError without a robot."""
        if self._current is None:
            raise RequestError(
                Status.INVALID_ROBOT_STATE, 'there is no robot yet, and so no scene')
        return self._current

    def checker(self, scene: Scene) -> CollisionChecker | None:
        """
        Return the collision checker for a scene of the current robot.

        Returns None if neither the robot nor the scene has geometry. Raises RequestError
        (COLLISION_CHECKING_UNAVAILABLE).
        """
        # a robot without collision elements cannot be checked against objects
        if not self.geometry.checker().geometry.bodies:
            if scene.objects or scene.attached:
                raise RequestError(
                    Status.COLLISION_CHECKING_UNAVAILABLE,
                    f"robot '{scene.robot.name}' has no collision elements that can be read, so "
                    f'it cannot be checked against {contents(scene)} of the scene '
                    '(avoid_collisions: false disables the check)')
            return None
        return collision_checker(scene.robot, scene, *self.geometry.options)

    @property
    def left_out(self) -> list[str]:
        """A note on links with elements that are left out of all collision checks, or []."""
        links = self.geometry.checker().geometry.incomplete_links
        return [f'not checked for collisions: {join_first(links)}'] if links else []

    def parse_state(self, state: RobotState, robot: Robot, label: str) -> StateInScene:
        """
        Parse a request's RobotState, and attach its objects in a copy of the current scene.

        Object poses are computed at the joint positions of `state`, completed from joint_states.
        `label` is the name of the state in error texts. Raises RequestError.
        """
        given, scene = joint_values(state, robot, label), self.current.scene
        if attached := state.attached_collision_objects:
            with error_context(f'{label}.attached_collision_objects'):
                check_size([item.object for item in attached])
            scene = with_attached(scene, state, self.context(scene.robot, given), f'{label}.')
        return StateInScene(scene, given)

    # -- changes --------------------------------------------------------------------------

    def context(self, robot: Robot, given: Mapping[str, Any]) -> ConversionContext:
        """Return the context for parsing objects; `given` positions override joint_states."""
        # cached, so that frames moved by the same joints are computed at the same positions
        @cache
        def at(joints: frozenset[str]) -> Configuration:
            return Configuration(robot, self._state.start(robot, given, joints).q)
        return ConversionContext(at, self._transforms.locate, self._parameters.meshes)

    def apply(self, message: PlanningSceneMessage, done: Done) -> None:
        """
        Queue a PlanningScene message; it is applied to the scene completely or not at all.

        Changes are applied in order of arrival. `done` is called in the node's thread, with
        the new scene (after its collision checker was created, if possible), or with the
        exception if the change was rejected. Raises RequestError if the change cannot be queued.
        """
        robot = self.current.scene.robot
        if len(self._changes) >= MAX_WAITING:
            raise RequestError(Status.FAILURE, f'busy: the maximum of {MAX_WAITING} changes of '
                               f"the scene of robot '{robot.name}' is waiting")
        self._changes.append((message, done))
        if len(self._changes) == 1:
            self._post(self._apply_all)

    async def _apply_all(self) -> None:
        """Apply the queued changes, one after another."""
        while self._changes:
            base, (message, done) = self.current, self._changes[0]
            try:
                new = await self.in_thread(partial(self._changed, base, message))
                result: Scene | Exception = new.scene
            except Exception as error:
                new, result = base, error
            # the robot was replaced meanwhile: compute the change again
            if base is not self._current:
                continue
            self._changes.popleft()
            if new is not base:
                self._put(new)
            done(result)

    async def in_thread(self, call: Callable[[], T]) -> T:
        """Return the result of a function that is called in the second thread."""
        future: Future[T] = await self._wait(
            lambda done: self._thread.submit(call).add_done_callback(done))
        return future.result()

    def close(self) -> None:
        """Apply no further changes; `done` of queued changes is not called."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    # -- changes: in the second thread ----------------------------------------------------

    def _changed(self, base: SceneState, message: PlanningSceneMessage) -> SceneState:
        """Return the scene after a change; retry while a transform is missing, but may arrive."""
        robot = base.scene.robot
        while True:
            try:
                given = joint_values(message.robot_state, robot, 'robot_state')
                new = changed_scene(base, message, self.context(robot, given))
                if new.scene is not base.scene:
                    self._prepare(new.scene)
                # an equal scene is not published again
                return base if new == base else new
            except RequestError as error:
                if not self._transforms.may_arrive(error):
                    raise
            time.sleep(RETRY_PERIOD)

    def _prepare(self, scene: Scene) -> None:
        """Create and cache a scene's collision checker; raises IKError for an invalid scene."""
        items = [*scene.objects.values(), *(body.object for body in scene.attached.values())]
        if (count := sum(len(item.parts) for item in items)) > MAX_SHAPES:
            raise invalid(f'the scene would have {count} shapes; at most {MAX_SHAPES} are allowed')
        # if the new scene cannot be checked now, it still applies; requests with checks fail
        with suppress(RequestError):
            if checker := self.checker(scene):
                checker.moving_joints   # noqa: B018 - cached for later requests


def transfer_scene(source: Scene, robot: Robot) -> Scene:
    """Return a scene for its robot's new description; raises IKError if the scene does not fit."""
    scene = copy_scene(source, robot)
    # keep the changes that clients made to the allowed pairs of the old description
    default = AllowedCollisions.of_robot(source.robot).pairs
    changed = {pair: source.allowed.allowed(*pair) for pair in {**default, **source.allowed.pairs}
               if default.get(pair) != source.allowed.pairs.get(pair)}
    return scene.with_allowed(scene.allowed.updated(
        AllowedCollisions(changed, source.allowed.defaults)))


def contents(scene: Scene) -> str:
    """Return a text with the names of a scene's objects, only the first ones if there are many."""
    return join_first([*(f"'{id}'" for id in scene.objects),
                       *(f"'{id}' (attached)" for id in scene.attached)]) or 'no objects'


def _compute_parts(meshes: Sequence[Mesh]) -> None:
    # the parent is the fork server, which ends with the node
    end_with_parent()
    os.nice(PARTS_NICENESS)
    for mesh in meshes:
        mesh.convex_parts   # noqa: B018
