"""Configuration against numbers that Pink computed."""

from judge import inverse, twist_matrix
import numpy as np
from oracles import from_pink, pink, pink_columns
import pytest
from scipy.linalg import expm

from ros2_ik.core import Configuration


def right_jacobian(v):
    """Jr of SE(3) at v, the inverse of Jlog6 at exp6(v): the integral of exp(-ad v s)."""
    w, linear = twist_matrix([0, 0, 0, *v[3:]])[:3, :3], twist_matrix([0, 0, 0, *v[:3]])[:3, :3]
    ad = np.block([[w, linear], [np.zeros((3, 3)), w]])
    return expm(np.block([[-ad, np.eye(6)], [np.zeros((6, 12))]]))[:6, 6:]


@pytest.mark.parametrize('row', pink('FrameTask'))
def test_transform_and_jacobian(row):
    """FrameTask: e = log6(T_frame^-1 T_target), J = -Jlog6(exp6(-e)) J_frame."""
    at, error = row['at'], np.array(row['error'])
    T_target = np.array(row['target']['transform_target_to_world'])
    np.testing.assert_allclose(at.transform(row['frame']),
                               T_target @ inverse(expm(twist_matrix(error))), atol=1e-9)
    expected = -right_jacobian(-error) @ np.array(row['jacobian'])
    np.testing.assert_allclose(at.jacobian(row['frame'])[:, pink_columns(at.robot)], expected,
                               atol=1e-9)


@pytest.mark.parametrize('row', pink('RelativeFrameTask'))
def test_relative_transform_and_jacobian(row):
    """RelativeFrameTask: e = log6(T_target^-1 T_root_frame), J = Jlog6(exp6(e)) J_relative."""
    at, error = row['at'], np.array(row['error'])
    T_target = np.array(row['target']['transform_target_to_root'])
    np.testing.assert_allclose(at.transform(row['frame'], row['root']),
                               T_target @ expm(twist_matrix(error)), atol=1e-9)
    expected = right_jacobian(error) @ np.array(row['jacobian'])
    np.testing.assert_allclose(at.jacobian(row['frame'], row['root'])[:, pink_columns(at.robot)],
                               expected, atol=1e-9)


@pytest.mark.parametrize('row', pink('ComTask'))
def test_center_of_mass(row):
    at = row['at']
    expected = np.array(row['error']) + row['target']['target_com']
    np.testing.assert_allclose(at.center_of_mass(), expected, atol=1e-9)


@pytest.mark.parametrize('row', pink('PostureTask'))
def test_difference(row):
    """PostureTask: difference(q_target, q) without the free base."""
    at = row['at']
    target = Configuration(at.robot, from_pink(row['robot'], row['target']['target_q']))
    difference = target.difference(at)[pink_columns(at.robot)]
    error = difference[6:] if row['robot'] == 'tree' else difference
    turns = (error - row['error']) / (2 * np.pi)     # Pink keeps none
    np.testing.assert_allclose(turns, np.round(turns), atol=1e-9)


def test_all_kinds_of_rows_are_there():
    for kind in ('FrameTask', 'RelativeFrameTask', 'ComTask', 'PostureTask'):
        assert len(pink(kind)) == 5
