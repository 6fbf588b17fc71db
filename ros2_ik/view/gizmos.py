"""Gizmos (viser's transform controls) for dragging targets."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin
import viser

from ros2_ik.core import Array, IKError
from ros2_ik.view.bodies import branch, place, pose_of

if TYPE_CHECKING:
    from ros2_ik.view.page import Event, Page

ROUNDING = 1e-9    # largest rounding error of a pose sent to the page and back [m, 1]


class Gizmos:
    """The gizmos of targets, by tip."""

    def __init__(self, page: 'Page', size: float) -> None:
        self._page, self._size = page, size
        self.handles: dict[str, viser.TransformControlsHandle] = {}
        self._poses: dict[str, Array] = {}    # poses (4, 4) at which the page shows the gizmos

    def show(self, targets: Mapping[str, Array]) -> None:
        """Show gizmos at the targets (4, 4)."""
        for tip in [tip for tip in self.handles if tip not in targets]:
            self._remove(tip)
        for tip, T in targets.items():
            if tip not in self.handles:
                self._add(tip)
            if tip not in self._poses or np.abs(T - self._poses[tip]).max() > ROUNDING:
                place(self.handles[tip], pin.SE3(T[:3, :3], np.array(T[:3, 3])))
                self._poses[tip] = T

    def _add(self, tip: str) -> None:
        self.handles[tip] = handle = self._page.server.scene.add_transform_controls(
            f'/gizmos/{branch(tip)}', scale=self._size, depth_test=False, line_width=3.0)

        def dragged(event: 'Event') -> None:
            # ignore an event that was queued before the gizmo was removed
            if self.handles.get(tip) is not handle:
                return
            # remove the gizmo if the pose is invalid: `show` adds one at the last valid target
            try:
                T = pose_of(*event.value)
            except IKError:
                self._remove(tip)
                raise
            self._poses[tip] = T
            self._page.session.drag(tip, T, event.phase == 'end')
        self._page.bind(handle.on_update, dragged, f'target {tip}')

    def _remove(self, tip: str) -> None:
        self.handles.pop(tip).remove()
        self._poses.pop(tip, None)
