"""A session in RViz: a marker to drag at each tip, its menu, and the ghost of the answer."""

from collections.abc import Callable
from typing import Any

from geometry_msgs.msg import Pose
import numpy as np
import pinocchio as pin
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from visualization_msgs.msg import InteractiveMarkerFeedback, MarkerArray, MenuEntry

from ros2_ik.core import Array, Configuration, IKError, visual_elements
from ros2_ik.messages.poses import fill_pose, read_pose
from ros2_ik.view.goal_markers import (
    ghost_markers,
    handles,
    replacing_all,
    text_marker,
)
from ros2_ik.view.interactive_markers import InteractiveMarkers
from ros2_ik.view.session import Session
from ros2_ik.view.status import FROM_SEED, largest_change
from ros2_ik.view.worker import MOVE, Worker

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
POSES = (InteractiveMarkerFeedback.POSE_UPDATE, InteractiveMarkerFeedback.MOUSE_DOWN,
         InteractiveMarkerFeedback.MOUSE_UP)
SWITCHES = {'solve while dragging': 'solve_while_dragging', 'avoid collisions': 'avoid_collisions'}
CONSTRAINTS = LEVEL, LOW, GAZE = ('keep level', 'keep elbow low', 'look at a point')
ACTIONS = BACK, NEXT, EXECUTE, STOP = ('back to the arm', 'next solution', 'execute', 'stop')
MENU = dict(enumerate((*SWITCHES, *CONSTRAINTS, *ACTIONS), start=1))
LOOKED_AT = 'looked at'
FARTHEST = 1e6      # distance of a marker [m]; squares of larger numbers overflow
AHEAD = 0.4         # distance from the tip at which the point to look at appears [m]
MAX_TILT = 0.05     # of a tool that is kept level [rad]
MAX_GAZE = 0.05     # angle between a tool's z axis and the ray to the point it looks at [rad]


class RvizGoals:
    """
    A session for any number of RViz, which all see and do the same.

    Its topics and its service are `name`/goals/*. Only the session's arm may spin the node.
    """

    def __init__(self, session: Session, node: Node, name: str,
                 ended: Callable[[], bool] = lambda: False) -> None:
        self._session, self._ended = session, ended
        self._worker = Worker(session, self._show)
        self._markers = InteractiveMarkers(node, f'{name}/goals', self._take,
                                           lambda feedback: _chosen(feedback) == STOP)
        self._ghost = node.create_publisher(MarkerArray, f'{name}/goals/ghost', LATCHED)
        self._visuals = visual_elements(session.robot)
        self._constraints: dict[tuple[str, str], dict[str, Any]] = {}    # by title and tip
        self._marker_at: dict[str, Array] = {}
        self._shown = session.answer, ''    # answer and text
        self._actions = {BACK: self._back, NEXT: session.next_solution,
                         EXECUTE: session.move_there}

    def run(self) -> None:
        """Serve until it has `ended`."""
        self._session.step()
        self._session.back_to_robot()
        self._show_handles()
        self._worker.post(self._back)
        try:
            self._worker.run()
        finally:
            self._markers.show([])
            self._ghost.publish(replacing_all(self._session.robot, []))

    # -- the menu --------------------------------------------------------------------------

    def _is_on(self, title: str, tip: str) -> bool:
        return bool(getattr(self._session, SWITCHES[title])) if title in SWITCHES else (
            (title, tip) in self._constraints)

    def _toggle(self, title: str, tip: str) -> None:
        """Switch a constraint on a tip on or off."""
        problem, key = self._session.problem, (title, tip)
        if self._constraints.pop(key, None) is None:
            content = {LEVEL: self._level, LOW: self._low, GAZE: self._gaze}[title](tip)
            self._constraints[key] = {'frame': tip, **content}
        turns = {tip for title, tip in self._constraints if title != LOW}
        problem.rest = {'constraints': list(self._constraints.values()), 'weights': [
            weight for tip in problem.targets for weight in (
                1.0, 1.0, 1.0, *[0.0 if tip in turns else 1.0] * 3)]}

    def _level(self, tip: str) -> dict[str, object]:
        up = self._session.problem.targets[tip][2, :3]    # the world's z axis in the tip's frame
        return {'kind': 'angle_between_vectors', 'vector': up.tolist(),
                'other_vector': [0.0, 0.0, 1.0], 'bounds': {'upper': [MAX_TILT]}}

    def _low(self, tip: str) -> dict[str, object]:
        robot, answer = self._session.robot, self._session.answer
        moving = robot.moving_joints(tip)
        chain = [name for name in robot.joint_names if name in moving]
        elbow = chain[len(chain) // 2]
        at = Configuration(robot, self._session.arm.q if answer is None else answer.q)
        return {'kind': 'frame_position', 'frame': elbow, 'axes': 'z',
                'bounds': {'upper': [float(at.transform(elbow)[2, 3])]}}

    def _gaze(self, tip: str) -> dict[str, object]:
        T, others = self._session.problem.targets[tip], self._gazes()
        point = others[0]['target'] if others else (T[:3, 3] + AHEAD * T[:3, 2]).tolist()
        return {'kind': 'gaze_angle', 'origin': [0.0, 0.0, 0.0], 'axis': [0.0, 0.0, 1.0],
                'target': point, 'bounds': {'upper': [MAX_GAZE]}}

    def _gazes(self) -> list[dict[str, Any]]:
        return [content for (title, _), content in self._constraints.items() if title == GAZE]

    # -- what people do --------------------------------------------------------------------

    def _take(self, feedback: InteractiveMarkerFeedback) -> None:
        name, title = feedback.marker_name, _chosen(feedback)
        if title == STOP:
            self._worker.post_stop(self._session.stop)
        elif title and name in self._session.tips:
            self._worker.post(lambda: self._choose(title, name),
                              MOVE if title == EXECUTE else None)
        elif feedback.event_type in POSES:
            self._worker.post(lambda: self._drag(feedback), f'target {name}')

    def _choose(self, title: str, tip: str) -> None:
        session = self._session
        session.forget_refusal()
        if title in self._actions:
            self._actions[title]()
            return
        if title in SWITCHES:
            setattr(session, SWITCHES[title], not self._is_on(title, tip))
        else:
            self._toggle(title, tip)
        self._show_handles()
        session.solve(dragging=True)

    def _drag(self, feedback: InteractiveMarkerFeedback) -> None:
        session, name = self._session, feedback.marker_name
        T = _read_pose(feedback, session.robot.root_frame)
        released = feedback.event_type == InteractiveMarkerFeedback.MOUSE_UP
        session.forget_refusal()
        if name != LOOKED_AT:
            session.drag(name, T, released)
        elif gazes := self._gazes():    # else switched off meanwhile
            for content in gazes:
                content['target'] = T[:3, 3].tolist()
            self._markers.move(name, _pose(T))
            session.dragged(released)

    def _back(self) -> None:
        self._session.back_to_robot()
        self._session.solve(dragging=True)

    # -- what people see -------------------------------------------------------------------

    def _show_handles(self) -> None:
        robot, problem = self._session.robot, self._session.problem
        shown = [handles(tip, robot.root_frame, _pose(T), self._menu_of(tip))
                 for tip, T in problem.targets.items()]
        for content in self._gazes()[:1]:
            point = pin.SE3(np.eye(3), np.array(content['target']))
            shown.append(handles(LOOKED_AT, robot.root_frame, _pose(point.homogeneous),
                                 turns=False))
        self._markers.show(shown)
        self._marker_at = dict(problem.targets)

    def _menu_of(self, tip: str) -> list[MenuEntry]:
        boxes = {title: '[x] ' if self._is_on(title, tip) else '[ ] '
                 for title in (*SWITCHES, *CONSTRAINTS)}
        return [MenuEntry(id=number, title=boxes.get(title, '') + title,
                          command_type=MenuEntry.FEEDBACK) for number, title in MENU.items()]

    def _show(self, all_of_it: bool) -> None:
        if self._ended():
            self._worker.end()
        session, moved = self._session, False
        for tip, T in session.problem.targets.items():
            if T is not self._marker_at[tip]:
                self._markers.move(tip, _pose(T))
                self._marker_at[tip], moved = T, True
        answer, text = self._shown
        if moved or answer is not session.answer or all_of_it and text != self._text():
            self._show_answer()

    def _text(self) -> str:
        session = self._session
        lines = [FROM_SEED.sub('', session.status)]
        if session.answer is not None:
            lines.append(largest_change(session.robot, session.arm.q, session.answer.q))
        return '\n'.join(lines)

    def _show_answer(self) -> None:
        session = self._session
        robot, targets, answer, text = (
            session.robot, session.problem.targets, session.answer, self._text())
        markers = [text_marker(text, next(iter(targets.values()))[:3, 3])]
        if answer is not None:
            markers += ghost_markers(robot, self._visuals, answer)
        self._ghost.publish(replacing_all(robot, markers))
        self._shown = answer, text


def _chosen(feedback: InteractiveMarkerFeedback) -> str:
    """Return the title of the menu's entry that was chosen, '' for other feedback."""
    return MENU.get(feedback.menu_entry_id, '') if (
        feedback.event_type == InteractiveMarkerFeedback.MENU_SELECT) else ''


def _read_pose(feedback: InteractiveMarkerFeedback, root_frame: str) -> Array:
    """Return the pose (4, 4) to which a marker was dragged; raises IKError."""
    what, frame = f"the pose of marker '{feedback.marker_name}'", feedback.header.frame_id
    # RViz answers in the marker's own frame, as its stamp is 0
    if frame.removeprefix('/') not in ('', root_frame):
        raise IKError(f"{what} is in frame '{frame}'; valid: that of the marker, '{root_frame}'")
    T = np.array(read_pose(feedback.pose, what).homogeneous)
    if np.abs(T[:3, 3]).max() > FARTHEST:
        raise IKError(f'{what} is further away than {FARTHEST:g} m')
    return T


def _pose(T: Array) -> Pose:
    pose = Pose()
    fill_pose(pose, pin.SE3(T))
    return pose
