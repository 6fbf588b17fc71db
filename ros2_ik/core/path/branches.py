"""Branches: continuous sequences of configurations along a path, and checks of their steps."""

from collections.abc import Sequence
from itertools import pairwise
import math
import time

import numpy as np

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.errors import InvalidOptionError
from ros2_ik.core.kernels.comparisons import are_within
from ros2_ik.core.kernels.rows import TURN
from ros2_ik.core.path.path import PathOptions
from ros2_ik.core.path.tool_paths import ToolPath
from ros2_ik.core.problem import accept, IKProblem
from ros2_ik.core.robot import Configuration
from ros2_ik.core.solvers import Budget, make_solver, Search, SolveOptions
from ros2_ik.core.solvers.search import chosen_solver, generator_state
from ros2_ik.core.solvers.starts import Starts

# configurations closer than this in each joint are the same node [rad, m]
SAME_NODE = 1e-3
# bisections of the interval to the next sample, if a branch does not reach the sample directly
TRACE_BISECTIONS = 4
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

    `nodes[i]` are the configurations at `samples[i]`. `links[i]` are pairs of node numbers at the
    samples i and i + 1, one traced from the other; `refused[i]` are pairs whose step is not
    allowed. `needed` (m,) are the parameters of all poses that the solution must contain;
    `samples` (n,) is a subset of them. `given` is the original problem, `problem` has narrower
    joint limits.
    """

    def __init__(self, problem: IKProblem, path: ToolPath, options: PathOptions,
                 budget: Budget) -> None:
        self.given, self.path, self.options, self.budget = problem, path, options, budget
        if path.length > MAX_SAMPLES * options.spacing:
            raise InvalidOptionError(f'the path is {path.length:.4g} m long; at a spacing of '
                                     f'{options.spacing:g} m, at most '
                                     f'{MAX_SAMPLES * options.spacing:g} m are searched')
        self.problem = _with_narrower_limits(problem)
        self.needed = path.samples(options.spacing)
        self.samples = _thinned(self.needed, options.spacing)
        self.nodes: list[list[Array]] = [[] for _ in self.samples]
        self.links: list[set[tuple[int, int]]] = [set() for _ in self.samples[1:]]
        self.refused: list[set[tuple[int, int]]] = [set() for _ in self.samples[1:]]
        self.seed = self.problem.within_limits(problem.start)
        self._problems: dict[float, IKProblem] = {}
        self._name, _ = chosen_solver('auto', problem)
        self._solver_options = (
            {'solution_tolerance': SOLUTION_TOLERANCE} if self._name == 'lm' else {})
        self._solver = make_solver(self._name, self.problem, self._solver_options)
        self._state = generator_state(options.random_state)

    def at(self, s: float) -> IKProblem:
        """Return the problem with the target at the parameter s [m] of the path."""
        found = self._problems.get(s)
        if found is None:
            found = self._problems[s] = self.problem.again([self.path.pose(s)])
        return found

    def between(self, s: float, end: float) -> tuple[float, bool]:
        """Return the middle of `needed` in (s, end) and True; if none, the midpoint and False."""
        low, high = np.searchsorted(self.needed, s, 'right'), np.searchsorted(self.needed, end)
        return (float(self.needed[(low + high) // 2]), True) if low < high else (
            (s + end) / 2, False)

    @property
    def left(self) -> float:
        """The time until the deadline [s], at least MIN_TIMEOUT."""
        return max(self.budget.deadline - time.monotonic(), MIN_TIMEOUT)

    def first(self) -> IKProblem:
        """Return the problem of the first pose with the original limits, to check the seed."""
        return self.given.again([self.path.pose(0.0)])

    # -- one configuration ------------------------------------------------------------------

    def descend(self, s: float, q: Array) -> Array:
        """Return the end of a descent from q (nq,) to the pose at a parameter."""
        problem, solver = self.at(s), self._solver
        # only solvers that draw their own starts accept another pose than their own
        if not solver.finds_starts:
            solver = make_solver(self._name, problem, self._solver_options)
        return solver.find(problem, Starts(q, 0, 0, self._state), self.budget)[0].q

    def follow(self, s: float, q: Array) -> Array | None:
        """Return an accepted configuration at a parameter, within one step of q (nq,), or None."""
        end = self.descend(s, q)
        return end if self.is_step(q, end) and accept(self.at(s), end).accepted else None

    def is_step(self, before: Array, after: Array) -> bool:
        """Return whether no joint changes by more than `max_joint_step`."""
        return bool(are_within.run(after, before, before, self.options.max_joint_step))

    def search(self, s: float) -> list[Array]:
        """Return up to `starts` different accepted configurations at a parameter."""
        search = Search(self.at(s), options=SolveOptions(
            solutions=self.options.starts, random_state=self.options.random_state,
            max_iterations=START_ITERATIONS, cancel=self.options.cancel,
            timeout=self.left))
        search.run()
        return [one.attempt.q for one in search.accepted][:self.options.starts]

    # -- branches ---------------------------------------------------------------------------

    def grow(self, layer: int, starts: Sequence[Array]) -> None:
        """Trace branches from configurations (nq,) at sample `layer` to both ends of the path."""
        waiting = [q.copy() for q in starts]
        while waiting:
            q = waiting.pop(0)
            last = self._trace(layer, q, 1)
            self._trace(layer, q, -1)
            if last is not None:
                waiting += self._other_turns(layer, q, last)

    def _trace(self, layer: int, q: Array, direction: int) -> Array | None:
        """
        Trace a branch to higher (`direction` 1) or lower samples (-1), until it stops or merges.

        Returns the last configuration of a branch that stops before the end of the path; None if
        the branch reaches the end of the path or merges with another branch.
        """
        a, _ = self._add_node(layer, q)
        while 0 <= layer + direction < len(self.samples):
            q = self.nodes[layer][a]
            found = None if self.budget.over() else self._advance(
                q, float(self.samples[layer]), float(self.samples[layer + direction]))
            if found is None:
                return q
            b, is_new = self._add_node(layer + direction, found)
            self.links[min(layer, layer + direction)].add((a, b) if direction > 0 else (b, a))
            if not is_new:
                break
            layer, a = layer + direction, b
        return None

    def _advance(self, q: Array, s: float, end: float,
                 bisections: int = TRACE_BISECTIONS) -> Array | None:
        """Return the configuration at `end` on the branch through q (nq,) at s, or None."""
        found = self.follow(end, q)
        if found is None and bisections:
            middle = (s + end) / 2
            half = self._advance(q, s, middle, bisections - 1)
            found = None if half is None else self._advance(half, middle, end, bisections - 1)
        return found

    def _add_node(self, layer: int, q: Array) -> tuple[int, bool]:
        """Return the number of the node at q (nq,), added if missing, and whether it is new."""
        nodes = self.nodes[layer]
        for k, node in enumerate(nodes):
            if are_within.run(q, node, node, SAME_NODE):
                return k, False
        nodes.append(q)
        return len(nodes) - 1, True

    def _other_turns(self, layer: int, q: Array, last: Array) -> list[Array]:
        """
        Return q (nq,) turned back by a full turn in one joint, for each joint stopped at a limit.

        `last` (nq,) is the configuration at which the branch from q stopped.
        """
        lower, upper, found = self.problem.lower, self.problem.upper, list[Array]()
        for index in self.problem.structure.angles:
            turn = TURN if last[index] - lower[index] < upper[index] - last[index] else -TURN
            turned = q.copy()
            turned[index] += turn
            limit = lower[index] if turn > 0 else upper[index]
            if abs(last[index] - limit) < self.options.max_joint_step and (
                    lower[index] <= turned[index] <= upper[index]
                    and self._add_node(layer, turned)[1]):
                found.append(turned)
        return found

    def cheapest(self) -> list[int]:
        """
        Return the node numbers, one for each sample, of the cheapest of the longest chains.

        The cost is the squared distance of the first node from the seed, plus the length of the
        path times the integral of |dq/ds|^2, which does not depend on the sampling. Found by
        dynamic programming over the samples.
        """
        parents, first = list[Indices](), np.array(self.nodes[0])
        cost = ((first - self.seed)**2).sum(axis=1)
        # node 0 is the seed; other nodes come from branches traced down to the first sample
        if self.options.hold_start:
            cost[1:] = np.inf
        weights = self.path.length / np.diff(self.samples)
        for i, weight in enumerate(weights):
            if not self.nodes[i + 1]:
                break
            steps = np.array(self.nodes[i + 1])[None] - np.array(self.nodes[i])[:, None]
            # allowed steps between nodes: short or traced steps, except refused steps
            allowed = np.abs(steps).max(axis=2) <= self.options.max_joint_step
            for pair in self.links[i]:
                allowed[pair] = True
            for pair in self.refused[i]:
                allowed[pair] = False
            sums = cost[:, None] + np.where(allowed, weight * (steps**2).sum(axis=2), np.inf)
            if not np.isfinite(sums).any():
                break
            parents.append(sums.argmin(axis=0))
            cost = sums.min(axis=0)
        # follow the parents back from the cheapest last node
        chain = [int(cost.argmin())]
        for parent in reversed(parents):
            chain.append(int(parent[chain[-1]]))
        return chain[::-1]

    # -- steps between configurations ---------------------------------------------------------

    def refined(self, chain: Chain) -> tuple[Chain, int | None]:
        """
        Return a chain with configurations added until each step is allowed.

        All needed parameters are added. If a step cannot be refined, the result ends before this
        step, and the second return value is the index of the step, otherwise None.
        """
        found = chain[:1]
        for i, (start, end) in enumerate(pairwise(chain)):
            steps = self._divided(start, end, STEP_BISECTIONS)
            if steps is None:
                return found, i
            found += steps
        return found, None

    def _divided(self, start: tuple[float, Array], end: tuple[float, Array],
                 bisections: int) -> Chain | None:
        """Return the configurations after `start` up to `end`; None if a step is not allowed."""
        (s, q), (s_end, q_end) = start, end
        # done if the step spans no needed parameter, is short, and its middle is near the path
        middle, is_needed = self.between(s, s_end)
        between = q + (q_end - q) * (middle - s) / (s_end - s)
        if not is_needed and self.is_step(q, q_end) and self._is_near(middle, between):
            return [end] if self._is_free(q, q_end) else None
        # otherwise add a configuration in the middle and divide both halves
        added = self.follow(middle, between) if bisections else None
        bisections -= not is_needed
        first = None if added is None else self._divided(start, (middle, added), bisections)
        second = None if first is None else self._divided(first[-1], end, bisections)
        return None if first is None or second is None else first + second

    def _is_near(self, s: float, q: Array) -> bool:
        """Return whether the tool at q (nq,) is within the allowed deviation from the path."""
        error, = accept(self.at(s), q).errors
        return (error.position <= self.options.max_deviation
                and error.orientation <= self.options.max_rotation)

    def _is_free(self, q: Array, end: Array) -> bool:
        """Return whether there is no contact between two configurations without contact."""
        checker = self.problem.checker
        count = math.ceil(float(np.abs(end - q).max()) / self.options.resolution)
        return checker is None or not any(checker.collides(q + (end - q) * k / count)
                                          for k in range(1, count))


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


def _thinned(parameters: Array, spacing: float) -> Array:
    """Return ascending parameters thinned to about `spacing`, first and last included."""
    kept = [0]
    for i in range(1, len(parameters) - 1):
        if parameters[i + 1] - parameters[kept[-1]] > spacing * (1 + 1e-6):
            kept.append(i)
    found: Array = parameters[[*kept, len(parameters) - 1]]
    return found
