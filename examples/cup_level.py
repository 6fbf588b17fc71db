"""
Hold a cup level, with the elbow low.

Constraints: the cup is within 1 cm of a point, and upright within one degree. Costs keep the
elbow below 0.5 m and three joints near zero, if possible.
"""

import math

from ros2_ik.core import InverseKinematics, LeastSquares, PointToPlane, Robot

CUP = (0.45, 0.0, 0.3)      # [m] in the robot's root frame
UP = (0, 0, 1)


def main():
    robot = Robot.load('panda')
    ik = InverseKinematics(robot)

    # the hand grips the cup from the side: the hand's x axis is the cup's axis
    ik.add_position_constraint('panda_hand_tcp', [0, 0, 0], None,
                               [p - 0.01 for p in CUP], [p + 0.01 for p in CUP])
    ik.add_angle_between_vectors_constraint(None, UP, 'panda_hand_tcp', [1, 0, 0],
                                            0, math.radians(1))

    height_of_elbow = PointToPlane('panda_link4', [0, 0, 0], [0, 0, 0], UP)
    ik.add_cost(LeastSquares(height_of_elbow, upper=0.5, weight=100, name='elbow low'))
    ik.add_posture_cost({'panda_joint1': 0, 'panda_joint3': 0, 'panda_joint5': 0}, weight=0.1)

    # search until the timeout, and return the solution of lowest cost
    solution = ik.solve(timeout=0.5, select='cost', random_state=0)
    print(solution.explain())
    for name, cost in solution.costs:
        print(f'  cost {cost:.3g}: {name}')
    for name, value in solution.best_joints.items():
        print(f'  {name} = {value:.6f}')
    return 0 if solution.success else 1


if __name__ == '__main__':
    raise SystemExit(main())
