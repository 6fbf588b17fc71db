"""Smoothing: the joints to spare of a redundant arm are moved until the steps are least."""

import numpy as np
import scipy

from ros2_ik.core.arrays import Array, Mask
from ros2_ik.core.path.branches import Branches
from ros2_ik.core.path.steps import Chain, pose_jacobian, refined

ROUNDS = 10
ENOUGH = 0.01       # a round that lowers the cost by a smaller part is the last one
FARTHEST = 0.3      # that a round moves a joint [rad, m]
SINGULAR = 1e-3     # singular values of the Jacobian below this count as zero
DAMPING = 1e-9      # of the normal equations: configurations that stay have zero rows there


def smoothed(branches: Branches, chain: Chain, whole: Chain) -> Chain:
    """
    Return `whole`, a refined chain, with less joint motion: each configuration of the chain moves.

    Gauss-Newton steps on the cost of `Branches.cheapest` in the null spaces of the poses'
    Jacobians, all configurations at a time; descents bring each back to its pose. Those that
    are not accepted then stay where they are. With costs nothing is moved: these have decided.
    """
    problem = branches.problem
    spare = len(problem.active.columns) - problem.targets[0].counted.sum()
    if problem.costs or spare <= 0 or len(chain) < 3:
        return whole
    fixed = np.zeros(len(chain), dtype=bool)
    fixed[0] = branches.options.hold_start
    cost = _cost(branches, chain)
    for _ in range(ROUNDS):
        if fixed.all() or branches.budget.over():
            break
        moved = _moved(branches, chain, fixed)
        if not (lower := _cost(branches, moved)) < cost:
            break
        checked, refused = refined(branches, moved)
        if refused is not None:
            fixed[refused:refused + 2] = True
            continue
        is_last = lower > (1 - ENOUGH) * cost
        chain, whole, cost = moved, checked, lower
        if is_last:
            break
    return whole


def _cost(branches: Branches, chain: Chain) -> float:
    q = np.array([q for _, q in chain])
    away = q[0] - branches.seed
    return float(away @ away + (_weights(branches, chain)[:, None] * np.diff(q, axis=0)**2).sum())


def _weights(branches: Branches, chain: Chain) -> Array:
    """Return the weights (n - 1,) of squared steps, see `Branches.cheapest`."""
    weights: Array = branches.path.length / np.diff([s for s, _ in chain])
    return weights


def _moved(branches: Branches, chain: Chain, fixed: Mask) -> Chain:
    """Return the chain after a step; adds refused configurations to `fixed` (n,), which stay."""
    place = branches.problem.active.q_slice
    x = np.array([q[place] for _, q in chain])
    basis = scipy.sparse.block_diag(
        [np.zeros((x.shape[1], 0)) if fixed[i] else _self_motion(branches, *chain[i])
         for i in range(len(chain))], format='csr')
    # residuals: the weighted steps, and the way from the seed to the first configuration
    roots = np.sqrt(_weights(branches, chain))
    D = scipy.sparse.diags([np.append(-roots, 1.0), roots], [0, 1], format='lil')
    D[-1] = 0.0
    D[-1, 0] = 1.0
    rows = scipy.sparse.kron(D, scipy.sparse.eye(x.shape[1]), format='csr')
    residuals = rows @ x.reshape(-1)
    residuals[-x.shape[1]:] -= branches.seed[place]
    G = rows @ basis
    H = G.T @ G + DAMPING * scipy.sparse.eye(G.shape[1])
    step = (basis @ scipy.sparse.linalg.spsolve(H.tocsc(), -G.T @ residuals)).reshape(x.shape)
    step *= FARTHEST / max(float(np.abs(step).max()), FARTHEST)
    moved = list(chain)
    for i in np.flatnonzero(np.abs(step).max(axis=1)):
        s, q = chain[i][0], chain[i][1].copy()
        q[place] += step[i]
        end = branches.follow(s, branches.problem.within_limits(q))
        fixed[i] = end is None
        if end is not None:
            moved[i] = s, end
    return moved


def _self_motion(branches: Branches, s: float, q: Array) -> Array:
    """Return a basis (n, d) of the active joints' motions that keep the pose at a parameter."""
    _, sizes, V = np.linalg.svd(pose_jacobian(branches.at(s), q))
    basis: Array = V[int((sizes > SINGULAR).sum()):].T
    return basis
