"""The page of `ros2_ik view` in a headless Chromium."""

import contextlib

from chromium import Camera, wait_for
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from view_sessions import session_of, settle

from ros2_ik.core import Configuration

pytest.importorskip('viser')


@pytest.fixture(scope='module')
def page(browser):     # the browser first: without one nothing is served
    import socket

    from ros2_ik.view.page import Page
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        port = probe.getsockname()[1]
    # of few triangles: the processor draws all of it
    page = Page(session_of('xarm7'), port)
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
    """Reset each target to where the robot is."""
    page.worker.post(page.session.back_to_robot)
    settle(page)


def pixels(page, tab, point):
    """Return the pixel of a point (3,), None before the page has sent its camera."""
    for client in page.server.get_clients().values():
        with contextlib.suppress(AssertionError):    # viser: no camera has been received
            w, *v = client.camera.wxyz     # camera to world
            return Camera(client.camera.position, Rotation.from_quat([*v, w]).as_matrix(),
                          client.camera.fov).pixel(tab, point)
    return None


def target_of(page):
    """Return the pose of the target, (4, 4)."""
    return page.session.targets[page.session.tips[0]]


def tip_at(page, q):
    """Return the pose of the tip at q, (4, 4)."""
    return Configuration(page.session.robot, q).transform(page.session.tips[0])


def drag_arrow(page, tab, axis, way):
    """Drag an arrow of the gizmo by a distance [m]; return the pose before, (4, 4)."""
    T = target_of(page)
    direction = T[:3, axis]
    grip = T[:3, 3] + 0.85 * page.targets.size * direction

    def dragged():
        tab.drag(pixels(page, tab, grip), pixels(page, tab, grip + way * direction))
        settle(page)
        return np.abs(target_of(page) - T).max() > 0.2 * abs(way)
    wait_for(dragged, 'the gizmo is dragged')

    def rests():    # what the browser tells may be under way still
        before = target_of(page)
        tab.draw(8)
        settle(page)
        return target_of(page) is before
    wait_for(rests, 'the gizmo rests')
    return T


def click(page, tab, label, done):
    """Click a button until `done` returns true: it may move while the page loads."""
    def clicked():
        tab.click(label)
        tab.draw(4)
        settle(page)
        return done()
    wait_for(clicked, f"'{label}' is clicked")


def test_page_loads_from_this_server_alone_without_errors(page, tab):
    foreign = [url for url in tab.requests if not url.startswith(
        ('data:', 'blob:', page.url, page.url.replace('http', 'ws')))]
    assert foreign == [] and tab.requests
    assert tab.faults == []
    for label in ('Solve', 'Next solution', 'Move there', 'Stop', 'Joints', 'Constraints'):
        assert label in tab.text()


def test_dragged_gizmo_is_answered_at_its_pose_and_the_robot_moves_there(page, tab):
    before = page.session.arm.q
    T = drag_arrow(page, tab, 0, 0.1)
    target, answer = target_of(page), page.session.answer
    moved = target[:3, 3] - T[:3, 3]
    assert abs(moved @ T[:3, 0]) > 0.95 * np.linalg.norm(moved)     # along that axis alone
    assert answer.accepted
    assert np.abs(answer.q - before).max() > 0.01
    assert np.abs(tip_at(page, answer.q) - target).max() < 1e-4
    wait_for(lambda: 'SUCCESS' in tab.text(), 'the page says so')
    status = page.session.status
    click(page, tab, 'Move there', lambda: page.session.status != status)
    wait_for(lambda: page.session.status == 'arrived', 'it arrives')
    assert np.abs(tip_at(page, page.session.arm.q) - target).max() < 1e-4
    wait_for(lambda: 'arrived' in tab.text(), 'the page says so')


def test_typed_position_is_the_new_target(page, tab):
    x = float(np.round(target_of(page)[0, 3], 4))    # as the page shows it
    tab.evaluate(f"""(() => {{
        const field = [...document.querySelectorAll('input')].find(
            each => parseFloat(each.value) === {x!r});
        field.focus(); field.select(); }})()""")
    tab.call('Input.insertText', text='0.4')
    wait_for(lambda: target_of(page)[0, 3] == 0.4, 'the target is set')
    settle(page)
    assert page.session.answer.accepted
    assert tab.faults == []
