"""The page without a browser: what it sends, and its panels."""

import asyncio
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from view_sessions import session_of, TIP, TURN_AND_SLIDE

from ros2_ik.core import Box, Configuration, load_scene, save_scene, SceneObject, Sphere

pytest.importorskip('viser')
GREEN, ORANGE, RED = (46, 184, 82), (245, 148, 26), (224, 51, 51)


@pytest.fixture
def page(session, page_of):
    return page_of(session)


def drag(page, x=0.0, y=0.0, z=None):
    T = Configuration(page.session.robot, page.session.arm.q).transform(TIP)
    T[:3, 3] += x, y, 0
    T[2, 3] = T[2, 3] if z is None else z
    page.worker.post(lambda: page.session.drag(TIP, T), 'drag')
    page.worker.wait()
    return T


def happen(page, callbacks, target, *phases):
    """Have happened what a browser tells of something on the page."""
    for phase in phases or ('update',):
        event = SimpleNamespace(client=SimpleNamespace(client_id=1), target=target, phase=phase)
        for callback in callbacks:
            asyncio.run(callback(event))
    page.worker.wait()


def test_ghost_has_the_colour_of_what_was_found(page):
    ghost = page._ghost
    assert not ghost.visible
    for target, color in (({'x': 0.1, 'z': 0.4}, GREEN), ({'x': 0.1, 'z': 0.17}, ORANGE),
                          ({'x': 2.0}, RED), ({'x': 0.1, 'z': 0.35}, GREEN)):
        drag(page, **target)
        assert ghost.visible
        assert {tuple(handle.color) for handle in ghost.surfaces} == {color}
    poses = page._robot._model.poses(page.session.answer.q)
    assert all(np.abs(frame.position - poses[link].translation).max() < 1e-6
               for link, frame in ghost.frames.items())
    page.worker.post(page.session.back_to_robot)
    page.worker.wait()
    assert not ghost.visible


def test_contacts_are_points_with_names_and_what_is_touched_is_glassy(page):
    drag(page, 0.1, 0, 0.17)
    assert [label.text.split(':')[0] for label in page._contacts.labels] == [
        f'{one.first} - {one.second}' for one in page.session.answer.contacts[:8]]
    assert all(handle.opacity < 1 for handle in page._scene._shown['table'].handles)
    drag(page, 0.1, 0, 0.4)
    assert page._contacts.labels == []
    assert all(handle.opacity is None for handle in page._scene._shown['table'].handles)


def typed(page, part, values):
    """Type numbers into a field of the target; gives the target then."""
    handle = getattr(page._pose.fields[TIP], part)
    handle._impl.value = values
    happen(page, handle._impl.update_cb, handle)
    return page.session.problem.targets[TIP]


def test_target_in_numbers_is_set_and_stays_as_typed(page):
    before = Configuration(page.session.robot, page.session.arm.q).transform(TIP)
    T, fields = typed(page, 'xyz', (0.4, 0.1, 0.35)), page._pose.fields[TIP]
    assert page.session.answer.accepted
    assert np.array_equal(T[:3, 3], (0.4, 0.1, 0.35))
    assert np.array_equal(page.gizmos.handles[TIP].position, T[:3, 3])
    assert np.array_equal(T[:3, :3], before[:3, :3])
    for angles in (0, 90, 20), (180, 95, 0):
        T = typed(page, 'rpy', angles)
        expected = Rotation.from_euler('xyz', angles, degrees=True).as_matrix()
        assert np.abs(T[:3, :3] - expected).max() < 1e-9
        assert tuple(fields.rpy.value) == angles and tuple(fields.xyz.value) == (0.4, 0.1, 0.35)
    drag(page, 0.1, 0.05, 0.4)
    assert tuple(fields.xyz.value) == (0.4069, 0.05, 0.4)


def test_sliders_are_in_degrees_within_limits(page):
    page.worker.wait()    # until it has shown where the robot stands
    robot, slider = page.session.robot, page.sliders['panda_joint1']
    assert (slider.min, slider.max, slider.value) == (-166.0, 166.0, 0.0)
    slider._impl.value = slider.max
    happen(page, slider._impl.update_cb, slider)
    assert page.session.arm.q[0] == np.radians(166.0) <= robot.upper[0]
    page.worker.post(lambda: page.session.place_joint('panda_joint1', -0.7))
    page.worker.wait()
    assert slider.value == -40.1
    finger = page.sliders['panda_finger_joint1']
    assert (finger.min, finger.max) == (0.0, 0.04)


PLANE = """constraints:
- {kind: point_to_plane, frame: panda_link4, normal: [0, 0, 1], bounds: {upper: [0.9]}}
"""


def apply(page, form, text):
    """Press Apply with a text in the form of the problem or the scene."""
    form.text.value = text
    page.worker.post(form.apply)
    page.worker.wait()


def saved(page, form):
    """Return what Save as YAML sends to the browser."""
    files = []
    button = next(each for each in page.server.gui._gui_input_handle_from_uuid.values()
                  if getattr(each, 'label', '') == 'Save as YAML'
                  and each._impl.parent_container_id == form.text._impl.parent_container_id)
    client = SimpleNamespace(client_id=1, send_file_download=(
        lambda name, content, save_immediately: files.append((name, content.decode()))))
    for callback in button._impl.update_cb:
        asyncio.run(callback(SimpleNamespace(client=client, target=button)))
    page.worker.wait()
    return files[0]


def test_constraints_are_applied_saved_and_shown(page):
    assert page.constraints.text.value == ''
    T = drag(page, 0.05)
    apply(page, page.constraints, PLANE)
    assert page.session.answer.accepted, page.session.status
    assert [one['kind'] for one in page.session.content()['constraints']] == ['point_to_plane']
    assert page.session.problem.targets[TIP][0, 3] == pytest.approx(T[0, 3])   # the gizmo stays
    name, text = saved(page, page.constraints)
    assert name == 'problem.yaml' and 'point_to_plane' in text and 'joint_state' in text
    apply(page, page.constraints, '')
    assert 'constraints' not in page.session.content()
    page.worker.post(lambda: page.constraints.load(text.encode()))
    page.worker.wait()
    assert 'point_to_plane' in page.constraints.text.value


@pytest.mark.parametrize(('text', 'reason'), [
    ('[1, 2', 'is not YAML'), ('solver: nope', 'nope')])
def test_constraints_that_make_no_sense_are_refused(page, text, reason):
    apply(page, page.constraints, PLANE)
    before = page.session.content()
    apply(page, page.constraints, text)
    assert page.session.status.startswith('not done:') and reason in page.session.status
    assert page.session.content() == before and page.constraints.text.value == text


def test_loaded_problem_brings_its_tips(page):
    text = """
tips: [panda_hand]
targets: [{pose: {position: {x: 0.4, y: 0.1, z: 0.5}, orientation: {x: 1.0, w: 0.0}}}]
""" + PLANE
    page.worker.post(lambda: page.constraints.load(text.encode()))
    page.worker.wait()
    assert page.session.answer.accepted, page.session.status
    assert set(page.gizmos.handles) == set(page._pose.fields) == {'panda_hand'}
    assert np.abs(page.gizmos.handles['panda_hand'].position - [0.4, 0.1, 0.5]).max() < 1e-9
    page.worker.post(page.session.back_to_robot)
    page.worker.wait()
    assert set(page.gizmos.handles) == set(page._pose.fields) == {'panda_hand', TIP}


def add(page, name, shape):
    T = np.eye(4)
    T[:3, 3] = 0.5, 0.0, 0.5
    page.worker.post(lambda: page.session.change_scene(page.session.arm.scene.add(
        SceneObject(name, [shape], T))))


def test_objects_are_added_shown_and_removed(page):
    add(page, 'part/1', Box([0.1, 0.1, 0.1]))
    add(page, 'ball', Sphere(0.05))
    page.worker.wait()
    assert set(page._scene._shown) == {'table', 'part/1', 'ball'}
    T = np.eye(4)
    T[:3, 3] = 0.3, 0.4, 0.5
    page.worker.post(lambda: page.session.change_scene(
        page.session.arm.scene.move('ball', T).remove('part/1')))
    page.worker.wait()
    assert np.abs(page._scene._shown['ball'].frame.position - T[:3, 3]).max() < 1e-9
    assert 'part/1' not in page._scene._shown


def test_scene_is_loaded_as_text_never_as_a_file(page):
    page.worker.post(lambda: page.scene.load(b'/etc/passwd'))
    page.worker.wait()
    assert page.session.status.startswith('not done:') and 'root:' not in page.session.status
    text = save_scene(load_scene('shelf', page.session.robot))
    page.worker.post(lambda: page.scene.load(text.encode()))
    page.worker.wait()
    assert 'shelf' in page._scene._shown and 'table' not in page._scene._shown
    assert saved(page, page.scene) == ('scene.yaml', text)


def test_scene_is_edited_as_text_unless_it_has_changed_since(page):
    page.worker.post(page.scene.show)
    page.worker.wait()
    before = page.scene.text.value
    assert 'id: table' in before
    text = before.replace('id: table', 'id: bench')
    apply(page, page.scene, text)
    assert set(page._scene._shown) == {'bench'}
    add(page, 'ball', Sphere(0.05))
    page.worker.wait()
    apply(page, page.scene, before)
    assert page.session.status.startswith('not done: something has changed since this text')
    assert set(page._scene._shown) == {'bench', 'ball'}
    page.worker.post(page.scene.show)
    page.worker.wait()
    apply(page, page.scene, page.scene.text.value.replace('id: ball', 'id: globe'))
    assert set(page._scene._shown) == {'bench', 'globe'}


@pytest.mark.parametrize(('wxyz', 'position'), [
    ((0, 0, 0, 0), (0.4, 0, 0.4)), ((1, 0, 0, 0), (np.nan, 0, 0.4)),
    ((np.nan, 0, 0, 1), (0.4, 0, 0.4))])
def test_a_gizmo_at_no_pose_is_put_back(page, capsys, wxyz, position):
    before, gizmo = page.session.problem.targets[TIP], page.gizmos.handles[TIP]
    gizmo._impl.wxyz, gizmo._impl.position = np.array(wxyz, float), np.array(position, float)
    happen(page, gizmo._impl_aux.update_cb, gizmo)
    assert 'not done: a pose has' in page.session.status
    assert page.session.problem.targets[TIP] is before
    assert np.abs(page.gizmos.handles[TIP].position - before[:3, 3]).max() < 1e-9
    assert capsys.readouterr().err == ''


def test_a_switch_is_heard_whatever_is_shown_before_its_turn(page):
    """The page shows what counts, so also that the switch is off as long as its job waits."""
    begun, go_on = threading.Event(), threading.Event()
    page.worker.post(lambda: (begun.set(), go_on.wait(10)))
    assert begun.wait(10)
    switch = page._avoid
    switch._impl.value = False
    threading.Timer(0.2, lambda: (page._show(), go_on.set())).start()
    happen(page, switch._impl.update_cb, switch)
    assert not page.session.avoid_collisions and not switch.value


def test_stop_comes_before_all_that_waits(page):
    """What would move the robot, and was pressed before, is not done any more."""
    done, begun, go_on = [], threading.Event(), threading.Event()
    page.worker.post(lambda: (begun.set(), go_on.wait(10)))
    assert begun.wait(10)
    for k in range(1000):
        page.worker.post(lambda k=k: done.append(k))
    page.worker.post(lambda: done.append('move'), 'move')
    page.worker.post_stop(lambda: done.append('stop'))
    go_on.set()
    page.worker.wait()
    assert done == ['stop', *range(1000)]


def test_defect_is_told_and_the_page_lives_on(page, capsys):
    page.worker.post(lambda: 1 / 0)
    page.worker.wait()
    assert 'ZeroDivisionError' in page.session.status
    assert 'ZeroDivisionError' in capsys.readouterr().err
    drag(page, 0.1, 0.1)
    assert page.session.answer.accepted


def test_robot_without_geometry_and_with_a_free_base(page_of, tmp_path):
    urdf = tmp_path / 'bare.urdf'
    urdf.write_text(TURN_AND_SLIDE.format(axis='0 0 1'))
    session = session_of(str(urdf), None, ('tip',))
    page = page_of(session)
    assert any('has no visual elements' in note for note in page.notes)
    assert set(page.sliders) == {'turn', 'slide'}
    T = session.problem.targets['tip'].copy()
    T[:3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    T[:3, 3] = 0, 0.5, 0
    page.worker.post(lambda: session.drag('tip', T))
    page.worker.wait()
    assert session.answer.accepted, session.status
    assert any('not checked' in text for text in session.answer.not_checked)
