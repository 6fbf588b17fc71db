"""The configured controllers of a robot, and the choice among them for a motion."""

from collections.abc import Collection, Iterable
import re

from rclpy.exceptions import InvalidTopicNameException
from rclpy.validate_full_topic_name import validate_full_topic_name

from ros2_ik.core import IKError, Robot, Status
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.controllers.controller import Controller, ControllerContext
from ros2_ik.node.controllers.follow_joint_trajectory import FollowJointTrajectoryController
from ros2_ik.node.controllers.stream import JointStateStream, PositionController
from ros2_ik.node.controllers.trajectory_controller import JointTrajectoryController

KINDS: dict[str, type[Controller]] = {
    'follow_joint_trajectory': FollowJointTrajectoryController, 'joint_state': JointStateStream,
    'joint_trajectory': JointTrajectoryController, 'position': PositionController}


class RobotControllers:
    """The usable controllers of one robot; `faults`: why the others are unusable."""

    def __init__(self, robot: Robot | None, context: ControllerContext) -> None:
        self.controllers: list[Controller] = []
        self.faults: list[str] = []
        if robot is None:
            return
        for name in context.parameters.controllers:
            try:
                self._add(name, robot, context)
            except IKError as error:
                self.faults.append(f"controller '{name}' is not used: {error}")

    def _add(self, name: str, robot: Robot, context: ControllerContext) -> None:
        """Create a controller; raises IKError if it is unusable."""
        kind, group, topic = (context.parameters[f'{name}.{field}']
                              for field in ('kind', 'group', 'topic'))
        joints = active_joints(robot, group)
        # `~/` stands for the name of the node, which is valid: validate only the rest
        try:
            validate_full_topic_name('/' + re.sub('^~?/', '', topic or name))
        except InvalidTopicNameException as error:
            # only the first line: the others repeat the name
            reason = str(error).splitlines()[0].rstrip(':')
            raise IKError(f"its topic '{topic or name}' is invalid: {reason}") from None
        if shared := self.controllers_of(joints):
            raise IKError(f"it has joints of controller '{shared[0].name}'")
        new = KINDS[kind](name, joints, topic, context)
        # both controllers would follow each command on the topic, unless commands name joints
        for other in self.controllers:
            if other.topic == new.topic and not (new.names_joints and other.names_joints):
                new.close()
                raise IKError(f"its topic {new.topic} is that of controller '{other.name}'")
        self.controllers.append(new)

    def controllers_of(self, joints: Iterable[str]) -> list[Controller]:
        """Return the controllers that move any of the joints."""
        return [one for one in self.controllers if not {*joints}.isdisjoint(one.joints)]

    def choose(self, joints: Collection[str]) -> list[Controller]:
        """Return the controllers of the joints; raises RequestError if a joint has none."""
        chosen = self.controllers_of(joints)
        if missing := {*joints} - {joint for one in chosen for joint in one.joints}:
            raise RequestError(Status.CONTROL_FAILED, self.no_controller_text(missing))
        return chosen

    def no_controller_text(self, joints: Iterable[str]) -> str:
        """Return the error text for joints that no controller moves; it lists the controllers."""
        texts = [f"no controller moves joint '{sorted(joints)[0]}'", *self.faults[:1]]
        if self.controllers:
            texts.append('controllers: ' + ', '.join(f"'{one.name}'" for one in self.controllers))
        elif not self.faults:
            texts.append('parameter controllers is empty')
        return '; '.join(texts)

    def close(self) -> None:
        """Destroy the publishers, clients and timers of all controllers."""
        for controller in self.controllers:
            controller.close()


def active_joints(robot: Robot, group: str) -> tuple[str, ...]:
    """Return a group's active joints of one degree of freedom; group '' has all joints."""
    names = robot.group(group).joint_names if group else robot.joint_names
    joints = tuple(name for name in names
                   if robot.joint(name).is_scalar and name not in robot.passive_joints)
    if not joints:
        raise IKError('no active joint with exactly one position')
    return joints
