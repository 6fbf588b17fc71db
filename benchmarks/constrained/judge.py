"""A configuration seen by other code than the solvers': yourdfpy and numpy."""

import io

import numpy as np
import yourdfpy

from ros2_ik.core import Robot

TOLERANCE = 1e-4          # [m, rad] of every demand
LIMIT_TOLERANCE = 1e-6    # [m, rad] of the joint limits


class Judge:
    """Forward kinematics, centre of mass and limits of a robot at `joints`."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self._urdf = yourdfpy.URDF.load(io.BytesIO(robot.urdf.encode()), load_meshes=False,
                                        build_scene_graph=True)
        self._root = robot.root_frame
        self._limits = {j.name: (j.lower, j.upper) for j in robot.joints}
        self.joints: dict[str, float] = {}

    def look(self, joints: dict[str, float]) -> 'Judge':
        self.joints = joints
        self._urdf.update_cfg(joints)
        return self

    def T(self, frame: str | None, relative_to: str | None = None) -> np.ndarray:
        return self._urdf.get_transform(frame or self._root, relative_to or self._root)

    def point(self, frame: str | None, point: np.ndarray,
              relative_to: str | None = None) -> np.ndarray:
        T = self.T(frame, relative_to)
        return T[:3, :3] @ point + T[:3, 3]

    def center_of_mass(self, relative_to: str | None = None) -> np.ndarray:
        moment, mass = np.zeros(3), 0.0
        for link in self._urdf.robot.links:
            if link.inertial is not None:
                origin = link.inertial.origin
                center = np.zeros(3) if origin is None else origin[:3, 3]
                moment += link.inertial.mass * self.point(link.name, center, relative_to)
                mass += link.inertial.mass
        return moment / mass

    def is_within_limits(self) -> bool:
        for name, (lower, upper) in self._limits.items():
            if not lower - LIMIT_TOLERANCE <= self.joints[name] <= upper + LIMIT_TOLERANCE:
                return False
        return True

    def accepts(self, joints: dict[str, float], terms: list) -> bool:
        """Return whether all that is not a cost holds."""
        at = self.look(joints)
        return at.is_within_limits() and all(
            term.violation(at) <= TOLERANCE for term in terms if not term.is_cost)

    def cost(self, start: dict[str, float], joints: dict[str, float] | None,
             terms: list) -> float:
        """Sum of the costs; infinite without an answer."""
        if joints is None:
            return np.inf
        at = self.look(start | joints)
        return sum(term.cost(at) for term in terms if term.is_cost)
