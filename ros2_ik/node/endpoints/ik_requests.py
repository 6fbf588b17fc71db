"""IK requests of all services and of the action: parsing, search, answer and motion."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
import math
import time
from typing import Any, cast, NamedTuple

from ros2_ik.core import Array, CollisionChecker, IKSolution, Robot, Scene, Status
from ros2_ik.core.internals import IKRequest, prepare, Search, World
from ros2_ik.messages.answers import answer_names, contact_messages, fill_answer, solution_message
from ros2_ik.messages.frames import changed_frame, TOOL
from ros2_ik.messages.request_error import RequestError
from ros2_ik.messages.requests import read_request
from ros2_ik.msg import Solution
from ros2_ik.node.endpoints.answering import header
from ros2_ik.node.endpoints.registry import Parts, publisher
from ros2_ik.node.endpoints.straight_way import StraightWay
from ros2_ik.node.motion.motion_execution import Outcome
from ros2_ik.node.state.current_state import CurrentState
from ros2_ik.node.state.measured_joints import is_near
from ros2_ik.node.state.planning_scene import StateInScene
from ros2_ik.node.workers import AnySearch, UnansweredError
from ros2_ik.srv import ComputeIK

BOUND = 'with execute, max_joint_change is parameter max_jump unless the request sets it'
MAX_PENDING = 64        # maximum number of open searches in the workers
# Maximum CPU time of a search in the node's thread [s]; a transfer to a worker takes longer.
SLICE = 0.002
# maximum number of attempts within SLICE while other searches are open
MAX_ATTEMPTS = 2
FAST_SOLVER = 'lm'      # the solver whose attempts take well below SLICE with default options
REST_TOLERANCE = 1e-2   # maximum distance of a joint from a position to count as reached [rad, m]


class PreparedRequest(NamedTuple):
    """
    A parsed request or goal, with its search, which has not been run.

    - `execute`: move the robot to the solution.
    - `scene`: the scene of the collision checker, None without a check. This is `known`, the
      node's scene, with the attached objects and allowed collisions of the request.
    - `needed`: joints that do not move, but on whose positions the solution depends.
    - `notes`: texts for the answer's message.
    - `way`: the straight path of the tip, whose end is the solution; None without `straight`.
    """

    request: IKRequest
    search: Search
    execute: bool
    scene: Scene | None
    known: Scene
    needed: frozenset[str]
    notes: list[str]
    way: StraightWay | None = None

    @property
    def robot(self) -> Robot:
        """The robot that was current when the request was read."""
        return self.search.problem.robot.plain


@dataclass(eq=False)
class IKRequests(Parts):
    """Handler of IK requests from services and the action; publishes topic ~/solution."""

    def __post_init__(self) -> None:
        self._publisher = publisher(self.node, Solution, '~/solution')

    # -- parsing --------------------------------------------------------------------------

    def read(self, message: ComputeIK.Request,
             state: StateInScene | None = None) -> PreparedRequest:
        """
        Parse a ComputeIK request or a goal of the action; raises IKError.

        `state` is the parsed state of the seed, None if it must be parsed here.
        """
        robot, parameters = self.description.current(), self.parameters
        state = state or self.scene.of_state(message.seed, robot, 'seed')
        remarks = list[str]()

        def checker_of(scene: Scene) -> CollisionChecker | None:
            checker, notes = self.scene.checker(scene)
            remarks.extend(notes)
            return checker
        request, checker = read_request(message, state.scene, parameters,
                                        self.transforms.lookup(message.execute), checker_of)
        if message.execute and not parameters.controllers:
            raise RequestError(Status.CONTROL_FAILED,
                               'execute: nothing moves the robot: parameter controllers is empty')
        world = _World(self.current_state, robot, checker)
        search = prepare(request, world)
        if message.execute:
            self._check_current_state(request, world)
        # a straight path starts at the seed, so the joints that move need known positions
        if message.straight:
            self.current_state.start(robot, request.seed, frozenset(search.problem.joint_names))
        tips = [] if message.tips or TOOL in request.frames else [
            f'{target.tip} is the default tip' for target in request.targets]
        return PreparedRequest(
            request, search, message.execute,
            checker.scene if checker and request.avoid_collisions else None,
            self.scene.known.scene, world.needed, [*tips, *world.notes, *remarks],
            StraightWay(message, search.problem, parameters) if message.straight else None)

    def _check_current_state(self, request: IKRequest, world: '_World') -> None:
        """
        Raise RequestError for a motion if the current state of the robot is unknown.

        Readings of joint_states must not contradict each other. Joints that do not move must be
        at their positions in the seed.
        """
        known = self.current_state.known(world.robot)
        for name, value in request.seed.items():
            if name in world.free:
                continue
            if name not in known and name not in world.needed:
                world.notes.append(f"no joint_states of joint '{name}': checks use its position "
                                   'in the seed')
            elif name not in known or not is_near(world.robot, name, known[name], value,
                                                  REST_TOLERANCE):
                where = f'is at {known[name]}' if name in known else 'its position is unknown'
                raise RequestError(
                    Status.INVALID_ROBOT_STATE,
                    f"execute: joint '{name}' is at {value} in the seed, but {where}, and the "
                    'motion does not include it')
        for name in sorted(world.free | world.needed):
            if contradiction := self.joint_states.contradiction(name):
                raise RequestError(Status.ROBOT_STATE_STALE, contradiction)

    # -- search ---------------------------------------------------------------------------

    async def search(self, question: PreparedRequest,
                     submitted: Callable[[int], None] = lambda number: None,
                     tell: Callable[[IKSolution], None] | None = None) -> IKSolution:
        """
        Run a search here if it is short, else continue it in a worker; raises WorkerError.

        `submitted` is called with the number of the search in the pool; `tell` is called in the
        pool's thread with the best solution so far.
        """
        search, way = question.search, question.way
        if way is None and _run_slice(search, self.pool.open_jobs):
            return search.solution()
        try:
            if way:
                # a path search has no partial result; `tell` marks it as a goal of the action
                return way.end(await self.by_worker(way.search, submitted, tell))
            return cast(IKSolution, await self.by_worker(search, submitted, tell))
        # no answer of the worker: return the best attempt of this thread
        except UnansweredError as error:
            best = search.solution()
            return best if best.success else replace(
                best, status=error.status, message=str(error),
                seconds=time.monotonic() - search.budget.started)

    async def by_worker(self, search: AnySearch,
                        submitted: Callable[[int], None] = lambda number: None,
                        tell: Callable[[IKSolution], None] | None = None) -> Any:
        """
        Run a search in a worker, and return its result; raises WorkerError.

        Raises RequestError if the robot was replaced meanwhile, or if MAX_PENDING searches are
        open; goals of the action (with `tell`) have their own maximum, MAX_GOALS.
        """
        if tell is None and (others := self.pool.open_jobs) >= MAX_PENDING:
            self.statistics.busy += 1
            raise RequestError(Status.TIMED_OUT, f'busy: {others} searches are open, the maximum')
        try:
            return await self.wait(lambda done: submitted(self.pool.submit(search, done, tell)))
        # in `finally`, since a new robot cancels the search, which then raises UnansweredError
        finally:
            if search.problem.robot.plain is not self.description.robot:
                raise RequestError(Status.INVALID_ROBOT_STATE, 'the robot was replaced meanwhile')

    # -- answer and motion ----------------------------------------------------------------

    async def finish(self, question: PreparedRequest, solution: IKSolution,
                     answer: ComputeIK.Response, stops: int, who: str,
                     cancelled: Callable[[], str] = lambda: '') -> None:
        """
        Write a solution into a ComputeIK response or the action's result, and publish it.

        With execute, the robot then moves to the solution. `stops` is MotionExecutor.stops when
        the request arrived; `who` is the client, for the log; `cancelled` returns a reason to
        stop the motion, or ''.
        """
        notes, problem = question.notes, question.search.problem
        if question.execute and not solution.success and 'max_joint_change' in solution.message:
            notes = [BOUND, *notes]
        head = header(self.node, question.robot.root_frame)
        fill_answer(answer, solution, problem, head, notes, question.scene)
        if not solution.success:
            return
        if self._publisher.get_subscription_count():
            self._publisher.publish(solution_message(answer, solution, problem, head))
        if question.execute:
            await self._move(question, solution, answer, stops, who, cancelled)

    async def _move(self, question: PreparedRequest, solution: IKSolution,
                    answer: ComputeIK.Response, stops: int, who: str,
                    cancelled: Callable[[], str]) -> None:
        request, problem = question.request, question.search.problem
        outcome = self._refusal(question, solution) or await self.motions.run(
            question.robot, {name: solution.best_joints[name] for name in answer_names(problem)},
            problem.group or '', avoid_collisions=request.avoid_collisions,
            own=partial(question.scene.rebased, question.known) if question.scene else None,
            cancelled=cancelled, stops=stops, who=who, assumed=request.seed,
            max_joint_change=request.options.max_joint_change,
            way=question.way.motion if question.way else None)
        answer.status = int(outcome.status)
        answer.message = f'{answer.message}; {outcome.message}'
        answer.contacts = contact_messages(outcome.contacts, outcome.scene,
                                           header(self.node, question.robot.root_frame))
        answer.motion_seconds = float(outcome.motion_seconds)

    def _refusal(self, question: PreparedRequest, solution: IKSolution) -> Outcome | None:
        """Return the refusal of a motion if frames or joints changed meanwhile, or None."""
        if change := changed_frame(question.request.frames, question.known,
                                   self.scene.known.scene):
            return Outcome(Status.INVALID_MOTION_PLAN, f'nothing was moved: {change}; ask again')
        at = self.current_state.known(question.robot)
        for name in sorted(question.needed - set(answer_names(question.search.problem))):
            if name in at and not is_near(question.robot, name, at[name],
                                          solution.best_joints[name], REST_TOLERANCE):
                return Outcome(Status.INVALID_MOTION_PLAN, f"nothing was moved: joint '{name}' "
                               'has moved during the search; ask again')
        return None


class _World(World):
    """The current state for binding a request, and the joints that the request depends on."""

    def __init__(self, state: CurrentState, robot: Robot, checker: CollisionChecker | None) \
            -> None:
        super().__init__(robot, checker=checker)
        self._state = state
        self.free, self.needed, self.notes = frozenset[str](), frozenset[str](), list[str]()

    def start(self, request: IKRequest, free: frozenset[str], needed: frozenset[str],
              checked: frozenset[str]) -> Array:
        """Return q (nq,), the seed completed from joint_states; set `free`, `needed`, `notes`."""
        self.free, self.needed = free, needed
        start = self._state.start(self.robot, request.seed, needed, free, checked)
        self.notes = start.notes
        return start.q


def _run_slice(search: Search, others: int) -> bool:
    """
    Run a search for SLICE if it has only pose targets; return whether it finished.

    SLICE is CPU time, so that a busy machine does not shorten it. `others` is the number of open
    searches; if there are any, MAX_ATTEMPTS applies, since more requests are probably waiting.
    """
    if search.solver != FAST_SOLVER or search.problem.kinds - {'targets'}:
        return False
    end, left = time.thread_time() + SLICE, MAX_ATTEMPTS if others else math.inf
    while not search.run(seconds=0):
        left -= 1
        if left <= 0 or time.thread_time() >= end:
            return False
    return True
