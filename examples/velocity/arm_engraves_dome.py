"""
Move a tool over a dome, perpendicular to its surface.

Counterpart of mink's arm_panda_engrave: the tip follows a line on the dome, the tool's axis stays
along the normal of the surface, and the rotation about the axis is free.
"""

import numpy as np

from ros2_ik.core import (
    axis_align_task,
    Configuration,
    frame_task,
    posture_task,
    Robot,
    shipped_robots,
    VelocityProgram,
)

DT = 0.01                               # [s]
TIP = 'panda_hand_tcp'
CENTRE, RADIUS = (0.5, 0.0, 0.0), 0.26  # of the dome's sphere [m]


def surface_at(t):
    """Return a point of a figure eight on the dome [m], and the normal at this point."""
    x, y = 0.08 * np.sin(t), 0.08 * np.sin(2 * t)
    normal = np.array([x, y, np.sqrt(RADIUS ** 2 - x ** 2 - y ** 2)]) / RADIUS
    return CENTRE + RADIUS * normal, normal


def main():
    robot = Robot.load('panda')
    q = robot.to_q(shipped_robots()['panda'].home)
    target = np.eye(4)
    program = VelocityProgram(robot, [
        frame_task(TIP, target, orientation_weight=0),
        axis_align_task(TIP, (0, 0, 1), (0, 0, -1), name='normal'),
        posture_task(q, weight=1e-4)], DT)

    path, away, tilt = [q], [], []
    for t in np.concatenate([np.zeros(200), np.arange(0, 2 * np.pi, DT)]):
        point, normal = surface_at(t)
        target[:3, 3] = point
        program.set_target(TIP, target)
        program.set_target('normal', -normal)
        q = program.step(q).q
        path.append(q)
        T = Configuration(robot, q).transform(TIP)
        away.append(np.linalg.norm(T[:3, 3] - point))
        tilt.append(np.degrees(np.arccos(np.clip(-normal @ T[:3, 2], -1, 1))))
    print(f'after 2 s: at most {1000 * max(away[200:]):.2f} mm from the line, '
          f'{max(tilt[200:]):.2f} degrees from the normal')
    return robot, np.array(path)


if __name__ == '__main__':
    main()
