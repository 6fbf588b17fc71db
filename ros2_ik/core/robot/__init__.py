"""Robots: descriptions (URDF, SRDF, xacro), joints, frames, limits and configurations."""

from ros2_ik.core.robot.configuration import Configuration
from ros2_ik.core.robot.joint import Joint, LIMIT_TOLERANCE
from ros2_ik.core.robot.robot import Robot
from ros2_ik.core.robot.shipped import shipped_robots, ShippedRobot
from ros2_ik.core.robot.srdf import Group
from ros2_ik.core.robot.tree import sphere_of_reach

__all__ = ['Configuration', 'Group', 'Joint', 'LIMIT_TOLERANCE', 'Robot', 'ShippedRobot',
           'shipped_robots', 'sphere_of_reach']
