"""IK requests of all services and of the action: parsing, search, answer and motion."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
import time
from typing import Any

from moveit_msgs.msg import PositionIKRequest

from ros2_ik.core import (
    Array,
    CollisionChecker,
    IKProblem,
    IKSolution,
    Motion,
    Robot,
    Scene,
    Status,
)
from ros2_ik.core.internals import (
    IKRequest,
    largest_change,
    PathOptions,
    PathSearch,
    prepare,
    Search,
    TimedPath,
    World,
)
from ros2_ik.messages.answers import answer_names, contact_messages, fill_answer, solution_message
from ros2_ik.messages.frames import frame_change_text, TOOL
from ros2_ik.messages.moveit_requests import compute_ik_request
from ros2_ik.messages.request_error import invalid, RequestError
from ros2_ik.messages.requests import read_request
from ros2_ik.node.controllers.controller import motion_limits
from ros2_ik.node.endpoints.endpoint import Endpoint, set_status
from ros2_ik.node.motion.motion_execution import MotionRequest, Outcome
from ros2_ik.node.motion.motion_executor import require_fixed_base
from ros2_ik.node.motion.planning import MAX_TIP_SPEED, scaled_limits
from ros2_ik.node.parameters import Parameters
from ros2_ik.node.state.current_state import CurrentState
from ros2_ik.node.state.planning_scene import StateInScene
from ros2_ik.node.workers.pool import OnProgress, UnansweredError
from ros2_ik.node.workers.serve import AnySearch
from ros2_ik.srv import ComputeIK

BOUND_NOTE = 'this bound is parameter max_jump; max_joint_change in the request replaces it'
MAX_PENDING = 64        # maximum number of open searches in the workers
# CPU time [s] after which the node sends a search to a worker; sending itself takes longer
SEARCH_SLICE = 0.002
FAST_SOLVER = 'lm'    # the solver whose attempts take well below SEARCH_SLICE with default options
REST_TOLERANCE = 1e-2   # maximum offset of a joint from the position a solution assumes [rad, m]


class PreparedRequest(World):
    """
    A parsed request or goal, and its search, which `IKEndpoint.solve` starts.

    - `robot`, `node_scene`: the robot and the node's scene when the request was read.
    - `execute`: whether to move the robot to the solution.
    - `active_joints`: joints that the search moves.
    - `required_joints`: joints on whose start positions the solution depends.
    - `notes`: texts for the answer's message.
    - `path`: the search for the straight path whose end is the solution; None without the
      request's field `straight`.
    - `newest`: the best solution in the worker's last report, or the final solution.
    - `has_default_bound`: whether parameter max_jump bounds the joint changes.
    - `phase`: the field `phase` of the action's feedback.
    """

    def __init__(self, request: IKRequest, robot: Robot, checker: CollisionChecker | None,
                 state: CurrentState, scene: Scene, execute: bool) -> None:
        super().__init__(robot, checker=checker)
        self.request, self.node_scene, self.execute, self._state = request, scene, execute, state
        self.path: PathSearch | None = None
        self.newest: IKSolution | None = None
        self.phase, self.has_default_bound = 'searching', False
        self.search = prepare(request, self)

    def start(self, request: IKRequest, active: frozenset[str], required: frozenset[str],
              checked: frozenset[str]) -> Array:
        """Return q (nq,), the seed completed from joint_states; set `notes` and the joint sets."""
        self.active_joints, self.required_joints = active, required
        q, self.notes = self._state.start(self.robot, request.seed, required, active, checked)
        return q


class IKEndpoint(Endpoint):
    """Base class of endpoints that search; `solve` publishes solutions on ~/solution."""

    # -- parsing --------------------------------------------------------------------------

    def read(self, message: ComputeIK.Request,
             state: StateInScene | None = None) -> PreparedRequest:
        """
        Parse a ComputeIK request or a goal of the action; raises IKError.

        `state` is the parsed state of the seed, None if it must be parsed here.
        """
        robot, parameters = self.description.current(), self.parameters
        if message.execute:
            require_fixed_base(robot)
        scene, seed = state or self.scene.parse_state(message.seed, robot, 'seed')
        request, checker = read_request(message, scene, seed, parameters,
                                        self.transforms.locate, self.scene.checker)
        if message.execute and not parameters.controllers:
            raise RequestError(Status.CONTROL_FAILED,
                               'execute: nothing moves the robot: parameter controllers is empty')
        prepared = PreparedRequest(request, robot, checker, self.current_state,
                                   self.scene.current.scene, message.execute)
        active, problem = prepared.active_joints, prepared.search.problem
        tips = [] if message.tips or TOOL in request.frames else [
            f'{target.tip} is the default tip' for target in request.targets]
        prepared.notes = [*tips, *prepared.notes]
        prepared.has_default_bound = message.execute and not message.max_joint_change
        # a straight path starts at the seed, so the joints that move need known positions
        if message.straight:
            self.current_state.start(robot, request.seed, frozenset(problem.joint_names))
            prepared.path = _path_search(message, problem, parameters)
        if message.execute:
            self.joint_states.require_agreement(active | prepared.required_joints)
        return prepared

    def read_moveit(self, request: PositionIKRequest, state: StateInScene) -> PreparedRequest:
        """Parse a request of MoveIt's type; `state` is its parsed robot_state; raises IKError."""
        return self.read(compute_ik_request(request, state.scene, self.parameters,
                                            self.transforms.locate), state)

    # -- search ---------------------------------------------------------------------------

    async def _search(self, prepared: PreparedRequest) -> tuple[IKSolution, Motion | None]:
        """
        Run a search briefly in this thread; if unfinished, or for a path, run it in a worker.

        Returns the solution and, for a straight path, the motion along it. Raises RequestError.
        """
        search, path = prepared.search, prepared.path
        if path is None and _run_slice(search):
            return search.solution(), None
        try:
            found = await self.by_worker(path or search, partial(setattr, prepared, 'newest'))
            return _end_of_path(path, found) if path else (found, None)
        # no answer from the worker: use the solution in its last report, or this thread's attempt
        except UnansweredError as error:
            newest = prepared.newest
            best = newest if newest and newest.success else search.solution()
            return best if best.success else replace(
                best, status=error.status, message=str(error),
                seconds=time.monotonic() - search.budget.started), None

    async def by_worker(self, search: AnySearch, on_progress: OnProgress = lambda _: None) -> Any:
        """
        Run a search in a worker, and return its result.

        `on_progress` is called in the pool's thread with the best solution so far. Raises
        RequestError if the robot was replaced meanwhile, if MAX_PENDING searches are open, or if
        the worker failed.
        """
        if (others := self.pool.open_jobs) >= MAX_PENDING:
            raise RequestError(Status.TIMED_OUT, f'busy: {others} searches are open, the maximum')
        try:
            return await self.wait(lambda done: self.pool.submit(search, done, on_progress))
        # also after UnansweredError, since a new robot cancels the searches for the previous one
        finally:
            if search.problem.robot.without_added_frames is not self.description.robot:
                raise RequestError(Status.INVALID_ROBOT_STATE, 'the robot was replaced meanwhile')

    # -- answer and motion ----------------------------------------------------------------

    async def solve(self, prepared: PreparedRequest, answer: ComputeIK.Response, stop_count: int,
                    requester: str, cancel_reason: Callable[[], str] = lambda: '') -> IKSolution:
        """
        Search, and write the solution into a ComputeIK response or the action's result.

        Returns the solution; on success, also publishes it and, with execute, moves the robot to
        it. `stop_count` is `motions.stop_count` when the request arrived; `requester` names the
        service or action; `cancel_reason` returns why to stop, or ''. Raises RequestError.
        """
        solution, path_motion = await self._search(prepared)
        prepared.newest = solution
        notes, problem = prepared.notes, prepared.search.problem
        if prepared.has_default_bound and 'max_joint_change' in solution.message:
            notes = [BOUND_NOTE, *notes]
        fill_answer(answer, solution, problem, notes)
        if not solution.success:
            return solution
        if self.solutions.get_subscription_count():
            self.solutions.publish(solution_message(
                answer, solution, problem, self.header(prepared.robot.root_frame)))
        if not prepared.execute:
            return solution
        prepared.phase, request, checker = 'moving', prepared.request, problem.checker
        outcome = self._rejection(prepared, solution) or await self.motions.run(MotionRequest(
            prepared.robot, {name: solution.best_joints[name] for name in answer_names(problem)},
            problem.group or '', request.avoid_collisions,
            # adds the request's attached objects and allowed collisions to the node's scene
            partial(checker.scene.rebased, prepared.node_scene) if checker else None,
            stop_count, requester, cancel_reason=cancel_reason,
            max_joint_change=request.options.max_joint_change or {}, path_motion=path_motion))
        set_status(answer, outcome.status, f'{answer.message}; {outcome.message}')
        answer.contacts = contact_messages(outcome.contacts, outcome.scene,
                                           self.header(prepared.robot.root_frame))
        answer.motion_seconds = float(outcome.motion_seconds)
        return solution

    def _rejection(self, prepared: PreparedRequest, solution: IKSolution) -> Outcome | None:
        """
        Return an outcome that rejects the motion if its solution may no longer hold, else None.

        The request's frames must not have changed during the search. Joints that the seed names or
        the solution depends on must be where the solution has them, unless the search moves them.
        """
        if change := frame_change_text(prepared.request.frames, prepared.node_scene,
                                       self.scene.current.scene):
            return Outcome(Status.INVALID_MOTION_PLAN, f'nothing was moved: {change}; try again')
        at, joints = self.current_state.known_values(prepared.robot), solution.best_joints
        for name in sorted({*prepared.required_joints, *prepared.request.seed}
                           - {*prepared.search.problem.joint_names}):
            if name in at and abs(self.joint_states.difference(
                    [name], joints[name])[0]) > REST_TOLERANCE:
                return Outcome(Status.INVALID_ROBOT_STATE, f"nothing was moved: joint '{name}' is "
                               f'at {at[name]}, but the solution holds for {joints[name]} only; '
                               'repeat the request with the current position')
            if name in prepared.required_joints and name not in at:
                return Outcome(Status.INVALID_ROBOT_STATE, "nothing was moved: the position of "
                               f"joint '{name}' is known from the seed only")
        return None


def _run_slice(search: Search) -> bool:
    """
    Run a search for up to SEARCH_SLICE if its solver is FAST_SOLVER; return whether it finished.

    SEARCH_SLICE is CPU time, so that a busy machine does not shorten it.
    """
    if search.solver != FAST_SOLVER:
        return False
    end = time.thread_time() + SEARCH_SLICE
    while not search.run(seconds=0):
        if time.thread_time() >= end:
            return False
    return True


def _path_search(message: ComputeIK.Request, problem: IKProblem,
                 parameters: Parameters) -> PathSearch:
    """Return the search for a straight path of the tip to the target; raises RequestError."""
    if len(problem.targets) != 1:
        raise invalid(f'straight: {len(problem.targets)} targets; valid: one')
    if not message.tip_speed >= 0:
        raise invalid(f'tip_speed is {message.tip_speed:g}; valid: above 0 [m/s], or 0 '
                      f'({MAX_TIP_SPEED:g} m/s)')
    if problem.costs:
        raise invalid('straight: costs are not supported; valid: constraints')
    limits = scaled_limits(motion_limits(problem.robot, problem.joint_names, parameters),
                           parameters.velocity_scaling, parameters.acceleration_scaling)
    timeout = message.timeout.sec + message.timeout.nanosec * 1e-9
    return PathSearch(
        problem, [problem.targets[0].transform], limits, message.tip_speed or MAX_TIP_SPEED,
        PathOptions(resolution=parameters.path_resolution,
                    timeout=timeout or parameters.max_timeout))


def _end_of_path(search: PathSearch, found: TimedPath) -> tuple[IKSolution, Motion | None]:
    """Return the end of a path, checked like any other solution, and the motion along the path."""
    problem = search.problem
    q = problem.start.copy()
    q[problem.active.indices] = found.states[-1, 0]
    # a search that starts at the end of the path, without restarts, only checks that end
    check = Search(problem, [q], allow_restarts=False)
    seconds = time.monotonic() - search.budget.started
    if found.status is not Status.SUCCESS:
        check.budget.cancel = lambda: True
        return replace(check.solution(), status=found.status, message=found.message,
                       seconds=seconds), None
    check.run()
    solution = replace(check.solution(), seconds=seconds)
    if solution.success:
        change = largest_change(problem.active.joints, problem.start, q)
        solution = replace(solution, message=f'{found.message}; largest joint change {change}')
    # a path with one state has no motion: the tip is at the target
    motion = Motion.spline(problem.joint_names, found.times, found.states[:, 0],
                           found.states[:, 1]) if len(found.times) > 1 else None
    return solution, motion
