"""
Iterate velocity IK until the tool is within 1e-8 of its pose.

Counterpart of Pink's inverse_kinematics_ur10 and, with `--hit-limit`, of its
inverse_kinematics_piper_viz, where the wrist stops at its limit. To find joint values for a pose,
use `solve_pose` instead: it restarts if a descent ends at a limit.
"""

import sys

import numpy as np

from ros2_ik.core import (
    Configuration,
    ConfigurationLimit,
    frame_task,
    Robot,
    ShippedRobot,
    VelocityProgram,
)

UR10 = ShippedRobot('ur10', 'Universal Robots UR10', 'ur_description/urdf/ur10_robot.urdf')
DT = 0.01           # [s]
PRECISION = 1e-8    # [m, rad]


def main(*options):
    robot = Robot.load(UR10)
    goal = np.array([0.9, -1.0, 1.4, -0.6, 0.8, 2.0])
    start = np.array([0.2, -0.5, 0.6, 0.1, 0.4, 0.5])
    if '--hit-limit' in options:
        goal[5], start[5] = robot.upper[5], 5.5
    target = Configuration(robot, goal).transform('tool0')

    program = VelocityProgram(robot, [frame_task('tool0', target)], DT,
                              limits=[ConfigurationLimit()])    # no velocity limits
    path = [start]
    while len(path) < 500:
        step = program.step(path[-1])
        error = np.linalg.norm(step.errors['tool0'])
        if error < PRECISION:
            break
        path.append(step.q)
    print(f'{len(path) - 1} steps, error {error:.2g}, joints at {np.round(path[-1], 3)}')
    return robot, np.array(path)


if __name__ == '__main__':
    main(*sys.argv[1:])
