"""
Look at a part with the camera on the hand, from above, at a distance of 0.4 to 0.6 m.

Constraints: the part is in a cone around the camera's axis, the distance is in bounds, and the
camera's axis is in a cone around the vertical. A cost keeps the arm near its home.
"""

import math

from ros2_ik.core import InverseKinematics, Robot, shipped_robots

PART = [0.55, 0.15, 0.05]       # [m] in the robot's root frame
CAMERA = [0.05, 0, 0.04]        # lens in the hand's frame [m]; points along the hand's z axis
AHEAD = [0, 0, 1]


def main():
    robot = Robot.load('panda')
    home = shipped_robots()['panda'].home
    ik = InverseKinematics(robot)

    ik.add_gaze_target_constraint('panda_hand', CAMERA, AHEAD, None, PART, math.radians(3))
    ik.add_point_to_point_distance_constraint('panda_hand', CAMERA, None, PART, 0.4, 0.6)
    # a steep line of sight, so that no object beside the part hides the part
    ik.add_angle_between_vectors_constraint(None, [0, 0, -1], 'panda_hand', AHEAD,
                                            0, math.radians(30))
    ik.add_posture_cost(robot.to_q(home))

    solution = ik.solve(home, timeout=0.5, random_state=0)
    print(solution.explain())
    camera = ik.configuration.transform('panda_hand') @ [*CAMERA, 1]
    print(f'  the camera is {math.dist(camera[:3], PART):.3f} m from the part')
    for name, value in solution.best_joints.items():
        print(f'  {name} = {value:.6f}')
    return 0 if solution.success else 1


if __name__ == '__main__':
    raise SystemExit(main())
