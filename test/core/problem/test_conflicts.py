"""Conflicting constraints are reported; solvers/test_infeasibility.py checks for false reports."""

import numpy as np
import pinocchio as pin
import pytest

from ros2_ik.core import (
    AngleBetweenVectors,
    CenterOfMass,
    Configuration,
    Constraint,
    FrameOrientation,
    FramePosition,
    IKProblem,
    JointPositions,
    Polyhedron,
    Robot,
    SupportPolygon,
)
from ros2_ik.core.problem import conflict

P, A, B = (0.03, -0.02, 0.11), (0.2, -0.1, 2), (1, -0.2, 0.4)


def problem(robot, *constraints, **arguments):
    """Return a problem with constraints (function, lower, upper, name)."""
    return IKProblem(robot, constraints=[Constraint(*constraint) for constraint in constraints],
                     **arguments)


FUNCTIONS = [
    AngleBetweenVectors('tip', A, B), CenterOfMass(axes='z'),
    FrameOrientation('tip', axes='y', form='euler'), FramePosition('tip', P, axes='y'),
    Polyhedron('tip', [P], [A]), JointPositions(['s2']), SupportPolygon([P, A, B])]


@pytest.mark.parametrize('function', FUNCTIONS, ids=str)
def test_disjoint_bounds_of_one_function_conflict(robot, function):
    text = conflict(problem(robot, (function, 0.1, 0.2, 'low one'), (function, 0.3, 0.4, 'high')))
    assert 'low one' in text and 'high' in text
    value = function.value(Configuration(robot, robot.random_q(np.random.default_rng(2))))
    for first, second in ((-0.1, 0.0), (0.0, 0.1)), ((-np.inf, 0.1), (0.0, np.inf)):
        assert conflict(problem(robot, *((function, *np.clip([value + low, value + high],
                                                             *function.range))
                                         for low, high in (first, second)))) is None


def test_rows_of_equal_names_in_different_functions_do_not_conflict(robot):
    """Past defect: 'y' of a turned frame was compared with another row of equal parameters."""
    turned = pin.SE3(np.array([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]]), np.zeros(3))
    functions = (FramePosition('tip', axes='xy'),
                 FramePosition('tip', T_relative_A=turned, axes='yz'))
    at = Configuration(robot, robot.random_q(np.random.default_rng(3)))
    values = [function.value(at) for function in functions]
    assert np.ptp(values, axis=0).max() < 1e-12
    assert conflict(problem(robot, *((function, value - 0.01, value + 0.01)
                                     for function, value in zip(functions, values, strict=True)))
                    ) is None


def test_joint_bounds_outside_the_limits_conflict(small):
    robot = small('scara')     # elbow: +-2.4, lift: -0.2 .. 0.05
    for function, lower, upper in ((JointPositions(['elbow']), 2.5, 3.0),
                                   (JointPositions(['shoulder', 'lift']), [0, -9], [1, -0.21]),
                                   (JointPositions(['elbow'], {'elbow': 2.0}), 0.5, 1.0)):
        text = conflict(problem(robot, (function, lower, upper, 'mine')))
        assert 'mine' in text and 'limits of' in text
        assert conflict(problem(robot, (function, lower, upper), joint_limits=False)) is None
    for function, lower, upper in ((JointPositions(['elbow']), 2.4, 3.0),
                                   (JointPositions(['elbow'], {'elbow': 2.0}), 0.4, 1.0)):
        assert conflict(problem(robot, (function, lower, upper))) is None


def test_bounds_that_exclude_the_value_of_a_locked_joint_conflict(small):
    robot, start = small('scara'), {'elbow': 0.7}
    bent = (JointPositions(['elbow']), 0.8, 1.0, 'bent')
    text = conflict(problem(robot, bent, locked=['elbow'], start=start))
    assert text == ("joint 'elbow', which does not move, in [0.7, 0.7] and bent in [0.799999, 1] "
                    'exclude each other')
    assert conflict(problem(robot, bent, start=start)) is None
    held = (JointPositions(['elbow'], {'elbow': 0.2}), 0.4, 0.6)
    assert conflict(problem(robot, held, locked=['elbow'], start=start)) is None
    outside = (JointPositions(['elbow']), 2.9, 3.1)       # it may stay at 3.0, outside its limits
    assert conflict(problem(robot, outside, locked=['elbow'], start={'elbow': 3.0})) is None
    passive = Robot.from_urdf(robot.urdf, srdf='<robot name="small"><passive_joint name="elbow"/>'
                                               '</robot>')
    assert 'bent' in conflict(problem(passive, bent, start=start))
