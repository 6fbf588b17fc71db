"""Where Pink, mink or placo raise, give what is no number, or do nothing: what happens here."""

from judge import pose
import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation

from ros2_ik.core import (
    Barrier,
    Box,
    CollisionBarrier,
    CollisionChecker,
    Configuration,
    frame_task,
    low_acceleration_task,
    PointToPointDistance,
    posture_task,
    Robot,
    Scene,
    SceneObject,
    solve_velocity,
    Sphere,
    Task,
    VelocityProgram,
    VelocityStatus,
)

TIP, DT = 'panda_hand_tcp', 0.01
SLIDER = """<robot name="slider"><link name="world"/>
<link name="ball"><collision><geometry>{shape}</geometry></collision></link>
<joint name="x" type="prismatic"><parent link="world"/><child link="ball"/><axis xyz="1 0 0"/>
<limit lower="-9" upper="9" velocity="100" effort="1"/></joint></robot>"""
BALL, BOX = '<sphere radius="0.1"/>', '<box size="0.2 0.2 0.2"/>'


@pytest.fixture(scope='module')
def panda(load):
    return load('panda')


@pytest.fixture
def q(panda):
    return panda.to_q({'panda_joint2': 0.3, 'panda_joint4': -1.5, 'panda_joint6': 1.5})


@pytest.mark.parametrize('shape, other', [(BALL, Sphere(0.1)), (BOX, Box([0.2] * 3))])
def test_what_just_touches_parts(shape, other):
    """Pink's row is zero where witness points are one: no solution, or no numbers."""
    robot = Robot.from_urdf(SLIDER.format(shape=shape))
    checker = CollisionChecker(robot, Scene(robot).add(
        SceneObject('other', [other], pose((0.2, 0, 0)))))
    q = np.zeros(1)
    program = VelocityProgram(robot, [posture_task([1.0])], DT,
                              barriers=[CollisionBarrier(checker, 0.02)])
    for _ in range(20):
        step = program.step(q)
        assert np.isfinite(step.v).all()
        q = step.q
    assert -0.03 < q[0] <= -0.02 + 1e-6


@pytest.mark.parametrize('root_joint', ['freeflyer', 'planar'])
def test_a_base_that_moves(load, root_joint):
    """Pink's low acceleration fails there; its posture holds a base that has another name."""
    robot = Robot.from_urdf(load('panda').urdf, root_joint=root_joint)
    q = robot.neutral.copy()
    away = pin.integrate(robot.model, q, np.r_[0.3, np.zeros(robot.nv - 1)])
    names = load('panda').joint_names
    program = VelocityProgram(robot, [
        posture_task([robot.to_joints(q)[name] for name in names], names=names),
        low_acceleration_task(0.1)], DT)
    np.testing.assert_allclose(program.step(away).v, 0, atol=1e-9)


@pytest.mark.parametrize('what', ['barrier', 'task'])
def test_points_that_coincide(panda, q, what):
    """Pink divides by the distance 0; placo's task stands still and says nothing."""
    T = Configuration(panda, q).transform(TIP)
    sphere = PointToPointDistance(TIP, (0, 0, 0), T[:3, 3])
    if what == 'barrier':
        program = VelocityProgram(panda, [posture_task(q)], DT, barriers=[Barrier(sphere, 0.1)])
    else:
        program = VelocityProgram(panda, [Task(sphere, 0.1), posture_task(q, weight=1e-6)], DT)
    x = q
    for _ in range(100):
        step = program.step(x)
        assert np.isfinite(step.v).all()
        x = step.q
    assert np.linalg.norm(Configuration(panda, x).transform(TIP)[:3, 3] - T[:3, 3]) > 0.09


def test_a_quaternion_of_another_length(load):
    """Pink takes it as it is: what it makes of it is no rotation."""
    robot = Robot.from_urdf(load('panda').urdf, root_joint='freeflyer')
    q, scaled = robot.neutral.copy(), robot.neutral.copy()
    q[3:7] = Rotation.from_euler('xyz', [0.3, 0.2, 0.1]).as_quat()
    scaled[3:7] = 1.8 * q[3:7]
    task = frame_task(TIP, pose((0.5, 0, 0.5)))
    np.testing.assert_allclose(*(VelocityProgram(robot, [task], DT).step(x).v
                                 for x in (q, scaled)), atol=1e-9)


def test_a_matched_orientation_far_from_the_target(panda, q):
    """Mink drops how a small turn moves a far target: the tool goes straight there here."""
    T = Configuration(panda, q).transform(TIP).copy()
    T[:3, 3] += [-0.15, 0.3, 0.2]
    task = frame_task(TIP, T, gain=0.01, lm_damping=0)
    step = solve_velocity(Configuration(panda, q), [task], DT, limits=())
    moved = Configuration(panda, step.q).transform(TIP)
    np.testing.assert_allclose(moved[:3, 3] - Configuration(panda, q).transform(TIP)[:3, 3],
                               [-0.0015, 0.003, 0.002], atol=2e-5)
    assert Rotation.from_matrix(moved[:3, :3].T @ T[:3, :3]).magnitude() < 2e-4


def test_hard_and_scaled_beyond_reach(panda, q):
    """Placo raises for a hard task beyond reach, and stands still, mute, for a scaled one."""
    far = pose((5.0, 0, 0.5))
    hard = VelocityProgram(panda, [posture_task(q, weight=1e-3)], DT,
                           constraints=[frame_task(TIP, far)])
    scaled = VelocityProgram(panda, [frame_task(TIP, far, scaled=True)], DT)
    x = y = q
    for _ in range(200):
        one, other = hard.step(x), scaled.step(y)
        x, y = one.q, other.q
        assert np.isfinite(one.v).all()
    assert one.status is VelocityStatus.RELAXED
    assert TIP in one.relaxed
    assert other.scale < 0.1
