"""The client examples in examples/ros, run with a node."""

import ast
import json
import os
from pathlib import Path
import subprocess
import sys

import pytest
from scene_harness import applied
from std_msgs.msg import Header

from ros2_ik.core import load_scene
from ros2_ik.messages.planning_scenes import scene_message, SceneState

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / 'examples/ros'
sys.path.insert(0, str(ROOT / 'test/cli'))

from test_command_constrained import JUDGED  # noqa: E402


def test_python_client_example_finds_a_solution(client, panda_fk):
    run = subprocess.run([sys.executable, FOLDER / 'client.py'], capture_output=True, text=True,
                         env={**os.environ, 'ROS_DOMAIN_ID': str(client.domain)}, timeout=60)
    assert run.returncode == 0 and 'solution found' in run.stdout, run.stderr
    joints = ast.literal_eval(run.stdout[run.stdout.index('{'):])
    T = panda_fk.transform(joints, 'panda_hand_tcp', 'panda_link0')
    assert T[:3, 3] == pytest.approx([0.45, 0.1, 0.3], abs=1e-4)


def test_constrained_command_solves_a_worked_problem_with_the_node(client, panda, panda_fk):
    """Tests of the command solve all other problems without a node."""
    check, _, (_, scene) = JUDGED['clear_elbow']
    applied(client, scene_message(SceneState(load_scene(scene, panda)), {}, 0, Header()))
    run = subprocess.run([sys.executable, ROOT / 'scripts/ros2_ik', 'constrained',
                          FOLDER / 'clear_elbow.yaml', '--json'],
                         capture_output=True, text=True, timeout=60,
                         env={**os.environ, 'ROS_DOMAIN_ID': str(client.domain)})
    assert run.returncode == 0, run.stdout + run.stderr
    joints = json.loads(run.stdout)['joints']
    check(lambda _, link, frame: panda_fk.transform(joints, link, frame))
