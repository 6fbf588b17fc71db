"""Panels, sliders and gizmos of the page of `ros2_ik view`, without a browser."""

import threading

import numpy as np
import pytest
from view_sessions import session_of, TIP, TURN_AND_SLIDE, wait_for_jobs

from ros2_ik.core import Configuration, Line, solve_path

pytest.importorskip('viser')


@pytest.fixture
def page(session, page_of):
    return page_of(session)


def drag(page, x, y=0.0):
    T = Configuration(page.session.robot, page.session.arm.q).transform(TIP)
    T[:3, 3] += x, y, 0
    page.worker.post(lambda: page.session.drag(TIP, T), 'drag')
    wait_for_jobs(page)
    return T


def test_sliders_show_degrees_within_the_joint_limits(page):
    wait_for_jobs(page)    # until the page shows the state of the robot
    slider = page.sliders['panda_joint1']
    assert np.allclose(np.radians([slider.min, slider.max]), [-2.8973, 2.8973], atol=1e-6)
    assert slider.value == 0
    page.worker.post(lambda: page.session.set_joint('panda_joint1', -0.7))
    wait_for_jobs(page)
    assert slider.value == pytest.approx(np.degrees(-0.7))
    finger = page.sliders['panda_finger_joint1']
    assert (finger.min, finger.max) == (0.0, 0.04)


PLANE = """constraints:
- {kind: point_to_plane, frame: panda_link4, normal: [0, 0, 1], bounds: {upper: [0.9]}}
"""


def apply(page, text):
    """Apply a problem in YAML, as the form of the constraints does."""
    page.worker.post(lambda: page.session.load_yaml(text))
    wait_for_jobs(page)


def test_constraints_are_applied_and_saved(page):
    assert page.constraints.value == ''
    T = drag(page, 0.05)
    apply(page, PLANE)
    assert page.session.answer.accepted, page.session.status
    assert [each['kind'] for each in page.session.content()['constraints']] == ['point_to_plane']
    assert page.session.targets[TIP][0, 3] == pytest.approx(T[0, 3])   # the gizmo stays
    text = page.session.problem_yaml()
    assert 'point_to_plane' in text and 'joint_state' in text
    apply(page, '')
    assert 'constraints' not in page.session.content()


@pytest.mark.parametrize(('text', 'reason'), [('[1, 2', 'is not YAML'), ('solver: nope', 'nope')])
def test_malformed_constraints_are_refused_and_the_old_ones_stay(page, text, reason):
    apply(page, PLANE)
    before = page.session.content()
    apply(page, text)
    assert page.session.status.startswith('not done:') and reason in page.session.status
    assert page.session.content() == before


def test_loaded_problem_has_gizmos_at_its_own_tips(page):
    apply(page, """
tips: [panda_hand]
targets: [{pose: {position: {x: 0.4, y: 0.1, z: 0.5}, orientation: {x: 1.0, w: 0.0}}}]
""" + PLANE)
    assert page.session.answer.accepted, page.session.status
    assert set(page.targets.shown) == {'panda_hand'}
    assert np.abs(page.targets.shown['panda_hand'].gizmo.position - [0.4, 0.1, 0.5]).max() < 1e-9
    page.worker.post(page.session.back_to_robot)
    wait_for_jobs(page)
    assert set(page.targets.shown) == {'panda_hand', TIP}


def test_stop_precedes_waiting_jobs_and_drops_motions(page):
    done, started, resume = [], threading.Event(), threading.Event()
    page.worker.post(lambda: (started.set(), resume.wait(10)))
    assert started.wait(10)
    for k in range(1000):
        page.worker.post(lambda k=k: done.append(k))
    page.worker.post(lambda: done.append('move'), 'move')
    page.worker.post_stop(lambda: done.append('stop'))
    resume.set()
    wait_for_jobs(page)
    assert done == ['stop', *range(1000)]


def test_exception_of_a_job_is_reported_and_the_page_continues(page, capsys):
    page.worker.post(lambda: 1 / 0)
    wait_for_jobs(page)
    assert 'ZeroDivisionError' in page.session.status
    assert 'ZeroDivisionError' in capsys.readouterr().err
    drag(page, 0.1, 0.1)
    assert page.session.answer.accepted


def test_robot_without_geometry_is_solved_without_collision_checks(page_of, tmp_path):
    urdf = tmp_path / 'bare.urdf'
    urdf.write_text(TURN_AND_SLIDE.format(axis='0 0 1'))
    session = session_of(str(urdf), None, ('tip',))
    page = page_of(session)
    assert any('has no visual elements' in note for note in page.notes)
    assert set(page.sliders) == {'turn', 'slide'}
    T = session.targets['tip'].copy()
    T[:3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    T[:3, 3] = 0, 0.5, 0
    page.worker.post(lambda: session.drag('tip', T))
    wait_for_jobs(page)
    assert session.answer.accepted, session.status
    assert any('not checked' in text for text in session.answer.not_checked)


@pytest.mark.parametrize(('length', 'lines'), [(0.2, {'reached'}), (2.0, {'reached', 'beyond'})])
def test_solved_and_unsolved_parts_of_a_path_are_drawn(page_of, length, lines):
    session = session_of(scene=None)
    robot, start = session.robot, session.arm.q.copy()
    first = Configuration(robot, start).transform(TIP)
    last = first.copy()
    last[1, 3] += length
    path = solve_path(robot, TIP, Line(first, last), seed=robot.to_joints(start))
    assert bool(path) is (len(lines) == 1)
    from ros2_ik.view.page import PathOnPage
    shown = PathOnPage(page_of(session), path, TIP)
    assert set(shown.lines) == lines
    points = np.concatenate([line.points.reshape(-1, 3) for line in shown.lines.values()])
    assert np.abs(points[:, [0, 2]] - first[[0, 2], 3]).max() < 1e-3
    assert np.ptp(points[:, 1]) == pytest.approx(length, abs=6e-3)
