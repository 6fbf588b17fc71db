"""Forward kinematics, Jacobians, integration and differences of configurations."""

import random
from xml.etree import ElementTree

from hypothesis import given, settings, strategies as st
from judge import numeric_jacobian, step, TreeJudge
import numpy as np
import pytest
from small_robots import joint, SMALL, urdf

from ros2_ik.core import Configuration, Robot
from ros2_ik.core.errors import (
    InvalidStateError,
    JointLimitError,
    RobotDescriptionError,
    UnknownJointError,
)

NAMES = sorted(set(SMALL) - {'crank'})
ROOT_JOINTS = ['fixed', 'planar', 'freeflyer']


@settings(max_examples=50)
@given(seed=st.integers(0, 2**32), name=st.sampled_from(NAMES),
       root_joint=st.sampled_from(ROOT_JOINTS), size=st.sampled_from([1e-9, 1e-3, 0.3, 3.0]))
def test_difference_is_the_inverse_of_integrate(small, seed, name, root_joint, size):
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


def test_continuous_joints_keep_full_turns(small):
    robot = small('turntable')
    at = Configuration(robot, {'table': 7.0, 'pole': -20.0})
    assert list(at.q) == [7.0, -20.0]
    assert list(at.difference([7.0 + 4 * np.pi, 0.0])) == pytest.approx([4 * np.pi, 20.0])
    at.integrate_inplace([10.0, 0.5], 2.0)
    assert list(at.q) == [27.0, -19.0]
    assert at.joints == {'table': 27.0, 'pole': -19.0}
    assert robot.to_joints(at.q, ['gear']) == pytest.approx({'gear': -53.6})
    robot.check_limits(at.q)


@pytest.mark.parametrize('v, dt', [
    ([1.0] * 5, 1.0), ('abcd', 1.0), (None, 1.0), ([np.nan] * 4, 1.0), ([[1.0] * 4], 1.0),
    ([1.0] * 4, 'a'), ([1.0] * 4, np.nan), ([10**400, 0, 0, 0], 1.0)])
def test_malformed_velocities_are_refused_and_change_nothing(small, v, dt):
    at = Configuration(small('scara'), [0.1, 0.2, 0.0, 0.3])
    for integrate in (at.integrate, at.integrate_inplace):
        with pytest.raises(InvalidStateError):
            integrate(v, dt)
    assert list(at.q) == [0.1, 0.2, 0.0, 0.3]


def test_jacobian_of_a_robot_without_joints_has_no_columns(small):
    robot = small('all_fixed')
    assert Configuration(robot).spatial_jacobian(robot.root_frame).shape == (6, 0)


def test_center_of_mass_without_mass_is_refused(small):
    for robot in (small('all_fixed'), small('one_link', 'freeflyer')):
        with pytest.raises(InvalidStateError, match='mass'):
            Configuration(robot).center_of_mass()


def test_violated_limit_is_refused_with_joint_value_and_limits(small):
    robot = small('scara')
    robot.check_limits(robot.to_q([2.0, -2.4, 0.05, 6.0]))
    robot.check_limits(robot.to_q([2.0 + 9e-7, -2.4, 0.05, 6.0]))
    robot.check_limits(robot.to_q([2.1, -2.4, 0.05, 6.0]), 0.2)
    with pytest.raises(JointLimitError) as caught:
        robot.check_limits(robot.to_q([0, 0, 0.07, 0]))
    for word in ("'lift'", '0.07', '-0.2', '0.05'):
        assert word in str(caught.value)
    with pytest.raises(JointLimitError, match='shoulder'):
        robot.check_limits(robot.to_q([2.0 + 2e-6, 0, 0, 0]))
    with pytest.raises(JointLimitError, match='elbow'):
        robot.check_limits(robot.to_q([0, -2.5, 0, 0]), tolerance=0.05)


def test_q_is_read_only_and_results_are_copies(small):
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


def test_refused_update_of_a_configuration_changes_nothing(small):
    at = Configuration(small('scara'), [0.1, 0.2, 0.0, 0.3])
    T = at.transform('tip')
    for wrong in ([1.0], [np.nan] * 4, {'ghost': 1.0}):
        with pytest.raises((InvalidStateError, UnknownJointError)):
            at.update(wrong)
        assert list(at.q) == [0.1, 0.2, 0.0, 0.3]
        np.testing.assert_array_equal(at.transform('tip'), T)


KINDS = ['revolute', 'continuous', 'prismatic', 'fixed', 'planar', 'floating']
ONE_DOF = ('revolute', 'continuous', 'prismatic')


def random_name(generator, used_names):
    """Return an unused random name with characters that users and exporters choose."""
    while True:
        name = ''.join(generator.choice('abXY_-/.|: 019é') for _ in range(generator.randint(1, 5)))
        if name.strip() == name and name not in used_names:
            used_names.add(name)
            return name


def random_urdf(generator):
    """Return a random tree; the leader of a mimic joint may be anywhere in it."""
    count = generator.randint(1, 12)
    links, joints, used_names = [random_name(generator, set())], [], set()
    names = set(links)
    for _ in range(count):
        kind = generator.choices(KINDS, [5, 3, 3, 2, 0.5, 0.5])[0]
        parent = links[-1] if generator.random() < 0.6 else generator.choice(links)
        links.append(random_name(generator, names))
        low = generator.uniform(-2, 0.5)
        joints.append({
            'name': random_name(generator, used_names), 'kind': kind, 'parent': parent,
            'child': links[-1], 'xyz': [generator.uniform(-0.5, 0.5) for _ in range(3)],
            'rpy': [generator.uniform(-3, 3) for _ in range(3)],
            'axis': [generator.uniform(-1, 1) for _ in range(3)],
            'limits': (low, low + generator.uniform(0.5, 3)) if generator.random() < 0.7 else None
        })
    for entry in joints:
        leader = generator.choice(joints)
        if entry['kind'] in ONE_DOF and leader['kind'] in ONE_DOF and generator.random() < 0.3:
            entry['mimic'] = (leader['name'], generator.choice([1.0, -1.0, 0.5, -2.0]),
                              generator.uniform(-0.5, 0.5))
    generator.shuffle(joints)
    return urdf(*(joint(**entry) for entry in joints), name='random')


def random_robots(count):
    """Yield robots and judges of random trees; refusals must name the mimic joint."""
    generator = random.Random(1)
    for _ in range(count):
        text = random_urdf(generator)
        root_joint = generator.choice(['fixed', 'fixed', 'planar', 'freeflyer'])
        try:
            robot = Robot.from_urdf(text, root_joint=root_joint)
        except RobotDescriptionError as error:
            assert 'mimic' in str(error), error
            continue
        base = (robot.joint_names[0], robot.root_frame) if root_joint != 'fixed' else ()
        yield robot, TreeJudge(text, root_joint, *([base] if base else []))


def test_kinematics_of_random_robots_agree_with_matrix_products():
    count = 0
    for robot, judge in random_robots(80):
        count += 1
        q = robot.random_q(np.random.default_rng(count))
        at = Configuration(robot, q)
        assert judge.outside(at.joints) == []
        for link in judge.links:
            np.testing.assert_allclose(at.transform(link), judge.transform(at.joints, link),
                                       atol=1e-12)
        for entry in ElementTree.fromstring(robot.urdf).iter('joint'):
            name, child = entry.get('name'), entry.find('child').get('link')
            if name not in judge.links:     # a link of this name takes precedence
                np.testing.assert_allclose(at.transform(name), at.transform(child), atol=1e-12)
        frame, other = judge.links[-1], judge.links[len(judge.links) // 2]
        np.testing.assert_allclose(at.transform(frame, other),
                                   judge.transform(at.joints, frame, other), atol=1e-12)
        expected = numeric_jacobian(robot, q, lambda q, r=robot, j=judge, f=frame, o=other:
                                    j.transform(r.to_joints(q), f, o))
        np.testing.assert_allclose(at.jacobian(frame, other), expected.reshape(6, robot.nv),
                                   atol=1e-7)
        moving = {j.name for j in robot.joints
                  if np.abs(expected[:, j.velocity_index:][:, :j.velocity_size]).max() > 1e-6}
        assert moving <= robot.moving_joints(frame, other)
    assert count > 32
