"""The page of `ros2_ik view` in a headless Chromium."""

import contextlib

from chromium import Camera, wait_for
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from view_sessions import session_of, wait_for_jobs

from ros2_ik.core import Configuration

pytest.importorskip('viser')


@pytest.fixture(scope='module')
def page(browser):     # `browser` skips the tests before a page is served
    import socket

    from ros2_ik.view.page import Page
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        port = probe.getsockname()[1]
    # a robot of few triangles: rendering in software is slow
    page = Page(session_of('xarm7'), port)
    yield page
    page.stop()


@pytest.fixture(scope='module')
def tab(browser, page):
    tab = browser.open(page.url)
    wait_for(lambda: 'Back to the robot' in tab.text(), 'the panel is shown')
    wait_for(lambda: pixel(page, tab, np.zeros(3)) is not None, 'the camera is received')
    tab.evaluate("document.querySelector('[aria-label=Dismiss], button.mantine-Notification-closeB"
                 "utton')?.click()")
    yield tab
    tab.close()


@pytest.fixture(autouse=True)
def at_robot(page, screenshots):
    """Reset each target to the pose of the robot."""
    page.worker.post(page.session.back_to_robot)
    wait_for_jobs(page)


def pixel(page, tab, point):
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


def drag_arrow(page, tab, axis, distance):
    """Drag an arrow of the gizmo by a distance [m]; return the former pose (4, 4)."""
    T = target_of(page)
    direction = T[:3, axis]
    handle = T[:3, 3] + 0.85 * page.targets.size * direction

    def dragged():
        tab.drag(pixel(page, tab, handle), pixel(page, tab, handle + distance * direction))
        wait_for_jobs(page)
        return np.abs(target_of(page) - T).max() > 0.2 * abs(distance)
    wait_for(dragged, 'the gizmo is dragged')

    def is_at_rest():    # messages of the browser may still arrive
        before = target_of(page)
        tab.draw(8)
        wait_for_jobs(page)
        return target_of(page) is before
    wait_for(is_at_rest, 'the gizmo rests')
    return T


def test_page_loads_only_from_its_server_and_without_exceptions(page, tab):
    foreign = [url for url in tab.requests if not url.startswith(
        ('data:', 'blob:', page.url, page.url.replace('http', 'ws')))]
    assert foreign == [] and tab.requests
    assert tab.exceptions == []
    for label in ('Solve', 'Next solution', 'Move there', 'Stop', 'Joints', 'Constraints'):
        assert label in tab.text()


def test_dragged_gizmo_is_solved_and_the_robot_moves_to_its_pose(page, tab):
    before = page.session.arm.q
    T = drag_arrow(page, tab, 0, 0.1)
    target, answer = target_of(page), page.session.answer
    displacement = target[:3, 3] - T[:3, 3]
    assert abs(displacement @ T[:3, 0]) > 0.95 * np.linalg.norm(displacement)
    assert answer.accepted
    assert np.abs(answer.q - before).max() > 0.01
    assert np.abs(tip_at(page, answer.q) - target).max() < 1e-4
    wait_for(lambda: 'SUCCESS' in tab.text(), 'the page shows the status')
    status = page.session.status

    def clicked():    # buttons move while the page loads
        tab.click('Move there')
        tab.draw(4)
        wait_for_jobs(page)
        return page.session.status != status
    wait_for(clicked, "'Move there' is clicked")
    wait_for(lambda: page.session.status == 'arrived', 'the robot arrives')
    assert np.abs(tip_at(page, page.session.arm.q) - target).max() < 1e-4
    wait_for(lambda: 'arrived' in tab.text(), 'the page shows the status')


def test_typed_position_sets_the_target(page, tab):
    x = float(np.round(target_of(page)[0, 3], 4))    # rounded as on the page
    tab.evaluate(f"""(() => {{
        const field = [...document.querySelectorAll('input')].find(
            each => parseFloat(each.value) === {x!r});
        field.focus(); field.select(); }})()""")
    tab.call('Input.insertText', text='0.4')
    wait_for(lambda: target_of(page)[0, 3] == 0.4, 'the target is set')
    wait_for_jobs(page)
    assert page.session.answer.accepted
    assert tab.exceptions == []
