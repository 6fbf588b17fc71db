"""Branches: configurations at the samples of a path, traced from one sample to the next."""

from collections.abc import Sequence
import time

import numpy as np

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.kernels.comparisons import are_within
from ros2_ik.core.path.path import PathOptions
from ros2_ik.core.path.tool_paths import ToolPath
from ros2_ik.core.problem import accept, IKProblem
from ros2_ik.core.problem.structure import TURN
from ros2_ik.core.solvers import Budget, make_solver, Search, SolveOptions
from ros2_ik.core.solvers.search import chosen_solver
from ros2_ik.core.solvers.starts import generator_state, Starts

SAME = 1e-3             # configurations nearer than this in each joint are one [rad, m]
HALVINGS = 4            # of the way to the next sample, where a branch does not get there at once
SOLVED = 1e-9           # descents go on to this error [m, rad]: rounder answers make jerky splines
LIMIT_MARGIN = 2e-3     # inside the joint limits, which splines would exceed else [rad, m]
START_ITERATIONS = 2000     # of the search for starts; a UR5 has eight
SHORTEST = 1e-3         # timeout of a search when the time is over [s]


class Branches:
    """
    The graph of configurations along a path: `nodes` at each of `samples` (n,), and `links`.

    Links connect the numbers of nodes at consecutive samples: one was traced from the other.
    `needed` (m,) are the parameters of all poses of the answer: of close ones samples are a part.
    """

    def __init__(self, problem: IKProblem, path: ToolPath, options: PathOptions,
                 budget: Budget) -> None:
        self.given, self.path, self.options, self.budget = problem, path, options, budget
        self.problem = _inside_limits(problem)
        self.needed = path.samples(options.spacing)
        self.samples = _thinned(self.needed, options.spacing)
        self.nodes: list[list[Array]] = [[] for _ in self.samples]
        self.links: list[set[tuple[int, int]]] = [set() for _ in self.samples[1:]]
        self.refused: list[set[tuple[int, int]]] = [set() for _ in self.samples[1:]]
        self.seed = self.problem.within_limits(problem.start)
        self._problems: dict[float, IKProblem] = {}
        self._name, _ = chosen_solver('auto', problem)
        self._solver_options = {'solution_tolerance': SOLVED} if self._name == 'lm' else {}
        self._solver = make_solver(self._name, self.problem, self._solver_options)
        self._state = generator_state(options.random_state)

    def at(self, s: float) -> IKProblem:
        """Return the problem of the pose at a parameter."""
        found = self._problems.get(s)
        if found is None:
            found = self._problems[s] = self.problem.again([self.path.pose(s)])
        return found

    def between(self, s: float, end: float) -> tuple[float, bool]:
        """Return a parameter between two, and whether it is a needed one."""
        low, high = np.searchsorted(self.needed, s, 'right'), np.searchsorted(self.needed, end)
        return (float(self.needed[(low + high) // 2]), True) if low < high else (
            (s + end) / 2, False)

    @property
    def left(self) -> float:
        """The time that is left of the search [s], at least SHORTEST."""
        return max(self.budget.deadline - time.monotonic(), SHORTEST)

    def first(self) -> IKProblem:
        """Return the problem of the first pose with its own limits, for a start that is held."""
        return self.given.again([self.path.pose(0.0)])

    # -- one configuration ------------------------------------------------------------------

    def descend(self, s: float, q: Array) -> Array:
        """Return where one descent from q (nq,) to the pose at a parameter ends."""
        problem, solver = self.at(s), self._solver
        if not solver.finds_starts:     # it was made for another pose
            solver = make_solver(self._name, problem, self._solver_options)
        return solver.find(problem, Starts(q, 0, 0, self._state), self.budget)[0].q

    def follow(self, s: float, q: Array) -> Array | None:
        """Return a configuration at a parameter, one step from q (nq,), if it is accepted."""
        end = self.descend(s, q)
        return end if self.is_step(q, end) and accept(self.at(s), end).accepted else None

    def is_step(self, before: Array, after: Array) -> bool:
        """Return whether no joint moves farther than one step allows."""
        return bool(are_within.run(after, before, before, self.options.max_joint_step))

    def held_start(self) -> list[Array]:
        """Return the given start if it is accepted at the first pose."""
        start = self.given.start
        return [start] if accept(self.first(), start).accepted else []

    def search(self, s: float) -> list[Array]:
        """Return different accepted configurations at a parameter, as many as were found."""
        search = Search(self.at(s), options=SolveOptions(
            solutions=self.options.starts, random_state=self.options.random_state,
            max_iterations=START_ITERATIONS, cancel=self.options.cancel,
            timeout=self.left))
        search.run()
        return [one.attempt.q for one in search.accepted][:self.options.starts]

    # -- branches ---------------------------------------------------------------------------

    def grow(self, layer: int, starts: Sequence[Array]) -> None:
        """Trace branches from configurations (nq,) at a sample to both ends of the path."""
        waiting = [q.copy() for q in starts]
        while waiting:
            q = waiting.pop(0)
            last = self._trace(layer, q, 1)
            self._trace(layer, q, -1)
            if last is not None:
                waiting += self._other_turns(layer, q, last)

    def _trace(self, layer: int, q: Array, way: int) -> Array | None:
        """
        Trace a branch up the samples (`way` 1) or down (-1), until it ends or meets another one.

        Returns the last configuration, None if it was not the branch's end.
        """
        a, _ = self._enter(layer, q)
        while 0 <= layer + way < len(self.samples):
            q = self.nodes[layer][a]
            found = None if self.budget.over() else self._advance(
                q, float(self.samples[layer]), float(self.samples[layer + way]))
            if found is None:
                return q
            b, is_new = self._enter(layer + way, found)
            self.links[min(layer, layer + way)].add((a, b) if way > 0 else (b, a))
            if not is_new:
                break
            layer, a = layer + way, b
        return None

    def _advance(self, q: Array, s: float, end: float, halvings: int = HALVINGS) -> Array | None:
        """Return the configuration at `end` that a branch leads to from q at s, or None."""
        found = self.follow(end, q)
        if found is None and halvings:
            middle = (s + end) / 2
            half = self._advance(q, s, middle, halvings - 1)
            found = None if half is None else self._advance(half, middle, end, halvings - 1)
        return found

    def _enter(self, layer: int, q: Array) -> tuple[int, bool]:
        """Return the number of a node, and whether it is new."""
        nodes = self.nodes[layer]
        for k, node in enumerate(nodes):
            if are_within.run(q, node, node, SAME):
                return k, False
        nodes.append(q)
        return len(nodes) - 1, True

    def _other_turns(self, layer: int, q: Array, last: Array) -> list[Array]:
        """Return q (nq,) a turn back in each joint that was near a limit when its branch ended."""
        lower, upper, found = self.problem.lower, self.problem.upper, list[Array]()
        for index in self.problem.angles:
            turn = TURN if last[index] - lower[index] < upper[index] - last[index] else -TURN
            turned = q.copy()
            turned[index] += turn
            limit = lower[index] if turn > 0 else upper[index]
            if abs(last[index] - limit) < self.options.max_joint_step and (
                    lower[index] <= turned[index] <= upper[index]
                    and self._enter(layer, turned)[1]):
                found.append(turned)
        return found

    def cheapest(self) -> list[int]:
        """
        Return the numbers of the nodes of the cheapest chain that gets farthest.

        Dynamic programming. The cost is the squared distance of the first node from the seed, and
        the length of the path times the integral of |dq/ds|^2, however densely it is sampled.
        """
        parents, first = list[Indices](), np.array(self.nodes[0])
        cost = ((first - self.seed)**2).sum(axis=1)
        if self.options.hold_start:     # branches traced down to here start elsewhere
            cost[1:] = np.inf
        weights = self.path.length / np.diff(self.samples)
        for i, weight in enumerate(weights):
            if not self.nodes[i + 1]:
                break
            steps = np.array(self.nodes[i + 1])[None] - np.array(self.nodes[i])[:, None]
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
        chain = [int(cost.argmin())]
        for parent in reversed(parents):
            chain.append(int(parent[chain[-1]]))
        return chain[::-1]


def _inside_limits(problem: IKProblem) -> IKProblem:
    """Return the problem with narrower joint limits."""
    margin = np.minimum(LIMIT_MARGIN, (problem.upper - problem.lower) / 4)
    result = problem.bounded(problem.change_bound)
    result.active = problem.active.within(problem.lower + margin, problem.upper - margin)
    result.lower, result.upper = result.active.lower, result.active.upper
    return result


def _thinned(parameters: Array, spacing: float) -> Array:
    """Return the first and the last of increasing parameters, and some between at a spacing."""
    kept = [0]
    for i in range(1, len(parameters) - 1):
        if parameters[i + 1] - parameters[kept[-1]] > spacing * (1 + 1e-6):
            kept.append(i)
    found: Array = parameters[[*kept, len(parameters) - 1]]
    return found
