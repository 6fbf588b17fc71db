"""The command and joint values that a page offers to copy."""

from argparse import Namespace
from html import unescape
import json
import re
import shlex

import numpy as np
import pytest
from view_sessions import TIP

from ros2_ik.cli import main
from ros2_ik.cli.view import make_session
from ros2_ik.core import Configuration, Robot, shipped_robots
from ros2_ik.view.status import copy_html

ELBOW = {'kind': 'joint_positions', 'names': ['elbow_joint'], 'bounds': {'lower': [0.5]}}


@pytest.fixture
def solve(capsys, tmp_path, monkeypatch):
    """Return a function that runs the copied command with the saved problem."""
    monkeypatch.chdir(tmp_path)

    def solve(session):
        (tmp_path / 'problem.yaml').write_text(session.problem_yaml())
        _, command = re.findall('<code>(.*?)</code>', copy_html(session))
        program, *arguments = shlex.split(unescape(command))
        assert program == 'ros2_ik'
        main([*arguments, '--json'])
        return json.loads(capsys.readouterr().out)
    return solve


def assert_same_solution(session, found):
    expected = session.robot.to_joints(session.answer.q)
    assert found['success']
    assert max(np.abs(found['joints'][name] - expected[name]).max()
               for name in found['joints']) < 2e-4


def test_copied_command_reproduces_each_shown_solution(session, solve):
    T = session.targets[TIP].copy()
    T[:3, 3] += [0.1, 0.1, -0.1]
    session.drag(TIP, T)
    session.next_solution()
    for _ in range(2):
        session.next_solution()
        joints, _ = re.findall('<code>(.*?)</code>', copy_html(session))
        q = session.robot.to_q(json.loads(unescape(joints)))
        assert np.abs(q - session.answer.q).max() < 1e-5
        assert_same_solution(session, solve(session))


def test_copied_command_includes_constraints_and_files_of_the_robot(solve, tmp_path):
    ur5 = Robot.load('ur5')
    urdf = tmp_path / 'my arm.urdf'
    urdf.write_text(ur5.urdf)
    (tmp_path / 'arm.srdf').write_text(ur5.srdf)
    session = make_session(Namespace(
        robot=str(urdf), srdf='arm.srdf', package_dir=list(ur5.package_dirs), xacro_arg=[],
        tip=['tool0'], scene=None, problem=None))
    session.load_problem({**session.content(), 'constraints': [ELBOW]})
    session.drag('tool0', Configuration(ur5, shipped_robots()['ur5'].home).transform('tool0'))
    assert_same_solution(session, solve(session))
