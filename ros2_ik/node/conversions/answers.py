"""Solutions as ComputeIK responses and Solution messages."""

from array import array
from collections.abc import Iterable
from typing import Any

from moveit_msgs.msg import RobotState

from ros2_ik.core import IKProblem, IKSolution, Scene
from ros2_ik.msg import Solution
from ros2_ik.node.conversions.constraint_states import constraint_states
from ros2_ik.node.conversions.contacts import contact_messages
from ros2_ik.node.conversions.robot_states import fill_state


def answer_names(problem: IKProblem) -> tuple[str, ...]:
    """Names of the joints in an answer: the group's, in its order."""
    return problem.robot.group(problem.group).joint_names if problem.group else problem.joint_names


def fill_answer(response: Any, solution: IKSolution, problem: IKProblem, header: Any,
                notes: Iterable[str] = (), scene: Scene | None = None) -> None:
    """
    Write a solution of a problem into a ComputeIK response, or the result of an action.

    `header` goes into each state; `scene` is the one that the contacts are of.
    """
    response.status = int(solution.status)
    response.message = '; '.join([solution.message, *notes])
    names = answer_names(problem)
    state = response.solution if solution.success else response.best_attempt
    _fill(state, solution, names, header)
    response.contacts = contact_messages(solution.contacts, scene, header)
    response.alternatives = [_fill(RobotState(), other, names, header)
                             for other in solution.alternatives]
    response.impossible = bool(solution.impossible)
    response.explanation = solution.explain()
    response.not_checked = list(solution.not_checked)
    _fill_table(response, solution, problem)
    response.solver = solution.solver


def fill_progress(feedback: Any, solution: IKSolution, problem: IKProblem, header: Any) -> None:
    """Write the best so far into the feedback of an action."""
    _fill(feedback.best_attempt, solution, answer_names(problem), header)
    _fill_table(feedback, solution, problem)


def _fill_table(message: Any, solution: IKSolution, problem: IKProblem) -> None:
    message.position_errors = array('d', [error.position for error in solution.errors])
    message.orientation_errors = array('d', [error.orientation for error in solution.errors])
    message.constraints = constraint_states(problem, solution.best_q)
    message.iterations, message.restarts = int(solution.iterations), int(solution.restarts)
    message.seconds = float(solution.seconds)


def solution_message(response: Any, solution: IKSolution, problem: IKProblem,
                     header: Any) -> Solution:
    """Make the message for ~/solution out of a solution and the response filled with it."""
    travel = solution.travel
    return Solution(header=header, group=problem.group or '',
                    tips=[target.tip for target in problem.targets],
                    state=response.solution, status=response.status,
                    position_errors=response.position_errors,
                    orientation_errors=response.orientation_errors,
                    travel_joint=travel.joint if travel else '',
                    travel=travel.change if travel else 0.0, seconds=response.seconds,
                    solver=response.solver)


def _fill(state: Any, solution: IKSolution, names: tuple[str, ...], header: Any) -> Any:
    fill_state(state, solution.best_joints, names)
    state.joint_state.header = state.multi_dof_joint_state.header = header
    return state
