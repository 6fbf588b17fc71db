"""MoveIt's compute_cartesian_path, judged by yourdfpy's forward kinematics."""

import math

from geometry_msgs.msg import Point, Pose
from moveit_msgs.msg import Constraints, JointConstraint, MoveItErrorCodes as Code
from moveit_msgs.srv import GetCartesianPath
from node_harness import eventually, matrix, seed, stamped, values
import numpy as np
import pytest
from scene_harness import applied, attached, box, diff, HOME, pose
from scipy.spatial.transform import Rotation

NAME = '/compute_cartesian_path'
ROOT, TIP = 'panda_link0', 'panda_hand_tcp'
ARM = [f'panda_joint{i}' for i in range(1, 8)]
FASTEST = np.array([2.175] * 4 + [2.61] * 3)    # of the URDF


@pytest.fixture(scope='module')
def start(client, panda_judge):
    """Return the pose of the tip at HOME (4, 4)."""
    eventually(lambda: NAME in dict(client.node.get_service_names_and_types()), 'the service')
    return panda_judge.transform(HOME, TIP, ROOT)


@pytest.fixture
def ask(client, start):
    """Return a function that requests a path from HOME."""
    def ask(*waypoints, frame=ROOT, **fields):
        request = GetCartesianPath.Request(**{
            'start_state': seed(HOME), 'group_name': 'arm', 'link_name': TIP, 'max_step': 0.01,
            'waypoints': waypoints, **fields})
        request.header.frame_id = frame
        return client.call(GetCartesianPath, NAME, request)
    return ask


def shifted(T, x=0.0, y=0.0, z=0.0):
    """Return a Pose shifted along the axes of the root frame [m]."""
    moved = T.copy()
    moved[:3, 3] += x, y, z
    return stamped(moved).pose


def tips(judge, answer):
    """Return the pose of the tip at each point (k, 4, 4), and the times (k,) [s]."""
    trajectory = answer.solution.joint_trajectory
    assert list(trajectory.joint_names) == ARM
    rest = {name: HOME[name] for name in HOME if name not in ARM}
    at = [judge.transform({**rest, **dict(zip(ARM, point.positions, strict=True))}, TIP, ROOT)
          for point in trajectory.points]
    times = [point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec
             for point in trajectory.points]
    return np.array(at), np.array(times)


def distances(points, *corners):
    """Return the distances (k,) of points (k, 3) from the lines between corners (3,) [m]."""
    found = []
    for a, b in zip(corners, corners[1:], strict=False):
        part = np.clip((points - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
        found.append(np.linalg.norm(points - a - part[:, None] * (b - a), axis=1))
    return np.min(found, axis=0)


def test_path_is_straight_between_the_waypoints(ask, start, panda_judge):
    ways = [shifted(start), shifted(start, y=0.15), shifted(start, y=0.15, z=0.1)]
    answer = ask(*ways, max_velocity_scaling_factor=0.5, max_acceleration_scaling_factor=0.5)
    assert answer.error_code.val == Code.SUCCESS, answer.error_code.message
    assert answer.fraction == 1.0
    assert {name: values(answer.start_state)[name] for name in HOME} == pytest.approx(HOME)
    at, times = tips(panda_judge, answer)
    np.testing.assert_allclose(at[0], start, atol=1e-9)
    np.testing.assert_allclose(at[-1], matrix(ways[-1]), atol=1e-4)
    assert distances(at[:, :3, 3], *(matrix(way)[:3, 3] for way in ways)).max() < 1e-3
    turned = Rotation.from_matrix(at[:, :3, :3] @ start[:3, :3].T).magnitude()
    assert turned.max() < 1e-2
    corner = distances(matrix(ways[1])[None, :3, 3], *at[:, :3, 3])
    assert corner < 2e-3
    assert times[0] == 0 and (np.diff(times) > 0).all()
    joints = np.array([p.positions for p in answer.solution.joint_trajectory.points])
    speeds = np.abs(np.diff(joints, axis=0)) / np.diff(times)[:, None]
    assert (speeds <= 0.5 * FASTEST * 1.001).all()
    ends = answer.solution.joint_trajectory.points
    assert not np.any(ends[0].velocities) and not np.any(ends[-1].velocities)


def test_waypoints_may_be_in_the_frame_of_the_link(ask, start, panda_judge):
    step = Pose(position=Point(x=0.02, z=0.05))
    answer = ask(step, step, frame=TIP)
    assert answer.fraction == 1.0
    at, _ = tips(panda_judge, answer)
    np.testing.assert_allclose(at[-1], start @ matrix(step) @ matrix(step), atol=1e-4)


def test_waypoints_in_the_frame_of_a_held_object_are_relative_to_its_start(
        client, empty_scene, ask, start, panda_judge):
    """Past defect: the offset of the object on the link was left out."""
    offset = pose(0.0, 0.0, 0.1)
    applied(client, diff(holding=[attached(box('peg', at=offset, frame=TIP), TIP)]))
    at, _ = tips(panda_judge, ask(shifted(np.eye(4), z=-0.15), frame='peg'))
    np.testing.assert_allclose(at[-1], start @ matrix(shifted(np.eye(4), z=-0.05)), atol=1e-4)


def test_start_may_be_slightly_outside_of_the_limits(ask, start, panda_judge):
    """Encoders report such positions. Past defect: the path was refused."""
    beyond = {**HOME, 'panda_joint7': 2.8973 + 1e-4}
    step = Pose(position=Point(z=-0.05))
    answer = ask(step, frame=TIP, start_state=seed(beyond))
    assert answer.fraction == 1.0, answer.error_code.message


def test_path_ends_at_the_reach_of_the_arm(ask, start, panda_judge):
    answer = ask(shifted(start, x=0.8))
    assert answer.error_code.val == Code.SUCCESS and 'breaks' in answer.error_code.message
    at, _ = tips(panda_judge, answer)
    assert 0.3 < answer.fraction < 0.8
    np.testing.assert_allclose(at[-1], matrix(shifted(start, x=0.8 * answer.fraction)), atol=1e-4)


def test_path_ends_before_an_obstacle(client, empty_scene, ask, start, panda_judge):
    applied(client, diff(box('wall', 0.1, at=pose(*(start[:3, 3] + [0, 0.25, 0])))))
    answer = ask(shifted(start, y=0.3), avoid_collisions=True)
    assert "'wall'" in answer.error_code.message
    at, _ = tips(panda_judge, answer)
    assert 0.02 < at[-1][1, 3] < 0.2
    assert ask(shifted(start, y=0.3)).fraction == 1.0


def test_constraints_hold_along_the_path(ask, start):
    def answer(position):
        return ask(shifted(start, y=0.1), path_constraints=Constraints(joint_constraints=[
            JointConstraint(joint_name='panda_joint1', position=position, tolerance_above=0.02,
                            tolerance_below=0.02)]))
    kept = answer(0.0)
    assert kept.fraction == 1.0
    assert max(abs(p.positions[0]) for p in kept.solution.joint_trajectory.points) <= 0.02 + 1e-4
    broken = answer(0.5)    # not even at the start
    assert broken.fraction == 0 and broken.error_code.val == Code.INVALID_ROBOT_STATE


@pytest.mark.parametrize(('fields', 'code', 'words'), [
    ({'max_step': 0.0}, Code.INVALID_GOAL_CONSTRAINTS, 'max_step is 0'),
    ({'link_name': 'nose'}, Code.INVALID_LINK_NAME, 'nose'),
    ({'frame': 'nowhere'}, Code.FRAME_TRANSFORM_FAILURE, 'nowhere'),
    ({'start_state': seed({'panda_joint1': 0.0})}, Code.ROBOT_STATE_STALE, 'panda_joint2'),
    ({'max_velocity_scaling_factor': 2.0}, Code.INVALID_GOAL_CONSTRAINTS,
     'max_velocity_scaling_factor is 2; valid: 0.001 to 1'),
    ({'max_cartesian_speed': math.nan}, Code.INVALID_GOAL_CONSTRAINTS, 'cartesian_speed is nan'),
    ({'max_cartesian_speed': 0.1, 'cartesian_speed_limited_link': 'panda_link4'},
     Code.INVALID_GOAL_CONSTRAINTS, "valid: 'panda_hand_tcp'"),
    ({'waypoints': [Pose()] * 1001}, Code.INVALID_GOAL_CONSTRAINTS, 'at most 1000'),
])
def test_malformed_requests_are_refused(ask, start, fields, code, words):
    answer = ask(**{'waypoints': [shifted(start, y=0.1)], **fields})
    assert answer.error_code.val == code and words in answer.error_code.message, answer
    assert answer.fraction == 0 and not answer.solution.joint_trajectory.points
