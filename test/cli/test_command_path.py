"""`ros2_ik path`: the example, judged by yourdfpy, incomplete paths and refusals."""

from pathlib import Path

import numpy as np
import pytest
import yaml

EXAMPLE = Path(__file__).parents[2] / 'examples/paths/valve.yaml'
DOWN = [np.pi, 0, 0]
LINE = {'line': {'start': {'xyz': [0.45, -0.3, 0.3], 'rpy': DOWN},
                 'end': {'xyz': [0.45, 0.3, 0.3], 'rpy': DOWN}}}


@pytest.fixture
def write_path(tmp_path):
    """Return a function that writes a path file; by default a line of the tool."""
    def write(**fields):
        path = tmp_path / 'path.yaml'
        tip = {} if 'tool' in fields else {'tip': 'tool0'}
        path.write_text(yaml.safe_dump({**tip, 'path': LINE, **fields}))
        return path
    return write


def test_valve_example_follows_the_arc_within_the_tip_speed(command, judge, tmp_path):
    file = tmp_path / 'valve.csv'
    run = command('path', EXAMPLE, '--robot', 'ur5', '--output', file)
    assert run.code == 0, run.err
    assert run.out.startswith('SUCCESS') and 'fraction 1,' in run.out
    header, *rows = file.read_text().splitlines()
    assert header.split(',')[0] == 'time' and len(header.split(',')) == 7
    values = np.array([[float(text) for text in row.split(',')] for row in rows])
    assert values[0, 0] == 0 and f'duration {values[-1, 0]:.3f} s' in run.out
    assert np.allclose(np.diff(values[:-1, 0]), 0.01)
    points = []
    for row in values:
        T = judge('ur5', dict(zip(header.split(',')[1:], row[1:], strict=True)), 'tool0',
                  'base_link')
        assert T[2, 2] == pytest.approx(-1, abs=1e-4)
        points.append(T[:3, 3])
    radii = np.linalg.norm(np.array(points)[:, :2] - [0.45, 0], axis=1)
    assert np.abs(radii - 0.15).max() < 1e-3
    assert np.allclose(points[-1], [0.6, 0, 0.3], atol=1e-4)
    assert np.linalg.norm(np.diff(points, axis=0), axis=1).max() / 0.01 <= 0.05 * 1.001


def test_blocked_path_names_the_obstacle_and_writes_no_file(command, write_path, tmp_path):
    scene = tmp_path / 'scene.yaml'
    scene.write_text('objects: [{id: wall, pose: {xyz: [0.5, 0.1, 0.3]}, '
                     'shapes: [{box: {size: [0.5, 0.05, 1.0]}}]}]')
    file = tmp_path / 'motion.csv'
    run = command('path', write_path(), '--robot', 'ur5', '--scene', scene, '--output', file)
    assert run.code == 1 and not file.exists()
    assert run.err.endswith(f"ros2_ik: '{file}' is not written: there is no motion\n")
    assert run.out.startswith('GOAL_IN_COLLISION') and "touches 'wall'" in run.out
    assert 0.3 < float(run.out.partition('fraction ')[2].partition(',')[0]) < 0.7


def test_spline_poses_and_arc_with_constraints_are_solved(command, write_path):
    start, end = LINE['line']['start'], LINE['line']['end']
    middle = {'xyz': [0.5, 0, 0.3], 'quat': [1, 0, 0, 0]}
    elbow = {'kind': 'joint_positions', 'names': ['elbow_joint'], 'bounds': {'lower': 0.1}}
    for path in ({'spline': [start, middle, end]}, {'poses': [start, middle, end]},
                 {'arc': {'start': start, 'through': [0.5, 0, 0.3], 'end': end}}):
        file = write_path(path=path, constraints=[elbow], collisions=False)
        run = command('path', file, '--robot', 'ur5', '--output', file.with_suffix('.csv'))
        assert run.code == 0, run.out + run.err
        header, *rows = file.with_suffix('.csv').read_text().splitlines()
        elbow_column = header.split(',').index('elbow_joint')
        assert min(float(row.split(',')[elbow_column]) for row in rows) >= 0.0999


def test_subframe_of_an_attached_object_and_tool_on_it_follow_the_path(
        command, judge, write_path, tmp_path):
    scene, file = tmp_path / 'scene.yaml', tmp_path / 'motion.csv'
    scene.write_text('attached: [{link: tool0, id: peg, pose: {xyz: [0, 0, 0.06]}, subframes: '
                     '{tip: {xyz: [0, 0, 0.05]}}, shapes: [{sphere: {radius: 0.01}}]}]')
    tool = {'header': {'frame_id': 'peg/tip'}, 'pose': {'position': {'z': 0.02}}}
    for fields, length in (({'tip': 'peg/tip'}, 0.11), ({'tool': tool}, 0.13)):
        run = command('path', write_path(**fields), '--robot', 'ur5', '--scene', scene,
                      '--output', file)
        assert run.code == 0, run.out + run.err
        header, *_, last = file.read_text().splitlines()
        values = zip(header.split(',')[1:], map(float, last.split(',')[1:]), strict=True)
        T = judge('ur5', dict(values), 'tool0', 'base_link')
        assert np.allclose(T[:3, 3] + length * T[:3, 2], LINE['line']['end']['xyz'], atol=1e-4)


def test_path_with_limits_in_degrees_keeps_urdf_velocity_limits(command, write_path, tmp_path):
    file = tmp_path / 'fast.csv'
    run = command('path', write_path(tip_speed=20, limits={'velocity': 180, 'acceleration': 300}),
                  '--robot', 'ur5', '--output', file)
    assert run.code == 0, run.err
    rows = np.loadtxt(file, delimiter=',', skiprows=1)
    assert np.abs(np.diff(rows[:-1, 1:], axis=0)).max() / 0.01 <= 3.15 * 1.001


@pytest.mark.parametrize(('fields', 'message'), [
    ({'path': {'lin': {}}}, "one of line, arc, screw, spline, poses, not {'lin': {}}"),
    ({'path': {'line': {'start': {'xyz': [0, 0, 1]}}}}, 'line must have start and end'),
    ({'path': {'spline': [{'xyz': [0, 0]}]}}, 'spline: poses[0].xyz must have 3 numbers'),
    ({'tip': 'tool0', 'tool': {}}, 'must have path, and either tip or tool'),
    ({'tool': {}}, 'tool must have a pose or a header with a frame_id'),
    ({'tip': 'tool1'}, "unknown frame 'tool1'; did you mean 'tool0'?"),
    ({'spacin': 0.1}, "unknown field 'spacin'; did you mean 'spacing'?"),
    ({'limits': {'acceleration': [1, 1]}}, "path.yaml': limits: acceleration has 2 numbers"),
    ({'limits': {'speed': 1}}, 'limits are {velocity'),
    ({'tip_speed': -1}, 'tip_speed must be a positive finite number, not -1')])
def test_malformed_path_files_are_refused(command, write_path, fields, message):
    assert message in command('path', write_path(**fields), '--robot', 'ur5').refusal()
