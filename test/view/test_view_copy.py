"""What a page gives to copy: the joints of an answer, and the command line that asks for it."""

from html import unescape
import json
import re
import shlex

import numpy as np
import pytest
from view_sessions import session_of, TIP, TURN_AND_SLIDE

from ros2_ik.cli import main
from ros2_ik.core import Box, save_scene, SceneObject
from ros2_ik.view.status import copy_html

PLANE = {'kind': 'point_to_plane', 'frame': 'panda_link4', 'normal': [0, 0, 1],
         'bounds': {'upper': [0.6]}}


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Return what runs a command line as it was copied; gives its answer."""
    monkeypatch.chdir(tmp_path)

    def run(text):
        program, *words = shlex.split(text)
        assert program == 'ros2_ik'
        main([*words, '--json'])
        return json.loads(capsys.readouterr().out)
    return run


def moved(session, tip, *way):
    T = session.problem.targets[tip].copy()
    T[:3, 3] += way
    return T


def copied(session):
    """Return the joints and the command that the page shows."""
    joints, command = re.findall('<code>(.*?)</code>', copy_html(session))
    return json.loads(unescape(joints)), unescape(command)


def assert_same(session, found):
    expected = session.robot.to_joints(session.answer.q)
    assert found['success']
    assert max(np.abs(found['joints'][name] - expected[name]).max()
               for name in found['joints']) < 2e-4


def test_copied_command_gives_each_of_several_answers(session, run):
    session.drag(TIP, moved(session, TIP, 0.1, 0.1, -0.1))
    session.next_solution()
    for _ in range(2):
        session.next_solution()
        joints, command = copied(session)
        assert np.abs(session.robot.to_q(joints) - session.answer.q).max() < 1e-5
        assert command.startswith('ros2_ik solve panda --scene table --tip panda_hand_tcp --xyz ')
        assert_same(session, run(command))


def test_copied_command_gives_the_answer_of_two_arms(run):
    session = session_of('baxter', None)
    session.drag('left_gripper', moved(session, 'left_gripper', 0, -0.1, 0.2))
    assert_same(session, run(session.command()))


def test_copied_command_gives_an_answer_in_contact_where_contacts_are_allowed(session, run):
    session.switch_collisions(False)
    session.drag(TIP, moved(session, TIP, 0.1, 0, -0.37))
    assert session.answer.accepted
    assert_same(session, run(session.command()))


def test_copied_command_has_the_options_of_a_urdf(tmp_path, run):
    urdf = tmp_path / 'my arm.urdf'
    urdf.write_text(TURN_AND_SLIDE.format(axis='0 1 0'))
    session = session_of(str(urdf), None, ('tip',), root_joint='planar')
    session.arm.place(session.robot.to_q({'root_joint': [0.3, -0.2, 0.5], 'turn': 0.4}))
    session.back_to_robot()
    session.drag('tip', moved(session, 'tip', *0.2 * session.problem.targets['tip'][:3, 0]))
    assert session.answer.accepted, session.status
    assert f"solve '{urdf}' --root-joint planar --tip tip" in session.command()
    assert_same(session, run(session.command()))


def test_copied_command_reads_what_was_changed_from_files(session, run, tmp_path):
    session.problem.load({'constraints': [PLANE]})
    session.drag(TIP, moved(session, TIP, 0.1, 0.2, 0))
    session.add_object(SceneObject('part', [Box([0.1, 0.1, 0.1])], np.eye(4)))
    assert session.command() == (
        'ros2_ik constrained problem.yaml --robot panda --scene scene.yaml')
    (tmp_path / 'problem.yaml').write_text(session.problem_yaml())
    (tmp_path / 'scene.yaml').write_text(save_scene(session.arm.scene))
    assert_same(session, run(session.command()))


def test_nothing_is_copied_before_an_answer(session):
    assert 'no answer' in copy_html(session)
