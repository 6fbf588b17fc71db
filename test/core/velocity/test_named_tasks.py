"""Each named task does what its name says, judged by other code at the end of a loop."""

from judge import angle, TreeJudge
import numpy as np
import pinocchio as pin
import pytest
from small_robots import joint, urdf

from ros2_ik.core import (
    AngleBetweenVectors,
    axis_align_task,
    Barrier,
    CenterOfMass,
    com_task,
    Configuration,
    damping_task,
    distance_task,
    frame_task,
    joint_coupling_task,
    linear_holonomic_task,
    look_at_task,
    manipulability_task,
    posture_task,
    Robot,
    rolling_task,
    solve_velocity,
    Task,
    VelocityProgram,
)

TIP, DT = 'panda_hand_tcp', 0.01
WHEEL = urdf(joint('x', 'prismatic', 'floor', 'car', axis=(1, 0, 0), limits=(-9.0, 9.0)),
             joint('y', 'prismatic', 'car', 'frame', axis=(0, 1, 0), limits=(-9.0, 9.0)),
             joint('spin', 'continuous', 'frame', 'hub', xyz=(0, 0, 0.2), axis=(0, 1, 0),
                   velocity=99.0))


@pytest.fixture(scope='module')
def panda(load):
    return load('panda')


@pytest.fixture(scope='module')
def judge(panda):
    return TreeJudge(panda.urdf)


@pytest.fixture
def start(panda):
    q = panda.neutral.copy()
    q[1], q[3], q[5] = 0.3, -1.5, 1.5
    return q


def run(robot, tasks, q, steps=400, **options):
    program = VelocityProgram(robot, tasks, DT, **options)
    for _ in range(steps):
        q = program.step(q).q
    return q


def test_centre_of_mass(panda, start):
    """Along x and y; the judge is Pinocchio's."""
    wanted = Configuration(panda, start).center_of_mass() + [0.05, 0.08, 0.0]
    q = run(panda, [com_task(wanted[:2], axes='xy', gain=0.2)], start)
    assert Configuration(panda, q).center_of_mass()[:2] == pytest.approx(wanted[:2], abs=1e-4)


def test_centre_of_mass_in_a_polygon(panda, start):
    """A tool that would lean out too far stays where the centre is over the polygon."""
    at = Configuration(panda, start)
    centre = at.center_of_mass()
    T = at.transform(TIP).copy()
    T[:3, 3] += [0.3, 0, 0]
    box = Barrier(CenterOfMass(A=[[1, 0, 0], [-1, 0, 0]]), upper=[centre[0] + 0.02, 1.0])
    q = run(panda, [frame_task(TIP, T, orientation_weight=0)], start, barriers=[box])
    found = Configuration(panda, q).center_of_mass()[0]
    assert centre[0] + 0.015 < found <= centre[0] + 0.02 + 1e-6


@pytest.mark.parametrize('axis', [(0, 0, 1), (1, 0, 0), (0, 0, -1)])
def test_axis(panda, judge, start, axis):
    """Also from the opposite direction, where mink and placo stand still."""
    R = judge.transform(panda.to_joints(start), TIP)[:3, :3]
    wanted = -R @ np.array(axis, float) if axis[2] < 0 else np.array([0.2, -0.3, -1.0])
    q = run(panda, [axis_align_task(TIP, axis, wanted, gain=0.2)], start, 800)
    turned = judge.transform(panda.to_joints(q), TIP)[:3, :3] @ np.array(axis, float)
    assert angle(turned, wanted) < 1e-3


def test_gaze_and_axis_get_other_targets(panda, judge, start):
    """The point looked at, and the direction, also where the angle should be pi."""
    point, direction = np.array([0.5, 0.4, 0.1]), np.array([0.2, -0.3, -1.0])
    away = Task(AngleBetweenVectors(TIP, (0, 0, 1), (1, 0, 0)), np.pi, gain=0.2, name='away')
    for task, wanted in ((look_at_task(TIP, (1, 0, 0), gain=0.2), point),
                         (axis_align_task(TIP, (0, 0, 1), (0, 0, -1), gain=0.2), direction),
                         (away, -direction)):
        q, program = start, VelocityProgram(panda, [task], DT)
        program.set_target(task.name, wanted)
        for _ in range(400):
            q = program.step(q).q
        T = judge.transform(panda.to_joints(q), TIP)
        assert angle(T[:3, 2], point - T[:3, 3] if wanted is point else direction) < 1e-3


def test_one_weight_of_a_pose(panda, start):
    """It multiplies those of position and orientation."""
    pose = Configuration(panda, start).transform(TIP).copy()
    pose[:3, 3] += 0.1
    tasks = (frame_task(TIP, pose, position_weight=2.0, weight=[0.5, 1, 1, 0, 1, 1]),
             frame_task(TIP, pose, position_weight=[1.0, 2, 2], orientation_weight=[0, 1, 1]))
    one, other = (run(panda, [task, posture_task(start)], start, 1) for task in tasks)
    assert one == pytest.approx(other, abs=1e-15)


def test_distance(panda, judge, start):
    q = run(panda, [distance_task(TIP, 'panda_link0', 0.4, gain=0.2)], start)
    joints = panda.to_joints(q)
    p = judge.transform(joints, TIP)[:3, 3] - judge.transform(joints, 'panda_link0')[:3, 3]
    assert np.linalg.norm(p) == pytest.approx(0.4, abs=1e-4)


def test_couplings(panda, start):
    one, two, three = panda.joint_names[:3]
    wish = posture_task(start + 0.4, weight=1e-2)
    q = run(panda, [wish], start, constraints=[
        joint_coupling_task({one: 1.0, two: -2.0}, 0.1, gain=0.2)])
    assert q[0] - 2 * q[1] == pytest.approx(0.1, abs=1e-4)
    q = run(panda, [wish], start, constraints=[
        joint_coupling_task({three: -1.0, one: 0.5, two: 0.25}, gain=0.2)])
    assert q[2] == pytest.approx(0.5 * q[0] + 0.25 * q[1], abs=1e-4)
    A = np.zeros((2, panda.nv))
    A[0, 0], A[1, 3], A[1, 5] = 1.0, 1.0, 1.0
    q = run(panda, [wish], start, constraints=[
        linear_holonomic_task(A, [0.2, -0.1], start, gain=0.2)])
    assert A @ (q - start) == pytest.approx([0.2, -0.1], abs=1e-4)


def test_manipulability_grows(panda, start):
    def measure(q):
        J = Configuration(panda, q).jacobian(TIP)
        return np.sqrt(np.linalg.det(J @ J.T))
    start[3] = -0.4
    step = solve_velocity(Configuration(panda, start), [
        manipulability_task(TIP, 0.05), damping_task(1e-6)], 1e-4)
    assert (measure(step.q) - measure(start)) / 1e-4 == pytest.approx(0.05, rel=0.02)


def test_wheels():
    """A wheel that rolls turns by the way over the radius; an omniwheel slips sideways."""
    robot = Robot.from_urdf(WHEEL)
    q = np.zeros(3)
    for _ in range(3):
        rolling = solve_velocity(Configuration(robot, q), [
            posture_task([1.0, 0.5], names=['x', 'y'], weight=1e-2, gain=0.01)], DT,
            constraints=[rolling_task('hub', 0.2, floor='floor')])
        assert rolling.v[0] > 0.5 and abs(rolling.v[1]) < 1e-4
        assert rolling.v[2] == pytest.approx(rolling.v[0] / 0.2, rel=1e-3)
        omni = solve_velocity(Configuration(robot, q), [
            posture_task([1.0, 0.5], names=['x', 'y'], weight=1e-2, gain=0.01)], DT,
            constraints=[rolling_task('hub', 0.2, floor='floor', weight=(1, 0, 1))])
        assert omni.v[1] == pytest.approx(0.5, rel=0.05)
        assert omni.v[2] == pytest.approx(omni.v[0] / 0.2, rel=1e-3)
        q = rolling.q


def test_kinetic_energy(panda, start):
    """Of all velocities that move the tool so, that of least v^T M v: by the closed form."""
    at = Configuration(panda, start)
    way = np.array([0.05, 0.02, -0.03])
    J = at.jacobian(TIP)
    R = at.transform(TIP)[:3, :3]
    T = at.transform(TIP).copy()
    T[:3, 3] += way * DT
    step = VelocityProgram(panda, [], DT, constraints=[frame_task(TIP, T)], limits=(),
                           kinetic_energy=1.0).step(start)
    M = pin.crba(panda.model, panda.model.createData(), start)
    M = np.triu(M) + np.triu(M, 1).T
    world = np.vstack([R @ J[:3], R @ J[3:]])
    inverse = np.linalg.inv(M)
    v = inverse @ world.T @ np.linalg.solve(world @ inverse @ world.T,
                                            np.concatenate([way, np.zeros(3)]))
    assert step.v == pytest.approx(v, abs=2e-3 * np.abs(v).max())


def test_kinetic_energy_where_joints_mimic_others(small):
    """The mass matrix of the same q stays the same: Pinocchio's adds up in one convention."""
    robot = small('mimic_chain')
    q = robot.random_q(np.random.default_rng(0))
    program = VelocityProgram(robot, [posture_task(q + 0.2, gain=0.1)], 0.01, kinetic_energy=1e-4)
    first = program.step(q)
    for _ in range(5):
        program.reset()
        assert np.array_equal(program.step(q).v, first.v)
