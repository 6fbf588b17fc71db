"""The robot's description: taken over when it is right, refused with the reason when not."""

from collections.abc import Callable
from typing import Any, NamedTuple

from ros2_ik.core import IKError, mesh_files_changed, Robot, RobotDescriptionError, Status
from ros2_ik.messages.request_error import RequestError

MAX_LENGTH = 2_000_000   # of a description [characters]
MAX_JOINTS = 200         # degrees of freedom: their memory grows with the cube (400: 2 GB)


class Texts(NamedTuple):
    """All that makes a robot."""

    urdf: str = ''
    srdf: str = ''
    root_joint: str = 'fixed'


class Trial(NamedTuple):
    """What came of texts: the reason against them, or the texts to keep and their robot."""

    refused: str
    texts: Texts = Texts()
    robot: Robot | None = None


class Description:
    """
    The robot of the newest good description.

    `swapped` is called with each new robot, also when only mesh files of it have changed since
    its texts came. `refused` is the reason why the newest text was not taken over, or '';
    `missing()` why none has come.
    """

    def __init__(self, log: Any, swapped: Callable[[Robot], None],
                 missing: Callable[[], str] = lambda: '') -> None:
        self._log, self._swapped, self._missing = log, swapped, missing
        self.robot: Robot | None = None
        self.refused = ''
        self._texts = Texts()
        self._tried: tuple[dict[str, str], Trial] | None = None   # the last texts

    def current(self) -> Robot:
        """Return the robot of this moment; raises RequestError when there is none."""
        if self.robot is None:
            why = f': {self.refused}' if self.refused else '; ' + (
                self._missing() or 'robot_description has not been received')
            raise RequestError(Status.INVALID_ROBOT_STATE, f'there is no robot yet{why}')
        return self.robot

    def offer(self, **texts: str) -> str:
        """
        Take over new texts (urdf, srdf, root_joint); the others stay.

        Gives the reason against it, or ''. An SRDF without a URDF waits for one.
        """
        changed = self.robot is not None and mesh_files_changed(self.robot)
        if changed:
            self._tried = None   # its robot has the old meshes
        if self._texts._replace(**texts) == self._texts and not changed:
            self.refused = ''
        else:
            self._take(self._try(texts))
        return self.refused

    def why_not(self, **texts: str) -> str:
        """Return the reason against texts, or ''."""
        return self._try(texts).refused

    def _take(self, trial: Trial) -> None:
        if trial.refused and trial.refused != self.refused:
            self._log.error(f'description refused: {trial.refused}'
                            + (f"; robot '{self.robot.name}' stays" if self.robot else ''))
        self.refused = trial.refused
        if trial.refused:
            return
        self._texts, self._tried = trial.texts, None
        if trial.robot:
            self.robot = trial.robot
            self._tell(trial.robot)
            self._swapped(trial.robot)

    def _try(self, texts: dict[str, str]) -> Trial:
        """Make the robot; the last trial is kept, since parameters are checked, then set."""
        if self._tried is None or self._tried[0] != texts:
            self._tried = texts, _trial(texts, self._texts._replace(**texts), self._log)
        return self._tried[1]

    def _tell(self, robot: Robot) -> None:
        groups = ', '.join(robot.groups) or 'none'
        self._log.info(f"robot '{robot.name}': {len(robot.joints)} joints, groups: {groups}")
        if robot.warnings:
            more = f' (and {len(robot.warnings) - 1} more)' if len(robot.warnings) > 1 else ''
            self._log.warning(f'{robot.warnings[0]}{more}')


def _trial(texts: dict[str, str], wanted: Texts, log: Any) -> Trial:
    if flaw := _flaw(texts):
        return Trial(flaw)
    if not wanted.urdf:
        return Trial('', wanted)
    try:
        return Trial('', wanted, _build(wanted))
    except IKError as error:
        if not wanted.srdf or set(texts) != {'urdf'}:
            return Trial(str(error))
        first = str(error)
    without = wanted._replace(srdf='')   # a URDF must not suffer from an SRDF that came earlier
    try:
        robot = _build(without)
    except IKError:
        return Trial(first)
    log.error(f'the SRDF that came earlier is left out: {first}')
    return Trial('', without, robot)


def _flaw(texts: dict[str, str]) -> str:
    """Return what is wrong with texts that are not worth reading, or ''."""
    for key, text in texts.items():
        name = key.upper()
        if len(text) > MAX_LENGTH:
            return f'the {name} has {len(text)} characters; at most {MAX_LENGTH} are read'
        if key != 'root_joint' and '<' not in text:
            return f'the {name} is no XML' if text.strip() else f'the {name} is empty'
    return ''


def _build(texts: Texts) -> Robot:
    robot = Robot.from_urdf(texts.urdf, srdf=texts.srdf or None, root_joint=texts.root_joint)
    if robot.nv > MAX_JOINTS:   # before anything makes data for it, which take the memory
        raise RobotDescriptionError(f"robot '{robot.name}' has joints of {robot.nv} degrees of "
                                    f'freedom; at most {MAX_JOINTS} are taken')
    return robot
