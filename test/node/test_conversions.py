"""Messages to core values and back."""

from dataclasses import replace
import math
from types import SimpleNamespace

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point, Pose, Quaternion, Transform, Vector3
from moveit_msgs.msg import RobotState
from node_harness import matrix, reachable, seed
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
    prepare,
    Robot,
    Scene,
    SceneObject,
    StaticWorld,
    Status,
)
from ros2_ik.messages.constraints import read_constraints
from ros2_ik.messages.frames import group_name, Reference, reference, tip_name
from ros2_ik.messages.functions import function_message as function
from ros2_ik.messages.poses import fill_pose, placement, read_pose
from ros2_ik.messages.request_error import RequestError
from ros2_ik.messages.requests import read_request
from ros2_ik.messages.robot_states import fill_state, joint_values
from ros2_ik.msg import Bounds
from ros2_ik.node.parameters import PARAMETERS
from ros2_ik.srv import ComputeIK

DEFAULTS = SimpleNamespace(**{spec.name: spec.default for spec in PARAMETERS})


def no_tf(robot, frame):
    raise LookupError('no TF here')


def question(robot, lookup=no_tf, **fields):
    return read_request(ComputeIK.Request(**fields), Scene(robot), DEFAULTS, lookup)


class KnownWorld(StaticWorld):
    """Remembers which joints may move, and which must be known."""

    def start(self, request, free, needed, checked):
        object.__setattr__(self, 'asked', (free, needed))
        return super().start(request, free, needed, checked)


def problem_of(asked, robot, at=None):
    return prepare(asked, StaticWorld(robot, at)).problem


def joints_of(asked, robot):
    """Return which joints may move, and which must be known."""
    world = KnownWorld(robot)
    prepare(asked, world)
    return world.asked


# -- poses ----------------------------------------------------------------------------------

def test_pose_there_and_back():
    for rotation in Rotation.random(50, random_state=0):
        x, y, z, w = rotation.as_quat()
        place = placement(Point(x=1.0, y=-2.0, z=3.0), Quaternion(x=x, y=y, z=z, w=w), 'it')
        assert np.allclose(place.rotation, rotation.as_matrix(), atol=1e-14)
        assert place.translation.tolist() == [1, -2, 3]
        pose = Pose()
        fill_pose(pose, place)
        assert np.allclose(matrix(pose), place.homogeneous, atol=1e-14)


@pytest.mark.parametrize(('norm', 'good'), [(1.009, True), (0.991, True), (1.011, False),
                                            (0.989, False)])
def test_norm_of_quaternions(norm, good):
    rotation = Quaternion(x=0.6 * norm, y=0.0, z=0.0, w=0.8 * norm)
    if good:
        place = placement(Point(), rotation, 'it')
        assert abs(np.linalg.det(place.rotation) - 1) < 1e-12
    else:
        with pytest.raises(RequestError, match='quaternion of it') as error:
            placement(Point(), rotation, 'it')
        assert error.value.status is Status.INVALID_GOAL_CONSTRAINTS


# -- robot states ---------------------------------------------------------------------------

def test_state_of_a_floating_joint():
    robot = small_arm(root_joint='freeflyer')
    base = robot.joints[0]
    half = math.sqrt(0.5)
    state = seed(ARM)
    state.multi_dof_joint_state.joint_names = [base.name]
    state.multi_dof_joint_state.transforms = [Transform(
        translation=Vector3(x=1.0, y=2.0, z=3.0), rotation=Quaternion(z=half, w=half))]
    values = joint_values(state, robot)
    assert values == {**ARM, base.name: pytest.approx([1, 2, 3, 0, 0, half, half])}
    again = RobotState()
    fill_state(again, values, [*ARM, base.name])
    assert joint_values(again, robot) == {**ARM, base.name: pytest.approx(values[base.name])}
    assert list(again.joint_state.name) == list(ARM)


# -- names ----------------------------------------------------------------------------------

def test_defaults_of_a_shipped_robot_are_not_for_another_one_of_that_name(panda):
    assert group_name(panda, '', DEFAULTS) == 'arm'
    assert tip_name(panda, 'arm', DEFAULTS) == 'panda_hand_tcp'
    assert tip_name(panda, 'hand', DEFAULTS) == 'panda_leftfinger'
    other = Robot.from_urdf(small_arm().urdf.replace('"small_arm"', '"panda"'))
    assert tip_name(other, group_name(other, '', DEFAULTS), DEFAULTS) == 'hand'


def test_several_tips_to_choose_from(panda):
    robot = Robot.from_urdf(panda.urdf.replace('name="panda"', 'name="other"'))
    with pytest.raises(IKError, match='name one: .*panda_leftfinger') as error:
        tip_name(robot, '', DEFAULTS)
    assert error.value.status is Status.INVALID_LINK_NAME
    defaults = SimpleNamespace(**{**vars(DEFAULTS), 'default_tip': 'panda_link7'})
    assert tip_name(robot, '', defaults) == 'panda_link7'


def test_frame_of_tf():
    place = pin.SE3.Random()
    asked = []

    def lookup(robot, frame):
        asked.append(frame)
        return Reference('fore', place)
    robot = small_arm()
    scene = Scene(robot)
    found = reference(robot, scene, '/camera', lookup)
    assert found.frame == 'fore' and found.offset is place and asked == ['camera']
    assert reference(robot, scene, 'fore', lookup).frame == 'fore'
    assert reference(robot, scene, 'base', lookup) == reference(robot, scene, '', lookup)
    with pytest.raises(RequestError, match="unknown frame 'camera'.*no TF here") as error:
        reference(robot, scene, 'camera', no_tf)
    assert error.value.status is Status.FRAME_TRANSFORM_FAILURE


def on_the(link, **other):
    """Give a question in a frame that TF has on a link."""
    robot, place = small_arm(), pin.SE3(np.eye(3), np.array([0.1, 0.2, 0.3]))
    message = reachable(robot, 'hand')
    message.header.frame_id = 'camera'
    pose = read_pose(message.pose, 'it')
    asked = question(robot, lambda robot, frame: Reference(link, place), targets=[message],
                     **other)
    return robot, asked, (place * pose).homogeneous


def test_a_frame_on_a_link_stands_where_the_link_starts():
    robot, asked, there = on_the('fore')
    start = np.full(robot.nq, 0.3)
    assert joints_of(asked, robot)[1] >= robot.moving_joints('fore')
    function = problem_of(asked, robot, start).targets[0].function
    link = Configuration(robot, start).transform('fore')
    assert function.relative_to is None
    assert np.allclose(function.reference.homogeneous, link @ there)


def test_a_frame_on_a_link_follows_it():
    robot, asked, there = on_the('fore', follow_frames=True, group='arm')
    target = problem_of(asked, robot).targets[0]
    assert target.relative_to == 'fore'
    assert np.allclose(target.function.reference.homogeneous, there)


def test_what_is_fixed_to_the_tip_cannot_be_its_target():
    robot, asked, _ = on_the('hand', follow_frames=True)
    with pytest.raises(IKError, match="no active joint moves 'hand' relative to 'hand'") as error:
        problem_of(asked, robot)
    assert error.value.status is Status.INVALID_LINK_NAME


def test_what_may_stand_still_is_not_followed():
    robot = small_arm()
    message = reachable(robot, 'hand')
    message.header.frame_id = 'tag'
    with pytest.raises(RequestError,
                       match="'tag' hangs on link 'fore'.*valid:.*/tf_static") as error:
        question(robot, lambda robot, frame: Reference(None, pin.SE3.Identity(), 'fore'),
                 targets=[message], follow_frames=True)
    assert error.value.status is Status.FRAME_TRANSFORM_FAILURE


# -- questions ------------------------------------------------------------------------------

@pytest.mark.parametrize(('given', 'seconds'), [
    (Duration(), 0.05), (Duration(sec=1, nanosec=4_000_000_000), 5),
    (Duration(sec=-1, nanosec=1_500_000_000), 0.5)])
def test_timeouts(given, seconds):
    robot = small_arm()
    asked = question(robot, targets=[reachable(robot, 'hand')], timeout=given)
    assert asked.options.timeout == pytest.approx(seconds)


# -- joints ---------------------------------------------------------------------------------

def test_joints_that_must_be_known():
    robot = small_arm()
    target = reachable(robot, 'hand')
    asked = question(robot, group='arm', targets=[target])
    assert joints_of(asked, robot) == (set(ARM), {'turn'})
    asked = question(robot, targets=[target])
    assert joints_of(asked, robot) == ({*ARM, 'turn'}, set())
    target.header.frame_id = 'fore'
    asked = question(robot, group='arm', targets=[target])
    assert joints_of(asked, robot) == (set(ARM), {'shoulder', 'elbow'})


def test_free_base_stays_unless_a_group_has_it():
    robot = small_arm(root_joint='freeflyer')
    asked = question(robot, targets=[reachable(robot, 'hand')])
    free, needed = joints_of(asked, robot)
    assert robot.base_joint not in free and needed == {robot.base_joint}
    assert problem_of(asked, robot).joint_names == ('turn', *ARM)


# -- constraints ----------------------------------------------------------------------------

def asked_with(robot, constraints=None, costs=None, **fields):
    """Give the group that moves, the joints that may move, and those that must be known."""
    asked = with_functions(ComputeIK.Request(constraints=constraints or [], costs=costs or [],
                                             **fields), robot)
    return problem_of(asked, robot).group or '', *joints_of(asked, robot)


def with_functions(request, robot, checker=None):
    constraints, costs = read_constraints(request, robot, checker)
    return replace(read_request(request, Scene(robot), DEFAULTS, no_tf),
                   constraints=constraints, costs=costs)


def pose_of(frame, relative_to=''):
    return [function('frame_pose', Bounds(target=[0.0]), frame=frame, relative_to=relative_to,
                     reference=[0, 0, 0])]


@pytest.mark.parametrize(('frame', 'relative_to', 'group', 'sides'), [
    ('left_gripper', 'torso', 'left_arm', {'left'}), ('right_gripper', '', '', {'right'}),
    ('left_gripper', 'right_gripper', '', {'left', 'right'})])
def test_joints_that_a_constraint_is_about(frame, relative_to, group, sides):
    chosen, free, _ = asked_with(Robot.load('baxter'), pose_of(frame, relative_to))
    assert chosen == group
    assert {name.split('_')[0] for name in free} == sides and len(free) == 7 * len(sides)


LEFT, RIGHT = ({f'{side}_{joint}' for joint in ('s0', 's1', 'e0', 'e1', 'w0', 'w1', 'w2')}
               for side in ('left', 'right'))


def values_of(*names):
    return function('joint_positions', names=names, bounds=Bounds(target=[0.5]))


def mass_of(**links):
    return function('center_of_mass', bounds=Bounds(lower=[-9.0]), **links)


NAMED = {
    'joints of one arm': (values_of('left_e1', 'left_s0'), 'left_arm', LEFT),
    'joints of both arms': (values_of('left_e1', 'right_e1'), '', {'left_e1', 'right_e1'}),
    'masses of both arms': (mass_of(links=['left_wrist', 'right_wrist']), '', LEFT | RIGHT),
    'masses of the whole robot': (mass_of(), 'left_arm', LEFT)}


@pytest.mark.parametrize('part', ['constraints', 'costs'])
@pytest.mark.parametrize('case', NAMED)
def test_the_default_group_has_all_that_is_named(case, part):
    message, group, joints = NAMED[case]
    chosen, free, _ = asked_with(Robot.load('baxter'), **{part: [message]})
    assert (chosen, free) == (group, joints)


def test_the_default_group_moves_both_ends_of_a_distance():
    robot = Robot.load('baxter')
    box = SceneObject('box', [Box([0.1, 0.1, 0.1])])
    scene = Scene(robot).add(box).attach('box', 'right_gripper_base_link',
                                         at=Configuration(robot, robot.neutral))
    scene = scene.add(SceneObject('wall', [Box([0.1, 0.1, 0.1])]))
    for second, group, joints in (('wall', 'left_arm', LEFT), ('box', '', LEFT | RIGHT),
                                  ('right_gripper_base_link', '', LEFT | RIGHT)):
        pair = function('pair_distance', first='left_gripper_base_link', second=second,
                            bounds=Bounds(lower=[0.1]))
        request = ComputeIK.Request(constraints=[pair])
        checker = collision_checker(robot, scene, missing='skip')
        problem = prepare(with_functions(request, robot, checker),
                          StaticWorld(robot, checker=checker)).problem
        assert (problem.group or '', set(problem.joint_names)) == (group, joints), second


def test_the_default_group_moves_what_is_named_against_each_other(panda):
    """The arm moves hand and finger, but not the one in the other."""
    finger = {'panda_finger_joint1'}
    group, free, _ = asked_with(panda, pose_of('panda_leftfinger', 'panda_hand'))
    assert (group, free) == ('', finger)
    tips = ['panda_hand', 'panda_leftfinger']
    asked = question(panda, tips=tips, targets=[reachable(panda, tip) for tip in tips])
    assert problem_of(asked, panda).group is None and joints_of(asked, panda)[0] >= finger


def test_joints_that_costs_are_about(panda):
    posture = [function('joint_positions', reference=[0.0] * 8)]
    group, free, needed = asked_with(panda, costs=posture)
    # the finger's part of the cost is what it is
    assert group == 'arm' and len(free) == 7 and not needed
    as_constraint = [function('joint_positions', reference=[0.0] * 8,
                              bounds=Bounds(lower=[-3.0]))]
    group, free, _ = asked_with(panda, as_constraint)
    assert group == '' and len(free) == 8   # all must be there
    assert asked_with(panda, as_constraint, group='arm')[2] == {'panda_finger_joint1'}
