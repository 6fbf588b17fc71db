"""The orientation of a frame compared with a reference."""

from dataclasses import replace
from functools import partial

from judge import inverse, pose
import numpy as np
from oracles import recorded
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation

from ros2_ik.core import (
    Configuration,
    FrameOrientation,
    FramePose,
    InvalidConstraintError,
)

LIE = recorded('lie.json')
KINDS = [partial(FrameOrientation, form=form) for form in ('vector', 'angle', 'euler')]


@pytest.fixture
def body(small):
    """Give a free body at a rotation vector."""
    def at(rotvec=(0, 0, 0)):
        quaternion = Rotation.from_rotvec(rotvec).as_quat()
        return Configuration(small('one_link', 'freeflyer'), [1, 2, 3, *quaternion])
    return at


def test_is_the_lower_half_of_a_pose(load, home_of):
    at = Configuration(load('panda'), home_of('panda'))
    T = pose((1, 2, 3), (0.3, -0.8, 0.4))
    of_pose = FramePose('panda_hand', T, 'panda_link2').evaluate(at)
    orientation = FrameOrientation('panda_hand', T, 'panda_link2').evaluate(at)
    for whole, half in zip(of_pose, orientation, strict=True):
        np.testing.assert_allclose(half, whole[3:], atol=1e-14)


def test_offset_turns_the_frames_axes(body):
    turn = Rotation.from_rotvec((0.4, -0.3, 0.9))
    at, reference = body((0.2, 0.5, -0.1)), Rotation.from_rotvec((0.6, 0.1, 0.3))
    value = FrameOrientation('body', reference.as_matrix(), offset=turn.as_matrix()).value(at)
    expected = (reference.inv() * Rotation.from_rotvec((0.2, 0.5, -0.1)) * turn).as_rotvec()
    np.testing.assert_allclose(value, expected, atol=1e-14)


def test_along_the_axes_of_relative_to(body):
    """The reference's inverse as offset: the same rotation along other axes."""
    R, reference = Rotation.from_rotvec((0.2, 0.5, -0.1)), Rotation.from_rotvec((0.6, 0.1, 0.3))
    value = FrameOrientation('body', offset=reference.inv().as_matrix()).value(
        body(R.as_rotvec()))
    np.testing.assert_allclose(value, reference.apply((reference.inv() * R).as_rotvec()),
                               atol=1e-14)


def test_a_row_for_each_of_the_axes(body):
    at, reference = body((0.2, 0.5, -0.1)), pose(rotvec=(0.6, 0.1, 0.3))
    value, J = FrameOrientation('body', reference).evaluate(at)
    some = FrameOrientation('body', reference, axes='zx')
    assert some.labels == ('rz [rad]', 'rx [rad]')
    np.testing.assert_array_equal(some.value(at), value[[2, 0]])
    np.testing.assert_allclose(some.jacobian(at), J[[2, 0]], atol=1e-15)


@pytest.mark.parametrize('case', LIE['cases'], ids=lambda case: case['angle'])
def test_to_60_digits(body, case):
    M, expected = np.array(case['M']), case['log6'][3:]
    at = body()
    for value in (FrameOrientation('body', inverse(M)).value(at),
                  FrameOrientation('body', offset=M).value(at)):
        np.testing.assert_allclose(value, expected, atol=1e-11)
    angle = FrameOrientation('body', M, form='angle').value(at)
    np.testing.assert_allclose(angle, np.linalg.norm(expected), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize('axis', [*np.eye(3), (0.6, 0, -0.8), (0.36, 0.48, 0.8)])
def test_half_a_turn_off(body, axis):
    function = FrameOrientation('body', pose(rotvec=np.array(axis) * np.pi))
    value, J = function.evaluate(body())
    assert np.linalg.norm(value) == pytest.approx(np.pi, abs=1e-7)
    assert abs(value @ axis) == pytest.approx(np.pi, abs=1e-7)
    assert np.isfinite(J).all()
    np.testing.assert_array_equal(function.value(body()), value)


def test_with_reference(body):
    function = FrameOrientation('body', None, None, pose(rotvec=(0.1, 0.2, 0.3)), 'yz')
    other = replace(function, reference=pose(rotvec=(0.1, 0.2, 0.3)))
    assert other.labels == function.labels
    np.testing.assert_allclose(other.value(body()), 0, atol=1e-15)


@pytest.mark.parametrize('kind', KINDS)
def test_kinds_of_references(body, kind):
    R = Rotation.from_rotvec((0.4, -0.3, 0.9)).as_matrix()
    expected = kind('body', R).value(body())
    T = np.eye(4)
    T[:3, :3] = R
    for reference in (R.tolist(), T, pin.SE3(T)):
        np.testing.assert_allclose(kind('body', reference).value(body()), expected, atol=1e-15)


@pytest.mark.parametrize('kind', KINDS)
def test_references_are_copied(body, kind):
    R = np.eye(3)
    function = kind('body', R, offset=R)
    R[:] = Rotation.from_rotvec((1, 2, 3)).as_matrix()
    np.testing.assert_array_equal(function.value(body()), 0)


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('name', ['reference', 'offset'])
@pytest.mark.parametrize('rotation, words', [
    (np.diag([1, 1, -1]), ['rigid', 'determinant']), (np.eye(3) * 1.01, ['rotation']),
    (np.zeros((3, 3)), []), (np.full((3, 3), np.nan), ['finite']), (np.eye(2), ['3x3', '(2, 2)']),
    ((0, 0, 0, 1), ['3x3', '(4,)']), ('R', ['3x3', "'R'"]), (np.eye(3) * 1j, ['3x3'])])
def test_what_is_no_rotation(kind, name, rotation, words):
    with pytest.raises(InvalidConstraintError) as caught:
        kind('body', **{name: rotation})
    for word in (*words, name):
        assert word in str(caught.value)


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('axes', ['', 'xx', 'w', None, 3, ['x']])
def test_what_is_no_axes(kind, axes):
    with pytest.raises(InvalidConstraintError, match=r"axes is .*'xyz'"):
        kind('body', axes=axes)


@pytest.mark.parametrize('form', ['angle', 'chord'])
def test_rows_of_a_whole_that_has_none(form):
    with pytest.raises(InvalidConstraintError, match=f"axes is 'z'.* {form} .*valid: 'xyz'"):
        FrameOrientation('body', axes='z', form=form)


def test_unknown_form():
    with pytest.raises(InvalidConstraintError, match="form is 'quaternion'; valid: vector, angle"):
        FrameOrientation('body', form='quaternion')
