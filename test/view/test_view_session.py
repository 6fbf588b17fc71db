"""What a page does, without the page: answers, colours, motions, the scene."""

import numpy as np
import pytest
from view_sessions import TIP

from ros2_ik.core import Box, collision_checker, Configuration, IKError, SceneObject, Sphere
from ros2_ik.core.internals import ShapeInstance
from ros2_ik.view.answer import Reached
from ros2_ik.view.status import status_html


def add(session, item):
    """Put an object into the scene."""
    session.change_scene(session.arm.scene.add(item))


def at_tip(session, q):
    return Configuration(session.robot, q).transform(TIP)


def moved(T, x=0.0, y=0.0, z=0.0):
    T = T.copy()
    T[:3, 3] += x, y, z
    return T


@pytest.fixture
def home(session):
    return session.problem.targets[TIP].copy()


def test_drag_is_answered_where_the_gizmo_is(session, home):
    T = moved(home, 0.05, 0.1, -0.1)
    session.drag(TIP, T)
    assert session.answer.reached is Reached.YES
    assert np.abs(at_tip(session, session.answer.q) - T).max() < 1e-4
    checker = collision_checker(session.robot, session.arm.scene)
    assert not checker.collides(session.answer.q)
    assert 'solution found' in session.status


def test_in_the_table_it_is_orange_and_says_what_touches(session, home):
    before = session.arm.q
    session.drag(TIP, moved(home, 0.1, 0, 0.22 - home[2, 3]))
    assert session.answer.reached is Reached.YES
    T = moved(home, 0.1, 0, 0.17 - home[2, 3])
    session.drag(TIP, T)
    answer = session.answer
    assert answer.reached is Reached.TOUCHING and not answer.accepted
    assert 'table' in {contact.second for contact in answer.contacts}
    assert np.abs(at_tip(session, answer.q) - T).max() < 1e-4     # reached, but touching
    session.attempt(session.move_there)
    assert session.status.startswith('not done: the answer was not accepted (GOAL_IN_COLLISION')
    assert session.arm.q is before


def test_out_of_reach_it_is_red_and_as_near_as_may_be(session, home):
    session.drag(TIP, moved(home, 2.0))
    assert session.answer.reached is Reached.NO
    assert 0.5 < session.answer.errors[0].position < 2.1
    session.drag(TIP, home)
    assert session.answer.reached is Reached.YES


def test_out_of_reach_the_ghost_does_not_flicker(session, home):
    session.drag(TIP, moved(home, 0.3))
    before = session.answer.q
    for part in np.linspace(0.3, 1.3, 40):
        session.drag(TIP, moved(home, part))
        assert np.abs(session.answer.q - before).max() < 0.8   # the elbow stretches
        before = session.answer.q
    assert session.answer.reached is Reached.NO


def test_collisions_off_lets_it_into_the_table(session, home):
    session.drag(TIP, moved(home, 0.1, 0, 0.17 - home[2, 3]))
    session.switch_collisions(False)
    assert session.answer.accepted
    assert session.content()['avoid_collisions'] is False
    session.switch_collisions(True)
    assert not session.answer.accepted


def test_stands_at_the_answer_where_the_way_is_free(session, home):
    T = moved(home, 0.1, 0.2, 0)
    session.drag(TIP, T)
    session.move_there()
    assert session.status == 'arrived'
    assert np.abs(at_tip(session, session.arm.q) - T).max() < 1e-4


def test_way_that_is_not_free_is_refused(session, home):
    """A wall stands between here and there: the answer is fine, the way is not."""
    before = session.arm.q
    session.drag(TIP, moved(home, 0.1, 0.45, 0))
    there = session.answer.q
    middle = at_tip(session, (there + session.arm.q) / 2)
    wall = np.eye(4)
    wall[:3, 3] = middle[:3, 3]
    add(session, SceneObject('wall', (ShapeInstance(Box([0.3, 0.01, 0.3])),), wall))
    session.answers = ()
    session.drag(TIP, moved(home, 0.1, 0.45, 0))
    assert session.answer.accepted
    session.attempt(session.move_there)
    assert 'the path is not free' in session.status and "'wall'" in session.status
    assert session.arm.q is before


def test_next_solution_goes_round(session, home):
    session.drag(TIP, moved(home, 0.1, 0.1, 0))
    session.next_solution()
    count = len(session.answers)
    assert count > 2 and session.status == f'solution 1 of {count}'
    seen = [session.answer.q]
    for _ in range(count - 1):
        session.next_solution()
        seen.append(session.answer.q)
    assert len({tuple(np.round(q, 3)) for q in seen}) == count
    T = session.problem.targets[TIP]
    assert all(np.abs(at_tip(session, q) - T).max() < 1e-4 for q in seen)
    session.next_solution()
    assert session.shown == 0


def test_sliders_set_where_the_robot_stands_and_the_seed(session):
    session.place_joint('panda_joint1', 0.7)
    assert session.arm.q[0] == 0.7
    session.back_to_robot()
    T = session.problem.targets[TIP]
    assert np.abs(T - at_tip(session, session.arm.q)).max() == 0
    session.solve()
    assert np.abs(session.answer.q - session.arm.q).max() < 1e-6


def test_object_that_comes_near_makes_the_arm_give_way(session, home):
    session.drag(TIP, home)
    before = session.answer.q
    elbow = Configuration(session.robot, before).transform('panda_link4')
    T = np.eye(4)
    T[:3, 3] = elbow[:3, 3] + [0.0, 0.6, 0]
    add(session, SceneObject('ball', (ShapeInstance(Box([0.1, 0.1, 0.1])),), T))
    assert session.answer.accepted and np.abs(session.answer.q - before).max() < 1e-3
    T[:3, 3] = elbow[:3, 3] + [0, 0.07, 0]
    session.change_scene(session.arm.scene.move('ball', T))
    checker = collision_checker(session.robot, session.arm.scene)
    assert checker.collides(before)
    assert session.answer.accepted and not checker.collides(session.answer.q)
    session.change_scene(session.arm.scene.remove('ball'))
    assert 'ball' not in session.arm.scene.objects


def test_an_object_of_another_client_is_answered(session, home):
    session.drag(TIP, home)
    assert session.answer.accepted
    ball = SceneObject('ball', (ShapeInstance(Sphere(0.05)),), home)
    session.arm.change_scene(session.arm.scene.add(ball))
    session.step()
    assert session.answer.reached is Reached.TOUCHING
    assert 'ball' in {contact.second for contact in session.answer.contacts}


def test_a_refused_question_leaves_no_answer_and_the_next_drag_begins_at_the_last(session, home):
    session.drag(TIP, moved(home, 0.1, 0.2))
    last = session.answer.q
    session.problem.rest = {'constraints': [{'kind': 'no_such'}]}
    with pytest.raises(IKError, match='no_such'):
        session.drag(TIP, moved(home, 0.1, 0.2))
    assert session.answer is None
    session.problem.rest = {}
    session.drag(TIP, moved(home, 0.1, 0.2))
    assert np.abs(session.answer.q - last).max() < 1e-6


def test_largest_change_is_the_one_from_where_the_robot_stands(session, home):
    for part in np.linspace(0, 1, 20):    # each answer near the last one
        session.drag(TIP, moved(home, 0.1 * part, 0.3 * part))
    changes = np.abs(session.answer.q - session.arm.q)
    joint = session.robot.joints[int(changes.argmax())].name
    said = status_html(session)
    assert f'largest joint change {np.degrees(changes.max()):.3g} deg ({joint})' in said
    assert said.count('largest joint change') == 1


def test_a_problem_without_a_word_of_collisions_avoids_them(session):
    session.switch_collisions(False)
    assert session.content()['avoid_collisions'] is False
    session.load_yaml('max_joint_change: 3.0')
    assert session.avoid_collisions
