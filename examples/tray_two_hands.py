"""
Carry a tray with both hands of a Baxter.

The hands face each other across the tray. The right hand has a pose relative to the left hand.
Constraints on the left hand keep the tray level, and the middle of the tray near a point.
"""

import math

import numpy as np

from ros2_ik.core import InverseKinematics, Robot, shipped_robots

WIDTH = 0.4                     # [m], from hand to hand
MIDDLE = [0.7, 0.0, 0.15]       # [m] in the robot's root frame
UP = [0, 0, 1]


def main():
    robot = Robot.load('baxter')
    home = shipped_robots()['baxter'].home
    ik = InverseKinematics(robot, locked={'head_pan': 0.0})

    # grippers point along their z axes: the right gripper is WIDTH in front of the left gripper,
    # and points back at it
    facing = np.diag([1.0, -1.0, -1.0, 1.0])
    facing[2, 3] = WIDTH
    ik.add_pose_target('right_gripper', facing, relative_to='left_gripper',
                       position_tolerance=1e-4, orientation_tolerance=1e-3)

    ik.add_angle_between_vectors_constraint(None, UP, 'left_gripper', [1, 0, 0],
                                            0, math.radians(1))
    ik.add_position_constraint('left_gripper', [0, 0, WIDTH / 2], None,
                               [p - 0.02 for p in MIDDLE], [p + 0.02 for p in MIDDLE])
    ik.add_posture_cost(robot.to_q(home))

    solution = ik.solve(home, timeout=1.0, random_state=0)
    print(solution.explain())
    for name, value in solution.best_joints.items():
        print(f'  {name} = {value:.6f}')
    return 0 if solution.success else 1


if __name__ == '__main__':
    raise SystemExit(main())
