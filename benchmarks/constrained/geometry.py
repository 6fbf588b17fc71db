"""Angles, boxes and frames."""

import numpy as np

ORIGIN, INF = (0.0, 0.0, 0.0), np.inf
X, Y, Z = np.eye(3)


def outside(value, lower, upper) -> float:
    """Return the largest distance of a component from its bounds; 0 if all are within them."""
    return float(np.max(np.maximum(np.maximum(lower - value, value - upper), 0)))


def some_direction(random):
    vector = random.normal(size=3)
    return vector / np.linalg.norm(vector)


def rotation_angle(R) -> float:
    """Return the angle of a rotation matrix [rad]."""
    # |axis| = 2 sin(angle), trace - 1 = 2 cos(angle)
    axis = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    return float(np.arctan2(np.linalg.norm(axis), np.trace(R) - 1))


def frame_along(z, origin):
    """Return a pose (4, 4) at `origin` whose z axis is along the vector `z`."""
    T = np.eye(4)
    T[:3, 2] = z / np.linalg.norm(z)
    # the unit vector most perpendicular to z gives a well-conditioned x axis
    x = np.cross(np.eye(3)[np.abs(z).argmin()], T[:3, 2])
    T[:3, 0] = x / np.linalg.norm(x)
    T[:3, 1] = np.cross(T[:3, 2], T[:3, 0])
    T[:3, 3] = origin
    return T
