"""Commands of the library without ROS."""

import os
from pathlib import Path
import subprocess
import sys

ROOT = Path(__file__).parents[2]
ROS = ('rclpy builtin_interfaces diagnostic_msgs geometry_msgs moveit_msgs rcl_interfaces '
       'sensor_msgs std_msgs std_srvs trajectory_msgs visualization_msgs ros2_ik.msg ros2_ik.srv '
       'ros2_ik.action')
TRAY = ROOT / 'examples/ros/upright_tray.yaml'
PROGRAM = """
import sys
from argparse import Namespace
from ros2_ik.cli import main
from ros2_ik.cli.view import make_session
tray = sys.argv[1]
assert main(['constrained', tray, '--robot', 'panda']) == 0
assert main(['solve', 'panda', '--xyz', '0.4', '0.1', '0.4', '--scene', 'table']) == 0
session = make_session(Namespace(robot='panda', srdf=None, package_dir=[], xacro_arg=[],
                                 tip=[], scene='table', problem=tray))
print(session.status)
"""


def test_solve_constrained_and_a_viewer_session_need_no_ros():
    environment = {**os.environ, 'ROS2_IK_WITHOUT': ROS, 'PYTHONPATH': os.pathsep.join(
        [str(ROOT / 'test/without'), os.environ.get('PYTHONPATH', '')])}
    run = subprocess.run([sys.executable, '-c', PROGRAM, TRAY], env=environment,
                         capture_output=True, text=True, timeout=60)
    assert run.returncode == 0 and run.stdout.count('SUCCESS') == 3, run.stdout + run.stderr
