"""What a collision checker cannot see, in words; and the checker of a robot alone."""

from collections.abc import Sequence
from dataclasses import dataclass
import logging
from typing import Any
from weakref import WeakKeyDictionary

from ros2_ik.core.errors import InvalidSceneError
from ros2_ik.core.robot import Robot
from ros2_ik.core.scene.collision_checker import CollisionChecker
from ros2_ik.core.scene.kept import Kept
from ros2_ik.core.scene.mesh_paths import known_mesh_files
from ros2_ik.core.scene.robot_geometry import check_detail
from ros2_ik.core.scene.scene import Scene
from ros2_ik.core.scene.scene_frames import link_names
from ros2_ik.core.scene.self_pairs import self_pairs
from ros2_ik.core.scene.shapes import Mesh

COLLISIONS_OFF = 'collisions: not checked'
_log = logging.getLogger('ros2_ik')
_NAMED = 10      # so many names in one sentence
_told: WeakKeyDictionary[CollisionChecker, tuple[str, ...]] = WeakKeyDictionary()
_alone: Kept[tuple[Any, ...], 'OwnCollisions'] = Kept()


@dataclass(frozen=True)
class OwnCollisions:
    """
    How a robot alone is checked against itself: None if there is nothing to check.

    `fault` says why nothing of what its URDF describes can be checked.
    """

    checker: CollisionChecker | None
    not_checked: tuple[str, ...]
    fault: str | None = None


def own_collisions(robot: Robot, meshes: str = 'exact') -> OwnCollisions:
    """
    Return the check of a robot against itself, as far as it has geometry.

    It is made once for each robot and state of its mesh files. Nothing is refused: elements that
    cannot be read, and meshes that cannot be found, are left out, and what that leaves unchecked
    is said. `meshes` says what stands for the robot's, see `robot_geometry`.
    """
    check_detail(meshes)
    key = (robot.key, known_mesh_files(robot), robot.package_dirs, meshes)
    return _alone.get(key, lambda: _own_collisions(robot, meshes))


def _own_collisions(robot: Robot, meshes: str) -> OwnCollisions:
    try:
        checker = CollisionChecker(robot, Scene(robot), meshes, 'leave out')
    except InvalidSceneError as error:
        _log.warning("robot '%s' is not checked against itself: %s", robot.name, error)
        return OwnCollisions(None, (f'{COLLISIONS_OFF} ({error})',), str(error))
    if warnings := checker.geometry.warnings:
        more = f' (and {len(warnings) - 1} more)' if len(warnings) > 1 else ''
        _log.warning("robot '%s': %s%s", robot.name, warnings[0], more)
    lost = checker.geometry.left_out and not any(
        isinstance(body.shape, Mesh) for body in checker.geometry.bodies)
    return OwnCollisions(checker if checker.pair_count else None, not_checked(checker),
                         checker.geometry.warnings[0] if lost else None)


def not_checked(checker: CollisionChecker) -> tuple[str, ...]:
    """
    Return what a checker does not see, one sentence each.

    Links without geometry, links with meshes that were not found, pairs that are left out
    without an SRDF that says so, and what touches whatever joints do; with how many, and names.
    """
    found = _told.get(checker)
    if found is None:
        found = _told[checker] = tuple(_sentences(checker))
    return found


def _sentences(checker: CollisionChecker) -> list[str]:
    robot, geometry = checker.robot, checker.geometry
    lost = geometry.left_out
    if not geometry.bodies:
        why = (f"of robot '{robot.name}' nothing could be read: {geometry.warnings[0]}"
               if lost else f"robot '{robot.name}' has no collision elements")
        return [f'{COLLISIONS_OFF} ({why})']
    found = []
    bare = [link for link in link_names(robot) if link not in {*geometry.links, *lost}]
    if bare:
        found.append(_counted(len(bare), 'link', 'without collision elements', bare))
    if lost:
        found.append(_counted(len(lost), 'link', 'whose collision elements, or meshes, were not '
                              'found or not readable', lost))
    guessed = self_pairs(robot, geometry, checker.scene.guess_pairs).guessed
    if guessed:
        found.append(_counted(len(guessed), 'pair', 'of links that no SRDF disables', [
            f'{first} - {second} ({reason})' for (first, second), reason in guessed.items()]))
    if touching := checker.lasting_contacts:
        found.append(_counted(len(touching), 'contact', 'that no joint could part', [
            f'{first} - {second}' for first, second in touching]))
    return found


def _counted(count: int, what: str, which: str, names: Sequence[str]) -> str:
    more = f' and {count - _NAMED} more' if count > _NAMED else ''
    return (f'collisions: {count} {what}{"s" * (count != 1)} {which} not checked: '
            f'{", ".join(names[:_NAMED])}{more}')
