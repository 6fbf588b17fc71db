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
    JointCoupling,
    JointPositions,
    Manipulability,
    PointToLineDistance,
    PointToPlane,
    PointToPointDistance,
    Polyhedron,
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
    (0.1, 0.5), (0, 1), (-INF, 0.5), (0.2, INF), (0.3, 0.3), ([0.1, 0.2, 0.3], 0.5),
    ([-INF, 0, 0], [INF, 1, 0]), ((0, 0, 0), np.ones(3)), (np.float32(0.5), np.int64(2)),
    (-INF, INF), (-5e-324, 5e-324), (-1e300, 1e300)])
def test_bounds_are_numbers_or_one_for_each_row(lower, upper):
    constraint = Constraint(POSITION, lower, upper)
    for given, taken in ((lower, constraint.lower), (upper, constraint.upper)):
        assert taken.shape == (3,) and taken.dtype == np.float64
        np.testing.assert_array_equal(taken, np.full(3, given, dtype=float))


def test_without_bounds_nothing_is_asked_for(robot):
    free = Constraint(POSITION)
    assert list(free.lower) == [-INF] * 3 and list(free.upper) == [INF] * 3
    assert accept(IKProblem(robot, constraints=[free]), robot.neutral).accepted


def test_bounds_are_copied_and_fixed():
    lower = np.zeros(3)
    constraint = Constraint(POSITION, lower, 1.0)
    lower[0] = 5.0
    assert constraint.lower[0] == 0
    for bound in (constraint.lower, constraint.upper):
        with pytest.raises(ValueError):
            bound[0] = 1.0


@pytest.mark.parametrize('lower, upper, words', [
    (NAN, 1, ['lower', 'not a number']), (0, NAN, ['upper', 'not a number']),
    ([0, NAN, 0], 1, ['lower', 'nan']), (0.5, 0.4, ['0.5', '0.4', 'above']),
    ([0, 0, 2], 1, ['z [m]', '2', '1']), (INF, INF, ['inf']), (-INF, -INF, ['inf']),
    ([0, 0], 1, ['lower', '3', '(2,)']), (0, [1, 1, 1, 1], ['upper', '3', '(4,)']),
    (np.zeros((3, 1)), 1, ['lower', '(3, 1)']), (np.zeros((1, 3)), 1, ['lower', '(1, 3)']),
    ([], 1, ['lower', '(0,)']), ('low', 1, ['lower', "'low'"]), (None, 1, ['lower', 'None']),
    (0, 1j, ['upper']), ({}, 1, ['lower']), (0, [1, 'a', 1], ['upper']),
    ([[0], [0, 0], 0], 1, ['lower'])])
def test_bounds_that_make_no_sense(lower, upper, words):
    with pytest.raises(InvalidConstraintError) as caught:
        Constraint(POSITION, lower, upper, 'my box')
    for word in ('my box', *words):
        assert word in str(caught.value)


@pytest.mark.parametrize('function', [*ANGLES, *LENGTHS], ids=str)
def test_bounds_that_are_never_met(function):
    least, most = function.range
    wrong = [(-INF, -1.0), (-2.0, -1e-9), (-INF, np.nextafter(0, -1))]
    if most < INF:
        wrong += [(4.0, INF), (np.nextafter(PI, 4), 9.0), (3.2, 3.3)]
    for lower, upper in wrong:
        with pytest.raises(InvalidConstraintError, match='never met') as caught:
            Constraint(function, lower, upper)
        assert str(function) in str(caught.value) and f'{least:g}' in str(caught.value)


@pytest.mark.parametrize('function', [*ANGLES, *LENGTHS], ids=str)
def test_bounds_that_reach_beyond_the_range_are_met(function):
    for lower, upper in ((-1, 1), (-INF, 0), (0, 0), (0, INF), (-5, 50), (3, 4)):
        Constraint(function, lower, upper)


@pytest.mark.parametrize('tolerance', [0, -1e-6, NAN, INF, None, 'a', [1e-6], True])
def test_tolerances_that_make_no_sense(tolerance):
    with pytest.raises(InvalidConstraintError, match='tolerance'):
        Constraint(POSITION, 0, 1, tolerance=tolerance)


@pytest.mark.parametrize('function', [None, 'frame_position', FramePosition, lambda at: 0, 5,
                                      Constraint(POSITION, 0, 1)])
def test_what_is_no_function(function):
    with pytest.raises(InvalidConstraintError, match='KinematicFunction'):
        Constraint(function, 0, 1)


def test_names():
    assert Constraint(POSITION, 0, 1).name == str(POSITION)
    assert Constraint(POSITION, 0, 1, 'box').name == 'box'
    assert "'box'" in repr(Constraint(POSITION, 0, 1, 'box'))


@pytest.mark.parametrize('function, bound, kind, rows', [
    (AngleBetweenVectors('tip', A, B), 0, AngleBetweenVectors, 2),
    (AngleBetweenVectors('tip', A, B), PI, AngleBetweenVectors, 2),
    (GazeAngle('tip', P, A, B), 0, GazeAngle, 2),
    (GazeAngle('tip', P, A, B), PI, GazeAngle, 2),
    (FrameOrientation('tip', form='angle'), 0, FrameOrientation, 3),
    (PointToLineDistance('tip', P, A, B), 0, FramePosition, 2),
    (PointToPointDistance('tip', P, A), 0, FramePosition, 3)])
def test_form_of_exact_bounds(robot, function, bound, kind, rows):
    """Zero wanted of the vector behind; judged by the function itself."""
    least, most = function.range
    ways = [(bound, bound), (least - 1, bound)] if bound == 0 else [(bound, bound), (bound, 9)]
    for lower, upper in ways:
        constraint = Constraint(function, lower, upper)
        form, low, high = constraint.form
        assert isinstance(form, kind) and len(form.labels) == rows
        np.testing.assert_array_equal(low, np.zeros(rows))
        np.testing.assert_array_equal(high, np.zeros(rows))
        assert form.joints(robot) == function.joints(robot)
        at = Configuration(robot, robot.random_q(np.random.default_rng(1)))
        verdict = accept(IKProblem(robot, constraints=[constraint]), at.q)
        assert [v.value for v in verdict.violations] == [pytest.approx(function.value(at)[0])]


@pytest.mark.parametrize('function', [
    *ANGLES, *LENGTHS, POSITION, PointToPlane('tip', P, A, B), Polyhedron('tip', [P], [A]),
    JointPositions(['s1']), JointCoupling(['s1', 's2'], [1, -1])], ids=str)
def test_form_of_a_width_is_the_function(function):
    for lower, upper in ((0.5, 0.5), (0, 1e-6), (0.3, 0.9), (0.1, INF)):
        constraint = Constraint(function, lower, upper)
        assert constraint.form == (function, constraint.lower, constraint.upper)


def test_survives_pickling(robot):
    at = Configuration(robot, robot.random_q(np.random.default_rng(0)))
    for function in (*ANGLES, *LENGTHS):
        constraint = Constraint(function, 0, 0, 'mine', 1e-3)
        for _ in range(2):     # the second time with its form
            other = pickle.loads(pickle.dumps(constraint))
            assert (other.name, other.tolerance) == ('mine', 1e-3)
            np.testing.assert_array_equal(other.function.value(at), function.value(at))
            assert type(other.form[0]) is type(constraint.form[0])


# -- joints, whose rows are known with the robot ----------------------------------------------

def test_all_joints_by_one_bound(robot):
    asked = IKProblem(robot, constraints=[Constraint(JointPositions(), -0.5, 0.5)])
    assert accept(asked, np.full(7, 0.0)).accepted
    q = np.array([0, 0.6, 0, -0.1, 0, 0, -0.7])
    assert [v.name.split()[-1] for v in accept(asked, q).violations] == ['s2', 'w3']


def test_all_joints_by_a_bound_each(robot):
    upper = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
    asked = IKProblem(robot, constraints=[Constraint(JointPositions(), -upper, upper)])
    assert accept(asked, upper * [1, 1, 1, -1, 1, 1, 1]).accepted
    verdict = accept(asked, upper * [1, 1, 1.1, -1, 1, 1.1, 1])
    assert [v.name.split()[-1] for v in verdict.violations] == ['s3', 'w2']


@pytest.mark.parametrize('name, size', [('drive', 3), ('fly', 6), ('lift', 1)])
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


@pytest.mark.parametrize('bound', [np.zeros(6), np.zeros(8), np.zeros(2)])
def test_bounds_that_do_not_fit_the_joints(robot, bound):
    """Told by name, at the latest when the robot is known."""
    with pytest.raises(InvalidConstraintError, match='joint_positions'):
        IKProblem(robot, constraints=[Constraint(JointPositions(), bound, 1.0)])


def test_one_function_for_two_robots(small):
    """The rows of the second are its own."""
    function = JointPositions()
    for name in ('zero_links', 'scara', 'zero_links'):
        robot = small(name)
        asked = IKProblem(robot, constraints=[Constraint(function, -5, 5)])
        assert accept(asked, robot.neutral).accepted


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


def test_users_function_and_its_labels(robot):
    constraint = Constraint(UserFunction(lambda at: at.q[:2], ['first [m]', 'second']), 0, 0.5)
    verdict = accept(IKProblem(robot, constraints=[constraint]), np.array([0, 0.6, 0, 0, 0, 0, 0]))
    assert len(verdict.violations) == 1
    assert 'second' in str(verdict.violations[0]) and verdict.violations[0].unit == ''


def test_errors_of_users_pass_through(robot):
    def broken(at):
        raise KeyError('mine')
    asked = IKProblem(robot, constraints=[Constraint(UserFunction(broken), 0, 1)])
    with pytest.raises(KeyError, match='mine'):
        accept(asked, robot.neutral)
    wrong = IKProblem(robot, constraints=[Constraint(UserFunction(lambda at: NAN), 0, 1)])
    with pytest.raises(IKError, match='not finite'):
        accept(wrong, robot.neutral)
