"""Conversion of MoveIt's requests and constraints to those of ComputeIK."""

from collections.abc import Callable, Iterator
import math

from geometry_msgs.msg import Point
from moveit_msgs.msg import (
    Constraints,
    JointConstraint,
    OrientationConstraint,
    PositionConstraint,
    PositionIKRequest,
    VisibilityConstraint,
)
import pinocchio as pin

from ros2_ik.core import Array, region_surfaces, Scene, Status
from ros2_ik.core.internals import Defaults
from ros2_ik.messages.constraints import function_message
from ros2_ik.messages.frames import (
    framed_robot,
    group_name,
    link_name,
    Lookup,
    reference,
    tip_name,
)
from ros2_ik.messages.poses import placement, read_pose
from ros2_ik.messages.request_error import error_context, RequestError, wrong
from ros2_ik.messages.scene_changes import check_size
from ros2_ik.messages.shapes import read_shapes
from ros2_ik.msg import Bounds, Function
from ros2_ik.srv import ComputeIK


def compute_ik_request(asked: PositionIKRequest, scene: Scene, defaults: Defaults,
                       lookup: Lookup) -> ComputeIK.Request:
    """
    Return the ComputeIK request for a moveit_msgs/PositionIKRequest; raises IKError.

    As in MoveIt, `pose_stamped_vector` and `ik_link_names` take precedence over `pose_stamped` and
    `ik_link_name`, and the default link is the group's tip. Joints of the group that move no named
    link are locked. Unlike in MoveIt, joints that move both named and other tips may move, the
    nanoseconds of `timeout` are used, and attached objects are used regardless of `is_diff`.
    """
    poses, links = list(asked.pose_stamped_vector), list(asked.ik_link_names)
    if not poses:
        poses, links = [asked.pose_stamped], [asked.ik_link_name]
    if len(poses) == 1:
        links = [link for link in links[:1] if link]
    elif len(links) != len(poses):
        raise RequestError(Status.INVALID_LINK_NAME,
                           f'{len(links)} ik_link_names for {len(poses)} poses')
    robot, locked = framed_robot(scene, links), frozenset[str]()
    if group := group_name(robot, asked.group_name, defaults):
        tips = links or [tip_name(robot, group, defaults)]
        moving = (robot.moving_joints(link_name(robot, tip, 'link', scene)) for tip in tips)
        locked = frozenset(robot.group(group).joint_names).difference(*moving)
    return ComputeIK.Request(
        group=asked.group_name, targets=poses, tips=links, seed=asked.robot_state,
        locked_joints=sorted(locked),
        timeout=asked.timeout, avoid_collisions=asked.avoid_collisions,
        constraints=[function for functions in functions_of(asked.constraints, scene, lookup)
                     for function in functions])


def functions_of(constraints: Constraints, scene: Scene,
                 lookup: Lookup) -> Iterator[list[Function]]:
    """
    Convert moveit_msgs/Constraints: yield the Function messages of each constraint.

    All bounds are hard; weights are ignored, as in MoveIt. Raises IKError.
    """
    kinds: dict[str, Callable[..., Iterator[Function]]] = {
        'joint_constraints': _joint, 'position_constraints': _position,
        'orientation_constraints': _orientation, 'visibility_constraints': _visibility}
    for field, read in kinds.items():
        for index, constraint in enumerate(getattr(constraints, field)):
            with error_context(f'constraints.{field}[{index}]'):
                functions = list(read(constraint, scene, lookup))
            for function in functions:
                function.bounds.name = f'{field}[{index}]'
            yield functions


def _joint(asked: JointConstraint, *_: object) -> Iterator[Function]:
    if not (asked.tolerance_above >= 0 and asked.tolerance_below >= 0):
        raise wrong(f'tolerance_above is {asked.tolerance_above:g}, tolerance_below '
                    f'{asked.tolerance_below:g}; valid: from 0')
    yield function_message('joint_positions', Bounds(
        lower=[-asked.tolerance_below], upper=[asked.tolerance_above]),
        names=[asked.joint_name], reference=[asked.position])


def _position(asked: PositionConstraint, scene: Scene, lookup: Lookup) -> Iterator[Function]:
    frame = reference(scene.robot, scene, asked.header.frame_id, lookup)
    region = asked.constraint_region
    with error_context('constraint_region'):
        check_size([region])
    # MoveIt skips a shape without a pose
    regions = [(shape, frame.offset * pose) for shape, pose in read_shapes(region, 'hull') if pose]
    if not regions:
        raise wrong('constraint_region has no shape with a pose')
    offset = asked.target_point_offset
    # the point must be in at least one region; the region of a mesh is its convex hull
    yield function_message(
        'region_distance', Bounds(upper=[0.0]), frame=_link(asked, scene),
        relative_to=frame.frame or '', point=[offset.x, offset.y, offset.z],
        surfaces=region_surfaces(regions).tolist())


def _orientation(asked: OrientationConstraint, scene: Scene,
                 lookup: Lookup) -> Iterator[Function]:
    frame = reference(scene.robot, scene, asked.header.frame_id, lookup)
    R = placement(Point(), asked.orientation, 'orientation').rotation
    tolerance = [abs(getattr(asked, f'absolute_{axis}_axis_tolerance')) for axis in 'xyz']
    if math.isnan(sum(tolerance)):
        raise wrong(f'absolute tolerances are {tolerance}; valid: numbers')
    # as in MoveIt, the sign of a tolerance is ignored, and pi or more leaves the axis free
    tolerance = [number if number < math.pi else math.inf for number in tolerance]
    fields: dict[str, object]
    if asked.parameterization == OrientationConstraint.XYZ_EULER_ANGLES:
        fields = {'form': 'euler', 'reference': _rotation(frame.offset.rotation @ R)}
    elif asked.parameterization == OrientationConstraint.ROTATION_VECTOR:
        # the rotation vector is in the axes of the header's frame, not in those of `orientation`
        fields = {'reference': _rotation(frame.offset.rotation), 'offset': _rotation(R.T)}
    else:
        raise wrong(f'parameterization is {asked.parameterization}; valid: XYZ_EULER_ANGLES 0, '
                    'ROTATION_VECTOR 1')
    yield function_message('frame_orientation', Bounds(
        lower=[-number for number in tolerance], upper=tolerance),
        frame=_link(asked, scene), relative_to=frame.frame or '',
        **fields)


def _visibility(asked: VisibilityConstraint, scene: Scene,
                lookup: Lookup) -> Iterator[Function]:
    if asked.target_radius != 0:
        raise wrong(f'target_radius is {asked.target_radius:g}: obstacles in the line of sight '
                    'are not checked; valid: 0')
    if asked.sensor_view_direction > 2:
        raise wrong(f'sensor_view_direction is {asked.sensor_view_direction}; valid: SENSOR_Z 0, '
                    'SENSOR_Y 1, SENSOR_X 2')
    if not (asked.max_range_angle >= 0 and asked.max_view_angle >= 0):
        raise wrong(f'max_range_angle is {asked.max_range_angle}, max_view_angle '
                    f'{asked.max_view_angle}; valid: from 0 [rad]')
    at_sensor = reference(scene.robot, scene, asked.sensor_pose.header.frame_id, lookup)
    at_target = reference(scene.robot, scene, asked.target_pose.header.frame_id, lookup)
    sensor = at_sensor.offset * read_pose(asked.sensor_pose.pose, 'sensor_pose')
    target = at_target.offset * read_pose(asked.target_pose.pose, 'target_pose')
    axis = sensor.rotation[:, 2 - asked.sensor_view_direction].tolist()
    frames = {'frame': at_sensor.frame or scene.robot.root_frame,
              'relative_to': at_target.frame or ''}
    # angle between the sensor's axis and the line of sight; above pi/2, the target is behind the
    # sensor, and never visible
    if asked.max_range_angle != 0:
        yield function_message(
            'gaze_angle', Bounds(upper=[min(asked.max_range_angle, math.pi / 2)]), axis=axis,
            origin=sensor.translation.tolist(), target=target.translation.tolist(), **frames)
    # angle between the sensor's axis and the target's -z axis
    if asked.max_view_angle != 0:
        yield function_message(
            'angle_between_vectors', Bounds(upper=[min(asked.max_view_angle, math.pi / 2)]),
            vector=axis, other_vector=(-target.rotation[:, 2]).tolist(), **frames)


def _link(asked: PositionConstraint | OrientationConstraint, scene: Scene) -> str:
    return link_name(framed_robot(scene, [asked.link_name]), asked.link_name, 'link_name', scene)


def _rotation(R: Array) -> list[float]:
    """Convert a rotation (3, 3) to x y z qx qy qz qw with x = y = z = 0, for function_message."""
    values: list[float] = pin.SE3ToXYZQUAT(pin.SE3(R, pin.SE3.Identity().translation)).tolist()
    return values
