"""Conflicting constraints are reported; test_proofs.py checks for false reports."""

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


def asked(robot, *constraints, **arguments):
    """Return a problem with constraints (function, lower, upper)."""
    return IKProblem(robot, constraints=[Constraint(*constraint) for constraint in constraints],
                     **arguments)


ONE_OF_EACH = [
    AngleBetweenVectors('tip', A, B), CenterOfMass(axes='z'),
    FrameOrientation('tip', axes='y', form='euler'), FramePosition('tip', P, axes='y'),
    Polyhedron('tip', [P], [A]), JointPositions(['s2']), SupportPolygon([P, A, B])]


@pytest.mark.parametrize('function', ONE_OF_EACH, ids=str)
def test_disjoint_bounds_of_one_function_conflict(robot, function):
    found = conflict(asked(robot, (function, 0.1, 0.2, 'low one'), (function, 0.3, 0.4, 'high')))
    assert 'low one' in found and 'high' in found
    value = function.value(Configuration(robot, robot.random_q(np.random.default_rng(2))))
    for first, second in ((-0.1, 0.0), (0.0, 0.1)), ((-np.inf, 0.1), (0.0, np.inf)):
        assert conflict(asked(robot, *((function, *np.clip([value + low, value + high],
                                                           *function.range))
                                       for low, high in (first, second)))) is None


def test_rows_of_one_name_in_different_functions_do_not_conflict(robot):
    """Past defect: 'y' of a turned frame was compared with another row of equal parameters."""
    turned = pin.SE3(np.array([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]]), np.zeros(3))
    functions = (FramePosition('tip', axes='xy'),
                 FramePosition('tip', T_relative_A=turned, axes='yz'))
    at = Configuration(robot, robot.random_q(np.random.default_rng(3)))
    values = [function.value(at) for function in functions]
    assert np.ptp(values, axis=0).max() < 1e-12
    assert conflict(asked(robot, *((function, value - 0.01, value + 0.01)
                                   for function, value in zip(functions, values, strict=True)))
                    ) is None


def test_joint_bounds_outside_the_limits_conflict(small):
    robot = small('scara')     # elbow: +-2.4, lift: -0.2 .. 0.05
    for function, lower, upper in ((JointPositions(['elbow']), 2.5, 3.0),
                                   (JointPositions(['shoulder', 'lift']), [0, -9], [1, -0.21]),
                                   (JointPositions(['elbow'], {'elbow': 2.0}), 0.5, 1.0)):
        found = conflict(asked(robot, (function, lower, upper, 'mine')))
        assert 'mine' in found and 'limits of' in found
        assert conflict(asked(robot, (function, lower, upper), joint_limits=False)) is None
    for function, lower, upper in ((JointPositions(['elbow']), 2.4, 3.0),
                                   (JointPositions(['elbow'], {'elbow': 2.0}), 0.4, 1.0)):
        assert conflict(asked(robot, (function, lower, upper))) is None


def test_bounds_of_locked_joints_conflict_with_their_value(small):
    robot, start = small('scara'), {'elbow': 0.7}
    wanted = (JointPositions(['elbow']), 0.8, 1.0, 'bent')
    found = conflict(asked(robot, wanted, locked=['elbow'], start=start))
    assert found == ("joint 'elbow', which does not move, in [0.7, 0.7] and bent in [0.799999, 1] "
                     'exclude each other')
    assert conflict(asked(robot, wanted, start=start)) is None
    held = (JointPositions(['elbow'], {'elbow': 0.2}), 0.4, 0.6)
    assert conflict(asked(robot, held, locked=['elbow'], start=start)) is None
    outside = (JointPositions(['elbow']), 2.9, 3.1)       # at 3.0 it may stay
    assert conflict(asked(robot, outside, locked=['elbow'], start={'elbow': 3.0})) is None
    passive = Robot.from_urdf(robot.urdf, srdf='<robot name="small"><passive_joint name="elbow"/>'
                                               '</robot>')
    assert 'bent' in conflict(asked(passive, wanted, start=start))
