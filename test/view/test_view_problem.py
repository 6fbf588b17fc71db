"""Constraints as the panel edits them: the same question as that of the problem file."""

from pathlib import Path

import numpy as np
import pytest
from view_sessions import session_of, TIP, TYPED
import yaml

from ros2_ik.cli.goal_file import goal_of, read_content
from ros2_ik.cli.view import read_problem_file
from ros2_ik.core import IKError, written_kinds
from ros2_ik.view.problem import COST, Entry, HARD, SOFT

EXAMPLES = Path(__file__).parents[2] / 'examples/ros'


def test_every_kind_is_typed_in_here():
    assert set(TYPED) == set(written_kinds())


@pytest.mark.parametrize('kind', sorted(TYPED))
def test_every_kind_can_be_added_and_makes_the_command_s_question(session, kind):
    fields, bounds = TYPED[kind]
    entry = Entry.new(kind, TIP)
    assert not entry.on and set(fields) <= set(entry.fields)
    for name, text in fields.items():
        entry.write(name, text)
    for name, text in bounds.items():
        entry.write_bound(name, text)
    session.problem.entries.append(entry)
    session.solve()
    assert 'constraints' not in session.content()      # it is off
    entry.on = True
    session.solve()
    assert session.answer.accepted, session.status
    # the file that is saved is read by the command, and says the same
    saved = yaml.safe_load(session.problem_yaml())
    goal, = goal_of(saved).constraints
    written = {'kind': kind, **({'frame': TIP} if 'frame' in entry.fields else {}),
               **{name: yaml.safe_load(text) for name, text in fields.items()},
               'bounds': {name: [yaml.safe_load(text)] if not text.startswith('[')
                          else yaml.safe_load(text) for name, text in bounds.items()}}
    by_hand, = goal_of({'constraints': [written]}).constraints
    assert goal == by_hand
    request = read_problem_file(saved, session.arm.scene, session.arm.q).request
    assert request.constraints[0].function.spec.kind == kind
    assert request.targets[0].tip == TIP


@pytest.mark.parametrize(('name', 'robot', 'scene'), [
    ('upright_tray', 'panda', None), ('look_at_part', 'panda', None),
    ('clear_elbow', 'panda', 'shelf'), ('two_arms', 'baxter', None), ('welding', 'ur5', None)])
def test_loaded_and_saved_it_is_the_same_problem(name, robot, scene):
    session = session_of(robot, scene)
    content = read_content(str(EXAMPLES / f'{name}.yaml'))
    session.load_problem(content)
    saved = yaml.safe_load(session.problem_yaml())
    assert goal_of(saved).constraints == goal_of(content).constraints
    assert goal_of(saved).costs == goal_of(content).costs
    one, other = (read_problem_file(each, session.arm.scene, session.arm.q).request
                  for each in (content, saved))
    assert one.options.select == other.options.select
    assert one.options.timeout == other.options.timeout
    assert [t.tip for t in one.targets] == [t.tip for t in other.targets]
    assert all(np.abs(a.transform - b.transform).max() < 1e-9
               for a, b in zip(one.targets, other.targets, strict=True))
    session.solve()
    assert session.answer.accepted, session.status


def test_hard_soft_and_cost():
    entry = Entry({'kind': 'point_to_plane', 'frame': TIP, 'normal': [0, 0, 1],
                   'bounds': {'lower': [0.5], 'soft': True, 'weight': [2.0]}}, SOFT)
    assert entry.written()['bounds'] == {'lower': [0.5], 'weight': [2.0], 'soft': True}
    session = session_of(scene=None)
    session.problem.entries.append(entry)
    for way, part in ((SOFT, 'constraints'), (COST, 'costs'), (HARD, 'constraints')):
        entry.way = way
        assert list(session.content()[part][0])[0] == 'kind'
    session.attempt(session.solve)
    assert 'a hard constraint has no weight' in session.status


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


@pytest.mark.parametrize(('text', 'words'), [('[1, 2', 'is not YAML'), ('- 1', 'fields by name')])
def test_bad_yaml_is_refused(session, text, words):
    with pytest.raises(IKError, match=words):
        session.load_yaml(text)


def test_bad_field_is_refused_and_the_old_one_stays():
    entry = Entry.new('gaze_angle', TIP)
    with pytest.raises(IKError, match='target: .* is not YAML'):
        entry.write('target', '[0, 1')
    assert entry.text('target') == '' and entry.text('axis') == '[0.0, 0.0, 1.0]'
    with pytest.raises(IKError, match='no_such'):
        Entry.new('no_such', TIP)
