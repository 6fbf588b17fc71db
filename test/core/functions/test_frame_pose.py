"""FramePose and FrameOrientation: logarithms, Euler angles and refusals."""

from hypothesis import given, settings, strategies as st
from judge import inverse, pose, pose_error
import numpy as np
from oracles import recorded
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation

from ros2_ik.core import algebra, Configuration, FrameOrientation, FramePose
from ros2_ik.core.errors import InvalidConstraintError, InvalidTargetError


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32), relative=st.booleans())
def test_frame_pose_equals_that_of_scipy(small, seed, relative):
    robot, generator = small('two_arms', 'freeflyer'), np.random.default_rng(seed)
    at = Configuration(robot, robot.random_q(generator))
    other = 'right_hand' if relative else None
    T = at.transform('left_hand', other)
    reference = T @ pose(generator.uniform(-2, 2, 3), generator.uniform(-1, 1, 3) * 1.6)
    R = reference[:3, :3]
    expected = [*(R.T @ (T[:3, 3] - reference[:3, 3])),
                *Rotation.from_matrix(R.T @ T[:3, :3]).as_rotvec()]
    value = FramePose('left_hand', reference, other).value(at)
    np.testing.assert_allclose(value, expected, atol=1e-12)


@pytest.mark.parametrize('reference', [
    np.eye(4).tolist(), pin.SE3.Identity(), np.eye(4, dtype=int), np.eye(8)[::2, ::2]])
def test_reference_of_a_frame_pose_is_read_from_list_se3_or_array(small, reference):
    value = FramePose('tip', reference).value(Configuration(small('scara')))
    np.testing.assert_allclose(value, [0.7, 0, 0.3, 0, 0, 0], atol=1e-15)


def test_rounded_rotation_of_a_reference_is_replaced_by_the_nearest_rotation(small):
    """References from text files often have six digits."""
    exact = pose((0.1, 0.2, 0.3), (0.3, 0.4, 0.5))
    error = FramePose('body', exact.round(6)).value(
        Configuration(small('one_link', 'freeflyer'),
                      [0.1, 0.2, 0.3, *Rotation.from_rotvec((0.3, 0.4, 0.5)).as_quat()]))
    assert np.abs(error).max() < 2e-6
    assert pose_error(exact, exact.round(6))[1] < 2e-6


def matrix(**entries):
    """Return the identity with changed entries: r12=.5 sets row 1, column 2."""
    T = np.eye(4)
    for entry, value in entries.items():
        T[int(entry[1]), int(entry[2])] = value
    return T


@pytest.mark.parametrize('reference, message_parts', [
    (matrix(r03=np.nan), ['finite']), (matrix(r11=np.inf), ['finite']),
    (matrix(r03=1e200), ['further away']),
    (matrix(r30=1.0), ['last row', '[1.0, 0.0, 0.0, 1.0]']), (matrix(r01=2e-3), ['rotation']),
    (np.diag([2.0, 2, 2, 1]), ['determinant', '8']), (np.diag([0.0, 0, 0, 1]), ['rotation']),
    (np.eye(3), ['4x4', '(3, 3)']), (None, ['4x4']), ('pose', ['4x4']), ([[1, 2], [3]], []),
    (np.eye(4) * 1j, ['tip']), ([[10**400] * 4] * 4, ['tip'])])
def test_malformed_references_of_a_frame_pose_are_refused(reference, message_parts):
    with pytest.raises(InvalidTargetError) as caught:
        FramePose('tip', reference)
    for part in [*message_parts, 'tip']:
        assert part in str(caught.value)


LIE_CASES = recorded('lie.json')


@pytest.fixture
def body(small):
    """Return a function: a free body at a rotation vector and a position."""
    def at(rotvec=(0, 0, 0), position=(1, 2, 3)):
        quaternion = Rotation.from_rotvec(rotvec).as_quat()
        return Configuration(small('one_link', 'freeflyer'), [*position, *quaternion])
    return at


def test_frame_orientation_has_a_row_per_axis(body):
    at, reference = body((0.2, 0.5, -0.1)), pose(rotvec=(0.6, 0.1, 0.3))
    value, J = FrameOrientation('body', reference).evaluate(at)
    subset = FrameOrientation('body', reference, axes='zx')
    assert subset.labels == ('rz [rad]', 'rx [rad]')
    np.testing.assert_array_equal(subset.value(at), value[[2, 0]])
    np.testing.assert_allclose(subset.jacobian(at), J[[2, 0]], atol=1e-15)


@pytest.mark.parametrize('case', LIE_CASES['cases'], ids=lambda case: case['angle'])
def test_rotation_logarithms_equal_references_with_60_digits(body, case):
    M, expected = np.array(case['M']), case['log6'][3:]
    at = body()
    for value in (FramePose('body', inverse(M)).value(body(position=(0, 0, 0)))[3:],
                  FrameOrientation('body', inverse(M)).value(at),
                  FrameOrientation('body', offset=M).value(at)):
        np.testing.assert_allclose(value, expected, atol=1e-11)
    angle = FrameOrientation('body', M, form='angle').value(at)
    np.testing.assert_allclose(angle, np.linalg.norm(expected), rtol=1e-9, atol=1e-11)
    w = algebra.log3(M[:3, :3].reshape(-1).tolist())
    np.testing.assert_allclose(w, expected, atol=1e-11)
    # near pi the translation magnifies the rounding of M
    np.testing.assert_allclose(algebra.log6(w, tuple(M[:3, 3])), case['log6'][:3], atol=1e-9)


@pytest.mark.parametrize('axis', [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.6, 0, -0.8)])
def test_logarithm_of_half_a_turn_has_either_sign(axis):
    w = algebra.log3(pose(rotvec=np.multiply(axis, np.pi))[:3, :3].reshape(-1))
    np.testing.assert_allclose(np.abs(w), np.abs(np.multiply(axis, np.pi)), atol=2e-8)


@pytest.mark.parametrize('arguments, message', [
    ({'axes': 'xx'}, "axes is 'xx'; valid: x, y, z, xy"), ({'axes': None}, 'axes is None'),
    ({'axes': 'z', 'form': 'chord'}, "axes is 'z'.* chord .*valid: 'xyz'"),
    ({'form': 'quaternion'}, "form is 'quaternion'; valid: vector, angle")])
def test_unknown_axes_and_forms_of_an_orientation_are_refused(arguments, message):
    with pytest.raises(InvalidConstraintError, match=message):
        FrameOrientation('body', **arguments)


@pytest.fixture
def body_at_euler(body):
    """Return a function: a free body at intrinsic XYZ Euler angles."""
    return lambda *angles: body(Rotation.from_euler('XYZ', angles).as_rotvec())


@settings(max_examples=50)
@given(st.floats(-3.14, 3.14), st.floats(-1.57, 1.57), st.floats(-3.14, 3.14))
def test_euler_angles_equal_those_of_scipy(body_at_euler, roll, pitch, yaw):
    value = FrameOrientation('body', form='euler').value(body_at_euler(roll, pitch, yaw))
    np.testing.assert_allclose(value, (roll, pitch, yaw), atol=1e-12 / np.cos(pitch))


@pytest.mark.parametrize('sign', [1, -1])
@pytest.mark.parametrize('theta', [0, 0.7, -2.5])
def test_euler_angles_at_gimbal_lock_equal_those_of_moveit(small, sign, theta):
    """Roll gets the whole rotation; yaw and its row of the Jacobian are zero."""
    c, s = np.cos(theta), np.sin(theta)
    # Rx(sign * theta) Ry(sign * pi/2)
    R = np.array([[0, 0, sign], [s, c, 0], [-c * sign, s * sign, 0]])
    at = Configuration(small('one_link', 'freeflyer'))
    value, J = FrameOrientation('body', offset=R, form='euler').evaluate(at)
    np.testing.assert_allclose(value, (sign * theta, sign * np.pi / 2, 0), atol=1e-15)
    np.testing.assert_allclose(J[0, 3:], (1, 0, 0), atol=1e-3)
    assert np.linalg.norm(J[1, 3:]) == pytest.approx(1)
    assert np.abs(J[2]).max() < 1e-3


@pytest.mark.parametrize('offset', [1e-15, 1e-12, 1e-8, 1e-4])
@pytest.mark.parametrize('sign', [1, -1])
def test_euler_angles_near_gimbal_lock_keep_the_orientation(body_at_euler, offset, sign):
    """Roll and yaw are ill-conditioned, their sum and the orientation are not."""
    at = body_at_euler(0.3, sign * (np.pi / 2 - offset), 0.2)
    value, J = FrameOrientation('body', form='euler').evaluate(at)
    assert np.isfinite(value).all() and np.abs(J).max() <= 1e6
    np.testing.assert_allclose(Rotation.from_euler('XYZ', value).as_matrix(),
                               at.transform('body')[:3, :3], atol=2e-15)
