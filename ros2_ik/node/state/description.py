"""Robot descriptions (URDF and SRDF): builds the robot, or refuses the texts with a reason."""

from collections.abc import Callable
import time
from typing import Any

from ros2_ik.core import IKError, Robot, Status
from ros2_ik.core.errors import RobotDescriptionError
from ros2_ik.messages.request_error import RequestError

MAX_LENGTH = 2_000_000   # of a URDF or SRDF [characters]
# Maximum number of degrees of freedom. Memory grows with its cube; 400 would need 2 GB.
MAX_DOF = 200
DISCOVERY_TIME = 3.0     # for a first description, from the start of the node [s]


class Description:
    """
    The robot of the newest valid description.

    `swapped` is called with each new robot. `refused` is the reason why the newest text was
    refused, or ''. `missing()` returns why no description was received, or ''.
    """

    def __init__(self, log: Any, root_joint: str, swapped: Callable[[Robot], None],
                 missing: Callable[[], str] = lambda: '') -> None:
        self._log, self._root_joint = log, root_joint
        self._swapped, self._missing = swapped, missing
        self.robot: Robot | None = None
        self.refused = ''
        self._newest = self._used = {'urdf': '', 'srdf': ''}    # `_used`: texts of the robot
        self._deadline = time.monotonic() + DISCOVERY_TIME

    @property
    def is_awaited(self) -> bool:
        """True if the first description may still be on its way."""
        return self.robot is None and not self.refused and time.monotonic() < self._deadline

    def current(self) -> Robot:
        """Return the current robot; raises RequestError if there is none."""
        if self.robot is None:
            why = f': {self.refused}' if self.refused else '; ' + (
                self._missing() or 'robot_description has not been received')
            raise RequestError(Status.INVALID_ROBOT_STATE, f'there is no robot yet{why}')
        return self.robot

    def offer(self, **texts: str) -> None:
        """
        Replace the URDF, the SRDF or both (keywords urdf, srdf).

        The robot is replaced if the newest texts describe one; otherwise it stays. An SRDF without
        a URDF is stored until a URDF arrives.
        """
        newest = {**self._newest, **texts}
        if newest == self._used:
            self.refused, self._newest = '', newest
            return
        try:
            for name, text in texts.items():
                _check(name.upper(), text)
            self._newest = newest
            if not newest['urdf']:
                return
            robot = self._build(newest)
        except IKError as error:
            if str(error) != self.refused:
                self._log.error(f'description refused: {error}'
                                + (f"; robot '{self.robot.name}' stays" if self.robot else ''))
            self.refused = str(error)
            return
        self.refused, self._used = '', newest
        self._take(robot)

    def _take(self, robot: Robot) -> None:
        self.robot = robot
        groups = ', '.join(robot.groups) or 'none'
        self._log.info(f"robot '{robot.name}': {len(robot.joints)} joints, groups: {groups}")
        if robot.warnings:
            more = f' (and {len(robot.warnings) - 1} more)' if len(robot.warnings) > 1 else ''
            self._log.warning(f'{robot.warnings[0]}{more}')
        self._swapped(robot)

    def _build(self, texts: dict[str, str]) -> Robot:
        robot = Robot.from_urdf(texts['urdf'], srdf=texts['srdf'] or None,
                                root_joint=self._root_joint)
        # checked before Pinocchio's data are allocated for the robot
        if robot.nv > MAX_DOF:
            raise RobotDescriptionError(f"robot '{robot.name}' has {robot.nv} degrees of freedom; "
                                        f'maximum: {MAX_DOF}')
        return robot


def _check(name: str, text: str) -> None:
    """Raise RobotDescriptionError for a text that is too long, empty or not XML."""
    if len(text) > MAX_LENGTH:
        raise RobotDescriptionError(f'the {name} has {len(text)} characters; at most '
                                    f'{MAX_LENGTH} are read')
    if '<' not in text:
        raise RobotDescriptionError(f'the {name} is no XML' if text.strip() else
                                    f'the {name} is empty')
