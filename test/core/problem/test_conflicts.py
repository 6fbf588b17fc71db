"""What is shown to be impossible: only what is."""

from functools import partial

from judge import pose
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ros2_ik.core import (
    AngleBetweenVectors,
    CenterOfMass,
    Configuration,
    Constraint,
    FrameOrientation,
    FramePosition,
    GazeAngle,
    IKProblem,
    JointChangeBound,
    JointCoupling,
    JointPositions,
    Manipulability,
    PointToLineDistance,
    PointToPlane,
    PointToPointDistance,
    Polyhedron,
    PoseTarget,
    Robot,
    solve,
    Status,
    SupportPolygon,
    UserFunction,
)
from ros2_ik.core.problem import conflict as conflict_of

conflict = partial(conflict_of, thorough=True)
P, A, B = (0.03, -0.02, 0.11), (0.2, -0.1, 2), (1, -0.2, 0.4)
TURNED = pose((0.1, 0.2, 0.3), (0.3, -0.2, 0.1))


def asked(robot, *constraints, **arguments):
    """Ask for (function, lower, upper)."""
    return IKProblem(robot, constraints=[Constraint(*constraint) for constraint in constraints],
                     **arguments)


ONE_OF_EACH = [
    AngleBetweenVectors('tip', A, B), CenterOfMass(axes='z'),
    FrameOrientation('tip', axes='y', form='euler'),
    FrameOrientation('tip', axes='x'), FramePosition('tip', axes='y'), GazeAngle('tip', P, A, B),
    Polyhedron('tip', [P], [A]), JointPositions(['s2']), FrameOrientation('tip', form='angle'),
    PointToLineDistance('tip', P, A, B), PointToPlane('tip', P, A, B),
    PointToPointDistance('tip', P, B), CenterOfMass(A=[A]), SupportPolygon([P, A, B])]


@pytest.mark.parametrize('function', ONE_OF_EACH, ids=str)
def test_one_function_wanted_in_two_places(robot, function):
    found = conflict(asked(robot, (function, 0.1, 0.2, 'low one'), (function, 0.3, 0.4, 'high')))
    assert 'low one' in found and 'high' in found
    value = function.value(Configuration(robot, robot.random_q(np.random.default_rng(2))))
    for first, second in ((-0.1, 0.0), (0.0, 0.1)), ((-0.1, 0.1), (0.0, 0.2)), ((0, 0), (0, 0)):
        assert conflict(asked(robot, *((function, *np.clip([value + low, value + high],
                                                           *function.range))
                                       for low, high in (first, second)))) is None


def test_two_boxes_of_one_point(robot):
    """The same point, by two functions; any axis."""
    for axis in range(3):
        low, high = np.full((2, 3), -0.3), np.full((2, 3), 0.3)
        low[1, axis], high[1, axis] = 0.5, 0.6
        found = conflict(asked(robot, (FramePosition('tip', P), low[0], high[0], 'box A'),
                               (FramePosition('tip', P), low[1], high[1], 'box B')))
        assert 'box A' in found and 'box B' in found and 'xyz'[axis] in found
        apart = conflict(asked(robot, (FramePosition('tip', P), low[0], high[0]),
                               (FramePosition('tip', P, axes='xyz'[axis]), 0.5, 0.6)))
        assert apart is not None


def test_tolerances_are_left_room(robot):
    function = FramePosition('tip', axes='x')
    for gap, tolerance, found in ((1.9e-6, 1e-6, False), (2.1e-6, 1e-6, True),
                                  (0.19, 0.1, False), (0.21, 0.1, True)):
        problem = asked(robot, (function, 0, 0.1, 'a', tolerance),
                        (function, 0.1 + gap, 1, 'b', tolerance))
        assert (conflict(problem) is not None) is found


# pairs that measure different things
DIFFERENT = [
    (FramePosition('tip'), FramePosition('b4')),
    (FramePosition('tip'), FramePosition('tip', P)),
    (FramePosition('tip'), FramePosition('tip', relative_to='b2')),
    (FramePosition('tip'), FramePosition('tip', T_relative_A=TURNED)),
    (FramePosition('tip', axes='x'), FramePosition('tip', axes='y')),
    (FramePosition('tip', axes='xz'), FramePosition('tip', axes='y')),
    (FrameOrientation('tip', axes='x', form='euler'),
     FrameOrientation('tip', axes='z', form='euler')),
    (FrameOrientation('tip', form='euler'), FrameOrientation('tip', TURNED, form='euler')),
    (FrameOrientation('tip', axes='x'), FrameOrientation('tip', axes='z')),
    (FrameOrientation('tip'), FrameOrientation('tip', offset=TURNED)),
    (FrameOrientation('tip', form='angle'), FrameOrientation('tip', TURNED, form='angle')),
    (FrameOrientation('tip', form='angle'), AngleBetweenVectors('tip', A, B)),
    (AngleBetweenVectors('tip', A, B), AngleBetweenVectors('tip', B, A)),
    (GazeAngle('tip', P, A, B), GazeAngle('tip', P, A, P)),
    (PointToLineDistance('tip', P, A, B), PointToLineDistance('tip', P, A, A)),
    (PointToPlane('tip', P, A, B), PointToPlane('tip', P, B, B)),
    (PointToPointDistance('tip', P, A), PointToPointDistance('tip', P, B)),
    (Polyhedron('tip', [P], [A]), Polyhedron('tip', [P], [B])),
    (JointCoupling(['s1', 's2'], [1, -1]), JointCoupling(['s1', 's2'], [1, 1])),
    (JointCoupling(['s1', 's2'], [1, -1]), JointCoupling(['s1', 's2'], [1, -1], 0.5)),
    (JointCoupling(['s1'], [1]), JointCoupling(['s1'], [1], 0.0, {'s1': 0.5})),
    (JointPositions(['s1']), JointPositions(['s2'])),
    (CenterOfMass(A=[A, B]), CenterOfMass(A=[B, A])),
    (CenterOfMass(A=np.eye(3)), CenterOfMass()),
    (SupportPolygon([P, A, B]), SupportPolygon([P, A, B], links=['tip'])),
    (SupportPolygon([P, A, B]), SupportPolygon([P, A, B], up=A)),
    (CenterOfMass(), CenterOfMass(['tip'])),
    (CenterOfMass(), CenterOfMass(relative_to='b2')),
    (Manipulability('tip'), Manipulability('b4')),
    (Manipulability('tip', rows='position'), Manipulability('tip', rows='orientation')),
    (UserFunction(lambda at: at.q[0]), UserFunction(lambda at: at.q[1]))]


def both_here(robot, one, other):
    """Ask for what both are in one configuration."""
    values = [function.value(Configuration(robot, robot.random_q(np.random.default_rng(5))))
              for function in (one, other)]
    return asked(robot, (one, values[0] - 0.01, values[0]),
                 (other, values[1], values[1] + 0.01))


@pytest.mark.parametrize('one, other', DIFFERENT, ids=str)
def test_of_different_things_nothing_is_shown(robot, one, other):
    assert conflict(both_here(robot, one, other)) is None


class Taste:
    """A user's callable, which shows itself as any other of its kind."""

    def __init__(self, index):
        self.index = index

    def __call__(self, at):
        return at.q[self.index]

    def __repr__(self):
        return 'Taste'


def entry(numbers, at):
    return at.q[int(numbers[2000])]


def test_of_users_functions_that_look_alike_nothing_is_shown(robot):
    """What is printed of a callable does not say what it measures."""
    assert conflict(asked(robot, (UserFunction(Taste(0), name='t'), 0.1, 0.2),
                          (UserFunction(Taste(1), name='t'), 0.3, 0.4))) is None
    one, two = np.zeros(3000), np.zeros(3000)
    two[2000] = 1
    assert conflict(asked(robot, (UserFunction(partial(entry, one), name='t'), 0.1, 0.2),
                          (UserFunction(partial(entry, two), name='t'), 0.3, 0.4))) is None


def test_joints_and_their_limits(small):
    robot = small('scara')     # elbow: +-2.4, lift: -0.2 .. 0.05
    for function, lower, upper in ((JointPositions(['elbow']), 2.5, 3.0),
                                   (JointPositions(['lift']), 0.06, 1),
                                   (JointPositions(['shoulder', 'lift']), [0, -9], [1, -0.21]),
                                   (JointPositions(['elbow'], {'elbow': 2.0}), 0.5, 1.0),
                                   (JointPositions(['elbow'], [-2.0]), -9, -0.5)):
        found = conflict(asked(robot, (function, lower, upper, 'mine')))
        assert 'mine' in found and 'limits of' in found
        assert conflict(asked(robot, (function, lower, upper), joint_limits=False)) is None
    for function, lower, upper in ((JointPositions(['elbow']), 2.4, 3.0),
                                   (JointPositions(['elbow'], {'elbow': 2.0}), 0.4, 1.0),
                                   (JointPositions(['wrist']), 4.0, 5.0)):
        assert conflict(asked(robot, (function, lower, upper))) is None


def test_joints_outside_of_the_group():
    """Where they stay is not their limit."""
    panda = Robot.load('panda')
    finger = (JointPositions(['panda_joint1', 'panda_finger_joint1']), 0.01, 0.01, 'both')
    found = conflict(asked(panda, finger, group='arm'))
    assert found.startswith("joint 'panda_finger_joint1' is not in group 'arm' and stays at 0, "
                            'outside both in [0.0'), found
    targets = [PoseTarget(tip, pose((0.4, 0, height), (0, 0, 0)))
               for tip, height in (('panda_hand', 0.4), ('panda_leftfinger', 0.6))]
    found = conflict(IKProblem(panda, targets, 'arm'))
    assert "group 'arm' does not move relative to each other" in found


def test_joints_that_are_held(small):
    robot, start = small('scara'), {'elbow': 0.7}
    wanted = (JointPositions(['elbow']), 0.8, 1.0, 'bent')
    found = conflict(asked(robot, wanted, locked=['elbow'], start=start))
    assert found == "joint 'elbow' is locked and stays at 0.7, outside bent in [0.799999, 1]"
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


def test_limits_of_a_follower(small):
    robot = small('mimic_chain')
    for lower, upper in ((-0.2, 0.2), (0.3, 0.4)):      # b = 0.1 - a / 2
        assert conflict(asked(robot, (JointPositions(['b']), lower, upper))) is None


def test_infinite_bounds_ask_for_nothing(robot):
    function = FramePosition('tip', axes='x')
    assert conflict(asked(robot, (function, -np.inf, np.inf), (function, 0.1, np.inf),
                          (function, -np.inf, 0.1))) is None
    assert conflict(asked(robot, (function, 0.2, np.inf), (function, -np.inf, 0.1))) is not None


@pytest.mark.parametrize('one, other', DIFFERENT, ids=str)
def test_no_claim_by_a_search_that_stops_short(robot, one, other):
    """A single iteration rarely gets there: that proves nothing."""
    solution = solve(both_here(robot, one, other), timeout=5.0, max_iterations=1, random_state=0)
    assert solution.status is not Status.GOAL_CONSTRAINTS_VIOLATED


# what is asked for of the scara's joints (shoulder +-2, elbow +-2.4, lift -0.2 .. 0.05, wrist),
# with `room` to spare, and names
RELATIONS = {
    'a coupling and limits': (lambda room: [
        (JointCoupling(['shoulder', 'elbow'], [1, 1]), 4.4 - room, 9, 'far')],
        ['far', "limits of 'shoulder'", "limits of 'elbow'"]),
    'a coupling and values': (lambda room: [
        (JointCoupling(['shoulder', 'elbow'], [1, -2], 0.1), 0, 0, 'geared'),
        (JointPositions(['shoulder']), 0.5, 1, 'one'),
        (JointPositions(['elbow']), -2, 0.2 + room, 'other')], ['geared', 'one', 'other']),
    'a chain of couplings': (lambda room: [
        (JointCoupling(['shoulder', 'elbow'], [1, -1]), 0, 0, 'first'),
        (JointCoupling(['elbow', 'wrist'], [1, -1]), 0, 0, 'second'),
        (JointPositions(['wrist']), 2 - room, 3, 'wrist')], ['first', 'second', 'wrist']),
    'two of one relation': (lambda room: [
        (JointCoupling(['shoulder', 'wrist'], [1, -2]), 1, 2, 'one'),
        (JointCoupling(['shoulder', 'wrist'], [-2, 4], 0.0, {'shoulder': 0.5}), -9, -3 + room,
         'other')], ['one', 'other']),
    'what no joint changes': (lambda room: [
        (JointCoupling(['shoulder', 'elbow'], [0, 0], 0.5), 0, 1 if room > 0 else 2, 'nothing')]
        if room < 0 else [(JointCoupling(['shoulder'], [0]), 0, 1, 'nothing')], ['nothing']),
}


@pytest.mark.parametrize('name', RELATIONS)
def test_relations_between_joints(small, name):
    make, names = RELATIONS[name]
    for room, met in (1e-3, True), (-1e-3, False):
        problem = asked(small('scara'), *make(room))
        found = conflict(problem)
        assert (found is None) is met, found
        assert met or all(text in found for text in names), found
        solution = solve(problem, timeout=5.0, random_state=0, max_iterations=200)
        assert solution.success is met and solution.impossible != met


def test_relations_that_the_change_of_joints_leaves_no_room(small):
    robot = small('scara')
    sum_of = (JointCoupling(['shoulder', 'elbow'], [1, 1]), 0.21, 1, 'sum')
    found = conflict(asked(robot, sum_of, change_bound=JointChangeBound.of(robot, robot.neutral,
                                                                           0.1)))
    assert 'sum' in found and "max_joint_change 0.1 of 'elbow'" in found
    assert conflict(asked(robot, sum_of, change_bound=JointChangeBound.of(
        robot, robot.neutral, 0.11))) is None


def test_limits_of_a_follower_that_are_met_nowhere(small):
    """Those of its leader: b = 0.1 - a / 2."""
    robot = small('mimic_chain')
    leader = robot.joint('a')
    most = 0.1 - leader.lower / 2
    assert conflict(asked(robot, (JointPositions(['b']), most - 1e-3, 9, 'b'))) is None
    assert 'b' in conflict(asked(robot, (JointPositions(['b']), most + 1e-3, 9, 'b')))


# -- of orientations, directions and points ----------------------------------------------------

X, Y, Z = np.eye(3)


def leaning(angle, about=X):
    """Give the direction of z turned by an angle about an axis."""
    return Rotation.from_rotvec(angle * about).as_matrix() @ Z


def cone(half, axis=Z, vector=Z, name='cone', frame='tip', relative_to=None):
    return Constraint(AngleBetweenVectors(frame, vector, axis, relative_to), upper=half, name=name)


def facing(angle, **options):
    """Give a target of the tip, at some place, turned about x."""
    return PoseTarget('tip', pose((0.3, 0.1, 0.4), angle * X), **options)


# what is asked for with `room` [rad or m] to spare, where below 0 there is none, and names
DEMANDS = {
    'a pose and a cone': (lambda room: [facing(0.5, orientation_tolerance=0.1),
                                        cone(0.4 + room)], ['cone', "target of 'tip'"]),
    'a pose and a cone to keep out of': (
        lambda room: [facing(0.5, orientation_tolerance=0.1), Constraint(
            AngleBetweenVectors('tip', Z, Z), 0.6 - room, name='out')], ['out', 'target']),
    'a pose with its turn free and a cone': (
        lambda room: [facing(0.5, weights=(1, 1, 1, 1, 1, 0), orientation_tolerance=0.1),
                      cone(0.4 + room)], ['cone', 'target']),
    'a pose and an orientation': (
        lambda room: [facing(0.5, orientation_tolerance=0.1), Constraint(FrameOrientation(
            'tip', form='angle'), upper=0.4 + room, name='level')], ['level', 'target']),
    'a pose and Euler angles': (
        lambda room: [facing(0.5, orientation_tolerance=0.1), Constraint(FrameOrientation(
            'tip', form='euler', axes='xy'), -(0.2 + room / 2), 0.2 + room / 2, 'level')],
        ['level', 'target']),
    'a pose and a rotation vector': (
        lambda room: [facing(0.5, orientation_tolerance=0.1), Constraint(FrameOrientation(
            'tip', axes='xy'), [-0.4 - room, 0], [0.4 + room, 0], 'level')], ['level', 'target']),
    'two cones': (lambda room: [cone(0.2 + room / 2, leaning(0.4), name='one'),
                                cone(0.2 + room / 2, name='other')], ['one', 'other']),
    'two cones of two vectors': (
        lambda room: [cone(0.2 + room, Z, Z, 'one'), cone(0.2, leaning(0.9), leaning(0.5),
                                                          'other')], ['one', 'other']),
    'a cone and what is against it': (
        lambda room: [cone(0.5, Z, name='one'), Constraint(
            AngleBetweenVectors('tip', Z, -Z), upper=np.pi - 0.5 + room, name='other')],
        ['one', 'other']),
    'a cone and one to keep out of': (
        lambda room: [cone(0.5, Z, name='in'), Constraint(
            AngleBetweenVectors('tip', Z, leaning(0.2)), 0.7 - room, name='out')], ['in', 'out']),
    'two orientations': (
        lambda room: [Constraint(FrameOrientation('tip', form='angle'), upper=0.2, name='one'),
                      Constraint(FrameOrientation('tip', pose(rotvec=0.5 * Y), form='angle'),
                                 upper=0.3 + room, name='other')], ['one', 'other']),
    'a pose and a gaze': (
        lambda room: [facing(0.0, orientation_tolerance=0.05, position_tolerance=1e-9),
                      Constraint(GazeAngle('tip', (0, 0, 0), Z, (0.3, 0.1 + np.tan(0.3), 1.4)),
                                 upper=0.25 + room, name='look')], ['look', 'target']),
    'a pose and a point': (
        lambda room: [facing(0.0, orientation_tolerance=1e-9, position_tolerance=0.01),
                      Constraint(FramePosition('tip', (0, 0, 0.1), axes='z'), 0.51 - room,
                                 name='high')], ['high', 'target']),
    'two boxes of two points': (
        lambda room: [Constraint(PointToPointDistance('tip', (0, 0, 0), (0, 0, 0.2)),
                                 upper=0.05 + room, name='one'),
                      Constraint(PointToPointDistance('tip', (0, 0, 0.1), (0, 0, 0.5)),
                                 upper=0.15, name='other')], ['one', 'other']),
    'a ball and a line': (
        lambda room: [Constraint(PointToPointDistance('tip', (0, 0, 0), (0.2, 0, 0.2)),
                                 upper=0.1, name='ball'),
                      Constraint(PointToLineDistance('tip', (0, 0, 0), (0, 0.3, 0.2), X),
                                 upper=0.2 + room, name='line')], ['ball', 'line']),
}


@pytest.mark.parametrize('name', DEMANDS)
def test_demands_on_a_body(name):
    """A body that may be anywhere: what is met by a hair is not excluded, more than that is."""
    robot = Robot.from_urdf('<robot name="r"><link name="tip"/></robot>', root_joint='freeflyer')
    make, names = DEMANDS[name]
    for room, met in (1e-6, True), (-1e-4, False):
        parts = make(room)
        problem = IKProblem(
            robot, [part for part in parts if isinstance(part, PoseTarget)],
            constraints=[part for part in parts if isinstance(part, Constraint)],
            collisions=False)
        found = conflict(problem)
        assert (found is None) is met, (name, room, found)
        assert met or all(text in found for text in names), found
        solution = solve(problem, timeout=5.0, random_state=0, max_iterations=200)
        assert solution.impossible != met
        if not met:
            assert solution.restarts < 40 and found in solution.message


def test_the_pose_of_a_hand_seen_from_the_other(small):
    """Where both hands should be says where the one should be, seen from the other."""
    robot = small('two_arms')
    at = Configuration(robot, robot.random_q(np.random.default_rng(1)))
    targets = [PoseTarget(hand, at.transform(hand)) for hand in ('left_hand', 'right_hand')]
    apart = np.linalg.norm(at.transform('left_hand', 'right_hand')[:3, 3])
    for most, met in (apart, True), (apart - 1e-3, False):
        near = Constraint(PointToPointDistance('left_hand', (0, 0, 0), (0, 0, 0), 'right_hand'),
                          upper=most, name='near')
        found = conflict(IKProblem(robot, targets, constraints=[near]))
        assert (found is None) is met
        assert met or all(text in found for text in ('near', "'left_hand'", "'right_hand'"))


def test_what_stays_where_it_is(small):
    """Of a frame that only locked joints move, everything is known."""
    robot = small('scara')
    at = Configuration(robot, {'shoulder': 0.3, 'elbow': -0.4})
    x = at.transform('tip')[0, 3]
    for shift, met in (0.0, True), (1e-3, False):
        for function, value in ((FramePosition('tip', axes='x'), x),
                                (FrameOrientation('tip', form='angle'), 0.1)):
            found = conflict(asked(robot, (function, value + shift, value + shift, 'there'),
                                   (JointPositions(['lift']), 0, 1),
                                   locked=['shoulder', 'elbow', 'wrist', 'lift'], start=at.q))
            assert (found is None) is met, found


def test_a_bound_on_changes_is_left_to_the_search(load):
    """It goes on beyond, to tell which joint would have to change by more."""
    robot = load('panda')
    start = {'panda_joint4': -1.5, 'panda_joint6': 1.5}
    at = Configuration(robot, start)
    bound = JointChangeBound.of(robot, at.q, 0.05)
    target = PoseTarget('panda_hand', at.transform('panda_hand') @ pose((0.2, 0, 0)))
    problem = IKProblem(robot, target, start=start, change_bound=bound)
    assert conflict(problem) is None
    solution = solve(problem, [at.q], timeout=5.0, max_iterations=500, max_joint_change=0.05,
                     random_state=0)
    assert 'max_joint_change of the joints' in solution.message and solution.impossible
    assert solution.restarts > 0
