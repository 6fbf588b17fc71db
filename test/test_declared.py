"""What package.xml requires is enough: every function works without what is optional."""

import os
from pathlib import Path
import re
import subprocess
import sys
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
OPTIONAL = 'fcl viser yourdfpy'
PROGRAM = """
import sys
from importlib.util import find_spec
import numpy as np
from ros2_ik.core import (braking_motion, Configuration, InverseKinematics,
                          MotionLimits, Robot, solve_pose, solver_names, straight_motion)
assert not any(find_spec(name) for name in sys.argv[1].split())
robot = Robot.load('panda')
T = Configuration(robot, robot.neutral).transform('panda_hand')
arm = robot.group('arm').joint_names
for solver in solver_names():
    found = solve_pose(robot, 'panda_hand', T, robot.neutral + 0.05, group='arm',
                       solver=solver, timeout=20.0, random_state=0,
                       collisions=False)
    assert found.success, (solver, found.explain())
ik = InverseKinematics(robot)
ik.add_position_constraint('panda_hand', [0, 0, 0], None, [0.4, -0.1, 0.2], [0.5, 0.1, 0.4])
ik.add_posture_cost(robot.neutral)
assert ik.solve(timeout=20.0).success
limits = MotionLimits(np.ones(7), np.ones(7), np.full(7, 20.0))
start = np.array([robot.neutral[robot.joint(name).index] for name in arm])
goal = start + 0.1
motion = straight_motion(robot, arm, start, goal, limits)
half = motion.at(motion.duration / 2)
assert braking_motion(arm, half.position, half.velocity, limits).duration > 0
"""


def test_every_solver_and_motion_works_without_what_is_optional():
    folders = [str(ROOT / 'test' / 'without'), os.environ.get('PYTHONPATH', str(ROOT))]
    run = subprocess.run([sys.executable, '-c', PROGRAM, OPTIONAL],
                         capture_output=True, text=True, timeout=100, env=os.environ | {
        'ROS2_IK_WITHOUT': OPTIONAL, 'PYTHONPATH': os.pathsep.join(folders)})
    assert run.returncode == 0, run.stderr


def test_package_xml_declares_what_has_a_key_of_rosdep():
    names = {element.text for element in ElementTree.parse(ROOT / 'package.xml').iter()
             if element.tag in ('depend', 'exec_depend')}
    assert names >= {'coal', 'control_msgs', 'moveit_msgs', 'octomap_msgs', 'pinocchio',
                     'python3-collada', 'python3-numba', 'python3-numpy', 'python3-scipy',
                     'python3-trimesh-pip', 'python3-yaml', 'rclpy', 'std_srvs', 'tf2_ros_py',
                     'trajectory_msgs', 'visualization_msgs'}


def test_what_pip_is_asked_for_beside_a_sourced_ros_are_packages():
    """Not words of a comment."""
    asked = re.search(r'install --no-deps \$\((grep .*?)\)\n', (ROOT / 'tools/setup').read_text())
    words = subprocess.run(['bash', '-c', asked[1]], env=os.environ | {
        'own': str(ROOT / 'requirements')}, capture_output=True, text=True, check=True)
    assert [word.partition('==')[0] for word in words.stdout.split()] \
        == ['example-robot-data', 'ruckig', 'trimesh']
