"""Goals to drag, ~/goals: interactive markers, and the ghost of the answer."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion
import numpy as np
import pinocchio as pin
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import Header
from std_srvs.srv import Trigger
from visualization_msgs.msg import InteractiveMarkerFeedback, MarkerArray, MenuEntry

from ros2_ik.core import (
    Configuration,
    GeometryElement,
    Robot,
    sphere_of_reach,
    Status,
    visual_elements,
)
from ros2_ik.messages.dragged_goal import drag_requests, DraggedGoal, PATIENT
from ros2_ik.messages.goal_arms import elbow, goal_tips
from ros2_ik.messages.goal_markers import (
    handles,
    MISSED,
    REACHED,
    Shown,
    shown_markers,
    TOUCHING,
)
from ros2_ik.messages.poses import fill_pose, read_pose
from ros2_ik.messages.request_error import RequestError, wrong
from ros2_ik.messages.robot_states import fill_state, joint_values
from ros2_ik.node.endpoints.compute_ik import ComputeIK
from ros2_ik.node.endpoints.execute import Execute
from ros2_ik.node.endpoints.interactive_markers import InteractiveMarkers
from ros2_ik.node.endpoints.registry import Endpoint, timer
from ros2_ik.node.parameters import Parameters
from ros2_ik.node.state.current_state import CurrentState
from ros2_ik.srv import ComputeIK as ComputeIKService, Execute as ExecuteService

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
LOOK = 0.2          # between two looks for where the arm stands, until it is known [s]
TOLD = 25           # looks, after which it is told that it is not
SMALL = 0.1         # a target that is dragged by less has its answer near the last one [m, rad]
ALL = 8             # solutions that are gone through
LOOKED_AT = 'looked at'
STOP = 'stop'       # anybody's, at any time
FARTHEST = 1e6      # a marker, as an object of a scene [m]; squares of larger numbers overflow
AHEAD = 0.4         # of the tip the point is put to look at [m]
POSES = (InteractiveMarkerFeedback.POSE_UPDATE, InteractiveMarkerFeedback.MOUSE_DOWN,
         InteractiveMarkerFeedback.MOUSE_UP)


class _Entry(NamedTuple):
    """An entry of the menu: its title, what it does, and if it is a box whether it is on."""

    title: str
    do: Callable[[str], Any]
    is_on: Callable[[str], bool] | None = None


@dataclass(eq=False)
class _State:
    """What has been asked and answered."""

    goals: dict[str, DraggedGoal] = field(default_factory=dict)
    point: np.ndarray | None = None     # that is looked at
    joints: dict[str, Any] = field(default_factory=dict)    # of the last answer
    asked: dict[str, pin.SE3] = field(default_factory=dict)     # when it came
    holds: bool = False
    others: list[dict[str, Any]] = field(default_factory=list)


@dataclass(eq=False)
class InteractiveGoals(Endpoint, name='interactive_goals'):
    """
    A marker to drag for each tip, and the answer for where they are.

    Each drag is answered from the last answer on, by ~/compute_ik as from outside. While one
    is worked out only the newest drag waits. Nothing moves but by the menu.
    """

    node: Node
    parameters: Parameters
    current_state: CurrentState
    compute_ik: ComputeIK
    execute: Execute

    def __post_init__(self) -> None:
        self._markers = InteractiveMarkers(self.node, '~/goals', self._take, self._is_stop)
        self._ghost = self.node.create_publisher(MarkerArray, '~/goals/ghost', LATCHED)
        self._robot: Robot | None = None
        self._looks: tuple[GeometryElement, ...] = ()
        self._state = _State()
        self._continuous, self._collisions = True, True
        self._busy, self._again = False, False
        self._waiting: list[Callable[[], Any]] = []     # for the answer
        self._sought = 0    # times that was looked for where the arm stands
        self._menu = dict(enumerate(self._entries(), start=1))
        self._timer = timer(self.node, LOOK, self._begin)
        self._timer.cancel()

    def set_robot(self, robot: Robot) -> None:
        """Take another robot; its markers come as soon as it is known where it stands."""
        self._robot, self._looks = robot, visual_elements(robot)
        self._state = _State()
        self._waiting.clear()    # what was chosen for the answer of the robot before
        self._sought = 0
        self._markers.show([])
        self._timer.reset()

    def _entries(self) -> Iterator[_Entry]:
        yield _Entry('solve while dragging', self._toggle('_continuous'),
                     lambda _: self._continuous)
        yield _Entry('avoid collisions', self._toggle('_collisions'), lambda _: self._collisions)
        yield _Entry('keep level', self._keep_level, lambda tip: self._goal(tip).up is not None)
        yield _Entry('keep elbow low', self._keep_low, lambda tip: self._goal(tip).low is not None)
        yield _Entry('look at a point', self._look_at, lambda tip: self._goal(tip).looks)
        yield _Entry('back to the arm', lambda _: self._back())
        yield _Entry('next solution', lambda _: self._then(self._next))
        yield _Entry('execute', lambda _: self._then(self._move))
        yield _Entry(STOP, lambda _: self._start(
            self.execute.stop(Trigger.Request(), Trigger.Response())))

    def _goal(self, tip: str) -> DraggedGoal:
        return self._state.goals[tip]

    # -- what is shown to be dragged --------------------------------------------------------

    def _begin(self) -> None:
        """Put the markers where the arm is, once that is known."""
        robot = self._robot
        if robot is None or self._state.goals:
            self._timer.cancel()
            return
        known = self.current_state.known(robot)
        every = goal_tips(robot, self.parameters)
        tips = [tip for tip in every if robot.moving_joints(tip) <= {*known}]
        if not tips:
            self._sought += 1
            if known and self._sought == TOLD:
                self.node.get_logger().warning(
                    f'goals: nothing can be dragged: {self._lack(every)}')
            return
        self._timer.cancel()
        at = Configuration(robot, robot.to_q(known))
        self._state.goals = {tip: DraggedGoal(tip, pin.SE3(np.array(at.transform(tip))))
                             for tip in tips}
        self._back()

    def _lack(self, tips: Sequence[str]) -> str:
        """Return why none of the tips has a marker."""
        robot = self._robot
        assert robot is not None
        known = self.current_state.known(robot)
        if not tips:
            return ('the robot has several tips and no group with one: parameter default_tip '
                    'names one')
        names = ', '.join(sorted(robot.moving_joints(tips[0]) - {*known}))
        return f"joint_states do not have what moves '{tips[0]}': {names}"

    def _back(self) -> None:
        """Put the markers to where the arm stands."""
        robot = self._robot
        if robot is None:
            return
        known = self.current_state.known(robot)
        at = Configuration(robot, robot.to_q(known))
        for tip, goal in self._state.goals.items():
            goal.pose = pin.SE3(np.array(at.transform(tip)))
        self._state.joints, self._state.asked = known, {}
        self._show_handles()
        self._ask()

    def _show_handles(self) -> None:
        robot = self._robot
        assert robot is not None
        shown = [handles(tip, robot.root_frame, _pose(goal.pose), self._menu_of(tip))
                 for tip, goal in self._state.goals.items()]
        if self._state.point is not None:
            shown.append(handles(LOOKED_AT, robot.root_frame, _pose(
                pin.SE3(np.eye(3), self._state.point)), turns=False))
        self._markers.show(shown)

    def _menu_of(self, tip: str) -> list[MenuEntry]:
        entries = []
        for number, entry in self._menu.items():
            box = '' if entry.is_on is None else '[x] ' if entry.is_on(tip) else '[ ] '
            entries.append(MenuEntry(id=number, title=box + entry.title,
                                     command_type=MenuEntry.FEEDBACK))
        return entries

    # -- what is told of them -----------------------------------------------------------------

    def _is_stop(self, feedback: InteractiveMarkerFeedback) -> bool:
        entry = self._menu.get(feedback.menu_entry_id)
        return feedback.event_type == InteractiveMarkerFeedback.MENU_SELECT and (
            entry is not None and entry.title == STOP)

    def _take(self, feedback: InteractiveMarkerFeedback) -> None:
        name = feedback.marker_name
        if feedback.event_type == InteractiveMarkerFeedback.MENU_SELECT:
            if (entry := self._menu.get(feedback.menu_entry_id)) and name in self._state.goals:
                entry.do(name)
            return
        if feedback.event_type not in POSES or self._robot is None:
            return
        try:
            place = _read_place(feedback, self._robot)
        except RequestError as refusal:
            self.node.get_logger().warning(f'goals: {refusal}', throttle_duration_sec=5.0)
            return
        if name == LOOKED_AT:
            self._state.point = place.translation
        else:
            self._goal(name).pose = place
        self._markers.move(name, _pose(place))
        if self._continuous or feedback.event_type == InteractiveMarkerFeedback.MOUSE_UP:
            self._ask()

    def _toggle(self, name: str) -> Callable[[str], None]:
        def turn(_: str) -> None:
            setattr(self, name, not getattr(self, name))
            self._changed()
        return turn

    def _keep_level(self, tip: str) -> None:
        goal = self._goal(tip)
        goal.up = goal.pose.rotation.T @ [0.0, 0.0, 1.0] if goal.up is None else None
        self._changed()

    def _keep_low(self, tip: str) -> None:
        goal, robot = self._goal(tip), self._robot
        assert robot is not None
        goal.low = None if goal.low is not None else float(Configuration(
            robot, robot.to_q(self._state.joints)).transform(elbow(robot, tip))[2, 3])
        self._changed()

    def _look_at(self, tip: str) -> None:
        goal = self._goal(tip)
        goal.looks = not goal.looks
        if not any(each.looks for each in self._state.goals.values()):
            self._state.point = None
        elif self._state.point is None:
            self._state.point = goal.pose.act(np.array([0.0, 0.0, AHEAD]))
        self._changed()

    def _changed(self) -> None:
        self._show_handles()
        self._ask()

    # -- the answer ---------------------------------------------------------------------------

    def _start(self, work: Any) -> None:
        self.node.executor.create_task(work)

    def _ask(self) -> None:
        """Have what is wanted now answered, after what is just worked out."""
        if self._busy:
            self._again = True
        else:
            self._busy = True
            self._start(self._answer())

    def _then(self, work: Callable[[], Any]) -> None:
        """Do something with the answer, once there is one for where the markers are."""
        if self._busy:
            self._waiting.append(work)
        else:
            self._start(work())

    async def _answer(self) -> None:
        try:
            while True:
                self._again = False
                await self._answer_once()
                if not self._again:
                    return
        finally:
            self._busy = False
            waiting, self._waiting = self._waiting, []
            for work in waiting:
                self._start(work())

    async def _answer_once(self) -> None:
        robot, state = self._robot, self._state
        if robot is None or not state.goals:
            return
        asked = {tip: goal.pose for tip, goal in state.goals.items()}
        for request in drag_requests(self._request(robot), _is_small(state.asked, asked)):
            response = await self.compute_ik.answer_own(request, ComputeIKService.Response())
            if response.status == Status.SUCCESS:
                break
        if robot is self._robot and state is self._state:
            state.asked, state.others = asked, []
            self._show(robot, response)

    def _request(self, robot: Robot) -> ComputeIKService.Request:
        """Return what is wanted now, as a request of ~/compute_ik."""
        state = self._state
        request = ComputeIKService.Request(timeout=PATIENT, avoid_collisions=self._collisions)
        fill_state(request.seed, state.joints, state.joints)
        for tip, goal in state.goals.items():
            target = PoseStamped(header=Header(frame_id=robot.root_frame))
            fill_pose(target.pose, goal.pose)
            request.tips.append(tip)
            request.targets.append(target)
            request.weights.extend([1.0] * 3 + [0.0 if goal.turns_freely else 1.0] * 3)
            request.constraints.extend(goal.constraints(robot, state.point))
        return request

    def _show(self, robot: Robot, response: Any) -> None:
        """Show an answer, or the least bad there is."""
        state = self._state
        state.holds = response.status == Status.SUCCESS
        best = response.solution if state.holds else response.best_attempt
        joints = {**state.joints, **joint_values(best, robot, 'the answer')}
        if state.holds:
            state.joints = joints
        touches = response.status == Status.GOAL_IN_COLLISION
        color = REACHED if state.holds else TOUCHING if touches else MISSED
        self._publish(robot, joints, color, self._said(robot, joints, response),
                      [np.array([c.position.x, c.position.y, c.position.z])
                       for c in response.contacts])

    def _said(self, robot: Robot, joints: dict[str, Any], response: Any) -> str:
        known = self.current_state.known(robot)
        moved = {name: abs(value - known[name]) for name, value in joints.items()
                 if isinstance(value, float) and name in known}
        travel = max(moved, key=moved.__getitem__, default='')
        unit = 'm' if travel and robot.joint(travel).kind == 'prismatic' else 'rad'
        way = f"\n'{travel}' goes {moved[travel]:.2f} {unit}" if travel else ''
        return ('reached' if self._state.holds else str(response.message)) + way

    def _publish(self, robot: Robot, joints: dict[str, Any], color: Any, text: str,
                 contacts: list[np.ndarray]) -> None:
        goals = self._state.goals
        first = next(iter(goals.values()))
        q = robot.to_q(joints)
        spheres = ((goal, sphere_of_reach(robot, goal.tip, robot.joint_names, q))
                   for goal in goals.values())
        beyond = next((sphere for goal, sphere in spheres if sphere and np.linalg.norm(
            goal.pose.translation - sphere.centre) > sphere.radius), None)
        self._ghost.publish(shown_markers(robot, self._looks, Shown(
            joints, color, text, first.pose.translation, contacts, beyond)))

    async def _next(self) -> None:
        """Show the next of the solutions for where the markers are."""
        robot, state = self._robot, self._state
        if robot is None or not state.goals:
            return
        if not state.others:
            request = self._request(robot)
            request.solutions, request.select = ALL, 'nearest'
            response = await self.compute_ik.answer_own(request, ComputeIKService.Response())
            if state is not self._state:    # of a robot that was another one
                return
            if response.status != Status.SUCCESS:
                self._show(robot, response)
                return
            state.others = [joint_values(each, robot, 'the answer')
                            for each in (*response.alternatives, response.solution)]
        state.joints = {**state.joints, **state.others.pop(0)}
        state.holds = True
        self._publish(robot, state.joints, REACHED, self._said(robot, state.joints, None), [])

    async def _move(self) -> None:
        """Move the arm to the answer that is shown."""
        robot, state = self._robot, self._state
        if robot is None or not state.goals:
            return
        if not state.holds:
            self._tell(robot, 'nothing was moved: there is no solution to go to')
            return
        request = ExecuteService.Request(avoid_collisions=self._collisions)
        names = {name for tip in state.goals for name in robot.moving_joints(tip)}
        fill_state(request.goal, state.joints, sorted(names))
        self._tell(robot, 'on the way')
        response = await self.execute.answer(request, ExecuteService.Response())
        if state is self._state:    # else it was of a robot that is no longer shown
            self._tell(robot, response.message)

    def _tell(self, robot: Robot, text: str) -> None:
        self._publish(robot, self._state.joints, REACHED if self._state.holds else MISSED, text,
                      [])


def _read_place(feedback: InteractiveMarkerFeedback, robot: Robot) -> pin.SE3:
    """Return where a marker was dragged to; raises RequestError."""
    what, frame = f"the pose of marker '{feedback.marker_name}'", feedback.header.frame_id
    # RViz answers in the marker's own frame, as its stamp is 0
    if frame.removeprefix('/') not in ('', robot.root_frame):
        raise wrong(f"{what} is in frame '{frame}'; valid: that of the marker, "
                    f"'{robot.root_frame}'")
    place = read_pose(feedback.pose, what)
    if np.abs(place.translation).max() > FARTHEST:
        raise wrong(f'{what} is further away than {FARTHEST:g} m')
    return place


def _is_small(before: dict[str, pin.SE3], now: dict[str, pin.SE3]) -> bool:
    return before.keys() == now.keys() and all(
        np.linalg.norm(pose.translation - before[tip].translation) < SMALL
        and np.linalg.norm(pin.log3(before[tip].rotation.T @ pose.rotation)) < SMALL
        for tip, pose in now.items())


def _pose(place: pin.SE3) -> Pose:
    pose = Pose(position=Point(), orientation=Quaternion())
    fill_pose(pose, place)
    return pose
