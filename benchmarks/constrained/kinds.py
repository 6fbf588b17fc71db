"""
The kinds of problems: each function returns terms that a hidden random configuration meets.

`at` is the judge at that configuration, `random` a generator. The classes of the terms define them
for each library.
"""

from judge import angle
import numpy as np

from constrained.directions import (
    Angle,
    DirectionCost,
    GazeTolerance,
    OrientationCost,
    OrientationTolerance,
    Pose,
)
from constrained.geometry import frame_along, ORIGIN, some_direction, X, Z
from constrained.positions import InBox, InPolyhedron, NearLine, PointDistanceBounds
from constrained.whole_body import Balanced, Coupled, Posture

KINDS = {}    # name -> (robot, function, group); group None: all joints may move
HAND_CAMERA = 'left_hand_camera_axis_link'

PANDA_HOME = {f'panda_joint{i + 1}': value
              for i, value in enumerate((0, -0.785, 0, -2.356, 0, 1.571, 0.785))}
UR5_HOME = {'shoulder_pan_joint': 0.0, 'shoulder_lift_joint': -1.57, 'elbow_joint': 1.57,
            'wrist_1_joint': -1.57, 'wrist_2_joint': -1.57, 'wrist_3_joint': 0.0}
BAXTER_HOME = {f'{side}_{joint}': value for side in ('left', 'right') for joint, value in zip(
    ('s0', 's1', 'e0', 'e1', 'w0', 'w1', 'w2'), (0, -0.55, 0, 0.75, 0, 1.26, 0), strict=True)}
TALOS_HOME = {'torso_1_joint': 0.0, 'torso_2_joint': 0.0} | {
    f'arm_left_{i + 1}_joint': value
    for i, value in enumerate((0.26, 0.17, 0, -0.53, 0, 0, 0.1))}


def kind(robot, group=None):
    """Register a kind of problem for a robot; only joints of the group move."""
    def register(function):
        KINDS[function.__name__] = (robot, function, group)
        return function
    return register


def box(center, *half):
    return center - np.array(half), center + np.array(half)


def up_in(frame, at):
    """Return the upward direction (3,) in coordinates of a frame."""
    return at.T(frame)[2, :3]


# -- single constraints


@kind('panda')
def point_in_box(at, random):
    return [InBox('panda_hand_tcp', *box(at.point('panda_hand_tcp', ORIGIN), 0.01, 0.01, 0.01))]


@kind('ur5')
def point_exact(at, random):
    p = at.point('tool0', 0.1 * Z)
    return [InBox('tool0', p, p, 0.1 * Z)]


@kind('baxter')
def orientation_exact(at, random):
    return [OrientationTolerance('left_gripper', at.T('left_gripper')[:3, :3])]


@kind('ur5')
def orientation_within_cone(at, random):
    return [OrientationTolerance('tool0', at.T('tool0')[:3, :3], upper=0.1)]


@kind('panda')
def gaze_within_cone(at, random):
    return [GazeTolerance('panda_hand_tcp', Z, at.point('panda_hand_tcp', 0.5 * Z), 0.1)]


@kind('baxter')
def gaze_exact(at, random):
    return [GazeTolerance(HAND_CAMERA, Z, at.point(HAND_CAMERA, 0.5 * Z))]


@kind('ur5')
def angle_in_range(at, random):
    alpha = angle(at.T('tool0')[:3, 2], Z)
    return [Angle('tool0', Z, Z, max(0, alpha - 0.05), min(np.pi, alpha + 0.05))]


@kind('panda')
def axes_parallel(at, random):
    return [Angle('panda_hand_tcp', Z, at.T('panda_hand_tcp')[:3, 2], 0, 0)]


@kind('baxter')
def hands_apart(at, random):
    d = np.linalg.norm(at.point('left_gripper', ORIGIN, 'right_gripper'))
    return [PointDistanceBounds('left_gripper', ORIGIN, ORIGIN, d, d, 'right_gripper')]


@kind('ur5')
def point_near_line(at, random):
    through = at.point('tool0', ORIGIN) + 0.009 * some_direction(random)
    return [NearLine('tool0', ORIGIN, through, some_direction(random), upper=0.01)]


@kind('panda')
def point_on_line(at, random):
    return [NearLine('panda_hand_tcp', ORIGIN, at.point('panda_hand_tcp', ORIGIN),
                     some_direction(random))]


@kind('panda')
def fingers_in_slot(at, random):
    """Put both finger tips into a cube between six planes."""
    points = np.array([[0, 0.04, 0], [0, -0.04, 0]])
    # half-spaces n . p <= n . p0 + 5 mm of a rotated cube, for each of the two points
    # the Q factor of a Gaussian matrix is a random rotation or reflection
    walls = np.vstack([np.eye(3), -np.eye(3)]) @ np.linalg.qr(random.normal(size=(3, 3)))[0]
    A = np.block([[walls, np.zeros((6, 3))], [np.zeros((6, 3)), walls]])
    p = np.concatenate([at.point('panda_hand_tcp', point) for point in points])
    return [InPolyhedron('panda_hand_tcp', points, A, A @ p + 0.005)]


@kind('talos')
def center_of_mass(at, random):
    return [Balanced('left_sole_link', *box(at.center_of_mass('left_sole_link'),
                                            0.01, 0.01, 0.01))]


@kind('ur5')
def coupled_joints(at, random):
    """Reach a point, with a linear relation of three joints."""
    point, ratios = 0.1 * X + 0.1 * Z, np.array([1.0, 1.0, 0.5])
    names = 'shoulder_lift_joint', 'elbow_joint', 'wrist_3_joint'
    p, q = at.point('tool0', point), np.array([at.joints[name] for name in names])
    return [InBox('tool0', p, p, point), Coupled(names, ratios, ratios @ q)]


@kind('ur5')
def pose(at, random):
    return [Pose('tool0', at.T('tool0'))]


@kind('baxter')
def pose_between_hands(at, random):
    return [Pose('left_gripper', at.T('left_gripper', 'right_gripper'), 'right_gripper')]


# -- realistic combinations


@kind('panda')
def cup_level_elbow_low(at, random):
    """Hold a cup level at a point, with the elbow low."""
    elbow = at.point('panda_link4', ORIGIN)[2]
    p = at.point('panda_hand_tcp', ORIGIN)
    return [InBox('panda_hand_tcp', p, p),
            Angle('panda_hand_tcp', up_in('panda_hand_tcp', at), Z, 0, 0.02),
            InBox('panda_link4', np.array([-9, -9, -9]), np.array([9, 9, elbow + 0.02]))]


@kind('ur5')
def look_at_part(at, random):
    """Look at a part from 0.4 to 0.6 m, with the camera in a region and nearly upright."""
    part = at.point('tool0', 0.5 * Z + random.uniform(-0.01, 0.01, 3))
    return [GazeTolerance('tool0', Z, part, 0.05),
            PointDistanceBounds('tool0', ORIGIN, part, 0.4, 0.6),
            InBox('tool0', *box(at.point('tool0', ORIGIN), 0.3, 0.3, 0.05)),
            Angle('tool0', up_in('tool0', at), Z, 0, 0.2)]


@kind('baxter')
def look_at_other_hand(at, random):
    """Look with the left hand's camera at the right hand, which is at a point."""
    axis, p = (at.point('right_gripper', ORIGIN, frame) for frame in (HAND_CAMERA, None))
    d = np.linalg.norm(axis)
    return [GazeTolerance(HAND_CAMERA, axis, ORIGIN, 0, 'right_gripper'),
            InBox('right_gripper', p, p),
            PointDistanceBounds(HAND_CAMERA, ORIGIN, ORIGIN, 0.9 * d, 1.1 * d, 'right_gripper')]


@kind('panda')
def screwdriver_on_line(at, random):
    """Put the tip on a line, within 5 cm of a point, and the shaft along the line."""
    T = at.T('panda_hand_tcp')
    axis, tip = T[:3, 2], T[:3, 3]
    along, b = axis @ tip, 0.05
    return [NearLine('panda_hand_tcp', ORIGIN, tip, axis),
            Angle('panda_hand_tcp', Z, axis, 0, 0),
            InPolyhedron('panda_hand_tcp', np.zeros((1, 3)), np.vstack([axis, -axis]),
                    np.array([along + b, b - along]))]


@kind('talos')
def tray_in_both_hands(at, random):
    """Hold a level tray in both hands, with fixed feet and the centre of mass over a foot."""
    left, right = 'gripper_left_base_link', 'gripper_right_base_link'
    return [Pose(left, at.T(left, right), right),
            Angle(left, up_in(left, at), Z, 0, 0.05),
            InBox(left, *box(at.point(left, ORIGIN), 0.1, 0.1, 0.05)),
            Pose('left_sole_link', at.T('left_sole_link', 'right_sole_link'), 'right_sole_link'),
            Balanced('left_sole_link', *box(at.center_of_mass('left_sole_link'), 0.05, 0.03, 9))]


# -- with a cost


@kind('panda')
def pose_near_posture(at, random):
    return [Pose('panda_hand_tcp', at.T('panda_hand_tcp')), Posture(PANDA_HOME)]


@kind('ur5')
def point_near_posture(at, random):
    p = at.point('tool0', ORIGIN)
    return [InBox('tool0', p, p), Posture(UR5_HOME)]


@kind('panda')
def cup_near_posture(at, random):
    return [*cup_level_elbow_low(at, random), Posture(PANDA_HOME)]


@kind('baxter')
def hands_near_posture(at, random):
    return [*pose_between_hands(at, random), Posture(BAXTER_HOME)]


@kind('talos')
def arm_near_posture(at, random):
    p = at.point('gripper_left_base_link', ORIGIN)
    return [InBox('gripper_left_base_link', p, p),
            Angle('gripper_left_base_link', up_in('gripper_left_base_link', at), Z, 0, 0.05),
            Posture(TALOS_HOME)]


@kind('panda')
def point_turned_towards(at, random):
    """Reach a point, with the orientation as near to a reference as possible."""
    p, axis = at.point('panda_hand_tcp', ORIGIN), some_direction(random)
    R = at.T('panda_hand_tcp')[:3, :3] @ frame_along(axis, ORIGIN)[:3, :3]
    return [InBox('panda_hand_tcp', p, p), OrientationCost('panda_hand_tcp', R)]


@kind('ur5')
def elbow_high_pointing_towards(at, random):
    """Reach a point, with the elbow at a height and the tool near a direction."""
    p, elbow = at.point('tool0', ORIGIN), at.point('forearm_link', ORIGIN)
    return [InBox('tool0', p, p), InBox('forearm_link', *box(elbow, 9, 9, 0.05)),
            DirectionCost('tool0', Z, some_direction(random))]


@kind('baxter')
def cup_pointing_towards(at, random):
    """Hold a cup level in a box, with the handle near a direction."""
    return [Angle('left_gripper', up_in('left_gripper', at), Z, 0, 0.1),
            InBox('left_gripper', *box(at.point('left_gripper', ORIGIN), 0.02, 0.02, 0.02)),
            DirectionCost('left_gripper', X, some_direction(random))]
