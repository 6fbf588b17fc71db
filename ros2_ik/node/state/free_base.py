"""Where the base of a planar or free-flying robot stands."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core import Robot
from ros2_ik.node.conversions.poses import placement
from ros2_ik.node.conversions.robot_states import joint_pose
from ros2_ik.node.request_error import RequestError
from ros2_ik.node.state.reading import Reading
from ros2_ik.node.state.transforms import Transforms


class FreeBase:
    """The base's pose from the source that parameter base_source names."""

    def __init__(self, parameters: Any, transforms: Transforms,
                 warn: Callable[[str], None]) -> None:
        self._parameters, self._transforms, self._warn = parameters, transforms, warn
        self._last: tuple[Reading, str] | None = None

    def take(self, message: Any) -> None:
        """Take a PoseStamped of topic base_pose."""
        pose = message.pose
        try:
            place = placement(pose.position, pose.orientation, 'base_pose')
        except RequestError as error:
            self._warn(f'a message is ignored: {error}')
        else:
            self._last = Reading.of(place, message.header.stamp), message.header.frame_id

    def read(self, robot: Robot) -> Reading | None:
        """Return the value of the base's joint, or None when the source says nothing."""
        sources = {'parameter': self._given, 'topic': self._received, 'tf': self._looked_up}
        try:
            reading = sources[self._parameters.base_source](robot)
        except LookupError as error:
            self._warn(f'the base pose is unknown: {error}')
            return None
        return reading and reading._replace(value=joint_pose(robot.joints[0], reading.value))

    def _given(self, _: Robot) -> Reading:
        return Reading.of(pin.XYZQUATToSE3(np.array(self._parameters.base_pose)))

    def _received(self, robot: Robot) -> Reading | None:
        if self._last is None:
            return None
        reading, frame = self._last
        frame = frame.removeprefix('/')
        if frame in ('', robot.root_frame):
            return reading
        found = self._transforms.lookup()(robot, frame)
        if found.frame is not None:
            raise LookupError(f"base_pose is in frame '{frame}', which moves with the robot")
        return reading._replace(value=found.offset * reading.value)

    def _looked_up(self, robot: Robot) -> Reading:
        base = robot.joints[0].name
        link = next(name for name in robot.frame_names if base in robot.moving_joints(name))
        return self._transforms.find(robot.root_frame, link)
