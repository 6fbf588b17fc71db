"""How far limits let a frame turn and move: wherever joints are, it holds."""

from judge import angle, TreeJudge
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ros2_ik.core import Constraint, FramePosition, IKProblem, JointChangeBound
from ros2_ik.core.problem import mobility_of

SMALL = ('gantry', 'scara', 'mimic_chain', 'one_joint', 'no_limits', 'turntable', 'planar_2r',
         'zero_links', 'nested')
SLACK = 1e-9


def holds(moves, T, point):
    """Assert all that is told of a frame and a point of it, of a pose of the frame."""
    p = T[:3, :3] @ point + T[:3, 3]
    if moves.turn is not None:
        off = Rotation.from_matrix(moves.turn.R.T @ T[:3, :3]).magnitude()
        assert off <= moves.turn.upper + 1e-7
    if moves.axis is not None:
        assert angle(T[:3, :3] @ moves.axis.a, np.array(moves.axis.b)) <= 1e-7
    for place in moves.stretched(point), moves.around(point):
        if place is not None:
            away = np.linalg.norm(p - place.c)
            assert place.lower - SLACK <= away <= place.upper + SLACK
    for slab in moves.slabs(point):
        assert slab.lower - SLACK <= p @ slab.n <= slab.upper + SLACK


@pytest.mark.parametrize('change', [None, 0.01, 0.3])
@pytest.mark.parametrize('name', ['panda', 'ur5', 'baxter', *SMALL])
def test_it_holds_wherever_joints_are(name, change, load, small):
    """At random, and with each joint at one of its ends, some of them held."""
    shipped = {'panda': 'panda_hand_tcp', 'ur5': 'tool0', 'baxter': 'left_gripper'}
    robot, tip = (load(name), shipped[name]) if name in shipped else (small(name), 'tip')
    judge, rng = TreeJudge(robot.urdf), np.random.default_rng(3)
    for _ in range(40):
        q = robot.random_q(rng)
        locked = sorted(rng.choice(robot.joint_names, len(robot.joint_names) // 3))
        bound = None if change is None else JointChangeBound.of(robot, q, change)
        point = tuple(rng.uniform(-0.3, 0.3, 3))
        problem = IKProblem(robot, constraints=[Constraint(FramePosition(tip), 0, 0)], start=q,
                            locked=locked, collisions=False, change_bound=bound)
        moves = mobility_of(problem, tip)
        if not moves.is_bounded:
            continue
        lower, upper = np.maximum(problem.lower, -9), np.minimum(problem.upper, 9)
        for _ in range(10):
            there = np.where(rng.random(robot.nq) < 0.5, rng.uniform(lower, upper),
                             np.where(rng.random(robot.nq) < 0.5, lower, upper))
            holds(moves, judge.transform(robot.to_joints(problem.locked(there)), tip), point)


def test_how_close_it_comes(small):
    """Two links of 0.5 m and 0.4 m, the elbow within 2.8 rad: stretched, and folded."""
    robot = small('planar_2r')
    problem = IKProblem(robot, constraints=[Constraint(FramePosition('tip'), 0, 0)])
    moves, judge = mobility_of(problem, 'tip'), TreeJudge(robot.urdf)
    far = [np.linalg.norm(judge.transform({**robot.to_joints(robot.neutral), 'elbow': elbow},
                                          'tip')[:3, 3])
           for elbow in np.linspace(robot.joint('elbow').lower, robot.joint('elbow').upper, 2001)]
    shell = moves.stretched((0.0, 0.0, 0.0))
    assert shell.upper == pytest.approx(max(far), abs=1e-6)
    assert shell.lower == pytest.approx(min(far), abs=1e-6)
    assert angle(np.array(moves.axis.a), np.array(moves.axis.b)) < 1e-12
