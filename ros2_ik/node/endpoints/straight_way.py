"""The straight path of the tip to the target of a request."""

from dataclasses import replace

from ros2_ik.core import IKProblem, IKSolution, Motion, Status
from ros2_ik.core.internals import largest_change, PathOptions, PathSearch, Search, TimedPath
from ros2_ik.messages.request_error import wrong
from ros2_ik.node.controllers.controller import motion_limits
from ros2_ik.node.motion.planning import MAX_TIP_SPEED, usable
from ros2_ik.node.parameters import Parameters
from ros2_ik.srv import ComputeIK


class StraightWay:
    """
    The search for a straight path of the tip to a request's target, and the motion along it.

    Raises RequestError for a request with costs, or with a number of targets other than one.
    """

    def __init__(self, message: ComputeIK.Request, problem: IKProblem,
                 parameters: Parameters) -> None:
        if len(problem.targets) != 1:
            raise wrong(f'straight: {len(problem.targets)} targets; valid: one')
        if not message.tip_speed >= 0:
            raise wrong(f'tip_speed is {message.tip_speed:g}; valid: above 0 [m/s], or 0 (limited '
                        'by the joints only)')
        if problem.costs:
            raise wrong('straight: costs are not supported; valid: constraints')
        limits = usable(motion_limits(problem.robot, problem.joint_names, parameters),
                        parameters.velocity_scaling, parameters)
        timeout = message.timeout.sec + message.timeout.nanosec * 1e-9
        self.search = PathSearch(
            problem, [problem.targets[0].transform], limits, message.tip_speed or MAX_TIP_SPEED,
            PathOptions(resolution=parameters.path_resolution,
                        timeout=timeout or parameters.max_timeout))
        self.motion: Motion | None = None   # remains None if the tip is at the target already

    def end(self, found: TimedPath) -> IKSolution:
        """Return the solution at the end of the path found, checked as any other solution."""
        problem = self.search.problem
        q = problem.start.copy()
        q[problem.active.indices] = found.states[-1, 0]
        # a search that starts at the end of the path, without restarts, only checks that end
        check = Search(problem, [q], allow_restarts=False)
        if found.status is not Status.SUCCESS:
            check.budget.cancel = lambda: True
            return replace(check.solution(), status=found.status, message=found.message)
        check.run()
        # a path with one state has no motion
        if len(found.times) > 1:
            self.motion = Motion.spline(found.joints, found.times, found.states[:, 0],
                                        found.states[:, 1])
        solution = check.solution()
        if not solution.success:
            return solution
        change = largest_change(problem.active.joints, problem.start, q)
        return replace(solution, message=f'{found.message}; largest joint change {change}')
