"""The kinds of controllers."""

from ros2_ik.node.controllers.controller import Controller
from ros2_ik.node.controllers.follow_joint_trajectory import FollowJointTrajectoryController
from ros2_ik.node.controllers.stream import JointStateStream, PositionController
from ros2_ik.node.controllers.trajectory_controller import JointTrajectoryController

KINDS: dict[str, type[Controller]] = {
    'follow_joint_trajectory': FollowJointTrajectoryController, 'joint_state': JointStateStream,
    'joint_trajectory': JointTrajectoryController, 'position': PositionController}
