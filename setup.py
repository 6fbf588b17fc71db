"""The ROS-free library and its command for pip; a ROS workspace builds CMakeLists.txt instead."""

from setuptools import find_packages, setup

FOLDERS = {'ros2_ik.config': 'config', 'ros2_ik.interfaces.action': 'action',
           'ros2_ik.interfaces.msg': 'msg',
           **{f'ros2_ik.interfaces.{name}.msg': f'interfaces/{name}/msg'
              for name in ('moveit_msgs', 'object_recognition_msgs')}}

setup(
    packages=[*find_packages(include=['ros2_ik', 'ros2_ik.*']), *FOLDERS],
    package_dir=FOLDERS,
    package_data={'': ['*.action', '*.msg'], 'ros2_ik': ['py.typed'],
                  'ros2_ik.config': ['*.yaml', 'scenes/*.yaml']},
)
