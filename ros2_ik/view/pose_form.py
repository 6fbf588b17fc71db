"""Targets in numbers, and an answer to copy."""

from dataclasses import dataclass
from functools import partial
from typing import Any, TYPE_CHECKING

import numpy as np
import pinocchio as pin

from ros2_ik.core import Array, IKError
from ros2_ik.view.status import copy_html

if TYPE_CHECKING:
    from ros2_ik.view.page import Page


class PoseForm:
    """A form for each tip's target, which Enter or its button submits, and the answer to copy."""

    def __init__(self, page: 'Page') -> None:
        self._page, self._session = page, page.session
        self._place = page.server.gui.add_folder(None)
        self.fields: dict[str, PoseFields] = {}
        with page.server.gui.add_folder('Copy', expand_by_default=False):
            self.copy = page.server.gui.add_html('')

    def _add(self, tip: str) -> 'PoseFields':
        gui = self._page.server.gui
        with self._place, gui.add_form(f'Target of {tip}') as form:
            fields = PoseFields(form, gui.add_text('x y z [m]', ''),
                                gui.add_text('roll pitch yaw [deg]', '', hint='about the fixed '
                                             'axes x, y, z, as in a URDF'))
            button = gui.add_button('Set target')
        for register in (form.on_submit, button.on_click):
            self._page.bind(register, partial(self._set, tip), f'target {tip}')
        return fields

    def _set(self, tip: str, _: Any) -> None:
        if tip in self.fields:      # else it has gone since
            self._session.drag(tip, self.fields[tip].read(), released=True)

    def show(self) -> None:
        """Show the targets and the answer that there are now."""
        targets = self._session.problem.targets
        for tip in [tip for tip in self.fields if tip not in targets]:
            self.fields.pop(tip).form.remove()
        for tip, T in targets.items():
            if tip not in self.fields:
                self.fields[tip] = self._add(tip)
            self.fields[tip].show(T)
        html = copy_html(self._session)
        if self.copy.content != html:
            self.copy.content = html


@dataclass
class PoseFields:
    """The fields of one target; they show the pose T (4, 4)."""

    form: Any
    xyz: Any
    rpy: Any
    T: Array | None = None

    def show(self, T: Array) -> None:
        """Show a pose, unless it is the one that was read here: then the text stays as typed."""
        if T is not self.T:
            self.T = T
            self.xyz.value, self.rpy.value = pose_texts(T)

    def read(self) -> Array:
        """Return the pose that was typed; raises IKError. A text that is unchanged is exact."""
        assert self.T is not None
        T, (xyz, rpy) = self.T.copy(), pose_texts(self.T)
        if self.xyz.value != xyz:
            T[:3, 3] = _three('x y z', self.xyz.value)
        if self.rpy.value != rpy:
            T[:3, :3] = pin.rpy.rpyToMatrix(np.radians(_three('roll pitch yaw', self.rpy.value)))
        self.T = T
        self.form.submit()     # no unsubmitted changes any more
        return T


def pose_texts(T: Array) -> tuple[str, str]:
    """Return the position [m] and roll, pitch, yaw [deg] of a pose (4, 4) as texts."""
    rpy = np.degrees(pin.rpy.matrixToRpy(T[:3, :3]))
    return _text(T[:3, 3], 4), _text(rpy, 2)


def _text(values: Array, digits: int) -> str:
    rounded = np.round(values, digits) + 0.0    # + 0.0: no -0
    return ' '.join(f'{value:.8g}' for value in rounded.tolist())


def _three(name: str, text: str) -> Array:
    try:
        numbers = np.array([float(word) for word in text.replace(',', ' ').split()])
    except ValueError:
        numbers = np.zeros(0)
    if numbers.shape != (3,) or not np.isfinite(numbers).all():
        raise IKError(f"{name}: '{text}' must be three numbers, such as 0.4 0.1 0.35")
    return numbers
