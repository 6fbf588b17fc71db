"""From a request for joint values to the search for them, and from there to the answer."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from rclpy.publisher import Publisher
from std_msgs.msg import Header

from ros2_ik.core import Budget, CollisionChecker, IKSolution, Robot, Scene, Search, Status
from ros2_ik.node.controllers.outcome import Outcome
from ros2_ik.node.controllers.way_checks import OwnScene
from ros2_ik.node.conversions.answers import (
    answer_names,
    fill_answer,
    fill_progress,
    solution_message,
)
from ros2_ik.node.conversions.collision_rules import with_rules
from ros2_ik.node.conversions.constraints import needs_checker, NOTHING, read_wanted
from ros2_ik.node.conversions.contacts import contact_messages
from ros2_ik.node.conversions.problems import (
    free_joints,
    make_problem,
    make_search,
    needed_joints,
    settled,
)
from ros2_ik.node.conversions.questions import Question, read_question
from ros2_ik.node.parts import Parts
from ros2_ik.node.refusal import Refusal

REPLACED = 'the robot was replaced meanwhile'
BOUND = ('with execute that bound is parameter max_jump, from where the robot stands, unless the '
         'request has a max_joint_change')
STANDING = 1e-2   # a joint so far from a value is there [rad, m]


class Asked(NamedTuple):
    """
    A request, or goal, that has been read, and its search, which has not been run.

    `names` are the joints of an answer; `notes` belong into its message. `scene` is the one that
    solutions are checked against, None if they may touch anything; it is made of the node's, which
    is `known`, by what is held, allowed or padded for this question only. `needed` joints do not
    move, but the solution depends on where they are.
    """

    question: Question
    search: Search
    names: tuple[str, ...]
    scene: Scene | None
    known: Scene
    needed: frozenset[str]
    notes: list[str]

    @property
    def robot(self) -> Robot:
        """The robot of the moment when this was asked."""
        return self.search.problem.robot

    def fill(self, answer: Any, solution: IKSolution, header: Header) -> None:
        """Write a solution into a ComputeIK response or the result of an action."""
        notes = self.notes
        if (self.question.bound_by_parameter and not solution.success
                and 'max_joint_change' in solution.message):
            notes = [BOUND, *notes]
        fill_answer(answer, solution, self.search.problem, self.names, header, notes, self.scene)

    async def move(self, parts: Parts, solution: IKSolution, answer: Any, stops: int, who: str,
                   cancelled: Callable[[], bool] | None = None) -> None:
        """
        Bring the robot to a solution that is in the answer, and say there what came of it.

        `stops` is that of the execution when the question came, `who` asked is for the log.
        """
        outcome = self._outdated(parts, solution) or await parts.execution.run(
            self.robot, {name: solution.best_joints[name] for name in self.names},
            self.question.group, avoid_collisions=self.question.avoid_collisions,
            own=OwnScene(self.scene, self.known) if self.scene else None, cancelled=cancelled,
            stops=stops, who=who, max_joint_change=self.question.max_joint_change)
        answer.status = int(outcome.status)
        answer.message = f'{answer.message}; {outcome.message}'
        answer.contacts = contact_messages(outcome.contacts, outcome.scene,
                                           parts.header(self.robot.root_frame))
        answer.motion_seconds = float(outcome.motion_seconds)

    def _outdated(self, parts: Parts, solution: IKSolution) -> Outcome | None:
        """Refuse to move when the world is not any more what the search was told of it."""
        at = parts.state.known(self.robot)
        for name in sorted(self.needed - set(self.names)):
            if name in at and not np.allclose(at[name], solution.best_joints[name], rtol=0,
                                              atol=STANDING):
                return Outcome(Status.INVALID_MOTION_PLAN, f"nothing was moved: joint '{name}' "
                               'has moved during the search; ask again')
        return None

    def publish(self, publisher: Publisher, solution: IKSolution, answer: Any,
                header: Header) -> None:
        """Publish a solution, of which the answer is filled, where anybody listens."""
        if solution.success and publisher.get_subscription_count():
            publisher.publish(solution_message(answer, solution, self.question, header))

    def fill_progress(self, feedback: Any, solution: IKSolution, header: Header) -> None:
        """Write the best so far into the feedback of an action; its phase is the caller's."""
        fill_progress(feedback, solution, self.search.problem, self.names, header)


def asked(parts: Parts, request: Any) -> Asked:
    """
    Read a ComputeIK request or the goal of an action; its time begins here.

    Raises Refusal and IKError.
    """
    robot = parts.robot()
    question = read_question(request, robot, parts.parameters,
                             parts.transforms.lookup(request.execute))
    budget = Budget.of(question.timeout, question.max_iterations)
    scene, checker, notes = _surroundings(parts, request, question)
    wanted = NOTHING
    if question.functions:
        wanted = read_wanted(request, robot, checker)
        question = settled(question, robot, wanted)
    free = free_joints(question, robot, wanted)
    checked = checker.moving_joints - free if checker else frozenset[str]()
    needed = needed_joints(question, robot, free, wanted)
    start = parts.state.start(robot, question.seed, needed, free, checked)
    if question.execute:
        _check_standing(parts, question, robot, free - _carrying(question, robot))
        _check_one_truth(parts, free | needed)
    if not question.avoid_collisions:
        scene = checker = None    # functions that measure distances keep theirs
    problem = make_problem(question, robot, start.q, checker, wanted)
    standing = _standing(parts, robot, start.q) if question.execute else start.q
    return Asked(question, make_search(question, problem, budget, standing),
                 answer_names(question, robot, free), scene,
                 parts.scene.known.scene, needed,
                 [*_chosen_tip(request, question), *start.notes, *notes])


def _chosen_tip(request: Any, question: Question) -> list[str]:
    """Return which tip it is that the request has left to the node."""
    return [] if request.tips else [f'{tip} is the default tip' for tip in question.tips]


def _carrying(question: Question, robot: Robot) -> frozenset[str]:
    """Joints that move what may stand still, as a thing seen by a camera on the arm: not yet."""
    return frozenset[str]().union(*(robot.moving_joints(reference.frame)
                                    for reference in question.references
                                    if reference.loose_on and reference.frame))


def _check_standing(parts: Parts, question: Question, robot: Robot,
                    free: frozenset[str]) -> None:
    """Refuse to move to a solution for joints that do not stand where the seed has them."""
    known = parts.state.known(robot)
    for name, value in question.seed.items():
        there = name in known and np.allclose(known[name], value, atol=STANDING)
        if name not in free and not there:
            where = f'it stands at {known[name]}' if name in known else 'it is not known where'
            raise Refusal(Status.INVALID_ROBOT_STATE,
                          f"execute: the seed has joint '{name}' at {value}, but {where}, and it "
                          'may not move')


def _standing(parts: Parts, robot: Robot, start: np.ndarray) -> np.ndarray:
    """Where the robot stands (nq,), in the turns of the start; at the start where unknown."""
    known = parts.state.known(robot)
    q = np.array(robot.to_q(known, start))
    for joint in robot.joints:
        if joint.kind == 'continuous' and joint.name in known:
            apart = start[joint.index] - q[joint.index]
            q[joint.index] += 2 * np.pi * np.round(apart / (2 * np.pi))
    return q


def _check_one_truth(parts: Parts, joints: frozenset[str]) -> None:
    """Refuse to search for a solution to move to while joint_states contradict each other."""
    for name in sorted(joints):
        if contradiction := parts.joint_states.contradiction(name):
            raise Refusal(Status.ROBOT_STATE_STALE, contradiction)


def _surroundings(parts: Parts, request: Any, question: Question) \
        -> tuple[Scene | None, CollisionChecker | None, list[str]]:
    """Return the scene and its checker, if the question is about them, and notes."""
    measured = question.functions and needs_checker(request)
    if not (question.avoid_collisions or measured):
        return None, None, []
    scene, notes = parts.scene_with(request.seed, question.seed, 'seed.')
    scene = with_rules(scene, request)
    checker, remarks = parts.scene.checker(scene)
    if measured and checker is None:
        raise Refusal(Status.COLLISION_CHECKING_UNAVAILABLE,
                      f'distances cannot be measured; {"; ".join(remarks)}')
    return scene, checker, [*notes, *remarks]
