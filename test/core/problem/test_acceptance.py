"""Acceptance: the only code that reports SUCCESS."""

from function_samples import SAMPLES
from hypothesis import given, settings, strategies as st
from judge import pose, pose_error, TreeJudge
import numpy as np
import pinocchio as pin
import pytest
from small_robots import SCARA, SMALL

from ros2_ik.core import (
    accept,
    Configuration,
    Constraint,
    FramePosition,
    IKProblem,
    LeastSquares,
    PoseTarget,
    Robot,
    ScalarCost,
    shipped_robots,
)
from ros2_ik.core.errors import InvalidStateError
from ros2_ik.core.problem.acceptance import Violation

Q = np.array([0.3, -0.5, -0.1, 0.7])


@pytest.fixture
def robot(small):
    return small('scara')


def tip_problem(robot, T=None, **arguments):
    """Return a problem with the pose at Q, or T."""
    T = Configuration(robot, Q).transform('tip') if T is None else T
    return IKProblem(robot, [PoseTarget('tip', T, **arguments)], start=Q)


def violated(verdict):
    """Return the names of violated limits, targets and constraints."""
    return [violation.name for violation in verdict.violations]


@pytest.mark.parametrize('share, passes', [(0.999, True), (1.001, False)])
def test_error_just_inside_the_tolerance_is_accepted_and_just_outside_is_not(robot, share, passes):
    """The norm of the error counts, not each axis."""
    T, diagonal = Configuration(robot, Q).transform('tip'), np.full(3, 1 / np.sqrt(3))
    for tolerance in (1e-5, 3e-3):
        for part, error in (('position', pose(diagonal * tolerance * share)),
                            ('orientation', pose(rotvec=diagonal * tolerance * share))):
            verdict = accept(tip_problem(robot, T @ error, **{f'{part}_tolerance': tolerance}), Q)
            assert verdict.accepted is passes
            assert getattr(verdict.errors[0], part) == pytest.approx(tolerance * share, rel=1e-6)
            assert violated(verdict) == ([] if passes else [f"{part} error of 'tip'"])


def test_orientation_error_of_half_a_turn_is_rejected_and_of_a_whole_turn_accepted(robot):
    T = Configuration(robot, Q).transform('tip')
    for axis in np.eye(3):
        for angle in (np.pi, 2 * np.pi - 2e-4):
            assert not accept(tip_problem(robot, T @ pose(rotvec=axis * angle)), Q).accepted
        assert accept(tip_problem(robot, T @ pose(rotvec=axis * 2 * np.pi)), Q).accepted


@pytest.mark.parametrize('index, value', [(0, 2.0), (1, -2.4), (2, 0.05), (3, 2 * np.pi)])
def test_joint_limits_have_no_tolerance(robot, index, value):
    q = Q.copy()
    q[index] = value
    problem = tip_problem(robot, Configuration(robot, q).transform('tip'))
    assert accept(problem, q).accepted
    q[index] = np.nextafter(value, np.inf * np.sign(value))
    verdict = accept(problem, q)
    assert not verdict.accepted
    assert violated(verdict) == [f"joint '{robot.joint_names[index]}'"]
    violation = verdict.violations[0]
    assert (violation.lower, violation.upper) == (robot.lower[index], robot.upper[index])
    assert violation.unit == ('m' if index == 2 else 'rad')
    assert 0 < violation.amount < 1e-15
    free = IKProblem(robot, constraints=[Constraint(FramePosition('tip'), -5, 5)],
                     joint_limits=False)
    assert accept(free, q).accepted


@pytest.mark.parametrize('joint_limits', [True, False])
def test_locked_joints_must_equal_the_start_even_outside_their_limits(robot, joint_limits):
    start = np.array([0.3, -0.5, -0.1, 7.0])
    target = PoseTarget('tip', Configuration(robot, start).transform('tip'))
    q = start.copy()
    q[3] = np.nextafter(7.0, 9)
    problem = IKProblem(robot, [target], None, start, ['wrist'], joint_limits=joint_limits)
    assert accept(problem, start).accepted
    assert violated(accept(problem, q)) == ["locked joint 'wrist'"]


def test_violations_of_a_locked_planar_base_have_the_units_of_its_values():
    robot = Robot.from_urdf(SCARA, root_joint='planar')
    problem = IKProblem(robot, PoseTarget('tip', np.eye(4)), locked=[robot.base_joint])
    for i, unit in enumerate(['m', 'm', 'rad']):
        verdict = accept(problem, robot.neutral + 0.1 * np.eye(robot.nq)[i])
        assert str(verdict.violations[0]).startswith(f"locked joint 'root_joint': 0.1 {unit},")


@pytest.mark.parametrize('value', [np.nan, np.inf, -np.inf])
def test_nonfinite_configurations_are_rejected(robot, value):
    for index in range(4):
        q = Q.copy()
        q[index] = value
        assert not accept(tip_problem(robot), q).accepted
        assert not accept(tip_problem(robot, weights=(0, 0, 0, 0, 0, 1),
                                      orientation_tolerance=9.0), q).accepted


@pytest.mark.parametrize('q', [None, 'abcd', [0.0], np.zeros(5), {}, [[0.0]]])
def test_malformed_configurations_are_refused(robot, q):
    with pytest.raises(InvalidStateError, match='^q (has shape|must be)'):
        accept(tip_problem(robot), q)


def test_configuration_beyond_the_limit_of_a_mimic_joint_is_rejected(small):
    robot = small('mimic_chain')
    q = np.array([0.41, 0.0])    # joint c follows at -0.31, its limit is -0.3
    problem = IKProblem(robot, [PoseTarget('tip', Configuration(robot, q).transform('tip'))])
    assert violated(accept(problem, q)) == ["joint 'a'"]


@settings(max_examples=200)
@given(seed=st.integers(0, 2**32), scale=st.sampled_from([1e-6, 1e-5, 3e-5, 1e-4, 1e-2]),
       weights=st.lists(st.sampled_from([0, 1, 5]), min_size=6, max_size=6).filter(any))
def test_acceptance_agrees_with_independent_forward_kinematics(robot, seed, scale, weights):
    generator = np.random.default_rng(seed)
    judge, q = TreeJudge(SCARA), robot.random_q(generator) * 1.1
    T = judge.transform(robot.to_joints(q), 'tip')
    T_target = T @ pose(generator.normal(size=3) * scale, generator.normal(size=3) * scale)
    problem = IKProblem(robot, [PoseTarget('tip', T_target, weights=weights)])
    position, orientation = pose_error(T, T_target, weights)
    expected = (position <= 1e-5 and orientation <= 1e-4
                and judge.outside(robot.to_joints(q)) == [])
    verdict = accept(problem, q)
    assert verdict.accepted is expected
    assert verdict.errors[0].position == pytest.approx(position, abs=1e-12)
    assert verdict.errors[0].orientation == pytest.approx(orientation, abs=1e-12)


ROBOTS = [*shipped_robots(), *(name for name in SMALL if name != 'crank')]


@pytest.mark.parametrize('name', ROBOTS)
def test_target_errors_equal_those_of_pinocchio(load, small, name):
    """Errors from 1e-7 to 1 m or half a turn, of random tips and reference frames."""
    robot = small(name) if name in SMALL else load(name)
    model, data, generator = robot.model, robot.model.createData(), np.random.default_rng(3)
    frames, compiled = list(robot.frame_names), 0
    for _ in range(60):
        tip = generator.choice(frames)
        base = generator.choice(frames) if generator.random() < 0.5 else None
        if not robot.moving_joints(tip, base):
            continue
        q = robot.random_q(generator)
        pin.framesForwardKinematics(model, data, q)
        T = data.oMf[robot.frame_id(tip)]
        T = T if base is None else data.oMf[robot.frame_id(base)].actInv(T)
        shift, turn = generator.normal(size=3), generator.normal(size=3)
        shift, turn = (v / np.linalg.norm(v) * 10**generator.uniform(-7, 0) for v in (shift, turn))
        target = PoseTarget(tip, T.homogeneous @ pose(shift, np.pi * turn), base,
                            position_tolerance=1.0, orientation_tolerance=np.pi)
        problem = IKProblem(robot, target, start=q, collisions=False)
        result, compiled = accept(problem, q), compiled + problem.structure.compiled_check_suffices
        assert result.accepted
        assert result.errors[0].position == pytest.approx(np.linalg.norm(shift), abs=1e-12)
        assert result.errors[0].orientation == pytest.approx(
            np.pi * np.linalg.norm(turn), abs=1e-11)
    assert compiled or robot.mimics or robot.base_joint is None and robot.floating_joints \
        or not robot.nq


# -- constraints ------------------------------------------------------------------------------

@pytest.mark.parametrize('kind', SAMPLES)
def test_each_row_just_inside_its_bound_is_accepted_and_just_outside_is_not(small, kind):
    robot, tolerance = small('two_arms'), 1e-6
    q = robot.random_q(np.random.default_rng(8)) * 0.7
    for make in SAMPLES[kind]:
        function = make(robot, 'left_hand', 'right_b').bind(robot)
        f = function.value(Configuration(robot, q))
        exact = Constraint(function, f, f)
        assert accept(IKProblem(robot, constraints=[exact], start=q), q).accepted
        for row, label in enumerate(function.labels):
            for side, share in ((-1, 0.999), (1, 0.999), (-1, 1.001), (1, 1.001)):
                bounds = np.array([np.full(len(f), -np.inf), np.full(len(f), np.inf)])
                bounds[int(side > 0), row] = f[row] - side * tolerance * share
                constraint = Constraint(function, *bounds, 'mine', tolerance)
                verdict = accept(IKProblem(robot, constraints=[constraint], start=q), q)
                assert verdict.accepted is (share < 1)
                if share > 1:
                    violation, = verdict.violations
                    assert violation.name == f'mine: {label.split(" [")[0]}'
                    assert violation.kind == 'constraint' and violation.value == f[row]
                    assert violation.amount == pytest.approx(tolerance * share, rel=1e-6)
                    assert violation.unit == label.partition(' [')[2].rstrip(']')
                    assert 'mine' in str(violation)


def test_all_targets_and_constraints_must_hold(small):
    robot = small('two_arms')
    q = robot.random_q(np.random.default_rng(0)) * 0.5
    at = Configuration(robot, q)
    position = FramePosition('left_hand')
    x = position.value(at)
    held, broken = Constraint(position, x, x, 'good'), Constraint(position, x + 1, x + 2, 'bad')
    good = PoseTarget('left_hand', at.transform('left_hand'))
    bad = PoseTarget('right_hand', at.transform('right_hand') @ pose((0, 0, 1e-3)))
    assert accept(IKProblem(robot, [good], start=q, constraints=[held, held]), q).accepted
    verdict = accept(IKProblem(robot, [good, bad], start=q, constraints=[held, broken]), q)
    assert violated(verdict) == ["position error of 'right_hand'", 'bad: x', 'bad: y', 'bad: z']
    assert [v.kind for v in verdict.violations] == ['target'] + 3 * ['constraint']
    assert [error.tip for error in verdict.errors] == ['left_hand', 'right_hand']
    assert "'right_hand'" in str(verdict.violations[0]) and '0.001' in str(verdict.violations[0])


def test_violation_smaller_than_the_printed_digits_is_printed_with_its_amount():
    assert str(Violation('height', 0.5 - 4e-6, 0.5, np.inf, 'm')) == (
        'height: 0.5 m, allowed [0.5, inf] (by 4e-06)')
    assert str(Violation('height', 0.4, 0.5, np.inf, 'm')) == 'height: 0.4 m, allowed [0.5, inf]'


def test_costs_are_reported_and_do_not_affect_acceptance(small):
    robot = small('two_arms')
    position = FramePosition('left_hand')
    costs = [LeastSquares(position, 100.0, 1e6), ScalarCost(lambda at: -3.0)]
    verdict = accept(IKProblem(robot, costs=costs), robot.neutral)
    assert verdict.accepted and verdict.violations == ()
    x = Configuration(robot, robot.neutral).transform('left_hand')[:3, 3]
    assert verdict.costs == pytest.approx((0.5e6 * ((x - 100)**2).sum(), -3.0))
