"""
Move an omnidirectional base on straight lines, to a target that jumps between two poses.

Counterpart of Pink's mobile_omni_wheeled_robot, where the base drives an arc while it turns, since
its error is one twist. In ros2_ik the errors of position and heading are separate, so that the
base drives on a straight line. The robot is a Tiago on a planar joint.
"""

import numpy as np

from ros2_ik.core import frame_task, Robot, ShippedRobot, VelocityProgram

TIAGO = ShippedRobot('tiago', 'PAL Tiago', 'tiago_description/robots/tiago_no_hand.urdf',
                     root_joint='planar')
DT = 0.01           # [s]


def main():
    robot = Robot.load(TIAGO)
    there, back = np.eye(4), np.eye(4)
    there[:2, :2], there[:2, 3] = [[0, 1], [-1, 0]], (-0.4, 0.3)
    program = VelocityProgram(robot, [frame_task('base_footprint', back, gain=0.05)], DT)

    path = [robot.neutral]
    for target in (there, back):
        program.set_target('base_footprint', target)
        for _ in range(300):
            path.append(program.step(path[-1]).q)
        x, y, theta = path[-1][:3]
        print(f'base at x {x:.4f} m, y {y:.4f} m, {np.degrees(theta):.2f} degrees')
    across = np.array([q[:2] for q in path]) @ [0.6, 0.8]
    print(f'at most {1000 * np.abs(across).max():.3f} mm from the straight line')
    return robot, np.array(path)


if __name__ == '__main__':
    main()
