"""MoveIt's service compute_cartesian_path; yourdfpy computes the reference poses."""

import math

from geometry_msgs.msg import Point, Pose
from moveit_msgs.msg import Constraints, JointConstraint, MoveItErrorCodes as Code
from moveit_msgs.srv import GetCartesianPath
from node_harness import eventually, matrix, robot_state, stamped, values
import numpy as np
import pytest
from scene_harness import applied, attached, box, diff, HOME, pose
from scipy.spatial.transform import Rotation

NAME = '/compute_cartesian_path'
ROOT, TIP = 'panda_link0', 'panda_hand_tcp'
ARM = [f'panda_joint{i}' for i in range(1, 8)]
MAX_VELOCITY = np.array([2.175] * 4 + [2.61] * 3)    # in the URDF [rad/s]


@pytest.fixture(scope='module')
def start(client, panda_fk):
    """Return the pose of the tip at HOME (4, 4)."""
    eventually(lambda: NAME in dict(client.node.get_service_names_and_types()), 'the service')
    return panda_fk.transform(HOME, TIP, ROOT)


@pytest.fixture
def plan(client, start):
    """Return a function that requests a path from HOME."""
    def plan(*waypoints, frame=ROOT, **fields):
        request = GetCartesianPath.Request(**{
            'start_state': robot_state(HOME), 'group_name': 'arm', 'link_name': TIP,
            'max_step': 0.01, 'waypoints': waypoints, **fields})
        request.header.frame_id = frame
        return client.call(GetCartesianPath, NAME, request)
    return plan


def shifted(T, x=0.0, y=0.0, z=0.0):
    """Return a Pose shifted along the axes of the root frame [m]."""
    moved = T.copy()
    moved[:3, 3] += x, y, z
    return stamped(moved).pose


def tip_poses(fk, answer):
    """Return the pose of the tip at each point (k, 4, 4), and the times (k,) [s]."""
    trajectory = answer.solution.joint_trajectory
    assert list(trajectory.joint_names) == ARM
    poses = [fk.transform({**HOME, **dict(zip(ARM, point.positions, strict=True))}, TIP, ROOT)
             for point in trajectory.points]
    times = [point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec
             for point in trajectory.points]
    return np.array(poses), np.array(times)


def distances(points, *corners):
    """Return the distances (k,) of points (k, 3) from the lines between corners (3,) [m]."""
    result = []
    for a, b in zip(corners, corners[1:], strict=False):
        s = np.clip((points - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
        result.append(np.linalg.norm(points - a - s[:, None] * (b - a), axis=1))
    return np.min(result, axis=0)


def test_path_is_straight_between_the_waypoints(plan, start, panda_fk):
    waypoints = [shifted(start), shifted(start, y=0.15), shifted(start, y=0.15, z=0.1)]
    answer = plan(*waypoints, max_velocity_scaling_factor=0.5, max_acceleration_scaling_factor=0.5)
    assert answer.error_code.val == Code.SUCCESS, answer.error_code.message
    assert answer.fraction == 1.0
    assert {name: values(answer.start_state)[name] for name in HOME} == pytest.approx(HOME)
    poses, times = tip_poses(panda_fk, answer)
    np.testing.assert_allclose(poses[0], start, atol=1e-9)
    np.testing.assert_allclose(poses[-1], matrix(waypoints[-1]), atol=1e-4)
    corners = [matrix(waypoint)[:3, 3] for waypoint in waypoints]
    assert distances(poses[:, :3, 3], *corners).max() < 1e-3
    rotation = Rotation.from_matrix(poses[:, :3, :3] @ start[:3, :3].T).magnitude()
    assert rotation.max() < 1e-2
    assert distances(corners[1][None], *poses[:, :3, 3]) < 2e-3
    assert times[0] == 0 and (np.diff(times) > 0).all()
    joints = np.array([p.positions for p in answer.solution.joint_trajectory.points])
    speeds = np.abs(np.diff(joints, axis=0)) / np.diff(times)[:, None]
    assert (speeds <= 0.5 * MAX_VELOCITY * 1.001).all()
    ends = answer.solution.joint_trajectory.points
    assert not np.any(ends[0].velocities) and not np.any(ends[-1].velocities)


def test_waypoints_in_the_frame_of_the_tip_are_relative_to_the_previous_one(plan, start, panda_fk):
    step = Pose(position=Point(x=0.02, z=0.05))
    answer = plan(step, step, frame=TIP)
    assert answer.fraction == 1.0
    poses, _ = tip_poses(panda_fk, answer)
    np.testing.assert_allclose(poses[-1], start @ matrix(step) @ matrix(step), atol=1e-4)


def test_waypoints_in_the_frame_of_a_held_object_are_relative_to_its_start(
        client, empty_scene, plan, start, panda_fk):
    """Past defect: the offset of the object from the link was ignored."""
    offset = pose(0.0, 0.0, 0.1)
    applied(client, diff(holding=[attached(box('peg', at=offset, frame=TIP), TIP)]))
    poses, _ = tip_poses(panda_fk, plan(shifted(np.eye(4), z=-0.15), frame='peg'))
    np.testing.assert_allclose(poses[-1], start @ matrix(shifted(np.eye(4), z=-0.05)), atol=1e-4)


def test_start_slightly_outside_the_limits_is_accepted(plan, start, panda_fk):
    """Encoders report such states. Past defect: the path was refused."""
    beyond = {**HOME, 'panda_joint7': 2.8973 + 1e-4}
    step = Pose(position=Point(z=-0.05))
    answer = plan(step, frame=TIP, start_state=robot_state(beyond))
    assert answer.fraction == 1.0, answer.error_code.message


def test_path_beyond_the_reach_of_the_arm_is_cut_off(plan, start, panda_fk):
    answer = plan(shifted(start, x=0.8))
    assert answer.error_code.val == Code.SUCCESS and 'breaks' in answer.error_code.message
    poses, _ = tip_poses(panda_fk, answer)
    assert 0.3 < answer.fraction < 0.8
    end = matrix(shifted(start, x=0.8 * answer.fraction))
    np.testing.assert_allclose(poses[-1], end, atol=1e-4)


def test_path_is_cut_off_before_an_obstacle(client, empty_scene, plan, start, panda_fk):
    applied(client, diff(box('wall', 0.1, at=pose(*(start[:3, 3] + [0, 0.25, 0])))))
    answer = plan(shifted(start, y=0.3), avoid_collisions=True)
    assert "'wall'" in answer.error_code.message
    poses, _ = tip_poses(panda_fk, answer)
    assert 0.02 < poses[-1][1, 3] < 0.2
    assert plan(shifted(start, y=0.3)).fraction == 1.0


def test_path_constraints_hold_along_the_path(plan, start):
    def answer(position):
        return plan(shifted(start, y=0.1), path_constraints=Constraints(joint_constraints=[
            JointConstraint(joint_name='panda_joint1', position=position, tolerance_above=0.02,
                            tolerance_below=0.02)]))
    valid = answer(0.0)
    assert valid.fraction == 1.0
    assert max(abs(p.positions[0]) for p in valid.solution.joint_trajectory.points) <= 0.02 + 1e-4
    violated = answer(0.5)    # violated at the start
    assert violated.fraction == 0 and violated.error_code.val == Code.INVALID_ROBOT_STATE


@pytest.mark.parametrize(('fields', 'code', 'words'), [
    ({'max_step': 0.0}, Code.INVALID_GOAL_CONSTRAINTS, 'max_step is 0'),
    ({'link_name': 'nose'}, Code.INVALID_LINK_NAME, 'nose'),
    ({'frame': 'nowhere'}, Code.FRAME_TRANSFORM_FAILURE, 'nowhere'),
    ({'start_state': robot_state({'panda_joint1': 0.0})}, Code.ROBOT_STATE_STALE, 'panda_joint2'),
    ({'max_velocity_scaling_factor': 2.0}, Code.INVALID_GOAL_CONSTRAINTS,
     'max_velocity_scaling_factor is 2; valid: 0.001 to 1'),
    ({'max_cartesian_speed': math.nan}, Code.INVALID_GOAL_CONSTRAINTS, 'cartesian_speed is nan'),
    ({'max_cartesian_speed': 0.1, 'cartesian_speed_limited_link': 'panda_link4'},
     Code.INVALID_GOAL_CONSTRAINTS, "valid: 'panda_hand_tcp'"),
    ({'waypoints': [Pose()] * 1001}, Code.INVALID_GOAL_CONSTRAINTS, 'at most 1000'),
])
def test_malformed_requests_are_refused(plan, start, fields, code, words):
    answer = plan(**{'waypoints': [shifted(start, y=0.1)], **fields})
    assert answer.error_code.val == code and words in answer.error_code.message, answer
    assert answer.fraction == 0 and not answer.solution.joint_trajectory.points
