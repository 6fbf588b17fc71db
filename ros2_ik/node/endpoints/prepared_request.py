"""From a request for joint values to the search for them, and from there to the answer."""

from collections.abc import Callable
from dataclasses import replace
import time
from typing import Any, NamedTuple

import numpy as np
from rclpy.publisher import Publisher
from std_msgs.msg import Header

from ros2_ik.core import (
    Array,
    bind_request,
    BoundRequest,
    CollisionChecker,
    IKRequest,
    IKSolution,
    Robot,
    Scene,
    Search,
    Status,
)
from ros2_ik.messages.answers import (
    answer_names,
    contact_messages,
    fill_answer,
    fill_progress,
    solution_message,
)
from ros2_ik.messages.constraints import needs_checker, read_constraints
from ros2_ik.messages.request_error import RequestError
from ros2_ik.messages.requests import (
    depends_on_form,
    form_of,
    read_request,
    target_pose,
    with_rules,
)
from ros2_ik.messages.robot_states import joint_values
from ros2_ik.node.motion.outcome import Outcome
from ros2_ik.node.motion.path_checks import OwnScene
from ros2_ik.node.node_context import NodeContext
from ros2_ik.node.workers import UnansweredError

REPLACED = 'the robot was replaced meanwhile'
BOUND = ('with execute that bound is parameter max_jump, from where the robot stands, unless the '
         'request has a max_joint_change')
STANDING = 1e-2   # a joint so far from a value is there [rad, m]


class PreparedRequest(NamedTuple):
    """
    A request, or goal, that has been read, and its search, which has not been run.

    `execute` says whether the robot is to go to the solution. `notes` belong into the answer's
    message. `scene` is the one that solutions are checked against, None if they may touch
    anything; it is made of the node's, which is `known`, by what is held, allowed or padded for
    this question only. `needed` joints do not move, but the solution depends on where they are.
    """

    request: IKRequest
    search: Search
    execute: bool
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
        if (self.request.max_jump is not None and not solution.success
                and 'max_joint_change' in solution.message):
            notes = [BOUND, *notes]
        fill_answer(answer, solution, self.search.problem, header, notes, self.scene)

    async def move(self, context: NodeContext, solution: IKSolution, answer: Any, stops: int,
                   who: str,
                   cancelled: Callable[[], str] | None = None) -> None:
        """
        Bring the robot to a solution that is in the answer, and say there what came of it.

        `stops` is that of the execution when the question came, `who` asked is for the log.
        """
        request, problem = self.request, self.search.problem
        outcome = self._outdated(context, solution) or await context.execution.run(
            self.robot, {name: solution.best_joints[name] for name in answer_names(problem)},
            problem.group or '', avoid_collisions=request.avoid_collisions,
            own=OwnScene(self.scene, self.known) if self.scene else None, cancelled=cancelled,
            stops=stops, who=who, assumed=request.seed, max_joint_change=(
                request.options.max_joint_change if request.max_jump is None
                else request.max_jump))
        answer.status = int(outcome.status)
        answer.message = f'{answer.message}; {outcome.message}'
        answer.contacts = contact_messages(outcome.contacts, outcome.scene,
                                           context.header(self.robot.root_frame))
        answer.motion_seconds = float(outcome.motion_seconds)

    def _outdated(self, context: NodeContext, solution: IKSolution) -> Outcome | None:
        """Refuse to move when the world is not any more what the search was told of it."""
        at = context.state.known(self.robot)
        for name in sorted(self.needed - set(answer_names(self.search.problem))):
            if name in at and not np.allclose(at[name], solution.best_joints[name], rtol=0,
                                              atol=STANDING):
                return Outcome(Status.INVALID_MOTION_PLAN, f"nothing was moved: joint '{name}' "
                               'has moved during the search; ask again')
        return None

    def publish(self, publisher: Publisher, solution: IKSolution, answer: Any,
                header: Header) -> None:
        """Publish a solution, of which the answer is filled, where anybody listens."""
        if solution.success and publisher.get_subscription_count():
            publisher.publish(solution_message(answer, solution, self.search.problem, header))

    def fill_progress(self, feedback: Any, solution: IKSolution, header: Header) -> None:
        """Write the best so far into the feedback of an action; its phase is the caller's."""
        fill_progress(feedback, solution, self.search.problem, header)


class _Kept(NamedTuple):
    """What a request was worked out to, `form` is what it had besides poses and seed."""

    robot: Robot
    form: tuple[Any, ...]
    checker: CollisionChecker | None
    preparation: BoundRequest


class RequestReader:
    """Reads requests of one type; one that is as the last but for poses and seed in less time."""

    def __init__(self, context: NodeContext) -> None:
        self._context = context
        self._last: _Kept | None = None

    def read(self, message: Any) -> PreparedRequest:
        """Read a ComputeIK request or the goal of an action; raises IKError."""
        robot, form = self._context.robot(), form_of(message, self._context.parameters)
        last, self._last = self._last, None
        prepared = None
        if last and last.robot is robot and last.form == form:
            prepared = self._read_again(message, last)
        return prepared or self._read(message, robot, form)

    def _read(self, message: Any, robot: Robot, form: tuple[Any, ...]) -> PreparedRequest:
        context = self._context
        request, carrying = read_request(message, robot, context.parameters,
                                         context.transforms.lookup(message.execute))
        if message.execute and not context.parameters.controllers:
            raise RequestError(Status.CONTROL_FAILED,
                               'execute: nothing moves the robot: parameter controllers is empty')
        scene, checker, notes = _surroundings(context, message, request)
        constraints, costs = read_constraints(message, robot, checker)
        request = replace(request, constraints=constraints, costs=costs)
        world = _World(context, robot, checker, message.execute, carrying)
        preparation = bind_request(request, world)
        if preparation.can_rebind and depends_on_form(message, robot):
            self._last = _Kept(robot, form, checker, preparation)
        return self._prepared(message, preparation, scene, world, notes)

    def _read_again(self, message: Any, last: _Kept) -> PreparedRequest | None:
        """Return what a request like the last comes to, None where what is around has changed."""
        if len(message.seed.attached_collision_objects):
            return None
        request = last.preparation.request
        poses = [target_pose(message, index, target.tip)
                 for index, target in enumerate(request.targets)]
        seed = joint_values(message.seed, last.robot)
        scene, checker, notes = _surroundings(self._context, message, request)
        if checker is not last.checker:
            return None
        world = _World(self._context, last.robot, checker)
        preparation = last.preparation.rebind(poses, seed, world)
        self._last = last
        return self._prepared(message, preparation, scene, world, notes)

    def _prepared(self, message: Any, preparation: BoundRequest, scene: Scene | None,
                  world: '_World', notes: list[str]) -> PreparedRequest:
        request, search = preparation.request, preparation.search()
        chosen = [] if message.tips else [f'{target.tip} is the default tip'
                                          for target in request.targets]
        return PreparedRequest(
            request, search, message.execute, scene if request.avoid_collisions else None,
            self._context.scene.known.scene, world.needed, [*chosen, *world.notes, *notes])


class _World:
    """
    The world as the node knows it now.

    Where the robot is to move, its joint_states must agree with each other and with the seed;
    `carrying` joints may be elsewhere in that.
    """

    def __init__(self, context: NodeContext, robot: Robot, checker: CollisionChecker | None,
                 execute: bool = False, carrying: frozenset[str] = frozenset()) -> None:
        self.robot, self.checker = robot, checker
        self._context, self._execute, self._carrying = context, execute, carrying
        self.needed, self.notes = frozenset[str](), list[str]()

    def start(self, request: IKRequest, free: frozenset[str], needed: frozenset[str],
              checked: frozenset[str]) -> Array:
        """Complete the seed by what joint_states say."""
        self.needed = needed
        start = self._context.state.start(self.robot, request.seed, needed, free, checked)
        self.notes = start.notes
        if self._execute:
            self._check_standing(request, free - self._carrying)
            self._check_one_truth(free | needed)
        return start.q

    def standing(self, request: IKRequest, start: Array) -> Array:
        """Where the robot stands, in the turns of the start; at the start where unknown."""
        known = self._context.state.known(self.robot)
        q = np.array(self.robot.to_q(known, start))
        for joint in self.robot.joints:
            if joint.kind == 'continuous' and joint.name in known:
                apart = start[joint.index] - q[joint.index]
                q[joint.index] += 2 * np.pi * np.round(apart / (2 * np.pi))
        return q

    def _check_standing(self, request: IKRequest, free: frozenset[str]) -> None:
        """Refuse to move to a solution for joints that do not stand where the seed has them."""
        known = self._context.state.known(self.robot)
        for name, value in request.seed.items():
            there = name in known and np.allclose(known[name], value, atol=STANDING)
            if name not in known and name not in self.needed | free:
                self.notes = [*self.notes, f"joint_states have never told of joint '{name}': "
                              'the seed says where it is for checks']
            elif name not in free and not there:
                where = (f'it stands at {known[name]}' if name in known
                         else 'it is not known where')
                raise RequestError(
                    Status.INVALID_ROBOT_STATE,
                    f"execute: the seed has joint '{name}' at {value}, but {where}, and "
                    'it may not move')

    def _check_one_truth(self, joints: frozenset[str]) -> None:
        """Refuse to search for where to move while joint_states contradict each other."""
        for name in sorted(joints):
            if contradiction := self._context.joint_states.contradiction(name):
                raise RequestError(Status.ROBOT_STATE_STALE, contradiction)


def _surroundings(context: NodeContext, message: Any, request: IKRequest) \
        -> tuple[Scene | None, CollisionChecker | None, list[str]]:
    """Return the scene and its checker, if the question is about them, and notes."""
    measured = needs_checker(message)
    if not (request.avoid_collisions or measured):
        return None, None, []
    scene, notes = context.scene_with(message.seed, request.seed, 'seed.')
    scene = with_rules(scene, message)
    checker, remarks = context.scene.checker(scene)
    if measured and checker is None:
        raise RequestError(Status.COLLISION_CHECKING_UNAVAILABLE,
                           f'distances cannot be measured; {"; ".join(remarks)}')
    return scene, checker, [*notes, *remarks]


def cut_short(search: Search, error: UnansweredError, newest: IKSolution | None = None) \
        -> IKSolution:
    """
    Return the answer of a search that its worker does not answer for.

    `newest` is what it was last heard to have found.
    """
    cancelled = error.status is Status.PREEMPTED
    if newest is None:
        if cancelled:
            search.budget.cancel = lambda: True
            return search.solution()
        newest = search.solution()
    if newest.success or newest.impossible or newest.status is Status.APPROXIMATE:
        return newest
    how = 'cancelled' if cancelled else str(error)
    return replace(newest, status=error.status,
                   message=f'{how}, {newest.restarts} restarts were made',
                   seconds=time.monotonic() - search.budget.started)
