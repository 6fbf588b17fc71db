"""Fields of problem files, and their conversion to messages."""

from array import array
import math

import pytest

from ros2_ik.cli.arguments import CommandError
from ros2_ik.cli.goal_file import fill, GOAL, goal_of

pytest.importorskip('rclpy')
from ros2_ik.action import SolveConstrainedIK  # noqa: E402
from ros2_ik.srv import ComputeIK  # noqa: E402

NOT_READ = {'attached_collision_objects', 'is_diff', 'twist', 'wrench'}


def default_fields(message):
    """Return default values by name; nested messages as dicts, lists with one item."""
    found = {}
    for name, kind in zip(message.get_fields_and_field_types(), message.SLOT_TYPES, strict=True):
        value = getattr(message, name)
        if hasattr(value, 'get_fields_and_field_types'):
            value = default_fields(value)
        elif isinstance(value, (list, array)):
            value = [default_item(kind.value_type)]
        if name not in NOT_READ:
            found[name] = value
    return found


def default_item(kind):
    if hasattr(kind, 'namespaces'):
        module = __import__('.'.join(kind.namespaces), fromlist=[kind.name])
        return default_fields(getattr(module, kind.name)())
    return {'boolean': False, 'double': 0.0}.get(getattr(kind, 'typename', ''), '')


@pytest.mark.parametrize('message', [SolveConstrainedIK.Goal, ComputeIK.Request])
def test_goal_fields_and_defaults_are_those_of_the_messages(message):
    assert default_fields(message()) == GOAL


def test_targets_accept_xyz_and_rpy():
    goal = goal_of({'targets': [{'tip': 'tool', 'xyz': [1, 2, 3]}, {
        'tip': 'hand', 'rpy': ['3.141592653589793', 0, 0], 'relative_to': 'tool'}]})
    assert goal.tips == ['tool', 'hand']
    assert goal.weights == [1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1]
    assert [target.header.frame_id for target in goal.targets] == ['', 'tool']
    assert goal.targets[0].pose.position.z == 3
    assert goal.targets[1].pose.orientation.x == pytest.approx(1)


@pytest.mark.parametrize(('target', 'reason'), [
    ({'tip': 'tool'}, 'a target needs xyz, rpy or quat'),
    ({'xyz': [1, 2]}, 'targets[0].xyz must have 3 numbers, not 2'),
    ({'xyz': [1, 2, 3], 'orientation': [0, 0, 0]}, "no field 'orientation'; valid: tip, xyz"),
    ({'rpy': [0, 90, 0]}, 'rpy: 90 rad is more than a full turn; angles are radians')])
def test_malformed_targets_are_refused(target, reason):
    with pytest.raises(CommandError) as error:
        goal_of({'targets': [target]})
    assert reason in str(error.value)


def test_goal_is_converted_to_its_message():
    message = fill(SolveConstrainedIK.Goal(), goal_of({
        'group': 'arm', 'weights': [1, 2.5], 'solutions': 3, 'execute': True,
        'targets': [{'header': {'frame_id': 'it'}, 'pose': {'position': {'y': 2}}}],
        'costs': [{'kind': 'polyhedron', 'frame': 'a', 'points': [[0, 0, '1e-3']],
                   'parameters': [{'name': 'A', 'numbers': [1]}],
                   'bounds': {'lower': '-5e-1', 'upper': 1, 'target': ['-inf'], 'soft': True}}],
        'allowed_collisions': {'entry_names': ['a'], 'entry_values': [{'enabled': [True]}]}}))
    assert (message.group, message.solutions, message.execute) == ('arm', 3, True)
    assert message.weights == array('d', [1, 2.5])
    assert message.targets[0].header.frame_id == 'it' and message.targets[0].pose.position.y == 2
    assert message.targets[0].pose.orientation.w == 1
    cost, = message.costs
    assert (cost.kind, cost.frame, cost.bounds.soft) == ('polyhedron', 'a', True)
    assert [*cost.bounds.lower, *cost.bounds.upper, *cost.bounds.target] == [-0.5, 1, -math.inf]
    A, points = cost.parameters
    assert (A.name, A.numbers, A.columns) == ('A', array('d', [1]), 0)
    assert (points.name, points.numbers, points.columns) == ('points', array('d', [0, 0, 1e-3]), 3)
    assert message.allowed_collisions.entry_values[0].enabled == [True]
