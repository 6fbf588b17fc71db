"""Roll, pitch and yaw."""

from hypothesis import given, settings, strategies as st
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ros2_ik.core import Configuration, FrameOrientation


@pytest.fixture
def body(small):
    """Give a free body turned about its x, then its new y, then its new z."""
    def at(*angles):
        quaternion = Rotation.from_euler('XYZ', angles).as_quat()
        return Configuration(small('one_link', 'freeflyer'), [1, 2, 3, *quaternion])
    return at


@settings(max_examples=50)
@given(st.floats(-3.14, 3.14), st.floats(-1.57, 1.57), st.floats(-3.14, 3.14))
def test_value(body, roll, pitch, yaw):
    value = FrameOrientation('body', form='euler').value(body(roll, pitch, yaw))
    np.testing.assert_allclose(value, (roll, pitch, yaw), atol=1e-12 / np.cos(pitch))


@settings(max_examples=50)
@given(st.floats(-3, 3), st.floats(-1.565, 1.565), st.floats(-3, 3))
def test_jacobian_in_closed_form(body, roll, pitch, yaw):
    """The rates of the angles give the angular velocity, by its three axes."""
    at = body(roll, pitch, yaw)
    axes = np.column_stack([(1, 0, 0), Rotation.from_euler('X', roll).apply((0, 1, 0)),
                            Rotation.from_euler('XY', (roll, pitch)).apply((0, 0, 1))])
    J = FrameOrientation('body', form='euler').jacobian(at)
    np.testing.assert_array_equal(J[:, :3], 0)
    rates = J[:, 3:] @ at.transform('body')[:3, :3].T
    np.testing.assert_allclose(rates @ axes, np.eye(3), atol=1e-7)


def test_reference_offset_and_axes(body):
    turns = [Rotation.from_rotvec(v) for v in ((0.4, -0.3, 0.9), (0.1, 0.7, 0.2))]
    at = body(0.3, -0.4, 0.5)
    function = FrameOrientation('body', turns[0].as_matrix(), None, turns[1].as_matrix(), 'zx',
                                form='euler')
    expected = (turns[0].inv() * Rotation.from_euler('XYZ', (0.3, -0.4, 0.5)) * turns[1])
    np.testing.assert_allclose(function.value(at), expected.as_euler('XYZ')[[2, 0]], atol=1e-14)
    assert function.labels == ('yaw [rad]', 'roll [rad]')
    assert FrameOrientation('body', form='euler').labels == ('roll [rad]', 'pitch [rad]',
                                                             'yaw [rad]')


@pytest.mark.parametrize('up', [1, -1])
@pytest.mark.parametrize('theta', [0, 0.7, -2.5])
def test_upright_as_moveit(small, up, theta):
    """Roll takes all of the turn, and the Jacobian is that of roll and pitch alone."""
    c, s = np.cos(theta), np.sin(theta)
    R = np.array([[0, 0, up], [s, c, 0], [-c * up, s * up, 0]])    # Rx(up * theta) Ry(up * pi/2)
    at = Configuration(small('one_link', 'freeflyer'))
    value, J = FrameOrientation('body', offset=R, form='euler').evaluate(at)
    np.testing.assert_allclose(value, (up * theta, up * np.pi / 2, 0), atol=1e-15)
    np.testing.assert_allclose(J[0, 3:], (1, 0, 0), atol=1e-3)
    assert np.linalg.norm(J[1, 3:]) == pytest.approx(1)
    assert np.abs(J[2]).max() < 1e-3


@pytest.mark.parametrize('off', [1e-15, 1e-12, 1e-8, 1e-4])
@pytest.mark.parametrize('up', [1, -1])
def test_nearly_upright(body, off, up):
    """Roll and yaw are known badly each, their sum and the orientation are not."""
    at = body(0.3, up * (np.pi / 2 - off), 0.2)
    value, J = FrameOrientation('body', form='euler').evaluate(at)
    assert np.isfinite(value).all() and np.abs(J).max() <= 1e6
    np.testing.assert_allclose(Rotation.from_euler('XYZ', value).as_matrix(),
                               at.transform('body')[:3, :3], atol=2e-15)
