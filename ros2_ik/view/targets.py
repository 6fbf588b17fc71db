"""Gizmos (viser's transform controls) and input fields for the targets of a page."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin
import viser

from ros2_ik.core import Array, IKError
from ros2_ik.view.bodies import node_name, pose_of, set_pose
from ros2_ik.view.server import InputHandle

if TYPE_CHECKING:
    from ros2_ik.view.page import Event, Page


@dataclass(eq=False)
class ShownTarget:
    """
    The gizmo of the target of `tip`, and its input fields in a folder.

    The gizmo shows the pose `gizmo_T`, the fields show `fields_T` ((4, 4) each).
    """

    tip: str
    gizmo: viser.TransformControlsHandle
    folder: viser.GuiFolderHandle
    xyz: InputHandle
    rpy: InputHandle
    gizmo_T: Array | None = None
    fields_T: Array | None = None

    def show(self, T: Array) -> None:
        """Show a pose T (4, 4); do not update the control in which the user entered T."""
        if T is not self.gizmo_T:
            self.gizmo_T = T
            set_pose(self.gizmo, pin.SE3(T[:3, :3], np.array(T[:3, 3])))
        if T is not self.fields_T:
            self.fields_T = T
            # + 0.0 turns -0 into 0
            self.xyz.value = np.round(T[:3, 3], 4) + 0.0
            self.rpy.value = np.round(np.degrees(pin.rpy.matrixToRpy(T[:3, :3])), 2) + 0.0


class Targets:
    """
    The targets of a page by tip; typed numbers are applied without confirmation.

    `size` is the length of the axes of a gizmo [m].
    """

    def __init__(self, page: 'Page', size: float) -> None:
        self._page, self._session, self.size = page, page.session, size
        self._place = page.server.gui.add_folder(None)
        self.shown: dict[str, ShownTarget] = {}

    def show(self) -> None:
        """Show the targets of the session."""
        targets = self._session.targets
        for tip in [tip for tip in self.shown if tip not in targets]:
            self._remove(tip)
        for tip, T in targets.items():
            if tip not in self.shown:
                self._add(tip)
            self.shown[tip].show(T)

    def _add(self, tip: str) -> None:
        gui, bind = self._page.server.gui, self._page.bind
        gizmo = self._page.server.scene.add_transform_controls(
            f'/gizmos/{node_name(tip)}', scale=self.size, depth_test=False, line_width=3.0)
        with self._place, gui.add_folder(f'Target of {tip}') as folder:
            self.shown[tip] = shown = ShownTarget(
                tip, gizmo, folder, gui.add_vector3('x y z [m]', (0, 0, 0), step=1e-4),
                gui.add_vector3('roll pitch yaw [deg]', (0, 0, 0), step=0.01,
                                hint='about the fixed axes x, y, z, as in a URDF'))
        bind(gizmo.on_update, partial(self._drag, shown), f'target {tip}')
        bind(shown.xyz.on_update, partial(self._type, shown, False), f'position {tip}')
        bind(shown.rpy.on_update, partial(self._type, shown, True), f'rotation {tip}')

    def _remove(self, tip: str) -> None:
        shown = self.shown.pop(tip)
        shown.gizmo.remove()
        shown.folder.remove()

    def _drag(self, shown: ShownTarget, event: 'Event') -> None:
        # ignore an event that was queued before the target was removed
        if self.shown.get(shown.tip) is not shown:
            return
        # remove the gizmo if the pose is invalid; `show` adds a new one at the last valid target
        try:
            T = shown.gizmo_T = pose_of(*event.value)
        except IKError:
            self._remove(shown.tip)
            raise
        self._session.drag(shown.tip, T, event.phase == 'end')

    def _type(self, shown: ShownTarget, rotates: bool, event: 'Event') -> None:
        if self.shown.get(shown.tip) is not shown:
            return
        T = shown.fields_T = self._session.targets[shown.tip].copy()
        if rotates:
            T[:3, :3] = pin.rpy.rpyToMatrix(np.radians(event.value))
        else:
            T[:3, 3] = event.value
        self._session.drag(shown.tip, T)
