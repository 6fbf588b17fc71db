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
from ros2_ik.messages.request_error import error_context, invalid, RequestError
from ros2_ik.messages.scene_changes import check_size
from ros2_ik.messages.shapes import read_shapes
from ros2_ik.msg import Bounds, Function
from ros2_ik.srv import ComputeIK


def compute_ik_request(request: PositionIKRequest, scene: Scene, defaults: Defaults,
                       lookup: Lookup) -> ComputeIK.Request:
    """
    Return the ComputeIK request for a moveit_msgs/PositionIKRequest; raises IKError.

    As in MoveIt, `pose_stamped_vector` and `ik_link_names` take precedence over `pose_stamped` and
    `ik_link_name`, and the default link is the group's tip. Joints of the group that move none of
    these links are locked. Unlike in MoveIt, joints that also move another tip are not locked, the
    nanoseconds of `timeout` are used, and attached objects are used regardless of `is_diff`.
    """
    poses, links = list(request.pose_stamped_vector), list(request.ik_link_names)
    if not poses:
        poses, links = [request.pose_stamped], [request.ik_link_name]
    if len(poses) == 1:
        links = [link for link in links[:1] if link]
    elif len(links) != len(poses):
        raise RequestError(Status.INVALID_LINK_NAME,
                           f'{len(links)} ik_link_names for {len(poses)} poses')
    robot, locked = framed_robot(scene, links), frozenset[str]()
    if group := group_name(robot, request.group_name, defaults):
        tips = links or [tip_name(robot, group, defaults)]
        moving = (robot.moving_joints(link_name(robot, tip, 'link', scene)) for tip in tips)
        locked = frozenset(robot.group(group).joint_names).difference(*moving)
    return ComputeIK.Request(
        group=request.group_name, targets=poses, tips=links, seed=request.robot_state,
        locked_joints=sorted(locked),
        timeout=request.timeout, avoid_collisions=request.avoid_collisions,
        constraints=[function for functions in functions_of(request.constraints, scene, lookup)
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


def _joint(message: JointConstraint, *_: object) -> Iterator[Function]:
    if not (message.tolerance_above >= 0 and message.tolerance_below >= 0):
        raise invalid(f'tolerance_above is {message.tolerance_above:g}, tolerance_below '
                      f'{message.tolerance_below:g}; valid: from 0')
    yield function_message('joint_positions', Bounds(
        lower=[-message.tolerance_below], upper=[message.tolerance_above]),
        names=[message.joint_name], reference=[message.position])


def _position(message: PositionConstraint, scene: Scene, lookup: Lookup) -> Iterator[Function]:
    frame = reference(scene.robot, scene, message.header.frame_id, lookup)
    region = message.constraint_region
    with error_context('constraint_region'):
        check_size([region])
    # as in MoveIt, skip shapes without a pose
    regions = [(shape, frame.offset * pose) for shape, pose in read_shapes(region, 'hull') if pose]
    if not regions:
        raise invalid('constraint_region has no shape with a pose')
    offset = message.target_point_offset
    # the point must be in at least one region; the region of a mesh is its convex hull
    yield function_message(
        'region_distance', Bounds(upper=[0.0]), frame=_link(message.link_name, scene),
        relative_to=frame.frame or '', point=[offset.x, offset.y, offset.z],
        surfaces=region_surfaces(regions).tolist())


def _orientation(message: OrientationConstraint, scene: Scene,
                 lookup: Lookup) -> Iterator[Function]:
    frame = reference(scene.robot, scene, message.header.frame_id, lookup)
    R = placement(Point(), message.orientation, 'orientation').rotation
    tolerance = [abs(getattr(message, f'absolute_{axis}_axis_tolerance')) for axis in 'xyz']
    if math.isnan(sum(tolerance)):
        raise invalid(f'absolute tolerances are {tolerance}; valid: numbers')
    # as in MoveIt, the sign of a tolerance is ignored, and pi or more leaves the axis free
    tolerance = [number if number < math.pi else math.inf for number in tolerance]
    fields: dict[str, object]
    if message.parameterization == OrientationConstraint.XYZ_EULER_ANGLES:
        fields = {'form': 'euler', 'reference': _rotation(frame.offset.rotation @ R)}
    elif message.parameterization == OrientationConstraint.ROTATION_VECTOR:
        # the rotation vector is in the axes of the header's frame, not in those of `orientation`
        fields = {'reference': _rotation(frame.offset.rotation), 'offset': _rotation(R.T)}
    else:
        raise invalid(f'parameterization is {message.parameterization}; valid: XYZ_EULER_ANGLES '
                      '0, ROTATION_VECTOR 1')
    yield function_message('frame_orientation', Bounds(
        lower=[-number for number in tolerance], upper=tolerance),
        frame=_link(message.link_name, scene), relative_to=frame.frame or '',
        **fields)


def _visibility(message: VisibilityConstraint, scene: Scene,
                lookup: Lookup) -> Iterator[Function]:
    if message.target_radius != 0:
        raise invalid(f'target_radius is {message.target_radius:g}: obstacles in the line of '
                      'sight are not checked; valid: 0')
    if message.sensor_view_direction > 2:
        raise invalid(f'sensor_view_direction is {message.sensor_view_direction}; valid: SENSOR_Z '
                      '0, SENSOR_Y 1, SENSOR_X 2')
    if not (message.max_range_angle >= 0 and message.max_view_angle >= 0):
        raise invalid(f'max_range_angle is {message.max_range_angle}, max_view_angle '
                      f'{message.max_view_angle}; valid: from 0 [rad]')
    at_sensor = reference(scene.robot, scene, message.sensor_pose.header.frame_id, lookup)
    at_target = reference(scene.robot, scene, message.target_pose.header.frame_id, lookup)
    sensor = at_sensor.offset * read_pose(message.sensor_pose.pose, 'sensor_pose')
    target = at_target.offset * read_pose(message.target_pose.pose, 'target_pose')
    axis = sensor.rotation[:, 2 - message.sensor_view_direction].tolist()
    frames = {'frame': at_sensor.frame or scene.robot.root_frame,
              'relative_to': at_target.frame or ''}
    # angle between the sensor's axis and the line of sight; above pi/2, the target is behind the
    # sensor, and never visible
    if message.max_range_angle != 0:
        yield function_message(
            'gaze_angle', Bounds(upper=[min(message.max_range_angle, math.pi / 2)]), axis=axis,
            origin=sensor.translation.tolist(), target=target.translation.tolist(), **frames)
    # angle between the sensor's axis and the target's -z axis
    if message.max_view_angle != 0:
        yield function_message(
            'angle_between_vectors', Bounds(upper=[min(message.max_view_angle, math.pi / 2)]),
            vector=axis, other_vector=(-target.rotation[:, 2]).tolist(), **frames)


def _link(name: str, scene: Scene) -> str:
    return link_name(framed_robot(scene, [name]), name, 'link_name', scene)


def _rotation(R: Array) -> list[float]:
    """Convert a rotation (3, 3) to x y z qx qy qz qw with x = y = z = 0, for function_message."""
    return list(pin.SE3ToXYZQUAT(pin.SE3(R, pin.SE3.Identity().translation)).tolist())
