"""Requests that are too large are refused over DDS before they keep the node from others."""

from diagnostic_msgs.msg import KeyValue
from moveit_msgs.msg import AllowedCollisionMatrix, LinkPadding
from node_harness import reachable
import pytest

from ros2_ik.messages.functions import function_message as function
from ros2_ik.msg import Bounds, Status

pytestmark = pytest.mark.usefixtures('flooded')

HAND, TCP = 'panda_hand', 'panda_hand_tcp'


def near_things(count, rows, lower=0.0):
    bounds = Bounds(lower=[lower])
    return [function('minimum_distance', rows=rows, influence=5.0, bounds=bounds)] * count


@pytest.fixture
def workers(panda_node):
    """Give the node's workers, which must still be the same ones afterwards."""
    found = panda_node.started_workers()
    yield found
    assert panda_node.workers() == found


@pytest.mark.parametrize(('fields', 'words'), [
    ({'constraints': near_things(99, 1000)},
     'constraints[1] (minimum_distance): its 1000 rows make 2000 of all constraints and costs so '
     'far; at most 1000 are taken'),
    ({'solver_options': [KeyValue(key=str(i), value='[a, b, {c: d}]' * 10)
                         for i in range(1000)]},
     'solver_options has length 1000; at most 100 are read'),
    ({'link_padding': [LinkPadding(link_name=HAND)] * 1000},
     'link_padding has length 1000; at most 200 are read'),
    ({'allowed_collisions': AllowedCollisionMatrix(
        default_entry_names=[HAND] * 1000, default_entry_values=[True] * 1000)},
     'allowed_collisions.default_entry_names has length 1000; at most 200 are read')])
def test_too_large_a_request_is_refused(client, panda, workers, fields, words):
    asked = {'targets': [reachable(panda, TCP)], 'tips': [TCP], 'avoid_collisions': True}
    response = client.ik(**asked, **fields)
    assert (response.status, response.message) == (Status.INVALID_GOAL_CONSTRAINTS, words)
    assert not response.solution.joint_state.name


@pytest.mark.slow
def test_the_largest_request_ends_in_time(client, panda, workers):
    """No configuration is that far from everything: the search lasts as long as it may."""
    response = client.ik(targets=[reachable(panda, TCP)], tips=[TCP],
                         constraints=near_things(10, 100, lower=4.5))
    assert response.status in (Status.TIMED_OUT, Status.NO_IK_SOLUTION), response.message
    assert sum(len(found.value) for found in response.constraints) == 1000


def test_a_date_is_a_word(client, panda, workers):
    response = client.ik(targets=[reachable(panda, TCP)], tips=[TCP], solver='sqp',
                         solver_options=[KeyValue(key='damping', value='2020-99-99')])
    assert response.status == Status.INVALID_GOAL_CONSTRAINTS
    assert "damping must be a positive finite number, not '2020-99-99'" in response.message
