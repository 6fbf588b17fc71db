"""
Move a floating base to a distant target, within velocity limits.

Counterpart of Pink's floating_base_velocity_limit. The robot is the biped Bolt on a free-flyer
joint.
"""

import numpy as np

from ros2_ik.core import (
    Configuration,
    frame_task,
    Robot,
    ShippedRobot,
    VelocityLimit,
    VelocityProgram,
)

BOLT = ShippedRobot('bolt', 'Bolt, a biped', 'bolt_description/robots/bolt.urdf',
                    root_joint='freeflyer')
DT = 0.1                            # [s]
LINEAR = [0.3, 0.3, 0.2]            # [m/s]
ANGULAR = 0.8                       # [rad/s]


def main():
    robot = Robot.load(BOLT)
    q = robot.neutral
    target = Configuration(robot, q).transform('base_link').copy()
    target[:3, 3] += [2.0, 0.5, 0.5]                    # [m]
    target[:2, :2] = [[0, -1], [1, 0]]                  # a quarter turn
    program = VelocityProgram(
        robot, [frame_task('base_link', target)], DT,
        limits=[VelocityLimit({robot.base_joint: [*LINEAR, *[ANGULAR] * 3]})])

    path, fastest = [q], np.zeros(6)
    for k in range(100):
        step = program.step(q)
        q = step.q
        path.append(q)
        fastest = np.maximum(fastest, np.abs(step.v[:6]))
        if k % 20 == 0:
            print(f'{k * DT:4.1f} s: linear {np.round(step.v[:3], 3)} m/s, '
                  f'angular {np.round(step.v[3:6], 3)} rad/s')
    print(f'fastest {np.round(fastest, 3)}; the base ends at {np.round(q[:3], 3)}')
    return robot, np.array(path)


if __name__ == '__main__':
    main()
