"""
Draw the picture of the README: one pose of the hand, several configurations that reach it.

    tools/run pip install matplotlib trimesh && tools/run python docs/picture.py
"""

from pathlib import Path

from matplotlib.colors import to_rgb
import matplotlib.pyplot as plt
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
import numpy as np

from ros2_ik.core import IKSolution, Robot, solve_pose
from ros2_ik.view.robot_model import RobotModel

TIP = 'panda_hand_tcp'
COLOURS = ('#d95f02', '#1b9e77', '#7570b3', '#66a61e')


def target() -> np.ndarray:
    T = np.eye(4)
    T[:3, :3] = np.diag([1.0, -1.0, -1.0])    # the hand points down
    T[:3, 3] = 0.45, 0.1, 0.3
    return T


def far_apart(answers: list[IKSolution]) -> list[IKSolution]:
    chosen = answers[:1]
    while len(chosen) < len(COLOURS):
        chosen.append(max(answers, key=lambda a: min(abs(a.q[:4] - b.q[:4]).max()
                                                     for b in chosen)))
    return chosen


def triangles(model: RobotModel, q: np.ndarray) -> np.ndarray:
    """All triangles of the robot at q, (n, 3, 3)."""
    poses, found = model.poses(q), []
    for link, surface, in_link in model.surfaces:
        pose = poses[link] * in_link
        points = surface.vertices @ pose.rotation.T + pose.translation
        found.append(points[surface.faces])
    return np.concatenate(found)


def shaded(faces: np.ndarray, colour: str) -> np.ndarray:
    """Return each triangle the colour in the light that falls on it, (n, 4)."""
    normals = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True) + 1e-12
    light = 0.35 + 0.65 * np.clip(normals @ np.array([0.6, -0.5, 0.62]), 0, 1)
    return np.c_[np.array(to_rgb(colour)) * light[:, None], np.full(len(faces), 0.85)]


def main() -> None:
    robot = Robot.load('panda')
    first = solve_pose(robot, TIP, target(), timeout=0.5, solutions=40, random_state=3)
    answers = far_apart([first, *first.alternatives])
    axes = plt.figure(figsize=(8, 6)).add_subplot(projection='3d', computed_zorder=False)
    model = RobotModel(robot)
    faces = [triangles(model, answer.q) for answer in answers]
    colours = [shaded(f, colour) for f, colour in zip(faces, COLOURS, strict=True)]
    # one collection, so that what is behind is drawn first
    axes.add_collection3d(Poly3DCollection(np.concatenate(faces), linewidths=0,
                                           facecolors=np.concatenate(colours)))
    origin, R = target()[:3, 3], target()[:3, :3]
    for axis, colour in zip(R.T, ('red', 'green', 'blue'), strict=True):
        axes.quiver(*origin, *(0.15 * axis), color=colour, linewidth=2.5)
    axes.set(xlim=(-0.3, 0.7), ylim=(-0.5, 0.5), zlim=(0, 0.9))
    axes.set_axis_off()
    axes.view_init(elev=16, azim=-35)
    axes.set_box_aspect((1, 1, 1), zoom=1.7)
    plt.savefig(Path(__file__).with_name('panda.png'), dpi=110, bbox_inches='tight',
                pad_inches=0)


if __name__ == '__main__':
    main()
