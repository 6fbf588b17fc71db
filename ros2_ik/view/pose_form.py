"""Fields with the targets in numbers."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin
import viser

from ros2_ik.core import Array
from ros2_ik.view.server import InputHandle

if TYPE_CHECKING:
    from ros2_ik.view.page import Event, Page


@dataclass
class PoseFields:
    """The fields of one target, in a folder; they show the pose T (4, 4)."""

    folder: viser.GuiFolderHandle
    xyz: InputHandle
    rpy: InputHandle
    T: Array | None = None

    def show(self, T: Array) -> None:
        """Show a pose, unless it was typed here: then the numbers stay as typed."""
        if T is not self.T:
            self.T = T
            self.xyz.value = np.round(T[:3, 3], 4) + 0.0     # + 0.0: no -0
            self.rpy.value = np.round(np.degrees(pin.rpy.matrixToRpy(T[:3, :3])), 2) + 0.0


class PoseForm:
    """Position, roll, pitch and yaw of each tip's target; typed numbers need no confirmation."""

    def __init__(self, page: 'Page') -> None:
        self._page, self._session = page, page.session
        self._place = page.server.gui.add_folder(None)
        self.fields: dict[str, PoseFields] = {}

    def _add(self, tip: str) -> PoseFields:
        gui = self._page.server.gui
        with self._place, gui.add_folder(f'Target of {tip}') as folder:
            fields = PoseFields(
                folder, gui.add_vector3('x y z [m]', (0, 0, 0), step=1e-4),
                gui.add_vector3('roll pitch yaw [deg]', (0, 0, 0), step=0.01,
                                hint='about the fixed axes x, y, z, as in a URDF'))

        self._page.bind(fields.xyz.on_update, partial(self._set, tip, False), f'position {tip}')
        self._page.bind(fields.rpy.on_update, partial(self._set, tip, True), f'rotation {tip}')
        return fields

    def _set(self, tip: str, turns: bool, event: 'Event') -> None:
        if tip not in self.fields:    # removed since
            return
        T = self._session.problem.targets[tip].copy()
        if turns:
            T[:3, :3] = pin.rpy.rpyToMatrix(np.radians(event.value))
        else:
            T[:3, 3] = event.value
        self.fields[tip].T = T
        self._session.drag(tip, T)

    def show(self) -> None:
        """Show the present targets."""
        targets = self._session.problem.targets
        for tip in [tip for tip in self.fields if tip not in targets]:
            self.fields.pop(tip).folder.remove()
        for tip, T in targets.items():
            if tip not in self.fields:
                self.fields[tip] = self._add(tip)
            self.fields[tip].show(T)
