"""The configured controllers of a robot, and the choice among them for a motion."""

from collections.abc import Collection, Iterable
from importlib.util import find_spec

from ros2_ik.core import IKError, Robot, Status
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.controllers.controller import Controller, ControllerContext
from ros2_ik.node.controllers.follow_joint_trajectory import FollowJointTrajectoryController
from ros2_ik.node.controllers.stream import JointStateStream, PositionController
from ros2_ik.node.controllers.trajectory_controller import JointTrajectoryController
from ros2_ik.node.parameters import ParameterError, Parameters

KINDS: dict[str, type[Controller]] = {
    'follow_joint_trajectory': FollowJointTrajectoryController, 'joint_state': JointStateStream,
    'joint_trajectory': JointTrajectoryController, 'position': PositionController}


def check_controllers(parameters: Parameters) -> None:
    """Raise ParameterError if a kind of controller is unavailable or two share a topic."""
    users: dict[str, str] = {}
    for name in parameters.controllers:
        kind = KINDS[parameters[f'{name}.kind']]
        if kind is FollowJointTrajectoryController and not find_spec('control_msgs.action'):
            raise ParameterError(
                f"{name}.kind is 'follow_joint_trajectory': control_msgs is not installed (apt "
                'install ros-$ROS_DISTRO-control-msgs); kind joint_trajectory needs no action')
        topic = parameters[f'{name}.topic'] or kind.usual_topic.format(name)
        other = users.setdefault(topic.strip('/'), name)
        # commands without joint names would reach both controllers
        if other != name and not kind.by_name:
            raise ParameterError(f"{name}.topic is '{topic}', which is that of '{other}', too; "
                                 'each controller needs its own topic')


class RobotControllers:
    """The configured controllers for one robot; `faults` has a reason for each unusable one."""

    def __init__(self, robot: Robot | None, context: ControllerContext) -> None:
        self.controllers: list[Controller] = []
        self.faults: list[str] = []
        if robot is None:
            return
        for name in context.parameters.controllers:
            try:
                joints = active_joints(robot, context.parameters[f'{name}.group'])
            except IKError as error:
                self.faults.append(f"controller '{name}' has no joints to move: {error}")
                continue
            if shared := self._sharing(joints):
                self.faults.append(f"controller '{name}' is not used: it has joints of controller "
                                   f"'{shared[0].name}'")
                continue
            made = KINDS[context.parameters[f'{name}.kind']]
            self.controllers.append(made(name, joints, context.parameters[f'{name}.topic'],
                                         context))

    def _sharing(self, joints: Iterable[str]) -> list[Controller]:
        return [one for one in self.controllers if not {*joints}.isdisjoint(one.joints)]

    def choose(self, joints: Collection[str]) -> list[Controller]:
        """Return the controllers of joints; RequestError for a joint without a controller."""
        chosen = self._sharing(joints)
        if left := {*joints} - {joint for one in chosen for joint in one.joints}:
            raise RequestError(Status.CONTROL_FAILED, self.lack(left))
        return chosen

    def lack(self, joints: Iterable[str]) -> str:
        """Return an error text with a joint that no controller moves, and all controllers."""
        said = [f"no controller moves joint '{sorted(joints)[0]}'", *self.faults[:1]]
        if self.controllers:
            said.append('controllers: ' + ', '.join(f"'{one.name}'" for one in self.controllers))
        elif not self.faults:
            said.append('parameter controllers is empty')
        return '; '.join(said)

    def moves(self, joint: str) -> bool:
        """Return whether any controller moves a joint."""
        return any(joint in controller.joints for controller in self.controllers)

    def close(self) -> None:
        """Destroy the publishers, clients and timers of all controllers."""
        for controller in self.controllers:
            controller.close()


def active_joints(robot: Robot, group: str) -> tuple[str, ...]:
    """Return the active joints of a group with one position each; '' means all joints."""
    names = robot.group(group).joint_names if group else robot.joint_names
    joints = tuple(name for name in names
                   if robot.joint(name).is_scalar and name not in robot.passive_joints)
    if not joints:
        raise IKError('no active joint with exactly one position')
    return joints
