"""Service ~/check_state."""

from dataclasses import dataclass
from typing import Any

from rclpy.node import Node

from ros2_ik.core import (
    Array,
    COLLISIONS_OFF,
    Configuration,
    Joint,
    not_checked,
    Robot,
    Scene,
    Status,
)
from ros2_ik.messages.answers import contact_messages, distance_messages
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.endpoints.answering import answering, header, Statistics
from ros2_ik.node.endpoints.registry import Endpoint, serve
from ros2_ik.node.state.current_state import CurrentState
from ros2_ik.node.state.description import Description
from ros2_ik.node.state.planning_scene import PlanningScene
from ros2_ik.node.state.settled import Settled
from ros2_ik.srv import CheckState as Service

FARTHEST = 1.0    # largest influence [m]
SLACK = 1e-6      # joints may be so far outside their limits [rad, m]
MOST, USUAL = 10_000, 100


@dataclass(eq=False)
class CheckState(Endpoint, name='check_state'):
    """Says what touches in a state, and how far everything is from touching."""

    node: Node
    statistics: Statistics
    description: Description
    current_state: CurrentState
    scene: PlanningScene
    settled: Settled

    def __post_init__(self) -> None:
        serve(self.node, Service, '~/check_state', self.answer)

    @answering('check_state')
    async def answer(self, request: Any, response: Any) -> None:
        """Answer a request."""
        await self.settled.read(lambda: self._answer(request, response))

    def _answer(self, request: Any, response: Any) -> None:
        robot = self.description.current()
        if not 0 <= request.influence <= FARTHEST:
            raise RequestError(Status.INVALID_GOAL_CONSTRAINTS,
                               f'influence is {request.influence:g} m; valid: 0 to {FARTHEST:g}')
        moved = frozenset(robot.group(request.group).joint_names if request.group
                          else robot.joint_names)   # whose limits count
        scene, given, notes = self.scene.of_state(request.state, robot, 'state')
        checker, remarks = self.scene.checker(scene)
        needed = frozenset(robot.joint_names) if checker is None else checker.moving_joints
        q = self.current_state.start(robot, given, needed | moved).q
        head = header(self.node, robot.root_frame)
        outside = _outside(robot, q, moved)
        response.outside_limits = [joint.name for joint in outside]
        response.not_checked = [COLLISIONS_OFF] if checker is None else not_checked(checker)
        if checker is not None:
            names = _names(robot, scene, moved) if request.group else None
            contacts = [c for c in checker.in_collision(q) if _counts((c.first, c.second), names)]
            response.contacts = contact_messages(contacts, scene, head)
            if request.influence > 0:
                response.distances = self._distances(request, checker, q, names, head)
        response.valid = not (response.contacts or response.outside_limits)
        response.status = int(Status.SUCCESS)
        response.message = '; '.join([*_sentences(response, outside, q), *notes, *remarks])

    def _distances(self, request: Any, checker: Any, q: Any, names: Any, head: Any) -> Any:
        most = min(request.max_distances or USUAL, MOST)
        found = checker.distances(Configuration(checker.robot, q), request.influence)
        every = [d for d in distance_messages(found, head)
                 if _counts((d.body_1, d.body_2), names)]
        return every[:most]


def _names(robot: Robot, scene: Scene, joints: frozenset[str]) -> set[str]:
    """Links, and attached objects, that any of the joints moves."""
    links = {name for name in robot.frame_names if joints & robot.moving_joints(name)}
    return links | {held.id for held in scene.attached.values() if held.link in links}


def _counts(pair: tuple[str, str], names: set[str] | None) -> bool:
    return names is None or not names.isdisjoint(pair)


def _outside(robot: Robot, q: Array, joints: frozenset[str]) -> list[Joint]:
    return [joint for joint in robot.joints if joint.is_scalar and joint.name in joints
            and not joint.lower - SLACK <= q[joint.index] <= joint.upper + SLACK]


def _sentences(response: Any, outside: list[Joint], q: Array) -> list[str]:
    said = [f"'{c.contact_body_1}' touches '{c.contact_body_2}', {c.depth:.3g} m deep"
            for c in response.contacts[:3]]
    if len(response.contacts) > 3:
        said.append(f'{len(response.contacts) - 3} more contacts')
    said += [f"joint '{joint.name}' is outside its limits: at {q[joint.index]:.7g}, allowed "
             f'{joint.lower:.7g} to {joint.upper:.7g}' for joint in outside]
    return said or ['nothing touches, and all joints are within their limits']
