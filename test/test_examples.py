"""Every example runs, and its solution reaches the goals in yourdfpy."""

from pathlib import Path
import re
import runpy

from judge import angle, FileJudge
import numpy as np
import pytest

from ros2_ik.core import Robot

EXAMPLES = {path.stem: path for path in (Path(__file__).parents[1] / 'examples').glob('*.py')}
UP = np.array([0, 0, 1.0])


def cup_level(judge, joints):
    T = judge.transform(joints, 'panda_hand_tcp')
    np.testing.assert_allclose(T[:3, 3], (0.45, 0, 0.3), atol=0.01 + 1e-5)
    assert np.degrees(angle(T[:3, 0], UP)) < 1.001
    assert judge.transform(joints, 'panda_link4')[2, 3] < 0.5 + 1e-2     # a cost, not a constraint


def look_at_part(judge, joints):
    T = judge.transform(joints, 'panda_hand')
    ray = np.array([0.55, 0.15, 0.05]) - (T @ [0.05, 0, 0.04, 1])[:3]
    assert 0.4 - 1e-5 <= np.linalg.norm(ray) <= 0.6 + 1e-5
    assert (np.degrees([angle(ray, T[:3, 2]), angle(T[:3, 2], -UP)]) < [3.001, 30.001]).all()


def tray_two_hands(judge, joints):
    left, right = (judge.transform(joints, f'{side}_gripper') for side in ('left', 'right'))
    np.testing.assert_allclose((left[:3, 3] + right[:3, 3]) / 2, (0.7, 0, 0.15), atol=0.02 + 1e-3)
    assert np.linalg.norm(left[:3, 3] - right[:3, 3]) == pytest.approx(0.4, abs=1e-3)
    angles = angle(left[:3, 2], -right[:3, 2]), angle(left[:3, 0], UP)
    assert (np.degrees(angles) < [0.1, 1.001]).all()
    assert joints['head_pan'] == 0


JUDGED = {'cup_level': ('panda', cup_level), 'look_at_part': ('panda', look_at_part),
          'tray_two_hands': ('baxter', tray_two_hands)}


def test_every_example_has_a_judge():
    assert set(JUDGED) == set(EXAMPLES)


@pytest.mark.parametrize('name', EXAMPLES)
def test_example_reaches_its_goals(name, capsys):
    assert runpy.run_path(str(EXAMPLES[name]))['main']() == 0
    out = capsys.readouterr().out
    assert out.startswith('SUCCESS')
    joints = {joint: float(value) for joint, value in re.findall(r'^  (\w+) = (\S+)$', out, re.M)}
    robot, holds = JUDGED[name]
    judge = FileJudge(Robot.load(robot).urdf)
    assert judge.outside(joints) == []
    holds(judge, joints)
