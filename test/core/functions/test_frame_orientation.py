"""The orientation of a frame compared with a reference."""


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


@pytest.fixture
def body(small):
    """Give a free body at a rotation vector."""
    def at(rotvec=(0, 0, 0), position=(1, 2, 3)):
        quaternion = Rotation.from_rotvec(rotvec).as_quat()
        return Configuration(small('one_link', 'freeflyer'), [*position, *quaternion])
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
    for value in (FramePose('body', inverse(M)).value(body(position=(0, 0, 0)))[3:],
                  FrameOrientation('body', inverse(M)).value(at),
                  FrameOrientation('body', offset=M).value(at)):
        np.testing.assert_allclose(value, expected, atol=1e-11)
    angle = FrameOrientation('body', M, form='angle').value(at)
    np.testing.assert_allclose(angle, np.linalg.norm(expected), rtol=1e-9, atol=1e-11)


def test_kinds_of_references(body):
    R = Rotation.from_rotvec((0.4, -0.3, 0.9)).as_matrix()
    expected = FrameOrientation('body', R).value(body())
    T = np.eye(4)
    T[:3, :3] = R
    for reference in (R.tolist(), T, pin.SE3(T)):
        value = FrameOrientation('body', reference).value(body())
        np.testing.assert_allclose(value, expected, atol=1e-15)


def test_references_are_copied(body):
    R = np.eye(3)
    function = FrameOrientation('body', R, offset=R)
    R[:] = Rotation.from_rotvec((1, 2, 3)).as_matrix()
    np.testing.assert_array_equal(function.value(body()), 0)


@pytest.mark.parametrize('name', ['reference', 'offset'])
@pytest.mark.parametrize('rotation, words', [
    (np.diag([1, 1, -1]), ['rigid', 'determinant']), (np.eye(3) * 1.01, ['rotation']),
    (np.full((3, 3), np.nan), ['finite']), ((0, 0, 0, 1), ['3x3', '(4,)']), ('R', ['3x3', "'R'"])])
def test_what_is_no_rotation(name, rotation, words):
    with pytest.raises(InvalidConstraintError) as caught:
        FrameOrientation('body', **{name: rotation})
    for word in (*words, name):
        assert word in str(caught.value)


@pytest.mark.parametrize('axes', ['', 'xx', 'w', None, ['x']])
def test_what_is_no_axes(axes):
    with pytest.raises(InvalidConstraintError, match=r"axes is .*'xyz'"):
        FrameOrientation('body', axes=axes)


@pytest.mark.parametrize('form', ['angle', 'chord'])
def test_rows_of_a_whole_that_has_none(form):
    with pytest.raises(InvalidConstraintError, match=f"axes is 'z'.* {form} .*valid: 'xyz'"):
        FrameOrientation('body', axes='z', form=form)


def test_unknown_form():
    with pytest.raises(InvalidConstraintError, match="form is 'quaternion'; valid: vector, angle"):
        FrameOrientation('body', form='quaternion')
