"""Steps of the servo without ROS: limits, obstacles, singularities, rest."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from rclpy.logging import get_logger
from small_arm import small_arm

from ros2_ik.core import (
    Box,
    CollisionChecker,
    Configuration,
    Robot,
    Scene,
    SceneObject,
    Sphere,
)
from ros2_ik.node.endpoints.servo import Servo
from ros2_ik.node.servo.follower import Command, Follower
from ros2_ik.node.servo.loop import Loop
from ros2_ik.node.servo.messages import SessionRequest
from ros2_ik.node.servo.session import Session
from ros2_ik.node.servo.velocities import ObjectVelocities

TIP, DT, EVER = 'panda_hand_tcp', 0.004, 1e9
HOME = np.array([0.0, -0.785398, 0.0, -2.35619, 0.0, 1.5708, 0.785398])
VELOCITY, ACCELERATION = np.full(7, 0.5), np.full(7, 1.5)
PARAMETERS = SimpleNamespace(servo_linear_velocity=0.25, servo_angular_velocity=0.8,
                             servo_margin=0.01, servo_rate=1 / DT)


@pytest.fixture(scope='module')
def robot():
    return Robot.load('panda')


@pytest.fixture(scope='module')
def tip_of(robot):
    """Return forward kinematics by Pinocchio alone."""
    model = pin.buildModelFromXML(robot.urdf)
    data, frame = model.createData(), model.getFrameId(TIP)

    def tip(arm):
        pin.framesForwardKinematics(model, data, np.concatenate([arm, np.zeros(model.nq - 7)]))
        return data.oMf[frame].copy()
    return tip


def begun(robot, mode, tip, joints, q, fastest, scene=None, dimensions=(True,) * 6):
    """Return a follower with a velocity limit; it checks collisions if there is a scene."""
    return Follower(SessionRequest(
        robot, mode, tip, tuple(joints), q, np.full(len(joints), fastest),
        np.full(len(joints), 1.5), (), scene or Scene(robot),
        None if scene is None else ('exact', 'refuse'), PARAMETERS, dimensions))


class Run:
    """A follower and all its steps."""

    def __init__(self, robot, mode, arm=HOME, scene=None):
        joints = robot.group('arm').joint_names
        q = robot.to_q(dict(zip(joints, arm, strict=True)))
        self.follower = begun(robot, mode, '' if mode == 'joint' else TIP, joints, q, 0.5, scene)
        self.robot, self.arm, self.steps = robot, [np.array(arm)], []

    def go(self, value, seconds):
        """Repeat a command for some time; None sends none."""
        if value is None:
            self.follower.brake()
        else:
            self.follower.set_command(Command(np.asarray(value, dtype=float), EVER))
        for _ in range(round(seconds / DT)):
            self.steps.append(self.follower.step(0.0))
            self.arm.append(self.follower.q[self.follower.q_indices])
        return self

    def judge(self, slack=1e-6):
        """Judge limits of position, velocity and acceleration by differences of positions."""
        arm = np.array(self.arm)
        model = self.robot.model
        places = self.follower.q_indices
        lower, upper = model.lowerPositionLimit[places], model.upperPositionLimit[places]
        assert (arm >= lower - 1e-9).all() and (arm <= upper + 1e-9).all()
        v = np.diff(arm, axis=0) / DT
        assert (np.abs(v) <= VELOCITY + slack).all(), np.abs(v).max(axis=0)
        a = np.diff(np.vstack([np.zeros(7), v]), axis=0) / DT
        assert (np.abs(a) <= ACCELERATION + slack / DT).all(), np.abs(a).max(axis=0)
        return arm, v


def test_random_commands_keep_all_limits(robot):
    random = np.random.default_rng()
    for mode in ('twist', 'joint', 'pose'):
        run = Run(robot, mode)
        for _ in range(12):
            if mode == 'pose':
                value = pin.SE3.Random().homogeneous
                value[:3, 3] = random.uniform((-0.9, -0.9, -0.2), (0.9, 0.9, 1.2))
            else:
                value = random.uniform(-1, 1, 6 if mode == 'twist' else 7)
            run.go(value, random.uniform(0.02, 1.0))
            if random.random() < 0.3:
                run.go(None, random.uniform(0.02, 0.5))
        run.judge()
        assert np.abs(run.go(None, 1.0).judge()[1][-1]).max() == 0


def place(x, y, z):
    return pin.SE3(np.eye(3), np.array([x, y, z]))


def test_resting_arm_that_is_pushed_away_names_the_obstacle(robot, tip_of):
    """A wall at 0.07 m/s pushes from 2 cm on. Past defect: the status said that the arm brakes."""
    y = 0.25
    # above z = 0.4, and so beside the hand alone
    run = Run(robot, 'twist', scene=Scene(robot).add(SceneObject(
        'wall', [Box([1.5, 0.05, 1.5])], place(0.4, y, 1.15))))
    for _ in range(85):
        y -= 0.07 * 5 * DT
        run.follower.move_objects({'wall': place(0.4, y, 1.15)},
                                  {'wall': np.array([0, -0.07, 0])})
        run.go(None, 5 * DT)
    moved = {step.message for step, by in zip(run.steps, np.diff(run.arm, axis=0), strict=True)
             if np.abs(by).max() > 1e-9}
    assert moved and all(one.startswith('moves away from an obstacle: ') and "'wall'" in one
                         for one in moved), moved
    tips = np.array([tip_of(arm).translation for arm in run.arm])
    assert np.linalg.norm(np.diff(tips, axis=0), axis=1).max() / DT < 0.26


def test_arm_between_closing_walls_does_not_oscillate(robot):
    """Past defect: the velocity changed its sign from step to step."""
    def walls(apart):
        return {name: place(0.307, side * (apart / 2 + 0.1), 0.5)
                for name, side in (('right', -1), ('left', 1))}
    speed, apart, scene = 0.05, 0.3, Scene(robot)
    for name, pose in walls(apart).items():
        scene = scene.add(SceneObject(name, [Box([0.3, 0.2, 0.3])], pose))
    run = Run(robot, 'twist', scene=scene)
    while apart > 0.06:
        apart -= 2 * speed * 5 * DT
        run.follower.move_objects(walls(apart), {
            'right': np.array([0, speed, 0]), 'left': np.array([0, -speed, 0])})
        run.go(None, 5 * DT)
    run.follower.move_objects({})
    run.go(None, 1.0)
    v = np.diff(run.arm, axis=0) / DT
    assert (np.abs(v) <= VELOCITY + 1e-6).all() and np.abs(v[-1]).max() < 0.01
    assert (np.abs(np.diff(v, axis=0)).max(axis=1) > 0.4).sum() < 20


def test_arm_rests_at_an_unreachable_target(robot, tip_of):
    for away in ((1.0, 0, 0), (-0.3, 0, -0.3)):
        goal = tip_of(HOME).homogeneous
        goal[:3, 3] += away
        run = Run(robot, 'pose').go(goal, 16.0)
        _, v = run.judge()
        late = v[-round(3.0 / DT):]
        signs = np.sign(np.where(np.abs(late) > 1e-3, late, 0))
        assert (np.diff(signs, axis=0) != 0).sum(axis=0).max() / 3.0 < 2
        assert np.abs(late).max() < 0.02


def test_twist_of_zero_brakes_like_no_command(robot):
    """Past defect: each joint braked by itself, so the tip left its line by some millimetres."""
    ends = []
    for value in (None, np.zeros(6)):
        run = Run(robot, 'twist')
        run.go([0.2, 0, 0, 0, 0, 0], 0.5)
        run.go(value, 0.5)
        ends.append(run.arm[-1])
    np.testing.assert_array_equal(*ends)


def test_twist_moves_into_a_singularity_and_out_again(robot, tip_of):
    run = Run(robot, 'twist').go([0.2, 0, 0.1, 0, 0, 0], 8.0)
    reached = tip_of(run.arm[-1]).translation
    assert any('singularity' in step.message for step in run.steps)
    run.go([-0.2, 0, -0.1, 0, 0, 0], 4.0)
    back = tip_of(run.arm[-1]).translation - reached
    assert np.linalg.norm(back) > 0.1 and back @ (-0.2, 0, -0.1) > 0
    run.judge()


# -- joints that something else moves ----------------------------------------------------------

def test_other_joints_move_the_tip_and_the_twist_keeps_its_direction():
    """An arm on a rotating turntable."""
    arm = Robot.load('ur5')
    urdf = arm.urdf.replace('</robot>', f"""<link name="floor"/>
<joint name="turntable" type="revolute"><parent link="floor"/><child link="{arm.root_frame}"/>
<axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="1" effort="9"/></joint></robot>""")
    robot, joints = Robot.from_urdf(urdf, arm.package_dirs), arm.joint_names
    q = robot.to_q(dict(zip(joints, (0.3, -1.2, 1.7, -1.9, -1.3, 0.4), strict=True)))
    follower = begun(robot, 'twist', 'tool0', joints, q, 0.8)
    table, tips = robot.joint('turntable'), []
    for k in range(1000):
        speed = 0.1 if k < 785 else 0.0
        follower.q, follower.v = follower.q.copy(), follower.v.copy()
        follower.q[table.index] = min(k, 785) * DT * 0.1
        follower.v[table.velocity_index] = speed
        follower.set_command(Command(np.array([0.03, 0, 0, 0, 0, 0]), EVER))
        follower.step(0.0)
        assert follower.v[table.velocity_index] == speed
        tips.append(Configuration(robot, follower.q).transform('tool0')[:3, 3])
    steps = np.diff(tips, axis=0)[200:] / DT
    steps = np.vstack([steps[:580], steps[-150:]])      # but where the table stops at once
    assert steps[:, 0] == pytest.approx(0.03, abs=2e-3)
    assert np.abs(steps[:, 1:]).max() < 2e-3


def test_other_arm_that_comes_near_pushes_the_servoed_one_away():
    robot = Robot.load('baxter')
    left = robot.group('left_arm').joint_names
    right = robot.joint('right_s0')
    q = robot.to_q({'left_s0': -0.9, 'left_s1': -0.2, 'right_s0': 0.8, 'right_s1': -0.2})
    checker = CollisionChecker(robot)
    follower = begun(robot, 'twist', 'left_gripper', left, q, 0.8, Scene(robot))
    moved, touched = q[right.index], 0
    for _ in range(600):
        moved += 0.2 * DT
        follower.q, follower.v = follower.q.copy(), follower.v.copy()
        follower.q[right.index], follower.v[right.velocity_index] = moved, 0.2
        follower.step(0.0)
        touched += checker.collides(follower.q)
    still = q.copy()
    still[right.index] = moved
    assert not touched and checker.collides(still)


def test_pairs_that_the_servoed_arm_does_not_move_are_not_named():
    """The fingers of the other gripper stand 6.5 mm apart."""
    robot = Robot.load('baxter')
    left = robot.group('left_arm').joint_names
    follower = begun(robot, 'twist', 'left_gripper', left, robot.to_q({}), 0.8, Scene(robot))
    assert follower.step(0.0).code == 0


JOINT = """<joint name="j{}" type="revolute"><parent link="{}"/><child link="{}"/>
<origin xyz="{}"/><axis xyz="{}"/><limit lower="-2.8" upper="2.8"
 velocity="2" effort="9"/></joint>"""
FOUR_JOINTS = f"""<robot name="four"><link name="base"/><link name="a"/><link name="b"/>
<link name="c"/><link name="tool"/>{JOINT.format(1, 'base', 'a', '0 0 0.1', '0 0 1')}
{JOINT.format(2, 'a', 'b', '0 0 0.1', '0 1 0')}{JOINT.format(3, 'b', 'c', '0 0 0.3', '0 1 0')}
{JOINT.format(4, 'c', 'tool', '0.25 0 0', '0 1 0')}</robot>"""


def turned(twist, dimensions=(True,) * 6, seconds=2.0):
    """Return translation [m] and rotation [rad] of the tip by a twist, and the messages."""
    robot = Robot.from_urdf(FOUR_JOINTS)
    follower = begun(robot, 'twist', 'tool', robot.joint_names, np.array([0.2, 0.4, 0.8, 0.5]),
                     0.5, dimensions=dimensions)
    follower.set_command(Command(np.array(twist, dtype=float), EVER))
    before = Configuration(robot, follower.q).transform('tool').copy()
    steps = [follower.step(0.0) for _ in range(round(seconds / DT))]
    after = Configuration(robot, follower.q).transform('tool')
    return (after[:3, 3] - before[:3, 3], pin.log3(after[:3, :3] @ before[:3, :3].T),
            {step.message for step in steps})


@pytest.mark.parametrize('dimensions', [(True,) * 6, (True, True, True, False, False, False)])
def test_arm_of_four_joints_follows_linear_twists(dimensions):
    for axis in np.eye(3):
        twist = [*(0.05 * axis), 0, 0, 0]
        begun, moved = (turned(twist, dimensions, seconds)[0] for seconds in (0.4, 2.0))
        assert (moved - begun) / 1.6 == pytest.approx(0.05 * axis, abs=1e-3)
        assert turned(twist, dimensions)[2] == {'follows'}


def test_twist_that_an_arm_of_four_joints_cannot_follow_names_the_reason():
    moved, _, told = turned([0, 0, 0, 0, 0, 0.3])
    assert np.abs(moved).max() < 1e-3
    assert any('4 joints cannot turn the tip as commanded; control_dimensions' in one
               for one in told)


def test_twist_into_a_wall_halts_and_names_it_and_a_twist_along_it_goes_on(robot, tip_of):
    wall = SceneObject('wall', [Box([1.5, 0.05, 1.5])], pin.SE3(np.eye(3), np.array(
        [0.3, 0.3, 0.5])))
    run = Run(robot, 'twist', scene=Scene(robot).add(wall)).go([0.1, 0.15, 0, 0, 0, 0], 2.5)
    assert "'wall'" in run.steps[-1].message and run.steps[-1].code in (4, 5)

    def speed():
        steps = [tip_of(arm).translation for arm in run.arm[-100:]]
        return (steps[-1] - steps[0]) / (99 * DT)
    assert np.abs(speed()).max() < 0.02
    run.go([0.1, 0, 0, 0, 0, 0], 1.0)
    assert speed()[0] > 0.09
    run.judge(slack=1e-4)


def test_joint_limit_that_holds_the_tip_is_named(robot):
    run = Run(robot, 'twist').go([0, 0, 0, 0, 0, 0.8], 8.0)
    assert any("slow: at the position limit of 'panda_joint" in step.message
               for step in run.steps), {step.message for step in run.steps}


def test_joint_limit_is_named_before_links_that_are_near():
    """Two links of the UR5's wrist are always 1 cm beyond the margin apart."""
    robot = Robot.load('ur5')
    follower = begun(robot, 'twist', 'tool0', robot.joint_names,
                     np.array([0, -1.2, 1.5, -1.8, -1.57, 0]), 3.0, Scene(robot))
    follower.set_command(Command(np.array([0, 0, 0, 0, 0, 0.8]), EVER))
    said = [follower.step(0.0) for _ in range(round(12 / DT))]
    assert (said[-1].code, said[-1].message) == (
        6, "slow: at the position limit of 'wrist_3_joint'")


def test_velocity_of_an_object_is_that_of_its_own_moves():
    """Past defect: moves of other objects, at another rate, changed the estimate."""
    velocities, step = ObjectVelocities(), np.array([0.005, 0, 0])
    for tick in range(50):
        now = 0.02 * tick
        velocities.record({'fast': -step} if tick % 5 else {'fast': -step, 'slow': step}, now)
        if tick > 5:
            np.testing.assert_allclose(velocities.at(now)['slow'], [0.05, 0, 0])
            np.testing.assert_allclose(velocities.at(now)['fast'], [-0.25, 0, 0])
    assert not velocities.drop_stationary(now + 0.2)
    assert velocities.drop_stationary(now + 0.29) and [*velocities.at(now)] == ['fast']
    assert velocities.drop_stationary(now + 0.4) and velocities.at(now) == {}
    assert not velocities.drop_stationary(now + 0.5)


def test_object_that_is_attached_loses_its_velocity(robot, monkeypatch):
    """It moves with the arm; with the velocity of before the arm would give way to it."""
    scene, velocities = Scene(robot).add(SceneObject('peg', [Sphere(0.02)])), ObjectVelocities()
    follower = Run(robot, 'joint', scene=scene).follower
    session = SimpleNamespace(follower=follower, _velocities=velocities)
    for now in (1.0, 1.1):
        monkeypatch.setattr('time.monotonic', lambda now=now: now)
        Session.change_scene(session, {'peg': place(now, 0, 0)})
    np.testing.assert_allclose(velocities.at(1.1)['peg'], [1.0, 0, 0])
    assert follower.scene.objects['peg'].pose.translation[0] == 1.1
    held = follower.scene.attach(follower.scene.objects['peg'], TIP)
    Session.change_scene(session, held)
    assert velocities.at(1.1) == {} and 'peg' in follower.scene.attached


@pytest.mark.parametrize('with_fail_first', [True, False])
def test_errors_of_callbacks_and_of_streams_are_both_logged(with_fail_first):
    """The log of rclpy refuses other filters at one place, which ended the servo's process."""
    loop, failed = SimpleNamespace(_log=get_logger('test')), []
    for fail in (failed.append, None) if with_fail_first else (None, failed.append):
        Loop._attempt(loop, lambda: [][0], fail)
    assert failed == ['IndexError: list index out of range']


@pytest.mark.parametrize(('pose', 'moved'), [
    ([1.0, 0, 0, 0, 0, 0.6, 0.8], False), ([1.0, 0, 0, 0, 0, -0.6, -0.8], False),
    ([1.002, 0, 0, 0, 0, 0.6, 0.8], True), ([1.0, 0, 0, 0, 0, 0.602, 0.7985], True),
    (None, True)])
def test_free_base_that_moves_ends_the_servo(pose, moved):
    robot, ended = small_arm(root_joint='freeflyer'), []
    q = robot.to_q({robot.base_joint: [1.0, 0, 0, 0, 0, 0.6, 0.8]})
    owner = SimpleNamespace(request=SimpleNamespace(stops=0), controllers=[])
    servo = SimpleNamespace(
        _end=ended.append, _session_request=SimpleNamespace(robot=robot, q=q, scene=None),
        _paused=False, motions=SimpleNamespace(servo=owner, stops=0), scene=SimpleNamespace(
            current=SimpleNamespace(scene=None)), servo_process=SimpleNamespace(call=lambda *_: 0),
        current_state=SimpleNamespace(known_values=lambda _: {robot.base_joint: pose}))
    servo._base_moved = partial(Servo._base_moved, servo)
    Servo._send_changes(servo)
    assert bool(ended) is moved


PLAYER = SimpleNamespace(tick=lambda period: None, abort=None)


@pytest.mark.parametrize(('newest', 'players', 'calls'), [
    (None, {}, 1), (0.0, {}, 2), (None, {0: PLAYER}, 2)])
def test_process_that_never_received_joint_states_ends_with_its_session(newest, players, calls):
    """After a kill, Fast DDS may deliver nothing to the next process (Fast-DDS#5053)."""
    received = []

    def receive():
        received.append(loop._session)
        loop._pipe_closed = len(received) == 2
    loop = SimpleNamespace(
        _pipe_closed=False, _players=players, _period=DT, _receive=receive, _report=lambda _: None,
        _session=SimpleNamespace(dt=DT, over=True, step=lambda: None, abort=None,
                                 close=lambda: None),
        _executor=SimpleNamespace(spin_once=lambda timeout_sec: None),
        _attempt=lambda do, fail: do(), _joint_states=SimpleNamespace(newest=newest))
    Loop.run(loop)
    assert len(received) == calls
