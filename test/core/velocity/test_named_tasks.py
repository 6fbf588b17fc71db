"""Named tasks, also in cases where Pink, Mink or placo fail."""

from judge import angle, pose, TreeJudge
import numpy as np
import pinocchio as pin
import pytest

from ros2_ik.core import (
    AngleBetweenVectors,
    axis_align_task,
    Barrier,
    Configuration,
    distance_task,
    frame_task,
    joint_coupling_task,
    linear_holonomic_task,
    look_at_task,
    low_acceleration_task,
    PointToPointDistance,
    posture_task,
    Robot,
    Task,
    VelocityProgram,
    VelocityStatus,
)

TIP, DT = 'panda_hand_tcp', 0.01


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


@pytest.mark.parametrize('axis', [(0, 0, 1), (1, 0, 0), (0, 0, -1)])
def test_axis_align_task_converges_also_from_the_opposite_direction(panda, judge, start, axis):
    """Mink and placo do not move from the opposite direction."""
    R = judge.transform(panda.to_joints(start), TIP)[:3, :3]
    wanted = -R @ np.array(axis, float) if axis[2] < 0 else np.array([0.2, -0.3, -1.0])
    q = run(panda, [axis_align_task(TIP, axis, wanted, gain=0.2)], start, 800)
    turned = judge.transform(panda.to_joints(q), TIP)[:3, :3] @ np.array(axis, float)
    assert angle(turned, wanted) < 1e-3


def test_gaze_axis_and_angle_tasks_converge_to_changed_targets(panda, judge, start):
    """The angle task demands an angle of pi to its new vector."""
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


def test_distance_task_reaches_its_distance(panda, judge, start):
    q = run(panda, [distance_task(TIP, 'panda_link0', 0.4, gain=0.2)], start)
    joints = panda.to_joints(q)
    p = judge.transform(joints, TIP)[:3, 3] - judge.transform(joints, 'panda_link0')[:3, 3]
    assert np.linalg.norm(p) == pytest.approx(0.4, abs=1e-4)


def test_coupling_tasks_hold_linear_relations_of_joints(panda, start):
    one, two, three = panda.joint_names[:3]
    soft_posture = posture_task(start + 0.4, weight=1e-2)
    q = run(panda, [soft_posture], start, constraints=[
        joint_coupling_task({one: 1.0, two: -2.0}, 0.1, gain=0.2)])
    assert q[0] - 2 * q[1] == pytest.approx(0.1, abs=1e-4)
    q = run(panda, [soft_posture], start, constraints=[
        joint_coupling_task({three: -1.0, one: 0.5, two: 0.25}, gain=0.2)])
    assert q[2] == pytest.approx(0.5 * q[0] + 0.25 * q[1], abs=1e-4)
    A = np.zeros((2, panda.nv))
    A[0, 0], A[1, 3], A[1, 5] = 1.0, 1.0, 1.0
    q = run(panda, [soft_posture], start, constraints=[
        linear_holonomic_task(A, [0.2, -0.1], start, gain=0.2)])
    assert A @ (q - start) == pytest.approx([0.2, -0.1], abs=1e-4)


def test_kinetic_energy_is_minimal_among_equal_tool_velocities(panda, start):
    """The expected velocity minimizes v^T M v in closed form."""
    at = Configuration(panda, start)
    velocity = np.array([0.05, 0.02, -0.03])
    J = at.jacobian(TIP)
    R = at.transform(TIP)[:3, :3]
    T = at.transform(TIP).copy()
    T[:3, 3] += velocity * DT
    step = VelocityProgram(panda, [], DT, constraints=[frame_task(TIP, T)], limits=(),
                           kinetic_energy=1.0).step(start)
    M = pin.crba(panda.model, panda.model.createData(), start)
    M = np.triu(M) + np.triu(M, 1).T
    world = np.vstack([R @ J[:3], R @ J[3:]])
    inverse = np.linalg.inv(M)
    v = inverse @ world.T @ np.linalg.solve(world @ inverse @ world.T,
                                            np.concatenate([velocity, np.zeros(3)]))
    assert step.v == pytest.approx(v, abs=2e-3 * np.abs(v).max())


@pytest.mark.parametrize('root_joint', ['freeflyer', 'planar'])
def test_movable_base_without_a_task_does_not_move(load, root_joint):
    """Pink's low-acceleration task fails here; its posture task holds a renamed base."""
    robot = Robot.from_urdf(load('panda').urdf, root_joint=root_joint)
    q = robot.neutral.copy()
    away = pin.integrate(robot.model, q, np.r_[0.3, np.zeros(robot.nv - 1)])
    names = load('panda').joint_names
    program = VelocityProgram(robot, [
        posture_task([robot.to_joints(q)[name] for name in names], names=names),
        low_acceleration_task(0.1)], DT)
    np.testing.assert_allclose(program.step(away).v, 0, atol=1e-9)


@pytest.mark.parametrize('what', ['barrier', 'task'])
def test_distance_barriers_and_tasks_separate_coincident_points(panda, start, what):
    """Pink divides by zero; placo's task does not move."""
    T = Configuration(panda, start).transform(TIP)
    sphere = PointToPointDistance(TIP, (0, 0, 0), T[:3, 3])
    if what == 'barrier':
        program = VelocityProgram(panda, [posture_task(start)], DT,
                                  barriers=[Barrier(sphere, 0.1)])
    else:
        program = VelocityProgram(panda, [Task(sphere, 0.1), posture_task(start, weight=1e-6)], DT)
    x = start
    for _ in range(100):
        step = program.step(x)
        assert np.isfinite(step.v).all()
        x = step.q
    assert np.linalg.norm(Configuration(panda, x).transform(TIP)[:3, 3] - T[:3, 3]) > 0.09


def test_hard_and_scaled_tasks_out_of_reach_report_relaxation_and_scale(panda, start):
    """Placo raises for hard tasks, and does not move for scaled ones."""
    far = pose((5.0, 0, 0.5))
    hard = VelocityProgram(panda, [posture_task(start, weight=1e-3)], DT,
                           constraints=[frame_task(TIP, far)])
    scaled = VelocityProgram(panda, [frame_task(TIP, far, scaled=True)], DT)
    x = y = start
    for _ in range(200):
        one, other = hard.step(x), scaled.step(y)
        x, y = one.q, other.q
        assert np.isfinite(one.v).all()
    assert one.status is VelocityStatus.RELAXED
    assert TIP in one.relaxed
    assert other.scale < 0.1
