"""The worked problems of examples/ros, asked by the command and as `ros2 action` asks them."""

import ast
import json
import os
from pathlib import Path
import re
import subprocess
import sys
from types import SimpleNamespace

from node_harness import Judge, values
import pytest
from rclpy.action import ActionClient
import yaml

from ros2_ik.action import SolveConstrainedIK
from ros2_ik.core import Robot
from ros2_ik.msg import Status

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / 'examples/ros'
sys.path.insert(0, str(ROOT / 'test/cli'))

from test_command_constrained import JUDGED  # noqa: E402


def set_fields(message, content):
    """Set what YAML has, as `ros2 action send_goal` does (rosidl_runtime_py)."""
    for name, value in content.items():
        current, kind = getattr(message, name), type(getattr(message, name))
        if isinstance(value, dict):
            value = set_fields(current, value)
        elif isinstance(current, list) and value and isinstance(value[0], dict):
            item = message.SLOT_TYPES[list(message.get_fields_and_field_types()).index(name)]
            value = [set_fields(_class(item.value_type)(), each) for each in value]
        elif hasattr(current, 'typecode'):
            value = kind(current.typecode, value)
        elif not isinstance(current, list):
            value = kind(value)
        setattr(message, name, value)
    return message


def _class(kind):
    module = __import__('.'.join(kind.namespaces), fromlist=[kind.name])
    return getattr(module, kind.name)


def judge(robot):
    """Give forward kinematics by yourdfpy, which takes no text that names its encoding."""
    return Judge(SimpleNamespace(urdf=re.sub(r'^<\?xml.*?\?>', '', robot.urdf)))


def send(client, goal):
    action = ActionClient(client.node, SolveConstrainedIK, 'ros2_ik/solve_constrained_ik')
    assert action.wait_for_server(20.0)
    handle = client.wait(client.on_executor(lambda: action.send_goal_async(goal)), 60.0)
    assert handle.accepted
    result = client.wait(client.on_executor(handle.get_result_async), 60.0).result
    action.destroy()
    return result


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
def test_both_ways(name, start_node, client):
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
    answer = json.loads(run.stdout)
    holds(lambda _, link, frame: transform(answer['joints'], link, frame))

    text = subprocess.run([sys.executable, ROOT / 'scripts/ros2_ik', 'constrained', path,
                           '--print-goal'], check=True, capture_output=True, text=True).stdout
    goal = set_fields(SolveConstrainedIK.Goal(), yaml.safe_load(text))
    result = send(client, goal)
    assert result.status == Status.SUCCESS, result.message
    holds(lambda _, link, frame: transform(values(result.solution), link, frame))
    assert [state.name for state in result.constraints] == [
        state['name'] for state in answer['constraints']]

