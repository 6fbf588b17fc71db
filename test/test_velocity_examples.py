"""Every example of velocity IK runs; Pinocchio and coal judge its motions."""

from functools import cache
import os
from pathlib import Path
import runpy
import subprocess
import sys
from types import SimpleNamespace
from xml.etree import ElementTree

import coal
from judge import angle
import numpy as np
import pinocchio as pin
import pytest

import ros2_ik

ROOT = Path(__file__).parents[1]
EXAMPLES = {path.stem: path for path in sorted((ROOT / 'examples/velocity').glob('*.py'))}
OPTIONS = {'arm_tracks_target': ('ur5', 'panda', 'xarm7', 'kinova'),
           'arm_converges': ('', '--hit-limit'), 'mobile_arm_circles': ('', '--relative'),
           'humanoid_waves': ('talos', 'g1'), 'quadruped_moves_trunk': ('go1', 'anymal'),
           'biped_bends_knees': ('fixed', 'freeflyer'), 'arm_with_hand': ('', '--mobile')}
RUNS = [(name, option) for name in EXAMPLES for option in OPTIONS.get(name, ('',))]
NO_VELOCITY_LIMIT = {'arm_converges'}
TOLERANCE = 1e-9    # of position limits [rad, m]


@cache
def run(name, option=''):
    """Run main(); return the names of the example, a judge, and its motions by name."""
    example = runpy.run_path(str(EXAMPLES[name]))
    robot, found = example['main'](*option.split())
    return (SimpleNamespace(**example), Judge(robot),
            found if isinstance(found, dict) else {'': found})


class Judge:
    """Pinocchio's model of the robot's URDF, with mimic joints as independent joints."""

    def __init__(self, robot):
        self.urdf, self.folders = robot.urdf, list(robot.package_dirs)
        root = {'fixed': (), 'planar': (pin.JointModelPlanar(),),
                'freeflyer': (pin.JointModelFreeFlyer(),)}[robot.root_joint]
        self.model = pin.buildModelFromXML(robot.urdf, *root)
        self.data = self.model.createData()
        self.sizes = [(name, {'floating': 7, 'planar': 3}.get(robot.joint(name).kind, 1))
                      for name in robot.joint_names]
        self.base = robot.base_joint
        self.disabled = set() if robot.srdf is None else {
            frozenset((pair.get('link1'), pair.get('link2')))
            for pair in ElementTree.fromstring(robot.srdf).iter('disable_collisions')}
        self.mimics = {joint.get('name'): joint.find('mimic')
                       for joint in ElementTree.fromstring(robot.urdf).iter('joint')
                       if joint.find('mimic') is not None}

    def joints(self, row):
        """Return the joint values by name; a base joint has several numbers."""
        ends = np.cumsum([size for _, size in self.sizes])
        parts = np.split(row, ends[:-1])
        return {name: part if size > 1 else float(part[0])
                for (name, size), part in zip(self.sizes, parts, strict=True)}

    def q(self, row):
        """Return the configuration in Pinocchio's convention."""
        joints, q = self.joints(row), pin.neutral(self.model)
        for index in range(1, self.model.njoints):
            name, joint = self.model.names[index], self.model.joints[index]
            if name in self.mimics:
                mimic = self.mimics[name]
                value = (float(mimic.get('multiplier', 1)) * joints[mimic.get('joint')]
                         + float(mimic.get('offset', 0)))
            else:
                value = joints[self.base if name == 'root_joint' else name]
            if joint.nq == 2:
                value = np.cos(value), np.sin(value)
            elif joint.nq == 4:
                value = value[0], value[1], np.cos(value[2]), np.sin(value[2])
            q[joint.idx_q:joint.idx_q + joint.nq] = value
        return q

    def frame(self, row, name, relative_to=None):
        """Return the pose of a link (4, 4) in the world, or relative to another link."""
        pin.framesForwardKinematics(self.model, self.data, self.q(row))
        one, other = (np.eye(4) if frame is None else self.data.oMf[self.model.getFrameId(
            frame, pin.FrameType.BODY)].homogeneous for frame in (name, relative_to))
        return np.linalg.inv(other) @ one

    def positions(self, path, name, relative_to=None):
        """Return the positions of a link's origin along a motion, (n, 3)."""
        return np.array([self.frame(row, name, relative_to)[:3, 3] for row in path])

    def center_of_mass(self, row):
        return pin.centerOfMass(self.model, self.data, self.q(row)).copy()

    def velocities(self, path, dt):
        """Return the velocities of all steps, (n - 1, nv)."""
        rows = [self.q(row) for row in path]
        return np.array([pin.difference(self.model, one, other) / dt
                         for one, other in zip(rows[:-1], rows[1:], strict=True)])

    def limit_violation(self, path):
        """Return the largest violation of a joint limit [rad, m]."""
        rows = np.array([self.q(row) for row in path])
        limited = [joint.idx_q for joint in self.model.joints if joint.nq == 1]
        low, high = self.model.lowerPositionLimit, self.model.upperPositionLimit
        return max((low - rows)[:, limited].max(), (rows - high)[:, limited].max())

    def min_distance(self, path, first, second):
        """
        Return the smallest distance of two groups [m]: shapes, or links chosen by a function.

        Pairs that the SRDF disables are left out.
        """
        geometry = pin.buildGeomFromUrdfString(self.model, self.urdf, pin.GeometryType.COLLISION,
                                               None, self.folders)
        links = [(self.model.frames[shape.parentFrame].name, shape)
                 for shape in geometry.geometryObjects]
        smallest = np.inf
        for row in path:
            pin.forwardKinematics(self.model, self.data, self.q(row))
            placed = [group if not callable(group) else [
                (link, shape.geometry, self.data.oMi[shape.parentJoint] * shape.placement)
                for link, shape in links if group(link)] for group in (first, second)]
            for link, one, at in placed[0]:
                for other_link, other, there in placed[1]:
                    if {link, other_link} not in self.disabled:
                        smallest = min(smallest, coal.distance(
                            one, coal.Transform3s(at.rotation, at.translation), other,
                            coal.Transform3s(there.rotation, there.translation),
                            coal.DistanceRequest(), coal.DistanceResult()))
        return smallest


def box(size, center):
    return [('', coal.Box(*size), pin.SE3(np.eye(3), np.array(center, float)))]


def distances(a, b):
    return np.linalg.norm(a - b, axis=1)


# -- all examples --------------------------------------------------------------------------

@pytest.mark.parametrize(('name', 'option'), RUNS)
def test_joint_position_and_velocity_limits_hold(name, option):
    example, judge, paths = run(name, option)
    for path in paths.values():
        assert np.isfinite(path).all() and len(path) > 10
        assert judge.limit_violation(path) <= TOLERANCE
        if name not in NO_VELOCITY_LIMIT:
            fastest = np.abs(judge.velocities(path, example.DT)).max(axis=0)
            for index, joint in enumerate(judge.model.joints):
                if joint.nv == 1 and judge.model.names[index] not in judge.mimics:
                    assert fastest[joint.idx_v] <= (
                        judge.model.velocityLimit[joint.idx_v] * (1 + 1e-6) + 1e-9)


def test_example_runs_as_a_script():
    name, option = 'biped_bends_knees', 'freeflyer'
    package = Path(ros2_ik.__file__).parents[1]     # with compiled kernels
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join([str(package), *sys.path])}
    process = subprocess.run([sys.executable, str(EXAMPLES[name]), *option.split()], text=True,
                             capture_output=True, env=environment, timeout=60)
    assert process.returncode == 0, process.stdout + process.stderr
    assert 'mm' in process.stdout and not process.stderr


# -- arms ----------------------------------------------------------------------------------

@pytest.mark.parametrize(('option', 'tip'), [
    ('ur5', 'tool0'), ('panda', 'panda_hand_tcp'), ('xarm7', 'link_eef'),
    ('kinova', 'j2s6s200_end_effector')])
def test_arm_tracks_a_target_on_a_circle(option, tip):
    example, judge, paths = run('arm_tracks_target', option)
    path = paths['']
    t = example.DT * np.arange(len(path))
    circle = 0.05 * np.column_stack([0 * t, np.sin(t), np.cos(t) - 1])
    positions = judge.positions(path, tip)
    assert distances(positions, positions[0] + circle)[2:].max() < 1e-4


def test_acceleration_limit_smooths_velocities_and_feedforward_removes_the_lag():
    example, judge, paths = run('arm_smooths_velocities')
    acceleration, lag = {}, {}
    for name, path in paths.items():
        velocity = judge.velocities(path, example.DT)
        acceleration[name] = np.abs(np.diff(velocity, axis=0, prepend=0)).max() / example.DT
        positions = judge.positions(path, 'tool0')
        target = positions[0, 1] + 0.1 * np.sin(2 * example.DT * np.arange(len(positions)))
        lag[name] = np.abs(positions[200:, 1] - target[200:]).max()
    rough, smooth, feedforward = paths
    assert max(acceleration[smooth], acceleration[feedforward]) <= example.MOST + 1e-6
    assert acceleration[rough] > 10 * example.MOST
    assert lag[rough] < 2e-3 and lag[smooth] < 0.025 and lag[feedforward] < 5e-4


def test_manipulability_task_raises_the_mean_manipulability():
    example, judge, paths = run('arm_keeps_manipulability')
    measures = {}
    for name, path in paths.items():
        found = []
        for row in path[::10]:
            J = pin.computeFrameJacobian(judge.model, judge.data, judge.q(row),
                                         judge.model.getFrameId('panda_hand_tcp'))
            found.append(np.sqrt(np.linalg.det(J @ J.T)))
        measures[name] = np.mean(found)
    assert measures['with'] > 1.02 * measures['without']
    positions = [judge.positions(path, 'panda_hand_tcp') for path in paths.values()]
    assert distances(*positions).max() < 0.01


def test_locked_joints_do_not_move_until_they_are_released():
    example, judge, paths = run('arm_holds_joints')
    path, half = paths[''], len(paths['']) // 2
    assert np.abs(path[:half, :3] - path[0, :3]).max() == 0
    positions = judge.positions(path, example.TIP)
    t = example.DT * np.arange(len(path)) - example.DT
    angles = np.radians(60) * np.abs(np.sin(0.2 * np.pi * t))
    radius = np.linalg.norm(positions[0, :2])
    expected = np.column_stack([radius * np.cos(angles), -radius * np.sin(angles),
                                np.full(len(t), positions[0, 2])])
    errors = distances(positions, expected)
    assert errors[:half].max() > 0.1 and errors[half + 1:].max() < 0.01


def test_engraving_tool_stays_on_the_dome_and_normal_to_it():
    example, judge, paths = run('arm_engraves_dome')
    for row in paths[''][201::10]:
        T = judge.frame(row, example.TIP)
        from_centre = T[:3, 3] - example.CENTRE
        assert np.linalg.norm(from_centre) == pytest.approx(example.RADIUS, abs=1e-3)
        assert np.degrees(angle(-T[:3, 2], from_centre)) < 0.5


# -- two arms, hands -----------------------------------------------------------------------

def test_two_arms_swap_sides_without_collision():
    example, judge, paths = run('two_arms_swap_places')
    path = paths['']

    def arm(side):
        return lambda link: link.startswith((f'{side}_', f'{side[0]}_gripper')) and (
            'mount' not in link)
    rows = path[::25]
    assert judge.min_distance(rows, arm('left'), arm('right')) >= 0.9 * example.MARGIN
    table = box((0.8, 1.6, 0.1), example.TABLE)
    assert judge.min_distance(rows, lambda link: arm('left')(link) or arm('right')(link),
                              table) >= 0.9 * example.MARGIN
    y = judge.positions(path, 'left_gripper')[:, 1]
    assert y.max() > 0.25 and y.min() < -0.1       # the hands crossed sides
    for hand, side in (('left_gripper', 1), ('right_gripper', -1)):
        assert np.linalg.norm(judge.frame(path[-1], hand)[:3, 3] - (0.75, side * 0.3, 0.1)) < 0.02


@pytest.mark.parametrize('option', ['', '--mobile'])
def test_arm_with_hand_reaches_palm_and_fingertip_targets(option):
    example, judge, paths = run('arm_with_hand', option)
    path = paths['']
    palm = judge.positions(path, 'palm_link')
    offset = (1.0, 0.2, 0.1) if option else (0.05, 0.2, 0.1)
    assert np.linalg.norm(palm[-1] - palm[0] - offset) < 1e-3
    t = example.DT * np.arange(len(path) - 1)
    for tip in example.TIPS:
        positions = judge.positions(path, tip, 'palm_link')
        shift = np.column_stack([0 * t, 0 * t, -0.01 * np.sin(2 * t)])
        assert distances(positions[1:], positions[0] + shift)[200:].max() < 1e-3


# -- mobile bases --------------------------------------------------------------------------

def test_omni_base_reaches_its_waypoints_on_a_straight_line():
    _, judge, paths = run('omni_base_drives')
    positions = judge.positions(paths[''], 'base_footprint')
    assert positions[300, :2] == pytest.approx((-0.4, 0.3), abs=1e-4)
    assert positions[600, :2] == pytest.approx((0, 0), abs=1e-4)
    assert np.abs(positions[:, :2] @ [0.6, 0.8]).max() < 1e-6
    x_axis = judge.frame(paths[''][300], 'base_footprint')[:3, 0]
    assert np.degrees(angle(x_axis, [0, -1, 0])) < 0.1


def test_floating_base_arrives_within_its_velocity_limit():
    example, judge, paths = run('base_velocity_limit')
    fastest = np.abs(judge.velocities(paths[''], example.DT)[:, :6]).max(axis=0)
    assert (fastest <= np.array([*example.LINEAR, *[example.ANGULAR] * 3]) + 1e-6).all()
    assert fastest[0] > 0.29 and fastest[5] > 0.79
    T = judge.frame(paths[''][-1], 'base_link')
    assert T[:3, 3] == pytest.approx((2, 0.5, 0.5), abs=1e-3)
    assert np.degrees(angle(T[:3, 0], [0, 1, 0])) < 0.1


# -- legs ----------------------------------------------------------------------------------

@pytest.mark.parametrize('option', ['talos', 'g1'])
def test_humanoid_moves_foot_and_pelvis_while_waving(option):
    example, judge, paths = run('humanoid_waves', option)
    left, right, pelvis, hand, knees = example.FRAMES[option]
    first, last = paths[''][0], paths[''][-1]
    for frame, shift in ((left, (0.1, 0, 0)), (right, (0, 0, 0)), (pelvis, (0.05, 0, -0.03))):
        before, after = judge.frame(first, frame), judge.frame(last, frame)
        assert after[:3, 3] - before[:3, 3] == pytest.approx(shift, abs=1e-3)
        if frame != pelvis:
            assert np.abs(after[:3, :3] - before[:3, :3]).max() < 2e-3
    bent = judge.joints(last)
    assert bent[knees[0]] == pytest.approx(bent[knees[1]], abs=1e-4)
    y = judge.positions(paths[''][400:], hand)[:, 1]
    assert np.ptp(y) == pytest.approx(0.1, abs=5e-3)


def test_humanoid_moves_its_center_of_mass_with_fixed_feet_and_hands():
    example, judge, paths = run('humanoid_moves_com')
    path = paths['']
    for frames, bound in ((example.FEET, 1e-4), (example.HANDS, 5e-3)):
        for frame in frames:
            positions = judge.positions(path[::10], frame)
            assert distances(positions, positions[0]).max() < bound
    centres = np.array([judge.center_of_mass(row) for row in path[::10]])
    t = example.DT * (10 * np.arange(len(centres)) - 1)
    shift = np.column_stack([0 * t, 0 * t, 0.06 * np.sin(np.pi * t)])
    assert distances(centres, centres[0] + shift)[1:].max() < 2e-3


def test_humanoid_reaches_over_the_table_without_collision():
    example, judge, paths = run('humanoid_reaches_over_table')
    path = paths['']
    table = box((0.4, 1.0, 0.04), example.TABLE)
    for side in ('left', 'right'):
        wrist = f'{side}_wrist_yaw_link'
        for other in (table, lambda link, side=side: link == f'{side}_hip_yaw_link'):
            assert judge.min_distance(path[::20], lambda link, wrist=wrist: link == wrist,
                                      other) >= 0.9 * example.MARGIN - 1e-6
        foot = judge.positions(path[::10], f'{side}_ankle_roll_link')
        assert distances(foot, foot[0]).max() < 1e-3
    assert judge.frame(path[-1], 'left_wrist_yaw_link')[:3, 3] == pytest.approx(
        (0.3, 0.2, 0.1), abs=0.02)


@pytest.mark.parametrize('option', ['go1', 'anymal'])
def test_quadruped_moves_its_trunk_with_fixed_feet(option):
    example, judge, paths = run('quadruped_moves_trunk', option)
    path = paths['']
    _, trunk, fixed_frames = example.FRAMES[option]
    for frame in [*fixed_frames, *([example.HAND] if option == 'anymal' else [])]:
        positions = judge.positions(path[::10], frame)
        assert distances(positions, positions[0]).max() < 1e-3
    t = example.DT * np.arange(len(path) - 1)
    expected = np.column_stack([0.04 * np.sin(t), 0.04 * np.sin(2 * t), 0.03 * (np.cos(t) - 1)])
    assert distances(judge.positions(path, trunk)[1:], expected).max() < 1e-3


def test_wheels_of_the_biped_roll_without_slip():
    """The contact point of a wheel neither slips nor leaves the floor."""
    example, judge, paths = run('wheeled_biped_rolls')
    path = paths['']
    rows, velocity = [judge.q(row) for row in path], judge.velocities(path, example.DT)
    for k in range(0, len(velocity), 10):
        middle = pin.integrate(judge.model, rows[k], 0.5 * example.DT * velocity[k])
        for wheel in ('left_wheel', 'right_wheel'):
            frame = judge.model.getFrameId(wheel, pin.FrameType.BODY)
            J = pin.computeFrameJacobian(judge.model, judge.data, middle, frame,
                                         pin.LOCAL_WORLD_ALIGNED)
            linear, angular = np.split(J @ velocity[k], 2)
            slip = linear + np.cross(angular, [0, 0, -example.RADIUS])
            assert np.abs(slip).max() < 2e-3
            assert judge.data.oMf[frame].translation[2] == pytest.approx(example.RADIUS, abs=1e-4)
    assert path[-1][0] == pytest.approx(0.1 * (len(path) - 2) * example.DT, abs=1e-3)


# -- pendulums and loops -------------------------------------------------------------------

def test_pendulum_stops_at_its_limit_but_the_search_succeeds(capsys):
    run.cache_clear()
    _, _, paths = run('pendulum_stuck_at_limit')
    assert 0 <= paths[''][-1][0] < 1e-6
    assert 'search: SUCCESS at 5.5000 rad' in capsys.readouterr().out


def test_closed_chain_stays_closed_while_the_crank_turns():
    example, judge, paths = run('closed_chain')
    path = paths['']
    pin_and_hole = [judge.positions(path, frame) for frame in ('pin', 'hole')]
    assert distances(*pin_and_hole)[100:].max() < 1e-4
    assert judge.joints(path[-1])['crank'] > 12
