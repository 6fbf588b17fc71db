"""What the node says, and refuses, at its start while it knows no robot yet."""

from arm_harness import TRAJECTORIES
from node_harness import eventually
import pytest


def test_a_node_that_moves_an_arm_tells_how_fast_and_that_there_is_no_floor(start_node):
    node = start_node(**TRAJECTORIES)
    eventually(lambda: 'motions use 0.1 of the velocity limits and 0.1 of the acceleration limits'
               in node.text, 'the speed')
    eventually(lambda: 'the scene is empty' in node.text and 'scene:=floor' in node.text,
               'the scene')


def test_with_a_floor_it_tells_of_none_and_refuses_a_scene_that_does_not_exist(
        start_node, client):
    node = start_node(**TRAJECTORIES, scene='floor', velocity_scaling=0.25)
    eventually(lambda: 'motions use 0.25 of the velocity limits' in node.text, 'the speed')
    assert 'the scene is empty' not in node.text
    result = client.set('scene', 'tabel')
    assert not result.successful and 'shipped: bin, floor' in result.reason


def test_a_scene_that_does_not_exist_is_refused_before_there_is_a_robot(start_node):
    node = start_node(scene='tabel')
    assert node.process.wait(60) == 1
    assert "'tabel'" in node.text and 'shipped: bin, floor, shelf, table' in node.text
    assert 'Traceback' not in node.text


@pytest.mark.slow
def test_controllers_that_fit_no_group_are_one_line(client, panda, start_node):
    names = ['left', 'right']
    node = start_node(controllers=names, scene='table',
                      **{f'{name}.group': 'leg' for name in names})
    client.describe(panda)
    def complaints():      # once there is the SRDF, which has the groups
        return [line for line in node.text.splitlines()
                if 'has nothing to move' in line]
    eventually(complaints, 'the line')
    lines = complaints()
    assert len(lines) == 1 and all(f"'{name}'" in lines[0] for name in names)
    assert 'Traceback' not in node.text


@pytest.mark.slow
def test_two_nodes_of_one_name_are_told_of(start_node):
    """Both would answer each request, and only one of the answers is heard."""
    nodes = [start_node(), start_node()]
    for node in nodes:
        eventually(lambda node=node: 'another node is called /ros2_ik' in node.text, 'the line')


@pytest.mark.slow
def test_a_clock_that_never_comes_is_told_of(start_node):
    node = start_node(use_sim_time=True)
    eventually(lambda: 'nothing has come on /clock' in node.text, 'the line')


@pytest.mark.slow
def test_controllers_without_kind_or_of_one_joint_are_told_of(client, panda, start_node):
    """Only one of two may command a joint; a kind that nobody gave may be the wrong one."""
    node = start_node(controllers=['left', 'right'], **{
        'left.group': 'arm', 'right.kind': 'position'})
    eventually(lambda: "controller 'left' has no parameter left.kind: it is taken for a "
               'joint_trajectory; valid: ' in node.text, 'the kind')
    assert "'right' has no" not in node.text
    client.describe(panda)
    eventually(lambda: "controllers 'left' and 'right' both move joint 'panda_joint1'"
               in node.text, 'the joint')
