"""What stands for the meshes of a checker's robot, in words."""

from collections.abc import Callable, Sequence
from typing import Any

from ros2_ik.core.scene.kept import Kept
from ros2_ik.core.scene.robot_geometry import RobotGeometry
from ros2_ik.core.scene.shapes import Mesh

NAMED = 5               # links in one sentence
WORTH_SAYING = 1e-3     # m
_written: Kept[tuple[Any, ...], tuple[str, ...]] = Kept()


def geometry_notes(geometry: RobotGeometry) -> tuple[str, ...]:
    """
    Return what counts in place of the triangles of links' meshes, one sentence each.

    Covers over holes, hulls and convex parts; and how far the convex solids that distances are
    those of stand off, as far as that was measured.
    """
    meshes = [(body.link, body.shape) for body in geometry.bodies if isinstance(body.shape, Mesh)]
    state = tuple((mesh.has_parts, mesh.known_stand_off) for _, mesh in meshes)
    return _written.get((geometry.key, state), lambda: _write(meshes))


def _write(meshes: Sequence[tuple[str, Mesh]]) -> tuple[str, ...]:
    def links(which: Callable[[Mesh], bool]) -> list[str]:
        return list(dict.fromkeys(link for link, mesh in meshes if which(mesh)))

    notes = []
    for text, some in (
            ('holes in meshes are covered, what is behind them counts as solid',
             links(lambda mesh: mesh.is_open)),
            ('convex hulls count in place of meshes',
             links(lambda mesh: mesh.represented_by == 'hull')),
            ('convex parts count in place of meshes',
             links(lambda mesh: mesh.represented_by == 'pieces')),
            ('distances are those of hulls, as no convex parts were made',
             links(lambda mesh: mesh.represented_by == 'exact' and not mesh.has_parts))):
        if some:
            notes.append(f'{text}: {_named(some)}')
    off: dict[str, float] = {}
    for link, mesh in meshes:
        off[link] = max(off.get(link, 0.0), mesh.known_stand_off or 0.0)
    far = sorted(((far, link) for link, far in off.items() if far >= WORTH_SAYING), reverse=True)
    if far:
        notes.append('convex parts, whose distances are told, stand off from meshes by up to '
                     + _named([f'{1e3 * far:.1f} mm ({link})' for far, link in far]))
    return tuple(notes)


def _named(names: Sequence[str]) -> str:
    more = f' and {len(names) - NAMED} more' if len(names) > NAMED else ''
    return ', '.join(names[:NAMED]) + more
