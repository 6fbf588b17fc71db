"""Commands of the library without ROS."""

import os
from pathlib import Path
import subprocess
import sys

import pytest

ROOT = Path(__file__).parents[2]
ROS = ('rclpy builtin_interfaces diagnostic_msgs geometry_msgs moveit_msgs rcl_interfaces '
       'sensor_msgs std_msgs std_srvs trajectory_msgs visualization_msgs ros2_ik.msg ros2_ik.srv '
       'ros2_ik.action')
TRAY = ROOT / 'examples/ros/upright_tray.yaml'
SESSION = """
from argparse import Namespace
from ros2_ik.cli.view import make_session
session = make_session(Namespace(robot='panda', srdf=None, package_dir=[], xacro_arg=[],
                                 tip=[], scene='table', problem=sys.argv[1]))
print(session.status)
"""


@pytest.mark.parametrize('words', [
    ('constrained', TRAY, '--robot', 'panda'),
    ('solve', 'panda', '--xyz', '0.4', '0.1', '0.4', '--scene', 'table')])
def test_solve_and_constrained_need_no_ros(process, words):
    run = process(*words, ROS2_IK_WITHOUT=ROS, PYTHONPATH=os.pathsep.join(
        [str(ROOT / 'test/without'), os.environ.get('PYTHONPATH', '')]))
    assert run.code == 0, run.err
    assert 'SUCCESS' in run.out


def test_viewer_session_with_a_problem_needs_no_ros():
    environment = {**os.environ, 'ROS2_IK_WITHOUT': ROS, 'PYTHONPATH': os.pathsep.join(
        [str(ROOT / 'test/without'), os.environ.get('PYTHONPATH', '')])}
    run = subprocess.run([sys.executable, '-c', f'import sys\n{SESSION}', TRAY], env=environment,
                         capture_output=True, text=True, timeout=60)
    assert run.returncode == 0 and 'SUCCESS' in run.stdout, run.stderr
