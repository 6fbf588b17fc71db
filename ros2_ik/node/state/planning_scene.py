"""The scene as the node knows it now."""

from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
import time
from typing import Any, NamedTuple

from ros2_ik.core import (
    check_scene_file,
    collision_checker,
    CollisionChecker,
    Configuration,
    IKError,
    load_scene,
    Robot,
    Scene,
    Status,
)
from ros2_ik.messages.planning_scenes import SceneState, with_attached
from ros2_ik.messages.request_error import error_context, RequestError
from ros2_ik.messages.robot_states import joint_values
from ros2_ik.messages.scene_changes import (
    check_scene_size,
    check_size,
    ConversionContext,
    MAX_REQUEST_SHAPES,
    MAX_REQUEST_TRIANGLES,
)
from ros2_ik.node.state.collision_geometry import CollisionGeometry
from ros2_ik.node.state.current_state import CurrentState
from ros2_ik.node.state.transforms import LOOK, Transforms

MAX_WAITING = 1000   # changes of the scene
BATCH = 100   # changes that are made together, at most
RETRY = 1.0   # a scene file that needs joint values is tried again so often [s]
SHOW = 0.5    # while changes wait, so often at most a new scene is shown [s]

Change = Callable[[SceneState, ConversionContext], SceneState]
Given = Callable[[Robot], Mapping[str, Any]]


class Applied(NamedTuple):
    """The scene after a change, and notes for a person."""

    scene: Scene
    notes: list[str]


class _Change(NamedTuple):
    change: Change
    given: Given
    done: Callable[[Applied | Exception], None]


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

    def __init__(self, parameters: Any, state: CurrentState, transforms: Transforms,
                 geometry: CollisionGeometry, log: Any,
                 begin: Callable[[Coroutine[Any, Any, None]], Any], wait: Any) -> None:
        self._parameters, self._state, self._transforms = parameters, state, transforms
        self.geometry, self._log = geometry, log
        self.receivers: list[Callable[[SceneState], None]] = []
        self._begin, self._wait = begin, wait
        self._thread = ThreadPoolExecutor(1, 'scene changes')
        self._asked = deque[_Change]()
        self._working = False
        self._shown: SceneState | None = None
        self._shown_at = 0.0
        self._known: SceneState | None = None
        self._loaded = ''        # the value of parameter `scene` that the scene began with
        self.fault = ''          # why the scene of parameter `scene` is not there, or ''
        self.waiting = False     # whether that is only for joint values that have not come yet
        self._tried = 0.0

    def set_robot(self, robot: Robot) -> None:
        """Take another robot: the scene moves over to it if it is the same one, described anew."""
        old, self._known = self._known, SceneState(Scene(robot))
        self.make_geometry(robot)
        if old and (old.scene.robot.name, old.scene.robot.root_frame) \
                == (robot.name, robot.root_frame) and not self.fault:
            self._put(moved_over(old, robot, self._log))
            return
        if old and (old.scene.objects or old.scene.attached):
            self._log.warning(f"the scene of robot '{old.scene.robot.name}' is gone, with "
                              f'{contents(old.scene)}')
        self._put(self._known)
        self.load(self._parameters.scene)

    def make_geometry(self, robot: Robot) -> None:
        """Begin with the robot's geometry as the parameters want it."""
        self.geometry.make(robot, self._parameters.meshes, self._parameters.missing_meshes)

    def _put(self, known: SceneState) -> None:
        self._known = known
        self._show_newest()

    def _show_newest(self) -> None:
        """Show the scene if it is another one than before; not too often while changes wait."""
        known = self._known
        late = time.monotonic() > self._shown_at + SHOW
        if known is not None and known is not self._shown and (late or not self._asked):
            self._shown, self._shown_at = known, time.monotonic()
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
        """What is known; raises RequestError without a robot, or if parameter `scene` is wrong."""
        if self.waiting and time.monotonic() > self._tried + RETRY:
            self.load(self._parameters.scene)
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

    def with_held(self, state: Any, given: Mapping[str, Any],
                  place: str) -> tuple[Scene, list[str]]:
        """
        Return the scene of this moment with what a question's RobotState holds besides, and notes.

        `given` are its joint values, `place` is its name with a dot. Raises RequestError.
        """
        scene, notes = self.known.scene, list[str]()
        if held := state.attached_collision_objects:
            with error_context(f'{place}attached_collision_objects'):
                check_size([item.object for item in held], MAX_REQUEST_SHAPES,
                           MAX_REQUEST_TRIANGLES)
            scene = with_attached(scene, state, self.now(scene.robot, given, notes), place)
        return scene, notes

    def of_state(self, state: Any, robot: Robot,
                 what: str) -> tuple[Scene, dict[str, Any], list[str]]:
        """Return the scene with what a RobotState holds, its joint values, and notes."""
        given = joint_values(state, robot, what)
        scene, notes = self.with_held(state, given, f'{what}.')
        return scene, given, notes

    # -- changing -------------------------------------------------------------------------

    def now(self, robot: Robot, given: Mapping[str, Any], notes: list[str]) -> ConversionContext:
        """Return where things stand; `given` joint values count before those that are known."""
        def at(joints: frozenset[str]) -> Configuration:
            return Configuration(robot, self._state.start(robot, given, joints).q)
        return ConversionContext(at, self._transforms.lookup(), self._parameters.meshes,
                                 notes.append)

    def apply(self, change: Change, given: Given,
              done: Callable[[Applied | Exception], None]) -> None:
        """
        Have the scene changed, as a whole or not at all, after all changes asked for before.

        `given` reads the joint values that come with the change. What the new scene needs is
        made in a thread; when the scene is the new one, `done` is called in the node's thread,
        or with the reason why the old one stays. Raises RequestError.
        """
        robot = self.known.scene.robot   # loads the scene of parameter `scene` if that waits
        self._check_fault()
        if len(self._asked) >= MAX_WAITING:
            raise RequestError(Status.FAILURE, f'busy: {len(self._asked)} changes of the scene '
                               f"of robot '{robot.name}' wait, the most there may be")
        self._asked.append(_Change(change, given, done))
        if not self._working:
            self._working = True
            self._begin(self._make_all())

    def close(self) -> None:
        """Make no more changes; those that wait are not answered."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _check_fault(self) -> None:
        if self.fault:
            raise RequestError(Status.COLLISION_CHECKING_UNAVAILABLE,
                               f'{self.fault}: correct or empty parameter scene first')

    async def _make_all(self) -> None:
        """Have the changes made that wait, in the order in which they came."""
        try:
            while self._asked:
                asked = [self._asked.popleft() for _ in range(min(len(self._asked), BATCH))]
                await self._make_some(asked)
        finally:
            self._working = False
        self._show_newest()

    async def _make_some(self, asked: list[_Change]) -> None:
        made = base = None
        while made is None or base is not self._known:   # another scene came meanwhile
            base = self.known
            made = await self._wait(partial(self._submit, asked, base))
        if made.known is not base:
            self._put(made.known)
        for each, result in zip(asked, made.results, strict=True):
            each.done(result)

    def _submit(self, asked: list[_Change], base: SceneState, done: Callable[[_Made], None]) \
            -> None:
        self._thread.submit(lambda: done(self._make(asked, base)))

    # -- changing: in the thread ----------------------------------------------------------

    def _make(self, asked: list[_Change], base: SceneState) -> _Made:
        """Make changes, one after the other; one that fails changes nothing."""
        try:
            made = self._changed_by(asked, base, prepare=False)
            if made.known.scene is not base.scene:
                self._prepare(made.known.scene)
            return made
        except Exception:   # one of them is to blame
            return self._changed_by(asked, base, prepare=True)

    def _changed_by(self, asked: list[_Change], base: SceneState, prepare: bool) -> _Made:
        known, results = base, list[Applied | Exception]()
        for each in asked:
            try:
                new, notes = self._changed_patiently(each, known)
                if prepare and new.scene is not known.scene:
                    self._prepare(new.scene)
                known = new
                results.append(Applied(new.scene, notes))
            except Exception as error:
                results.append(error)
        return _Made(known, results)

    def _changed_patiently(self, asked: _Change, known: SceneState) \
            -> tuple[SceneState, list[str]]:
        """Make a change, and try again while it is refused for transforms that may come."""
        while True:
            began = time.monotonic()
            try:
                return self._changed_once(asked, known)
            except RequestError as error:
                if not self._transforms.may_pass(error, began):
                    raise
            time.sleep(LOOK)

    def _changed_once(self, asked: _Change, known: SceneState) -> tuple[SceneState, list[str]]:
        self._check_fault()
        robot, notes = known.scene.robot, list[str]()
        now = self.now(robot, asked.given(robot), notes)
        new = asked.change(known, now)
        check_scene_size(new.scene)
        return (known if new == known else new), notes

    def _prepare(self, scene: Scene) -> None:
        """Make what checks for collisions need: what cannot be checked is refused now."""
        if self.geometry.usable:
            with error_context('the scene'):
                self._checker(scene).moving_joints   # noqa: B018 - kept; each request needs them

    # -- parameter scene ------------------------------------------------------------------

    def why_not(self, scene: str) -> str:
        """Return the reason against a scene file, or ''; without a robot it is hardly read."""
        if not scene:
            return ''
        if self._known:
            return self._read(scene)[1]
        try:
            check_scene_file(scene)
        except IKError as error:
            return f"parameter scene, '{scene}': {error}"
        return ''

    def take(self, scene: str) -> None:
        """Load another scene; to set the present one again takes nothing away from it."""
        if scene != self._loaded or self.fault:
            self.load(scene)

    def load(self, scene: str) -> None:
        """Take the scene of a file in place of the present one; '' changes nothing."""
        self._tried, self._loaded = time.monotonic(), scene
        if self._known is None or not scene:
            self.fault, self.waiting = '', False
            return
        found, fault, self.waiting = self._read(scene)
        if fault and fault != self.fault:
            self._log.error(f"parameter scene, '{scene}': {fault}")
        self.fault = fault and f"the scene '{scene}' of parameter scene is not loaded: {fault}"
        if found is not None:
            old = self._known.scene
            gone = f', in place of {contents(old)}' if old.objects or old.attached else ''
            self._log.info(f"scene '{scene}': {contents(found)}{gone}")
            self._put(SceneState(found, scene))

    def _read(self, scene: str) -> tuple[Scene | None, str, bool]:
        """Return the scene of a file, or why not, and whether only joint values are missing."""
        assert self._known is not None
        robot = self._known.scene.robot
        try:
            at = Configuration(robot, self._state.start(
                robot, {}, frozenset(robot.joint_names)).q)
        except RequestError:
            at = None
        try:
            found = load_scene(scene, robot, at)
            check_scene_size(found)
            self._prepare(found)
        except IKError as error:
            return None, str(error), at is None and _loads(scene, robot)
        return found, '', False


def _loads(scene: str, robot: Robot) -> bool:
    """Return whether a scene file only lacks joint values."""
    try:
        load_scene(scene, robot, Configuration(robot, robot.neutral))
    except IKError:
        return False
    return True


def _first(text: str, items: Iterable[str]) -> list[str]:
    """Tell of the first of several, and how many more there are."""
    items = list(items)
    more = f' (and {len(items) - 1} more)' if len(items) > 1 else ''
    return [f'{text}{items[0]}{more}'] if items else []


def moved_over(old: SceneState, robot: Robot, log: Any) -> SceneState:
    """Give the scene to a robot of the same name; what does not fit is left out, and said."""
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
