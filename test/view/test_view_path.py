"""A path on the page: its line, green and red, and the slider along it."""

import asyncio
from types import SimpleNamespace

import numpy as np
import pytest
from view_sessions import session_of

from ros2_ik.core import Configuration, Line, solve_path

pytest.importorskip('viser')
TIP = 'panda_hand_tcp'


@pytest.mark.parametrize(('length', 'lines'), [(0.2, {'reached'}), (2.0, {'reached', 'beyond'})])
def test_line_and_slider(page_of, length, lines):
    session = session_of(scene=None)
    robot, start = session.robot, session.arm.q.copy()
    first = Configuration(robot, start).transform(TIP)
    last = first.copy()
    last[1, 3] += length
    path = solve_path(robot, TIP, Line(first, last), seed=robot.to_joints(start))
    assert bool(path) is (len(lines) == 1)
    page = page_of(session)
    from ros2_ik.view.path_on_page import PathOnPage
    shown = PathOnPage(page, path, TIP)
    assert set(shown.lines) == lines
    points = np.concatenate([line.points.reshape(-1, 3) for line in shown.lines.values()])
    assert np.abs(points[:, [0, 2]] - first[[0, 2], 3]).max() < 1e-3
    assert np.ptp(points[:, 1]) == pytest.approx(length, abs=6e-3)
    shown.slider.value = len(path.q) // 2
    event = SimpleNamespace(client=SimpleNamespace(client_id=1), target=shown.slider,
                            phase='update')
    page.worker.wait()
    for callback in shown.slider._impl.update_cb:
        asyncio.run(callback(event))
    page.worker.wait()
    assert np.allclose(session.arm.q, path.q[len(path.q) // 2])
