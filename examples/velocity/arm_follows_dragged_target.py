"""
Follow a target that is dragged, and change weights during the loop.

Counterpart of Pink's arm_panda (with its handle and sliders) and mink's arm_panda. The target
jumps; velocity limits and the gain keep the motion smooth. The last target is out of reach: the
arm comes to rest, stretched towards the target.
"""

import numpy as np

from ros2_ik.core import (
    Configuration,
    damping_task,
    frame_task,
    posture_task,
    Robot,
    shipped_robots,
    VelocityProgram,
)

DT = 0.005                                                                  # [s]
TIP = 'panda_hand_tcp'
PLACES = [(0.5, 0.3, 0.4), (0.4, -0.3, 0.6), (0.6, 0.0, 0.2), (2.0, 0, 0)]  # [m]


def main():
    robot = Robot.load('panda')
    q = robot.to_q(shipped_robots()['panda'].home)
    target = Configuration(robot, q).transform(TIP).copy()
    program = VelocityProgram(robot, [
        frame_task(TIP, target, gain_per_second=10),
        posture_task(q, weight=1e-6), damping_task(1e-6)], DT)

    path = [q]
    for place in PLACES:
        target[:3, 3] = place
        program.set_target(TIP, target)
        if place == PLACES[-1]:     # free the orientation, and let the arm move far
            program.set_weight(TIP, [1, 1, 1, 0, 0, 0])
            program.set_weight('posture', 0)
        for _ in range(600):
            step = program.step(q)
            q = step.q
            path.append(q)
        away = np.linalg.norm(Configuration(robot, q).transform(TIP)[:3, 3] - place)
        print(f'target {place}: {1000 * away:.2f} mm away after 3 s, '
              f'fastest joint {np.abs(step.v).max():.4f} rad/s')
    return robot, np.array(path)


if __name__ == '__main__':
    main()
