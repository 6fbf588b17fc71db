"""Weld seams of many poses, for path_ik.py and for tests."""

import numpy as np
import pinocchio as pin

from ros2_ik.core import Spline

HARD = 161      # random state of a seam that a UR5 can follow from only one of the four starts
TILT = 0.9      # largest tilt of the torch at a knot, about each axis [rad]


def seam(random_state: int, count: int = 1000) -> np.ndarray:
    """Return `count` poses (count, 4, 4) along a smooth curve through six random poses."""
    generator = np.random.default_rng(random_state)
    angle, knots = generator.uniform(-np.pi, np.pi), []
    for _ in range(6):
        T = np.eye(4)
        T[:3, :3] = np.diag([1.0, -1.0, -1.0]) @ pin.exp3(generator.uniform(-TILT, TILT, 3))
        # knots advance around the base, at random radii and heights [m]
        angle += generator.uniform(0.2, 0.6)
        radius = generator.uniform(0.25, 0.7)
        T[:3, 3] = radius * np.cos(angle), radius * np.sin(angle), generator.uniform(0.0, 0.5)
        knots.append(T)
    curve = Spline(knots)
    return np.array([curve.pose(s) for s in np.linspace(0.0, curve.length, count)])


def seam_starts(count: int = 4, joints: int = 6) -> list[np.ndarray]:
    """Return the random start configurations (joints,) of a seam."""
    generator = np.random.default_rng(100)
    return [generator.uniform(-np.pi, np.pi, joints) for _ in range(count)]
