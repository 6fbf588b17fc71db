"""Branches: continuous sequences of configurations along a path, and checks of their steps."""

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise
import math
import time

import numpy as np

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.errors import InvalidOptionError
from ros2_ik.core.path.path import PathOptions
from ros2_ik.core.path.tool_paths import ROTATION_LENGTH, ToolPath
from ros2_ik.core.problem import accept, IKProblem
from ros2_ik.core.robot import Configuration
from ros2_ik.core.solvers import Budget, make_solver, solve
from ros2_ik.core.solvers.search import chosen_solver
from ros2_ik.core.solvers.starts import generator_state, Starts

# configurations closer than this in each joint are the same node [rad, m]
SAME_NODE = 1e-3
# largest change of a joint from sample to sample, before configurations are added [rad, m]
MAX_SAMPLE_STEP = 1.0
# bisections of a step until the tool is within the allowed deviation
STEP_BISECTIONS = 10
# error at which descents end [m, rad]; larger errors make the spline through the results jerky
SOLUTION_TOLERANCE = 1e-9
# distance kept from joint limits, because the spline overshoots its points [rad, m]
LIMIT_MARGIN = 2e-3
# iteration limit of the search for starts; a UR5 has eight solutions
START_ITERATIONS = 2000
# timeout of a search after the deadline [s]
MIN_TIMEOUT = 1e-3
MAX_SAMPLES = 100_000   # of a path; each takes some 0.5 ms and 50 kB
# parameters and configurations (nq,) in the order of the path
Chain = list[tuple[float, Array]]


class Branches:
    """
    A graph of configurations along a path.

    `nodes[i]` are the configurations at `samples[i]` (n,). `refused[i]` has the pairs of nodes at
    the samples i and i + 1 between which no motion is allowed, by their numbers. `given` is the
    original problem, `problem` has narrower joint limits.
    """

    def __init__(self, problem: IKProblem, path: ToolPath, options: PathOptions,
                 budget: Budget) -> None:
        self.given, self.path, self.options, self.budget = problem, path, options, budget
        self.problem = _with_narrower_limits(problem)
        # the problem with the target at the parameter s [m] of the path; each is used many times
        self.at = cache(lambda s: self.problem.again([path.pose(s)]))
        # the problem of the first pose with the original limits, to check the seed
        self.first = problem.again([path.pose(0.0)])
        self.samples = _samples(path, options.spacing)
        self.nodes: list[list[Array]] = [[] for _ in self.samples]
        self.refused: list[set[tuple[int, int]]] = [set() for _ in self.samples[1:]]
        # weight of squared joint steps: their sum is about the length of the path times the
        # integral of |dq/ds|^2, which does not depend on the sampling
        self.weight = len(self.samples) - 1
        self.seed = self.problem.within_limits(problem.start)
        self._name, _ = chosen_solver('auto', problem)
        self._state = generator_state(0)     # not advanced: no descent draws starts
        self._solver_options = (
            {'solution_tolerance': SOLUTION_TOLERANCE} if self._name == 'lm' else {})
        self._solver = make_solver(self._name, self.problem, self._solver_options)

    @property
    def left(self) -> float:
        """The time until the deadline [s], at least MIN_TIMEOUT."""
        return max(self.budget.deadline - time.monotonic(), MIN_TIMEOUT)

    # -- one configuration ------------------------------------------------------------------

    def descend(self, problem: IKProblem, q: Array) -> Array:
        """Return the end of a descent from q (nq,) to a pose of the path."""
        # only solvers that draw their own starts accept another pose than their own
        solver = (self._solver if self._solver.finds_starts else
                  make_solver(self._name, problem, self._solver_options))
        return solver.find(problem, Starts(q, 0, 0, self._state), self.budget)[0].q

    def follow(self, s: float, q: Array, most: float | None = None) -> Array | None:
        """Return an accepted configuration at a parameter, within one step of q (nq,), or None."""
        problem = self.at(s)
        end = self.descend(problem, q)
        is_near = np.abs(end - q).max() <= (most or self.options.max_joint_step)
        return end if is_near and accept(problem, end).accepted else None

    def is_step(self, before: Array, after: Array) -> bool:
        """Return whether no joint changes by more than `max_joint_step`."""
        return bool(np.abs(after - before).max() <= self.options.max_joint_step)

    def search(self, layer: int) -> list[Array]:
        """Return up to `starts` different accepted configurations at a sample."""
        found = solve(self.at(self.samples[layer]), solutions=self.options.starts, random_state=0,
                      max_iterations=START_ITERATIONS, cancel=self.options.cancel,
                      timeout=self.left)
        return [each.q for each in (found, *found.alternatives) if each.q is not None]

    # -- branches ---------------------------------------------------------------------------

    def grow(self, layer: int, starts: Sequence[Array]) -> None:
        """Trace branches from configurations (nq,) at sample `layer` to both ends of the path."""
        for q in starts:
            for direction in (1, -1):
                self._trace(layer, q, direction)

    def _trace(self, layer: int, q: Array, direction: int) -> None:
        """Trace a branch to higher (1) or lower samples (-1), until it ends or merges."""
        self._add_node(layer, q)
        while 0 <= layer + direction < len(self.samples) and not self.budget.over():
            layer += direction
            found = self.follow(self.samples[layer], q, MAX_SAMPLE_STEP)
            if found is None or not self._add_node(layer, found):
                return
            q = found

    def _add_node(self, layer: int, q: Array) -> bool:
        """Add a node at q (nq,) to a sample; return False if there is one already."""
        nodes = self.nodes[layer]
        if nodes and np.abs(np.array(nodes) - q).max(axis=1).min() < SAME_NODE:
            return False
        nodes.append(q)
        return True

    def cheapest(self) -> list[int]:
        """
        Return the node numbers, one for each sample, of the cheapest of the longest chains.

        The cost is the squared distance of the first node from the seed, plus the weighted squared
        steps. Found by dynamic programming over the samples.
        """
        parents, first = list[Indices](), np.array(self.nodes[0])
        cost = ((first - self.seed)**2).sum(axis=1)
        # node 0 is the seed; other nodes come from branches traced down to the first sample
        if self.options.hold_start:
            cost[1:] = np.inf
        for before, after, refused in zip(self.nodes, self.nodes[1:], self.refused, strict=False):
            if not after:
                break
            steps = np.array(after)[None] - np.array(before)[:, None]
            allowed = np.abs(steps).max(axis=2) <= MAX_SAMPLE_STEP
            for pair in refused:
                allowed[pair] = False
            sums = cost[:, None] + np.where(allowed, self.weight * (steps**2).sum(axis=2), np.inf)
            if not np.isfinite(sums).any():
                break
            parents.append(sums.argmin(axis=0))
            cost = sums.min(axis=0)
        # follow the parents back from the cheapest last node
        chain = [int(cost.argmin())]
        for parent in reversed(parents):
            chain.append(int(parent[chain[-1]]))
        return chain[::-1]

    def best(self) -> tuple[Chain, Chain]:
        """Return the cheapest chain of samples whose steps are all allowed, and its refinement."""
        @cache      # successive chains share most of their steps
        def divided(i: int, before: int, after: int) -> Chain | None:
            return self._divided((float(self.samples[i]), self.nodes[i][before]),
                                 (float(self.samples[i + 1]), self.nodes[i + 1][after]),
                                 STEP_BISECTIONS)
        # refuse the first step that is not allowed, and look for the next cheapest chain
        while True:
            numbers = self.cheapest()
            chain = [(float(s), nodes[k]) for s, nodes, k in zip(
                self.samples, self.nodes, numbers, strict=False)]
            whole, refused = _joined(chain[0], (
                divided(i, *pair) for i, pair in enumerate(pairwise(numbers))))
            if refused is None or self.budget.over():
                return chain if refused is None else chain[:refused + 1], whole
            self.refused[refused].add((numbers[refused], numbers[refused + 1]))

    # -- steps between configurations ---------------------------------------------------------

    def refined(self, chain: Chain) -> tuple[Chain, int | None]:
        """
        Return a chain with configurations added until each step is allowed.

        All knots of the path are added. If a step cannot be refined, the result ends before this
        step, and the second return value is the index of the step, otherwise None.
        """
        return _joined(chain[0], (self._divided(start, end, STEP_BISECTIONS)
                                  for start, end in pairwise(chain)))

    def _divided(self, start: tuple[float, Array], end: tuple[float, Array],
                 bisections: int) -> Chain | None:
        """Return the configurations after `start` up to `end`; None if a step is not allowed."""
        (s, q), (s_end, q_end), knots = start, end, self.path.knots
        inner = knots[(s < knots) & (knots < s_end)]
        middle = float(inner[len(inner) // 2]) if len(inner) else (s + s_end) / 2
        between = q + (q_end - q) * (middle - s) / (s_end - s)
        # done if the step spans no knot, is short, and its middle is near the path
        if not len(inner) and self.is_step(q, q_end) and (
                deviation(self.at(middle), between) <= self.options.max_deviation):
            return [end] if self._is_free(q, q_end) else None
        # otherwise add a configuration in the middle and divide both halves
        added = self.follow(middle, between) if bisections else None
        bisections -= not len(inner)
        first = None if added is None else self._divided(start, (middle, added), bisections)
        second = None if first is None else self._divided(first[-1], end, bisections)
        return None if first is None or second is None else first + second

    def _is_free(self, q: Array, end: Array) -> bool:
        """Return whether there is no contact between two configurations without contact."""
        checker = self.problem.checker
        count = math.ceil(float(np.abs(end - q).max()) / self.options.resolution)
        return checker is None or not any(checker.collides(q + (end - q) * k / count)
                                          for k in range(1, count))


def _joined(start: tuple[float, Array], steps: Iterable[Chain | None]) -> tuple[Chain, int | None]:
    """Return all steps as one chain, up to the first that is None, and the index of that step."""
    found = [start]
    for i, step in enumerate(steps):
        if step is None:
            return found, i
        found += step
    return found, None


def deviation(problem: IKProblem, q: Array) -> float:
    """Return the distance [m] of the tool at q (nq,) from its pose; 1 rad counts as 0.2 m."""
    error, = accept(problem, q).errors
    return max(error.position, ROTATION_LENGTH * error.orientation)


def pose_jacobian(problem: IKProblem, q: Array) -> Array:
    """Return the Jacobian (m, n) of the counted target rows w.r.t. the active columns."""
    target, robot = problem.targets[0], problem.robot
    J = target.function.jacobian(Configuration(robot, q, robot.scratch_data()))
    counted: Array = J[target.counted][:, problem.active.v_slice]
    return counted


def _with_narrower_limits(problem: IKProblem) -> IKProblem:
    """Return the problem with its joint limits narrowed by LIMIT_MARGIN."""
    margin = np.minimum(LIMIT_MARGIN, (problem.upper - problem.lower) / 4)
    result = problem.bounded(problem.change_bound)
    result.active = problem.active.within(problem.lower + margin, problem.upper - margin)
    result.lower, result.upper = result.active.lower, result.active.upper
    return result


def _samples(path: ToolPath, spacing: float) -> Array:
    """Return parameters (n,) about `spacing` [m] apart, at knots where these are near."""
    if path.length > MAX_SAMPLES * spacing:
        raise InvalidOptionError(f'the path is {path.length:.4g} m long; at a spacing of '
                                 f'{spacing:g} m, at most {MAX_SAMPLES * spacing:g} m are '
                                 'searched')
    count = math.ceil(path.length / spacing - 1e-6)
    even = np.linspace(0.0, path.length, max(count, 1) + 1)
    nearest = np.clip(np.searchsorted(path.knots, even), 1, len(path.knots) - 1)
    low, high = path.knots[nearest - 1], path.knots[nearest]
    knot = np.where(even - low < high - even, low, high)
    return np.unique(np.where(np.abs(knot - even) < spacing / 2, knot, even))
