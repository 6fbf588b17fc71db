"""Samples of each kind of function for two frames; a new kind needs a row in SAMPLES."""

from judge import pose

from ros2_ik.core import (
    AngleBetweenVectors,
    CenterOfMass,
    FrameOrientation,
    FramePose,
    FramePosition,
    GazeAngle,
    JointCoupling,
    JointPositions,
    Manipulability,
    MinimumDistance,
    PairDistance,
    PointToLineDistance,
    PointToPlane,
    PointToPointDistance,
    Polyhedron,
    region_surfaces,
    RegionDistance,
    SupportPolygon,
    UserFunction,
)
from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.scene import Box, Cylinder, Scene, SceneObject, Sphere

T = pose((0.1, -0.2, 0.4), (0.5, -0.9, 0.7))
R = T[:3, :3]
TURN = pose(rotvec=(-0.3, 0.2, 1.1))[:3, :3]
P, Q, A, B = (0.03, -0.02, 0.11), (0.6, 0.3, -0.4), (0.2, -0.1, 2), (1, -0.2, 0.4)
LINE = (1.0, -0.5)
# pairs of regions; only in the last pair the point is inside
REGIONS = [region_surfaces([(shape, pose(Q, A)), (Box(size), pose(B))]) for shape, size in (
    (Sphere(0.3), (0.2, 0.3, 0.4)), (Cylinder(0.3, 0.5), (0.1, 0.1, 0.1)),
    (Cylinder(0.3, 0.5), (9, 8, 7)))]


def last(robot):
    return [joint.name for joint in robot.joints if joint.is_scalar][-2:]


def scaled_joints(at):
    return at.transform(at.robot.frame_names[-1])[0, 3] * at.q[:2]


def two_spheres(robot, a, b):
    """Return a checker of a sphere on one frame and a sphere on another frame or in the world."""
    a, b = (name if name in robot.frame_names else 'panda_hand' for name in (a, b or a))
    held = SceneObject('held', [(Sphere(0.05), pose(P))])
    other = SceneObject('other', [(Sphere(0.1), pose(Q))])
    scene = Scene(robot).attach(held, a)
    scene = scene.add(other) if a == b else scene.attach(other, b)
    return CollisionChecker(robot, scene).for_pair('held', 'other')


# robot: root joint, a frame, another frame
ROBOTS = {'panda': (None, 'panda_hand', 'panda_link3'),
          'two_arms': ('freeflyer', 'left_hand', 'right_hand'),
          'mimic_chain': ('fixed', 'tip', 'lb'),
          'nested': ('fixed', 'tip', 'cart')}

# kind: functions that make an instance for a robot and two frames; the second may be None
SAMPLES = {
    'angle_between_vectors': [lambda _, a, b: AngleBetweenVectors(a, A, B, b),
                              lambda _, a, b: AngleBetweenVectors(a, A, B, b, 'vector'),
                              lambda _, a, b: AngleBetweenVectors(a, A, B, b, 'chord')],
    'center_of_mass': [lambda _, a, b: CenterOfMass(relative_to=b),
                       lambda _, a, b: CenterOfMass([a], b, 'zx'),
                       lambda _, a, b: CenterOfMass([a], b, A=[A, B])],
    'frame_orientation': [
        lambda _, a, b: FrameOrientation(a, R, b),
        lambda _, a, b: FrameOrientation(a, T, b, TURN, 'zx'),
        *(lambda _, a, b, form=form: FrameOrientation(a, T, b, TURN, form=form)
          for form in ('angle', 'chord', 'euler')),
        lambda _, a, b: FrameOrientation(a, R, b, TURN, 'zx', 'euler')],
    'frame_pose': [lambda _, a, b: FramePose(a, T, b)],
    'frame_position': [lambda _, a, b: FramePosition(a, P, b),
                       lambda _, a, b: FramePosition(a, P, b, T, 'zx')],
    'gaze_angle': [lambda _, a, b: GazeAngle(a, P, A, Q, b),
                   lambda _, a, b: GazeAngle(a, P, A, Q, b, 'vector')],
    'polyhedron': [lambda _, a, b: Polyhedron(a, [P, Q], [[*A, *B], [*Q, *P]], b)],
    'region_distance': [lambda _, a, b, rows=rows: RegionDistance(a, P, rows, b)
                        for rows in REGIONS],
    'joint_coupling': [lambda robot, a, b: JointCoupling(last(robot), LINE[:len(last(robot))])],
    'joint_positions': [lambda robot, a, b: JointPositions(last(robot), {last(robot)[0]: 0.1}),
                        lambda robot, a, b: JointPositions()],
    'manipulability': [lambda _, a, b: Manipulability(a, b),
                       lambda _, a, b: Manipulability(a, b, 'orientation')],
    'minimum_distance': [lambda robot, a, b: MinimumDistance(two_spheres(robot, a, b), 5.0, 2)],
    'pair_distance': [lambda robot, a, b: PairDistance(two_spheres(robot, a, b), 'held', 'other')],
    'point_to_line_distance': [lambda _, a, b: PointToLineDistance(a, P, Q, A, b)],
    'point_to_plane': [lambda _, a, b: PointToPlane(a, P, Q, A, b)],
    'point_to_point_distance': [lambda _, a, b: PointToPointDistance(a, P, Q, b)],
    'support_polygon': [lambda _, a, b: SupportPolygon([P, Q, A], b),
                        lambda _, a, b: SupportPolygon([P, Q, A, B], b, B, [a])],
    'user_function': [lambda robot, a, b: UserFunction(scaled_joints, min(robot.nq, 2))],
}
