"""Dependencies: package.xml, tools/setup, optional packages, and tests without ROS."""

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
from ros2_ik.core import (
    Configuration, InverseKinematics, MotionLimits, Robot, solve_pose, solver_names,
    straight_motion)
assert not any(find_spec(name) for name in sys.argv[1].split())
robot = Robot.load('panda')
T = Configuration(robot, robot.neutral).transform('panda_hand')
arm = robot.group('arm').joint_names
for solver in solver_names():
    found = solve_pose(robot, 'panda_hand', T, robot.neutral + 0.05, group='arm',
                       solver=solver, timeout=20.0, random_state=0, collisions=False)
    assert found.success, (solver, found.explain())
ik = InverseKinematics(robot)
ik.add_position_constraint('panda_hand', [0, 0, 0], None, [0.4, -0.1, 0.2], [0.5, 0.1, 0.4])
ik.add_posture_cost(robot.neutral)
assert ik.solve(timeout=20.0).success
limits = MotionLimits(np.ones(7), np.ones(7), np.full(7, 20.0))
start = np.array([robot.neutral[robot.joint(name).index] for name in arm])
goal = start + 0.1
motion = straight_motion(robot, arm, start, goal, limits)
assert motion.duration > 0
"""


def test_solvers_and_motions_work_without_optional_packages():
    folders = [str(ROOT / 'test' / 'without'), os.environ.get('PYTHONPATH', str(ROOT))]
    run = subprocess.run([sys.executable, '-c', PROGRAM, OPTIONAL],
                         capture_output=True, text=True, timeout=100, env=os.environ | {
        'ROS2_IK_WITHOUT': OPTIONAL, 'PYTHONPATH': os.pathsep.join(folders)})
    assert run.returncode == 0, run.stderr


def test_package_xml_declares_each_dependency_that_has_a_rosdep_key():
    names = {element.text for element in ElementTree.parse(ROOT / 'package.xml').iter()
             if element.tag in ('depend', 'exec_depend')}
    assert names >= {'coal', 'control_msgs', 'moveit_msgs', 'octomap_msgs', 'pinocchio',
                     'python3-collada', 'python3-numba', 'python3-numpy', 'python3-scipy',
                     'python3-trimesh-pip', 'python3-yaml', 'rclpy', 'std_srvs', 'tf2_ros_py',
                     'trajectory_msgs', 'visualization_msgs'}


def test_setup_beside_a_sourced_ros_installs_three_packages_from_pypi():
    """Past defect: words of a comment in library.txt were installed as packages."""
    match = re.search(r'install --no-deps \$\((grep .*?)\)\n', (ROOT / 'tools/setup').read_text())
    grep = subprocess.run(['bash', '-c', match[1]], env=os.environ | {
        'own': str(ROOT / 'requirements')}, capture_output=True, text=True, check=True)
    assert [word.partition('==')[0] for word in grep.stdout.split()] \
        == ['example-robot-data', 'ruckig', 'trimesh']


# pytest plugins of launch and launch_ros for Jazzy, from their setup.py: name and module
PLUGINS = {'launch_testing': ('launch_testing', 'launch_testing.pytest.hooks'),
           'launch_testing_ros': ('launch_ros', 'launch_testing_ros_pytest_entrypoint')}


def collect(*arguments, without='', path=''):
    """Collect tests in a process without some modules; return the process and the count."""
    folders = [str(ROOT / 'test' / 'without'), str(path), os.environ.get('PYTHONPATH', '')]
    inherited = {name: value for name, value in os.environ.items() if name != 'PYTEST_ADDOPTS'}
    run = subprocess.run(
        [sys.executable, '-m', 'pytest', '-p', 'no:cacheprovider', '--collect-only', '-q',
         *arguments], cwd=ROOT, capture_output=True, text=True, timeout=100,
        env=inherited | {'ROS2_IK_WITHOUT': without, 'PYTHONPATH': os.pathsep.join(
            folder for folder in folders if folder)})
    match = re.search(r'^(\d+) tests? collected', run.stdout, re.MULTILINE)
    return run, int(match[1]) if match else 0


def test_tests_that_need_ros_are_not_collected_without_rclpy():
    run, count = collect('test/node', 'test/mock', 'test/demo', 'test/launch', without='rclpy')
    assert run.returncode == 5 and count == 0, run.stdout + run.stderr


def test_pytest_runs_beside_launch_testing_plugins_that_fail_to_load(tmp_path):
    """The plugins of ROS Jazzy do not load in pytest 9; the stand-ins here never load."""
    for package, (name, module) in PLUGINS.items():
        info = tmp_path / f'{package}-1.0.dist-info'
        info.mkdir()
        (info / 'METADATA').write_text(f'Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n')
        (info / 'entry_points.txt').write_text(f'[pytest11]\n{name} = {module}\n')
        path = tmp_path / f'{module.replace(".", "/")}.py'
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('raise RuntimeError("a plugin that does not load was loaded")\n')
    run, count = collect('test/test_pages.py', path=tmp_path)
    assert run.returncode == 0 and count > 0, run.stdout + run.stderr
