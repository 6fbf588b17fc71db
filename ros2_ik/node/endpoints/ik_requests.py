"""Requests for joint values: reading them, the search, the answer and the motion."""

from collections.abc import Callable
from dataclasses import dataclass, replace
import math
import time
from typing import Any, cast, NamedTuple

import numpy as np

from ros2_ik.core import Array, CollisionChecker, IKSolution, Robot, Scene, Status
from ros2_ik.core.internals import bind_request, BoundRequest, IKRequest, Search
from ros2_ik.messages.answers import (
    answer_names,
    contact_messages,
    fill_answer,
    solution_message,
)
from ros2_ik.messages.constraints import needs_checker, read_constraints
from ros2_ik.messages.frames import changed_frame, TOOL
from ros2_ik.messages.request_error import RequestError
from ros2_ik.messages.requests import (
    depends_on_form,
    form_of,
    read_request,
    target_pose,
    with_rules,
)
from ros2_ik.msg import Solution
from ros2_ik.node.endpoints.answering import header
from ros2_ik.node.endpoints.parts import Parts, publisher
from ros2_ik.node.endpoints.straight_way import StraightWay
from ros2_ik.node.motion.outcome import Outcome
from ros2_ik.node.motion.path_checks import OwnScene
from ros2_ik.node.state.current_state import CurrentState
from ros2_ik.node.state.planning_scene import StateInScene
from ros2_ik.node.workers import AnySearch, UnansweredError
from ros2_ik.srv import ComputeIK

BOUND = ('with execute that bound is parameter max_jump, from where the robot stands, unless the '
         'request has a max_joint_change')
MAX_PENDING = 64   # open searches in the workers
SLICE = 0.002     # computing time in the node's own thread: to ask a worker takes longer [s]
TURNS = 2         # of a search beside others: from its seed, and from a few starts
COMPILED = 'lm'   # the solver whose attempts take well below SLICE with its usual options
STANDING = 1e-2   # a joint so far from a value is there [rad, m]


class PreparedRequest(NamedTuple):
    """
    A request, or goal, that has been read, and its search, which has not been run.

    `execute` says whether the robot is to go to the solution. `notes` belong into the answer's
    message. `scene` is the one that solutions are checked against, None if they may touch
    anything; it is made of the node's, which is `known`, by what is held, allowed or padded for
    this question only. `needed` joints do not move, but the solution depends on where they are.
    With a `way` the solution is where that ends.
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
        """The robot of the moment when this was asked."""
        return self.search.problem.robot.plain


class _Kept(NamedTuple):
    """The last request as bound; `form` is its fields but for poses and seed."""

    robot: Robot
    form: tuple[object, ...]
    checker: CollisionChecker | None
    preparation: BoundRequest


@dataclass(eq=False)
class IKRequests(Parts):
    """Requests for joint values, of services and goals alike, and topic ~/solution."""

    def __post_init__(self) -> None:
        self._last: _Kept | None = None
        self._publisher = publisher(self.node, Solution, '~/solution')

    # -- reading --------------------------------------------------------------------------

    def read(self, message: ComputeIK.Request,
             state: StateInScene | None = None) -> PreparedRequest:
        """
        Read a ComputeIK request or the goal of an action; raises IKError.

        One that is as the last but for poses and seed takes less time. `state` is that of the
        seed, if it has been read.
        """
        robot, form = self.description.current(), form_of(message, self.parameters)
        state = state or self.scene.of_state(message.seed, robot, 'seed')
        last, self._last = self._last, None
        prepared = None
        if (last and last.robot is robot and last.form == form
                and state.scene is self.scene.known.scene):
            prepared = self._read_again(message, last, state)
        return prepared or self._read(message, robot, form, state)

    def _read(self, message: ComputeIK.Request, robot: Robot, form: tuple[object, ...],
              state: StateInScene) -> PreparedRequest:
        scene = state.scene
        request = read_request(message, scene, self.parameters,
                               self.transforms.lookup(message.execute))
        if message.execute and not self.parameters.controllers:
            raise RequestError(Status.CONTROL_FAILED,
                               'execute: nothing moves the robot: parameter controllers is empty')
        checked, checker, notes = self._surroundings(message, request, scene)
        constraints, costs = read_constraints(message, robot.with_frames(request.frames), checker)
        request = replace(request, constraints=constraints, costs=costs)
        world = _World(self.current_state, robot, checker)
        preparation = bind_request(request, world)
        if message.execute:
            self._check_standing(request, world)
        if preparation.can_rebind and not request.frames and depends_on_form(message, robot):
            self._last = _Kept(robot, form, checker, preparation)
        return self._prepared(message, preparation, checked, world, [*state.notes, *notes])

    def _read_again(self, message: ComputeIK.Request, last: _Kept,
                    state: StateInScene) -> PreparedRequest | None:
        """Rebind the last request to other poses and another seed; None for another scene."""
        request = last.preparation.request
        poses = [target_pose(message, index, target.tip)
                 for index, target in enumerate(request.targets)]
        scene, checker, notes = self._surroundings(message, request, state.scene)
        if checker is not last.checker:
            return None
        world = _World(self.current_state, last.robot, checker)
        preparation = last.preparation.rebind(poses, state.given, world)
        self._last = last
        return self._prepared(message, preparation, scene, world, notes)

    def _prepared(self, message: ComputeIK.Request, preparation: BoundRequest,
                  scene: Scene | None, world: '_World', notes: list[str]) -> PreparedRequest:
        request, search = preparation.request, preparation.search()
        if message.straight:    # the way begins there
            self.current_state.start(world.robot, request.seed,
                                     frozenset(search.problem.joint_names))
        chosen = [] if message.tips or TOOL in request.frames else [
            f'{target.tip} is the default tip' for target in request.targets]
        return PreparedRequest(
            request, search, message.execute, scene if request.avoid_collisions else None,
            self.scene.known.scene, world.needed, [*chosen, *world.notes, *notes],
            StraightWay(message, search.problem, self.parameters) if message.straight else None)

    def _surroundings(self, message: ComputeIK.Request, request: IKRequest, scene: Scene) \
            -> tuple[Scene | None, CollisionChecker | None, list[str]]:
        """Return a scene by the request's rules, its checker, if it is asked about, and notes."""
        measured = needs_checker(message)
        if not (request.avoid_collisions or measured):
            return None, None, []
        scene = with_rules(scene, message)
        checker, remarks = self.scene.checker(scene)
        if measured and checker is None:
            raise RequestError(Status.COLLISION_CHECKING_UNAVAILABLE,
                               f'distances cannot be measured; {"; ".join(remarks)}')
        return scene, checker, remarks

    def _check_standing(self, request: IKRequest, world: '_World') -> None:
        """
        Refuse to search for where to move while it is not known where the robot is.

        Its joint_states must agree with each other and, for joints that do not move, with the
        seed.
        """
        known, free = self.current_state.known(world.robot), world.free
        for name, value in request.seed.items():
            there = name in known and np.allclose(known[name], value, atol=STANDING)
            if name not in known and name not in world.needed | free:
                world.notes = [*world.notes, f"joint_states have never told of joint '{name}': "
                               'the seed says where it is for checks']
            elif name not in free and not there:
                where = (f'it stands at {known[name]}' if name in known
                         else 'it is not known where')
                raise RequestError(
                    Status.INVALID_ROBOT_STATE,
                    f"execute: the seed has joint '{name}' at {value}, but {where}, and "
                    'it may not move')
        for name in sorted(world.free | world.needed):
            if contradiction := self.joint_states.contradiction(name):
                raise RequestError(Status.ROBOT_STATE_STALE, contradiction)

    # -- searching ------------------------------------------------------------------------

    async def search(self, question: PreparedRequest,
                     submitted: Callable[[int], None] = lambda number: None,
                     tell: Callable[[IKSolution], None] | None = None) -> IKSolution:
        """
        Run a search here if it is short, else have a worker go on with it; raises WorkerError.

        `submitted` gets its number in the pool, `tell` the best so far, in the pool's thread.
        """
        search, way, is_goal = question.search, question.way, tell is not None
        if way is None and _ended_at_once(search, self.pool.open_jobs):
            return search.solution()
        try:
            if way:
                return way.end(await self.by_worker(way.search, submitted, None, is_goal))
            return cast(IKSolution, await self.by_worker(search, submitted, tell, is_goal))
        except UnansweredError as error:   # what was found here has to do
            best = search.solution()
            return best if best.success else replace(
                best, status=error.status, message=str(error),
                seconds=time.monotonic() - search.budget.started)

    async def by_worker(self, search: AnySearch,
                        submitted: Callable[[int], None] = lambda number: None,
                        tell: Callable[[IKSolution], None] | None = None,
                        is_goal: bool = False) -> Any:
        """
        Return the result of a worker's search; raises WorkerError.

        Raises RequestError if the robot is replaced meanwhile or, unless it `is_goal` of the
        action (which has a limit of its own), if MAX_PENDING searches are open.
        """
        if not is_goal and (others := self.pool.open_jobs) >= MAX_PENDING:
            self.statistics.busy += 1
            raise RequestError(Status.TIMED_OUT, f'busy: {others} searches are open, the most '
                               'there may be')
        try:
            return await self.wait(lambda done: submitted(self.pool.submit(search, done, tell)))
        finally:    # also of a search that was cancelled for this reason
            if search.problem.robot.plain is not self.description.robot:
                raise RequestError(Status.INVALID_ROBOT_STATE, 'the robot was replaced meanwhile')

    # -- answering ------------------------------------------------------------------------

    async def finish(self, question: PreparedRequest, solution: IKSolution,
                     answer: ComputeIK.Response, stops: int, who: str,
                     cancelled: Callable[[], str] = lambda: '') -> None:
        """
        Write a solution into a ComputeIK response or the result of an action, and publish it.

        With execute the robot is then brought there. `stops` is that of the executor when the
        question came, `who` asked is for the log.
        """
        notes, problem = question.notes, question.search.problem
        # the default bound of a motion is not in the request, so the answer names its origin
        if (question.request.max_jump is not None and not solution.success
                and 'max_joint_change' in solution.message):
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
        outcome = self._refusal(question, solution, cancelled()) or await self.motions.run(
            question.robot, {name: solution.best_joints[name] for name in answer_names(problem)},
            problem.group or '', avoid_collisions=request.avoid_collisions,
            own=OwnScene(question.scene, question.known) if question.scene else None,
            cancelled=cancelled, stops=stops, who=who, assumed=request.seed, max_joint_change=(
                request.options.max_joint_change if request.max_jump is None
                else request.max_jump), way=question.way.motion if question.way else None)
        answer.status = int(outcome.status)
        answer.message = f'{answer.message}; {outcome.message}'
        answer.contacts = contact_messages(outcome.contacts, outcome.scene,
                                           header(self.node, question.robot.root_frame))
        answer.motion_seconds = float(outcome.motion_seconds)

    def _refusal(self, question: PreparedRequest, solution: IKSolution, cancelled: str) \
            -> Outcome | None:
        """Refuse to move when cancelled, or when what the search depended on has changed."""
        if cancelled:
            return Outcome(Status.PREEMPTED, f'nothing was moved: {cancelled}')
        if change := changed_frame(question.request.frames, question.known,
                                   self.scene.known.scene):
            return Outcome(Status.INVALID_MOTION_PLAN, f'nothing was moved: {change}; ask again')
        at = self.current_state.known(question.robot)
        for name in sorted(question.needed - set(answer_names(question.search.problem))):
            if name in at and not np.allclose(at[name], solution.best_joints[name], rtol=0,
                                              atol=STANDING):
                return Outcome(Status.INVALID_MOTION_PLAN, f"nothing was moved: joint '{name}' "
                               'has moved during the search; ask again')
        return None


class _World:
    """The world as the node knows it now, and what a question depends on there."""

    def __init__(self, state: CurrentState, robot: Robot, checker: CollisionChecker | None) \
            -> None:
        self.robot, self.checker, self._state = robot, checker, state
        self.free, self.needed, self.notes = frozenset[str](), frozenset[str](), list[str]()

    def start(self, request: IKRequest, free: frozenset[str], needed: frozenset[str],
              checked: frozenset[str]) -> Array:
        """Complete the seed by what joint_states say."""
        self.free, self.needed = free, needed
        start = self._state.start(self.robot, request.seed, needed, free, checked)
        self.notes = start.notes
        return start.q

    def current_state(self, request: IKRequest, start: Array) -> Array:
        """Return the present joint values, in turns nearest `start`; unknown ones as in it."""
        known = self._state.known(self.robot)
        q = np.array(self.robot.to_q(known, start))
        for joint in self.robot.joints:
            if joint.kind == 'continuous' and joint.name in known:
                apart = start[joint.index] - q[joint.index]
                q[joint.index] += 2 * np.pi * np.round(apart / (2 * np.pi))
        return q


def _ended_at_once(search: Search, others: int) -> bool:
    """
    Run a search of poses alone, whose attempts are short, for SLICE; return whether it finished.

    While `others` are open, at most TURNS attempts are made, as more requests probably wait.
    Processor time counts, so that a busy machine does not shorten the slice.
    """
    if (search.solver != COMPILED or search.options.solver_options
            or search.problem.kinds - {'targets'}):
        return False
    end, turns = time.thread_time() + SLICE, TURNS if others else math.inf
    while not search.run(seconds=0):
        turns -= 1
        if turns <= 0 or time.thread_time() >= end:
            return False
    return True
