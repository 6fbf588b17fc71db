"""The command and joint values that a page offers to copy."""

from html import unescape
import json
import re
import shlex

import numpy as np
import pytest
from view_sessions import TIP

from ros2_ik.cli import main
from ros2_ik.core import Box, save_scene, SceneObject
from ros2_ik.core.internals import written_kinds
from ros2_ik.view.status import copy_html, kinds_html

PLANE = {'kind': 'point_to_plane', 'frame': 'panda_link4', 'normal': [0, 0, 1],
         'bounds': {'upper': [0.6]}}


@pytest.fixture
def solve(capsys, tmp_path, monkeypatch):
    """Return a function that runs the copied command with the saved problem and scene."""
    monkeypatch.chdir(tmp_path)

    def solve(session):
        (tmp_path / 'problem.yaml').write_text(session.problem_yaml())
        (tmp_path / 'scene.yaml').write_text(save_scene(session.arm.scene))
        _, command = re.findall('<code>(.*?)</code>', copy_html(session))
        program, *words = shlex.split(unescape(command))
        assert program == 'ros2_ik'
        main([*words, '--json'])
        return json.loads(capsys.readouterr().out)
    return solve


def moved(session, tip, *way):
    T = session.problem.targets[tip].copy()
    T[:3, 3] += way
    return T


def assert_same(session, found):
    expected = session.robot.to_joints(session.answer.q)
    assert found['success']
    assert max(np.abs(found['joints'][name] - expected[name]).max()
               for name in found['joints']) < 2e-4


def test_copied_command_solves_to_each_shown_solution(session, solve):
    session.drag(TIP, moved(session, TIP, 0.1, 0.1, -0.1))
    session.next_solution()
    for _ in range(2):
        session.next_solution()
        joints, _ = re.findall('<code>(.*?)</code>', copy_html(session))
        q = session.robot.to_q(json.loads(unescape(joints)))
        assert np.abs(q - session.answer.q).max() < 1e-5
        assert_same(session, solve(session))


def test_copied_command_has_the_constraints_and_objects_of_the_page(session, solve):
    session.load_problem({**session.content(), 'constraints': [PLANE]})
    session.drag(TIP, moved(session, TIP, 0.1, 0.2, 0))
    session.change_scene(session.arm.scene.add(
        SceneObject('part', [Box([0.1, 0.1, 0.1])], np.eye(4))))
    assert_same(session, solve(session))


def test_each_kind_of_constraint_is_described():
    text = unescape(kinds_html())
    for kind in written_kinds():
        assert re.search(f'<b>{kind}</b>: [A-Z][^<]{{20,}}', text), kind
