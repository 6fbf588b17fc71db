"""
Track a target that moves through a virtual wall, and stop at the wall.

Counterpart of Pink's barriers/arm_ur5: a barrier on one coordinate of the tool. The target swings
between y = -0.65 m and 0.65 m; the tool stays within +-0.4 m, and moves along the wall.
"""

import numpy as np

from ros2_ik.core import (
    Barrier,
    Configuration,
    frame_task,
    FramePosition,
    posture_task,
    Robot,
    shipped_robots,
    VelocityProgram,
)

DT = 0.005                  # [s]
WALL = 0.4                  # [m]


def main():
    robot = Robot.load('ur5')
    q = robot.to_q(shipped_robots()['ur5'].home)
    target = Configuration(robot, q).transform('tool0').copy()
    wall = Barrier(FramePosition('tool0'), [-np.inf, -WALL, -np.inf], [np.inf, WALL, np.inf],
                   gain_per_second=100)
    program = VelocityProgram(robot, [
        frame_task('tool0', target, position_weight=100), posture_task(q, weight=1e-6)], DT,
        barriers=[wall])

    path, reached = [q], []
    for t in np.arange(0, 4 * np.pi, DT):
        target[1, 3] = 0.65 * np.sin(t / 2)
        program.set_target('tool0', target)
        q = program.step(q).q
        path.append(q)
        reached.append(Configuration(robot, q).transform('tool0')[1, 3])
    print(f'the target goes to y = +-0.650 m, the wall is at +-{WALL:.3f} m, '
          f'the tool goes from {min(reached):.4f} to {max(reached):.4f} m')
    return robot, np.array(path)


if __name__ == '__main__':
    main()
