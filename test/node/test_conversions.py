"""Conversion of messages to values of the library and back."""

import math
from types import SimpleNamespace

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point, Pose, Quaternion, Transform, Vector3
from moveit_msgs.msg import RobotState
from node_harness import matrix, reachable, robot_state
import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation
from small_arm import ARM, small_arm

from ros2_ik.core import (
    Box,
    collision_checker,
    Configuration,
    IKError,
    Robot,
    Scene,
    SceneObject,
    Status,
)
from ros2_ik.core.internals import prepare, World
from ros2_ik.messages.constraints import function_message as function
from ros2_ik.messages.frames import group_name, Reference, reference, tip_name
from ros2_ik.messages.poses import fill_pose, placement
from ros2_ik.messages.request_error import RequestError
from ros2_ik.messages.requests import read_request
from ros2_ik.messages.robot_states import fill_state, joint_values
from ros2_ik.msg import Bounds
from ros2_ik.node.parameters import PARAMETERS
from ros2_ik.srv import ComputeIK

DEFAULTS = SimpleNamespace(**{spec.name: spec.default for spec in PARAMETERS})


def no_tf(robot, frame):
    raise LookupError('no TF here')


def read(robot, lookup=no_tf, **fields):
    """Return the request of a ComputeIK message without collision checks."""
    request = ComputeIK.Request(**fields, avoid_collisions=False)
    return read_request(request, Scene(robot), joint_values(request.seed, robot), DEFAULTS,
                        lookup, lambda scene: None)[0]


@pytest.mark.parametrize(('norm', 'valid'), [(1.009, True), (0.989, False)])
def test_quaternion_norm_must_be_near_one(norm, valid):
    rotation = Quaternion(x=0.6 * norm, y=0.0, z=0.0, w=0.8 * norm)
    if valid:
        T = placement(Point(x=1.0, y=-2.0, z=3.0), rotation, 'target')
        expected = Rotation.from_quat([0.6, 0, 0, 0.8]).as_matrix()
        np.testing.assert_allclose(T.rotation, expected, atol=1e-14)
        pose = Pose()
        fill_pose(pose, T)
        np.testing.assert_allclose(matrix(pose), T.homogeneous, atol=1e-14)
    else:
        with pytest.raises(RequestError, match='quaternion of target') as error:
            placement(Point(), rotation, 'target')
        assert error.value.status is Status.INVALID_GOAL_CONSTRAINTS


@pytest.mark.parametrize(('root_joint', 'value'), [
    ('freeflyer', [1, 2, 3, 0, 0, math.sqrt(0.5), math.sqrt(0.5)]),
    ('planar', [1, 2, math.pi / 2])])
def test_base_joint_state_survives_a_round_trip(root_joint, value):
    robot = small_arm(root_joint=root_joint)
    base = robot.joints[0]
    half = math.sqrt(0.5)
    state = robot_state(ARM)
    state.multi_dof_joint_state.joint_names = [base.name]
    state.multi_dof_joint_state.transforms = [Transform(
        translation=Vector3(x=1.0, y=2.0, z=3.0), rotation=Quaternion(z=half, w=half))]
    values = joint_values(state, robot)
    assert values == {**ARM, base.name: pytest.approx(value)}
    returned = RobotState()
    fill_state(returned, values, [*ARM, base.name])
    assert joint_values(returned, robot) == {**ARM, base.name: pytest.approx(values[base.name])}
    assert list(returned.joint_state.name) == list(ARM)


def test_shipped_defaults_do_not_apply_to_another_robot_of_the_same_name(panda):
    assert group_name(panda, '', DEFAULTS) == 'arm'
    assert tip_name(panda, 'arm', DEFAULTS) == 'panda_hand_tcp'
    assert tip_name(panda, 'hand', DEFAULTS) == 'panda_leftfinger'
    other = Robot.from_urdf(small_arm().urdf.replace('"small_arm"', '"panda"'))
    assert tip_name(other, group_name(other, '', DEFAULTS), DEFAULTS) == 'hand'


def test_ambiguous_default_tip_is_refused(panda):
    robot = Robot.from_urdf(panda.urdf.replace('name="panda"', 'name="other"'))
    with pytest.raises(IKError, match='name one: .*panda_leftfinger') as error:
        tip_name(robot, '', DEFAULTS)
    assert error.value.status is Status.INVALID_LINK_NAME
    defaults = SimpleNamespace(**{**vars(DEFAULTS), 'default_tip': 'panda_link7'})
    assert tip_name(robot, '', defaults) == 'panda_link7'


def test_unknown_frame_is_looked_up_in_tf():
    T = pin.SE3.Random()
    frames = []

    def lookup(robot, frame):
        frames.append(frame)
        return Reference('fore', T)
    robot = small_arm()
    scene = Scene(robot)
    found = reference(robot, scene, '/camera', lookup)
    assert found.frame == 'fore' and found.offset is T and frames == ['camera']
    assert reference(robot, scene, 'fore', lookup).frame == 'fore'
    assert reference(robot, scene, 'base', lookup) == reference(robot, scene, '', lookup)
    with pytest.raises(RequestError, match="unknown frame 'camera'.*no TF here") as error:
        reference(robot, scene, 'camera', no_tf)
    assert error.value.status is Status.FRAME_TRANSFORM_FAILURE


@pytest.mark.parametrize(('given', 'seconds'), [
    (Duration(), 0.05), (Duration(sec=1, nanosec=4_000_000_000), 5),
    (Duration(sec=-1, nanosec=1_500_000_000), 0.5)])
def test_timeout_is_limited_and_zero_means_the_default(given, seconds):
    robot = small_arm()
    request = read(robot, targets=[reachable(robot, 'hand')], timeout=given)
    assert request.options.timeout == pytest.approx(seconds)


def test_more_seeds_are_read():
    robot = small_arm()
    request = read(robot, targets=[reachable(robot, 'hand')],
                   more_seeds=[robot_state(ARM), robot_state({})])
    assert request.more_seeds == (ARM, {})


# -- the default group of a request -------------------------------------------------

LEFT, RIGHT = ({f'{side}_{joint}' for joint in ('s0', 's1', 'e0', 'e1', 'w0', 'w1', 'w2')}
               for side in ('left', 'right'))
GRIPPER = 'right_gripper_base_link'


def group_and_joints(robot, constraints=(), costs=(), checker=None, **fields):
    """Return the group of a request ('' for none) and its active joints."""
    message = ComputeIK.Request(constraints=list(constraints), costs=list(costs), **fields)
    request, _ = read_request(message, Scene(robot), {}, DEFAULTS, no_tf, lambda scene: checker)
    problem = prepare(request, World(robot, checker=checker)).problem
    return problem.group or '', set(problem.joint_names)


def pose_of(frame, relative_to=''):
    return function('frame_pose', Bounds(target=[0.0]), frame=frame, relative_to=relative_to,
                    reference=[0, 0, 0])


def values_of(*names):
    return function('joint_positions', names=names, bounds=Bounds(target=[0.5]))


def mass_of(**links):
    return function('center_of_mass', bounds=Bounds(lower=[-9.0]), **links)


@pytest.mark.parametrize(('message', 'group', 'joints'), [
    (pose_of('left_gripper', 'torso'), 'left_arm', LEFT), (pose_of('right_gripper'), '', RIGHT),
    (pose_of('left_gripper', 'right_gripper'), '', LEFT | RIGHT),
    (values_of('left_e1', 'left_s0'), 'left_arm', LEFT),
    (values_of('left_e1', 'right_e1'), '', {'left_e1', 'right_e1'}),
    (mass_of(links=['left_wrist', 'right_wrist']), '', LEFT | RIGHT),
    (mass_of(), 'left_arm', LEFT)])
def test_default_group_contains_joints_of_every_named_frame_and_joint(message, group, joints):
    robot = Robot.load('baxter')
    assert group_and_joints(robot, [message]) == (group, joints)
    if message.kind != 'frame_pose':
        assert group_and_joints(robot, costs=[message]) == (group, joints)


def test_default_group_contains_joints_of_both_bodies_of_a_distance():
    robot = Robot.load('baxter')
    box = SceneObject('box', [Box([0.1, 0.1, 0.1])])
    scene = Scene(robot).add(box).attach('box', GRIPPER, at=Configuration(robot, robot.neutral))
    checker = collision_checker(robot, scene.add(SceneObject('wall', [Box([0.1, 0.1, 0.1])])),
                                missing='skip')
    for second, group, joints in (('wall', 'left_arm', LEFT), ('box', '', LEFT | RIGHT),
                                  (GRIPPER, '', LEFT | RIGHT)):
        pair = function('pair_distance', first='left_gripper_base_link', second=second,
                        bounds=Bounds(lower=[0.1]))
        assert group_and_joints(robot, [pair], checker=checker) == (group, joints), second
    with pytest.raises(RequestError, match='neither robot nor scene has geometry'):
        group_and_joints(robot, [pair])


def test_default_group_contains_only_joints_between_two_named_frames(panda):
    """The arm moves hand and finger together; only the finger joint moves one in the other."""
    finger = 'panda_finger_joint1'
    assert group_and_joints(panda, [pose_of('panda_leftfinger', 'panda_hand')]) == ('', {finger})
    tips = ['panda_hand', 'panda_leftfinger']
    targets = [reachable(panda, tip) for tip in tips]
    group, joints = group_and_joints(panda, tips=tips, targets=targets)
    assert group == '' and finger in joints


def test_constraints_extend_the_default_group_but_costs_do_not(panda):
    def posture(**bounds):
        return function('joint_positions', Bounds(**bounds), reference=[0.0] * 8)
    assert group_and_joints(panda, costs=[posture()])[0] == 'arm'     # the finger joint is ignored
    group, joints = group_and_joints(panda, [posture(lower=[-3.0])])
    assert group == '' and len(joints) == 8
