"""Service ~/compute_ik and topic ~/solution."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
import time
from typing import Any

from rclpy.publisher import Publisher

from ros2_ik.core import (
    Budget,
    CollisionChecker,
    IKSolution,
    Robot,
    Scene,
    Search,
    Status,
)
from ros2_ik.node.conversions.answers import answer_names, fill_answer, solution_message
from ros2_ik.node.conversions.problems import free_joints, make_problem, needed_joints
from ros2_ik.node.conversions.questions import Question, read_question
from ros2_ik.node.endpoints.defect import failed
from ros2_ik.node.parts import Parts
from ros2_ik.node.workers.member import Done

BUSY = 5e-4   # computing time of a search beside others: one attempt, or several compiled [s]

Wait = Callable[[Callable[[Done], None]], Awaitable[IKSolution]]


class ComputeIK:
    """
    Answers at once what a short search answers, and gives the rest to the workers.

    `wait(start)` calls start(done) and awaits what done is given.
    """

    def __init__(self, parts: Parts, publisher: Publisher, wait: Wait) -> None:
        self._parts, self._publisher, self._wait = parts, publisher, wait

    async def answer(self, request: Any, response: Any) -> Any:
        """Answer a request; never raises."""
        try:
            await self._solve(request, response)
        except Exception as error:
            response = failed(response, error, self._parts.log)
        self._parts.statistics.count('compute_ik', response.status, response.seconds)
        return response

    async def _solve(self, request: Any, response: Any) -> None:
        parts = self._parts
        robot = parts.robot()
        question = read_question(request, robot, parts.parameters, parts.transforms.lookup)
        budget = Budget.of(question.timeout)
        free = free_joints(question, robot)
        scene, checker, notes = self._surroundings(request, question)
        checked = checker.moving_joints - free if checker else frozenset[str]()
        start = parts.state.start(robot, question.seed, needed_joints(question, robot, free), free,
                                  checked)
        search = self._search(question, robot, start.q, budget, checker)
        solution = await self._run(search)
        header = parts.header(robot.root_frame)
        fill_answer(response, solution, answer_names(question, robot, free), header,
                    [*start.notes, *notes], scene)
        if solution.success and self._publisher.get_subscription_count():
            self._publisher.publish(solution_message(response, question, header))

    def _surroundings(self, request: Any, question: Question) \
            -> tuple[Scene | None, CollisionChecker | None, list[str]]:
        """Give the scene and its checker, if collisions are to be avoided, and notes."""
        if not question.avoid_collisions:
            return None, None, []
        scene, notes = self._parts.scene_with(request.seed, question.seed, 'seed.')
        checker, remarks = self._parts.scene.checker(scene)
        return scene, checker, [*notes, *remarks]

    def _search(self, question: Question, robot: Robot, start: Any, budget: Budget,
                checker: CollisionChecker | None) -> Search:
        random_state = self._parts.parameters.random_state
        return Search(make_problem(question, robot, start, checker), solver=question.solver,
                      select=question.select, solutions=question.solutions,
                      allow_restarts=question.allow_restarts, budget=budget,
                      random_state=None if random_state < 0 else random_state)

    async def _run(self, search: Search) -> IKSolution:
        parameters, pool = self._parts.parameters, self._parts.pool
        # while there are long searches, many more may be about to come
        seconds = min(parameters.inline_time, BUSY) if pool.open_jobs else parameters.inline_time
        if _run_for(search, seconds):
            return search.solution()
        if pool.open_jobs < parameters.max_pending:
            return await self._wait(lambda done: pool.submit(search, done))
        self._parts.statistics.busy += 1
        solution = search.solution()
        return replace(solution, status=solution.status if solution.success else Status.TIMED_OUT,
                       message=f'busy: {pool.open_jobs} searches are open, as many as parameter '
                               f'max_pending allows; {solution.message}')


def _run_for(search: Search, seconds: float) -> bool:
    """
    Run a search for a computing time; gives whether it is finished.

    By the clock on the wall a busy machine would leave hardly an attempt to each request.
    """
    end = time.thread_time() + seconds
    while not search.run(seconds=0):
        if time.thread_time() >= end:
            return False
    return True
