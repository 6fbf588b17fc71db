"""`ros2_ik solve`, judged by yourdfpy and by closed forms."""

import math

from judge import pose, pose_error
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ros2_ik.cli.arguments import CommandError
from ros2_ik.cli.values import read_joint_values
from ros2_ik.core import Robot, shipped_robots

# joint values within the limits, far from the home pose [rad]
REACHABLE = {'panda_joint1': 0.6, 'panda_joint2': -0.9, 'panda_joint3': 0.7, 'panda_joint4': -2.1,
             'panda_joint5': 1.2, 'panda_joint6': 1.9, 'panda_joint7': -0.8}


def test_solve_reaches_a_reachable_pose(child_command, judge):
    T = judge('panda', REACHABLE, 'panda_hand_tcp', 'panda_link0')
    rpy = Rotation.from_matrix(T[:3, :3]).as_euler('xyz')
    run = child_command('solve', 'panda', '--xyz', *T[:3, 3], '--rpy', *rpy, '--json',
                        '--random-state', 0)
    assert run.code == 0, run.err
    assert run.json['success'] and run.json['status'] == 'SUCCESS'
    found = judge('panda', run.json['joints'], 'panda_hand_tcp', 'panda_link0')
    assert np.less(pose_error(found, T), (2e-5, 2e-4)).all()


@pytest.mark.parametrize('arguments', [
    ('--rpy', 30, -20, 100, '--deg'),
    ('--quat', 0.292328, 0.087439, 0.757590, 0.577024)])
def test_orientation_options_follow_the_conventions_of_ros(command, judge, arguments):
    # about the fixed axes x, y, z
    T = pose((0.3, -1e-3, 0.4), Rotation.from_euler('xyz', [30, -20, 100], True).as_rotvec())
    run = command('solve', 'ur5', '--xyz', 0.3, -1e-3, 0.4, *arguments, '--solutions', 3, '--json')
    assert run.code == 0 and len(run.json['alternatives']) == 2, run.err
    for joints in (run.json['joints'], *run.json['alternatives']):
        found = judge('ur5', joints, 'tool0', 'base_link')
        assert np.less(pose_error(found, T), (2e-5, 2e-4)).all()


def test_target_relative_to_a_moving_frame_is_reached(command, judge):
    run = command('solve', 'panda', '--xyz', 0, 0.2, 0.3, '--relative-to', 'panda_link3', '--json')
    assert run.code == 0, run.err
    found = judge('panda', run.json['joints'], 'panda_hand_tcp', 'panda_link3')
    assert np.linalg.norm(found[:3, 3] - [0, 0.2, 0.3]) < 2e-5


def test_unreachable_coordinate_with_weight_0_is_ignored(command, judge):
    run = command('solve', 'panda', '--xyz', 0.4, 0.1, 9, '--rpy', 180, 0, 0, '--deg', '--json',
                  '--weights', 1, 1, 0, 1, 1, 1)
    assert run.code == 0, run.err
    found = judge('panda', run.json['joints'], 'panda_hand_tcp', 'panda_link0')
    assert np.linalg.norm(found[:2, 3] - [0.4, 0.1]) < 2e-5
    assert run.json['targets'][0]['position_error'] < 2e-5


def test_solution_for_a_urdf_file_agrees_with_the_closed_form(command, planar_arm):
    run = command('solve', planar_arm, '--xyz', 0.5, 0.3, 0.1, '--json', '--seed', 'elbow=1.5')
    assert run.code == 0, run.err
    q = run.json['joints']
    assert q['lift'] == pytest.approx(0.1, abs=2e-5)
    assert math.cos(q['elbow']) == pytest.approx(0, abs=1e-4)
    x = 0.5 * math.cos(q['shoulder']) + 0.3 * math.cos(q['shoulder'] + q['elbow'])
    y = 0.5 * math.sin(q['shoulder']) + 0.3 * math.sin(q['shoulder'] + q['elbow'])
    assert (x, y) == pytest.approx((0.5, 0.3), abs=2e-5)


def test_table_of_joints_shows_their_limits(command, planar_arm):
    run = command('solve', planar_arm, '--xyz', 0.5, 0.3, 0.199)
    assert run.code == 0, run.err
    lines = {line.split()[0]: line for line in run.out.splitlines() if line.strip()}
    assert lines['lift'].split()[1:] == ['0.1990', 'm', '0.0000', '0.2000']
    assert lines['elbow'].split()[2:] == ['rad', lines['elbow'].split()[3], '-', '-']


def test_max_joint_change_in_degrees_or_radians_is_kept(command):
    pose = ('solve', 'panda', '--xyz', 0.4, 0.1, 0.5, '--random-state', 1, '--json')
    home = shipped_robots()['panda'].home
    for arguments in (('--max-joint-change', 6, '--deg', '--timeout', 0.2),
                      ('--max-joint-change', 15, '--deg'),
                      ('--max-joint-change', math.radians(15))):
        run = command(*pose, *arguments)
        assert run.code == ('--timeout' in arguments), run.err    # the target takes 12 deg
        change = max(abs(value - home.get(name, 0))
                     for name, value in run.json['best_joints'].items())
        assert run.code or 0.1 < change < math.radians(15) + 1e-6


def test_target_out_of_reach_returns_the_best_attempt(command, planar_arm):
    run = command('solve', planar_arm, '--xyz', 2, 0, 0, '--timeout', 0.2)
    assert run.code == 1 and 'best attempt' in run.out
    answer = command('solve', planar_arm, '--xyz', 2, 0, 0, '--timeout', 0.2, '--json')
    assert answer.code == 1
    assert answer.json['joints'] is None
    assert answer.json['status'] in ('NO_IK_SOLUTION', 'TIMED_OUT')
    assert answer.json['targets'][0]['position_error'] == pytest.approx(1.2, abs=1e-2)


@pytest.mark.parametrize('arguments, hint', [
    (['pand', '--xyz', 1, 2, 3], "did you mean 'panda'"),
    (['panda'], 'needs --xyz, --rpy or --quat'),
    (['panda', '--tip', 'panda_hand_tpc', '--xyz', 1, 2, 3], "'panda_hand_tcp'"),
    (['panda', '--xyz', 1, 2, 'inf'], 'not finite'),
    (['panda', '--xyz', 1, 2, 3, '--quat', 0, 0, 0, 0], 'is zero; the identity is'),
    (['panda', '--rpy', 180, 0, 0], '--rpy: 180 rad is more than a full turn; for'),
    (['panda', '--xyz', 1, 2, 3, '--max-joint-change', 30],
     '--max-joint-change: 30 rad is more than a full turn; for degrees add --deg'),
    (['panda', '--xyz', 1, 2, 3, '--seed', 'panda_joint1=-90'], 'panda_joint1: -90 rad is'),
    (['panda', '--quat', 0, 0, 0, 1, '--rpy', 0, 0, 0], 'both'),
    (['panda', '--xyz', 1, 2, 3, '--weights', 1, 1, 1, 0, 0, 1],
     '--weights: position weights need --xyz, rotation weights --rpy or --quat'),
    (['panda', '--xyz', 1, 2, 3, '--seed', 'panda_joint1=x'], 'not a number'),
    (['panda', '--xyz', 1, 2, 3, '--seed', 'panda_joint1=nan'], 'finite number'),
    (['panda', '--xyz', 1, 2, 3, '--seed', 'panda_finger_joint2=0'], "follows 'panda_finger"),
    (['panda', '--xyz', 1, 2, 3, '--seed', 'resting'], 'states: default, home'),
    (['panda', '--xyz', 1, 2, 3, '--timeout', -1], "'-1' is not a number from 1e-09"),
    (['panda', '--xyz', 1, 2, 3, '--solutions', 0], 'whole number'),
    (['panda', '--xyz', 1, 2, 3, '--select', 'cost'], "invalid choice: 'cost'"),
    (['panda', '--xyz', 1, 2, 3, '--srdf', 'x.srdf'], 'shipped robot'),
    ([__file__, '--xyz', 1, 2, 3], f"'{__file__}': the URDF")])
def test_malformed_command_lines_are_refused_in_one_line(command, arguments, hint):
    assert hint in command('solve', *arguments).refusal()


def test_pose_inside_the_table_fails_with_the_scene_only(command):
    pose = ('--rpy', 180, 0, 0, '--deg', '--random-state', 1)
    run = command('solve', 'panda', '--scene', 'table', '--xyz', 0.5, 0.1, 0.4, *pose)
    assert run.code == 0, run.err
    run = command('solve', 'panda', '--xyz', 0.6, 0.0, 0.185, *pose)
    assert run.code == 0, run.err
    run = command('solve', 'panda', '--scene', 'table', '--xyz', 0.6, 0.0, 0.185, *pose,
                  '--timeout', 0.5)
    assert run.code == 1 and 'GOAL_IN_COLLISION' in run.out and "'table'" in run.out


def test_joint_values_come_from_states_or_pairs_but_not_from_unmarked_degrees(planar_arm):
    robot = Robot.from_urdf(planar_arm)
    with pytest.raises(CommandError, match='shoulder: 90 rad is more than .* --deg'):
        read_joint_values(['shoulder=90'], robot, None, degrees=False)
    given = read_joint_values(['shoulder=90'], robot, None, degrees=True)
    assert given['shoulder'] == pytest.approx(1.5707963)
    # accepted: a continuous joint, a value just outside the limits, and a prismatic joint
    arguments = ['elbow=90', 'shoulder=2.5', 'lift=90']
    assert read_joint_values(arguments, robot, None, degrees=False) == {
        'elbow': 90, 'shoulder': 2.5, 'lift': 90}
    values = read_joint_values(['home'], Robot.load('xarm7'), None, degrees=False)
    assert set(values) == {f'joint{i}' for i in range(1, 8)}
