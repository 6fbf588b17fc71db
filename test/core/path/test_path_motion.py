"""Timed motions along paths and through poses, judged by differences of positions."""

from judge import pose, TreeJudge
import numpy as np
import pinocchio as pin
import pytest

from ros2_ik.core import (
    collision_checker,
    Configuration,
    IKProblem,
    Line,
    MotionLimits,
    path_motion,
    PoseTarget,
    Scene,
    SceneObject,
    solve_path,
    Sphere,
    Spline,
    Status,
    Waypoints,
)
from ros2_ik.core.errors import InvalidOptionError, InvalidStateError
from ros2_ik.core.internals import PathOptions, PathSearch
from ros2_ik.core.solvers.serialization import pack, unpack

DOWN = (np.pi, 0, 0)
LEFT, RIGHT = pose((0.45, -0.3, 0.3), DOWN), pose((0.45, 0.3, 0.3), DOWN)
CURVE = Spline([LEFT, pose((0.5, 0.0, 0.35), (np.pi - 0.3, 0, 0.2)), RIGHT])
STEP = 1e-3     # time between sampled positions [s]


def deviation(robot, tip, positions, tool_path, n=2000):
    """Return the largest distance [m] of the tip at positions (k, nq) from a sampled path."""
    judge = TreeJudge(robot.urdf)
    points = np.array([tool_path.pose(s)[:3, 3] for s in np.linspace(0, tool_path.length, n)])
    return max(np.linalg.norm(points - judge.transform(robot.to_joints(q), tip)[:3, 3],
                              axis=1).min() for q in positions)


def sampled(motion):
    times = np.arange(0.0, motion.duration + 2 * STEP, STEP)
    return np.array([motion.at(time).position for time in times])


@pytest.mark.parametrize(('tip_speed', 'scale', 'jerk'), [
    (0.2, 1.0, 50.0), (5.0, 1.0, 50.0), (5.0, 0.3, 50.0), (0.5, 1.0, np.inf)])
def test_motion_stays_within_limits_and_on_the_path(load, tip_speed, scale, jerk):
    robot = load('panda')
    limits = MotionLimits(np.full(7, 2.0), np.full(7, 8.0), np.full(7, jerk)).scaled(scale, scale)
    path = solve_path(robot, 'panda_hand_tcp', CURVE, collisions=False)
    motion = path_motion(path, limits, tip_speed)
    assert motion.joints == path.problem.joint_names
    q = sampled(motion)
    velocity = np.diff(q, axis=0) / STEP
    acceleration = np.diff(velocity, axis=0) / STEP
    assert (np.abs(velocity) <= limits.velocity * (1 + 1e-6)).all()
    assert (np.abs(acceleration) <= limits.acceleration + 1e-3).all()
    if jerk < np.inf:
        assert (np.abs(np.diff(acceleration, axis=0) / STEP) <= limits.jerk * 1.01).all()
    assert np.abs(velocity[[0, -1]]).max() < 0.01       # rest to rest
    assert np.array_equal(q[0], path.q[0, path.problem.active.indices])
    full = np.tile(path.q[0], (len(q), 1))
    full[:, path.problem.active.indices] = q
    assert deviation(robot, 'panda_hand_tcp', full[::20], CURVE) < 1.1e-3
    judge = TreeJudge(robot.urdf)
    tips = np.array([judge.transform(robot.to_joints(each), 'panda_hand_tcp')[:3, 3]
                     for each in full[::10]])
    speeds = np.linalg.norm(np.diff(tips, axis=0), axis=1) / (10 * STEP)
    assert speeds.max() <= tip_speed * 1.01
    middle = speeds[int(0.4 * len(speeds)):int(0.6 * len(speeds))]
    assert np.ptp(middle) < 0.02 * middle.max()         # constant speed


def test_tip_speed_is_kept_where_a_spline_changes_from_rotation_to_translation(load):
    robot, q = load('xarm7'), [3.1, -1.8, -3.6, 3.4, -0.1, 1.5, 3.5]
    start = Configuration(robot, q).transform('link_eef')
    spline = Spline([start, *(pose(shift) @ start @ pose(rotvec=turn) for shift, turn in (
        ((0.01, -0.09, -0.03), (0.18, -0.09, 0.18)), ((-0.02, 0.2, 0.01), (-0.22, -0.06, 0.02))))])
    path = solve_path(robot, 'link_eef', spline, q, collisions=False, spacing=0.005)
    motion = path_motion(path, MotionLimits([3.0] * 7, [20.0] * 7, [np.inf] * 7), 0.05)
    judge = TreeJudge(robot.urdf)
    tips = [judge.transform(robot.to_joints(q), 'link_eef')[:3, 3] for q in sampled(motion)[::10]]
    speeds = np.linalg.norm(np.diff(tips, axis=0), axis=1) / (10 * STEP)
    assert motion.duration > 5.0 and speeds.max() < 0.05 * 1.02


def test_joint_spline_that_leaves_the_path_is_refused(load):
    corner = [LEFT, pose((0.45, 0, 0.3), DOWN), pose((0.52, 0.3, 0.3), DOWN)]    # turn of 0.23 rad
    path = solve_path(load('ur5'), 'tool0', corner, spacing=0.1, max_deviation=1e-5,
                      collisions=False)
    assert path.success
    with pytest.raises(InvalidStateError, match='from the path'):
        path_motion(path, MotionLimits([2.0] * 6, [8.0] * 6, [90.0] * 6), 0.2)


def test_partial_paths_and_malformed_limits_are_refused(load):
    robot = load('ur5')
    whole = solve_path(robot, 'tool0', Line(LEFT, RIGHT), collisions=False)
    limits = MotionLimits([2.0] * 6, [8.0] * 6, [90.0] * 6)
    with pytest.raises(InvalidOptionError, match='tip_speed must be a positive'):
        path_motion(whole, limits, 0.0)
    with pytest.raises(InvalidOptionError, match='limits of 5 joints'):
        path_motion(whole, limits.select(range(5)), 0.1)
    part = solve_path(robot, 'tool0', Line(LEFT, pose((0.45, 1.3, 0.3), DOWN)), collisions=False)
    with pytest.raises(InvalidStateError, match='only a complete path'):
        path_motion(part, limits, 0.1)


START = {'panda_joint2': -0.785398, 'panda_joint4': -2.35619, 'panda_joint6': 1.5708,
         'panda_joint7': 0.785398}
TIP = 'panda_hand_tcp'
LIMITS = MotionLimits(np.full(7, 2.0), np.full(7, 3.0), np.full(7, 60.0))


def motion_search(robot, points):
    """Return a search for a motion through shifts (k, 3) [m] of the start pose, and its poses."""
    q = robot.to_q(START)
    T = Configuration(robot, q).transform(TIP)
    poses = [T + np.pad(np.array(point)[:, None], ((0, 1), (3, 0))) for point in points]
    problem = IKProblem(robot, PoseTarget(TIP, T), group='arm', start=q)
    return PathSearch(problem, poses, LIMITS, 1.0, PathOptions()), poses


def rest_indices(found):
    """Return the indices of points with zero velocity."""
    return np.flatnonzero(np.abs(found.states[:, 1]).max(axis=1) < 1e-9).tolist()


def test_tip_stops_at_sharp_corners_only(panda):
    turns = np.linspace(0, np.pi, 31)     # half a circle, then a corner and a line
    points = [*np.column_stack([0.05 * (1 - np.cos(turns)), 0.05 * np.sin(turns), 0 * turns]),
              (0.1, 0.0, 0.1)]
    search, poses = motion_search(panda, points)
    restored = unpack(pack(search, panda), panda)
    assert restored.run()
    found = restored.solution()
    assert found.status is Status.SUCCESS and found.fraction == 1.0
    first, corner, last = rest_indices(found)
    assert (first, last) == (0, len(found.times) - 1)
    q = np.repeat(panda.to_q(START)[None], len(found.times), axis=0)
    q[:, [panda.joint(name).index for name in search.problem.joint_names]] = found.states[:, 0]
    assert deviation(panda, TIP, q[:corner], Waypoints(poses[:-1])) < 2e-3
    assert deviation(panda, TIP, q[corner:], Waypoints(poses[-2:])) < 2e-3
    assert np.linalg.norm(Configuration(panda, q[corner]).transform(TIP) - poses[-2]) < 1e-4


def test_free_orientation_does_not_slow_the_tip(panda):
    search, (T,) = motion_search(panda, [(0, 0.3, 0)])
    problem = search.problem.replaced(targets=[PoseTarget(TIP, T, weights=(1, 1, 1, 0, 0, 0))])
    turned = T @ pin.SE3(pin.exp3(np.array([2.0, 0, 0])), np.zeros(3)).homogeneous
    one, other = (PathSearch(problem, [end], LIMITS, 0.1, PathOptions()) for end in (T, turned))
    assert one.run() and other.run()
    assert one.solution().times[-1] == other.solution().times[-1] < 4.0


def test_motion_through_equal_poses_is_empty_and_checks_its_start(panda):
    search, _ = motion_search(panda, [(0, 0, 0)] * 3)
    assert search.run() and search.solution().fraction == 1.0
    assert search.solution().times.tolist() == [0.0]
    # past defect: the collision check of the start was omitted
    wall = Scene(panda).add(SceneObject('wall', [Sphere(0.05)], pin.SE3(
        search.waypoints[0][:3, :3], search.waypoints[0][:3, 3])))
    problem = search.problem.replaced(checker=collision_checker(panda, wall))
    touching = PathSearch(problem, search.waypoints, LIMITS, 1.0, PathOptions())
    assert touching.run()
    assert touching.solution().status is Status.START_STATE_IN_COLLISION


def test_search_not_run_cancelled_or_off_its_path_reports_no_success(panda):
    search, _ = motion_search(panda, [(0, 0, 0), (0, 0.1, 0)])
    assert search.solution().status is Status.PREEMPTED and search.solution().fraction == 0.0
    search.budget.cancel = lambda: True
    search.run()
    assert search.solution().status is Status.PREEMPTED and search.solution().fraction < 1.0
    search, _ = motion_search(panda, [(0, 0.2, 0), (0.05, 0.4, 0)])
    search.options = PathOptions(spacing=0.1, max_deviation=1e-5, hold_start=True)
    assert search.run() and search.solution().status is Status.INVALID_MOTION_PLAN
