"""
Draw the animation of the README: a Panda's hand goes round over a table, answer by answer.

    tools/run python docs/animation.py
"""

from pathlib import Path
import tempfile

import numpy as np
from PIL import Image

from ros2_ik.core import (
    collision_checker,
    Configuration,
    IKProblem,
    load_kernels,
    load_scene,
    PoseTarget,
    Robot,
    shipped_robots,
    solve,
)
from ros2_ik.view.picture import Panel, write_picture
from ros2_ik.view.robot_model import RobotModel

ANIMATION = Path(__file__).with_name('panda.webp')
TIP, FRAMES, SECONDS = 'panda_hand_tcp', 48, 6.0
SIZE = 720, 480     # [px]
BACK = np.array([0.95, -0.9, 0.42])


def targets() -> list[np.ndarray]:
    """Return the poses (4, 4): a circle over the table, the hand leaning as it goes."""
    poses = []
    for phase in np.linspace(0, 2 * np.pi, FRAMES, endpoint=False):
        lean = 0.3 * np.sin(phase)
        T = np.eye(4)
        T[:3, :3] = np.array([[np.cos(lean), 0, -np.sin(lean)], [0, -1, 0],
                              [-np.sin(lean), 0, -np.cos(lean)]])
        T[:3, 3] = 0.48 + 0.1 * np.cos(phase), 0.25 * np.sin(phase), 0.4 + 0.06 * np.sin(
            2 * phase)
        poses.append(T)
    return poses


def main() -> None:
    load_kernels()
    robot = Robot.load('panda')
    scene, model = load_scene('table', robot), RobotModel(robot)
    checker, q = collision_checker(robot, scene), robot.to_q(shipped_robots()['panda'].home)
    frames, seconds = [], []
    with tempfile.TemporaryDirectory() as folder:
        for number, T in enumerate(targets() * 2):
            solution = solve(IKProblem(robot, PoseTarget(TIP, T), start=q, checker=checker))
            assert solution.success, solution.explain()
            q = solution.best_q
            seconds.append(solution.seconds)
            if number < FRAMES:     # the second round begins where it ends
                continue
            path = Path(folder) / f'{number}.png'
            text = f'{1e3 * float(np.median(seconds)):.2f} ms: target reached, nothing in contact'
            write_picture(path, model, scene, [Panel(q, [text], targets=[
                Configuration(robot, q).transform(TIP)])], SIZE, BACK)
            frames.append(Image.open(path).convert('RGB'))
        frames[0].save(ANIMATION, save_all=True, append_images=frames[1:], loop=0, quality=70,
                       duration=round(1000 * SECONDS / FRAMES), method=4)


if __name__ == '__main__':
    main()
