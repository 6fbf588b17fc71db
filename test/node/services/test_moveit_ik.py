"""~/solve_ik with MoveIt's service type, judged by yourdfpy and scipy."""

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point, Pose, Vector3
from moveit_msgs.msg import (
    BoundingVolume,
    Constraints,
    JointConstraint,
    MoveItErrorCodes as Code,
    OrientationConstraint,
    PositionConstraint,
    PositionIKRequest,
    VisibilityConstraint,
)
from moveit_msgs.srv import GetPositionIK
from node_harness import matrix, reachable, seed, stamped, unreachable, values
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from shape_msgs.msg import Mesh, MeshTriangle, SolidPrimitive

from ros2_ik.core import Configuration

TIP, ROOT = 'panda_hand_tcp', 'panda_link0'
ARM = [f'panda_joint{i}' for i in range(1, 8)]
FINGERS = ['panda_finger_joint1', 'panda_finger_joint2']
SHORT = Duration(nanosec=300_000_000)
THERE = dict(zip(ARM, (0.1, -0.6, 0.2, -2.2, 0.1, 1.7, 0.6), strict=True))


@pytest.fixture
def ask(client):
    """Return a function that calls ~/solve_ik."""
    def ask(**fields):
        return client.call(GetPositionIK, 'ros2_ik/solve_ik', GetPositionIK.Request(
            ik_request=PositionIKRequest(**fields)))
    return ask


def seen(judge, answer, tip=TIP):
    """Return the pose of a tip in a response by the judge, (4, 4)."""
    assert answer.error_code.val == Code.SUCCESS, answer.error_code.message
    return judge.transform(values(answer.solution), tip, ROOT)


def test_solve_ik_reaches_a_reachable_pose(ask, panda, panda_judge):
    target = reachable(panda, TIP, 1)
    answer = ask(group_name='arm', pose_stamped=target, ik_link_name=TIP, avoid_collisions=True)
    np.testing.assert_allclose(seen(panda_judge, answer), matrix(target.pose), atol=1e-4)
    assert sorted(answer.solution.joint_state.name) == sorted([*ARM, *FINGERS])
    assert answer.solution.joint_state.header.frame_id == ROOT and not answer.solution.is_diff


def test_search_starts_at_robot_state(ask, panda):
    target = stamped(Configuration(panda, THERE).transform(TIP))
    near = {name: value + 0.01 for name, value in THERE.items()}
    answer = ask(pose_stamped=target, robot_state=seed(near))
    found = values(answer.solution)
    assert max(abs(found[name] - THERE[name]) for name in ARM) < 0.1


def region(kind, *size, at=(0, 0, 0)):
    pose = Pose()
    pose.position.x, pose.position.y, pose.position.z = map(float, at)
    shape = SolidPrimitive(type=kind, dimensions=list(map(float, size)))
    return BoundingVolume(primitives=[shape], primitive_poses=[pose])


def asked_for(link='panda_link5', frame=ROOT, **kinds):
    """Return Constraints of one kind for a link, in a frame."""
    (kind, fields), = kinds.items()
    made = {'position': PositionConstraint, 'orientation': OrientationConstraint}[kind](
        link_name=link, **fields)
    made.header.frame_id = frame
    return Constraints(**{f'{kind}_constraints': [made]})


def test_joint_constraint_holds(ask, panda, panda_judge):
    """The two ranges do not overlap, so at least one answer is due to its constraint."""
    target = stamped(Configuration(panda, THERE).transform(TIP))
    for middle in (-0.4, 0.5):
        answer = ask(pose_stamped=target, constraints=Constraints(
            joint_constraints=[JointConstraint(joint_name='panda_joint1', position=middle,
                                               tolerance_above=0.3, tolerance_below=0.3)]))
        np.testing.assert_allclose(seen(panda_judge, answer), matrix(target.pose), atol=1e-4)
        assert abs(values(answer.solution)['panda_joint1'] - middle) <= 0.3 + 1e-6


@pytest.mark.parametrize(('kind', 'size', 'holds'), [
    (SolidPrimitive.BOX, (0.2, 0.3, 0.1), lambda p: (abs(p) <= (0.1, 0.15, 0.05)).all()),
    (SolidPrimitive.SPHERE, (0.1,), lambda p: np.linalg.norm(p) <= 0.1),
    (SolidPrimitive.CYLINDER, (0.2, 0.1), lambda p: abs(p[2]) <= 0.1 and np.hypot(*p[:2]) <= 0.1),
])
def test_position_constraint_holds(ask, panda, panda_judge, kind, size, holds):
    there = Configuration(panda, THERE)
    offset = np.array([0.0, 0.02, 0.05])
    middle = (there.transform('panda_link5') @ [*offset, 1])[:3] + [0.02, -0.03, 0.04]
    answer = ask(pose_stamped=stamped(there.transform(TIP)), constraints=asked_for(
        position={'target_point_offset': Vector3(y=0.02, z=0.05),
                  'constraint_region': region(kind, *size, at=middle)}))
    point = (seen(panda_judge, answer, 'panda_link5') @ [*offset, 1])[:3]
    assert holds((point - middle) * (1 - 1e-5))


def test_position_constraint_uses_one_of_several_regions(ask, panda, panda_judge):
    """An unreachable box, a reachable cylinder, and a mesh above it."""
    there = Configuration(panda, THERE)
    at = there.transform('panda_link5')[:3, 3]
    regions = region(SolidPrimitive.BOX, 0.1, 0.1, 0.1, at=(3, 0, 0))
    near = region(SolidPrimitive.CYLINDER, 0.2, 0.05, at=at + [0, 0.03, 0.08])
    regions.primitives = [*regions.primitives, *near.primitives]
    regions.primitive_poses = [*regions.primitive_poses, *near.primitive_poses]
    corners = [Point(x=x, y=y, z=z) for x, y, z in np.array(
        [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]) * 0.2 + at + [0, 0, 0.3]]
    regions.meshes = [Mesh(vertices=corners, triangles=[MeshTriangle(vertex_indices=list(face))
                           for face in ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))])]
    regions.mesh_poses = [Pose()]
    answer = ask(pose_stamped=stamped(there.transform(TIP)), constraints=asked_for(
        position={'constraint_region': regions}))
    x, y, z = seen(panda_judge, answer, 'panda_link5')[:3, 3] - at - [0, 0.03, 0.08]
    assert abs(z) <= 0.1 + 1e-5 and np.hypot(x, y) <= 0.05 + 1e-5


@pytest.mark.parametrize('parameterization', [OrientationConstraint.XYZ_EULER_ANGLES,
                                              OrientationConstraint.ROTATION_VECTOR])
def test_orientation_constraint_holds(ask, panda, panda_judge, parameterization):
    """The pose frees the rotation, so that only the constraint turns the hand."""
    tolerance = np.array([0.1, 0.2, np.pi])
    down = Rotation.from_euler('X', np.pi)
    quaternion = dict(zip('xyzw', down.as_quat(), strict=True))
    orientation = OrientationConstraint().orientation
    orientation.x, orientation.y, orientation.z, orientation.w = quaternion.values()
    wanted = asked_for(TIP, orientation={
        'orientation': orientation, 'parameterization': parameterization,
        'absolute_x_axis_tolerance': 0.1, 'absolute_y_axis_tolerance': 0.2,
        'absolute_z_axis_tolerance': 2 * np.pi})
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = (down * Rotation.from_euler('XYZ', [0.05, 0.1, 0.7])).as_matrix(), (
        0.45, 0.1, 0.35)
    answer = ask(pose_stamped=stamped(T), constraints=wanted)
    R = Rotation.from_matrix(seen(panda_judge, answer)[:3, :3])
    angles = ((down.inv() * R).as_euler('XYZ') if parameterization == 0
              else (R * down.inv()).as_rotvec())
    assert (abs(angles) <= tolerance + 1e-5).all()
    T[:3, :3] = (down * Rotation.from_euler('XYZ', [0.3, 0.1, 0.7])).as_matrix()
    answer = ask(pose_stamped=stamped(T), constraints=wanted, timeout=SHORT)
    assert answer.error_code.val == Code.NO_IK_SOLUTION


def test_visibility_constraint_bounds_the_view_angle(ask, panda, panda_judge):
    there = Configuration(panda, THERE)
    T = there.transform(TIP)
    aim = T[:3, 3] + 0.5 * T[:3, 2] + 0.05 * T[:3, 0]
    made = VisibilityConstraint(sensor_pose=stamped(np.eye(4), TIP), max_range_angle=0.2)
    made.target_pose = stamped(np.eye(4), ROOT)
    made.target_pose.pose.position.x, made.target_pose.pose.position.y, \
        made.target_pose.pose.position.z = map(float, aim)
    answer = ask(pose_stamped=stamped(T), constraints=Constraints(visibility_constraints=[made]))
    at = seen(panda_judge, answer)
    ray = (aim - at[:3, 3]) / np.linalg.norm(aim - at[:3, 3])
    assert np.arccos(at[:3, 2] @ ray) <= 0.2
    made.max_range_angle = 0.05
    answer = ask(pose_stamped=stamped(T), timeout=SHORT,
                 constraints=Constraints(visibility_constraints=[made]))
    assert answer.error_code.val == Code.NO_IK_SOLUTION


@pytest.mark.parametrize(('fields', 'code', 'words'), [
    ({'pose_stamped': unreachable()}, Code.NO_IK_SOLUTION, 'no solution'),
    ({'group_name': 'leg'}, Code.INVALID_GROUP_NAME, 'leg'),
    ({'pose_stamped_vector': [stamped(np.eye(4))] * 2, 'ik_link_names': [TIP]},
     Code.INVALID_LINK_NAME, '1 ik_link_names for 2 poses'),
    ({'pose_stamped': stamped(np.eye(4), 'nowhere')}, Code.FRAME_TRANSFORM_FAILURE, 'nowhere'),
    ({'robot_state': seed({'knee': 0.1})}, Code.INVALID_ROBOT_STATE, 'knee'),
    ({'constraints': asked_for(position={})}, Code.INVALID_GOAL_CONSTRAINTS,
     'position_constraints[0]: constraint_region has no shape with a pose'),
    ({'constraints': asked_for(position={'constraint_region': region(9, 1.0)})},
     Code.INVALID_GOAL_CONSTRAINTS, 'type is 9'),
    ({'constraints': asked_for(position={
        'constraint_region': region(SolidPrimitive.CONE, 0.2, 0.1)})},
     Code.INVALID_GOAL_CONSTRAINTS, 'a Cone cannot be a region'),
    ({'constraints': asked_for('nose', orientation={})}, Code.INVALID_LINK_NAME, 'nose'),
    ({'constraints': asked_for(TIP, orientation={'absolute_z_axis_tolerance': float('nan')})},
     Code.INVALID_GOAL_CONSTRAINTS, 'absolute tolerances are [0.0, 0.0, nan]'),
    ({'constraints': Constraints(joint_constraints=[JointConstraint(
        joint_name='panda_finger_joint2')])}, Code.INVALID_GOAL_CONSTRAINTS,
     "mimics 'panda_finger_joint1'"),
    ({'constraints': Constraints(visibility_constraints=[VisibilityConstraint(
        target_radius=0.1)])}, Code.INVALID_GOAL_CONSTRAINTS, 'target_radius'),
    ({'constraints': Constraints(visibility_constraints=[VisibilityConstraint(
        sensor_view_direction=3)])}, Code.INVALID_GOAL_CONSTRAINTS, 'sensor_view_direction is 3'),
    ({'constraints': asked_for(TIP, orientation={'parameterization': 9})},
     Code.INVALID_GOAL_CONSTRAINTS, 'parameterization is 9'),
])
def test_malformed_requests_are_refused(ask, fields, code, words):
    answer = ask(**{'timeout': SHORT, **fields})
    assert answer.error_code.val == code and words in answer.error_code.message, answer
    assert not answer.solution.joint_state.name
