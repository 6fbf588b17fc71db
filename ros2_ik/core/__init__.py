"""
Inverse kinematics as a plain Python library, without ROS.

    from ros2_ik.core import Robot, solve_pose

Public are the names in `__all__` of each room and of `errors`, and those imported one by one.
"""

from ros2_ik.core.arrays import Array as Array, Indices as Indices
from ros2_ik.core.collision import *
from ros2_ik.core.errors import *
from ros2_ik.core.functions import *
from ros2_ik.core.functions import fields as fields
from ros2_ik.core.kernels import compile_all as compile_all
from ros2_ik.core.kernels.source import formula as formula
from ros2_ik.core.meshes import *
from ros2_ik.core.motion import *
from ros2_ik.core.path import *
from ros2_ik.core.problem import *
from ros2_ik.core.request import *
from ros2_ik.core.robot import *
from ros2_ik.core.scene import *
from ros2_ik.core.scene.shapes import *
from ros2_ik.core.solvers import *
from ros2_ik.core.status import ExitFlag as ExitFlag, Status as Status
from ros2_ik.core.strict_yaml import read_yaml as read_yaml
from ros2_ik.core.velocity import *
