"""MoveIt's services by MoveIt's names, where no move_group has them."""

from moveit_msgs.msg import (
    Constraints,
    JointConstraint,
    MoveItErrorCodes as Code,
    PlanningSceneComponents as Parts,
    PositionIKRequest,
)
from moveit_msgs.srv import (
    ApplyPlanningScene,
    GetPlanningScene,
    GetPositionFK,
    GetPositionIK,
    GetStateValidity,
)
from node_harness import eventually, matrix, reachable, seed, values
import numpy as np
import pytest
from scene_harness import box, diff, pose

NAMES = ('compute_ik', 'compute_fk', 'check_state_validity', 'get_planning_scene',
         'apply_planning_scene')
ROOT, TIP = 'panda_link0', 'panda_hand_tcp'
ARM = [f'panda_joint{i}' for i in range(1, 8)]
HOME = dict(zip([*ARM, 'panda_finger_joint1'], (
    0.0, -0.785398, 0.0, -2.35619, 0.0, 1.5708, 0.785398, 0.02), strict=True))


def offered(client):
    return dict(client.node.get_service_names_and_types())


@pytest.fixture(scope='module')
def node(client, panda, start_shared_node):
    """Give a node that offers them all."""
    node = start_shared_node(moveit_names=True)
    client.describe(panda)
    eventually(lambda: {f'/{name}' for name in NAMES} <= offered(client).keys(), 'the services')
    return node


def test_ik(client, node, panda, panda_judge):
    target = reachable(panda, TIP, 3)
    answer = client.call(GetPositionIK, '/compute_ik', GetPositionIK.Request(
        ik_request=PositionIKRequest(group_name='arm', pose_stamped=target, ik_link_name=TIP)))
    assert answer.error_code.val == Code.SUCCESS
    np.testing.assert_allclose(panda_judge.transform(values(answer.solution), TIP, ROOT),
                               matrix(target.pose), atol=1e-4)


def fk(client, *links, state=HOME, frame=''):
    request = GetPositionFK.Request(fk_link_names=list(links), robot_state=seed(state))
    request.header.frame_id = frame
    return client.call(GetPositionFK, '/compute_fk', request)


def test_fk(client, node, panda_judge):
    answer = fk(client, TIP, 'panda_link4', frame='panda_link1')
    assert answer.error_code.val == Code.SUCCESS
    assert answer.fk_link_names == [TIP, 'panda_link4']
    for link, found in zip(answer.fk_link_names, answer.pose_stamped, strict=True):
        np.testing.assert_allclose(matrix(found.pose), panda_judge.transform(
            HOME, link, 'panda_link1'), atol=1e-9)


@pytest.mark.parametrize(('links', 'found'), [(['nose', TIP], [TIP]), (['nose'], []), ([], [])])
def test_fk_of_links_that_there_are_not(client, node, links, found):
    answer = fk(client, *links)
    assert answer.error_code.val == Code.INVALID_LINK_NAME and answer.fk_link_names == found


def validity(client, state, group='', **constraint):
    return client.call(GetStateValidity, '/check_state_validity', GetStateValidity.Request(
        robot_state=seed(state), group_name=group, constraints=Constraints(
            joint_constraints=[JointConstraint(**constraint)] if constraint else [])))


@pytest.mark.parametrize('group', ['', 'arm', 'unknown'])
def test_validity_of_what_touches_nothing(client, node, group):
    answer = validity(client, HOME, group)
    assert answer.valid and not answer.contacts and not answer.constraint_result


def test_validity_of_what_touches_itself(client, node):
    answer = validity(client, {**HOME, 'panda_joint4': -0.08, 'panda_joint6': 3.7,
                               'panda_joint2': 1.7})
    assert answer.valid == (not answer.contacts)


def test_validity_counts_constraints(client, node):
    for position, holds in ((0.05, True), (0.5, False)):
        answer = validity(client, HOME, joint_name='panda_joint1', position=position,
                          tolerance_above=0.1, tolerance_below=0.1)
        assert answer.valid is holds
        result, = answer.constraint_result
        assert result.result is holds
        assert result.distance == pytest.approx(max(position - 0.1, 0), abs=1e-6)


def test_validity_of_an_unknown_joint(client, node):
    assert not validity(client, {'knee': 1.0}).valid
    eventually(lambda: 'knee' in node.text, 'a word in the log')


def test_scene(client, node, panda):
    wall = diff(box('wall', 0.2, at=pose(0.5, 0, 0.5)))
    assert client.call(ApplyPlanningScene, '/apply_planning_scene',
                       ApplyPlanningScene.Request(scene=wall)).success, node.text
    scene = client.call(GetPlanningScene, '/get_planning_scene', GetPlanningScene.Request(
        components=Parts(components=Parts.WORLD_OBJECT_NAMES))).scene
    assert [item.id for item in scene.world.collision_objects] == ['wall']
    assert not scene.world.collision_objects[0].primitives
    at = {**HOME, 'panda_joint2': 0.1, 'panda_joint4': -1.6}
    assert any('wall' in (c.contact_body_1, c.contact_body_2)
               for c in validity(client, at).contacts)


def test_a_client_that_waits_is_served(client, start_node):
    waiting = client.node.create_client(GetPositionFK, '/late/compute_fk')
    start_node(remappings=('__ns:=/late',), moveit_names=True)
    assert waiting.wait_for_service(30.0)
    client.node.destroy_client(waiting)


def test_what_another_node_offers_is_left_to_it(client, start_node, panda):
    theirs = client.node.create_service(GetPositionFK, '/other/compute_fk',
                                        lambda request, response: response)
    node = start_node(remappings=('__ns:=/other',), moveit_names=True)
    eventually(lambda: '/other/compute_ik' in offered(client), 'the other services', 30)
    assert '/other/compute_fk is offered by another node already' in node.text
    client.node.destroy_service(theirs)
