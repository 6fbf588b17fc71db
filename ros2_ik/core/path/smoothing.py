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
# damping of the normal equations, against rounding
DAMPING = 1e-9


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
    cost = _cost(branches, chain)
    for _ in range(MAX_STEPS):
        if fixed.all() or branches.budget.over():
            break
        moved = _moved(branches, chain, fixed)
        if not (lower := _cost(branches, moved)) < cost:
            break
        # a step that cannot be refined: keep both of its ends where they were, and try again
        checked, refused = branches.refined(moved)
        if refused is not None:
            fixed[refused:refused + 2] = True
            continue
        is_last = lower > (1 - MIN_DECREASE) * cost
        chain, whole, cost = moved, checked, lower
        if is_last:
            break
    return whole


def _cost(branches: Branches, chain: Chain) -> float:
    q = np.array([q for _, q in chain])
    away = q[0] - branches.seed
    return float(away @ away + (_weights(branches, chain)[:, None] * np.diff(q, axis=0)**2).sum())


def _weights(branches: Branches, chain: Chain) -> Array:
    """Return the weights (n - 1,) of the squared steps in the cost of `Branches.cheapest`."""
    weights: Array = branches.path.length / np.diff([s for s, _ in chain])
    return weights


def _moved(branches: Branches, chain: Chain, fixed: Mask) -> Chain:
    """
    Return the chain after one Gauss-Newton step.

    Configurations in `fixed` (n,) do not move; those whose descent fails are added to `fixed`.
    """
    q_slice = branches.problem.active.q_slice
    x = np.array([q[q_slice] for _, q in chain])
    # null space of each pose Jacobian, block diagonal over the configurations
    basis = scipy.sparse.block_diag(
        [np.zeros((x.shape[1], 0)) if fixed[i] else _self_motion(branches, *chain[i])
         for i in range(len(chain))], format='csr')
    # residuals: the weighted steps, and the displacement of the first configuration from the seed
    roots = np.sqrt(_weights(branches, chain))
    D = scipy.sparse.diags([np.append(-roots, 1.0), roots], [0, 1], format='lil')
    D[-1] = 0.0
    D[-1, 0] = 1.0
    rows = scipy.sparse.kron(D, scipy.sparse.eye(x.shape[1]), format='csr')
    residuals = rows @ x.reshape(-1)
    residuals[-x.shape[1]:] -= branches.seed[q_slice]
    # normal equations in the coordinates of the null spaces
    G = rows @ basis
    H = G.T @ G + DAMPING * scipy.sparse.eye(G.shape[1])
    step = (basis @ scipy.sparse.linalg.spsolve(H.tocsc(), -G.T @ residuals)).reshape(x.shape)
    step *= MAX_JOINT_CHANGE / max(float(np.abs(step).max()), MAX_JOINT_CHANGE)
    # descend from the moved configurations back to their poses
    moved = list(chain)
    for i in np.flatnonzero(np.abs(step).max(axis=1)):
        s, q = chain[i][0], chain[i][1].copy()
        q[q_slice] += step[i]
        end = branches.follow(s, branches.problem.within_limits(q))
        fixed[i] = end is None
        if end is not None:
            moved[i] = s, end
    return moved


def _self_motion(branches: Branches, s: float, q: Array) -> Array:
    """Return a basis (n, d) of the null space of the pose Jacobian at q (nq,)."""
    _, sizes, V = np.linalg.svd(pose_jacobian(branches.at(s), q))
    basis: Array = V[int((sizes > SINGULAR).sum()):].T
    return basis
