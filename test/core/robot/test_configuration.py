"""Forward kinematics, Jacobians, sums and differences, limits of configurations."""

from hypothesis import given, strategies as st
from judge import step, TreeJudge
import numpy as np
import pytest
from small_robots import joint, SMALL, urdf, Z

from ros2_ik.core import (
    Configuration,
    InvalidStateError,
    JointLimitError,
    Robot,
    UnknownJointError,
)

NAMES = sorted(set(SMALL) - {'crank'})
ROOTS = ['fixed', 'planar', 'freeflyer']


def test_a_link_and_a_joint_of_one_name():
    """The link is meant; here it is the parent's, not the child's."""
    robot = Robot.from_urdf(urdf(
        joint('b', 'revolute', 'base', 'a', xyz=(1, 0, 0), axis=Z, limits=(-1.0, 1.0)),
        joint('x', 'fixed', 'a', 'b', xyz=(0, 0, 5))))
    assert robot.frame_names == ('base', 'a', 'b', 'x')
    assert Configuration(robot).transform('b')[:3, 3] == pytest.approx([1, 0, 5])


@given(seed=st.integers(0, 2**32), name=st.sampled_from(NAMES), root_joint=st.sampled_from(ROOTS),
       size=st.sampled_from([1e-9, 1e-3, 0.3, 3.0]))
def test_integrate_and_difference(small, seed, name, root_joint, size):
    robot, generator = small(name, root_joint), np.random.default_rng(seed)
    at = Configuration(robot, robot.random_q(generator))
    v = generator.uniform(-1, 1, robot.nv) * size / 2
    moved = at.integrate(v, 2.0)
    expected = step(robot, at.q, 2 * v)
    for j in robot.joints:
        a, b = (q[j.index:j.index + j.size] for q in (moved, expected))
        if j.kind == 'floating':
            b = np.concatenate([b[:3], b[3:] * np.sign(a[3:] @ b[3:])])
        np.testing.assert_allclose(a, b, atol=1e-12)
    if robot.nv and max(np.linalg.norm(2 * v[i:i + 3]) for i in range(robot.nv)) < 3:
        np.testing.assert_allclose(at.difference(moved), 2 * v, atol=1e-9)
        np.testing.assert_allclose(at.difference(Configuration(robot, moved)), 2 * v, atol=1e-9)


def test_turns_are_kept(small):
    robot = small('turntable')
    at = Configuration(robot, {'table': 7.0, 'pole': -20.0})
    assert list(at.q) == [7.0, -20.0]
    assert list(at.difference([7.0 + 4 * np.pi, 0.0])) == pytest.approx([4 * np.pi, 20.0])
    at.integrate_inplace([10.0, 0.5], 2.0)
    assert list(at.q) == [27.0, -19.0]
    assert at.joints == {'table': 27.0, 'pole': -19.0}
    assert robot.to_joints(at.q, ['gear']) == pytest.approx({'gear': -53.6})
    at.check_limits()


@pytest.mark.parametrize('v, dt', [
    ([1.0] * 5, 1.0), ('abcd', 1.0), (None, 1.0), ([np.nan] * 4, 1.0), ([[1.0] * 4], 1.0),
    ([1.0] * 4, 'a'), ([1.0] * 4, np.nan), ([10**400, 0, 0, 0], 1.0)])
def test_velocities_that_are_none(small, v, dt):
    at = Configuration(small('scara'), [0.1, 0.2, 0.0, 0.3])
    for integrate in (at.integrate, at.integrate_inplace):
        with pytest.raises(InvalidStateError):
            integrate(v, dt)
    assert list(at.q) == [0.1, 0.2, 0.0, 0.3]


@pytest.mark.parametrize('name, root_joint', [
    ('mimic_chain', 'fixed'), ('nested', 'planar'), ('two_arms', 'freeflyer')])
def test_center_of_mass(small, name, root_joint):
    robot, judge = small(name, root_joint), TreeJudge(SMALL[name], root_joint)
    at = Configuration(robot, robot.random_q(np.random.default_rng(5)))
    np.testing.assert_allclose(at.center_of_mass(), judge.center_of_mass(at.joints), atol=1e-12)


def test_center_of_mass_of_nothing(small):
    for robot in (small('all_fixed'), small('one_link', 'freeflyer')):
        with pytest.raises(InvalidStateError, match='mass'):
            Configuration(robot).center_of_mass()


def test_check_limits_names_joint_value_and_limits(small):
    robot = small('scara')
    Configuration(robot, [2.0, -2.4, 0.05, 6.0]).check_limits()
    Configuration(robot, [2.0 + 9e-7, -2.4, 0.05, 6.0]).check_limits()
    Configuration(robot, [2.1, -2.4, 0.05, 6.0]).check_limits(0.2)
    with pytest.raises(JointLimitError) as caught:
        Configuration(robot, [0, 0, 0.07, 0]).check_limits()
    assert (caught.value.joint, caught.value.value) == ('lift', 0.07)
    assert (caught.value.lower, caught.value.upper) == (-0.2, 0.05)
    for word in ("'lift'", '0.07', '-0.2', '0.05'):
        assert word in str(caught.value)
    with pytest.raises(JointLimitError, match='shoulder'):
        Configuration(robot, [2.0 + 2e-6, 0, 0, 0]).check_limits()
    with pytest.raises(JointLimitError, match='elbow'):
        Configuration(robot, [0, -2.5, 0, 0]).check_limits(tolerance=0.05)


def test_q_is_read_only_and_a_copy(small):
    q = np.array([0.1, 0.2, 0.0, 0.3])
    at = Configuration(small('scara'), q)
    q[0] = 9.0
    assert at.q[0] == 0.1
    with pytest.raises(ValueError, match='read-only'):
        at.q[0] = 1.0
    T = at.transform('tip')
    T[0, 3] = 99.0
    at.jacobian('tip')[0, 0] = 99.0
    assert at.transform('tip')[0, 3] != 99.0 and at.jacobian('tip')[0, 0] != 99.0


def test_with_q_and_update(small):
    at = Configuration(small('scara'), [0.1, 0.2, 0.0, 0.3])
    other = at.with_q({'lift': -0.1})
    assert list(other.q) == [0.1, 0.2, -0.1, 0.3] and list(at.q) == [0.1, 0.2, 0.0, 0.3]
    assert other.transform('tip')[2, 3] == pytest.approx(0.2)
    assert at.transform('tip')[2, 3] == pytest.approx(0.3)
    at.update([0.0, 0.0, -0.2, 0.0])
    assert at.transform('tip')[:3, 3] == pytest.approx([0.7, 0.0, 0.1])


def test_a_refused_update_changes_nothing(small):
    at = Configuration(small('scara'), [0.1, 0.2, 0.0, 0.3])
    T = at.transform('tip')
    for wrong in ([1.0], [np.nan] * 4, {'ghost': 1.0}):
        with pytest.raises((InvalidStateError, UnknownJointError)):
            at.update(wrong)
        assert list(at.q) == [0.1, 0.2, 0.0, 0.3]
        np.testing.assert_array_equal(at.transform('tip'), T)
