"""
The kinds of problems with bounds on distances; `kinds.py` has the others.

Each case has obstacles of its own, with a minimum distance from the robot in the hidden
configuration. A kind returns None if the robot is too near itself there. Fingers stay closed.
"""

from constrained.clearance import DistanceLowerBound, DistanceUpperBound, PairDistanceBounds
from constrained.directions import Angle, GazeTolerance, Pose
from constrained.geometry import ORIGIN, Z
from constrained.kinds import box, kind, up_in
from constrained.obstacles import cluttered, with_ball
from constrained.positions import InBox

TCP, ELBOW, ARM = 'panda_hand_tcp', 'panda_link4', 'arm'


@kind('panda', ARM)
def clear_point(at, random):
    world, p = cluttered(at, random, 0.02), at.point(TCP, ORIGIN)
    return world and [InBox(TCP, p, p), DistanceLowerBound(world, 0.02)]


@kind('panda', ARM)
def clear_pose(at, random):
    world = cluttered(at, random, 0.01)
    return world and [Pose(TCP, at.T(TCP)), DistanceLowerBound(world, 0.01)]


@kind('ur5', 'manipulator')
def clear_pose_six_joints(at, random):
    world = cluttered(at, random, 0.01)
    return world and [Pose('tool0', at.T('tool0')), DistanceLowerBound(world, 0.01)]


@kind('panda', ARM)
def clear_gaze(at, random):
    """Look at a point, with the hand in a box."""
    world, target = cluttered(at, random, 0.02), at.point(TCP, 0.5 * Z)
    return world and [GazeTolerance(TCP, Z, target, 0.1), DistanceLowerBound(world, 0.02),
                      InBox(TCP, *box(at.point(TCP, ORIGIN), 0.1, 0.1, 0.1))]


@kind('panda', ARM)
def near_something(at, random):
    """Come near an obstacle, with the hand in a box."""
    world = ball_beside_hand(at, random, 0.001)
    return world and [InBox(TCP, *box(at.point(TCP, ORIGIN), 0.1, 0.1, 0.1)),
                      DistanceUpperBound(world, 0.01)]


@kind('panda', ARM)
def skimming(at, random):
    """Keep the smallest distance between 5 and 10 mm, with the hand in a box."""
    world = ball_beside_hand(at, random, 0.006)
    return world and [InBox(TCP, *box(at.point(TCP, ORIGIN), 0.1, 0.1, 0.1)),
                      DistanceUpperBound(world, 0.01), DistanceLowerBound(world, 0.005)]


def ball_beside_hand(at, random, apart):
    """Put a ball 9 mm from the hand; all other distances are at least `apart` [m]."""
    world = cluttered(at, random, 0.02)
    return world and with_ball(world, at, random, 'panda_hand', 0.009, apart)


@kind('panda', ARM)
def elbow_from_ball(at, random):
    """Reach a point, with the elbow 0.1 to 0.2 m from a ball."""
    world, p = cluttered(at, random, 0.01), at.point(TCP, ORIGIN)
    world = world and with_ball(world, at, random, ELBOW, random.uniform(0.1, 0.2))
    return world and [InBox(TCP, p, p), PairDistanceBounds(world, ELBOW, 'ball', 0.1, 0.2)]


@kind('panda', ARM)
def clear_tray(at, random):
    """Hold a tray level at a point."""
    world, p = cluttered(at, random, 0.02), at.point(TCP, ORIGIN)
    return world and [InBox(TCP, p, p), Angle(TCP, up_in(TCP, at), Z, 0, 0.02),
                      DistanceLowerBound(world, 0.02)]
