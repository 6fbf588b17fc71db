"""Build the robot from its description (URDF and SRDF), or reject the texts with a reason."""

from collections.abc import Callable
import time
from typing import Any
from xml.etree import ElementTree

from ros2_ik.core import IKError, Robot, Status
from ros2_ik.core.errors import counted, RobotDescriptionError
from ros2_ik.core.internals import join_first
from ros2_ik.messages.request_error import RequestError

DESCRIPTION_TIMEOUT = 3.0     # maximum wait for a first description, from the node's start [s]
UNUSED_TAGS = ('ros2_control', 'transmission', 'gazebo')   # of a URDF, for drivers and simulators


class Description:
    """
    The robot of the newest valid description.

    `on_new_robot` is called with each new robot; if it raises IKError, the robot is rejected.
    `error` is the reason why the newest text was rejected, or ''. `topic` is the resolved name of
    robot_description.
    """

    def __init__(self, log: Any, root_joint: str, on_new_robot: Callable[[Robot], None],
                 topic: str) -> None:
        self._log, self._root_joint, self._on_new_robot = log, root_joint, on_new_robot
        self._topic, self.error = topic, ''
        self.robot: Robot | None = None
        self._newest = self._used = {'urdf': '', 'srdf': ''}    # `_used` describes `robot`
        self._deadline = time.monotonic() + DESCRIPTION_TIMEOUT

    @property
    def is_pending(self) -> bool:
        """True if the first description may still arrive."""
        return self.robot is None and not self.error and time.monotonic() < self._deadline

    @property
    def missing_reason(self) -> str:
        """The reason why there is no robot yet."""
        # no search for publishers with incompatible QoS: rclpy logs them
        return self.error or (f'nothing has been received on {self._topic}, which must be '
                              'published with durability transient_local')

    def current(self) -> Robot:
        """Return the current robot; raises RequestError if there is none."""
        if self.robot is None:
            raise RequestError(Status.INVALID_ROBOT_STATE,
                               f'there is no robot yet: {self.missing_reason}')
        return self.robot

    def update(self, **texts: str) -> None:
        """
        Replace the URDF, the SRDF or both (keywords urdf, srdf).

        If the newest texts describe another valid robot, it replaces the current one. An SRDF
        without a URDF is stored until a URDF arrives.
        """
        newest = {**self._newest, **texts}
        if newest == self._used:
            self.error, self._newest = '', newest
            return
        try:
            for name, text in texts.items():
                # Robot.from_urdf would treat a text without '<' as a file path
                if '<' not in text:
                    raise RobotDescriptionError(
                        f'the {name.upper()} is {"not XML" if text.strip() else "empty"}')
            self._newest = newest
            if not newest['urdf']:
                self.error = ''
                return
            robot = Robot.from_urdf(newest['urdf'], srdf=newest['srdf'] or None,
                                    root_joint=self._root_joint)
            # keep the current robot: a new one would end all motions
            if self.robot and all(map(_describe_the_same, newest.values(), self._used.values())):
                self.error, self._used = '', newest
                return
            self._on_new_robot(robot)
        except IKError as error:
            if str(error) != self.error:
                self._log.error(f'description refused: {error}'
                                + (f"; robot '{self.robot.name}' stays" if self.robot else ''))
            self.error = str(error)
            return
        self.error, self._used, self.robot = '', newest, robot
        groups = ', '.join(robot.groups) or ('none' if robot.srdf else 'unknown without an SRDF')
        self._log.info(f"robot '{robot.name}': {counted(len(robot.joints), 'joint')}, "
                       f'groups: {groups}')
        if robot.warnings:
            self._log.warning(join_first(robot.warnings))


def _describe_the_same(text: str, other: str) -> bool:
    """Return whether two valid texts differ at most in form and in UNUSED_TAGS."""
    first, second = (text and ElementTree.canonicalize(text, strip_text=True,
                                                       exclude_tags=UNUSED_TAGS)
                     for text in (text, other))
    return first == second
