"""Steps of the servo without ROS: limits, obstacles, singularities and rest."""

from types import SimpleNamespace
from unittest.mock import MagicMock

import judge
import numpy as np
import pinocchio as pin
import pytest
from rclpy.logging import get_logger
from servo_harness import FRAMES, TIP
from small_robots import joint, urdf

from ros2_ik.core import Box, CollisionChecker, Configuration, Robot, Scene, SceneObject, Sphere
from ros2_ik.node.servo.follower import Command, Follower
from ros2_ik.node.servo.loop import Loop
from ros2_ik.node.servo.messages import SessionRequest
from ros2_ik.node.servo.session import Session
from ros2_ik.node.servo.velocities import ObjectVelocities

DT, FOREVER = 0.004, 1e9     # period of the servo, and deadline of a command [s]
HOME = np.array([0.0, -0.785398, 0.0, -2.35619, 0.0, 1.5708, 0.785398])
VELOCITY, ACCELERATION = np.full(7, 0.5), np.full(7, 1.5)     # limits [rad/s, rad/s^2]
PARAMETERS = SimpleNamespace(servo_linear_velocity=0.25, servo_angular_velocity=0.8,
                             servo_margin=0.01, servo_rate=1 / DT)


def make_follower(robot, mode, tip, joints, q, max_velocity, scene=None, dimensions=(True,) * 6):
    """Return a follower, which checks collisions only if there is a scene."""
    return Follower(SessionRequest(
        robot, mode, tip, tuple(joints), q, np.full(len(joints), max_velocity),
        np.full(len(joints), 1.5), (), scene or Scene(robot),
        None if scene is None else ('exact', 'refuse'), PARAMETERS, dimensions))


class Run:
    """A follower with the record of its steps."""

    def __init__(self, robot, mode, arm=HOME, scene=None):
        joints = robot.group('arm').joint_names
        q = robot.to_q(dict(zip(joints, arm, strict=True)))
        tip = '' if mode == 'joint' else TIP
        self.follower = make_follower(robot, mode, tip, joints, q, 0.5, scene)
        self.robot, self.arm, self.steps = robot, [np.array(arm)], []

    def follow(self, value, seconds):
        """Follow a command for some time, or brake if it is None."""
        if value is None:
            self.follower.brake()
        else:
            self.follower.set_command(Command(np.asarray(value, dtype=float), FOREVER))
        for _ in range(round(seconds / DT)):
            self.steps.append(self.follower.step(0.0))
            self.arm.append(self.follower.q[self.follower.q_indices])
        return self

    def assert_limits(self, tolerance=1e-6):
        """Assert limits of position, velocity and acceleration; return positions, velocities."""
        arm = np.array(self.arm)
        model = self.robot.model
        indices = self.follower.q_indices
        lower, upper = model.lowerPositionLimit[indices], model.upperPositionLimit[indices]
        assert (arm >= lower - 1e-9).all() and (arm <= upper + 1e-9).all()
        v = np.diff(arm, axis=0) / DT
        assert (np.abs(v) <= VELOCITY + tolerance).all(), np.abs(v).max(axis=0)
        a = np.diff(np.vstack([np.zeros(7), v]), axis=0) / DT
        assert (np.abs(a) <= ACCELERATION + tolerance / DT).all(), np.abs(a).max(axis=0)
        return arm, v


@pytest.mark.parametrize('seed', range(3))
def test_random_commands_keep_all_limits(panda, seed):
    random = np.random.default_rng(seed)
    for mode in ('twist', 'joint', 'pose'):
        run = Run(panda, mode)
        for _ in range(12):
            if mode == 'pose':
                value = judge.pose(random.uniform((-0.9, -0.9, -0.2), (0.9, 0.9, 1.2)),
                                   random.normal(0.0, 2.0, 3))
            else:
                value = random.uniform(-1, 1, 6 if mode == 'twist' else 7)
            run.follow(value, random.uniform(0.02, 1.0))
            if random.random() < 0.3:
                run.follow(None, random.uniform(0.02, 0.5))
        run.assert_limits()
        assert np.abs(run.follow(None, 1.0).assert_limits()[1][-1]).max() == 0


def translation(x, y, z):
    return pin.SE3(np.eye(3), np.array([x, y, z]))


def test_status_names_the_obstacle_that_a_resting_arm_avoids(panda):
    """The arm yields to a moving wall. Past defect: the status was that the arm brakes."""
    y = 0.25
    # above z = 0.4 m, beside the hand only
    run = Run(panda, 'twist', scene=Scene(panda).add(SceneObject(
        'wall', [Box([1.5, 0.05, 1.5])], translation(0.4, y, 1.15))))
    for _ in range(85):
        y -= 0.07 * 5 * DT
        run.follower.move_objects({'wall': translation(0.4, y, 1.15)},
                                  {'wall': np.array([0, -0.07, 0])})
        run.follow(None, 5 * DT)
    messages = {step.message for step, change in zip(
        run.steps, np.diff(run.arm, axis=0), strict=True) if np.abs(change).max() > 1e-9}
    assert messages and all(
        text.startswith('moves away from an obstacle: ') and "'wall'" in text
        for text in messages), messages
    tips = np.array([FRAMES.tip(arm).translation for arm in run.arm])
    assert np.linalg.norm(np.diff(tips, axis=0), axis=1).max() / DT < 0.26


def test_arm_between_closing_walls_does_not_oscillate(panda):
    """Past defect: the velocity changed its sign from step to step."""
    def walls(gap):
        return {name: translation(0.307, side * (gap / 2 + 0.1), 0.5)
                for name, side in (('right', -1), ('left', 1))}
    speed, gap, scene = 0.05, 0.3, Scene(panda)
    for name, pose in walls(gap).items():
        scene = scene.add(SceneObject(name, [Box([0.3, 0.2, 0.3])], pose))
    run = Run(panda, 'twist', scene=scene)
    while gap > 0.06:
        gap -= 2 * speed * 5 * DT
        run.follower.move_objects(walls(gap), {
            'right': np.array([0, speed, 0]), 'left': np.array([0, -speed, 0])})
        run.follow(None, 5 * DT)
    run.follower.move_objects({}, {})
    run.follow(None, 1.0)
    v = np.diff(run.arm, axis=0) / DT
    assert (np.abs(v) <= VELOCITY + 1e-6).all() and np.abs(v[-1]).max() < 0.01
    assert (np.abs(np.diff(v, axis=0)).max(axis=1) > 0.4).sum() < 20


def test_arm_rests_at_an_unreachable_target(panda):
    for offset in ((1.0, 0, 0), (-0.3, 0, -0.3)):
        goal = FRAMES.tip(HOME).homogeneous
        goal[:3, 3] += offset
        run = Run(panda, 'pose').follow(goal, 16.0)
        _, v = run.assert_limits()
        last = v[-round(3.0 / DT):]
        signs = np.sign(np.where(np.abs(last) > 1e-3, last, 0))
        assert (np.diff(signs, axis=0) != 0).sum(axis=0).max() / 3.0 < 2
        assert np.abs(last).max() < 0.02


def test_zero_twist_brakes_like_no_command(panda):
    """Past defect: joints braked independently, so the tip left its line by millimetres."""
    ends = []
    for value in (None, np.zeros(6)):
        run = Run(panda, 'twist')
        run.follow([0.2, 0, 0, 0, 0, 0], 0.5)
        run.follow(value, 0.5)
        ends.append(run.arm[-1])
    np.testing.assert_array_equal(*ends)


def test_twist_moves_into_a_singularity_and_back_out(panda):
    run = Run(panda, 'twist').follow([0.2, 0, 0.1, 0, 0, 0], 8.0)
    singular = FRAMES.tip(run.arm[-1]).translation
    assert any('singularity' in step.message for step in run.steps)
    run.follow([-0.2, 0, -0.1, 0, 0, 0], 4.0)
    back = FRAMES.tip(run.arm[-1]).translation - singular
    assert np.linalg.norm(back) > 0.1 and back @ (-0.2, 0, -0.1) > 0
    run.assert_limits()


def test_twist_keeps_its_direction_while_another_joint_moves_the_tip():
    """An arm on a rotating turntable, on a floating base."""
    arm = Robot.load('ur5')
    urdf = arm.urdf.replace('</robot>', f"""<link name="floor"/>
<joint name="turntable" type="revolute"><parent link="floor"/><child link="{arm.root_frame}"/>
<axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="1" effort="9"/></joint></robot>""")
    robot = Robot.from_urdf(urdf, arm.package_dirs, root_joint='freeflyer')
    joints = arm.joint_names
    q = robot.to_q(dict(zip(joints, (0.3, -1.2, 1.7, -1.9, -1.3, 0.4), strict=True)))
    follower = make_follower(robot, 'twist', 'tool0', joints, q, 0.8)
    table, tips = robot.joint('turntable'), []
    for k in range(1000):
        speed = 0.1 if k < 785 else 0.0
        follower.q, follower.v = follower.q.copy(), follower.v.copy()
        follower.q[table.index] = min(k, 785) * DT * 0.1
        follower.v[table.velocity_index] = speed
        follower.set_command(Command(np.array([0.03, 0, 0, 0, 0, 0]), FOREVER))
        follower.step(0.0)
        assert follower.v[table.velocity_index] == speed
        tips.append(Configuration(robot, follower.q).transform('tool0')[:3, 3])
    steps = np.diff(tips, axis=0)[200:] / DT
    steps = np.vstack([steps[:580], steps[-150:]])      # except where the table stops abruptly
    assert steps[:, 0] == pytest.approx(0.03, abs=2e-3)
    assert np.abs(steps[:, 1:]).max() < 2e-3


def test_servoed_arm_avoids_another_arm_that_approaches():
    robot = Robot.load('baxter')
    left = robot.group('left_arm').joint_names
    right = robot.joint('right_s0')
    q = robot.to_q({'left_s0': -0.9, 'left_s1': -0.2, 'right_s0': 0.8, 'right_s1': -0.2})
    checker = CollisionChecker(robot)
    follower = make_follower(robot, 'twist', 'left_gripper', left, q, 0.8, Scene(robot))
    position, contacts = q[right.index], 0
    for _ in range(600):
        position += 0.2 * DT
        follower.q, follower.v = follower.q.copy(), follower.v.copy()
        follower.q[right.index], follower.v[right.velocity_index] = position, 0.2
        follower.step(0.0)
        contacts += checker.collides(follower.q)
    unmoved = q.copy()
    unmoved[right.index] = position
    assert not contacts and checker.collides(unmoved)


def test_close_bodies_that_the_servo_does_not_move_are_ignored():
    """The fingers of the other gripper are 6.5 mm apart, within the margin."""
    robot = Robot.load('baxter')
    follower = make_follower(robot, 'twist', 'left_gripper', robot.group('left_arm').joint_names,
                             robot.to_q({}), 0.8, Scene(robot))
    assert follower.step(0.0).code == 0


FOUR_JOINTS = urdf(*(
    joint(f'to_{child}', 'revolute', parent, child, origin, axis=axis, limits=(-2.8, 2.8))
    for parent, child, origin, axis in (
        ('base', 'a', (0, 0, 0.1), (0, 0, 1)), ('a', 'b', (0, 0, 0.1), (0, 1, 0)),
        ('b', 'c', (0, 0, 0.3), (0, 1, 0)), ('c', 'tool', (0.25, 0, 0), (0, 1, 0)))))


def run_twist(twist, dimensions=(True,) * 6, seconds=2.0):
    """Return translation [m] and rotation [rad] of the tip of a four-joint arm, and messages."""
    robot = Robot.from_urdf(FOUR_JOINTS)
    follower = make_follower(robot, 'twist', 'tool', robot.joint_names,
                             np.array([0.2, 0.4, 0.8, 0.5]), 0.5, dimensions=dimensions)
    follower.set_command(Command(np.array(twist, dtype=float), FOREVER))
    before = Configuration(robot, follower.q).transform('tool').copy()
    steps = [follower.step(0.0) for _ in range(round(seconds / DT))]
    after = Configuration(robot, follower.q).transform('tool')
    return (after[:3, 3] - before[:3, 3], pin.log3(after[:3, :3] @ before[:3, :3].T),
            {step.message for step in steps})


@pytest.mark.parametrize('dimensions', [(True,) * 6, (True, True, True, False, False, False)])
def test_arm_of_four_joints_follows_linear_twists(dimensions):
    for axis in np.eye(3):
        twist = [*(0.05 * axis), 0, 0, 0]
        start, end = (run_twist(twist, dimensions, seconds)[0] for seconds in (0.4, 2.0))
        assert (end - start) / 1.6 == pytest.approx(0.05 * axis, abs=1e-3)
        assert run_twist(twist, dimensions)[2] == {'follows'}


def test_status_names_the_reason_if_four_joints_cannot_follow_a_twist():
    moved, _, messages = run_twist([0, 0, 0, 0, 0, 0.3])
    assert np.abs(moved).max() < 1e-3
    assert any('4 joints cannot turn the tip as commanded; control_dimensions' in text
               for text in messages)


def test_twist_into_a_wall_halts_with_its_name_and_a_twist_along_it_moves_on(panda):
    wall = SceneObject('wall', [Box([1.5, 0.05, 1.5])], translation(0.3, 0.3, 0.5))
    run = Run(panda, 'twist', scene=Scene(panda).add(wall)).follow([0.1, 0.15, 0, 0, 0, 0], 2.5)
    assert "'wall'" in run.steps[-1].message and run.steps[-1].code in (4, 5)

    def speed():
        steps = [FRAMES.tip(arm).translation for arm in run.arm[-100:]]
        return (steps[-1] - steps[0]) / (99 * DT)
    assert np.abs(speed()).max() < 0.02
    run.follow([0.1, 0, 0, 0, 0, 0], 1.0)
    assert speed()[0] > 0.09
    run.assert_limits(tolerance=1e-4)


@pytest.mark.parametrize('has_scene', [True, False])
def test_status_names_a_joint_limit_rather_than_close_links(has_scene):
    """The distance of two links of the UR5's wrist is always 1 cm more than the margin."""
    robot = Robot.load('ur5')
    follower = make_follower(robot, 'twist', 'tool0', robot.joint_names,
                             np.array([0, -1.2, 1.5, -1.8, -1.57, 0]), 3.0,
                             Scene(robot) if has_scene else None)
    follower.set_command(Command(np.array([0, 0, 0, 0, 0, 0.8]), FOREVER))
    steps = [follower.step(0.0) for _ in range(round(12 / DT))]
    assert (steps[-1].code, steps[-1].message) == (
        6, "slow: at the position limit of 'wrist_3_joint'")


def test_velocity_of_an_object_depends_only_on_its_own_moves():
    """Past defect: moves of other objects at another rate changed the estimate."""
    velocities, step = ObjectVelocities(), np.array([0.005, 0, 0])
    for tick in range(50):
        now = 0.02 * tick
        velocities.record({'fast': -step} if tick % 5 else {'fast': -step, 'slow': step}, now)
        if tick > 5:
            found = velocities.at(now, ('fast', 'slow'))
            np.testing.assert_allclose(found['slow'], [0.05, 0, 0])
            np.testing.assert_allclose(found['fast'], [-0.25, 0, 0])
    for later, outdated, left in ((0.2, False, ['fast', 'slow']), (0.29, True, ['fast']),
                                  (0.4, True, []), (0.5, False, [])):
        assert velocities.outdated(now + later) is outdated
        assert sorted(velocities.at(now + later, ('fast', 'slow'))) == left


def test_attached_object_loses_its_velocity(panda, monkeypatch):
    """With its old velocity, the arm would avoid an object that moves with the arm."""
    scene, velocities = Scene(panda).add(SceneObject('peg', [Sphere(0.02)])), ObjectVelocities()
    follower = Run(panda, 'joint', scene=scene).follower
    session = SimpleNamespace(follower=follower, _velocities=velocities)
    for now in (1.0, 1.1):
        monkeypatch.setattr('time.monotonic', lambda now=now: now)
        Session.change_scene(session, {'peg': translation(now, 0, 0)}, None)
    np.testing.assert_allclose(velocities.at(1.1, ['peg'])['peg'], [1.0, 0, 0])
    assert follower.scene.objects['peg'].pose.translation[0] == 1.1
    attached = follower.scene.attach(follower.scene.objects['peg'], TIP)
    Session.change_scene(session, {}, attached)
    assert velocities.at(1.1, ['peg']) == {} and 'peg' in follower.scene.attached


@pytest.mark.parametrize('with_fail_first', [True, False])
def test_errors_with_and_without_a_fail_callback_can_both_be_logged(with_fail_first):
    """Past defect: rclpy raises if one line logs with different filters, which ended the servo."""
    loop, failed = SimpleNamespace(_log=get_logger('test')), []
    for fail in (failed.append, None) if with_fail_first else (None, failed.append):
        Loop._attempt(loop, lambda: [][0], fail)
    assert failed == ['IndexError: list index out of range']


@pytest.mark.parametrize(('newest', 'players', 'calls'), [
    (None, {}, 1), (0.0, {}, 2), (None, {0: MagicMock()}, 2)])
def test_process_that_never_received_joint_states_ends_with_its_session(newest, players, calls):
    """After a kill, Fast DDS may deliver nothing to the next process (Fast-DDS#5053)."""
    received = []

    def receive():
        received.append(loop._session)
        loop._pipe_closed = len(received) == 2
    loop = MagicMock(_pipe_closed=False, _players=players, _period=DT, _receive=receive)
    loop._session.dt, loop._session.finished, loop._joint_states.newest = DT, True, newest
    Loop.run(loop)
    assert len(received) == calls
