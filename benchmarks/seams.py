"""Weld seams of many poses, for path_ik.py and for tests."""

import numpy as np
import pinocchio as pin

from ros2_ik.core import Spline

HARD = 161      # random state of a seam that a UR5 passes from one of its four starts only
TILT = 0.9      # of the torch at a knot, up to, about each axis [rad]


def seam(random_state: int, count: int = 1000) -> np.ndarray:
    """Return the poses (count, 4, 4) of a smooth curve through six random ones."""
    generator = np.random.default_rng(random_state)
    angle, knots = generator.uniform(-np.pi, np.pi), []
    for _ in range(6):
        T = np.eye(4)
        T[:3, :3] = np.diag([1.0, -1.0, -1.0]) @ pin.exp3(generator.uniform(-TILT, TILT, 3))
        angle += generator.uniform(0.2, 0.6)
        radius = generator.uniform(0.25, 0.7)
        T[:3, 3] = radius * np.cos(angle), radius * np.sin(angle), generator.uniform(0.0, 0.5)
        knots.append(T)
    curve = Spline(knots)
    return np.array([curve.pose(s) for s in np.linspace(0.0, curve.length, count)])


def seam_starts(count: int = 4, joints: int = 6) -> list[np.ndarray]:
    """Return random joint values (joints,) to start from."""
    generator = np.random.default_rng(100)
    return [generator.uniform(-np.pi, np.pi, joints) for _ in range(count)]
