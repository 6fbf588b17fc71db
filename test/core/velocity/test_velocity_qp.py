"""The quadratic program of a step, solved by other code."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from ros2_ik.core import (
    AccelerationLimit,
    Barrier,
    build_qp,
    CartesianVelocityLimit,
    CollisionBarrier,
    CollisionChecker,
    Configuration,
    ConfigurationLimit,
    frame_task,
    FramePosition,
    InvalidStateError,
    load_scene,
    posture_task,
    Task,
    twist_task,
    VelocityLimit,
    VelocityProgram,
)

TIP = 'panda_hand_tcp'


def solved(qp):
    """Solve it with z = A x + slack: |L^T x + L^-1 g|^2 + stiffness |z - A x|^2."""
    H, g, A, (lower, upper), (low, high), stiffness = qp
    L, n, m, stiff = np.linalg.cholesky(H), len(g), len(A), np.sqrt(stiffness)
    rows = np.block([[L.T, np.zeros((n, m))], [-stiff * A, stiff * np.eye(m)]])
    values = np.concatenate([-np.linalg.solve(L, g), np.zeros(m)])
    fixed = np.concatenate([low, lower]) == np.concatenate([high, upper])
    at = np.where(fixed, np.concatenate([low, lower]), 0.0)
    values = values - rows @ at
    found = lsq_linear(rows[:, ~fixed], values, (
        np.concatenate([low, lower])[~fixed], np.concatenate([high, upper])[~fixed]),
        method='bvls', tol=1e-15)
    at[~fixed] = found.x
    return at[:n]


def sharpened(qp, x, length=1.0):
    """Solve it again for what small slacks leave, as a step does; scaled tasks go `length`."""
    value = qp.A @ x
    slack = value - np.clip(value, *qp.bounds)
    slack[(np.abs(slack) < 3e-7 * min(length, 1.0)) | (np.abs(slack) > 1e-3)] = 0.0
    return solved(qp._replace(bounds=qp.bounds - slack)) if slack.any() else x


@pytest.mark.parametrize('kind', ['soft', 'scaled', 'hard', 'all'])
def test_the_step_is_its_optimum(load, kind):
    panda, generator = load('panda'), np.random.default_rng(5)
    checker = CollisionChecker(panda, load_scene('table', panda))
    active = 0
    for _ in range(15):
        q, goal = panda.random_q(generator), panda.random_q(generator)
        while checker.distances(q, 0.02, 1).distance.size:
            q = panda.random_q(generator)
        at = Configuration(panda, q)
        # what is damped where its way bends is another program then
        damped, gain = (0.0, 0.1) if kind == 'all' else (1.0, 1.0)
        tasks = [posture_task(goal, weight=1e-2, lm_damping=damped)]
        limits, barriers, hard = [ConfigurationLimit(), VelocityLimit()], [], []
        if kind in ('soft', 'all'):
            tasks.append(frame_task(TIP, Configuration(panda, goal).transform(TIP),
                                    lm_damping=damped, gain=gain))
        if kind in ('scaled', 'all'):
            tasks.append(twist_task(TIP, generator.uniform(-2, 2, 6), name='twist'))
        if kind in ('hard', 'all'):
            p = at.transform('panda_link5')[:3, 3]
            hard.append(Task(FramePosition('panda_link5', axes='z'), p[2]))
        if kind == 'all':
            limits += [AccelerationLimit(50.0), CartesianVelocityLimit(TIP, 0.5)]
            barriers.append(CollisionBarrier(checker))
            p = at.transform(TIP)[:3, 3]
            barriers.append(Barrier(FramePosition(TIP), p - 0.01, p + 0.01, gain=0.2))
        program = VelocityProgram(panda, tasks, 0.01, limits=limits, barriers=barriers,
                                  constraints=hard)
        qp, step = program.build_qp(q), program.step(q)
        length = qp.box[1, -1] if kind in ('scaled', 'all') else 1.0
        wanted = sharpened(qp, solved(qp), length)
        assert step.v * 0.01 == pytest.approx(wanted[:panda.nv], abs=3e-6)
        if kind in ('scaled', 'all'):
            assert step.scale == pytest.approx(wanted[-1] / length, abs=1e-4)
        active += bool(step.active_limits) or step.scale < 1
    assert active > 3


def test_the_same_without_a_loop(load):
    panda = load('panda')
    tasks = [frame_task(TIP, np.eye(4))]
    one = build_qp(Configuration(panda, panda.neutral), tasks, 0.01)
    other = VelocityProgram(panda, tasks, 0.01).build_qp(panda.neutral)
    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    assert one.H.shape == (panda.nv, panda.nv) and one.A.shape == (0, panda.nv)
    with pytest.raises(InvalidStateError):
        VelocityProgram(panda, tasks, 0.01).build_qp(np.full(panda.nq, np.nan))
