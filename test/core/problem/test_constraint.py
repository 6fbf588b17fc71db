"""Constraints: what bounds they take, what they refuse, and the form solvers work on."""

import math
import pickle

import numpy as np
import pytest

from ros2_ik.core import (
    accept,
    AngleBetweenVectors,
    Configuration,
    Constraint,
    FrameOrientation,
    FramePosition,
    GazeAngle,
    IKError,
    IKProblem,
    InvalidConstraintError,
    JointPositions,
    Manipulability,
    PointToLineDistance,
    PointToPointDistance,
    UserFunction,
)

INF, NAN, PI = math.inf, math.nan, math.pi
P, A, B = (0.03, -0.02, 0.11), (0.2, -0.1, 2), (1, -0.2, 0.4)
POSITION = FramePosition('tip')
ANGLES = [AngleBetweenVectors('tip', A, B), GazeAngle('tip', P, A, B),
          FrameOrientation('tip', form='angle')]
LENGTHS = [PointToPointDistance('tip', P, B), PointToLineDistance('tip', P, A, B),
           Manipulability('tip')]


@pytest.mark.parametrize('lower, upper', [
    (0.3, 0.3), (-INF, INF), ([-INF, 0, 0], [INF, 1, 0]), (np.float32(0.5), np.ones(3))])
def test_bounds_are_numbers_or_one_for_each_row(lower, upper):
    constraint = Constraint(POSITION, lower, upper)
    for given, taken in ((lower, constraint.lower), (upper, constraint.upper)):
        assert taken.shape == (3,) and taken.dtype == np.float64
        np.testing.assert_array_equal(taken, np.full(3, given, dtype=float))
    assert constraint.name == str(POSITION) in repr(constraint)


def test_bounds_are_copied_and_fixed():
    lower = np.zeros(3)
    constraint = Constraint(POSITION, lower, 1.0)
    lower[0] = 5.0
    assert constraint.lower[0] == 0
    for bound in (constraint.lower, constraint.upper):
        with pytest.raises(ValueError):
            bound[0] = 1.0


@pytest.mark.parametrize('lower, upper, words', [
    (0, NAN, ['upper', 'not a number']), ([0, NAN, 0], 1, ['lower', 'nan']),
    ([0, 0, 2], 1, ['z [m]', '2', '1', 'above']), (INF, INF, ['inf']), (-INF, -INF, ['inf']),
    ([0, 0], 1, ['lower', '3', '(2,)']), (0, np.zeros((3, 1)), ['upper', '(3, 1)']),
    ('low', 1, ['lower', "'low'"])])
def test_bounds_that_make_no_sense_are_refused(lower, upper, words):
    with pytest.raises(InvalidConstraintError) as caught:
        Constraint(POSITION, lower, upper, 'my box')
    for word in ('my box', *words):
        assert word in str(caught.value)
    with pytest.raises(InvalidConstraintError, match='KinematicFunction'):
        Constraint(FramePosition, 0, 1)


@pytest.mark.parametrize('function', [*ANGLES, *LENGTHS], ids=str)
def test_bounds_that_are_never_met_are_refused(function):
    least, most = function.range
    wrong = [(-INF, np.nextafter(0, -1))]
    if most < INF:
        wrong.append((np.nextafter(PI, 4), 9.0))
    for lower, upper in wrong:
        with pytest.raises(InvalidConstraintError, match='never met') as caught:
            Constraint(function, lower, upper)
        assert str(function) in str(caught.value) and f'{least:g}' in str(caught.value)
    for lower, upper in ((-INF, 0), (0, 0), (-5, 50), (3, 4)):
        Constraint(function, lower, upper)


@pytest.mark.parametrize('function, bound', [
    (AngleBetweenVectors('tip', A, B), PI), (GazeAngle('tip', P, A, B), 0),
    (FrameOrientation('tip', form='angle'), 0), (PointToLineDistance('tip', P, A, B), 0),
    (PointToPointDistance('tip', P, A), 0)])
def test_exact_bounds_are_judged_by_the_function_itself(robot, function, bound):
    """Solvers work on the vector behind, which has a gradient there."""
    constraint = Constraint(function, bound, bound)
    assert len(constraint.form[0].labels) > 1
    at = Configuration(robot, robot.random_q(np.random.default_rng(1)))
    verdict = accept(IKProblem(robot, constraints=[constraint]), at.q)
    assert [v.value for v in verdict.violations] == [pytest.approx(function.value(at)[0])]


def test_survives_pickling(robot):
    at = Configuration(robot, robot.random_q(np.random.default_rng(0)))
    for function in (*ANGLES, *LENGTHS):
        constraint = Constraint(function, 0, 0, 'mine', 1e-3)
        other = pickle.loads(pickle.dumps(constraint))
        assert (other.name, other.tolerance) == ('mine', 1e-3)
        np.testing.assert_array_equal(other.function.value(at), function.value(at))
        assert type(other.form[0]) is type(constraint.form[0])


# -- joints, whose rows are known with the robot ----------------------------------------------

def test_all_joints_by_a_bound_each(robot):
    upper = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
    asked = IKProblem(robot, constraints=[Constraint(JointPositions(), -upper, upper)])
    assert accept(asked, upper * [1, 1, 1, -1, 1, 1, 1]).accepted
    verdict = accept(asked, upper * [1, 1, 1.1, -1, 1, 1.1, 1])
    assert [v.name.split()[-1] for v in verdict.violations] == ['s3', 'w2']


@pytest.mark.parametrize('name, size', [('drive', 3), ('fly', 6)])
def test_joints_of_several_rows(small, name, size):
    robot = small('nested')
    asked = IKProblem(robot, constraints=[Constraint(JointPositions([name]), -0.1, 0.1)])
    assert accept(asked, robot.neutral).accepted
    row = robot.joint(name).velocity_index
    for i in range(size):
        v = np.zeros(robot.nv)
        v[row + i] = 0.2
        assert not accept(asked, Configuration(robot, robot.neutral).integrate(v)).accepted
    each = Constraint(JointPositions([name]), -np.ones(size), np.ones(size))
    assert accept(IKProblem(robot, constraints=[each]), robot.neutral).accepted


@pytest.mark.parametrize('bound', [np.zeros(6), np.zeros(8)])
def test_bounds_that_do_not_fit_the_joints(robot, bound):
    """Told by name, at the latest when the robot is known."""
    with pytest.raises(InvalidConstraintError, match='joint_positions'):
        IKProblem(robot, constraints=[Constraint(JointPositions(), bound, 1.0)])


def test_one_constraint_of_two_problems(small):
    """Both go on to hold for their own robot."""
    shared = Constraint(JointPositions(), -5, 5)
    robots = [small('zero_links'), small('scara')]
    both = [IKProblem(robot, constraints=[shared]) for robot in robots]
    for _ in range(2):
        for robot, asked in zip(robots, both, strict=True):
            assert accept(asked, robot.neutral).accepted
            q = np.full(robot.nq, -5.5)
            assert robot.joint_names[-1] in accept(asked, q).violations[-1].name


def test_errors_of_users_pass_through(robot):
    def broken(at):
        raise KeyError('mine')
    asked = IKProblem(robot, constraints=[Constraint(UserFunction(broken), 0, 1)])
    with pytest.raises(KeyError, match='mine'):
        accept(asked, robot.neutral)
    wrong = IKProblem(robot, constraints=[Constraint(UserFunction(lambda at: NAN), 0, 1)])
    with pytest.raises(IKError, match='not finite'):
        accept(wrong, robot.neutral)
