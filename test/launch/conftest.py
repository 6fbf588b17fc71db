"""Without ROS no test of this folder is collected."""

from importlib.util import find_spec
import os

os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'

if not find_spec('rclpy'):
    collect_ignore_glob = ['test_*.py']
