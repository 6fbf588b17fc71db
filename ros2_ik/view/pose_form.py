"""Input fields for the targets: position, roll, pitch and yaw."""

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
    """The input fields of one target, in a folder; `T` (4, 4) is the pose shown."""

    folder: viser.GuiFolderHandle
    xyz: InputHandle
    rpy: InputHandle
    T: Array | None = None

    def show(self, T: Array) -> None:
        """Show a pose T (4, 4)."""
        # a pose that was typed here is not written back: the numbers stay as typed
        if T is not self.T:
            self.T = T
            # + 0.0 turns -0 into 0
            self.xyz.value = np.round(T[:3, 3], 4) + 0.0
            self.rpy.value = np.round(np.degrees(pin.rpy.matrixToRpy(T[:3, :3])), 2) + 0.0


class PoseForm:
    """The input fields of all targets; typed numbers are applied without confirmation."""

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

    def _set(self, tip: str, rotates: bool, event: 'Event') -> None:
        # ignore an event that was queued before the target was removed
        if tip not in self.fields:
            return
        T = self._session.problem.targets[tip].copy()
        if rotates:
            T[:3, :3] = pin.rpy.rpyToMatrix(np.radians(event.value))
        else:
            T[:3, 3] = event.value
        self.fields[tip].T = T
        self._session.drag(tip, T)

    def show(self) -> None:
        """Show the targets of the session."""
        targets = self._session.problem.targets
        for tip in [tip for tip in self.fields if tip not in targets]:
            self.fields.pop(tip).folder.remove()
        for tip, T in targets.items():
            if tip not in self.fields:
                self.fields[tip] = self._add(tip)
            self.fields[tip].show(T)
