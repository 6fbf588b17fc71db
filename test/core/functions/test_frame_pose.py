"""The pose of a frame compared with a reference."""


from differences import jacobian_by_differences
from hypothesis import given, settings, strategies as st
from judge import pose, pose_error
import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation

from ros2_ik.core import Configuration, FramePose, InvalidTargetError


def expected_value(T, T_target):
    """Rotation vector and offset along the target's axes, by scipy."""
    R = T_target[:3, :3]
    return [*(R.T @ (T[:3, 3] - T_target[:3, 3])),
            *Rotation.from_matrix(R.T @ T[:3, :3]).as_rotvec()]


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32), relative=st.booleans())
def test_value_and_jacobian(small, seed, relative):
    robot, generator = small('two_arms', 'freeflyer'), np.random.default_rng(seed)
    q = robot.random_q(generator)
    at = Configuration(robot, q)
    other = 'right_hand' if relative else None
    T = at.transform('left_hand', other)
    reference = T @ pose(generator.uniform(-2, 2, 3), generator.uniform(-1, 1, 3) * 1.6)
    function = FramePose('left_hand', reference, other)
    np.testing.assert_allclose(function.value(at), expected_value(T, reference), atol=1e-12)
    np.testing.assert_allclose(function.jacobian(at), jacobian_by_differences(function, robot, q),
                               atol=1e-7)
    value, J = function.evaluate(at)
    np.testing.assert_array_equal(value, function.value(at))
    np.testing.assert_array_equal(J, function.jacobian(at))


def test_zero_exactly_at_the_reference(small):
    """At the reference J is the frame's own Jacobian: the rotation vector's derivative is I."""
    robot = small('two_arms')
    at = Configuration(robot, robot.random_q(np.random.default_rng(0)))
    function = FramePose('left_hand', at.transform('left_hand'))
    np.testing.assert_allclose(function.value(at), 0, atol=1e-15)
    np.testing.assert_allclose(function.jacobian(at), at.jacobian('left_hand'), atol=1e-12)


@pytest.mark.parametrize('angle', [np.pi, np.pi - 1e-9, np.pi + 1e-9, np.pi - 1e-4])
@pytest.mark.parametrize('axis', [(0, 0, 1), (0.6, 0, -0.8)])
def test_half_a_turn_off(small, angle, axis):
    """Never zero, never NaN, and the same each time."""
    at = Configuration(small('one_link', 'freeflyer'))
    function = FramePose('body', pose(rotvec=np.array(axis) * angle))
    value = function.value(at)
    assert np.linalg.norm(value[3:]) == pytest.approx(min(angle, 2 * np.pi - angle), abs=1e-7)
    assert abs(value[3:] @ axis) == pytest.approx(np.linalg.norm(value[3:]), abs=1e-6)
    assert np.isfinite(function.jacobian(at)).all()
    np.testing.assert_array_equal(value, function.value(at))


def test_labels_name_every_row_with_its_unit():
    assert FramePose.labels == ('x [m]', 'y [m]', 'z [m]', 'rx [rad]', 'ry [rad]', 'rz [rad]')


@pytest.mark.parametrize('reference', [
    np.eye(4).tolist(), pin.SE3.Identity(), np.eye(4, dtype=int), np.eye(8)[::2, ::2]])
def test_kinds_of_references(small, reference):
    value = FramePose('tip', reference).value(Configuration(small('scara')))
    np.testing.assert_allclose(value, [0.7, 0, 0.3, 0, 0, 0], atol=1e-15)


def test_reference_is_copied(small):
    T, at = pose((1, 2, 3)), Configuration(small('scara'))
    placement = pin.SE3(T)
    functions = [FramePose('tip', T), FramePose('tip', placement)]
    T[:3, 3] = 0
    placement.translation = np.zeros(3)
    for function in functions:
        np.testing.assert_allclose(function.value(at)[:3], [-0.3, -2, -2.7], atol=1e-15)


def test_rounded_rotation_is_made_a_rotation(small):
    """Six digits, as a text file has them: taken, and judged as the nearest rotation."""
    exact = pose((0.1, 0.2, 0.3), (0.3, 0.4, 0.5))
    error = FramePose('body', exact.round(6)).value(
        Configuration(small('one_link', 'freeflyer'),
                      [0.1, 0.2, 0.3, *Rotation.from_rotvec((0.3, 0.4, 0.5)).as_quat()]))
    assert np.abs(error).max() < 2e-6
    assert pose_error(exact, exact.round(6))[1] < 2e-6


def broken(**parts):
    """Give a unit matrix with entries changed: r12=.5 sets row 1, column 2."""
    T = np.eye(4)
    for place, value in parts.items():
        T[int(place[1]), int(place[2])] = value
    return T


@pytest.mark.parametrize('reference, words', [
    (broken(r03=np.nan), ['finite']), (broken(r11=np.inf), ['finite']),
    (broken(r03=1e200), ['further away']),
    (broken(r30=1.0), ['last row', '[1.0, 0.0, 0.0, 1.0]']), (broken(r01=2e-3), ['rotation']),
    (np.diag([2.0, 2, 2, 1]), ['determinant', '8']), (np.diag([0.0, 0, 0, 1]), ['rotation']),
    (np.eye(3), ['4x4', '(3, 3)']), (None, ['4x4']), ('pose', ['4x4']), ([[1, 2], [3]], []),
    (np.eye(4) * 1j, ['tip']), ([[10**400] * 4] * 4, ['tip'])])
def test_references_that_are_no_pose(reference, words):
    with pytest.raises(InvalidTargetError) as caught:
        FramePose('tip', reference)
    for word in [*words, 'tip']:
        assert word in str(caught.value)
