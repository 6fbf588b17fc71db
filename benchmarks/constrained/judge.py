"""Judge of configurations, by code that the solvers do not use: yourdfpy and numpy."""

from judge import FileJudge
import numpy as np
import yourdfpy  # noqa: F401, FileJudge imports it late

from constrained.geometry import rotation_angle
from ros2_ik.core import Robot

TOLERANCE = 1e-4                          # violation of a constraint [m, rad]
POSITION, ORIENTATION = 1e-5, 1e-4        # error of a pose [m], [rad]
LIMIT_TOLERANCE = 1e-6                    # of joint limits, float32 in TRAC-IK [m, rad]


class Judge(FileJudge):
    """Forward kinematics, centre of mass and joint limits of a robot at `joints`."""

    def __init__(self, robot: Robot) -> None:
        super().__init__(robot.urdf)
        self.robot, self._neutral = robot, robot.to_joints(robot.neutral)
        self.joints: dict[str, float] = {}

    def set_joints(self, joints: dict[str, float]) -> 'Judge':
        """Set the joint values, missing ones to neutral; values of mimic joints are ignored."""
        self.joints = {name: joints.get(name, rest) for name, rest in self._neutral.items()}
        self.urdf.update_cfg(self.joints)
        return self

    def T(self, frame: str | None, relative_to: str | None = None) -> np.ndarray:
        """Return the pose of a frame (4, 4); None is the root frame."""
        root = self.robot.root_frame
        return self.urdf.get_transform(frame or root, relative_to or root)

    def point(self, frame: str | None, point: np.ndarray,
              relative_to: str | None = None) -> np.ndarray:
        """Return the coordinates (3,) of a frame's point in the frame `relative_to`."""
        T = self.T(frame, relative_to)
        return T[:3, :3] @ point + T[:3, 3]

    def center_of_mass(self, relative_to: str | None = None) -> np.ndarray:
        # mean of the links' centres, weighted by mass, from the URDF's inertial elements
        moment, mass = np.zeros(3), 0.0
        for link in self.urdf.robot.links:
            if link.inertial is not None:
                origin = link.inertial.origin
                center = np.zeros(3) if origin is None else origin[:3, 3]
                moment += link.inertial.mass * self.point(link.name, center, relative_to)
                mass += link.inertial.mass
        return moment / mass

    def rejection(self, joints: dict[str, float], targets: dict[str, np.ndarray],
                  T_root: np.ndarray | None = None) -> str:
        """
        Return why an answer is wrong, or '' if it is right.

        `targets` are the target poses (4, 4) of frames; `T_root` is the pose of a free base.
        """
        at = self.set_joints(joints)
        if outside := at.outside(at.joints, LIMIT_TOLERANCE):
            return f'{outside[0]} is outside its limits'
        for frame, target in targets.items():
            T = at.T(frame) if T_root is None else T_root @ at.T(frame)
            position = np.linalg.norm(T[:3, 3] - target[:3, 3])
            orientation = rotation_angle(target[:3, :3].T @ T[:3, :3])
            # not (a <= b), so that NaN also is a rejection
            if not (position <= POSITION and orientation <= ORIENTATION):
                return f'{frame} is off by {position:.2g} m, {orientation:.2g} rad'
        return ''

    def term_rejection(self, joints: dict[str, float], terms: list) -> str:
        """Return why an answer is wrong, or '' if all terms other than costs hold."""
        if text := self.rejection(joints, {}):
            return text
        for term in terms:
            if not term.is_cost and not term.violation(self) <= TOLERANCE:
                return f'{type(term).__name__} is violated by {term.violation(self):.2g}'
        return ''

    def cost(self, start: dict[str, float], joints: dict[str, float] | None, terms: list) -> float:
        """Return the sum of the costs; infinity without an answer."""
        if joints is None:
            return np.inf
        at = self.set_joints(start | joints)
        return sum(term.cost(at) for term in terms if term.is_cost)
