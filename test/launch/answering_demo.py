"""
Launch test of demo.launch.py: the demo answers a call, and ends cleanly.

test_launch_testing.py runs it; pytest does not collect it.
"""

import os
from pathlib import Path
import subprocess
import sys
import unittest

from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription, SetEnvironmentVariable
from launch.launch_description_sources import PythonLaunchDescriptionSource
import launch_testing
from launch_testing.actions import ReadyToTest
from launch_testing.asserts import assertExitCodes

from ros2_ik.demo.domain import unused_domain

ROOT = Path(__file__).parents[2]
DOMAIN = str(unused_domain())


def generate_test_description():
    """Launch the demo with a UR5 in a namespace."""
    source = PythonLaunchDescriptionSource(str(ROOT / 'launch' / 'demo.launch.py'))
    return LaunchDescription([
        SetEnvironmentVariable('ROS_DOMAIN_ID', DOMAIN),
        IncludeLaunchDescription(source, launch_arguments={
            'robot': 'ur5', 'namespace': 'cell'}.items()),
        ReadyToTest(),
    ])


class TestAnswer(unittest.TestCase):

    def test_call_to_the_node_of_the_demo_succeeds(self):
        command = [sys.executable, ROOT / 'scripts' / 'ros2_ik', 'call', '--node',
                   '/cell/ros2_ik', '--wait', '30', '--tip', 'tool0', '--xyz', '0.4', '0.1', '0.5',
                   '--seed', 'elbow_joint=1.2']
        run = subprocess.run(command, env=os.environ | {'ROS_DOMAIN_ID': DOMAIN}, timeout=90,
                             capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn('SUCCESS', run.stdout)


@launch_testing.post_shutdown_test()
class TestEnd(unittest.TestCase):

    def test_processes_end_with_exit_code_0(self, proc_info):
        assertExitCodes(proc_info)
