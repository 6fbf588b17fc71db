"""A session in RViz: an interactive marker with a menu for each tip, and the ghost."""

from collections.abc import Callable, Iterable, Iterator, Sequence
import math
from textwrap import wrap

from geometry_msgs.msg import Pose, Quaternion, Vector3
import numpy as np
import pinocchio as pin
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import (
    InteractiveMarker,
    InteractiveMarkerControl,
    InteractiveMarkerFeedback,
    Marker,
    MarkerArray,
    MenuEntry,
)

from ros2_ik.core import Array, Configuration, IKError, Robot, Shape, Sphere
from ros2_ik.core.internals import GeometryElement, visual_elements
from ros2_ik.messages.markers import shape_marker
from ros2_ik.messages.poses import fill_pose, read_pose
from ros2_ik.view.arm import Answer
from ros2_ik.view.interactive_markers import InteractiveMarkers
from ros2_ik.view.session import Session
from ros2_ik.view.status import FROM_SEED, largest_change
from ros2_ik.view.worker import MOVE, Worker

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
POSES = (InteractiveMarkerFeedback.POSE_UPDATE, InteractiveMarkerFeedback.MOUSE_DOWN,
         InteractiveMarkerFeedback.MOUSE_UP)
AVOID, BACK, NEXT, EXECUTE, STOP = TITLES = (
    'avoid collisions', 'back to the arm', 'next solution', 'execute', 'stop')
MENU = dict(enumerate(TITLES, start=1))
GHOST_OPACITY = 0.5
CONTACT_SHAPE = Sphere(0.015)         # shape that marks a contact [m]
LETTER_HEIGHT = 0.05            # height of the text's letters [m]
TEXT_DISTANCE = 0.45            # distance of the text above the first target [m]
SPACE_WIDTH = 0.03              # width of a space [m]; RViz's default is 1.3 m
LINE_LENGTH = 40                # maximum number of letters in a line
SCALE = 0.25                    # size of the handles [m]
BALL = Sphere(0.03)             # handle for free motion and for the menu [m]
COS_45 = math.sqrt(0.5)         # w of the quaternion of a rotation by 90 degrees
# x y z of the quaternions that align a control's x axis with each axis of the marker (-z for z)
AXES = {'x': (COS_45, 0.0, 0.0), 'y': (0.0, 0.0, COS_45), 'z': (0.0, COS_45, 0.0)}


class RvizGoals:
    """
    A session for any number of RViz instances, which show and control the same state.

    The topics and the service are below `name`/goals/. Only the session's arm may spin the node.
    """

    def __init__(self, session: Session, node: Node, name: str,
                 ended: Callable[[], bool] = lambda: False) -> None:
        self._session, self._ended = session, ended
        self._worker = Worker(session, self._show)
        self._markers = InteractiveMarkers(node, f'{name}/goals', self._on_feedback)
        self._ghost = node.create_publisher(MarkerArray, f'{name}/goals/ghost', LATCHED)
        self._visuals = visual_elements(session.robot)
        self._marker_at: dict[str, Array] = {}    # poses (4, 4) of the markers by tip
        self._shown = session.answer, ''    # answer and status that RViz shows
        self._actions = {AVOID: self._switch_collisions, BACK: self._back,
                         NEXT: session.next_solution, EXECUTE: session.move_there}

    def run(self) -> None:
        """Serve until `ended()` is True."""
        # read joint_states first, so that the markers start at the robot's tips
        self._session.step()
        self._session.back_to_robot()
        self._show_handles()
        self._worker.post(self._back)
        try:
            self._worker.run()
        finally:
            self._ghost.publish(replacing_all(self._session.robot, []))
            self._markers.close()

    # -- events ----------------------------------------------------------------------------

    def _on_feedback(self, feedback: InteractiveMarkerFeedback) -> None:
        name, title = feedback.marker_name, ''
        if feedback.event_type == InteractiveMarkerFeedback.MENU_SELECT:
            title = MENU.get(feedback.menu_entry_id, '')
        if title == STOP:
            self._worker.post_stop(self._session.stop)
        elif title:
            self._worker.post(lambda: self._choose(title), MOVE if title == EXECUTE else None)
        elif feedback.event_type in POSES:
            self._worker.post(lambda: self._drag(feedback), f'target {name}')

    def _choose(self, title: str) -> None:
        self._session.clear_error()
        self._actions[title]()

    def _switch_collisions(self) -> None:
        self._session.avoid_collisions = not self._session.avoid_collisions
        # the menu shows the new state of the check box
        self._show_handles()
        self._session.solve(dragging=True)

    def _drag(self, feedback: InteractiveMarkerFeedback) -> None:
        T = _read_pose(feedback, self._session.robot.root_frame)
        self._session.clear_error()
        self._session.drag(feedback.marker_name, T,
                           feedback.event_type == InteractiveMarkerFeedback.MOUSE_UP)

    def _back(self) -> None:
        self._session.back_to_robot()
        self._session.solve(dragging=True)

    # -- display ---------------------------------------------------------------------------

    def _show_handles(self) -> None:
        session = self._session
        boxes = {AVOID: '[x] ' if session.avoid_collisions else '[ ] '}
        menu = [MenuEntry(id=number, title=boxes.get(title, '') + title,
                          command_type=MenuEntry.FEEDBACK) for number, title in MENU.items()]
        targets = session.targets
        self._markers.show([handles(tip, session.robot.root_frame, _pose(T), menu)
                            for tip, T in targets.items()])
        self._marker_at = dict(targets)

    def _show(self) -> None:
        if self._ended():
            self._worker.end()
        session, moved = self._session, False
        # send the poses of changed targets; otherwise RViz would move the markers back
        for tip, T in session.targets.items():
            if T is not self._marker_at[tip]:
                self._markers.move(tip, _pose(T))
                self._marker_at[tip], moved = T, True
        answer, status = self._shown
        if moved or answer is not session.answer or status != session.status:
            self._show_answer()

    def _show_answer(self) -> None:
        session, answer = self._session, self._session.answer
        robot, targets = session.robot, session.targets
        lines, markers = [FROM_SEED.sub('', session.status)], list[Marker]()
        if answer is not None:
            lines.append(largest_change(robot, session.arm.q, answer.q))
            markers = [*ghost_markers(robot, self._visuals, answer)]
        markers.append(text_marker('\n'.join(lines), next(iter(targets.values()))[:3, 3]))
        self._ghost.publish(replacing_all(robot, markers))
        self._shown = answer, session.status


def _read_pose(feedback: InteractiveMarkerFeedback, root_frame: str) -> Array:
    """Return the pose (4, 4) to which a marker was dragged; raises IKError."""
    what, frame = f"the pose of marker '{feedback.marker_name}'", feedback.header.frame_id
    # RViz reports poses in the frame of the marker's header, because the marker's stamp is 0
    if frame.removeprefix('/') not in ('', root_frame):
        raise IKError(f"{what} is in frame '{frame}'; valid: the marker's frame '{root_frame}'")
    return np.array(read_pose(feedback.pose, what).homogeneous)


def _pose(T: Array) -> Pose:
    pose = Pose()
    fill_pose(pose, pin.SE3(T))
    return pose


# -- markers -----------------------------------------------------------------------------------

def ghost_markers(robot: Robot, visuals: Sequence[GeometryElement],
                  answer: Answer) -> Iterator[Marker]:
    """Yield the markers of an answer: the robot's visuals in one colour, and contacts."""
    at, color = Configuration(robot, answer.q), _color(answer.quality.value, GHOST_OPACITY)
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
        yield shape_marker(CONTACT_SHAPE, pin.SE3(np.eye(3), np.array(contact.point)),
                           color=_color((1.0, 0.0, 0.0), 1.0), ns='contacts')


def text_marker(text: str, point: Array) -> Marker:
    """Return a marker that shows a text above a point (3,) in the root frame."""
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
