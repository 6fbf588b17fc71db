"""What the node says, and refuses, at its start while it knows no robot yet."""

from arm_harness import TRAJECTORIES
from node_harness import eventually, seed
import pytest
from small_arm import ARM, small_arm

from ros2_ik.msg import Status


def test_a_node_that_moves_an_arm_tells_how_fast_and_that_there_is_no_floor(start_node):
    node = start_node(**TRAJECTORIES)
    eventually(lambda: 'motions use 0.1 of the velocity limits and 0.1 of the acceleration limits'
               in node.text, 'the speed')
    eventually(lambda: 'the scene is empty' in node.text and 'scene:=floor' in node.text,
               'the scene')


def test_with_a_floor_it_tells_of_none(start_node):
    node = start_node(**TRAJECTORIES, scene='floor', velocity_scaling=0.25)
    eventually(lambda: 'motions use 0.25 of the velocity limits' in node.text, 'the speed')
    assert 'the scene is empty' not in node.text


def test_a_description_by_parameter(start_node, client):
    robot = small_arm('_of_parameter')
    start_node(robot_description=robot.urdf)
    state = seed({f'{name}_of_parameter': 0.0 for name in (*ARM, 'turn')})
    assert client.fk(links=['hand'], state=state).status == Status.SUCCESS


@pytest.mark.slow
def test_two_nodes_of_one_name_and_a_clock_that_never_comes_are_told_of(start_node):
    """Both would answer each request, and only one of the answers is heard."""
    nodes = [start_node(use_sim_time=True) for _ in range(2)]
    for words in ('another node is called /ros2_ik', 'nothing has come on /clock'):
        for node in nodes:
            eventually(lambda node=node, words=words: words in node.text, 'the line')
