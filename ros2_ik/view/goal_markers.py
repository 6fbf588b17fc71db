"""Goals to drag as markers for RViz: handles, the ghost of an answer, and a text."""

from collections.abc import Iterable, Iterator, Sequence
import math
from textwrap import wrap

from geometry_msgs.msg import Pose, Quaternion, Vector3
import numpy as np
import pinocchio as pin
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import (
    InteractiveMarker,
    InteractiveMarkerControl,
    Marker,
    MarkerArray,
    MenuEntry,
)

from ros2_ik.core import Array, Configuration, Robot, Shape, Sphere
from ros2_ik.core.internals import GeometryElement
from ros2_ik.messages.markers import shape_marker
from ros2_ik.messages.poses import fill_pose
from ros2_ik.view.answer import Answer

GHOST = 0.5                     # opacity of the ghost
CONTACT = Sphere(0.015)         # marks a contact [m]
LETTERS, ABOVE = 0.05, 0.45     # height of the text; its distance above the tip [m]
SPACE = 0.03                    # width of a space, which is 1.3 m by RViz's default [m]
LINE = 40                       # letters in a line of the text
SCALE = 0.25                    # size of the handles [m]
BALL = Sphere(0.03)             # handle for free motion, and for the menu [m]
HALF = math.sqrt(0.5)
AXES = {'x': (HALF, 0.0, 0.0), 'y': (0.0, 0.0, HALF), 'z': (0.0, HALF, 0.0)}


def ghost_markers(robot: Robot, visuals: Sequence[GeometryElement],
                  answer: Answer) -> Iterator[Marker]:
    """Return the markers of an answer: the robot there in one colour, and contacts."""
    at, color = Configuration(robot, answer.q), _color(answer.reached.value, GHOST)
    for visual in visuals:
        pose = at.placement(visual.link) * visual.in_link
        if isinstance(visual.shape, Shape):
            yield shape_marker(visual.shape, pose, color=color, ns='ghost')
        else:
            x, y, z = (float(factor) for factor in visual.shape.scale)
            marker = Marker(type=Marker.MESH_RESOURCE, action=Marker.ADD, color=color, ns='ghost',
                            scale=Vector3(x=x, y=y, z=z),
                            mesh_resource=visual.shape.path.as_uri())
            fill_pose(marker.pose, pose)
            yield marker
    for contact in answer.contacts:
        yield shape_marker(CONTACT, pin.SE3(np.eye(3), np.array(contact.point)),
                           color=_color((1.0, 0.0, 0.0), 1.0), ns='contacts')


def text_marker(text: str, point: Array) -> Marker:
    """Return a text above a point (3,)."""
    lines = [line for part in text.splitlines() for line in wrap(part, LINE)]
    marker = Marker(type=Marker.TEXT_VIEW_FACING, action=Marker.ADD, text='\n'.join(lines),
                    color=_color((1.0, 1.0, 1.0), 1.0), ns='text')
    marker.scale.x, marker.scale.z = SPACE, LETTERS
    above = ABOVE + LETTERS * len(lines) / 2
    fill_pose(marker.pose, pin.SE3(np.eye(3), point + [0.0, 0.0, above]))
    return marker


def replacing_all(robot: Robot, markers: Iterable[Marker]) -> MarkerArray:
    """Return markers in the robot's root frame, in place of those before."""
    header = Header(frame_id=robot.root_frame)
    array = MarkerArray(markers=[Marker(header=header, action=Marker.DELETEALL), *markers])
    for number, marker in enumerate(array.markers):
        marker.header, marker.id, marker.frame_locked = header, number, True
    return array


def _color(rgb: tuple[float, float, float], alpha: float) -> ColorRGBA:
    r, g, b = rgb
    return ColorRGBA(r=r, g=g, b=b, a=alpha)


def handles(name: str, frame_id: str, pose: Pose, menu: Sequence[MenuEntry]) -> InteractiveMarker:
    """Return a marker to drag along and about its own axes, with a menu."""
    marker = InteractiveMarker(header=Header(frame_id=frame_id), pose=pose, name=name,
                               description=name, scale=SCALE, menu_entries=list(menu))
    control = InteractiveMarkerControl
    for axis, (x, y, z) in AXES.items():
        for kind, mode in (('move', control.MOVE_AXIS), ('turn', control.ROTATE_AXIS)):
            marker.controls.append(control(name=f'{kind} {axis}', interaction_mode=mode,
                                           orientation=Quaternion(w=HALF, x=x, y=y, z=z)))
    ball = shape_marker(BALL, pin.SE3.Identity(), color=_color((0.3, 0.6, 1.0), 0.8))
    marker.controls.append(control(name='ball', interaction_mode=control.MOVE_ROTATE_3D,
                                   always_visible=True, markers=[ball]))
    return marker
