"""One step of differential IK, compared with independent solutions of its least squares."""

from judge import numeric_jacobian, TreeJudge
import numpy as np
import pytest
from scipy.optimize import lsq_linear
from scipy.spatial.transform import Rotation

from ros2_ik.core import Configuration, FramePosition
from ros2_ik.core.errors import InvalidOptionError, InvalidTargetError
from ros2_ik.core.velocity import (
    ConfigurationLimit,
    damping_task,
    frame_task,
    joint_coupling_task,
    posture_task,
    solve_velocity,
    Task,
    twist_task,
    VelocityLimit,
    VelocityProgram,
    VelocityStatus,
)

TIP, DT = 'panda_hand_tcp', 0.01


def jacobian(robot, tip_pose, q):
    """Return the Jacobian (6, n) of a frame in root axes by central differences."""
    return np.kron(np.eye(2), tip_pose(q)[:3, :3]) @ numeric_jacobian(robot, q, tip_pose)


def bounded_least_squares(rows, low, high):
    """Return the minimum of sum weight |J d - c|^2 in a box, for rows (J, c, weight)."""
    A = np.vstack([np.sqrt(np.broadcast_to(w, len(c)))[:, None] * J for J, c, w in rows])
    b = np.concatenate([np.sqrt(np.broadcast_to(w, len(c))) * c for J, c, w in rows])
    return lsq_linear(A, b, (low, high), method='bvls', tol=1e-14).x


@pytest.fixture(scope='module')
def tip_pose(panda):
    judge = TreeJudge(panda.urdf)

    def pose_of(q, frame=TIP):
        return judge.transform(panda.to_joints(q), frame)
    return pose_of


def step_bounds(robot, q, gain=0.5):
    v = np.array([joint.velocity_limit for joint in robot.joints]) * DT
    return np.maximum(-v, gain * (robot.lower - q)), np.minimum(v, gain * (robot.upper - q))


@pytest.mark.parametrize('gain', [0.2, 1.0])
def test_step_of_position_and_posture_is_the_bounded_least_squares_solution(panda, tip_pose, gain):
    """Some position and velocity limits are active."""
    generator, active = np.random.default_rng(0), 0
    for _ in range(20):
        q, goal = panda.random_q(generator), panda.random_q(generator)
        target = tip_pose(goal)[:3, 3]
        step = solve_velocity(Configuration(panda, q), [
            Task(FramePosition(TIP), target, gain=gain, lm_damping=0),
            posture_task(goal, weight=1e-2, gain=gain, lm_damping=0)], DT, damping=1e-9)
        J = jacobian(panda, tip_pose, q)[:3]
        low, high = step_bounds(panda, q)
        expected = bounded_least_squares([
            (J, gain * (target - tip_pose(q)[:3, 3]), 1.0),
            (np.eye(panda.nv), gain * (goal - q), 1e-2),
            (np.eye(panda.nv), np.zeros(panda.nv), 1e-9)], low, high)
        assert step.v * DT == pytest.approx(expected, abs=2e-6)
        assert step.q == pytest.approx(q + expected, abs=2e-6)
        assert step.status is VelocityStatus.SOLVED
        active += len(step.active_limits) > 0
    assert active > 5


def test_lm_damping_is_proportional_to_the_squared_error(panda, tip_pose):
    """The damping of each joint is lm_damping times the weighted squared error."""
    q = panda.random_q(np.random.default_rng(3))
    target, weight, gain, lm = tip_pose(q)[:3, 3] + [0.3, 0.1, 0.2], 2.0, 0.5, 0.7
    step = solve_velocity(Configuration(panda, q), [
        Task(FramePosition(TIP), target, gain=gain, weight=weight, lm_damping=lm)], DT, limits=())
    J, e = jacobian(panda, tip_pose, q)[:3], gain * (target - tip_pose(q)[:3, 3])
    H = weight * J.T @ J + (lm * weight * e @ e + 1e-9) * np.eye(panda.nv)
    assert step.v * DT == pytest.approx(np.linalg.solve(H, weight * J.T @ e), abs=1e-6)


def test_step_reduces_the_error_by_the_gain(panda, tip_pose):
    """The remaining share is 1 - gain, or exp(-gain_per_second dt)."""
    q = panda.random_q(np.random.default_rng(1))
    T = tip_pose(q)
    T[:3, :3] = T[:3, :3] @ Rotation.from_rotvec([1e-3, -2e-3, 1e-3]).as_matrix()
    T[:3, 3] += [1e-3, 1e-3, -2e-3]
    for options, left in (({'gain': 0.3}, 0.7), ({'gain_per_second': 5.0}, np.exp(-0.05))):
        program = VelocityProgram(panda, [frame_task(TIP, T, lm_damping=0, **options)], DT,
                                  limits=())
        first = program.step(q)
        second = program.step(first.q)
        assert second.errors[TIP] == pytest.approx(left * first.errors[TIP], abs=2e-5)


def test_twist_moves_the_tool_in_root_or_tool_axes(panda, tip_pose):
    generator = np.random.default_rng(2)
    for own in (False, True):
        q = panda.random_q(generator)
        twist = np.array([0.02, -0.01, 0.03, 0.1, 0.05, -0.1])
        step = solve_velocity(Configuration(panda, q), [twist_task(TIP, twist, own_axes=own)],
                              DT, limits=())
        J = jacobian(panda, tip_pose, q)
        found = J @ step.v
        if own:
            R = tip_pose(q)[:3, :3]
            found = np.concatenate([R.T @ found[:3], R.T @ found[3:]])
        assert found == pytest.approx(twist, abs=1e-5)


def test_scaled_task_slows_down_in_its_direction_and_reports_the_scale(panda, tip_pose):
    generator, slowed = np.random.default_rng(4), 0
    for _ in range(20):
        q = panda.random_q(generator)
        J = jacobian(panda, tip_pose, q)
        if np.linalg.svd(J)[1][-1] < 0.05:
            continue
        twist = np.concatenate([generator.normal(size=3), np.zeros(3)]) * 3
        step = solve_velocity(Configuration(panda, q), [twist_task(TIP, twist)], DT)
        found = J @ step.v
        assert 0 < step.scale < 1
        angle = np.arccos(found @ twist / np.linalg.norm(found) / np.linalg.norm(twist))
        assert np.degrees(angle) < 0.5
        assert found == pytest.approx(step.scale * twist, abs=1e-2)
        slowed += 1
    assert slowed > 8


def test_lower_priority_does_not_change_higher_priorities(panda, tip_pose):
    """The second task contradicts the first."""
    q = panda.random_q(np.random.default_rng(5))
    target = tip_pose(q)[:3, 3]
    first = Task(FramePosition(TIP), target + [0.003, 0, 0], lm_damping=0)
    second = Task(FramePosition(TIP), target - [0.1, 0.002, 0.001], weight=100.0, priority=1,
                  name='other', lm_damping=0)
    third = posture_task(q + 0.3, priority=2, gain=0.01)
    alone = solve_velocity(Configuration(panda, q), [first], DT, limits=())
    J = jacobian(panda, tip_pose, q)[:3]
    both = solve_velocity(Configuration(panda, q), [first, second, third], DT, limits=())
    assert J @ both.v * DT == pytest.approx(J @ alone.v * DT, abs=1e-6)
    # the posture task acts in the null space of J
    null = np.eye(panda.nv) - np.linalg.pinv(J) @ J
    assert null @ both.v * DT == pytest.approx(null @ np.full(panda.nv, 0.003), abs=1e-5)


def test_contradicting_hard_tasks_share_the_error_and_report_it(panda, tip_pose):
    q = panda.random_q(np.random.default_rng(6))
    at, J = tip_pose(q)[:3, 3], jacobian(panda, tip_pose, q)[:3]
    hard = [Task(FramePosition(TIP), at + [0.001, 0.002, 0], name=f'{i}') for i in range(2)]
    soft = posture_task(q + 1.0, gain=0.01)
    step = solve_velocity(Configuration(panda, q), [soft], DT, constraints=hard, limits=())
    assert J @ step.v * DT == pytest.approx([0.001, 0.002, 0], abs=1e-6) and step.success
    other = Task(FramePosition(TIP), at - [0.001, 0.002, 0], name='against')
    step = solve_velocity(Configuration(panda, q), [soft], DT, constraints=[hard[0], other],
                          limits=())
    assert step.status is VelocityStatus.RELAXED and set(step.relaxed) == {'0', 'against'}
    assert step.relaxed['0'] == pytest.approx(0.002, rel=1e-3)
    assert J @ step.v * DT == pytest.approx([0, 0, 0], abs=1e-5)


def test_step_after_set_target_equals_that_of_a_new_program(panda, tip_pose):
    """A refused target changes nothing."""
    generator = np.random.default_rng(7)
    q = panda.random_q(generator)
    pose = frame_task(TIP, np.eye(4), gain=0.5)
    program = VelocityProgram(panda, [pose, posture_task(q, weight=1e-3)], DT)
    for _ in range(5):
        T = tip_pose(panda.random_q(generator))
        program.set_target(TIP, T)
        new = solve_velocity(Configuration(panda, q), [
            frame_task(TIP, T, gain=0.5), posture_task(q, weight=1e-3)], DT)
        assert program.step(q).v == pytest.approx(new.v, abs=1e-12)
    assert pose.function.parameters == pytest.approx(frame_task(TIP).function.parameters)
    bad = T.copy()
    bad[0, 3] = np.nan
    with pytest.raises(InvalidTargetError, match=f'target of {TIP} .* not finite'):
        program.set_target(TIP, bad)
    with pytest.raises(InvalidTargetError, match=f'velocity of {TIP} must be one finite number'):
        program.set_target(TIP, velocity=[np.nan] * 6)
    assert program.step(q).v == pytest.approx(new.v, abs=1e-9)


def test_joint_locked_or_with_zero_velocity_limit_does_not_move(panda):
    """Pink ignores a velocity limit of zero."""
    q = panda.neutral.copy()
    q[3] = -1.5
    joint = panda.joint_names[1]
    for options in ({'limits': [ConfigurationLimit(), VelocityLimit({joint: 0.0})]},
                    {'locked': [joint]}):
        step = solve_velocity(Configuration(panda, q), [posture_task(q + 1.0)], DT, **options)
        assert step.v[1] == 0 and step.q[1] == q[1] and np.abs(step.v).max() > 0.5


def test_step_whose_values_overflow_has_status_no_step(small):
    program = VelocityProgram(small('gantry'), [frame_task('tip', np.eye(4))], DT, limits=())
    step = program.step([1.5e308] * 3)
    assert step.status is VelocityStatus.NO_STEP and not step.v.any() and not step.active_limits


def test_step_without_target_is_refused_and_without_joints_is_empty(small):
    robot = small('all_fixed')
    program = VelocityProgram(robot, [frame_task('tip')], DT)
    with pytest.raises(InvalidTargetError, match="'tip' has no target yet"):
        program.step(robot.neutral)
    program.set_target('tip', np.eye(4))
    result = program.step(robot.neutral)
    assert result.status is VelocityStatus.SOLVED and result.v.size == 0


def test_step_after_set_weight_equals_that_of_a_new_program(panda):
    """For soft and hard tasks."""
    q = panda.neutral + 0.02
    soft, other = posture_task(q + 0.1), posture_task(q - 0.1, name='other')

    def new_program(weight, hard=0.0):
        return VelocityProgram(panda, [soft, posture_task(q - 0.1, weight=weight, name='other')],
                               DT, constraints=[joint_coupling_task(
                                   {panda.joint_names[0]: 1.0}, 0.3, weight=hard)])
    program = VelocityProgram(panda, [soft, other], DT, constraints=[
        joint_coupling_task({panda.joint_names[0]: 1.0}, 0.3)])
    for weight, hard in ((0.0, 1.0), (3.0, 0.0), ([1.0, 2.0, 0.0, 0, 0, 0, 0, 1.0], 1.0)):
        program.set_weight('other', weight)
        program.set_weight('coupling', hard)
        program.reset()
        assert program.step(q).v == pytest.approx(new_program(weight, hard).step(q).v, abs=1e-12)
    for bad in (-1.0, np.nan, [1.0, 2.0]):
        with pytest.raises(InvalidTargetError, match='weight of other'):
            program.set_weight('other', bad)


def test_step_after_set_gain_equals_that_of_a_new_program(panda):
    q = panda.neutral + 0.02
    program = VelocityProgram(panda, [posture_task(q + 0.01), damping_task(1e-6)], DT)
    for given in ({'gain': 0.25}, {'gain_per_second': 3.0}):
        program.set_gain('posture', **given)
        program.reset()
        new = VelocityProgram(panda, [posture_task(q + 0.01, **given), damping_task(1e-6)], DT)
        assert program.step(q).v == pytest.approx(new.step(q).v, abs=1e-12)
    with pytest.raises(InvalidOptionError, match='gain of posture must be in'):
        program.set_gain('posture', 1.5)
    for call in (program.set_gain, program.set_target):
        with pytest.raises(InvalidTargetError, match='damping has a velocity, but no target'):
            call('damping', 0.5)
