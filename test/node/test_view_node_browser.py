"""`ros2_ik view --node` in a Chromium: what is pressed there moves the robot, or does not."""

import os
from pathlib import Path
import re
import signal
import socket
import subprocess
import sys
import time

from arm_harness import execute, mock_robot, Recorder
from node_harness import eventually, nodes
import numpy as np
import pytest

from ros2_ik.core import Configuration, Robot
from ros2_ik.msg import Status

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / 'test/view'))
from chromium import browser_in, Camera, wait_for  # noqa: E402

pytest.importorskip('viser')
pytestmark = pytest.mark.slow     # beside other tests a Chromium leaves too little to a node
# of few triangles: the processor draws all of it
ROBOT, TIP, JOINTS = 'xarm7', 'link_eef', tuple(f'joint{i}' for i in range(1, 8))
HOME = dict(zip(JOINTS, (0, -0.5, 0, 0.9, 0, 1.4, 0), strict=True))
CONTROLLER = {'controllers': ['xarm7_controller'], 'xarm7_controller.group': 'xarm7',
              'xarm7_controller.kind': 'joint_trajectory'}
POSITION, LOOK_AT = (1.2, -0.9, 0.6), (0.5, 0.25, 0.4)     # of the camera: the panel hides nothing


@pytest.fixture(scope='module')
def browser(tmp_path_factory):     # first: without one nothing is started
    yield from browser_in(tmp_path_factory.mktemp('chromium'), '800,560')


@pytest.fixture(scope='module')
def xarm7():
    return Robot.load(ROBOT)


@pytest.fixture(scope='module')
def arm(browser, client, domain, tmp_path_factory):
    """Give a mock robot and a node that moves it, beside a table."""
    with mock_robot(client, tmp_path_factory.mktemp('mock'), ROBOT) as mock, \
            nodes(domain, tmp_path_factory.mktemp('node')) as start:
        mock.start = lambda: start(scene='table', **CONTROLLER)
        mock.node = mock.start()
        eventually(lambda: execute(client, HOME).status == Status.SUCCESS, 'it moves', 90)
        yield mock


@pytest.fixture(scope='module')
def url(arm, domain):
    """Give the address that the command prints."""
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, ROOT / 'scripts/ros2_ik', 'view', '--node', '/ros2_ik', '--tip', TIP,
         '--port', str(port)], stdout=subprocess.PIPE, text=True,
        env={**os.environ, 'ROS_DOMAIN_ID': str(domain)})
    try:
        line = process.stdout.readline()
        yield re.fullmatch(rf'.+: (http://127.0.0.1:{port}/[\w-]+/)  \(Ctrl.*\n', line)[1]
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope='module')
def page(browser, url):
    tab = browser.open('{}?initialCameraPosition={},{},{}&initialCameraLookAt={},{},{}'.format(
        url, *POSITION, *LOOK_AT))
    says(tab, 'Back to the robot')
    press(tab, 'Scene', lambda: 'shadows' in tab.text(), '[role=tab]')
    press(tab, 'shadows', lambda: not tab.evaluate(
        '[...document.querySelectorAll("label")].find(each => each.innerText.trim() === "shadows")'
        '.closest("div").parentElement.querySelector("input").checked'))
    press(tab, 'Solve', lambda: 'Move there' in tab.text(), '[role=tab]')
    yield tab
    assert tab.faults == []
    tab.close()


@pytest.fixture(autouse=True)
def shots(browser, request):
    """Keep what the page looks like at the end of each test, also of one that fails."""
    yield
    browser.keep(request.node.name)


@pytest.fixture
def record(client, arm):
    record = Recorder(client)
    record.listen()
    yield record
    record.close()


def says(page, *texts):
    """Wait until the page says one of these."""
    wait_for(lambda: any(text in page.text() for text in texts), f'the page says {texts}')


def press(page, label, done, what='button:not([role=tab]), label'):
    """Press a button until that is done: it may move while the page comes up."""
    def pressed():
        page.click(label, what)
        time.sleep(0.5)
        return done()
    wait_for(pressed, f"'{label}' is pressed")


def stands(record):
    before = record.at(JOINTS)
    time.sleep(0.1)
    return np.abs(record.at(JOINTS) - before).max() < 1e-6


def still(record):
    """Wait until the robot stands; gives joint values (7,)."""
    eventually(lambda: stands(record), 'the robot stands')
    return record.at(JOINTS)


def tip_at(robot, joints):
    """Return where the tip is, (4, 4)."""
    return Configuration(robot, robot.to_q(dict(zip(JOINTS, joints, strict=True)))).transform(TIP)


def drag(page, robot, T, axis, way):
    """Drag the gizmo, which is at T, by its arrow along one of its axes, until that is seen."""
    from ros2_ik.view.page import gizmo_size
    from ros2_ik.view.robot_model import extent
    arm = gizmo_size(extent(robot, robot.to_q(HOME))[1])
    camera, direction = Camera.at(POSITION, LOOK_AT), T[:3, axis]
    grip = T[:3, 3] + 0.85 * arm * direction
    press(page, 'Back to the robot', lambda: 'where the robot is' in page.text())

    def answered():
        page.drag(camera.pixel(page, grip), camera.pixel(page, grip + way * direction), steps=5)
        return 'where the robot is' not in page.text()
    wait_for(answered, 'the gizmo is dragged')


def test_robot_goes_where_the_gizmo_was_dragged(page, xarm7, record):
    before = tip_at(xarm7, still(record))
    drag(page, xarm7, before, 0, 0.12)
    says(page, 'SUCCESS')
    press(page, 'Move there', lambda: re.search('on the way|arrived', page.text()))
    says(page, 'arrived')
    T = tip_at(xarm7, still(record))
    way = before[:3, :3].T @ (T[:3, 3] - before[:3, 3])
    assert way[0] > 0.05 and np.abs(way[1:]).max() < 2e-3     # along that arrow alone
    assert np.abs(T[:3, :3] - before[:3, :3]).max() < 2e-3


def test_in_the_table_it_says_what_touches_and_nothing_moves(page, xarm7, record):
    before = still(record)
    T = tip_at(xarm7, before)
    drag(page, xarm7, T, 2, T[2, 3] - 0.15)     # its z points down, the table's top is at 0.2
    says(page, 'GOAL_IN_COLLISION')
    assert re.search(r'contact: \S+ - table', page.text())
    page.click('Move there')
    time.sleep(0.5)
    assert np.abs(still(record) - before).max() < 1e-6


def test_stop_brakes_the_robot_on_its_way(page, client, xarm7, record):
    client.set('velocity_scaling', 0.004)     # there is time to press Stop, however slow the page
    before = still(record)
    drag(page, xarm7, tip_at(xarm7, before), 1, -0.25)     # its y points to the right
    says(page, 'SUCCESS')
    press(page, 'Move there', lambda: np.abs(record.at(JOINTS) - before).max() > 1e-3)
    assert 'arrived' not in page.text()
    press(page, 'Stop', lambda: stands(record))     # on a slow page more than once: then
    says(page, 'PREEMPTED: stopped on the way', 'nothing was moving')    # nothing moves any more
    assert 1e-3 < np.abs(record.at(JOINTS) - before).max()
    assert 'arrived' not in page.text()


def test_node_that_goes_and_comes_back(page, arm):
    arm.node.end()
    says(page, '/ros2_ik is gone')
    arm.node = arm.start()
    says(page, 'the node and joint_states are there again')
    press(page, 'Back to the robot', lambda: 'where the robot is' in page.text())
    press(page, 'Solve', lambda: re.search('SUCCESS.*ms', page.text(), re.DOTALL))
