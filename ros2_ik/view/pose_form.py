"""The target in numbers, and what a person takes away: joints and the command of an answer."""

from typing import Any, TYPE_CHECKING

import numpy as np
from scipy.spatial.transform import Rotation

from ros2_ik.core import Array

if TYPE_CHECKING:
    from ros2_ik.view.page import Page

SHOWN = 1e-3    # a target that differs by less is shown as it is [m, deg]


class PoseForm:
    """Fields of one tip's target: x y z [m] and roll pitch yaw [deg], in the root frame."""

    def __init__(self, page: 'Page') -> None:
        self._session, gui = page.session, page.server.gui
        tips = self._session.tips
        with gui.add_folder('Target'):
            self._tip = gui.add_dropdown('tip', tips, initial_value=tips[0],
                                         visible=len(tips) > 1)
            self._xyz = gui.add_vector3('x y z [m]', (0.0, 0.0, 0.0), step=1e-3)
            self._rpy = gui.add_vector3('roll pitch yaw [deg]', (0.0, 0.0, 0.0), step=0.1)
        for field in (self._xyz, self._rpy):
            page.bind(field.on_update, lambda _: self._write(), 'target in numbers', leads=True)
        page.bind(self._tip.on_update, lambda _: self.show())
        with gui.add_folder('Copy', expand_by_default=False):
            self._joints: Any = gui.add_text('joints', '', multiline=True)
            self._command: Any = gui.add_text('command', '', multiline=True)

    def _write(self) -> None:
        T = np.eye(4)
        T[:3, :3] = Rotation.from_euler('xyz', self._rpy.value, degrees=True).as_matrix()
        T[:3, 3] = self._xyz.value
        self._session.drag(self._tip.value, T)

    def show(self) -> None:
        """Show the target and the answer that there are now."""
        session = self._session
        for tip in set(session.problem.targets) - set(self._tip.options):
            self._tip.options = (*self._tip.options, tip)
        T = session.problem.targets.get(self._tip.value)
        if T is not None:
            _set(self._xyz, T[:3, 3], 3)
            _set(self._rpy, _rpy(T), 2)
        joints, command = '', ''
        if session.answer is not None:
            values = session.robot.to_joints(session.answer.q, include_mimic=True)
            joints = ', '.join(f'{name}: {value:.5f}' for name, value in values.items()
                               if isinstance(value, float))
            command = self._command_line()
        if self._joints.value != joints:
            self._joints.value = joints
        if self._command.value != command:
            self._command.value = command

    def _command_line(self) -> str:
        session = self._session
        words = ['ros2_ik', 'solve', session.robot.name]
        for tip in session.problem.wanted:
            T = session.problem.targets[tip]
            words += ['--tip', tip, '--xyz', *(f'{x:.4f}' for x in T[:3, 3]),
                      '--rpy', *(f'{angle:.2f}' for angle in _rpy(T))]
        return ' '.join([*words, '--deg'])


def _rpy(T: Array) -> Array:
    """Return roll, pitch and yaw [deg] of a pose (4, 4)."""
    angles: Array = Rotation.from_matrix(T[:3, :3]).as_euler('xyz', degrees=True)
    return angles


def _set(field: Any, values: Array, digits: int) -> None:
    if np.abs(np.array(field.value) - values).max() > SHOWN:
        field.value = tuple(round(float(value), digits) for value in values)
