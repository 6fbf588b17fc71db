"""The robot's description: taken over when it is right, refused with the reason when not."""

from collections.abc import Callable
from typing import Any, NamedTuple

from ros2_ik.core import IKError, mesh_files_changed, Robot, RobotDescriptionError


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

    `parameters` limit it (`max_description_length`, `max_joints`); `swapped` is called with each
    new robot, also when only mesh files of it have changed since its texts came.
    `refused` is the reason why the newest text was not taken over, or ''; `missing_reason()` why
    none has come.
    """

    def __init__(self, parameters: Any, log: Any, swapped: Callable[[Robot], None],
                 missing: Callable[[], str] = lambda: '') -> None:
        self._parameters, self._log, self._swapped = parameters, log, swapped
        self.missing_reason = missing
        self.robot: Robot | None = None
        self.refused = ''
        self._texts = Texts()
        self._tried: tuple[object, Trial] = None, Trial('')

    def offer(self, **texts: str) -> str:
        """
        Take over new texts (urdf, srdf, root_joint); the others stay.

        Gives the reason against it, or ''. An SRDF without a URDF waits for one.
        """
        wanted = self._texts._replace(**texts)
        changed = self.robot is not None and mesh_files_changed(self.robot)
        if changed:
            self._tried = None, Trial('')   # its robot has the old meshes
        if wanted == self._texts and not changed:
            self.refused = ''
        elif self._tried[0] != (wanted, set(texts)) or not self.refused:   # else known to be wrong
            self._take(texts, self._try(texts))
        return self.refused

    def why_not(self, **texts: str) -> str:
        """Return the reason against texts, or ''."""
        return self._try(texts).refused

    def _take(self, texts: dict[str, str], trial: Trial) -> None:
        self.refused = trial.refused
        if trial.refused:
            self._log.error(f'description refused: {trial.refused}'
                            + (f"; robot '{self.robot.name}' stays" if self.robot else ''))
            return
        self._texts = trial.texts
        if trial.robot:
            self.robot = trial.robot
            self._tell(trial.robot)
            self._swapped(trial.robot)

    def _try(self, texts: dict[str, str]) -> Trial:
        """Make the robot; the last trial is kept, since parameters are checked, then set."""
        flaw = self._flaw(texts)
        if flaw:
            return Trial(flaw)
        wanted = self._texts._replace(**texts)
        if self._tried[0] != (wanted, set(texts)):
            trial = _trial(texts, wanted, self._log, self._parameters.max_joints)
            self._tried = (wanted, set(texts)), trial
        return self._tried[1]

    def _flaw(self, texts: dict[str, str]) -> str:
        """Return what is wrong at first sight."""
        for key, text in texts.items():
            name = key.upper()
            most = self._parameters.max_description_length
            if len(text) > most:
                return (f'the {name} has {len(text)} characters; parameter '
                        f'max_description_length allows {most}')
            if key != 'root_joint' and '<' not in text:
                return f'the {name} is no XML' if text.strip() else f'the {name} is empty'
        return ''

    def _tell(self, robot: Robot) -> None:
        groups = ', '.join(robot.groups) or 'none'
        self._log.info(f"robot '{robot.name}': {len(robot.joints)} joints, groups: {groups}")
        if robot.warnings:
            more = f' (and {len(robot.warnings) - 1} more)' if len(robot.warnings) > 1 else ''
            self._log.warning(f'{robot.warnings[0]}{more}')


def _trial(texts: dict[str, str], wanted: Texts, log: Any, most_joints: int) -> Trial:
    if not wanted.urdf:
        return Trial('', wanted)
    try:
        return Trial('', wanted, _build(wanted, most_joints))
    except IKError as error:
        if not wanted.srdf or set(texts) != {'urdf'}:
            return Trial(str(error))
        first = str(error)
    without = wanted._replace(srdf='')   # a URDF must not suffer from an SRDF that came earlier
    try:
        robot = _build(without, most_joints)
    except IKError:
        return Trial(first)
    log.error(f'the SRDF that came earlier is left out: {first}')
    return Trial('', without, robot)


def _build(texts: Texts, most_joints: int) -> Robot:
    robot = Robot.from_urdf(texts.urdf, srdf=texts.srdf or None, root_joint=texts.root_joint)
    if robot.nv > most_joints:   # before anything makes data for it, which take the memory
        raise RobotDescriptionError(
            f"robot '{robot.name}' has joints of {robot.nv} degrees of freedom; parameter "
            f'max_joints allows at most {most_joints}')
    return robot
