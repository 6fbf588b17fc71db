"""Conversion of scenes to markers for RViz."""

from collections.abc import Iterator

from geometry_msgs.msg import Point
import pinocchio as pin
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

from ros2_ik.core import (
    Array,
    Box,
    ConvexHull,
    Cylinder,
    OcTree,
    Scene,
    SceneObject,
    Shape,
    Sphere,
)
from ros2_ik.messages.poses import fill_pose

MAX_DRAWN_TRIANGLES = 20_000    # a mesh of more triangles is drawn as its hull


def scene_markers(scene: Scene) -> MarkerArray:
    """
    Return markers of all objects of a scene; they replace all markers published before.

    The namespace is the object's id, with ' (attached)' appended for attached objects. World
    objects are in the root frame, attached objects in the frame of the link that moves them.
    """
    # without a stamp, RViz uses the newest transform
    header = Header(frame_id=scene.robot.root_frame)
    markers = [Marker(header=header, action=Marker.DELETEALL)]
    for item in scene.objects.values():
        markers += _markers(item, header, item.drawn_color(), item.id)
    # the ids of a world object and an attached object may be equal
    for body in scene.attached.values():
        markers += _markers(body.object, Header(frame_id=body.link),
                            body.object.drawn_color(attached=True), f'{body.id} (attached)')
    return MarkerArray(markers=markers)


def _markers(item: SceneObject, header: Header, color: tuple[float, ...],
             name: str) -> Iterator[Marker]:
    r, g, b, a = color
    for number, part in enumerate(item.parts):
        yield shape_marker(part.shape, item.pose * part.pose, header=header, ns=name, id=number,
                           color=ColorRGBA(r=r, g=g, b=b, a=a), frame_locked=True)


def shape_marker(shape: Shape, pose: pin.SE3, **fields: object) -> Marker:
    """Return a marker of a shape at a pose (pinocchio.SE3); a plane is drawn as a finite sheet."""
    marker = Marker(action=Marker.ADD, **fields)
    size: tuple[float, ...] = (1.0, 1.0, 1.0)
    if isinstance(shape, Box):
        marker.type, size = Marker.CUBE, tuple(shape.size)
    elif isinstance(shape, Sphere):
        marker.type, size = Marker.SPHERE, (2 * shape.radius,) * 3
    elif isinstance(shape, Cylinder):
        marker.type, size = Marker.CYLINDER, (2 * shape.radius, 2 * shape.radius, shape.length)
    elif isinstance(shape, OcTree):
        marker.type, size = Marker.CUBE_LIST, (shape.resolution,) * 3
        marker.points = _points(shape.cells)
    else:
        vertices, faces = shape.surface()
        if len(faces) > MAX_DRAWN_TRIANGLES:
            vertices, faces = ConvexHull(vertices).surface()
        marker.type, marker.points = Marker.TRIANGLE_LIST, _points(vertices[faces].reshape(-1, 3))
    marker.scale.x, marker.scale.y, marker.scale.z = (float(length) for length in size)
    fill_pose(marker.pose, pose)
    return marker


def _points(points: Array) -> list[Point]:
    return [Point(x=x, y=y, z=z) for x, y, z in points.tolist()]
