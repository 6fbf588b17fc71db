"""Without ROS there is nothing to launch."""

import os

os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'

try:
    import rclpy  # noqa: F401
except ImportError:
    collect_ignore_glob = ['test_*.py']
