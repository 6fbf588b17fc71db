"""The worked problems of examples/ros, solved by a node."""

import ast
import json
import os
from pathlib import Path
import re
import subprocess
import sys
from types import SimpleNamespace

from node_harness import Judge
import pytest

from ros2_ik.core import Robot

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / 'examples/ros'
sys.path.insert(0, str(ROOT / 'test/cli'))

from test_command_constrained import JUDGED  # noqa: E402


def judge(robot):
    """Give forward kinematics by yourdfpy, which takes no text that names its encoding."""
    return Judge(SimpleNamespace(urdf=re.sub(r'^<\?xml.*?\?>', '', robot.urdf)))


def test_client(start_node, client, panda):
    start_node()
    client.describe(panda)
    run = subprocess.run([sys.executable, FOLDER / 'client.py'], capture_output=True, text=True,
                         env={**os.environ, 'ROS_DOMAIN_ID': str(client.domain)}, timeout=60)
    assert run.returncode == 0 and 'solution found' in run.stdout, run.stderr
    joints = ast.literal_eval(run.stdout[run.stdout.index('{'):])
    T = judge(panda).transform(joints, 'panda_hand_tcp', 'panda_link0')
    assert T[:3, 3] == pytest.approx([0.45, 0.1, 0.3], abs=1e-4)


# the command's tests solve all of them without a node
@pytest.mark.parametrize('name', [
    name if name == 'clear_elbow' else pytest.param(name, marks=pytest.mark.slow)
    for name in JUDGED])
def test_a_problem(name, start_node, client):
    holds, robot_name, more = JUDGED[name]
    robot = Robot.load(robot_name)
    start_node(**({'scene': more[1]} if more else {}))
    client.describe(robot)
    transform = judge(robot).transform
    path = FOLDER / f'{name}.yaml'

    run = subprocess.run([sys.executable, ROOT / 'scripts/ros2_ik', 'constrained', path, '--json'],
                         env={**os.environ, 'ROS_DOMAIN_ID': str(client.domain)},
                         capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stdout + run.stderr
    joints = json.loads(run.stdout)['joints']
    holds(lambda _, link, frame: transform(joints, link, frame))
