"""Velocity IK: tasks, limits and barriers, solved as a quadratic program in each step."""

from ros2_ik.core.velocity.distance_constraints import NearPair
from ros2_ik.core.velocity.limits import *
from ros2_ik.core.velocity.named_tasks import *
from ros2_ik.core.velocity.task import Task
from ros2_ik.core.velocity.velocity_program import solve_velocity, VelocityProgram
from ros2_ik.core.velocity.velocity_result import VelocityResult, VelocityStatus

__all__ = [
    'AccelerationLimit', 'Barrier', 'CartesianVelocityLimit', 'CollisionBarrier',
    'ConfigurationLimit', 'NearPair', 'Task', 'VelocityLimit', 'VelocityProgram',
    'VelocityResult', 'VelocityStatus', 'axis_align_task', 'com_task', 'damping_task',
    'distance_task', 'frame_task', 'joint_coupling_task', 'joint_velocity_task',
    'linear_holonomic_task', 'look_at_task', 'low_acceleration_task', 'manipulability_task',
    'posture_task', 'rolling_task', 'solve_velocity', 'twist_task',
]
