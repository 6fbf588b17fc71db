"""Attached objects through ~/apply_planning_scene and the topic: MoveIt's rules, and its traps."""

from moveit_msgs.msg import CollisionObject, ObjectColor, PlanningScene
import numpy as np
import pytest
from scene_harness import (
    applied,
    attached,
    box,
    change,
    check,
    diff,
    held,
    HOME,
    objects,
    pairs,
    place,
    pose,
    refused,
    state_holding,
)

from ros2_ik.core import Configuration

ADD, REMOVE = CollisionObject.ADD, CollisionObject.REMOVE
APPEND, MOVE = CollisionObject.APPEND, CollisionObject.MOVE
FAR = pose(0.0, 0.0, 3.0)
pytestmark = pytest.mark.usefixtures('empty_scene')


def test_by_id_and_back_to_the_world(client, panda):
    color = ObjectColor(id='a')
    color.color.r = color.color.a = 1.0
    item = box('a', at=FAR, subframe_names=['top'], subframe_poses=[pose(0, 0, 0.05)])
    applied(client, diff(item, object_colors=[color]))
    applied(client, diff(holding=[attached(change('a', ADD), touch=['panda_leftfinger'])]))
    assert not objects(client)
    found = held(client)['a']
    assert found.link_name == 'panda_hand' and found.object.header.frame_id == 'panda_hand'
    assert list(found.touch_links) == ['panda_leftfinger']
    T = Configuration(panda, HOME).transform('panda_hand')
    assert np.allclose((T @ [*place(found.object.pose), 1])[:3], [0, 0, 3], atol=1e-8)
    turned = HOME | {'panda_joint1': 1.0}
    applied(client, diff(holding=[attached(change('a', REMOVE), '')], joints=turned))
    back = objects(client)['a']
    T = Configuration(panda, turned).transform('panda_hand')
    assert np.allclose(place(back.pose), (T @ [*place(found.object.pose), 1])[:3], atol=1e-7)
    assert list(back.subframe_names) == ['top'] and not held(client)


def test_an_object_of_the_same_message_cannot_be_attached_by_id(client):
    said = refused(client, diff(box('a', at=FAR), holding=[attached(change('a', ADD))]))
    assert "unknown object 'a'" in said and 'robot_state.attached_collision_objects[0]' in said


def test_with_shapes_takes_the_place_of_the_worlds(client):
    applied(client, diff(box('a', at=FAR)))
    applied(client, diff(holding=[attached(box('a', 0.02, at=pose(0, 0, 0.1),
                                               frame='panda_hand'))], joints={}))
    assert not objects(client)
    assert place(held(client)['a'].object.pose) == [0, 0, 0.1]
    applied(client, diff(holding=[attached(box('a', 0.03, at=FAR))]))   # and of the attached one
    assert held(client)['a'].object.primitives[0].dimensions.tolist() == [0.03] * 3


def test_unknown_links(client):
    applied(client, diff(box('a', at=FAR)))
    for link in ('panda_hnd', ''):
        for item in (change('a', ADD), box('b', frame='panda_hand')):
            said = refused(client, diff(holding=[attached(item, link)]))
            assert f"unknown link '{link}'" in said, said
    assert 'panda_leftfingr' in refused(client, diff(holding=[
        attached(change('a', ADD), touch=['panda_leftfingr'])]))


def test_detach(client):
    three = [attached(box('a', 0.02, frame='panda_hand')),
             attached(box('b', 0.02, frame='panda_hand')),
             attached(box('c', 0.02, frame='panda_link5'), 'panda_link5')]
    applied(client, diff(holding=three))
    assert "attached to 'panda_hand'" in refused(client, diff(holding=[
        attached(change('a', REMOVE), 'panda_link5')]))
    assert "unknown object 'z'" in refused(client, diff(holding=[
        attached(change('z', REMOVE), '')]))
    for operation in APPEND, MOVE:
        assert 'valid: ADD, REMOVE' in refused(client, diff(holding=[
            attached(change('a', operation))]))
    applied(client, diff(holding=[attached(change('', REMOVE), 'panda_link5')]))
    assert set(held(client)) == {'a', 'b'} and set(objects(client)) == {'c'}
    applied(client, diff(box('b', at=FAR)))      # both are there: MoveIt does not look
    said = applied(client, diff(holding=[attached(change('', REMOVE), '')]))
    assert "'b', which stays" in said
    assert not held(client) and set(objects(client)) == {'a', 'b', 'c'}
    assert place(objects(client)['b'].pose) == [0, 0, 3]


def test_joints_without_is_diff_clear_what_is_attached(client):
    applied(client, diff(holding=[attached(box('a', 0.02, frame='panda_hand'))]))
    scene = diff()
    scene.robot_state.is_diff = False
    applied(client, scene)
    assert not held(client) and not objects(client)
    applied(client, diff(holding=[attached(box('a', 0.02, frame='panda_hand'))]))
    scene = diff(holding=[attached(change('a', REMOVE), '')])
    scene.robot_state.is_diff = False
    assert "REMOVE of attached object 'a'" in refused(client, scene)
    scene = PlanningScene(is_diff=True)          # no joints: what is attached stays
    scene.robot_state.attached_collision_objects = [attached(box('b', 0.02, frame='panda_hand'))]
    applied(client, scene)
    assert set(held(client)) == {'a', 'b'}


def test_own_link_and_touch_links_may_be_touched(client):
    """MoveIt's code does not let the holding link touch, though its comment says so."""
    between = box('a', 0.05, at=pose(0, 0, 0.09), frame='panda_hand')
    applied(client, diff(holding=[attached(between)]))
    touching = {next(iter(pair - {'a'})) for pair in pairs(check(client)) if 'a' in pair}
    assert 'panda_hand' not in touching and touching
    applied(client, diff(holding=[attached(between, touch=sorted(touching))]))
    assert check(client).valid


def test_held_in_a_question_only(client):
    stick = box('stick', 0.05, at=pose(0, 0, 0.6), frame='panda_hand')
    wall = box('wall', 0.3, at=pose(0.31, 0, 0.0))
    applied(client, diff(wall))
    assert check(client).valid
    response = check(client, state=state_holding(attached(stick)))
    assert not response.valid and frozenset(('stick', 'wall')) in pairs(response)
    assert {c.contact_body_1: c.body_type_1 for c in response.contacts} | {
        c.contact_body_2: c.body_type_2 for c in response.contacts} == {'stick': 2, 'wall': 1}
    assert not held(client)
    response = check(client, state=state_holding(attached(stick, 'nowhere')))
    assert response.status == -18 and 'state.attached_collision_objects[0]' in response.message
