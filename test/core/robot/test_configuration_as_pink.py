"""Configuration against numbers that Pink computed."""

import json
from pathlib import Path
import re

from judge import inverse, twist_matrix
import numpy as np
import pytest
from scipy.linalg import expm

from ros2_ik.core import Configuration, Robot

DATA = json.loads((Path(__file__).parents[1] / 'data' / 'pink.json').read_text(encoding='utf-8'))
ROWS = {kind: [row for row in DATA['tasks'] if row['kind'] == kind]
        for kind in ('FrameTask', 'RelativeFrameTask', 'ComTask', 'PostureTask')}


@pytest.fixture(scope='module')
def robots():
    panda = re.sub(r'<mimic[^>]*/>', '', DATA['urdf']['panda'])    # Pink moved both fingers
    return {'panda': Robot.from_urdf(panda),
            'tree': Robot.from_urdf(DATA['urdf']['tree'], root_joint='freeflyer')}


def configuration(robots, row, q=None):
    """Give the configuration of a row; Pink's q has continuous joints as (cos, sin)."""
    name = row['robot']
    q = DATA[f'{name}_configurations'][row['q']] if q is None else q
    if name == 'panda':
        return Configuration(robots[name], q)
    hip, (wheel, shoulder), (elbow, lift) = q[7], _angles(q[8:12]), q[12:]
    return Configuration(robots[name], {
        'root_joint': q[:7], 'hip': hip, 'wheel_joint': wheel, 'shoulder': shoulder,
        'elbow': elbow, 'lift': lift})


def _angles(values):
    return [float(np.arctan2(values[i + 1], values[i])) for i in (0, 2)]


def columns(robot):
    """Pink's order of the tangent space, as columns of ours."""
    order = (['root_joint', 'hip', 'wheel_joint', 'shoulder', 'elbow', 'lift']
             if robot.nv == 11 else robot.joint_names)
    joints = [robot.joint(name) for name in order]
    return [j.velocity_index + i for j in joints for i in range(j.velocity_size)]


def right_jacobian(v):
    """Jr of SE(3) at v, the inverse of Jlog6 at exp6(v): the integral of exp(-ad v s)."""
    w, linear = twist_matrix([0, 0, 0, *v[3:]])[:3, :3], twist_matrix([0, 0, 0, *v[:3]])[:3, :3]
    ad = np.block([[w, linear], [np.zeros((3, 3)), w]])
    return expm(np.block([[-ad, np.eye(6)], [np.zeros((6, 12))]]))[:6, 6:]


@pytest.mark.parametrize('row', ROWS['FrameTask'])
def test_transform_and_jacobian(robots, row):
    """FrameTask: e = log6(T_frame^-1 T_target), J = -Jlog6(exp6(-e)) J_frame."""
    at, error = configuration(robots, row), np.array(row['error'])
    T_target = np.array(row['target']['transform_target_to_world'])
    np.testing.assert_allclose(at.transform(row['frame']),
                               T_target @ inverse(expm(twist_matrix(error))), atol=1e-9)
    expected = -right_jacobian(-error) @ np.array(row['jacobian'])
    np.testing.assert_allclose(at.jacobian(row['frame'])[:, columns(at.robot)], expected,
                               atol=1e-9)


@pytest.mark.parametrize('row', ROWS['RelativeFrameTask'])
def test_relative_transform_and_jacobian(robots, row):
    """RelativeFrameTask: e = log6(T_target^-1 T_root_frame), J = Jlog6(exp6(e)) J_relative."""
    at, error = configuration(robots, row), np.array(row['error'])
    T_target = np.array(row['target']['transform_target_to_root'])
    np.testing.assert_allclose(at.transform(row['frame'], row['root']),
                               T_target @ expm(twist_matrix(error)), atol=1e-9)
    expected = right_jacobian(error) @ np.array(row['jacobian'])
    np.testing.assert_allclose(at.jacobian(row['frame'], row['root'])[:, columns(at.robot)],
                               expected, atol=1e-9)


@pytest.mark.parametrize('row', ROWS['ComTask'])
def test_center_of_mass(robots, row):
    at = configuration(robots, row)
    expected = np.array(row['error']) + row['target']['target_com']
    np.testing.assert_allclose(at.center_of_mass(), expected, atol=1e-9)


@pytest.mark.parametrize('row', ROWS['PostureTask'])
def test_difference(robots, row):
    """PostureTask: difference(q_target, q) without the free base."""
    at = configuration(robots, row)
    target = configuration(robots, row, row['target']['target_q'])
    difference = target.difference(at)[columns(at.robot)]
    error = difference[6:] if row['robot'] == 'tree' else difference
    turns = (error - row['error']) / (2 * np.pi)     # Pink keeps none
    np.testing.assert_allclose(turns, np.round(turns), atol=1e-9)


def test_all_kinds_of_rows_are_there():
    assert {kind: len(rows) for kind, rows in ROWS.items()} == {
        'FrameTask': 5, 'RelativeFrameTask': 5, 'ComTask': 5, 'PostureTask': 5}
