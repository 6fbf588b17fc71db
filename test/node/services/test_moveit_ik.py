"""~/solve_ik with MoveIt's service type; yourdfpy and scipy compute the reference values."""

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Vector3
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
from node_harness import matrix, reachable, robot_state, stamped, unreachable, values
import numpy as np
import pytest
from scene_harness import mesh, pose, solid
from scipy.spatial.transform import Rotation
from shape_msgs.msg import SolidPrimitive

from ros2_ik.core import Configuration

TIP, ROOT = 'panda_hand_tcp', 'panda_link0'
ARM = [f'panda_joint{i}' for i in range(1, 8)]
FINGERS = ['panda_finger_joint1', 'panda_finger_joint2']
SHORT = Duration(nanosec=300_000_000)
GOAL = dict(zip(ARM, (0.1, -0.6, 0.2, -2.2, 0.1, 1.7, 0.6), strict=True))


@pytest.fixture
def solve_ik(client):
    """Return a function that calls ~/solve_ik."""
    def solve_ik(**fields):
        return client.call(GetPositionIK, 'ros2_ik/solve_ik', GetPositionIK.Request(
            ik_request=PositionIKRequest(**fields)))
    return solve_ik


def solved_pose(fk, answer, tip=TIP):
    """Return the pose of a tip in a successful response by yourdfpy, (4, 4)."""
    assert answer.error_code.val == Code.SUCCESS, answer.error_code.message
    return fk.transform(values(answer.solution), tip, ROOT)


def test_solve_ik_reaches_a_reachable_pose(solve_ik, panda, panda_fk):
    target = reachable(panda, TIP, 1)
    answer = solve_ik(group_name='arm', pose_stamped=target, ik_link_name=TIP,
                      avoid_collisions=True)
    np.testing.assert_allclose(solved_pose(panda_fk, answer), matrix(target.pose), atol=1e-4)
    assert sorted(answer.solution.joint_state.name) == sorted([*ARM, *FINGERS])
    assert answer.solution.joint_state.header.frame_id == ROOT and not answer.solution.is_diff


def test_search_starts_at_robot_state(solve_ik, panda):
    target = stamped(Configuration(panda, GOAL).transform(TIP))
    near = {name: value + 0.01 for name, value in GOAL.items()}
    answer = solve_ik(pose_stamped=target, robot_state=robot_state(near))
    found = values(answer.solution)
    assert max(abs(found[name] - GOAL[name]) for name in ARM) < 0.1


def region(kind, *size, at=(0, 0, 0)):
    return BoundingVolume(primitives=[solid(kind, *size)], primitive_poses=[pose(*at)])


def link_constraint(link='panda_link5', frame=ROOT, **kinds):
    """Return Constraints of one kind for a link, in a frame."""
    (kind, fields), = kinds.items()
    constraint = {'position': PositionConstraint, 'orientation': OrientationConstraint}[kind](
        link_name=link, **fields)
    constraint.header.frame_id = frame
    return Constraints(**{f'{kind}_constraints': [constraint]})


def test_joint_constraint_holds(solve_ik, panda, panda_fk):
    """The two ranges do not overlap, so one solution at least is due to its constraint."""
    target = stamped(Configuration(panda, GOAL).transform(TIP))
    for middle in (-0.4, 0.5):
        answer = solve_ik(pose_stamped=target, constraints=Constraints(
            joint_constraints=[JointConstraint(joint_name='panda_joint1', position=middle,
                                               tolerance_above=0.3, tolerance_below=0.3)]))
        np.testing.assert_allclose(solved_pose(panda_fk, answer), matrix(target.pose), atol=1e-4)
        assert abs(values(answer.solution)['panda_joint1'] - middle) <= 0.3 + 1e-6


@pytest.mark.parametrize(('kind', 'size', 'holds'), [
    (SolidPrimitive.BOX, (0.2, 0.3, 0.1), lambda p: (abs(p) <= (0.1, 0.15, 0.05)).all()),
    (SolidPrimitive.SPHERE, (0.1,), lambda p: np.linalg.norm(p) <= 0.1),
    (SolidPrimitive.CYLINDER, (0.2, 0.1), lambda p: abs(p[2]) <= 0.1 and np.hypot(*p[:2]) <= 0.1),
])
def test_position_constraint_holds(solve_ik, panda, panda_fk, kind, size, holds):
    goal = Configuration(panda, GOAL)
    offset = np.array([0.0, 0.02, 0.05])
    middle = (goal.transform('panda_link5') @ [*offset, 1])[:3] + [0.02, -0.03, 0.04]
    answer = solve_ik(pose_stamped=stamped(goal.transform(TIP)), constraints=link_constraint(
        position={'target_point_offset': Vector3(y=0.02, z=0.05),
                  'constraint_region': region(kind, *size, at=middle)}))
    point = (solved_pose(panda_fk, answer, 'panda_link5') @ [*offset, 1])[:3]
    assert holds((point - middle) * (1 - 1e-5))


def test_position_constraint_uses_one_of_several_regions(solve_ik, panda, panda_fk):
    """An unreachable box, a reachable cylinder, and a mesh above it."""
    goal = Configuration(panda, GOAL)
    p = goal.transform('panda_link5')[:3, 3]
    regions = region(SolidPrimitive.BOX, 0.1, 0.1, 0.1, at=(3, 0, 0))
    near = region(SolidPrimitive.CYLINDER, 0.2, 0.05, at=p + [0, 0.03, 0.08])
    regions.primitives = [*regions.primitives, *near.primitives]
    regions.primitive_poses = [*regions.primitive_poses, *near.primitive_poses]
    corners = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]) * 0.2 + p + [0, 0, 0.3]
    regions.meshes = [mesh(corners, [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])]
    regions.mesh_poses = [pose()]
    answer = solve_ik(pose_stamped=stamped(goal.transform(TIP)), constraints=link_constraint(
        position={'constraint_region': regions}))
    x, y, z = solved_pose(panda_fk, answer, 'panda_link5')[:3, 3] - p - [0, 0.03, 0.08]
    assert abs(z) <= 0.1 + 1e-5 and np.hypot(x, y) <= 0.05 + 1e-5


@pytest.mark.parametrize('parameterization', [OrientationConstraint.XYZ_EULER_ANGLES,
                                              OrientationConstraint.ROTATION_VECTOR])
def test_orientation_constraint_holds(solve_ik, panda, panda_fk, parameterization):
    """The constraint replaces the orientation of the pose, so it alone turns the hand."""
    tolerance = np.array([0.1, 0.2, np.pi])
    down = Rotation.from_euler('X', np.pi)
    constraints = link_constraint(TIP, orientation={
        'orientation': pose(quat=down.as_quat()).orientation, 'parameterization': parameterization,
        'absolute_x_axis_tolerance': 0.1, 'absolute_y_axis_tolerance': 0.2,
        'absolute_z_axis_tolerance': 2 * np.pi})
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = (down * Rotation.from_euler('XYZ', [0.05, 0.1, 0.7])).as_matrix(), (
        0.45, 0.1, 0.35)
    answer = solve_ik(pose_stamped=stamped(T), constraints=constraints)
    R = Rotation.from_matrix(solved_pose(panda_fk, answer)[:3, :3])
    angles = ((down.inv() * R).as_euler('XYZ') if parameterization == 0
              else (R * down.inv()).as_rotvec())
    assert (abs(angles) <= tolerance + 1e-5).all()
    T[:3, :3] = (down * Rotation.from_euler('XYZ', [0.3, 0.1, 0.7])).as_matrix()
    answer = solve_ik(pose_stamped=stamped(T), constraints=constraints, timeout=SHORT)
    assert answer.error_code.val == Code.NO_IK_SOLUTION


def test_visibility_constraint_bounds_the_view_angle(solve_ik, panda, panda_fk):
    goal = Configuration(panda, GOAL)
    T = goal.transform(TIP)
    target = T[:3, 3] + 0.5 * T[:3, 2] + 0.05 * T[:3, 0]
    constraint = VisibilityConstraint(sensor_pose=stamped(np.eye(4), TIP), max_range_angle=0.2)
    constraint.target_pose = stamped(np.eye(4), ROOT)
    constraint.target_pose.pose = pose(*target)
    constraints = Constraints(visibility_constraints=[constraint])
    answer = solve_ik(pose_stamped=stamped(T), constraints=constraints)
    solved = solved_pose(panda_fk, answer)
    ray = (target - solved[:3, 3]) / np.linalg.norm(target - solved[:3, 3])
    assert np.arccos(solved[:3, 2] @ ray) <= 0.2
    constraint.max_range_angle = 0.05
    answer = solve_ik(pose_stamped=stamped(T), timeout=SHORT,
                      constraints=Constraints(visibility_constraints=[constraint]))
    assert answer.error_code.val == Code.NO_IK_SOLUTION


@pytest.mark.parametrize(('fields', 'code', 'words'), [
    ({'pose_stamped': unreachable()}, Code.NO_IK_SOLUTION, 'no solution'),
    ({'group_name': 'leg'}, Code.INVALID_GROUP_NAME, 'leg'),
    ({'pose_stamped_vector': [stamped(np.eye(4))] * 2, 'ik_link_names': [TIP]},
     Code.INVALID_LINK_NAME, '1 ik_link_names for 2 poses'),
    ({'pose_stamped': stamped(np.eye(4), 'nowhere')}, Code.FRAME_TRANSFORM_FAILURE, 'nowhere'),
    ({'robot_state': robot_state({'knee': 0.1})}, Code.INVALID_ROBOT_STATE, 'knee'),
    ({'constraints': link_constraint(position={})}, Code.INVALID_GOAL_CONSTRAINTS,
     'position_constraints[0]: constraint_region has no shape with a pose'),
    ({'constraints': link_constraint(position={'constraint_region': region(9, 1.0)})},
     Code.INVALID_GOAL_CONSTRAINTS, 'type is 9'),
    ({'constraints': link_constraint(position={
        'constraint_region': region(SolidPrimitive.CONE, 0.2, 0.1)})},
     Code.INVALID_GOAL_CONSTRAINTS, 'a Cone cannot be a region'),
    ({'constraints': link_constraint('nose', orientation={})}, Code.INVALID_LINK_NAME, 'nose'),
    ({'constraints': link_constraint(TIP, orientation={'absolute_z_axis_tolerance': np.nan})},
     Code.INVALID_GOAL_CONSTRAINTS, 'absolute tolerances are [0.0, 0.0, nan]'),
    ({'constraints': Constraints(joint_constraints=[JointConstraint(
        joint_name='panda_finger_joint2')])}, Code.INVALID_GOAL_CONSTRAINTS,
     "mimics 'panda_finger_joint1'"),
    ({'constraints': Constraints(visibility_constraints=[VisibilityConstraint(
        target_radius=0.1)])}, Code.INVALID_GOAL_CONSTRAINTS, 'target_radius'),
    ({'constraints': Constraints(visibility_constraints=[VisibilityConstraint(
        sensor_view_direction=3)])}, Code.INVALID_GOAL_CONSTRAINTS, 'sensor_view_direction is 3'),
    ({'constraints': link_constraint(TIP, orientation={'parameterization': 9})},
     Code.INVALID_GOAL_CONSTRAINTS, 'parameterization is 9'),
])
def test_malformed_requests_are_refused(solve_ik, fields, code, words):
    answer = solve_ik(**{'timeout': SHORT, **fields})
    assert answer.error_code.val == code and words in answer.error_code.message, answer
    assert not answer.solution.joint_state.name
