"""Solutions as ComputeIK responses and Solution messages."""

from array import array
from collections.abc import Iterable
from typing import Any

from ros2_ik.core import IKSolution, Robot, Scene
from ros2_ik.msg import RobotState, Solution
from ros2_ik.node.conversions.contacts import contact_messages
from ros2_ik.node.conversions.questions import Question
from ros2_ik.node.conversions.robot_states import fill_state


def answer_names(question: Question, robot: Robot, free: Iterable[str]) -> tuple[str, ...]:
    """Names of the joints in an answer: the group's, in its order."""
    if question.group:
        return robot.group(question.group).joint_names
    free = set(free)
    return tuple(name for name in robot.joint_names if name in free)


def fill_answer(response: Any, solution: IKSolution, names: tuple[str, ...], header: Any,
                notes: Iterable[str] = (), scene: Scene | None = None) -> None:
    """
    Write a solution into a ComputeIK response; `header` goes into each state.

    `scene` is the one that the contacts are of.
    """
    response.status = int(solution.status)
    response.message = '; '.join([solution.message, *notes])
    state = response.solution if solution.success else response.best_attempt
    _fill(state, solution, names, header)
    response.contacts = contact_messages(solution.contacts, scene, header)
    response.alternatives = [_fill(RobotState(), other, names, header)
                             for other in solution.alternatives]
    response.position_errors = array('d', [error.position for error in solution.errors])
    response.orientation_errors = array('d', [error.orientation for error in solution.errors])
    response.iterations, response.restarts = int(solution.iterations), int(solution.restarts)
    response.seconds, response.solver = float(solution.seconds), solution.solver


def solution_message(response: Any, question: Question, header: Any) -> Solution:
    """Make the message for ~/solution out of a filled response."""
    return Solution(header=header, group=question.group, tips=list(question.tips),
                    state=response.solution, status=response.status,
                    position_errors=response.position_errors,
                    orientation_errors=response.orientation_errors,
                    seconds=response.seconds, solver=response.solver)


def _fill(state: Any, solution: IKSolution, names: tuple[str, ...], header: Any) -> Any:
    fill_state(state, solution.best_joints, names)
    state.joint_state.header = state.multi_dof_joint_state.header = header
    return state
