"""
The controllers of the mock robot, with the manners of ros2_control's.

Each is a node named as the controller; what the real one refuses, it refuses, with the reason in
its log. What the real one takes without a look (limits, NaN, jumps) it takes, too: the joints
show it, and say so as `defect:` in the log.
"""

from ros2_ik.mock.controllers.controller import MockController
from ros2_ik.mock.controllers.joint_command import listen_to_joint_command
from ros2_ik.mock.controllers.joints import MockJoints
from ros2_ik.mock.controllers.position_controller import PositionController
from ros2_ik.mock.controllers.trajectory_controller import TrajectoryController

__all__ = ['listen_to_joint_command', 'MockController', 'MockJoints', 'PositionController',
           'TrajectoryController']
