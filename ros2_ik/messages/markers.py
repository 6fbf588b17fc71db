"""Scenes as markers for RViz."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from geometry_msgs.msg import Point
import numpy as np
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

from ros2_ik.core import (
    Array,
    Box,
    ConvexHull,
    Cylinder,
    HalfSpace,
    OcTree,
    Plane,
    Scene,
    SceneObject,
    Shape,
    Sphere,
)
from ros2_ik.messages.poses import fill_pose
from ros2_ik.messages.shapes import triangles

WORLD, ATTACHED = (0.55, 0.6, 0.55, 1.0), (0.65, 0.4, 0.75, 1.0)   # of what has no colour
SHEET = 4.0              # edge of the part of a plane that is shown [m]
MOST_TRIANGLES = 20_000  # of a larger mesh its hull is shown


Made = dict[tuple[str, str], tuple[SceneObject, list[Marker]]]   # by id and frame


def scene_markers(scene: Scene, made: Made) -> MarkerArray:
    """
    Make markers that replace all earlier ones, in the root frame.

    The namespace is the object's id. Attached objects are in the frame of their link and move
    with it in RViz. `made` keeps what stays the same for the next scene.
    """
    header = Header(frame_id=scene.robot.root_frame)   # no stamp: the newest transform counts
    shown = [(item, header, WORLD) for item in scene.objects.values()]
    shown += [(held.object, Header(frame_id=held.link), ATTACHED)
              for held in scene.attached.values()]
    before = dict(made)
    made.clear()
    for item, place, usual in shown:
        key = item.id, place.frame_id
        kept = before.get(key)
        made[key] = kept if kept and kept[0] is item else (item, list(_markers(item, place,
                                                                               usual)))
    markers = [Marker(header=header, action=Marker.DELETEALL)]
    return MarkerArray(markers=[*markers, *chain.from_iterable(each for _, each in
                                                               made.values())])


def _markers(item: SceneObject, header: Header, usual: Any) -> Iterator[Marker]:
    r, g, b, a = item.color if item.color and item.color[3] > 0 else usual
    for number, part in enumerate(item.parts):
        marker = Marker(header=header, ns=item.id, id=number, action=Marker.ADD,
                        color=ColorRGBA(r=r, g=g, b=b, a=a), frame_locked=True)
        fill_pose(marker.pose, item.pose * part.pose)
        _fill(marker, part.shape, item.pose * part.pose)
        yield marker


def _fill(marker: Marker, shape: Shape, pose: Any) -> None:
    if isinstance(shape, Box):
        _simple(marker, Marker.CUBE, shape.size)
    elif isinstance(shape, Sphere):
        _simple(marker, Marker.SPHERE, [2 * shape.radius] * 3)
    elif isinstance(shape, Cylinder):
        _simple(marker, Marker.CYLINDER, [2 * shape.radius, 2 * shape.radius, shape.length])
    elif isinstance(shape, (Plane, HalfSpace)):
        _sheet(marker, shape, pose)
    elif isinstance(shape, OcTree):
        _simple(marker, Marker.CUBE_LIST, [shape.resolution] * 3)
        marker.points = _points(shape.cells)
    else:
        _triangles(marker, shape)


def _simple(marker: Marker, kind: int, size: Any) -> None:
    marker.type = kind
    marker.scale.x, marker.scale.y, marker.scale.z = (float(length) for length in size)


def _sheet(marker: Marker, shape: Any, pose: Any) -> None:
    """Show a part of a plane as a thin box round the point of it that is nearest the origin."""
    normal = np.array(shape.normal)
    other = np.eye(3)[int(np.abs(normal).argmin())]
    x = np.cross(other, normal)
    x /= np.linalg.norm(x)
    turned = pose.copy()
    turned.rotation = pose.rotation @ np.column_stack([x, np.cross(normal, x), normal])
    turned.translation = pose.act(normal * shape.offset)
    fill_pose(marker.pose, turned)
    _simple(marker, Marker.CUBE, [SHEET, SHEET, 1e-3])


def _triangles(marker: Marker, shape: Shape) -> None:
    vertices, faces = triangles(shape)
    if len(faces) > MOST_TRIANGLES:
        vertices, faces = triangles(ConvexHull(vertices))
    _simple(marker, Marker.TRIANGLE_LIST, [1.0] * 3)
    marker.points = _points(vertices[faces].reshape(-1, 3))


def _points(points: Array) -> list[Point]:
    return [Point(x=x, y=y, z=z) for x, y, z in points.tolist()]
