"""A session in RViz: an interactive marker with a menu for each tip, and the ghost."""

from collections.abc import Callable

from geometry_msgs.msg import Pose
import numpy as np
import pinocchio as pin
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from visualization_msgs.msg import InteractiveMarkerFeedback, Marker, MarkerArray, MenuEntry

from ros2_ik.core import Array, IKError
from ros2_ik.core.internals import visual_elements
from ros2_ik.messages.poses import fill_pose, read_pose
from ros2_ik.view.goal_markers import ghost_markers, handles, replacing_all, text_marker
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
MAX_DISTANCE = 1e6  # largest distance of a marker from the root frame [m]


class RvizGoals:
    """
    A session for any number of RViz instances, which show and control the same state.

    Topics and the service are `name`/goals/*. Only the session's arm may spin the node.
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
        self._session.forget_refusal()
        self._actions[title]()

    def _switch_collisions(self) -> None:
        self._session.avoid_collisions = not self._session.avoid_collisions
        # the menu has the new state of the check box
        self._show_handles()
        self._session.solve(dragging=True)

    def _drag(self, feedback: InteractiveMarkerFeedback) -> None:
        T = _read_pose(feedback, self._session.robot.root_frame)
        self._session.forget_refusal()
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
        targets = session.problem.targets
        self._markers.show([handles(tip, session.robot.root_frame, _pose(T), menu)
                            for tip, T in targets.items()])
        self._marker_at = dict(targets)

    def _show(self) -> None:
        if self._ended():
            self._worker.end()
        session, moved = self._session, False
        # move markers whose target changed; in RViz they would snap back otherwise
        for tip, T in session.problem.targets.items():
            if T is not self._marker_at[tip]:
                self._markers.move(tip, _pose(T))
                self._marker_at[tip], moved = T, True
        answer, status = self._shown
        if moved or answer is not session.answer or status != session.status:
            self._show_answer()

    def _show_answer(self) -> None:
        session, answer = self._session, self._session.answer
        robot, targets = session.robot, session.problem.targets
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
    # RViz reports poses in the marker's own frame, because the marker's stamp is 0
    if frame.removeprefix('/') not in ('', root_frame):
        raise IKError(f"{what} is in frame '{frame}'; valid: the marker's frame '{root_frame}'")
    T = np.array(read_pose(feedback.pose, what).homogeneous)
    if np.abs(T[:3, 3]).max() > MAX_DISTANCE:
        raise IKError(f'{what} is further away than {MAX_DISTANCE:g} m')
    return T


def _pose(T: Array) -> Pose:
    pose = Pose()
    fill_pose(pose, pin.SE3(T))
    return pose
