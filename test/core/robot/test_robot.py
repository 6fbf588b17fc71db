"""Names, limits and values of joints; frames, pickling and errors of robots."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest
from small_robots import joint, SMALL, TWO_ARMS, urdf, X, Z

from ros2_ik.core import Configuration, MotionLimits, Robot, straight_motion
from ros2_ik.core.errors import (
    InvalidStateError,
    RobotDescriptionError,
    UnknownFrameError,
    UnknownJointError,
    UnknownNameError,
)


def test_limits_of_mimic_joints_are_mapped_to_the_leader(small):
    """The limits of c = -a + 0.1, which are [-0.3, 0.6], restrict a to [-0.5, 0.4]."""
    robot = small('mimic_chain')
    assert robot.lower == pytest.approx([-0.5, -2.0])
    assert robot.upper == pytest.approx([0.4, 2.0])
    assert robot.mimics['b'] == ('a', -0.5, 0.1)
    assert robot.mimics['c'][0] == 'a' and robot.mimics['c'][1:] == pytest.approx((-1.0, 0.1))


def test_robot_is_freed_without_the_garbage_collector():
    """The servo disables the collector, and receives a robot with each scene."""
    gc.disable()
    try:
        robot = Robot.from_urdf(SMALL['mimic_chain'])
        freed = weakref.ref(robot)
        del robot
        assert freed() is None
    finally:
        gc.enable()


@pytest.mark.parametrize('kind, multiplier, limits, leader', [
    ('continuous', 0.0, None, 'continuous'), ('continuous', 1.2568, None, 'revolute'),
    ('revolute', 1.0, (-200.0, 200.0), 'revolute'), ('prismatic', 0.05, (-0.5, 1.0), 'revolute')])
def test_leader_is_periodic_only_if_no_mimic_joint_moves(kind, multiplier, limits, leader):
    """A rack and its pinion: one turn of the pinion moves the rack by 0.3 m."""
    robot = Robot.from_urdf(urdf(
        joint('pinion', 'continuous', 'base', 'wheel', axis=Z),
        joint('rack', kind, 'base', 'tip', axis=X, limits=limits,
              mimic=('pinion', multiplier, 0.0))))
    assert robot.joint('pinion').kind == leader
    motion = straight_motion(robot, ['pinion'], [0.0], [6.0], MotionLimits([1.0], [1.0], [10.0]))
    end = 6.0 if leader == 'revolute' else 6.0 - 2 * np.pi
    assert motion.goal[0] == pytest.approx(end)


def test_unknown_kind_of_root_joint_is_refused():
    for root_joint in ('floating', '', None, 5, []):
        with pytest.raises(RobotDescriptionError, match='freeflyer'):
            Robot.from_urdf(SMALL['scara'], root_joint=root_joint)


@pytest.mark.parametrize('name, message', [
    ('tipp', "unknown frame 'tipp'; did you mean 'tip'? (9 frames)"),
    ('zzz', 'elbow'), (None, "'None'"), ([], "'[]'")])
def test_unknown_frame_is_refused_with_similar_names(small, name, message):
    for call in (small('scara').frame_id, small('scara').moving_joints,
                 Configuration(small('scara')).transform, Configuration(small('scara')).jacobian):
        with pytest.raises(UnknownFrameError) as caught:
            call(name)
        assert message in str(caught.value)
        assert isinstance(caught.value, UnknownNameError)


@pytest.mark.parametrize('name', ['sholder', 'base', None, []])
def test_unknown_joint_is_refused_with_similar_names(small, name):
    with pytest.raises(UnknownJointError, match='joint.*shoulder'):
        small('scara').joint(name)
    with pytest.raises(UnknownJointError):
        small('scara').to_joints(small('scara').neutral, [name])


def test_to_q_accepts_partial_values_by_name_and_sequences(small):
    robot = small('scara')
    assert list(robot.to_q({'lift': -0.1})) == [0, 0, -0.1, 0]
    assert list(robot.to_q({'lift': -0.1}, start=np.array([1.0, 2, 3, 4]))) == [1, 2, -0.1, 4]
    assert list(robot.to_q({})) == list(robot.to_q()) == list(robot.neutral)
    assert list(robot.to_q([1, 2, 3, 4])) == [1, 2, 3, 4]
    assert list(robot.to_q((1, 2, 3, 4))) == [1, 2, 3, 4]


def test_joint_values_by_name_round_trip_for_all_kinds_of_joints(small):
    robot = small('nested', 'freeflyer')
    base, cart, drone = [1, 2, 3, 0, 0, 0, 2], [4, 5, 6], [7, 8, 9, 0, 1, 0, 0]
    q = robot.to_q({'root_joint': base, 'drive': cart, 'fly': drone, 'hook': 10, 'lift': 0.1})
    joints = robot.to_joints(q)
    assert list(joints['root_joint']) == [1, 2, 3, 0, 0, 0, 1]     # normalised
    assert (list(joints['drive']), list(joints['fly'])) == (cart, drone)
    assert (joints['hook'], joints['lift'], joints['arm']) == (10, 0.1, 0)
    assert list(joints) == list(robot.joint_names)
    np.testing.assert_array_equal(robot.to_q(joints), q)
    joints['drive'][:] = 0      # a copy: q does not change
    assert list(q[robot.joint('drive').index:][:3]) == cart


def test_mimic_joints_are_ignored_as_input_and_computed_as_output(small):
    robot = small('mimic_chain')
    q = robot.to_q({'a': 0.2, 'b': 77.0, 'c': 88.0})
    assert list(q) == [0.2, 0.0]
    assert robot.to_joints(q, ['c', 'b', 'a']) == pytest.approx({'c': -0.1, 'b': 0.0, 'a': 0.2})
    assert list(robot.to_joints(q, ['c', 'b', 'a'])) == ['c', 'b', 'a']
    assert list(robot.to_joints(q)) == ['a', 'd']


@pytest.mark.filterwarnings('error')
@pytest.mark.parametrize('values, message', [
    ({'lift': np.nan}, 'lift'), ({'lift': 'high'}, 'lift'), ({'lift': [1, 2]}, 'lift'),
    ({'lift': None}, 'lift'), ({'lift': 1j}, 'lift'), ({'lift': 10**400}, 'lift'),
    ([1, 2, 3], '4 finite numbers'), ([], '4 finite numbers'), (5, 'q'), ('abcd', 'q'),
    ([0, 0, 0, -np.inf], '-inf'), ([1e200, 0, 0, 0], 'below 1e+150'),
    ([0, 0, 0, 10**400], 'q'), ([[], 1, 2, 3], 'q')])
def test_malformed_joint_values_are_refused(small, values, message):
    with pytest.raises(InvalidStateError) as caught:
        small('scara').to_q(values)
    assert message in str(caught.value)


@pytest.mark.parametrize('quaternion', [[0, 0, 0, 0], [0, 0, 0, 1e-12], [0, 0, np.nan, 1]])
def test_quaternion_of_norm_zero_is_refused(small, quaternion):
    with pytest.raises(InvalidStateError, match='root_joint'):
        small('scara', 'freeflyer').to_q({'root_joint': [0, 0, 0, *quaternion]})


def test_moving_joints_of_a_frame_are_its_ancestors(small):
    robot = small('two_arms')
    assert robot.moving_joints('chest') == {'torso'}
    assert robot.moving_joints('left_b') == {'torso', 'left_1', 'left_2'}
    assert small('mimic_chain').moving_joints('tip') == {'a', 'd'}
    assert small('fingers').moving_joints('left_tip') == {'wrist', 'z_leader'}
    assert small('scara', 'freeflyer').moving_joints('base') == {'root_joint'}
    assert small('nested').moving_joints('cart') == {'lift', 'drive'}
    assert small('all_fixed').moving_joints('tip') == frozenset()


@pytest.mark.parametrize('root_joint', ['fixed', 'freeflyer'])
def test_robot_can_be_pickled_and_copied(root_joint):
    srdf = '<robot name="x"><group name="g"><joint name="torso"/></group></robot>'
    robot = Robot.from_urdf(TWO_ARMS, '/some/where', srdf, root_joint)
    for other in (pickle.loads(pickle.dumps(robot)), copy.deepcopy(robot)):
        assert (other.urdf, other.srdf, other.root_joint) == (robot.urdf, srdf, root_joint)
        assert other.joints == robot.joints and other.groups == robot.groups
        assert other.key == robot.key and other.package_dirs == ('/some/where',)
        q = robot.random_q(np.random.default_rng(1))
        np.testing.assert_array_equal(Configuration(other, q).transform('left_hand'),
                                      Configuration(robot, q).transform('left_hand'))


@pytest.mark.parametrize('multiplier, velocity, limit', [
    (-2.0, 1.0, 0.5), (0.5, 1.0, 1.5), (1.0, 0.0, 1.5), (0.0, 1.0, 1.5)])
def test_velocity_limit_of_a_mimic_joint_applies_to_its_leader(multiplier, velocity, limit):
    """A limit of 0, common for mimic joints, is ignored."""
    robot = Robot.from_urdf(urdf(
        joint('lead', 'revolute', 'a', 'b', axis=Z, limits=(-1.0, 1.0), velocity=1.5),
        joint('follow', 'revolute', 'b', 'c', axis=Z, limits=(-1.0, 1.0), velocity=velocity,
              mimic=('lead', multiplier, 0.0))))
    assert robot.joint('lead').velocity_limit == limit
