"""Sessions of `ros2_ik view`, without a page."""

from pathlib import Path

import numpy as np
import pytest
from view_sessions import session_of, TIP
import yaml

from ros2_ik.cli.goal_file import goal_of, read_content
from ros2_ik.cli.view import read_problem_file
from ros2_ik.core import Box, collision_checker, Configuration, IKError, SceneObject
from ros2_ik.core.internals import ShapeInstance
from ros2_ik.view.arm import AnswerQuality
from ros2_ik.view.worker import Worker


def change_scene(session, scene):
    """Change the scene, as another client of a node does."""
    session.arm.scene = scene
    session.step()


def add_object(session, item):
    change_scene(session, session.arm.scene.add(item))


def tip_pose(session, q):
    return Configuration(session.robot, q).transform(TIP)


def shifted(T, x=0.0, y=0.0, z=0.0):
    T = T.copy()
    T[:3, 3] += x, y, z
    return T


@pytest.fixture
def home(session):
    return session.targets[TIP].copy()


def test_dragged_target_is_solved_without_collision_and_executed(session, home):
    T = shifted(home, 0.05, 0.1, -0.1)
    session.drag(TIP, T)
    assert session.answer.quality is AnswerQuality.SOLVED
    assert np.abs(tip_pose(session, session.answer.q) - T).max() < 1e-4
    checker = collision_checker(session.robot, session.arm.scene)
    assert not checker.collides(session.answer.q)
    assert 'solution found' in session.status
    session.move_there()
    assert session.status == 'arrived'
    assert np.abs(tip_pose(session, session.arm.q) - T).max() < 1e-4


def test_solution_in_contact_with_the_table_is_shown_but_not_executed(session, home):
    before = session.arm.q
    session.drag(TIP, shifted(home, 0.1, 0, 0.22 - home[2, 3]))
    assert session.answer.quality is AnswerQuality.SOLVED
    T = shifted(home, 0.1, 0, 0.17 - home[2, 3])
    session.drag(TIP, T)
    answer = session.answer
    assert answer.quality is AnswerQuality.IN_CONTACT and not answer.accepted
    assert 'table' in {contact.second for contact in answer.contacts}
    assert np.abs(tip_pose(session, answer.q) - T).max() < 1e-4     # reached, but touching
    session.attempt(session.move_there)
    assert session.status.startswith('not done: the answer was not accepted (GOAL_IN_COLLISION')
    assert session.arm.q is before


def test_target_out_of_reach_is_answered_by_the_best_attempt(session, home):
    session.drag(TIP, shifted(home, 2.0))
    assert session.answer.quality is AnswerQuality.FAILED
    assert 0.5 < session.answer.errors[0].position < 2.1
    session.drag(TIP, home)
    assert session.answer.quality is AnswerQuality.SOLVED


def test_motion_through_an_obstacle_is_refused(session, home):
    before = session.arm.q
    session.drag(TIP, shifted(home, 0.1, 0.45, 0))
    there = session.answer.q
    middle = tip_pose(session, (there + session.arm.q) / 2)
    wall = np.eye(4)
    wall[:3, 3] = middle[:3, 3]
    add_object(session, SceneObject('wall', (ShapeInstance(Box([0.3, 0.01, 0.3])),), wall))
    session.answers = ()
    session.drag(TIP, shifted(home, 0.1, 0.45, 0))
    assert session.answer.accepted
    session.attempt(session.move_there)
    assert 'the path is not free' in session.status and "'wall'" in session.status
    assert session.arm.q is before


def test_next_solution_shows_all_solutions_in_turn(session, home):
    session.drag(TIP, shifted(home, 0.1, 0.1, 0))
    session.next_solution()
    count = len(session.answers)
    assert count > 2 and session.status == f'solution 1 of {count}'
    seen = [session.answer.q]
    for _ in range(count - 1):
        session.next_solution()
        seen.append(session.answer.q)
    assert len({tuple(np.round(q, 3)) for q in seen}) == count
    T = session.targets[TIP]
    assert all(np.abs(tip_pose(session, q) - T).max() < 1e-4 for q in seen)
    session.next_solution()
    assert session.shown == 0


def test_joint_set_in_the_session_is_the_seed_of_the_next_solve(session):
    session.set_joint('panda_joint1', 0.7)
    assert session.arm.q[0] == 0.7
    session.back_to_robot()
    T = session.targets[TIP]
    assert np.abs(T - tip_pose(session, session.arm.q)).max() == 0
    session.solve()
    assert np.abs(session.answer.q - session.arm.q).max() < 1e-6


def test_object_moved_into_the_solution_by_another_client_is_avoided(session, home):
    session.drag(TIP, home)
    before = session.answer.q
    elbow = Configuration(session.robot, before).transform('panda_link4')
    T = np.eye(4)
    T[:3, 3] = elbow[:3, 3] + [0.0, 0.6, 0]
    add_object(session, SceneObject('ball', (ShapeInstance(Box([0.1, 0.1, 0.1])),), T))
    assert session.answer.accepted and np.abs(session.answer.q - before).max() < 1e-3
    T[:3, 3] = elbow[:3, 3] + [0, 0.07, 0]
    change_scene(session, session.arm.scene.move('ball', T))
    checker = collision_checker(session.robot, session.arm.scene)
    assert checker.collides(before)
    assert session.answer.accepted and not checker.collides(session.answer.q)


def test_loaded_problem_avoids_collisions_by_default(session):
    session.switch_collisions(False)
    assert session.content()['avoid_collisions'] is False
    session.load_yaml('max_joint_change: 3.0')
    assert session.avoid_collisions


# -- problem files -------------------------------------------------------------------------

EXAMPLES = Path(__file__).parents[2] / 'examples/ros'


@pytest.mark.parametrize(('name', 'robot', 'scene'), [
    ('upright_tray', 'panda', None), ('clear_elbow', 'panda', 'shelf'),
    ('two_arms', 'baxter', None)])
def test_saved_problem_equals_the_loaded_one(name, robot, scene):
    session = session_of(robot, scene)
    content = read_content(str(EXAMPLES / f'{name}.yaml'))
    session.load_problem(content)
    saved = yaml.safe_load(session.problem_yaml())
    assert goal_of(saved).constraints == goal_of(content).constraints
    assert goal_of(saved).costs == goal_of(content).costs
    one, other = (read_problem_file(each, session.arm.scene, session.arm.q)[0]
                  for each in (content, saved))
    assert one.options.select == other.options.select
    assert one.options.timeout == other.options.timeout
    assert [t.tip for t in one.targets] == [t.tip for t in other.targets]
    assert all(np.abs(a.transform - b.transform).max() < 1e-9
               for a, b in zip(one.targets, other.targets, strict=True))
    session.solve()
    assert session.answer.accepted, session.status


@pytest.mark.parametrize(('content', 'message'), [
    ({'constraints': [{'kind': 'no_such'}]}, 'no_such'),
    ({'execute': True, 'tips': [TIP], 'targets': [{}]}, 'execute'),
    ({}, 'there is no target'),
    ({'tips': [TIP], 'targets': [{'header': {'frame_id': 'panda_link3'},
                                  'pose': {'orientation': {'w': 1}}}]},
     "is in frame 'panda_link3'")])
def test_malformed_problem_is_refused_and_the_old_one_stays(session, content, message):
    before = session.content()
    with pytest.raises(IKError, match=message):
        session.load_problem(content)
    assert session.content() == before


# -- waiting jobs ---------------------------------------------------------------------------

def test_newest_job_of_a_kind_replaces_the_waiting_one(session):
    worker, done = Worker(session, lambda: None), []
    for name, kind in (('drag 1', 'drag'), ('click 1', None), ('slide', 'joint'),
                       ('drag 2', 'drag'), ('click 2', None), ('drag 3', 'drag')):
        worker.post(lambda name=name: done.append(name), kind)
    worker.post(worker.end)
    worker.run()
    assert done == ['drag 3', 'click 1', 'slide', 'click 2']
