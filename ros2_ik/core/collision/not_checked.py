"""A robot's self-collision checker, and reports of links and pairs that are not checked."""

from functools import lru_cache
from typing import NamedTuple

from ros2_ik.core.checks import one_of
from ros2_ik.core.collision.collision_checker import CollisionChecker
from ros2_ik.core.collision.self_pairs import ADJACENT, count_sentence, join_first, self_pairs
from ros2_ik.core.errors import InvalidOptionError, InvalidSceneError
from ros2_ik.core.robot import Robot
from ros2_ik.core.scene.robot_geometry import MISSING, RobotGeometry
from ros2_ik.core.scene.scene import Scene
from ros2_ik.core.scene.shapes.mesh import DETAILS

COLLISIONS_OFF = 'collisions: not checked'


class SelfCollisionCheck(NamedTuple):
    """The self-collision checker of a robot, and sentences on links and pairs not checked."""

    checker: CollisionChecker | None    # None: no pair to check
    not_checked: tuple[str, ...]


def self_collision_check(robot: Robot, meshes: str = 'exact',
                         missing_meshes: str = 'refuse') -> SelfCollisionCheck:
    """
    Return the self-collision checker of a robot, cached per Robot object.

    `meshes` is as in `robot_geometry`. If collision elements cannot be read, or their meshes are
    not found, raises InvalidSceneError; with `missing_meshes` 'skip', these elements are left out,
    and `not_checked` names their links.
    """
    one_of(meshes, 'meshes', DETAILS, InvalidOptionError)
    one_of(missing_meshes, 'missing_meshes', MISSING, InvalidOptionError)
    own = _self_collision_check(robot.without_added_frames, meshes)
    geometry = own.checker and own.checker.geometry
    if geometry and geometry.incomplete_links and missing_meshes == 'refuse':
        reasons = '; '.join(one.removesuffix('; it is left out') for one in geometry.warnings[:3])
        raise InvalidSceneError(
            f"collisions of robot '{robot.name}' cannot be checked, as geometry of "
            f'{len(geometry.incomplete_links)} link(s) is missing '
            f'({join_first(geometry.incomplete_links)}): {reasons}; valid: collisions=False, '
            "or for solve_pose and PoseSolver missing_meshes='skip'")
    return own


@lru_cache(maxsize=8)
def _self_collision_check(robot: Robot, meshes: str) -> SelfCollisionCheck:
    checker = CollisionChecker(robot, Scene(robot), meshes, 'skip')
    # keep a checker without pairs if geometry is missing: the caller reports the missing geometry
    is_used = checker.pair_count or checker.geometry.incomplete_links
    return SelfCollisionCheck(checker if is_used else None, not_checked(checker))


def not_checked(checker: CollisionChecker) -> tuple[str, ...]:
    """
    Return sentences on links and pairs that are not checked, with a remedy if there is one.

    The sentences count and name links without geometry, links with left-out elements, and guessed
    pairs (see `SelfPairs`). Other sentences state that adjacent, or all, links are not checked.
    """
    return _gaps(checker.robot, checker.geometry, checker.scene.guess_pairs)


@lru_cache(maxsize=8)
def _gaps(robot: Robot, geometry: RobotGeometry, guess_pairs: bool) -> tuple[str, ...]:
    lost = geometry.incomplete_links
    if not geometry.bodies:
        why = (f"of robot '{robot.name}' nothing could be read: {geometry.warnings[0]}"
               if lost else f"robot '{robot.name}' has no collision elements in its URDF")
        return (f'{COLLISIONS_OFF} ({why})',)
    # sentences on links without elements, links with left-out elements, guessed pairs
    named = {*geometry.links, *lost}
    bare = [link for link in robot.tree.links if link not in named]
    pairs = self_pairs(robot, geometry)
    found = [
        count_sentence('link', 'without <collision> in the URDF cannot be checked (mere frames '
                       'need none)', bare),
        count_sentence('link', 'cannot be checked, as meshes are not found or <collision> '
                       'elements are wrong (package_dirs names folders of meshes)', lost),
        pairs.report() if guess_pairs else '']
    if ADJACENT in pairs.allowed.values():
        found.append('collisions: adjacent links are not checked against each other (no SRDF '
                     'disables a pair); an SRDF with disable_collisions decides instead')
    return tuple(sentence for sentence in found if sentence)
