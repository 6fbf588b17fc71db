"""
Draw the README's animation: a Panda's hand moves around a box; each pose is solved from home.

    tools/run python docs/animation.py
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont
import pinocchio as pin

from ros2_ik.core import (
    Array,
    Box,
    collision_checker,
    IKProblem,
    PoseTarget,
    Robot,
    Scene,
    SceneObject,
    shipped_robots,
    solve,
)
from ros2_ik.view.picture import Panel, panel_images
from ros2_ik.view.surfaces import RobotModel

ANIMATION = Path(__file__).with_name('panda.webp')
TIP, FRAMES, SECONDS = 'panda_hand_tcp', 96, 6.0
SIZE, CAPTION = (720, 480), 40     # size of the picture, height of the caption in it [px]
BACK = np.array([0.6, -1.0, 0.55])    # direction from the robot to the camera
MIDDLE = np.array([0.5, 0.0, 0.14])    # centre of the box [m]
WOOD, BLUE = (0.72, 0.53, 0.34, 1.0), (0.25, 0.45, 0.75, 1.0)


def box_on_table(robot: Robot) -> Scene:
    """Return a scene with a box on a low table in front of the robot."""
    return Scene(robot).add(
        SceneObject('table', [Box([0.6, 0.85, 0.04])], pose(0.52, 0, 0.02), color=WOOD)).add(
        SceneObject('box', [Box([0.12, 0.12, 0.2])], pose(*MIDDLE), color=BLUE))


def pose(*position: float) -> Array:
    """Return a pose without rotation, (4, 4)."""
    T = np.eye(4)
    T[:3, 3] = position
    return T


def targets() -> Iterator[Array]:
    """Yield poses (4, 4) around the box; the hand points down, with a varying tilt."""
    for phase in np.linspace(0, 2 * np.pi, FRAMES, endpoint=False):
        lean = 0.25 * np.array([np.sin(phase), np.cos(phase)])
        T = pose(*MIDDLE + (0.17 * np.cos(phase), 0.25 * np.sin(phase),
                            0.06 + 0.05 * np.cos(2 * phase)))
        T[:3, :3] = pin.rpy.rpyToMatrix(np.pi + lean[0], lean[1], 0.0)
        yield T


def answers(robot: Robot, scene: Scene) -> tuple[list[Panel], float]:
    """Return a panel for each target, solved from home, and the median time of a search [ms]."""
    checker, home = collision_checker(robot, scene), robot.to_q(shipped_robots()['panda'].home)
    panels, seconds = [], []
    for T in targets():
        solution = solve(IKProblem(robot, PoseTarget(TIP, T), start=home, checker=checker))
        assert solution.success, solution.explain()
        panels.append(Panel(solution.q, targets=[T]))
        seconds.append(solution.seconds)
    return panels, 1e3 * float(np.median(seconds))


def main() -> None:
    robot = Robot.load('panda')
    scene = box_on_table(robot)
    panels, milliseconds = answers(robot, scene)
    text = f'each pose solved in {milliseconds:.2f} ms (median), without contact'
    frames = []
    for image in panel_images(RobotModel(robot), scene, panels, (SIZE[0], SIZE[1] - CAPTION),
                              BACK):
        frame = Image.new('RGB', SIZE, 'white')
        frame.paste(image)
        ImageDraw.Draw(frame).text((SIZE[0] / 2, SIZE[1] - CAPTION / 2), text, fill='#333',
                                   anchor='mm', font=ImageFont.load_default(20))
        frames.append(frame)
    frames[0].save(ANIMATION, save_all=True, append_images=frames[1:], loop=0, quality=70,
                   duration=round(1000 * SECONDS / FRAMES), method=4)


if __name__ == '__main__':
    main()
