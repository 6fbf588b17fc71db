"""Solvers of other packages for pose_ik.py, with the best settings that were found."""

from collections.abc import Callable
import io
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation
import yourdfpy

from ros2_ik.core import Robot

Solve = Callable[[np.ndarray, np.ndarray], dict[str, float] | None]

SAMPLES = 64     # values of the joint that EAIK locks in an arm of seven joints


class UnsupportedRobotError(Exception):
    """Raised, with the reason, if a peer cannot solve for a robot."""


class Chain(NamedTuple):
    """
    The n joints that move a tip, with poses at joint values 0 in the robot's root frame.

    `frames` (n, 4, 4) are the joints' frames, each with its z axis along the joint's axis; `tip`
    (4, 4) is the pose of the tip.
    """

    names: list[str]
    index: list[int]         # indices in q
    lower: np.ndarray
    upper: np.ndarray
    frames: np.ndarray
    tip: np.ndarray

    def within(self, x: np.ndarray) -> np.ndarray:
        """Bring angles (..., n) within the limits by full turns, if possible."""
        turns = np.ceil((self.lower - x) / (2 * np.pi)) * (x < self.lower) \
            + np.floor((self.upper - x) / (2 * np.pi)) * (x > self.upper)
        return x + 2 * np.pi * turns


def chain(robot: Robot, tip: str) -> Chain:
    """Return the chain to a tip; raise UnsupportedRobotError if a joint is not revolute."""
    urdf = yourdfpy.URDF.load(io.BytesIO(robot.urdf.encode()), load_meshes=False,
                              build_scene_graph=True)
    urdf.update_cfg(dict.fromkeys(urdf.actuated_joint_names, 0.0))
    found, link = [], tip
    above = {joint.child: joint for joint in urdf.robot.joints}
    # collect the moving joints from the tip up to the root
    while link != robot.root_frame:
        joint = above[link]
        if joint.type != 'fixed':
            found.insert(0, joint)
        link = joint.parent
    if any(joint.type not in ('revolute', 'continuous') or joint.mimic for joint in found):
        raise UnsupportedRobotError('a joint is not revolute')
    frames = []
    for joint in found:
        # complete the joint's axis to a right-handed frame with this axis as z
        F = urdf.get_transform(joint.child, robot.root_frame).copy()
        z = np.asarray(joint.axis, dtype=float)
        x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
        F[:3, :3] = F[:3, :3] @ np.column_stack([x, np.cross(z, x), z]) / [
            np.linalg.norm(x), np.linalg.norm(x), 1]
        frames.append(F)
    joints = [robot.joint(joint.name) for joint in found]
    bounds = np.array([(max(j.lower, -2 * np.pi), min(j.upper, 2 * np.pi)) for j in joints])
    return Chain([j.name for j in joints], [j.index for j in joints], *bounds.T,
                 np.array(frames), urdf.get_transform(tip, robot.root_frame).copy())


def trac_ik(robot: Robot, tip: str, timeout: float) -> Solve:
    import pytracik
    solver = pytracik.TRAC_IK(robot.root_frame, tip, robot.urdf, timeout, 5e-6,
                              pytracik.SolveType.Speed)
    moving = robot.moving_joints(tip)
    joints = [j for j in robot.joints if j.name in moving]
    names, index = [j.name for j in joints], [j.index for j in joints]
    # TRAC-IK reads a <safety_controller> without soft limits as limits of zero
    bounds = [(j.lower, j.upper) for j in joints]
    if np.isfinite(bounds).all():
        pytracik.set_joint_limits(solver, *zip(*bounds, strict=True))

    def solve(target: np.ndarray, start: np.ndarray) -> dict[str, float] | None:
        x, y, z, w = Rotation.from_matrix(target[:3, :3]).as_quat()
        answer = pytracik.ik(solver, start[index], *target[:3, 3], x, y, z, w)
        return None if answer[0] < 0 else dict(zip(names, answer[1:].tolist(), strict=True))
    return solve


def robotics_toolbox(robot: Robot, tip: str, timeout: float) -> Solve:
    """Use the compiled ik_LM, which draws its random starts itself and has no timeout."""
    from roboticstoolbox import ET, ETS
    arm, parts, before = chain(robot, tip), [], np.eye(4)
    # between joints: the constant transform from one joint's frame to the next
    for F, low, high in zip(arm.frames, arm.lower, arm.upper, strict=True):
        parts += [ET.SE3(np.linalg.solve(before, F)), ET.Rz(qlim=[low, high])]
        before = F
    ets = ETS([*parts, ET.SE3(np.linalg.solve(before, arm.tip))])

    def solve(target: np.ndarray, start: np.ndarray) -> dict[str, float] | None:
        # tol bounds e'e / 2 of the whole pose error e: position [m] and orientation [rad]
        answer = ets.ik_LM(target, start[arm.index], ilimit=30, slimit=100, tol=1.25e-11, k=0.1,
                           method='chan')
        return dict(zip(arm.names, answer.q.tolist(), strict=True)) if answer.success else None
    return solve


def eaik(robot: Robot, tip: str, timeout: float) -> Solve:
    """Solve in closed form; with seven joints, try values of a locked joint until one succeeds."""
    from eaik.IK_HP import HPRobot
    arm = chain(robot, tip)
    # EAIK's robot: joint axes H, and offsets P from joint to joint, at joint values 0
    H = arm.frames[:, :3, 2]
    points = np.vstack([arm.frames[:, :3, 3], arm.tip[:3, 3]])
    P = np.diff(points, axis=0, prepend=np.zeros((1, 3)))
    count = len(arm.names)
    if count == 6:
        robots = [HPRobot(H, P)]
    elif count == 7:
        locked = next((i for i in range(7)
                       if HPRobot(H, P, [(i, 0.3)]).hasKnownDecomposition()), None)
        if locked is None:
            raise UnsupportedRobotError('no closed form, whichever joint is locked')
        # in random order, since neighbouring values tend to fail together
        values = np.random.default_rng(0).permutation(
            np.linspace(arm.lower[locked], arm.upper[locked], SAMPLES + 2)[1:-1])
        robots = [HPRobot(H, P, [(locked, float(value))]) for value in values]
    if count not in (6, 7) or not robots[0].hasKnownDecomposition():
        raise UnsupportedRobotError('no closed form')
    turn = arm.tip[:3, :3].T

    def solve(target: np.ndarray, start: np.ndarray) -> dict[str, float] | None:
        pose, near = target.copy(), start[arm.index]
        pose[:3, :3] = target[:3, :3] @ turn    # EAIK's frames are parallel at joint values 0
        for robot in robots:
            found = robot.IK(pose)
            # least-squares solutions miss the target
            exact = ~np.asarray(found.is_LS, dtype=bool)
            x = arm.within(np.asarray(found.Q).reshape(-1, count)[exact])
            x = x[((arm.lower <= x) & (x <= arm.upper)).all(axis=1)]
            if len(x):
                best = x[np.abs(x - near).max(axis=1).argmin()]
                return dict(zip(arm.names, best.tolist(), strict=True))
        return None
    return solve


# name: (function that makes the solver, its module, its package)
PEERS = {
    'TRAC-IK': (trac_ik, 'pytracik', 'pytracik'),
    'RTB': (robotics_toolbox, 'roboticstoolbox', 'roboticstoolbox-python'),
    'EAIK': (eaik, 'eaik', 'eaik'),
}
