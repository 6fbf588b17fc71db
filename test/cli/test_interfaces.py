"""The definitions that the command reads files by are those that ROS generates classes from."""

from array import array
from importlib import import_module
from pathlib import Path

import pytest

from ros2_ik.cli.goal_file import read_message
from ros2_ik.cli.interfaces import fields, FOREIGN, GOAL, is_message

pytest.importorskip('rclpy')
from ros2_ik.action import SolveConstrainedIK  # noqa: E402
from ros2_ik.cli.goal_client import goal_message  # noqa: E402

ROOT = Path(__file__).parents[2]
GOAL_KIND = f'ros2_ik/{GOAL}'
ROS_NAMES = {'float64': 'double', 'float32': 'float', 'bool': 'boolean', 'byte': 'octet'}


def generated(kind):
    if kind == GOAL_KIND:
        return SolveConstrainedIK.Goal
    package, _, name = kind.rpartition('/')
    return getattr(import_module(f'{package}.msg'), name)


def used(kind, found):
    """Collect the messages that a message is made of."""
    if kind not in found:
        found.add(kind)
        for field in fields(kind).values():
            if is_message(field.type):
                used(field.type, found)
    return found


USED = sorted(used(GOAL_KIND, set()))


def ros_type(field):
    name = ROS_NAMES.get(field.type, field.type)
    if not field.array:
        return name
    if field.size is not None:
        return f'{name}[{field.size}]'
    return f'sequence<{name}>' if field.most is None else f'sequence<{name}, {field.most}>'


def test_all_that_is_foreign_is_used_and_stands_nowhere_else():
    copied = {f'{path.parents[1].name}/{path.stem}' for path in ROOT.glob('interfaces/*/msg/*')}
    assert set(FOREIGN) == {kind for kind in USED if not kind.startswith('ros2_ik/')} - copied


@pytest.mark.parametrize('kind', USED)
def test_fields_are_those_of_ros(kind):
    theirs = generated(kind).get_fields_and_field_types()
    assert {name: ros_type(field) for name, field in fields(kind).items()} == theirs


@pytest.mark.parametrize('kind', USED)
def test_defaults_are_those_of_ros(kind):
    ours, theirs = read_message(kind, {}, ''), generated(kind)()
    for name, field in fields(kind).items():
        if not is_message(field.type):
            value = getattr(theirs, name)
            value = list(value) if field.array else ord(value) if field.type == 'byte' else value
            assert getattr(ours, name) == value, name


def test_a_goal_becomes_its_message():
    goal = read_message(GOAL_KIND, {
        'group': 'arm', 'weights': [1, 2.5], 'solutions': 3, 'execute': True,
        'targets': [{'header': {'frame_id': 'it'}, 'pose': {'position': {'y': 2}}}],
        'costs': [{'kind': 'polyhedron', 'frame': 'a', 'points': [[0, 0, '1e-3']],
                   'parameters': [{'name': 'A', 'numbers': [1]}],
                   'bounds': {'lower': [float('-inf')], 'soft': True}}],
        'seed': {'attached_collision_objects': [{'link_name': 'b', 'object': {
            'operation': 2, 'primitives': [{'type': 1, 'dimensions': [1, 2, 3]}],
            'meshes': [{'triangles': [{'vertex_indices': [0, 1, 2]}]}],
            'planes': [{'coef': [0, 0, 1, 2]}]}}]}}, '')
    message = goal_message(goal)
    assert (message.group, message.solutions, message.execute) == ('arm', 3, True)
    assert message.weights == array('d', [1, 2.5])
    assert message.targets[0].header.frame_id == 'it' and message.targets[0].pose.position.y == 2
    assert message.targets[0].pose.orientation.w == 1
    cost, = message.costs
    assert (cost.kind, cost.frame, cost.bounds.soft) == ('polyhedron', 'a', True)
    A, points = cost.parameters
    assert (A.name, A.numbers, A.columns) == ('A', array('d', [1]), 0)
    assert (points.name, points.numbers, points.columns) == ('points', array('d', [0, 0, 1e-3]), 3)
    held, = message.seed.attached_collision_objects
    assert held.object.operation == b'\x02' and list(held.object.planes[0].coef) == [0, 0, 1, 2]
    assert list(held.object.meshes[0].triangles[0].vertex_indices) == [0, 1, 2]
