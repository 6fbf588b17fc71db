"""Services ~/check_state, and check_state_validity of MoveIt's type GetStateValidity."""

from itertools import chain

from moveit_msgs.msg import ConstraintEvalResult, Constraints
from moveit_msgs.srv import GetStateValidity

from ros2_ik.core import Array, CollisionChecker, Configuration, Joint, Robot, Scene, Status
from ros2_ik.core.errors import counted
from ros2_ik.core.internals import COLLISIONS_OFF, LIMIT_ROUNDING, not_checked
from ros2_ik.messages.answers import contact_messages
from ros2_ik.messages.constraints import constraint_report, hard_constraints, named_frames
from ros2_ik.messages.frames import framed_robot
from ros2_ik.messages.moveit_requests import functions_of
from ros2_ik.node.endpoints.endpoint import Endpoint, set_status
from ros2_ik.node.state.planning_scene import StateInScene
from ros2_ik.srv import CheckState as Service


class CheckState(Endpoint):
    """Services that check a state for contacts, and joint limits or MoveIt's constraints."""

    def offer(self) -> None:
        self.serve(Service, '~/check_state', self.answer)
        self.serve_as_moveit(GetStateValidity, 'check_state_validity', self.answer_moveit)

    def answer(self, request: Service.Request, response: Service.Response) -> None:
        """Answer ~/check_state."""
        robot = self.description.current()
        state = self.scene.parse_state(request.state, robot, 'state')
        q, checker = self._check(robot, state, request.group, response)
        outside = _outside(robot, q, _joints(robot, request.group))
        response.outside_limits = [joint.name for joint in outside]
        response.not_checked = _unchecked(checker)
        response.valid = not (response.contacts or response.outside_limits)
        set_status(response, Status.SUCCESS, '; '.join(_sentences(response, outside, q)))

    def answer_moveit(self, request: GetStateValidity.Request,
                      response: GetStateValidity.Response) -> None:
        """Answer as move_group does: contacts and constraints count, joint limits do not."""
        robot = self.description.current()
        state = self.scene.parse_state(request.robot_state, robot, 'robot_state')
        # as in MoveIt, an unknown group means all joints
        group = request.group_name if request.group_name in robot.groups else ''
        _, checker = self._check(robot, state, group, response)
        for text in _unchecked(checker):
            self.node.get_logger().warning(f'check_state_validity: {text}',
                                           throttle_duration_sec=5.0)
        response.constraint_result = self._results(request.constraints, state)
        response.valid = not response.contacts and all(
            one.result for one in response.constraint_result)

    def _check(self, robot: Robot, state: StateInScene, group: str,
               response: Service.Response | GetStateValidity.Response) \
            -> tuple[Array, CollisionChecker | None]:
        """
        Write the contacts of the bodies that a group moves ('': all contacts) into a response.

        Returns q (nq,) and the checker (None if neither robot nor scene has collision geometry).
        Raises IKError.
        """
        checker = self.scene.checker(state.scene)
        joints = _joints(robot, group)
        required = frozenset(robot.joint_names) if checker is None else checker.moving_joints
        q = self.current_state.start(robot, state.given, required | joints).q
        contacts = checker.in_collision(q) if checker else ()
        if group:
            bodies = _bodies(robot, state.scene, joints)
            contacts = tuple(contact for contact in contacts
                             if not bodies.isdisjoint((contact.first, contact.second)))
        response.contacts = contact_messages(contacts, state.scene, self.header(robot.root_frame))
        return q, checker

    def _results(self, constraints: Constraints,
                 state: StateInScene) -> list[ConstraintEvalResult]:
        function_lists = [*functions_of(constraints, state.scene, self.transforms.locate)]
        robot = framed_robot(state.scene, named_frames(chain.from_iterable(function_lists)))
        # joints on which the constraints depend need known positions
        bound = [hard_constraints(functions, robot) for functions in function_lists]
        required = frozenset[str]().union(*(one.moved_by for each in bound for one in each))
        at = Configuration(robot, self.current_state.start(robot, state.given, required).q)
        reports = [[constraint_report(one, at) for one in each] for each in bound]
        return [ConstraintEvalResult(result=all(report.holds for report in each),
                                     distance=sum((report.violation for report in each), 0.0))
                for each in reports]


def _joints(robot: Robot, group: str) -> frozenset[str]:
    return frozenset(robot.group(group).joint_names if group else robot.joint_names)


def _unchecked(checker: CollisionChecker | None) -> list[str]:
    return [COLLISIONS_OFF] if checker is None else list(not_checked(checker))


def _bodies(robot: Robot, scene: Scene, joints: frozenset[str]) -> set[str]:
    """Return the names of links and attached objects that any of the joints moves."""
    links = {name for name in robot.frame_names if joints & robot.moving_joints(name)}
    return links | {body.id for body in scene.attached.values() if body.link in links}


def _outside(robot: Robot, q: Array, joints: frozenset[str]) -> list[Joint]:
    return [joint for joint in robot.joints if joint.is_scalar and joint.name in joints
            and not (joint.lower - LIMIT_ROUNDING <= q[joint.index]
                     <= joint.upper + LIMIT_ROUNDING)]


def _sentences(response: Service.Response, outside: list[Joint], q: Array) -> list[str]:
    contacts = [f"'{c.contact_body_1}' touches '{c.contact_body_2}', {c.depth:.3g} m deep"
                for c in response.contacts]
    sentences = contacts[:3]
    if len(contacts) > 3:
        sentences.append(counted(len(contacts) - 3, 'more contact'))
    sentences += [f"joint '{joint.name}' is outside its limits: at {q[joint.index]:.7g}, allowed "
                  f'{joint.lower:.7g} to {joint.upper:.7g}' for joint in outside]
    return sentences or ['no contacts, and all joints are within their limits']
