"""What a request says of collisions besides what the scene does."""

from collections.abc import Mapping
from typing import Any, TypeVar

from ros2_ik.core import AllowedCollisions, Scene, Status, UnknownNameError
from ros2_ik.node.conversions.error_context import error_context, wrong
from ros2_ik.node.request_error import RequestError

MAX_NAMES = 200   # in each array; reading more would keep the node from other requests

T = TypeVar('T')


def with_rules(scene: Scene, request: Any) -> Scene:
    """Return a scene with a request's allowed_collisions, link_padding; raises RequestError."""
    matrix = request.allowed_collisions
    _check_count(len(request.link_padding), 'link_padding')
    if len(matrix.entry_names) or len(matrix.entry_values) or len(matrix.default_entry_names):
        with error_context('allowed_collisions'):
            scene = _with_allowed(scene, matrix)
    for index, item in enumerate(request.link_padding):
        with error_context(f'link_padding[{index}]'):
            scene = scene.with_padding({item.link_name: item.padding})
    return scene


def _with_allowed(scene: Scene, matrix: Any) -> Scene:
    """Allow what the matrix does; what it does not allow stays as the scene has it."""
    for field in ('entry_names', 'default_entry_names'):
        _check_count(len(getattr(matrix, field)), field)
    read = AllowedCollisions.from_matrix(
        list(matrix.entry_names), [list(row.enabled) for row in matrix.entry_values],
        list(matrix.default_entry_names), list(matrix.default_entry_values))
    known = {*scene.robot.frame_names, *scene.objects, *scene.attached}
    for name in (*matrix.entry_names, *matrix.default_entry_names):
        if name not in known:
            raise RequestError(Status.INVALID_OBJECT_NAME, UnknownNameError(name, sorted(known)))
    return scene.with_allowed(AllowedCollisions(
        {**scene.allowed.pairs, **_allowing(read.pairs)},
        {**scene.allowed.defaults, **_allowing(read.defaults)}))


def _check_count(count: int, field: str) -> None:
    if count > MAX_NAMES:
        raise wrong(f'{field} has {count} items; at most {MAX_NAMES} are read')


def _allowing(entries: Mapping[T, bool]) -> dict[T, bool]:
    return {names: True for names, allowed in entries.items() if allowed}
