"""`ros2_ik solve`, judged by yourdfpy or by closed forms."""

import math

import numpy as np
import pytest

from ros2_ik.core import shipped_robots

# in the limits, far from the home pose
REACHABLE = {'panda_joint1': 0.6, 'panda_joint2': -0.9, 'panda_joint3': 0.7, 'panda_joint4': -2.1,
             'panda_joint5': 1.2, 'panda_joint6': 1.9, 'panda_joint7': -0.8}


def rotation(rpy):
    """Rotation about fixed x, then y, then z (URDF specification)."""
    (r, p, y) = rpy
    Rx = np.array([[1, 0, 0], [0, math.cos(r), -math.sin(r)], [0, math.sin(r), math.cos(r)]])
    Ry = np.array([[math.cos(p), 0, math.sin(p)], [0, 1, 0], [-math.sin(p), 0, math.cos(p)]])
    Rz = np.array([[math.cos(y), -math.sin(y), 0], [math.sin(y), math.cos(y), 0], [0, 0, 1]])
    return Rz @ Ry @ Rx


def quaternion(rpy):
    """Give x y z w of the same rotation."""
    (sr, sp, sy), (cr, cp, cy) = np.sin(np.array(rpy) / 2), np.cos(np.array(rpy) / 2)
    return [sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy, cr * cp * cy + sr * sp * sy]


def angle(R):
    """Angle of a rotation, exact for small ones, too."""
    return 2 * math.asin(min(1.0, np.linalg.norm(R - np.eye(3)) / math.sqrt(8)))


def rpy_of(R):
    """Fixed-axis angles, away from the singularity."""
    return [math.atan2(R[2, 1], R[2, 2]), -math.asin(R[2, 0]), math.atan2(R[1, 0], R[0, 0])]


def test_reaches_a_pose(process, judge):
    T = judge('panda', REACHABLE, 'panda_hand_tcp', 'panda_link0')
    run = process('solve', 'panda', '--xyz', *T[:3, 3], '--rpy', *rpy_of(T[:3, :3]), '--json',
                  '--random-state', 1)
    assert run.code == 0, run.err
    answer = run.json
    assert answer['success'] and answer['status'] == 'SUCCESS'
    found = judge('panda', answer['joints'], 'panda_hand_tcp', 'panda_link0')
    assert np.linalg.norm(found[:3, 3] - T[:3, 3]) < 2e-5
    assert angle(found[:3, :3].T @ T[:3, :3]) < 2e-4
    target = answer['targets'][0]
    assert target['position_error'] == pytest.approx(
        np.linalg.norm(found[:3, 3] - T[:3, 3]), abs=1e-8)


@pytest.mark.parametrize('words', [
    ('--rpy', 30, -20, 100, '--deg'),
    ('--rpy', *np.radians([30, -20, 100])),
    ('--quat', *(1.009 * x for x in quaternion(np.radians([30, -20, 100])))),
])
def test_orientations_mean_what_ros_means(command, judge, words):
    R = rotation(np.radians([30, -20, 100]))
    run = command('solve', 'ur5', '--xyz', 0.3, -1e-3, 0.4, *words, '--json')
    assert run.code == 0, run.err
    found = judge('ur5', run.json['joints'], 'tool0', 'base_link')
    assert angle(found[:3, :3].T @ R) < 2e-4
    assert np.linalg.norm(found[:3, 3] - [0.3, -1e-3, 0.4]) < 2e-5


def test_two_arms(command, judge):
    run = command('solve', 'baxter', '--tip', 'left_gripper', '--xyz', 0.7, 0.3, 0.2,
                  '--rpy', 0, 90, 0, '--tip', 'right_gripper', '--xyz', 0.7, -0.3, 0.1,
                  '--deg', '--json')
    assert run.code == 0, run.err
    joints = run.json['joints']
    assert len(joints) == 14
    left = judge('baxter', joints, 'left_gripper', 'base')
    right = judge('baxter', joints, 'right_gripper', 'base')
    assert np.linalg.norm(left[:3, 3] - [0.7, 0.3, 0.2]) < 2e-5
    assert angle(left[:3, :3].T @ rotation([0, math.pi / 2, 0])) < 2e-4
    assert np.linalg.norm(right[:3, 3] - [0.7, -0.3, 0.1]) < 2e-5
    assert run.json['notes'] == ['right_gripper: position only (no --rpy or --quat given)']


def test_relative_to_a_moving_frame(command, judge):
    run = command('solve', 'panda', '--xyz', 0, 0.2, 0.3, '--relative-to', 'panda_link3', '--json')
    assert run.code == 0, run.err
    found = judge('panda', run.json['joints'], 'panda_hand_tcp', 'panda_link3')
    assert np.linalg.norm(found[:3, 3] - [0, 0.2, 0.3]) < 2e-5


def test_orientation_only(command, judge):
    run = command('solve', 'panda', '--rpy', 180, 0, 30, '--deg', '--json')
    assert run.code == 0, run.err
    found = judge('panda', run.json['joints'], 'panda_hand_tcp', 'panda_link0')
    assert angle(found[:3, :3].T @ rotation(np.radians([180, 0, 30]))) < 2e-4
    assert 'orientation only' in run.json['notes'][0]


def test_a_freed_axis_may_be_any_way_off(command, judge):
    run = command('solve', 'panda', '--xyz', 0.4, 0.1, 9, '--rpy', 180, 0, 0, '--deg', '--json',
                  '--weights', 1, 1, 0, 1, 1, 1)
    assert run.code == 0, run.err
    found = judge('panda', run.json['joints'], 'panda_hand_tcp', 'panda_link0')
    assert np.linalg.norm(found[:2, 3] - [0.4, 0.1]) < 2e-5
    assert run.json['targets'][0]['position_error'] < 2e-5


def test_weights_for_what_is_not_given_may_be_zero(command):
    run = command('solve', 'panda', '--xyz', 0.4, 0.1, 9, '--weights', 1, 1, 0, 0, 0, 0, '--json')
    assert run.code == 0, run.err
    assert run.json['notes'] == ['the default tip: position only (no --rpy or --quat given)']
    run = command('solve', 'panda', '--rpy', 3, 0, 0, '--weights', 0, 0, 0, 1, 1, 0, '--json')
    assert run.code == 0, run.err


def test_manipulability_selects(command):
    run = command('solve', 'panda', '--xyz', 0.3, 0.1, 0.4, '--select', 'manipulability', '--json')
    assert run.code == 0 and 'most manipulable' in run.json['message'], run.err


def test_select_takes_what_makes_sense_without_costs(command):
    from ros2_ik.core.solvers.options import SELECTIONS
    refused = command('solve', 'panda', '--xyz', 1, 2, 3, '--select', 'cost').refused()
    for name in SELECTIONS:
        assert (name in refused.partition('choose from')[2]) == (name != 'cost')


def test_several_solutions_differ_and_hold(command, judge):
    run = command('solve', 'ur5', '--xyz', 0.4, 0.2, 0.3, '--rpy', 0, 0, 0, '--solutions', 3,
                  '--random-state', 1, '--json')
    solutions = [run.json['joints'], *run.json['alternatives']]
    assert len(solutions) == 3
    for joints in solutions:
        found = judge('ur5', joints, 'tool0', 'base_link')
        assert np.linalg.norm(found[:3, 3] - [0.4, 0.2, 0.3]) < 2e-5
    values = np.array([list(joints.values()) for joints in solutions])
    assert min(np.abs(values[i] - values[j]).max() for i in range(3) for j in range(i)) > 1e-2


def test_urdf_file_closed_form(command, planar_arm):
    run = command('solve', planar_arm, '--xyz', 0.5, 0.3, 0.1, '--json', '--seed', 'elbow=1.5')
    assert run.code == 0, run.err
    q = run.json['joints']
    assert q['lift'] == pytest.approx(0.1, abs=2e-5)
    assert math.cos(q['elbow']) == pytest.approx(0, abs=1e-4)
    x = 0.5 * math.cos(q['shoulder']) + 0.3 * math.cos(q['shoulder'] + q['elbow'])
    y = 0.5 * math.sin(q['shoulder']) + 0.3 * math.sin(q['shoulder'] + q['elbow'])
    assert (x, y) == pytest.approx((0.5, 0.3), abs=2e-5)


def test_names_of_the_robot_are_no_options(command, tmp_path, planar_arm):
    """Also where one is spelled like an option of the command."""
    path = tmp_path / 'named.urdf'
    path.write_text(planar_arm.read_text().replace('"elbow"', '"root_joint"'))
    refused = command('solve', path, '--xyz', 0.5, 0.3, 0.1, '--seed', 'root_jont=1').refused()
    assert "did you mean 'root_joint'" in refused
    answer = command('solve', path, '--xyz', 0.5, 0.3, 0.1, '--seed', 'root_joint=1.5')
    assert '--root-joint' not in answer.out


def test_seed_decides_which_solution(command, planar_arm):
    up = command('solve', planar_arm, '--xyz', 0.6, 0, 0, '--json', '--seed', 'elbow=60', '--deg')
    down = command('solve', planar_arm, '--xyz', 0.6, 0, 0, '--json', '--seed', 'elbow=-60',
                   '--deg')
    assert up.json['joints']['elbow'] == pytest.approx(-down.json['joints']['elbow'], abs=1e-3)
    assert up.json['joints']['elbow'] > 0


def test_the_table_shows_limits_and_marks_the_near_ones(command, planar_arm):
    run = command('solve', planar_arm, '--xyz', 0.5, 0.3, 0.199)
    assert run.code == 0, run.err
    lines = {line.split()[0]: line for line in run.out.splitlines() if line.strip()}
    assert lines['lift'].split()[1:] == ['0.1990', 'm', '0.0000', '0.2000', 'near', 'its', 'limit']
    assert lines['elbow'].split()[2:] == ['rad', lines['elbow'].split()[3], '-', '-']
    assert 'position only' in run.out


def test_degrees_count_for_tolerances_and_bounds(command, judge):
    """They are the same questions in radians and in degrees."""
    pose = ('solve', 'panda', '--xyz', 0.4, 0.1, 0.5, '--random-state', 1, '--json')
    for words, tolerance in ((('--rpy', 180, 0, 0, '--orientation-tolerance', 5, '--deg'), 5),
                             (('--rpy', math.pi, 0, 0, '--orientation-tolerance', 0.2), 11.5)):
        run = command(*pose, *words)
        assert run.code == 0, run.err
        T = judge('panda', run.json['joints'], 'panda_hand_tcp', 'panda_link0')
        assert math.degrees(angle(T[:3, :3].T @ np.diag([1, -1, -1]))) < tolerance
    home = shipped_robots()['panda'].home
    for words in (('--max-joint-change', 6, '--deg', '--timeout', 0.2),
                  ('--max-joint-change', math.radians(6), '--timeout', 0.2),
                  ('--max-joint-change', 15, '--deg'), ('--max-joint-change', math.radians(15))):
        run = command(*pose, *words)
        assert run.code == ('--timeout' in words), run.err    # it takes 12 degrees
        change = max(abs(value - home.get(name, 0))
                     for name, value in run.json['best_joints'].items())
        assert run.code or 0.1 < change < math.radians(15) + 1e-6


def test_degrees_bound_slides_as_radians_do(command, planar_arm):
    """One number is for all joints: 5 degrees are .087 rad, for a slide .087 m."""
    words = ('solve', planar_arm, '--deg', '--max-joint-change', 5, '--timeout', 0.2, '--json',
             '--xyz', 0.8, 0)
    assert command(*words, 0.08).code == 0
    assert command(*words, 0.1).code == 1


def test_out_of_reach_is_no_solution(command, planar_arm):
    run = command('solve', planar_arm, '--xyz', 2, 0, 0, '--timeout', 0.2)
    assert run.code == 1
    assert 'best attempt' in run.out
    answer = command('solve', planar_arm, '--xyz', 2, 0, 0, '--timeout', 0.2, '--json')
    assert answer.code == 1
    assert answer.json['joints'] is None
    assert answer.json['status'] in ('NO_IK_SOLUTION', 'TIMED_OUT')
    assert answer.json['targets'][0]['position_error'] == pytest.approx(1.2, abs=1e-2)


@pytest.mark.parametrize('words, hint', [
    (['pand', '--xyz', 1, 2, 3], "did you mean 'panda'"),
    (['panda'], 'needs --xyz, --rpy or --quat'),
    (['panda', '--tip', 'panda_hand_tpc', '--xyz', 1, 2, 3], "'panda_hand_tcp'"),
    (['panda', '--xyz', 1, 2, 'nan'], 'not finite'),
    (['panda', '--xyz', 1, 2, '-inf'], 'not finite'),
    (['panda', '--xyz', 1, 2], '--xyz: expected 3 arguments'),
    (['panda', '--xyz', 1, 2, 3, '--quat', 0, 0, 0, 0], 'is zero; the identity is'),
    (['panda', '--quat', 1, 1, 0, 0], 'norm 1.41421; it must be 1'),
    (['panda', '--quat', 0, 0, 0, 'inf'], 'not finite'),
    (['panda', '--quat', 0, 0, 0, 'nan'], 'not finite'),
    (['panda', '--rpy', 180, 0, 0], '--rpy: 180 rad is more than a full turn; for'),
    (['panda', '--rpy', 0, 0, -6.3], '-6.3 rad'),
    (['panda', '--rpy', 0, 'inf', 0], 'not finite'),
    (['panda', '--xyz', 1, 2, 3, '--orientation-tolerance', 5],
     '--orientation-tolerance: 5 rad is more than half a turn; for degrees add --deg'),
    (['panda', '--xyz', 1, 2, 3, '--orientation-tolerance', 200, '--deg'],
     '--orientation-tolerance: 200 deg is more than half a turn'),
    (['panda', '--xyz', 1, 2, 3, '--max-joint-change', 30],
     '--max-joint-change: 30 rad is more than a full turn; for degrees add --deg'),
    (['panda', '--xyz', 1, 2, 3, '--max-joint-change', 400, '--deg'],
     '--max-joint-change: 400 deg is more than a full turn'),
    (['panda', '--xyz', 1, 2, 3, '--seed', 'panda_joint1=-90'], "'panda_joint1=-90': -90 rad is"),
    (['panda', '--quat', 0, 0, 0, 1, '--rpy', 0, 0, 0], 'both'),
    (['panda', '--xyz', 1, 2, 3, '--xyz', 1, 2, 3], '--tip each'),
    (['baxter', '--tip', 'left_gripper', '--xyz', 0.7, 0.3, 0.2, '--tip', 'right_gripper'],
     "target 2 of 2, 'right_gripper': a target needs --xyz, --rpy or --quat"),
    (['baxter', '--tip', 'left_gripper', '--quat', 0, 0, 0, 2, '--tip', 'right_gripper', '--xyz',
      0.7, 0.3, 0.2], "the quaternion of the target of 'left_gripper' has norm 2"),
    (['panda', '--xyz', 1, 2, 3, '--weights', 1, 1, 1, 0, 0, 1],
     '--weights: those of rotations, 0 0 1, need --rpy or --quat; without it they must be 0'),
    (['panda', '--rpy', 1, 2, 3, '--weights', 1, 1, 1, 0, 0, 1],
     '--weights: those of positions, 1 1 1, need --xyz; without it they must be 0'),
    (['panda', '--xyz', 1, 2, 3, '--rpy', 0, 0, 0, '--weights', 1, 1, 1, 1, 1, -1], 'negative'),
    (['panda', '--xyz', 1, 2, 3, '--group', 'arms'], "did you mean 'arm'"),
    (['panda', '--xyz', 1, 2, 3, '--seed', 'panda_joint9=1'], 'unknown joint'),
    (['panda', '--xyz', 1, 2, 3, '--seed', 'panda_joint1=x'], 'not a number'),
    (['panda', '--xyz', 1, 2, 3, '--seed', 'panda_finger_joint2=0'], "follows 'panda_finger"),
    (['panda', '--xyz', 1, 2, 3, '--seed', 'resting'], 'default, home'),
    (['panda', '--xyz', 1, 2, 3, '--timeout', -1], 'positive'),
    (['panda', '--xyz', 1, 2, 3, '--solutions', 0], 'whole number'),
    (['panda', '--xyz', 1, 2, 3, '--relative-to', 'table'], "unknown frame 'table'"),
    (['panda', '--xyz', 1, 2, 3, '--srdf', 'x.srdf'], 'shipped robot'),
    ([__file__, '--xyz', 1, 2, 3], 'URDF'),
    (['/', '--xyz', 1, 2, 3], 'URDF'),
])
def test_bad_questions_are_refused_in_one_line(command, words, hint):
    assert hint in command('solve', *words).refused()


def test_scene(command):
    """Above the table it is answered, inside the table not."""
    pose = ('--rpy', 180, 0, 0, '--deg', '--random-state', 1)
    run = command('solve', 'panda', '--scene', 'table', '--xyz', 0.5, 0.1, 0.4, *pose)
    assert run.code == 0, run.err
    run = command('solve', 'panda', '--xyz', 0.6, 0.0, 0.185, *pose)
    assert run.code == 0, run.err
    run = command('solve', 'panda', '--scene', 'table', '--xyz', 0.6, 0.0, 0.185, *pose,
                  '--timeout', 0.5)
    assert run.code == 1 and 'GOAL_IN_COLLISION' in run.out and "'table'" in run.out


def test_scene_that_does_not_load(command, tmp_path):
    path = tmp_path / 'cell.yaml'
    path.write_text('objects: [{id: a, shapes: [{box: {size: [1, 1]}}]}]')
    for scene, words in (('tabel', 'shipped: bin, floor, shelf, table'), (path, 'objects[0]')):
        run = command('solve', 'panda', '--scene', scene, '--xyz', 0.5, 0.1, 0.4)
        assert run.code == 2 and words in run.err, run.err
