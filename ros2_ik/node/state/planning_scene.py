"""The node's planning scene: reads, queues and applies changes."""

from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
import time
from typing import Any, NamedTuple, TypeVar

from moveit_msgs.msg import PlanningScene as PlanningSceneMessage, RobotState
from rclpy.impl.rcutils_logger import RcutilsLogger

from ros2_ik.core import (
    collision_checker,
    CollisionChecker,
    Configuration,
    IKError,
    load_scene,
    Robot,
    Scene,
    Status,
)
from ros2_ik.messages.planning_scenes import changed_scene, SceneState, with_attached
from ros2_ik.messages.request_error import error_context, RequestError
from ros2_ik.messages.robot_states import joint_values
from ros2_ik.messages.scene_changes import (
    check_scene_size,
    check_size,
    ConversionContext,
    MAX_REQUEST_SHAPES,
    MAX_REQUEST_TRIANGLES,
)
from ros2_ik.node.parameters import Parameters
from ros2_ik.node.state.collision_geometry import CollisionGeometry
from ros2_ik.node.state.current_state import CurrentState
from ros2_ik.node.state.transforms import RETRY_PERIOD, Transforms

MAX_WAITING = 1000   # maximum number of queued changes
BATCH = 100   # maximum number of changes that are applied together

Done = Callable[['Applied | Exception'], None]

T = TypeVar('T')


class Applied(NamedTuple):
    """The scene after a change, and notes for the client."""

    scene: Scene
    notes: list[str]


class StateInScene(NamedTuple):
    """The scene with a RobotState's attached objects, its joint positions (`given`), and notes."""

    scene: Scene
    given: dict[str, Any]
    notes: list[str]


class _BatchResult(NamedTuple):
    """The scene after several changes, and the result of each change."""

    known: SceneState
    results: list[Applied | Exception]


class PlanningScene:
    """
    The current scene of the current robot; a change replaces the immutable scene as a whole.

    Call methods in the node's thread only. A second thread computes changes, and calls
    `receivers` with each new scene. `begin(coroutine)` runs a coroutine in the node's thread;
    `wait(start)` calls `start(done)` and awaits the result that is passed to `done`.
    """

    def __init__(self, parameters: Parameters, state: CurrentState, transforms: Transforms,
                 geometry: CollisionGeometry, log: RcutilsLogger,
                 begin: Callable[[Coroutine[object, object, None]], object], wait: Any) -> None:
        self._parameters, self._state, self._transforms = parameters, state, transforms
        self.geometry, self._log = geometry, log
        self.receivers: list[Callable[[SceneState], None]] = []
        self._begin, self._wait = begin, wait
        self._thread = ThreadPoolExecutor(1, 'scene changes')
        self._queue = deque[tuple[PlanningSceneMessage, Done]]()
        self._working = False
        self._known: SceneState | None = None
        self.fault = ''          # why the scene of parameter `scene` was not loaded, or ''

    def set_robot(self, robot: Robot) -> None:
        """Adopt another robot; keep the scene if name and root frame of the robot are the same."""
        old, self._known = self._known, SceneState(Scene(robot))
        self.geometry.make(robot, self._parameters.meshes, self._parameters.missing_meshes)
        if old and (old.scene.robot.name, old.scene.robot.root_frame) \
                == (robot.name, robot.root_frame) and not self.fault:
            self._put(moved_over(old, robot, self._log))
            return
        if old and (old.scene.objects or old.scene.attached):
            self._log.warning(f"the scene of robot '{old.scene.robot.name}' is gone, with "
                              f'{contents(old.scene)}')
        self._put(self._loaded(robot, self._parameters.scene))

    def _loaded(self, robot: Robot, scene: str) -> SceneState:
        """Load the scene of parameter `scene`; return an empty one and set `fault` on errors."""
        self.fault = ''
        if not scene:
            return SceneState(Scene(robot))
        try:
            found = load_scene(scene, robot)
            check_scene_size(found)
        except IKError as error:
            self._log.error(f"parameter scene, '{scene}': {error}")
            self.fault = f"the scene '{scene}' of parameter scene is not loaded: {error}"
            return SceneState(Scene(robot))
        self._log.info(f"scene '{scene}': {contents(found)}")
        return SceneState(found, scene)

    def _put(self, known: SceneState) -> None:
        self._known = known
        self._thread.submit(self._notify_receivers, known)

    def _notify_receivers(self, known: SceneState) -> None:
        for receive in self.receivers:
            try:
                receive(known)
            # the thread pool would swallow the exception
            except Exception as error:
                self._log.error(f'the scene cannot be shown: {type(error).__name__}: {error}')

    # -- reading --------------------------------------------------------------------------

    @property
    def known(self) -> SceneState:
        """The current scene; raises RequestError without a robot."""
        if self._known is None:
            raise RequestError(
                Status.INVALID_ROBOT_STATE, 'there is no robot yet, and so no scene')
        return self._known

    def checker(self, scene: Scene) -> tuple[CollisionChecker | None, list[str]]:
        """
        Return the collision checker for a scene of this robot, and notes on unchecked geometry.

        The checker is None if neither the robot nor the scene has geometry. Raises RequestError
        (COLLISION_CHECKING_UNAVAILABLE).
        """
        if self.fault:
            raise RequestError(Status.COLLISION_CHECKING_UNAVAILABLE, self.fault)
        # a robot without collision elements needs no checker only if the scene is empty
        if not self.geometry.check():
            reason = f"robot '{scene.robot.name}' has no collision elements" + ''.join(
                _first(' that could be read: ', self.geometry.left_out))
            if scene.objects or scene.attached:
                raise RequestError(
                    Status.COLLISION_CHECKING_UNAVAILABLE,
                    f'{reason}, so it cannot be checked against {contents(scene)} of '
                    'the scene (avoid_collisions: false disables the check)')
            return None, [f'not checked for collisions: {reason}']
        return self._checker(scene), _first('not checked for collisions: ', self.geometry.left_out)

    def _checker(self, scene: Scene) -> CollisionChecker:
        return collision_checker(scene.robot, scene, *self.geometry.options)

    def of_state(self, state: RobotState, robot: Robot, what: str,
                 is_goal: bool = False) -> StateInScene:
        """
        Parse a request's RobotState, and attach its objects in the current scene.

        The objects are located at the joint positions of the state; those of a goal, which the
        robot does not hold yet, at the current ones. `what` is the name of the state in error
        texts. Raises RequestError.
        """
        given, scene, notes = joint_values(state, robot, what), self.known.scene, list[str]()
        if held := state.attached_collision_objects:
            with error_context(f'{what}.attached_collision_objects'):
                check_size([item.object for item in held], MAX_REQUEST_SHAPES,
                           MAX_REQUEST_TRIANGLES)
            located = self.now(scene.robot, {} if is_goal else given, notes)
            scene = with_attached(scene, state, located, f'{what}.')
        return StateInScene(scene, given, notes)

    # -- changes --------------------------------------------------------------------------

    def now(self, robot: Robot, given: Mapping[str, Any], notes: list[str]) -> ConversionContext:
        """Return the context for parsing objects; `given` positions override joint_states."""
        # one reading for all frames that the same joints move: they keep their places on a link
        @cache
        def at(joints: frozenset[str]) -> Configuration:
            return Configuration(robot, self._state.start(robot, given, joints).q)
        return ConversionContext(at, self._transforms.lookup(), self._parameters.meshes,
                                 notes.append)

    def apply(self, message: PlanningSceneMessage, done: Done) -> None:
        """
        Queue a change of the scene by a PlanningScene message, applied completely or not at all.

        Changes are applied in order of arrival. `done` is called in the node's thread, with
        Applied when the new scene and its collision checker are ready, or with the exception if
        the change was refused. Raises RequestError if the change cannot be queued.
        """
        robot = self.known.scene.robot
        if self.fault:
            raise RequestError(Status.COLLISION_CHECKING_UNAVAILABLE,
                               f'{self.fault}: start the node with another scene, or without')
        if len(self._queue) >= MAX_WAITING:
            raise RequestError(Status.FAILURE, f'busy: the maximum of {MAX_WAITING} changes of '
                               f"the scene of robot '{robot.name}' is waiting")
        self._queue.append((message, done))
        if not self._working:
            self._working = True
            self._begin(self._apply_queue())

    async def in_thread(self, make: Callable[[], T]) -> T:
        """Return the result of a function that is called in the second thread."""
        future = await self._wait(lambda done: self._thread.submit(make).add_done_callback(done))
        made: T = future.result()
        return made

    def close(self) -> None:
        """Apply no further changes; `done` is not called for waiting ones."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _apply_queue(self) -> None:
        """Apply the waiting changes, in order of arrival."""
        try:
            while self._queue:
                asked = [self._queue.popleft() for _ in range(min(len(self._queue), BATCH))]
                made = base = None
                # repeated if another robot was set meanwhile
                while made is None or base is not self._known:
                    base = self.known
                    made = await self._wait(partial(self._submit, asked, base))
                if made.known is not base:
                    self._put(made.known)
                for (_, done), result in zip(asked, made.results, strict=True):
                    done(result)
        finally:
            self._working = False

    def _submit(self, asked: list[tuple[PlanningSceneMessage, Done]], base: SceneState,
                done: Callable[[_BatchResult], None]) -> None:
        messages = [message for message, _ in asked]
        self._thread.submit(lambda: done(self._apply_batch(messages, base)))

    # -- changes: in the second thread ----------------------------------------------------

    def _apply_batch(self, asked: list[PlanningSceneMessage], base: SceneState) -> _BatchResult:
        """Apply changes one after the other; a failed change leaves the scene as it was."""
        try:
            # prepare the collision checker once, for the last scene
            made = self._apply_each(asked, base, prepare=False)
            if made.known.scene is not base.scene:
                self._prepare(made.known.scene)
            return made
        # on an error, prepare the checker after each change, to find the faulty change
        except Exception:
            return self._apply_each(asked, base, prepare=True)

    def _apply_each(self, asked: list[PlanningSceneMessage], base: SceneState,
                    prepare: bool) -> _BatchResult:
        known, results = base, list[Applied | Exception]()
        for each in asked:
            try:
                new, notes = self._apply_one(each, known)
                if prepare and new.scene is not known.scene:
                    self._prepare(new.scene)
                known = new
                results.append(Applied(new.scene, notes))
            except Exception as error:
                results.append(error)
        return _BatchResult(known, results)

    def _apply_one(self, message: PlanningSceneMessage,
                   known: SceneState) -> tuple[SceneState, list[str]]:
        """Apply a change; retry while it is refused for a transform that may still arrive."""
        robot = known.scene.robot
        while True:
            began, notes = time.monotonic(), list[str]()
            try:
                given = joint_values(message.robot_state, robot, 'robot_state')
                new = changed_scene(known, message, self.now(robot, given, notes))
                check_scene_size(new.scene)
                return (known if new == known else new), notes
            except RequestError as error:
                if not self._transforms.may_pass(error, began):
                    raise
            time.sleep(RETRY_PERIOD)

    def _prepare(self, scene: Scene) -> None:
        """Create and cache a scene's collision checker; raises IKError for invalid geometry."""
        if self.geometry.usable:
            with error_context('the scene'):
                self._checker(scene).moving_joints   # noqa: B018 - cached for later requests


def _first(text: str, items: Iterable[str]) -> list[str]:
    """Return [text with the first item and the number of further items], [] without items."""
    items = list(items)
    more = f' (and {len(items) - 1} more)' if len(items) > 1 else ''
    return [f'{text}{items[0]}{more}'] if items else []


def moved_over(old: SceneState, robot: Robot, log: RcutilsLogger) -> SceneState:
    """
    Return the old scene, adapted to a changed description of the robot.

    Objects, attachments and paddings that do not fit the new description are logged and dropped.
    """
    source = old.scene
    scene = Scene(robot).with_frames(source.frames)
    lost: list[str] = []
    for item in source.objects.values():
        with _noted(lost, item.id):
            scene = scene.add(item)
    for held in source.attached.values():
        with _noted(lost, held.id):
            scene = scene.attach(held.object, held.link, held.touch_links)
    for link, padding in source.padding.items():
        with _noted(lost, f'padding of {link}'):
            scene = scene.with_padding({link: padding})
    # keep only those allowed pairs that differ from the SRDF of the old description
    default = Scene(source.robot).allowed
    matrix = scene.allowed
    for pair, allowed in source.allowed.pairs.items():
        if default.pairs.get(pair) != allowed:
            matrix = matrix.with_entry(*pair, allowed)
    # pairs of the SRDF that a client removed
    for pair in default.pairs.keys() - source.allowed.pairs.keys():
        matrix = matrix.with_entry(*pair, source.allowed.allowed(*pair))
    for name, allowed in source.allowed.defaults.items():
        matrix = matrix.with_entry(name, None, allowed)
    if lost:
        log.warning(f"robot '{robot.name}' is described anew; gone from the scene: "
                    + ', '.join(lost))
    elif scene.objects or scene.attached:
        log.info(f"robot '{robot.name}' is described anew; the scene stays, with "
                 f'{contents(scene)}')
    return SceneState(scene.with_allowed(matrix), old.name, old.octomap)


@contextmanager
def _noted(lost: list[str], name: str) -> Iterator[None]:
    """Append `name` and the reason to `lost` if the block raises IKError."""
    try:
        yield
    except IKError as error:
        lost.append(f"'{name}' ({error})")


def contents(scene: Scene) -> str:
    """Return the numbers of objects and attached objects of a scene, in words."""
    count, held = len(scene.objects), len(scene.attached)
    return (f'{count} object{"s" * (count != 1)}'
            + (f' and {held} attached' if held else ''))
