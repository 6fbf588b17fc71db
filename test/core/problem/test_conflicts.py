"""Demands that exclude each other: only real conflicts are claimed."""

from judge import pose
import numpy as np
import pytest

from ros2_ik.core import (
    AngleBetweenVectors,
    CenterOfMass,
    Configuration,
    Constraint,
    FrameOrientation,
    FramePosition,
    IKProblem,
    JointCoupling,
    JointPositions,
    Polyhedron,
    Robot,
    SupportPolygon,
    UserFunction,
)
from ros2_ik.core.internals import JointChangeBound
from ros2_ik.core.problem import conflict

P, A, B = (0.03, -0.02, 0.11), (0.2, -0.1, 2), (1, -0.2, 0.4)
TURNED = pose((0.1, 0.2, 0.3), (0.3, -0.2, 0.1))


def asked(robot, *constraints, **arguments):
    """Ask for (function, lower, upper)."""
    return IKProblem(robot, constraints=[Constraint(*constraint) for constraint in constraints],
                     **arguments)


ONE_OF_EACH = [
    AngleBetweenVectors('tip', A, B), CenterOfMass(axes='z'),
    FrameOrientation('tip', axes='y', form='euler'), FramePosition('tip', P, axes='y'),
    Polyhedron('tip', [P], [A]), JointPositions(['s2']), SupportPolygon([P, A, B])]


@pytest.mark.parametrize('function', ONE_OF_EACH, ids=str)
def test_one_function_wanted_in_two_places(robot, function):
    found = conflict(asked(robot, (function, 0.1, 0.2, 'low one'), (function, 0.3, 0.4, 'high')))
    assert 'low one' in found and 'high' in found
    value = function.value(Configuration(robot, robot.random_q(np.random.default_rng(2))))
    for first, second in ((-0.1, 0.0), (0.0, 0.1)), ((-np.inf, 0.1), (0.0, np.inf)):
        assert conflict(asked(robot, *((function, *np.clip([value + low, value + high],
                                                           *function.range))
                                       for low, high in (first, second)))) is None


def test_tolerances_are_left_room(robot):
    function = FramePosition('tip', axes='x')
    for gap, tolerance, found in ((1.9e-6, 1e-6, False), (2.1e-6, 1e-6, True),
                                  (0.19, 0.1, False), (0.21, 0.1, True)):
        problem = asked(robot, (function, 0, 0.1, 'a', tolerance),
                        (function, 0.1 + gap, 1, 'b', tolerance))
        assert (conflict(problem) is not None) is found


# pairs that measure different things: frame, point, axes, form, numbers or kind
DIFFERENT = [
    (FramePosition('tip'), FramePosition('b4')),
    (FramePosition('tip'), FramePosition('tip', P)),
    (FramePosition('tip', axes='x'), FramePosition('tip', axes='y')),
    (FrameOrientation('tip', axes='x'), FrameOrientation('tip', axes='x', form='euler')),
    (FrameOrientation('tip'), FrameOrientation('tip', offset=TURNED)),
    (JointCoupling(['s1', 's2'], [1, -1]), JointCoupling(['s1', 's2'], [1, 1])),
    (CenterOfMass(), CenterOfMass(relative_to='b2')),
    (UserFunction(lambda at: at.q[0]), UserFunction(lambda at: at.q[1]))]


@pytest.mark.parametrize('one, other', DIFFERENT, ids=str)
def test_of_different_things_nothing_is_shown(robot, one, other):
    at = Configuration(robot, robot.random_q(np.random.default_rng(5)))
    first, second = one.value(at), other.value(at)
    assert conflict(asked(robot, (one, first - 0.01, first), (other, second, second + 0.01))
                    ) is None


def test_joints_and_their_limits(small):
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


def test_bounds_of_held_joints_conflict_with_their_value(small):
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


def test_turns_of_continuous_joints(small):
    """Half a turn away from both ends is everywhere the same place."""
    robot = small('turntable')
    assert conflict(asked(robot, (JointPositions(['table']), 3.0, 3.1))) is None
    assert conflict(asked(robot, (JointPositions(['table'], {'table': 20.0}), -0.1, 0.1))) is None
    both = [(JointPositions(['table']), 3.1, 3.2), (JointPositions(['table'], [6.28]), 3.1, 3.2)]
    assert conflict(asked(robot, *both)) is None
    held = (JointPositions(['table'], {'table': 2 * np.pi}), -0.1, 0.1)
    assert conflict(asked(robot, held, locked=['table'])) is None


def test_bound_on_a_change_beyond_the_limits_of_a_joint_is_named(small):
    robot = small('scara')      # elbow: +-2.4
    bound = JointChangeBound.of(robot, robot.to_q({'elbow': 3.0}), 0.1)
    found = conflict(asked(robot, (JointPositions(['shoulder']), 0, 1), (
        JointPositions(['elbow']), -9, 9), start={'elbow': 3.0}, change_bound=bound))
    assert "limits of 'elbow'" in found and "max_joint_change 0.1 of 'elbow'" in found
