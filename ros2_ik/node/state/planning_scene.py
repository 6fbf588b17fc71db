"""The scene as the node knows it now."""

from collections.abc import Callable, Iterable, Mapping
import time
from typing import Any

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
from ros2_ik.node.conversions.blame import blamed
from ros2_ik.node.conversions.frames import Lookup
from ros2_ik.node.conversions.planning_scenes import Known
from ros2_ik.node.conversions.scene_changes import Now
from ros2_ik.node.refusal import Refusal
from ros2_ik.node.state.collision_geometry import CollisionGeometry
from ros2_ik.node.state.current_state import CurrentState

RETRY = 1.0   # a scene file that needs joint values is tried again so often [s]

Change = Callable[[Known, Now], Known]


class PlanningScene:
    """
    The present scene of the present robot: a value that each change replaces as a whole.

    `changed` is called with each new scene.
    """

    def __init__(self, parameters: Any, state: CurrentState, lookup: Lookup,
                 geometry: CollisionGeometry, log: Any,
                 changed: Callable[[Scene], None]) -> None:
        self._parameters, self._state, self._lookup = parameters, state, lookup
        self.geometry, self._log, self._changed = geometry, log, changed
        self._known: Known | None = None
        self.fault = ''          # why the scene of parameter `scene` is not there, or ''
        self.waiting = False     # whether that is only for joint values that have not come yet
        self._tried = 0.0

    def set_robot(self, robot: Robot) -> None:
        """Take another robot: the scene moves over to it if it is the same one, described anew."""
        old, self._known = self._known, Known(Scene(robot))
        self.make_geometry(robot)
        if old and (old.scene.robot.name, old.scene.robot.root_frame) \
                == (robot.name, robot.root_frame) and not self.fault:
            self._put(_moved_over(old, robot, self._log))
            return
        if old and (old.scene.objects or old.scene.attached):
            self._log.warning(f"the scene of robot '{old.scene.robot.name}' is gone, with "
                              f'{_contents(old.scene)}')
        self._put(self._known)
        self.load(self._parameters.scene)

    def make_geometry(self, robot: Robot) -> None:
        """Begin with the robot's geometry as the parameters want it."""
        self.geometry.make(robot, self._parameters.meshes, self._parameters.missing_meshes)

    def _put(self, known: Known) -> None:
        self._known = known
        self._changed(known.scene)

    # -- reading --------------------------------------------------------------------------

    @property
    def known(self) -> Known:
        """What is known; raises Refusal without a robot, or if parameter `scene` is wrong."""
        if self.waiting and time.monotonic() > self._tried + RETRY:
            self.load(self._parameters.scene)
        if self._known is None:
            raise Refusal(Status.INVALID_ROBOT_STATE, 'there is no robot yet, and so no scene')
        return self._known

    def checker(self, scene: Scene) -> tuple[CollisionChecker | None, list[str]]:
        """
        Give the checker for a scene of this robot, and what a person should know of it.

        None where there is nothing that could touch: no geometry of the robot, no objects.
        Raises Refusal (COLLISION_CHECKING_UNAVAILABLE).
        """
        if self.fault:
            raise Refusal(Status.COLLISION_CHECKING_UNAVAILABLE, self.fault)
        if not self.geometry.check():
            reason = f"robot '{scene.robot.name}' has no collision elements" + ''.join(
                _first(' that could be read: ', self.geometry.left_out))
            if scene.objects or scene.attached:
                raise Refusal(Status.COLLISION_CHECKING_UNAVAILABLE,
                              f'{reason}, so it cannot be checked against {_contents(scene)} of '
                              'the scene; avoid_collisions: false does without')
            return None, [f'not checked for collisions: {reason}']
        return self._checker(scene), _first('checked for collisions without what is missing: ',
                                            self.geometry.left_out)

    def _checker(self, scene: Scene) -> CollisionChecker:
        return collision_checker(scene.robot, scene, *self.geometry.options)

    # -- changing -------------------------------------------------------------------------

    def now(self, robot: Robot, given: Mapping[str, Any], notes: list[str]) -> Now:
        """Say where things stand; `given` joint values count before those that are known."""
        def at(joints: frozenset[str]) -> Configuration:
            return Configuration(robot, self._state.start(robot, given, joints).q)
        return Now(at, self._lookup, self._parameters.meshes, notes.append)

    def apply(self, change: Change, given: Mapping[str, Any]) -> tuple[Scene, list[str]]:
        """
        Change the scene, as a whole or not at all.

        Gives the new scene and notes for a person. Raises Refusal, and the old scene stays.
        """
        known, notes = self.known, []
        if self.fault:
            raise Refusal(Status.COLLISION_CHECKING_UNAVAILABLE,
                          f'{self.fault}: correct or empty parameter scene first')
        robot = known.scene.robot
        new = change(known, self.now(robot, given, notes))
        if self.geometry.usable:
            with blamed('the scene'):
                self._checker(new.scene)   # what cannot be checked is refused now, not later
        if new.scene is not known.scene or new != known:
            self._put(new)
        return new.scene, notes

    # -- parameter scene ------------------------------------------------------------------

    def why_not(self, scene: str) -> str:
        """Give the reason against a scene file, or ''. Without a robot any will do for now."""
        return self._read(scene)[1] if scene and self._known else ''

    def load(self, scene: str) -> None:
        """Take the scene of a file in place of the present one; '' changes nothing."""
        self._tried = time.monotonic()
        if self._known is None or not scene:
            self.fault, self.waiting = '', False
            return
        found, fault, self.waiting = self._read(scene)
        if fault and fault != self.fault:
            self._log.error(f"parameter scene, '{scene}': {fault}")
        self.fault = fault and f"the scene '{scene}' of parameter scene is not loaded: {fault}"
        if found is not None:
            self._log.info(f"scene '{scene}': {_contents(found)}")
            self._put(Known(found, scene))

    def _read(self, scene: str) -> tuple[Scene | None, str, bool]:
        """Give the scene of a file, or why not, and whether only joint values are missing."""
        assert self._known is not None
        robot = self._known.scene.robot
        try:
            at = Configuration(robot, self._state.start(
                robot, {}, frozenset(robot.joint_names)).q)
        except Refusal:
            at = None
        try:
            found = load_scene(scene, robot, at)
            if self.geometry.usable:
                self._checker(found)
        except IKError as error:
            return None, str(error), at is None and _loads(scene, robot)
        return found, '', False


def _loads(scene: str, robot: Robot) -> bool:
    """Whether a scene file only lacks joint values."""
    try:
        load_scene(scene, robot, Configuration(robot, robot.neutral))
    except IKError:
        return False
    return True


def _moved_over(old: Known, robot: Robot, log: Any) -> Known:
    """Give the scene to a robot of the same name; what does not fit is left out, and said."""
    source = old.scene
    scene = Scene(robot).with_frames(source.frames)
    lost = []
    for item in source.objects.values():
        scene = _tried(scene, lost, item.id, lambda s, item=item: s.add(item))
    for held in source.attached.values():
        names = held.touch_links & {*robot.frame_names, *source.attached}
        scene = _tried(scene, lost, held.id, lambda s, held=held, names=names: s.attach(
            held.object, held.link, names))
    for link, padding in source.padding.items():
        scene = _tried(scene, lost, f'padding of {link}',
                       lambda s, link=link, padding=padding: s.with_padding({link: padding}))
    for link, factor in source.scale.items():
        scene = _tried(scene, lost, f'scale of {link}',
                       lambda s, link=link, factor=factor: s.with_scale({link: factor}))
    usual = Scene(source.robot).allowed
    matrix = scene.allowed
    for pair, allowed in source.allowed.pairs.items():
        if usual.pairs.get(pair) != allowed:
            matrix = matrix.with_pair(*pair, allowed)
    for name, allowed in source.allowed.defaults.items():
        matrix = matrix.with_default(name, allowed)
    if lost:
        log.warning(f"robot '{robot.name}' is described anew; gone from the scene: "
                    + ', '.join(lost))
    elif scene.objects or scene.attached:
        log.info(f"robot '{robot.name}' is described anew; the scene stays, with "
                 f'{_contents(scene)}')
    return Known(scene.with_allowed(matrix), old.name, old.octomap)


def _tried(scene: Scene, lost: list[str], name: str, change: Callable[[Scene], Scene]) -> Scene:
    try:
        return change(scene)
    except IKError as error:
        lost.append(f"'{name}' ({error})")
        return scene


def _contents(scene: Scene) -> str:
    count, held = len(scene.objects), len(scene.attached)
    return (f'{count} object{"s" * (count != 1)}'
            + (f' and {held} attached' if held else ''))


def _first(text: str, items: Iterable[str]) -> list[str]:
    """Tell of the first of several, and how many more there are."""
    items = list(items)
    more = f' (and {len(items) - 1} more)' if len(items) > 1 else ''
    return [f'{text}{items[0]}{more}'] if items else []
