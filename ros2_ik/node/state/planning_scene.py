"""The scene as the node knows it now."""

from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
import time
from typing import Any, NamedTuple

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
from ros2_ik.node.state.transforms import LOOK, Transforms

MAX_WAITING = 1000   # changes of the scene
BATCH = 100   # changes that are made together, at most

Done = Callable[['Applied | Exception'], None]


class Applied(NamedTuple):
    """The scene after a change, and notes for a person."""

    scene: Scene
    notes: list[str]


class StateInScene(NamedTuple):
    """The scene with what a RobotState holds besides, its joint values, and notes."""

    scene: Scene
    given: dict[str, Any]
    notes: list[str]


class _Made(NamedTuple):
    """The scene after several changes, and a result for each."""

    known: SceneState
    results: list[Applied | Exception]


class PlanningScene:
    """
    The present scene of the present robot: a value that each change replaces as a whole.

    Belongs to the node's thread; one other thread makes changes, and calls `receivers` with new
    scenes. `begin(coroutine)` runs one in the node's thread, `wait(start)` calls start(done) and
    awaits what done is given.
    """

    def __init__(self, parameters: Parameters, state: CurrentState, transforms: Transforms,
                 geometry: CollisionGeometry, log: RcutilsLogger,
                 begin: Callable[[Coroutine[object, object, None]], object], wait: Any) -> None:
        self._parameters, self._state, self._transforms = parameters, state, transforms
        self.geometry, self._log = geometry, log
        self.receivers: list[Callable[[SceneState], None]] = []
        self._begin, self._wait = begin, wait
        self._thread = ThreadPoolExecutor(1, 'scene changes')
        self._asked = deque[tuple[PlanningSceneMessage, Done]]()
        self._working = False
        self._known: SceneState | None = None
        self.fault = ''          # why the scene of parameter `scene` is not there, or ''

    def set_robot(self, robot: Robot) -> None:
        """Adopt another robot; the scene stays if the robot has the same name."""
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
        """Return the scene of parameter `scene`; where it has a fault, an empty one."""
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
        self._thread.submit(self._show_guarded, known)

    def _show_guarded(self, known: SceneState) -> None:
        try:
            for receive in self.receivers:
                receive(known)
        except Exception as error:   # else nobody would hear of it
            self._log.error(f'the scene cannot be shown: {type(error).__name__}: {error}')

    # -- reading --------------------------------------------------------------------------

    @property
    def known(self) -> SceneState:
        """The present scene; raises RequestError without a robot."""
        if self._known is None:
            raise RequestError(
                Status.INVALID_ROBOT_STATE, 'there is no robot yet, and so no scene')
        return self._known

    def checker(self, scene: Scene) -> tuple[CollisionChecker | None, list[str]]:
        """
        Return the checker for a scene of this robot, and what a person should know of it.

        None where there is nothing that could touch: no geometry of the robot, no objects.
        Raises RequestError (COLLISION_CHECKING_UNAVAILABLE).
        """
        if self.fault:
            raise RequestError(Status.COLLISION_CHECKING_UNAVAILABLE, self.fault)
        if not self.geometry.check():
            reason = f"robot '{scene.robot.name}' has no collision elements" + ''.join(
                _first(' that could be read: ', self.geometry.left_out))
            if scene.objects or scene.attached:
                raise RequestError(
                    Status.COLLISION_CHECKING_UNAVAILABLE,
                    f'{reason}, so it cannot be checked against {contents(scene)} of '
                    'the scene; avoid_collisions: false does without')
            return None, [f'not checked for collisions: {reason}']
        return self._checker(scene), _first('checked for collisions without what is missing: ',
                                            self.geometry.left_out)

    def _checker(self, scene: Scene) -> CollisionChecker:
        return collision_checker(scene.robot, scene, *self.geometry.options)

    def of_state(self, state: RobotState, robot: Robot, what: str) -> StateInScene:
        """
        Read a question's RobotState in the scene of this moment; raises RequestError.

        `what` is its name in messages.
        """
        given, scene, notes = joint_values(state, robot, what), self.known.scene, list[str]()
        if held := state.attached_collision_objects:
            with error_context(f'{what}.attached_collision_objects'):
                check_size([item.object for item in held], MAX_REQUEST_SHAPES,
                           MAX_REQUEST_TRIANGLES)
            scene = with_attached(scene, state, self.now(scene.robot, given, notes), f'{what}.')
        return StateInScene(scene, given, notes)

    # -- changing -------------------------------------------------------------------------

    def now(self, robot: Robot, given: Mapping[str, Any], notes: list[str]) -> ConversionContext:
        """Return where things stand; `given` joint values count before those that are known."""
        def at(joints: frozenset[str]) -> Configuration:
            return Configuration(robot, self._state.start(robot, given, joints).q)
        return ConversionContext(at, self._transforms.lookup(), self._parameters.meshes,
                                 notes.append)

    def apply(self, message: PlanningSceneMessage, done: Done) -> None:
        """
        Have the scene changed by a PlanningScene message, as a whole or not at all.

        Changes are made in the order in which they were asked for. What the new scene needs is
        made in a thread; when the scene is the new one, `done` is called in the node's thread,
        or with the reason why the old one stays. Raises RequestError.
        """
        robot = self.known.scene.robot
        if self.fault:
            raise RequestError(Status.COLLISION_CHECKING_UNAVAILABLE,
                               f'{self.fault}: start the node with another one, or without')
        if len(self._asked) >= MAX_WAITING:
            raise RequestError(Status.FAILURE, f'busy: {len(self._asked)} changes of the scene '
                               f"of robot '{robot.name}' wait, the most there may be")
        self._asked.append((message, done))
        if not self._working:
            self._working = True
            self._begin(self._make_all())

    def close(self) -> None:
        """Make no further changes; waiting ones are not answered."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _make_all(self) -> None:
        """Make the waiting changes, in the order in which they came."""
        try:
            while self._asked:
                asked = [self._asked.popleft() for _ in range(min(len(self._asked), BATCH))]
                made = base = None
                while made is None or base is not self._known:   # another robot came meanwhile
                    base = self.known
                    made = await self._wait(partial(self._submit, asked, base))
                if made.known is not base:
                    self._put(made.known)
                for (_, done), result in zip(asked, made.results, strict=True):
                    done(result)
        finally:
            self._working = False

    def _submit(self, asked: list[tuple[PlanningSceneMessage, Done]], base: SceneState,
                done: Callable[[_Made], None]) -> None:
        messages = [message for message, _ in asked]
        self._thread.submit(lambda: done(self._make(messages, base)))

    # -- changing: in the thread ----------------------------------------------------------

    def _make(self, asked: list[PlanningSceneMessage], base: SceneState) -> _Made:
        """Make changes, one after the other; one that fails changes nothing."""
        try:
            made = self._changed_by(asked, base, prepare=False)
            if made.known.scene is not base.scene:
                self._prepare(made.known.scene)
            return made
        except Exception:   # one of them is to blame
            return self._changed_by(asked, base, prepare=True)

    def _changed_by(self, asked: list[PlanningSceneMessage], base: SceneState,
                    prepare: bool) -> _Made:
        known, results = base, list[Applied | Exception]()
        for each in asked:
            try:
                new, notes = self._changed(each, known)
                if prepare and new.scene is not known.scene:
                    self._prepare(new.scene)
                known = new
                results.append(Applied(new.scene, notes))
            except Exception as error:
                results.append(error)
        return _Made(known, results)

    def _changed(self, message: PlanningSceneMessage,
                 known: SceneState) -> tuple[SceneState, list[str]]:
        """Make a change, and try again while it is refused for transforms that may come."""
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
            time.sleep(LOOK)

    def _prepare(self, scene: Scene) -> None:
        """Make what checks for collisions need: what cannot be checked is refused now."""
        if self.geometry.usable:
            with error_context('the scene'):
                self._checker(scene).moving_joints   # noqa: B018 - kept; each request needs them


def _first(text: str, items: Iterable[str]) -> list[str]:
    """Return the first of several items, and how many more there are, after a text."""
    items = list(items)
    more = f' (and {len(items) - 1} more)' if len(items) > 1 else ''
    return [f'{text}{items[0]}{more}'] if items else []


def moved_over(old: SceneState, robot: Robot, log: RcutilsLogger) -> SceneState:
    """Return the scene on a robot of the same name; what does not fit is left out and logged."""
    source = old.scene
    scene = Scene(robot).with_frames(source.frames)
    lost: list[str] = []
    for item in source.objects.values():
        with _noted(lost, item.id):
            scene = scene.add(item)
    for held in source.attached.values():
        names = held.touch_links & {*robot.frame_names, *source.attached}
        with _noted(lost, held.id):
            scene = scene.attach(held.object, held.link, names)
    for link, padding in source.padding.items():
        with _noted(lost, f'padding of {link}'):
            scene = scene.with_padding({link: padding})
    usual = Scene(source.robot).allowed
    matrix = scene.allowed
    for pair, allowed in source.allowed.pairs.items():
        if usual.pairs.get(pair) != allowed:
            matrix = matrix.with_entry(*pair, allowed)
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
    """Put down what cannot be moved over."""
    try:
        yield
    except IKError as error:
        lost.append(f"'{name}' ({error})")


def contents(scene: Scene) -> str:
    """Return how many objects there are."""
    count, held = len(scene.objects), len(scene.attached)
    return (f'{count} object{"s" * (count != 1)}'
            + (f' and {held} attached' if held else ''))
