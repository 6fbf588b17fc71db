"""A judge of paths: forward kinematics as a plain product of matrices, limits from the URDF."""

from judge import pose_error, TreeJudge
import numpy as np


def passes(robot, tip, path, weights=(1,) * 6, largest_step=0.2):
    """Assert that a path's configurations reach its poses in order, without a jump."""
    judge = TreeJudge(robot.urdf)
    assert len(path.q) == len(path.poses) == len(path.parameters)
    assert (np.diff(path.parameters) > 0).all()
    for q, T in zip(path.q, path.poses, strict=True):
        joints = robot.to_joints(q)
        position, orientation = pose_error(judge.transform(joints, tip), T, weights)
        assert position <= 1e-5 and orientation <= 1e-4
        assert not judge.outside(joints)
    assert np.abs(np.diff(path.q, axis=0)).max(initial=0.0) <= largest_step


def deviation(robot, tip, positions, tool_path, n=2000):
    """Return the largest distance [m] of the tip at `positions` (k, nq) from a sampled path."""
    judge = TreeJudge(robot.urdf)
    points = np.array([tool_path.pose(s)[:3, 3] for s in np.linspace(0, tool_path.length, n)])
    return max(np.linalg.norm(points - judge.transform(robot.to_joints(q), tip)[:3, 3],
                              axis=1).min() for q in positions)
