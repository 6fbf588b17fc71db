"""The page in a Chromium: it loads from here alone, gizmos are dragged, two see the same."""

import time

from chromium import Camera, wait_for
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from view_sessions import session_of

from ros2_ik.core import Configuration
from ros2_ik.view.robot_model import extent

pytest.importorskip('viser')


@pytest.fixture(scope='module')
def page(browser):     # the browser first: without one nothing is served
    import socket

    from ros2_ik.view.access import Access
    from ros2_ik.view.page import Page
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        port = probe.getsockname()[1]
    # of few triangles, without shadows: the processor draws all of it
    page = Page(session_of('xarm7'), Access('127.0.0.1'), port)
    page.set_shadows(False)
    yield page
    page.stop()


@pytest.fixture(scope='module')
def tab(browser, page):
    tab = browser.open(page.url)
    wait_for(lambda: 'Back to the robot' in tab.text(), 'the panel is there')
    wait_for(lambda: pixels(page, tab, np.zeros(3)) is not None, 'a camera is there')
    tab.evaluate("document.querySelector('[aria-label=Dismiss], button.mantine-Notification-closeB"
                 "utton')?.click()")
    yield tab
    tab.close()


@pytest.fixture(autouse=True)
def at_robot(page, shots):
    """Begin with the gizmo at the robot's tip."""
    page.worker.post(page.session.back_to_robot)
    page.worker.wait()


def pixels(page, tab, point):
    """Return where a point (3,) is on the page, None before the page has told of its camera."""
    for client in page.server.get_clients().values():
        if client.camera._state.update_timestamp > 0:
            w, *v = client.camera.wxyz     # camera to world
            return Camera(client.camera.position, Rotation.from_quat([*v, w]).as_matrix(),
                          client.camera.fov).pixel(tab, point)
    return None


def target_of(page):
    """Return the pose of the target, (4, 4)."""
    return page.session.problem.targets[page.session.tips[0]]


def tip_at(page, q):
    """Return where the tip is at q, (4, 4)."""
    return Configuration(page.session.robot, q).transform(page.session.tips[0])


def drag_arrow(page, tab, axis, way):
    """Drag the gizmo's arrow along one of its axes by a way [m], as a hand would."""
    from ros2_ik.view.page import gizmo_size
    size = gizmo_size(extent(page.session.robot, page.session.arm.q)[1])
    T = target_of(page)
    direction = T[:3, axis]
    grip = T[:3, 3] + 0.85 * size * direction

    def dragged():
        tab.drag(pixels(page, tab, grip), pixels(page, tab, grip + way * direction))
        page.worker.wait()
        return np.abs(target_of(page) - T).max() > 0.2 * abs(way)
    wait_for(dragged, 'the gizmo is dragged')

    def rests():    # what the browser tells may be under way still
        before = target_of(page)
        time.sleep(0.7)
        page.worker.wait()
        return target_of(page) is before
    wait_for(rests, 'the gizmo rests')
    return T


def click(page, tab, label, done):
    """Click a button until that is done: it may move while the page comes up."""
    def clicked():
        tab.click(label)
        time.sleep(0.3)
        page.worker.wait()
        return done()
    wait_for(clicked, f"'{label}' is clicked")


def test_loads_from_this_server_alone_and_without_faults(page, tab):
    foreign = [url for url in tab.requests if not url.startswith(
        ('data:', 'blob:', page.url, page.url.replace('http', 'ws')))]
    assert foreign == [] and tab.requests
    assert tab.faults == []
    for label in ('Solve', 'Next solution', 'Move there', 'Stop', 'Joints', 'Constraints'):
        assert label in tab.text()


def test_dragged_gizmo_is_answered_at_once(page, tab):
    before = page.session.arm.q
    T = drag_arrow(page, tab, 0, 0.1)
    target, answer = target_of(page), page.session.answer
    moved = target[:3, 3] - T[:3, 3]
    assert abs(moved @ T[:3, 0]) > 0.95 * np.linalg.norm(moved)     # along that axis alone
    assert answer.accepted
    assert np.abs(answer.q - before).max() > 0.01
    assert np.abs(tip_at(page, answer.q) - target).max() < 1e-4
    poses = page._robot._model.poses(answer.q)
    assert all(np.abs(frame.position - poses[link].translation).max() < 1e-6
               for link, frame in page._ghost.frames.items())
    wait_for(lambda: 'SUCCESS' in tab.text(), 'the page says so')


def test_buttons_move_the_robot_there(page, tab):
    drag_arrow(page, tab, 0, -0.08)
    status = page.session.status
    target = target_of(page)
    click(page, tab, 'Move there', lambda: page.session.status != status)
    wait_for(lambda: page.session.status == 'arrived', 'it arrives')
    assert np.abs(tip_at(page, page.session.arm.q) - target).max() < 1e-4
    wait_for(lambda: 'arrived' in tab.text(), 'the page says so')


def test_typed_target_is_set(page, tab):
    tip, = page.session.tips
    x = page._pose.fields[tip].xyz.value[0]
    tab.evaluate(f"""(() => {{
        const field = [...document.querySelectorAll('input')].find(
            each => parseFloat(each.value) === {x!r});
        field.focus(); field.select(); }})()""")
    tab.call('Input.insertText', text='0.4')
    wait_for(lambda: target_of(page)[0, 3] == 0.4, 'the target is set')
    page.worker.wait()
    assert page.session.answer.accepted
    assert tab.faults == []


@pytest.mark.slow
def test_two_pages_see_and_do_the_same(browser, page, tab):
    drag_arrow(page, tab, 0, 0.06)
    other = browser.open(page.url)
    try:
        wait_for(lambda: 'SUCCESS' in other.text(), 'the other page has the answer')
        wait_for(lambda: len(page.server.get_clients()) == 2, 'two are connected')
        click(page, other, 'Back to the robot', lambda: page.session.answer is None)
        for each in tab, other:
            wait_for(lambda each=each: 'the targets are where the robot is' in each.text(),
                     'both pages say so')
        assert other.faults == []
    finally:
        other.close()
