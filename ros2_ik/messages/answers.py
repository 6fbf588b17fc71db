"""Conversion of solutions and contacts to messages."""

from array import array
from collections.abc import Iterable

from geometry_msgs.msg import Point
from moveit_msgs.msg import ContactInformation, RobotState
from std_msgs.msg import Header

from ros2_ik.action import SolveConstrainedIK
from ros2_ik.core import Contact, IKProblem, IKSolution, Scene
from ros2_ik.messages.constraints import constraint_reports
from ros2_ik.messages.robot_states import fill_state
from ros2_ik.msg import ConstraintState, Solution
from ros2_ik.srv import ComputeIK


def answer_names(problem: IKProblem) -> tuple[str, ...]:
    """Return the joints of an answer: those of the group or, without one, the active joints."""
    return problem.robot.group(problem.group).joint_names if problem.group else problem.joint_names


def fill_answer(response: ComputeIK.Response, solution: IKSolution, problem: IKProblem,
                notes: Iterable[str] = ()) -> None:
    """
    Write a solution of a problem into a ComputeIK response, or into the result of an action.

    `message` ends with `notes`. Stamps remain 0, as in MoveIt's answers.
    """
    response.status = int(solution.status)
    response.message = '; '.join([solution.message, *notes])
    names, frame_id = answer_names(problem), problem.robot.root_frame
    state = response.solution if solution.success else response.best_attempt
    fill_state(state, solution.best_joints, names, frame_id)
    if contacts := solution.contacts:
        response.contacts = contact_messages(
            contacts, problem.checker.scene if problem.checker else None,
            Header(frame_id=frame_id))
    response.alternatives = [fill_state(RobotState(), other.best_joints, names, frame_id)
                             for other in solution.alternatives]
    response.impossible = bool(solution.impossible)
    # `explain` takes 17 us; other fields suffice for a solution without constraints and costs
    if not solution.success or problem.constraints or problem.costs:
        response.explanation = solution.explain()
    response.not_checked = list(solution.not_checked)
    _fill_report(response, solution, problem)
    response.solver = solution.solver


def fill_progress(feedback: SolveConstrainedIK.Feedback, solution: IKSolution,
                  problem: IKProblem) -> None:
    """Write the best attempt into the feedback of an action."""
    fill_state(feedback.best_attempt, solution.best_joints, answer_names(problem),
               problem.robot.root_frame)
    _fill_report(feedback, solution, problem)


def _fill_report(message: ComputeIK.Response | SolveConstrainedIK.Feedback,
                 solution: IKSolution, problem: IKProblem) -> None:
    """Write errors, constraints and counters, which responses and feedback have in common."""
    # arrays, because rclpy would check each item of a list
    message.position_errors = array('d', [error.position for error in solution.errors])
    message.orientation_errors = array('d', [error.orientation for error in solution.errors])
    message.constraints = [ConstraintState(**report._asdict())
                           for report in constraint_reports(problem, solution.best_q)]
    message.iterations, message.restarts = int(solution.iterations), int(solution.restarts)
    message.seconds = float(solution.seconds)


def solution_message(response: ComputeIK.Response, solution: IKSolution, problem: IKProblem,
                     header: Header) -> Solution:
    """Return the message for ~/solution; `response` must have been filled with `solution`."""
    travel = solution.travel
    return Solution(header=header, group=problem.group or '',
                    tips=[target.tip for target in problem.targets],
                    state=response.solution, status=response.status,
                    position_errors=response.position_errors,
                    orientation_errors=response.orientation_errors,
                    travel_joint=travel.joint if travel else '',
                    travel=travel.change if travel else 0.0, seconds=response.seconds,
                    solver=response.solver)


def contact_messages(contacts: Iterable[Contact], scene: Scene | None,
                     header: Header) -> list[ContactInformation]:
    """Convert contacts to messages; `header.frame_id` must be the root frame."""
    return [ContactInformation(
        header=header, depth=float(contact.depth),
        position=Point(**dict(zip('xyz', contact.point, strict=True))),
        contact_body_1=contact.first, body_type_1=_body_type(contact.first, scene),
        contact_body_2=contact.second, body_type_2=_body_type(contact.second, scene))
        for contact in contacts]


def _body_type(name: str, scene: Scene | None) -> int:
    if scene is not None and name in scene.attached:
        return int(ContactInformation.ROBOT_ATTACHED)
    in_world = scene is not None and name in scene.objects
    return int(ContactInformation.WORLD_OBJECT if in_world else ContactInformation.ROBOT_LINK)
