"""Markers for RViz: handles of a goal, the ghost of an answer, and a text."""

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
from ros2_ik.view.arm import Answer

GHOST_OPACITY = 0.5
CONTACT = Sphere(0.015)         # shape that marks a contact [m]
LETTER_HEIGHT = 0.05            # height of the text's letters [m]
TEXT_DISTANCE = 0.45            # distance of the text above the tip [m]
SPACE_WIDTH = 0.03              # width of a space, for which RViz's default is 1.3 m [m]
LINE_LENGTH = 40                # letters in a line of the text
SCALE = 0.25                    # size of the handles [m]
BALL = Sphere(0.03)             # handle for free motion and for the menu [m]
COS_45 = math.sqrt(0.5)         # w of a quaternion of 90 degrees
# x y z of the quaternions that turn the x axis of a control to each axis of the marker
AXES = {'x': (COS_45, 0.0, 0.0), 'y': (0.0, 0.0, COS_45), 'z': (0.0, COS_45, 0.0)}


def ghost_markers(robot: Robot, visuals: Sequence[GeometryElement],
                  answer: Answer) -> Iterator[Marker]:
    """Yield the markers of an answer: the robot's visuals in one colour, and contacts."""
    at, color = Configuration(robot, answer.q), _color(answer.reached.value, GHOST_OPACITY)
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
    """Return the marker of a text above a point (3,) in the root frame."""
    lines = [line for part in text.splitlines() for line in wrap(part, LINE_LENGTH)]
    marker = Marker(type=Marker.TEXT_VIEW_FACING, action=Marker.ADD, text='\n'.join(lines),
                    color=_color((1.0, 1.0, 1.0), 1.0), ns='text')
    marker.scale.x, marker.scale.z = SPACE_WIDTH, LETTER_HEIGHT
    # RViz centres the text on the marker's position
    height = TEXT_DISTANCE + LETTER_HEIGHT * len(lines) / 2
    fill_pose(marker.pose, pin.SE3(np.eye(3), point + [0.0, 0.0, height]))
    return marker


def replacing_all(robot: Robot, markers: Iterable[Marker]) -> MarkerArray:
    """Return a message that replaces all markers shown before, in the robot's root frame."""
    header = Header(frame_id=robot.root_frame)
    array = MarkerArray(markers=[Marker(header=header, action=Marker.DELETEALL), *markers])
    # frame_locked: RViz updates the pose when the frame moves
    for number, marker in enumerate(array.markers):
        marker.header, marker.id, marker.frame_locked = header, number, True
    return array


def _color(rgb: tuple[float, float, float], alpha: float) -> ColorRGBA:
    r, g, b = rgb
    return ColorRGBA(r=r, g=g, b=b, a=alpha)


def handles(name: str, frame_id: str, pose: Pose, menu: Sequence[MenuEntry]) -> InteractiveMarker:
    """Return an interactive marker with handles along and about its own axes, and a menu."""
    marker = InteractiveMarker(header=Header(frame_id=frame_id), pose=pose, name=name,
                               description=name, scale=SCALE, menu_entries=list(menu))
    control = InteractiveMarkerControl
    for axis, (x, y, z) in AXES.items():
        for kind, mode in (('move', control.MOVE_AXIS), ('turn', control.ROTATE_AXIS)):
            marker.controls.append(control(name=f'{kind} {axis}', interaction_mode=mode,
                                           orientation=Quaternion(w=COS_45, x=x, y=y, z=z)))
    ball = shape_marker(BALL, pin.SE3.Identity(), color=_color((0.3, 0.6, 1.0), 0.8))
    marker.controls.append(control(name='ball', interaction_mode=control.MOVE_ROTATE_3D,
                                   always_visible=True, markers=[ball]))
    return marker
