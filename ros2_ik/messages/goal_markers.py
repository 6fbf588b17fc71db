"""What goals to drag look like in RViz: handles, the ghost of the answer, and what is said."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
import math
from textwrap import wrap
from typing import Any, NamedTuple

from geometry_msgs.msg import Point, Pose, Quaternion, Vector3
import numpy as np
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import (
    InteractiveMarker,
    InteractiveMarkerControl,
    Marker,
    MarkerArray,
    MenuEntry,
)

from ros2_ik.core import Configuration, GeometryElement, ReachSphere, Robot, Shape
from ros2_ik.messages.markers import shape_marker
from ros2_ik.messages.poses import fill_pose

REACHED, TOUCHING, MISSED = (0.2, 0.8, 0.3), (1.0, 0.6, 0.1), (0.9, 0.2, 0.2)
GHOST = 0.5                     # how much of the ghost is to be seen
RING, WIDTH = 72, 0.005         # lines in a ring of the sphere of reach, and how wide they are [m]
CONTACT = 0.03                  # diameter of a contact [m]
LETTERS, ABOVE = 0.05, 0.45     # height of the text; above the tip, its name and its handles [m]
SPACE = 0.03                    # width of a space: RViz makes it 1.3 m if it is not told [m]
LINE = 40                       # letters in a line of it
SCALE = 0.25                    # of handles [m]
BALL = 0.06                     # to take hold of, and to open the menu [m]
HALF = math.sqrt(0.5)
AXES = {'x': (HALF, 0.0, 0.0), 'y': (0.0, 0.0, HALF), 'z': (0.0, HALF, 0.0)}


class Shown(NamedTuple):
    """
    What there is to see of an answer.

    `joints` are the ghost's; `contacts` are points (3,) [m]; `reach` is drawn where
    a target is outside it.
    """

    joints: Mapping[str, Any]
    color: tuple[float, float, float]
    text: str
    above: np.ndarray
    contacts: Sequence[np.ndarray]
    reach: ReachSphere | None


def shown_markers(robot: Robot, looks: Sequence[GeometryElement], shown: Shown) -> MarkerArray:
    """Return the markers of an answer, in the robot's root frame, in place of those before."""
    header = Header(frame_id=robot.root_frame)
    markers = [Marker(header=header, action=Marker.DELETEALL)]
    for number, (space, marker) in enumerate(_all(robot, looks, shown)):
        marker.header, marker.ns, marker.id, marker.frame_locked = header, space, number, True
        markers.append(marker)
    return MarkerArray(markers=markers)


def _all(robot: Robot, looks: Sequence[GeometryElement], shown: Shown
         ) -> Iterator[tuple[str, Marker]]:
    at = Configuration(robot, robot.to_q(shown.joints))
    for visual in looks:
        pose, color = at.placement(visual.link) * visual.in_link, _color(shown.color, GHOST)
        if isinstance(visual.shape, Shape):
            yield 'ghost', shape_marker(visual.shape, pose, color=color)
        else:
            marker = _marker(Marker.MESH_RESOURCE, visual.shape.scale, color=color,
                             mesh_resource=visual.shape.path.as_uri())
            fill_pose(marker.pose, pose)
            yield 'ghost', marker
    lines = [line for part in shown.text.splitlines() for line in wrap(part, LINE)]
    text = Marker(type=Marker.TEXT_VIEW_FACING, action=Marker.ADD, text='\n'.join(lines),
                  color=_color((1.0, 1.0, 1.0), 1.0))
    text.scale.x, text.scale.z = SPACE, LETTERS
    _put(text, shown.above + [0.0, 0.0, ABOVE + LETTERS * len(lines) / 2])
    yield 'text', text
    for point in shown.contacts:
        marker = _marker(Marker.SPHERE, [CONTACT] * 3, color=_color((1.0, 0.0, 0.0), 1.0))
        _put(marker, point)
        yield 'contacts', marker
    if shown.reach:
        yield 'reach', _rings(shown.reach.centre, shown.reach.radius)


def _rings(centre: np.ndarray, radius: float) -> Marker:
    """Return a sphere as rings: what is behind a face cannot be dragged."""
    angles = np.linspace(0.0, 2 * np.pi, RING + 1)
    ring = radius * np.stack([np.cos(angles), np.sin(angles), np.zeros(RING + 1)], axis=1)
    rings = [np.roll(ring, shift, axis=1) for shift in range(3)]
    ends = np.concatenate([np.hstack([each[:-1], each[1:]]).reshape(-1, 3) for each in rings])
    marker = _marker(Marker.LINE_LIST, [WIDTH, 0.0, 0.0], color=_color((0.9, 0.2, 0.2), 1.0),
                     points=[Point(x=x, y=y, z=z) for x, y, z in ends.tolist()])
    _put(marker, centre)
    return marker


def _marker(kind: int, size: Iterable[float], **fields: Any) -> Marker:
    x, y, z = (float(length) for length in size)
    return Marker(type=kind, action=Marker.ADD, scale=Vector3(x=x, y=y, z=z), **fields)


def _color(rgb: tuple[float, float, float], alpha: float) -> ColorRGBA:
    r, g, b = rgb
    return ColorRGBA(r=r, g=g, b=b, a=alpha)


def _put(marker: Marker, point: np.ndarray) -> None:
    x, y, z = point.tolist()
    marker.pose.position, marker.pose.orientation = Point(x=x, y=y, z=z), Quaternion(w=1.0)


def handles(name: str, frame_id: str, pose: Pose, menu: Sequence[MenuEntry] = (),
            turns: bool = True) -> InteractiveMarker:
    """Return a marker to drag along and, unless it is a point, about its own axes; with a menu."""
    marker = InteractiveMarker(header=Header(frame_id=frame_id), pose=pose, name=name,
                               description=name, scale=SCALE, menu_entries=list(menu))
    control = InteractiveMarkerControl
    modes = {'move': control.MOVE_AXIS} | ({'turn': control.ROTATE_AXIS} if turns else {})
    for axis, (x, y, z) in AXES.items():
        for kind, mode in modes.items():
            marker.controls.append(control(name=f'{kind} {axis}', interaction_mode=mode,
                                           orientation=Quaternion(w=HALF, x=x, y=y, z=z)))
    marker.controls.append(_ball(control.MOVE_ROTATE_3D if turns else control.MOVE_3D))
    return marker


def _ball(mode: int) -> InteractiveMarkerControl:
    ball = _marker(Marker.SPHERE, [BALL] * 3, color=_color((0.3, 0.6, 1.0), 0.8))
    return InteractiveMarkerControl(name='ball', interaction_mode=mode, always_visible=True,
                                    markers=[ball])
