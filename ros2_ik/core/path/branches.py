"""The search for the best continuous sequence of configurations along a path, and its options."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, product
import math
from threading import Event
import time

import numpy as np

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.checks import between, check_cancel, flag, positive, whole
from ros2_ik.core.errors import InvalidOptionError
from ros2_ik.core.motion.path_collision_check import largest_step
from ros2_ik.core.path.tool_paths import ROTATION_LENGTH, ToolPath
from ros2_ik.core.problem import accept, IKProblem, IKSolution
from ros2_ik.core.solvers import Budget, make_solver, Search
from ros2_ik.core.solvers.starts import OWN_STATE, Starts

# configurations closer than this in each joint are the same node [rad, m]
SAME_NODE = 1e-3
# largest change of a joint between neighbouring samples; larger steps are refused [rad, m]
MAX_SAMPLE_STEP = 1.0
# maximum number of nested bisections of a step between two samples
STEP_BISECTIONS = 10
# error at which `lm` descents end [m, rad]; larger errors make the spline of the results jerky
SOLUTION_TOLERANCE = 1e-9
# distance kept from joint limits [rad, m]. The spline overshoots its points by up to 2e-3. A
# braking motion overshoots a point where a joint reverses: at full acceleration by up to 7e-3 in
# most simulated stops, but by 14e-3 in one of 5,000.
LIMIT_MARGIN = 1e-2
# iteration limit of a search at one pose, which may have several configurations (UR5: eight)
ITERATIONS = 2000
# share of the time limit for tracing branches; the rest is for checking the steps between samples
TRACE_SHARE = 0.6
MAX_SAMPLES = 100_000   # largest number of samples of a path; each takes about 0.5 ms and 50 kB
# largest valid spacing [m]; with a larger one, descents from sample to sample fail too often
LARGEST_SPACING = 0.1
# pairs of a path parameter [m] and a configuration (nq,), in the order of the path
Chain = list[tuple[float, Array]]


@dataclass(frozen=True)
class PathOptions:
    """
    Options of `solve_path`.

    - `spacing` [m]: approximate distance between samples of the tool path, where 1 rad
      counts as 0.2 m.
    - `max_joint_step` [rad, m]: largest change of a joint between consecutive configurations.
    - `max_deviation` [m]: largest distance between tool and path, halfway between consecutive
      configurations; 1 rad of rotation counts as 0.2 m. Configurations are added as necessary.
    - `starts`: largest number of configurations tried at the first pose, and at each pose where
      all branches end.
    - `hold_start`: if True, the seed is the first configuration.
    - `resolution` [rad, m]: largest joint change between two collision checks.
    - `timeout` [s]: time limit of the whole search.
    - `cancel`: an event, or a callable that returns True to cancel the search.

    Raises InvalidOptionError.
    """

    spacing: float = 0.01
    max_joint_step: float = 0.2
    max_deviation: float = 1e-3
    starts: int = 16
    hold_start: bool = False
    resolution: float = 0.01
    timeout: float = 30.0
    cancel: Event | Callable[[], bool] | None = None

    def __post_init__(self) -> None:
        between(self.spacing, 'spacing', 1e-6, LARGEST_SPACING, InvalidOptionError)
        for name in ('max_joint_step', 'max_deviation', 'resolution', 'timeout'):
            positive(getattr(self, name), name, InvalidOptionError)
        whole(self.starts, 'starts', InvalidOptionError, upper=1000)
        flag(self.hold_start, 'hold_start', InvalidOptionError)
        check_cancel(self.cancel, InvalidOptionError)


class Branches:
    """
    A graph of configurations along a path.

    `samples` (n,) are parameters of the path [m], and `nodes[i]` the configurations at samples[i].
    `refused[i]` has the pairs (a, b) of indices such that no allowed motion was found from node a
    of sample i to node b of sample i + 1. The start of `problem` is the seed; the target of
    `problem` is at the first pose.
    """

    def __init__(self, problem: IKProblem, path: ToolPath, options: PathOptions,
                 budget: Budget) -> None:
        self.problem, self.path, self.options, self.budget = problem, path, options, budget
        now = time.monotonic()
        self._trace_budget = Budget(now + TRACE_SHARE * (budget.deadline - now),
                                    cancel=budget.cancel)
        self.interrupted = False    # True after a timeout or a cancellation
        # the problem with joint limits narrowed by up to LIMIT_MARGIN
        narrowed = problem.bounded(problem.change_bound)
        margin = np.minimum(LIMIT_MARGIN, (problem.upper - problem.lower) / 4)
        # joints that do not move the tip, such as those of a gripper, may stay at their limits
        target = problem.targets[0]
        moving = problem.robot.moving_joints(target.tip, target.relative_to)
        margin[[joint.index for joint in problem.active.joints if joint.name not in moving]] = 0.0
        narrowed.active = problem.active.within(problem.lower + margin, problem.upper - margin)
        narrowed.lower, narrowed.upper = narrowed.active.lower, narrowed.active.upper
        # the problem with the target at the path parameter s [m]; cached, as it is often reused
        self.at = cache(lambda s: narrowed.with_poses([path.pose(s)]))
        self.seed = narrowed.within_limits(problem.start)
        self.samples = _samples(path, options.spacing)
        self.nodes: list[list[Array]] = [[] for _ in self.samples]
        self.refused = defaultdict[int, set[tuple[int, int]]](set)
        # one `lm` solver serves all poses of the path; an `sqp` solver serves a single problem
        self._lm = (make_solver('lm', narrowed, {'solution_tolerance': SOLUTION_TOLERANCE})
                    if problem.kinds == {'targets'} else None)

    def descend(self, problem: IKProblem, q: Array) -> Array:
        """Return the end (nq,) of a descent from q (nq,) to the target of a problem."""
        solver = self._lm or make_solver('sqp', problem, {})
        # start 0 is q itself, so no random start is drawn
        return solver.find(problem, Starts(q, 0, 0, OWN_STATE), self.budget)[0].q

    def follow(self, s: float, q: Array, most: float) -> Array | None:
        """Return an accepted configuration at parameter s, within `most` of q (nq,), or None."""
        problem = self.at(s)
        end = self.descend(problem, q)
        return end if largest_step(q, end) <= most and accept(problem, end).accepted else None

    def solve(self, s: float, q: Array, solutions: int = 1) -> IKSolution:
        """Search for configurations at the parameter s, first near q (nq,)."""
        search = Search(self.at(s), [q], solutions=solutions, random_state=0)
        search.budget = Budget(self.budget.deadline, ITERATIONS, self.budget.cancel)
        search.run()
        return search.solution()

    def search(self) -> Chain:
        """Return the cheapest of the chains that reach farthest; [] if there is no start."""
        layer, chain, starts = 0, Chain(), self._starts(0)
        # search for new configurations where all chains end, and trace their branches in both
        # directions, as long as the chains get longer
        while starts:
            self._trace(layer, starts)
            chain, before = self._best(), layer
            layer = self.next_sample(chain)
            is_farther = before < layer < len(self.samples)
            stops = not is_farther or self._is_over(self._trace_budget)
            starts = [] if stops else self._starts(layer)
        return chain

    def next_sample(self, chain: Chain) -> int:
        """Return the index of the first sample after the end of a chain; 0 for an empty chain."""
        return int(np.searchsorted(self.samples, chain[-1][0], 'right')) if chain else 0

    def _starts(self, layer: int) -> list[Array]:
        """Return distinct accepted configurations at a sample: up to `starts`, or a held seed."""
        if self.options.hold_start and layer == 0:
            start = self.problem.start
            return [start] if accept(self.problem, start).accepted else []
        found = self.solve(self.samples[layer], self.seed, self.options.starts)
        return [each.q for each in (found, *found.alternatives) if each.q is not None]

    def _is_over(self, budget: Budget) -> bool:
        over = budget.over()
        self.interrupted |= over
        return over

    def _trace(self, layer: int, starts: Sequence[Array]) -> None:
        """Trace branches from configurations (nq,) at sample `layer`, until they end or merge."""
        sample_ranges = range(layer + 1, len(self.samples)), range(layer - 1, -1, -1)
        for start, sample_range in product(starts, sample_ranges):
            self._add_node(layer, q := start)
            for i in sample_range:
                found = None if self._is_over(self._trace_budget) else self.follow(
                    self.samples[i], q, MAX_SAMPLE_STEP)
                if found is None or not self._add_node(i, found):
                    break
                q = found

    def _add_node(self, layer: int, q: Array) -> bool:
        """Add a node at q (nq,) to a sample; return False if the sample already has this node."""
        nodes = self.nodes[layer]
        if nodes and np.abs(np.array(nodes) - q).max(axis=1).min() < SAME_NODE:
            return False
        nodes.append(q)
        return True

    def _best(self) -> Chain:
        """Return the cheapest of the longest allowed chains, subdivided by `_subdivide`."""
        samples, nodes = self.samples.tolist(), self.nodes
        # cached, because successive chains share most of their steps
        subdivide = cache(lambda i, a, b: self._subdivide(
            (samples[i], nodes[i][a]), (samples[i + 1], nodes[i + 1][b]), STEP_BISECTIONS))
        # refuse the first step that is not allowed, and look for the next cheapest chain
        while True:
            numbers = self._cheapest()
            chain = [(samples[0], nodes[0][numbers[0]])]
            for i, pair in enumerate(pairwise(numbers)):
                added = None if self._is_over(self.budget) else subdivide(i, *pair)
                if added is None:
                    self.refused[i].add(pair)
                    break
                chain += added
            else:
                return chain
            if self._is_over(self.budget):
                return chain

    def _cheapest(self) -> list[int]:
        """
        Return the node indices, one for each sample, of the cheapest of the longest chains.

        The cost is the squared distance of the first node from the seed, plus the number of steps
        times the sum of the squared steps. The second term approximates the path length times the
        integral of |dq/ds|^2, whatever the sampling. Solved by dynamic programming over samples.
        """
        parents, first = list[Indices](), np.array(self.nodes[0])
        cost = ((first - self.seed)**2).sum(axis=1)
        # start at node 0, the seed; other nodes come from branches traced back to the first sample
        if self.options.hold_start:
            cost[1:] = np.inf
        for i, (before, after) in enumerate(pairwise(self.nodes)):
            if not after:
                break
            steps = np.array(after)[None] - np.array(before)[:, None]
            allowed = np.abs(steps).max(axis=2) <= MAX_SAMPLE_STEP
            for pair in self.refused[i]:
                allowed[pair] = False
            squares = (len(self.samples) - 1) * (steps**2).sum(axis=2)
            sums = cost[:, None] + np.where(allowed, squares, np.inf)
            if not np.isfinite(sums).any():
                break
            parents.append(sums.argmin(axis=0))
            cost = sums.min(axis=0)
        # follow the parents back from the cheapest last node
        chain = [int(cost.argmin())]
        for parent in reversed(parents):
            chain.append(int(parent[chain[-1]]))
        return chain[::-1]

    def _subdivide(self, start: tuple[float, Array], end: tuple[float, Array],
                   bisections: int) -> Chain | None:
        """
        Return the chain from `start` (excluded) to `end`, or None if a step is not allowed.

        The chain has a configuration at each knot between `start` and `end`.
        """
        (s, q), (s_end, q_end), knots = start, end, self.path.knots
        inner = knots[(s < knots) & (knots < s_end)]
        middle = float(inner[len(inner) // 2]) if len(inner) else (s + s_end) / 2
        between = q + (q_end - q) * (middle - s) / (s_end - s)
        # done if the step spans no knot, is short, and its middle is near the path
        most = self.options.max_joint_step
        if not len(inner) and largest_step(q, q_end) <= most and (
                deviation(self.at(middle), between) <= self.options.max_deviation):
            return [end] if self._is_free(q, q_end) else None
        # otherwise add a configuration in the middle and divide both halves
        added = self.follow(middle, between, most) if bisections else None
        bisections -= 0 if len(inner) else 1
        first = None if added is None else self._subdivide(start, (middle, added), bisections)
        second = first and self._subdivide(first[-1], end, bisections)
        return first and second and first + second

    def _is_free(self, q: Array, end: Array) -> bool:
        """Return whether the line between two contact-free configurations has no contact."""
        checker = self.problem.checker
        count = math.ceil(largest_step(q, end) / self.options.resolution)
        return checker is None or not any(checker.collides(q + (end - q) * k / count)
                                          for k in range(1, count))


def deviation(problem: IKProblem, q: Array) -> float:
    """Return the larger of the tool's position and angular error [m]; 1 rad counts as 0.2 m."""
    error, = accept(problem, q).errors
    return max(error.position, ROTATION_LENGTH * error.orientation)


def _samples(path: ToolPath, spacing: float) -> Array:
    """Return parameters (n,) about `spacing` [m] apart; those near a knot are moved to it."""
    if path.length > MAX_SAMPLES * spacing:
        raise InvalidOptionError(f'the path is {path.length:.4g} m long; at a spacing of '
                                 f'{spacing:g} m, at most {MAX_SAMPLES * spacing:g} m are '
                                 'searched')
    count = math.ceil(path.length / spacing - 1e-6)
    even = np.linspace(0.0, path.length, max(count, 1) + 1)
    nearest = path.knots[np.searchsorted((path.knots[1:] + path.knots[:-1]) / 2, even)]
    return np.unique(np.where(np.abs(nearest - even) < spacing / 2, nearest, even))
