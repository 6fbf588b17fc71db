"""Limits while moving: kept after integration, also from bad starts, and never a dead end."""

import numpy as np
import pytest

from ros2_ik.core import (
    AccelerationLimit,
    CartesianVelocityLimit,
    Configuration,
    ConfigurationLimit,
    FloatingBaseVelocityLimit,
    frame_task,
    InvalidOptionError,
    InvalidStateError,
    InvalidTargetError,
    low_acceleration_task,
    posture_task,
    Robot,
    solve_velocity,
    VelocityLimit,
    VelocityProgram,
    VelocityStatus,
)

TIP = 'panda_hand_tcp'


@pytest.fixture(scope='module')
def panda(load):
    return load('panda')


def speeds(robot):
    return np.array([joint.velocity_limit for joint in robot.joints])


@pytest.mark.parametrize('dt', [0.1, 0.01, 0.002])
@pytest.mark.parametrize('acceleration', [None, 5.0])
def test_kept_on_the_way_to_many_targets(panda, dt, acceleration):
    """Position, velocity and acceleration, judged by differences of q, however targets jump."""
    generator = np.random.default_rng(0)
    limits = [ConfigurationLimit(), VelocityLimit()]
    if acceleration:
        limits.append(AccelerationLimit(acceleration))
    q, before = panda.random_q(generator), np.zeros(panda.nv)
    program = VelocityProgram(panda, [frame_task(TIP), posture_task(q, weight=1e-3)], dt,
                              limits=limits)
    for _ in range(15):
        goal = Configuration(panda, panda.random_q(generator))
        program.set_target(TIP, goal.transform(TIP))
        for _ in range(min(int(2 / dt), 150)):
            step = program.step(q)
            v = (step.q - q) / dt
            assert step.status is VelocityStatus.SOLVED
            assert (step.q >= panda.lower - 1e-9).all() and (step.q <= panda.upper + 1e-9).all()
            assert (np.abs(v) <= speeds(panda) + 1e-9).all()
            if acceleration:
                assert np.abs(v - before).max() <= acceleration * dt + 1e-9
            q, before = step.q, v


@pytest.mark.parametrize('acceleration', [2.0, np.inf])
def test_a_joint_that_runs_at_its_limit_stops_there(panda, acceleration):
    """Pink's acceleration limit runs into a dead end here, in 489 of 500 trials."""
    generator = np.random.default_rng(1)
    for _ in range(100):
        dt = float(generator.choice([0.001, 0.01, 0.05]))
        q, before = panda.neutral.copy(), np.zeros(panda.nv)
        q[3] = -1.5
        program = VelocityProgram(panda, [posture_task(panda.upper + 1.0, lm_damping=0)], dt,
                                  limits=[ConfigurationLimit(float(generator.uniform(0.1, 1))),
                                          VelocityLimit(float(generator.uniform(0.5, 3))),
                                          AccelerationLimit(acceleration)])
        for _ in range(60):
            step = program.step(q)
            v = (step.q - q) / dt
            assert step.success and (step.q <= panda.upper + 1e-9).all()
            if np.isfinite(acceleration):
                assert np.abs(v - before).max() <= acceleration * dt + 1e-7
            q, before = step.q, v


@pytest.mark.parametrize('away', [1e-9, 1e-4, 0.3])
def test_outside_it_comes_back_at_bounded_speed(panda, away):
    """Peers find no solution, jump back at once, or give NaN."""
    for limits in ([ConfigurationLimit(), VelocityLimit()],
                   [ConfigurationLimit(), VelocityLimit(), AccelerationLimit(10.0)]):
        q = panda.upper + away
        program = VelocityProgram(panda, [posture_task(q + 1.0)], 0.01, limits=limits)
        for _ in range(200):
            step = program.step(q)
            assert step.success and np.isfinite(step.v).all()
            assert (np.abs(step.q - q) <= speeds(panda) * 0.01 + 1e-9).all()
            q = step.q
        assert (q <= panda.upper + 1e-9).all()


def test_an_accelerating_tool_does_not_run_over_its_target(panda):
    """With bare limits it overshoots by centimetres, and circles its target."""
    q = panda.neutral.copy()
    q[3], q[5] = -1.5, 1.5
    T = Configuration(panda, q).transform(TIP).copy()
    T[:3, 3] += [0.1, 0.15, -0.1]
    program = VelocityProgram(panda, [frame_task(TIP, T), posture_task(q, weight=1e-4)], 0.01,
                              limits=[ConfigurationLimit(), VelocityLimit(),
                                      AccelerationLimit(4.0)])
    far, last = [], None
    for _ in range(400):
        last = program.step(q)
        q = last.q
        far.append(np.linalg.norm(last.errors[TIP][:3]))
    nearest = int(np.argmin(np.array(far) > 2e-3))
    assert 0 < nearest < 200 and max(far[nearest:]) < 5e-3 and far[-1] < 1e-3
    assert np.abs(last.v).max() < 1e-2


def test_targets_beyond_reach_end_in_rest(panda):
    """No joint trembles: sign changes of speeds die out."""
    q = panda.neutral.copy()
    q[3], q[5] = -1.5, 1.5
    T = Configuration(panda, q).transform(TIP).copy()
    T[:3, 3] = [1.5, 0.3, 0.8]
    program = VelocityProgram(panda, [frame_task(TIP, T)], 0.01)
    for _ in range(1500):
        step = program.step(q)
        q = step.q
    assert np.abs(step.v).max() < 1e-3


def test_cartesian_speed(panda):
    q = panda.neutral.copy()
    q[3], q[5] = -1.5, 1.5
    at = Configuration(panda, q).transform(TIP).copy()
    T = at.copy()
    T[:3, 3] += [0.3, 0, -0.2]
    program = VelocityProgram(panda, [frame_task(TIP, T)], 0.01, limits=[
        ConfigurationLimit(), VelocityLimit(), CartesianVelocityLimit(TIP, linear=0.1)])
    fastest = 0.0
    for _ in range(100):
        step = program.step(q)
        after = Configuration(panda, step.q).transform(TIP)
        moved = np.abs(after[:3, 3] - at[:3, 3]).max()
        assert moved <= 0.1 * 0.01 + 1e-5
        fastest, at, q = max(fastest, moved), after, step.q
    assert fastest > 0.9e-3


def test_speed_of_a_base():
    robot = Robot.load('talos', root_joint='freeflyer')
    q = robot.neutral.copy()
    goal = Configuration(robot, q).transform('base_link').copy()
    goal[:3, 3] += [1, -2, 3]
    step = solve_velocity(Configuration(robot, q), [frame_task('base_link', goal)], 0.01, limits=[
        FloatingBaseVelocityLimit(linear=[0.1, 0.2, 0.3], angular=0.4)])
    assert step.v[:3] == pytest.approx([0.1, -0.2, 0.3], abs=1e-6)
    assert (np.abs(step.v[3:6]) <= 0.4 + 1e-9).all()
    low = low_acceleration_task(1.0)
    program = VelocityProgram(robot, [low], 0.01, limits=())
    program.reset(np.full(robot.nv, 0.2))
    assert program.step(q).v == pytest.approx(np.full(robot.nv, 0.2), abs=1e-5)
    with pytest.raises(InvalidOptionError, match='no floating base'):
        FloatingBaseVelocityLimit(1.0).of(Robot.load('ur5'))


@pytest.mark.parametrize('wrong, text', [
    (lambda r: VelocityProgram(r, [], 0.0), 'dt must be a positive'),
    (lambda r: VelocityProgram(r, [], np.nan), 'dt must be a positive'),
    (lambda r: ConfigurationLimit(1.5), r'\(0, 1\]'),
    (lambda r: VelocityLimit([1.0, 2.0]).of(r), 'one number, 8 or a mapping'),
    (lambda r: VelocityLimit(-1.0).of(r), 'from 0 on'),
    (lambda r: frame_task(TIP, gain=2.0), r'must be in \(0, 1\]'),
    (lambda r: posture_task(r.neutral, weight=-1.0), 'weight of posture is negative'),
    (lambda r: posture_task(np.zeros(8), velocity=[1, 2]).bind(r), 'one number or 8'),
    (lambda r: VelocityProgram(r, [posture_task(r.neutral)], 0.01).set_target('tip', 0.0),
     "unknown task 'tip'; valid: 'posture'"),
    (lambda r: VelocityProgram(r, [posture_task(r.neutral)], 0.01).set_target(
        'posture', velocity=[1, 2]), 'velocity of posture must be one number or 8'),
    (lambda r: VelocityProgram(r, [], 0.01, limits=[3]), 'unknown limit 3; valid:'),
    (lambda r: VelocityProgram(r, [], 0.01).step(np.full(8, np.nan)), 'q must be 8 finite')])
def test_what_makes_no_sense_is_refused(panda, wrong, text):
    with pytest.raises((InvalidOptionError, InvalidStateError, InvalidTargetError), match=text):
        wrong(panda)
