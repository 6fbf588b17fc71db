"""Gizmos of viser, by which people drag targets and objects."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin
import viser

from ros2_ik.core import Array, IKError
from ros2_ik.view.bodies import branch, place, pose_of

if TYPE_CHECKING:
    from ros2_ik.view.page import Event, Page

ROUNDING = 1e-9    # of poses on their way to the page and back [m, 1]


class Gizmos:
    """
    One gizmo for each of some poses, by name; `kind` is their branch of viser's tree.

    `moved` takes the name, the pose (4, 4) to which the gizmo was dragged, and True if it was
    released there.
    """

    def __init__(self, page: 'Page', kind: str, size: float,
                 moved: Callable[[str, Array, bool], None]) -> None:
        self._page, self._kind, self._size, self._moved = page, kind, size, moved
        self.handles: dict[str, viser.TransformControlsHandle] = {}
        self._poses: dict[str, Array] = {}    # at which the page shows them

    def show(self, poses: Mapping[str, Array]) -> None:
        """Show gizmos at poses (4, 4) in the root frame."""
        for name in [name for name in self.handles if name not in poses]:
            self._remove(name)
        for name, T in poses.items():
            if name not in self.handles:
                self._add(name)
            if name not in self._poses or np.abs(T - self._poses[name]).max() > ROUNDING:
                place(self.handles[name], pin.SE3(T[:3, :3], np.array(T[:3, 3])))
                self._poses[name] = T

    def _add(self, name: str) -> None:
        self.handles[name] = handle = self._page.server.scene.add_transform_controls(
            f'/{self._kind} gizmos/{branch(name)}', scale=self._size, depth_test=False,
            line_width=3.0)

        def dragged(event: 'Event') -> None:
            if self.handles.get(name) is not handle:    # removed since
                return
            try:
                T = pose_of(*event.value)
            except IKError:    # `show` adds another gizmo at the last good pose
                self._remove(name)
                raise
            self._poses[name] = T
            self._moved(name, T, event.phase == 'end')
        self._page.bind(handle.on_update, dragged, f'{self._kind} {name}')

    def _remove(self, name: str) -> None:
        self.handles.pop(name).remove()
        self._poses.pop(name, None)
