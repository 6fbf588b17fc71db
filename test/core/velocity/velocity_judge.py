"""Judges of velocities that share no code with what they judge."""

import numpy as np
from scipy.optimize import lsq_linear
from scipy.spatial.transform import Rotation


def twist_between(T, T_after, dt):
    """Give [linear; angular] velocity of a frame in root axes from two poses."""
    angular = Rotation.from_matrix(T_after[:3, :3] @ T[:3, :3].T).as_rotvec()
    return np.concatenate([T_after[:3, 3] - T[:3, 3], angular]) / dt


def jacobian(place, q, h=1e-6):
    """Give the Jacobian (6, n) of a frame in root axes by central differences."""
    columns = []
    for j in range(len(q)):
        step = np.zeros(len(q))
        step[j] = h
        columns.append(twist_between(place(q - step), place(q + step), 2 * h))
    return np.array(columns).T


def bounded_least_squares(rows, low, high):
    """Give the step of least sum weight |J d - c|^2 within a box, of (J, c, weight)."""
    A = np.vstack([np.sqrt(np.broadcast_to(w, len(c)))[:, None] * J for J, c, w in rows])
    b = np.concatenate([np.sqrt(np.broadcast_to(w, len(c))) * c for J, c, w in rows])
    return lsq_linear(A, b, (low, high), method='bvls', tol=1e-14).x
