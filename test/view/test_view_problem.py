"""A problem file in the viewer: the same question as that of the command."""

from pathlib import Path

import numpy as np
import pytest
from view_sessions import session_of, TIP
import yaml

from ros2_ik.cli.goal_file import goal_of, read_content
from ros2_ik.cli.view import read_problem_file
from ros2_ik.core import IKError

EXAMPLES = Path(__file__).parents[2] / 'examples/ros'


@pytest.mark.parametrize(('name', 'robot', 'scene'), [
    ('upright_tray', 'panda', None), ('clear_elbow', 'panda', 'shelf'),
    ('two_arms', 'baxter', None)])
def test_loaded_and_saved_it_is_the_same_problem(name, robot, scene):
    session = session_of(robot, scene)
    content = read_content(str(EXAMPLES / f'{name}.yaml'))
    session.load_problem(content)
    saved = yaml.safe_load(session.problem_yaml())
    assert goal_of(saved).constraints == goal_of(content).constraints
    assert goal_of(saved).costs == goal_of(content).costs
    one, other = (read_problem_file(each, session.arm.scene, session.arm.q)[0]
                  for each in (content, saved))
    assert one.options.select == other.options.select
    assert one.options.timeout == other.options.timeout
    assert [t.tip for t in one.targets] == [t.tip for t in other.targets]
    assert all(np.abs(a.transform - b.transform).max() < 1e-9
               for a, b in zip(one.targets, other.targets, strict=True))
    session.solve()
    assert session.answer.accepted, session.status


@pytest.mark.parametrize(('content', 'words'), [
    ({'constraints': [{'kind': 'no_such'}]}, 'no_such'),
    ({'constrains': []}, "did you mean 'constraints'"),
    ({'constraints': [{'kind': 'gaze_angle', 'frame': TIP, 'target': [0, 0, 0],
                       'bounds': {'upper': [1]}}]}, 'gaze_angle needs axis'),
    ({'execute': True, 'tips': [TIP], 'targets': [{}]}, 'execute'),
    ({}, 'there is no target'),
    ({'tips': [TIP], 'targets': [{'header': {'frame_id': 'panda_link3'},
                                  'pose': {'orientation': {'w': 1}}}]},
     "is in frame 'panda_link3'")])
def test_bad_problem_is_refused_and_the_old_one_stays(session, content, words):
    before = session.content()
    with pytest.raises(IKError, match=words):
        session.load_problem(content)
    assert session.content() == before
