"""Smoothing: the self-motion of a redundant arm is used to minimize the joint motion."""

import numpy as np
import scipy

from ros2_ik.core.arrays import Array, Mask
from ros2_ik.core.path.branches import Branches, Chain, pose_jacobian

# maximum number of Gauss-Newton steps
MAX_STEPS = 10
# relative decrease of the cost below which no further step is made
MIN_DECREASE = 0.01
# largest change of a joint in one step [rad, m]
MAX_JOINT_CHANGE = 0.3
# singular values of the Jacobian below this count as zero
SINGULAR = 1e-3
# iteration limit of the conjugate gradients; a path of 100 samples needs about 150
MAX_ITERATIONS = 300


def smoothed(branches: Branches, chain: Chain, whole: Chain) -> Chain:
    """
    Return a refined chain with less joint motion, or `whole`, the refinement of `chain`.

    Each step is a Gauss-Newton step on the cost of `Branches.cheapest`, of all configurations
    together, in the null spaces of the Jacobians of their poses. Descents bring the configurations
    back to their poses; a configuration that is not accepted keeps its values from then on.
    Nothing is changed if the problem has costs, which already determine the configurations.
    """
    problem = branches.problem
    spare = len(problem.active.columns) - problem.targets[0].counted.sum()
    if problem.costs or spare <= 0 or len(chain) < 3:
        return whole
    fixed = np.zeros(len(chain), dtype=bool)
    fixed[0] = branches.options.hold_start
    for _ in range(MAX_STEPS):
        moved = _moved(branches, chain, fixed)
        if branches.budget.over() or (
                _cost(branches, moved) > (1 - MIN_DECREASE) * _cost(branches, chain)):
            break
        # a step that cannot be refined: keep both of its ends where they were, and try again
        checked, refused = branches.refined(moved)
        if refused is None:
            chain, whole = moved, checked
        else:
            fixed[refused:refused + 2] = True
    return whole


def _cost(branches: Branches, chain: Chain) -> float:
    q = np.array([q for _, q in chain])
    return float(((q[0] - branches.seed)**2).sum()
                 + branches.weight * (np.diff(q, axis=0)**2).sum())


def _moved(branches: Branches, chain: Chain, fixed: Mask) -> Chain:
    """Return the chain after one step, and add those that are not accepted to `fixed` (n,)."""
    q_slice = branches.problem.active.q_slice
    x = np.array([q[q_slice] for _, q in chain])
    # projections (n, k, k) to the null spaces of the pose Jacobians
    P = np.array([_null_space(branches, *each) for each in chain])
    P[fixed] = 0.0

    def gradient(x: Array, seed: Array) -> Array:
        """Return half the gradient (n k,) of the cost at x (n, k), projected."""
        pull = branches.weight * np.diff(x, axis=0)
        g = np.concatenate([x[:1] - seed, pull]) - np.concatenate([pull, 0 * x[:1]])
        projected: Array = (P @ g[:, :, None]).reshape(-1)
        return projected
    product = scipy.sparse.linalg.LinearOperator(
        (x.size, x.size), lambda step: gradient(step.reshape(x.shape), 0 * x[0]), dtype=float)
    step, _ = scipy.sparse.linalg.cg(product, -gradient(x, branches.seed[q_slice]),
                                     maxiter=MAX_ITERATIONS)
    step *= MAX_JOINT_CHANGE / max(float(np.abs(step).max()), MAX_JOINT_CHANGE)
    # descend from the moved configurations back to their poses
    moved = list(chain)
    for i in np.flatnonzero(~fixed):
        s, q = chain[i][0], chain[i][1].copy()
        q[q_slice] += step.reshape(x.shape)[i]
        found = branches.follow(s, branches.problem.within_limits(q))
        fixed[i] = found is None
        if found is not None:
            moved[i] = s, found
    return moved


def _null_space(branches: Branches, s: float, q: Array) -> Array:
    """Return the projection (k, k) to the null space of the pose Jacobian at q (nq,)."""
    _, sizes, V = np.linalg.svd(pose_jacobian(branches.at(s), q))
    basis = V[int((sizes > SINGULAR).sum()):]
    projection: Array = basis.T @ basis
    return projection
