"""
Keep a moving target in the middle of the image of a camera on the wrist.

Counterpart of mink's arm_ur5e_wrist_cam_lookat: the task aims the camera's axis only; the rotation
about the axis is free, and a posture task prevents drift.
"""

import numpy as np

from ros2_ik.core import (
    Configuration,
    ConfigurationLimit,
    look_at_task,
    posture_task,
    Robot,
    shipped_robots,
    VelocityLimit,
    VelocityProgram,
)

DT = 0.005                  # [s]
LENS = (0.0, 0.0, 0.05)     # position in tool0 [m]; the camera looks along z of tool0


def target_at(t):
    """Return the position of the target [m], on a loop in front of the arm."""
    return np.array([0.9 + 0.1 * np.cos(t), 0.5 * np.sin(t), 0.5 + 0.15 * np.sin(2 * t)])


def main():
    robot = Robot.load('ur5')
    q = robot.to_q({**shipped_robots()['ur5'].home, 'wrist_1_joint': 0.0})
    program = VelocityProgram(robot, [
        look_at_task('tool0', target_at(0), origin=LENS, name='gaze'),
        posture_task(q, weight=1e-4)], DT, limits=[ConfigurationLimit(), VelocityLimit(np.pi)])

    path, off = [q], []
    for t in np.arange(0, 2 * np.pi + 1, DT):
        target = target_at(t + DT)
        program.set_target('gaze', target)
        q = program.step(q).q
        path.append(q)
        T = Configuration(robot, q).transform('tool0')
        ray = target - (T @ [*LENS, 1])[:3]
        off.append(np.degrees(np.arccos(T[:3, 2] @ ray / np.linalg.norm(ray))))
    print(f'{off[0]:.1f} degrees from the target at first, at most {max(off[200:]):.3f} after 1 s')
    return robot, np.array(path)


if __name__ == '__main__':
    main()
