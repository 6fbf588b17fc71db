"""Package the ROS-free library and its command for pip; ROS workspaces build CMakeLists.txt."""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages(include=['ros2_ik', 'ros2_ik.*']), 'ros2_ik.config'],
    package_dir={'ros2_ik.config': 'config'},
    package_data={'ros2_ik': ['py.typed'], 'ros2_ik.config': ['*.yaml', 'scenes/*.yaml']},
)
