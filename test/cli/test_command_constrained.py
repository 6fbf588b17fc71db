"""`ros2_ik constrained` without ROS: example problems, judged by yourdfpy, and refusals."""

from pathlib import Path

from judge import angle
import numpy as np
import pytest
import yaml

FOLDER = Path(__file__).parents[2] / 'examples/ros'
UP, SLACK = np.array([0, 0, 1.0]), 2e-6   # accepted violation of a bound [m, rad]


def apply(T, point):
    return (T @ [*point, 1])[:3]


def upright_tray(pose):
    T = pose('panda', 'panda_hand_tcp', 'panda_link0')
    assert np.abs(apply(T, [0, 0, 0.1]) - [0.55, 0.1, 0.4]).max() <= 0.01 + SLACK
    assert angle(T[:3, 0], UP) <= 0.01745 + SLACK


def look_at_part(pose):
    T = pose('panda', 'panda_hand', 'panda_link0')
    ray = np.array([0.55, 0.15, 0.05]) - apply(T, [0.05, 0, 0.04])
    assert angle(ray, T[:3, 2]) <= 0.05236 + SLACK
    assert 0.4 - SLACK <= np.linalg.norm(ray) <= 0.6 + SLACK
    assert angle(T[:3, 2], -UP) <= 0.5236 + SLACK


def clear_elbow(pose):
    T = pose('panda', 'panda_hand_tcp', 'panda_link0')
    assert np.abs(T[:3, 3] - [0.65, 0.05, 0.375]).max() <= 1e-3 + SLACK
    assert angle(T[:3, 2], np.array([1.0, 0, 0])) <= 0.6 + SLACK
    elbow = pose('panda', 'panda_link5', 'panda_link0')[:3, 3]
    assert elbow[0] < 0.6 - 0.1   # the shelf begins at x = 0.6; the link's origin is inside it


def two_arms(pose):
    T = pose('baxter', 'right_gripper', 'left_gripper')
    assert np.abs(T[:3, 3] - [0, 0, 0.4]).max() <= 1e-4 + SLACK
    assert angle(T[:3, 0], np.array([1.0, 0, 0])) <= 2e-4
    assert angle(T[:3, 2], -UP) <= 2e-4
    T = pose('baxter', 'left_gripper', 'base')
    assert np.abs(apply(T, [0, 0, 0.2]) - [0.7, 0, 0.15]).max() <= 0.02 + SLACK
    assert angle(T[:3, 0], UP) <= 0.01745 + SLACK


def welding(pose):
    T = pose('ur5', 'tool0', 'base_link')
    x, y, z = apply(T, [0, 0, 0.15])
    assert np.hypot(x - 0.45, z - 0.2) <= 1e-4 + SLACK and 0.05 - SLACK <= y <= 0.25 + SLACK
    assert angle(T[:3, 2], -UP) <= 0.349 + SLACK


JUDGED = {'upright_tray': (upright_tray, 'panda', ()), 'look_at_part': (look_at_part, 'panda', ()),
          'clear_elbow': (clear_elbow, 'panda', ('--scene', 'shelf')),
          'two_arms': (two_arms, 'baxter', ()), 'welding': (welding, 'ur5', ())}


def test_every_example_problem_has_a_check():
    assert {path.stem for path in FOLDER.glob('*.yaml')} == set(JUDGED)


def test_readme_shows_how_to_run_every_problem():
    lines = (FOLDER / 'README.md').read_text().splitlines()
    for name, (_, robot, options) in JUDGED.items():
        assert ' '.join((f'tools/run ros2_ik constrained examples/ros/{name}.yaml --robot {robot}',
                         *options)) in lines
        assert any(f'[{name}]({name}.yaml)' in line for line in lines)


@pytest.mark.parametrize('name', JUDGED)
def test_solution_of_an_example_problem_holds_in_yourdfpy(name, command, judge):
    holds, robot, options = JUDGED[name]
    run = command('constrained', FOLDER / f'{name}.yaml', '--robot', robot, '--json', *options)
    assert run.code == 0, run.out + run.err
    joints = run.json['joints']
    holds(lambda robot, link, frame: judge(robot, joints, link, frame))
    content = yaml.safe_load((FOLDER / f'{name}.yaml').read_text())
    named = {item['bounds']['name'] for part in ('constraints', 'costs')
             for item in content.get(part, [])}
    assert {item['name'] for item in run.json['constraints']} == named
    assert all(item['holds'] for item in run.json['constraints'] if not item['soft'])


@pytest.fixture
def problem(tmp_path):
    def write(content):
        path = tmp_path / 'problem.yaml'
        path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
        return path
    return write


def problem_of(kind='point_to_plane', **fields):
    return {'constraints': [{'kind': kind, **fields}]}


def test_problem_of_the_constraints_page_is_solved(command, problem, judge):
    page = (FOLDER.parents[1] / 'docs/constraints.md').read_text()
    text = page.partition('```yaml\ntargets:')[2].partition('```')[0]
    run = command('constrained', problem('targets:' + text), '--robot', 'panda', '--json')
    assert run.code == 0, run.err
    T = judge('panda', run.json['joints'], 'panda_hand_tcp', 'panda_link0')
    assert np.linalg.norm(T[:3, 3] - [0.45, 0.1, 0.3]) < 2e-5 and angle(T[:3, 2], -UP) < 1e-4
    assert judge('panda', run.json['joints'], 'panda_link4', 'panda_link0')[2, 3] <= 0.6 + SLACK


def test_table_shows_the_state_of_each_constraint(command, problem):
    high = problem_of(frame='panda_hand', normal=[0, 0, 1],
                      bounds={'name': 'high', 'lower': [0.5]})
    high['costs'] = [{'kind': 'manipulability', 'frame': 'panda_hand',
                      'bounds': {'target': [1.0]}}]
    run = command('constrained', problem(high), '--robot', 'panda')
    assert run.code == 0, run.err
    rows = {line.split('  ')[0]: line for line in run.out.splitlines()}
    assert rows['high'].split()[-1] == 'holds' and 'height [m]' in rows['high']
    assert ' off by ' in rows['manipulability']


def test_joints_of_both_arms_move_unless_a_group_excludes_them(command, problem):
    both = problem_of('joint_positions', names=['left_e1', 'right_e1'], bounds={'target': [1.0]})
    run = command('constrained', problem(both), '--robot', 'baxter', '--json')
    assert run.code == 0, run.out + run.err
    assert run.json['joints'] == pytest.approx({'left_e1': 1.0, 'right_e1': 1.0}, abs=2e-6)
    run = command('constrained', problem({**both, 'group': 'left_arm'}), '--robot', 'baxter')
    assert run.code == 1
    assert "joint 'right_e1', which does not move, in [0.75, 0.75]" in run.out


Z = [0, 0, 1]


@pytest.mark.parametrize(('content', 'hint'), [
    ('constraints:\n- kind: gaze_angle\n  kind: frame_pose', "key 'kind' appears twice"),
    ('constraints: ' + 3000 * '[' + 3000 * ']', 'nested too deeply'),
    ('', 'there is no target, and no constraint or cost'),
    ({'constrains': {}}, "no field 'constrains'; did you mean 'constraints' or 'costs'?"),
    (problem_of('gaze_angel'),
     "constraints[0] (gaze_angel): unknown function 'gaze_angel'; did you mean 'gaze_angle'?"),
    (problem_of(frame='panda_hand', nromal=Z),
     "constraints[0] (point_to_plane): point_to_plane has no field 'nromal'; did you mean 'nor"),
    (problem_of(frame='panda_hand', normal={'z': 1}),
     "constraints[0] (point_to_plane): normal takes x y z, not zero, not [1.0] and ['z']"),
    (problem_of(frame=3, normal=Z), 'constraints[0].frame must be a text, not 3'),
    (problem_of(frame='panda_hand', normal=Z, bounds={'upper': 'high'}),
     "bounds.upper must be a list, not 'high'"),
    ({'constraints': [3]}, 'constraints[0] must be {kind: ...'),
    (problem_of(frame='panda_hand', normal=[None]), 'is none of: a number, a text'),
    ({'straight': True, 'targets': []}, 'only a node plans straight motions'),
    ({'solutions': -1}, 'solutions is -1; valid: 0 to 2147483647'),
    (problem_of('gaze_angle', frame='panda_hand', axis=Z, target=Z, bounds={'upper': 10}),
     'bounds.upper is 10 rad; valid: up to 3.142 (angles are radians)'),
    (problem_of(frame='panda_hand', normal=Z),
     'INVALID_GOAL_CONSTRAINTS: constraints[0] (point_to_plane): bounds are empty'),
    (problem_of(frame='panda_hnad', normal=Z, bounds={'upper': [1]}),
     "INVALID_LINK_NAME: constraints[0] (point_to_plane): frame: unknown frame 'panda_hnad'"),
    ({**problem_of(frame='panda_hand', normal=Z, bounds={'upper': [1]}), 'execute': True},
     'execute: only a node moves a robot'),
    ({**problem_of(frame='panda_hand', normal=Z, bounds={'upper': [1]}), 'solver': 'newton'},
     "unknown solver 'newton'")])
def test_malformed_problems_are_refused_in_one_line(command, problem, content, hint):
    assert hint in command('constrained', problem(content), '--robot', 'panda').refusal()


@pytest.mark.parametrize(('arguments', 'hint'), [
    (['nowhere.yaml', '--robot', 'panda'], "'nowhere.yaml': No such file"),
    ([FOLDER / 'welding.yaml', '--robot', 'ur6'], "did you mean 'ur5'"),
    ([FOLDER / 'welding.yaml', '--robot', 'ur5', '--node', '/ros2_ik'], 'ROBOT without --node'),
    ([FOLDER / 'welding.yaml', '--scene', 'table'], 'a node has its own robot')])
def test_malformed_command_lines_are_refused(command, arguments, hint):
    assert hint in command('constrained', *arguments).refusal()
