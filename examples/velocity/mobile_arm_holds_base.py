"""
Reach with a mobile manipulator, first with a fixed base, then with a free base.

Counterpart of mink's mobile_tidybot and mobile_kinova: a damping task of large weight holds the
base; its weight is set to 0 during the loop. The robot is a Tiago on a planar joint.
"""

import numpy as np

from ros2_ik.core import (
    Configuration,
    damping_task,
    frame_task,
    posture_task,
    Robot,
    ShippedRobot,
    VelocityProgram,
)

TIAGO = ShippedRobot('tiago', 'PAL Tiago', 'tiago_description/robots/tiago_no_hand.urdf',
                     root_joint='planar', home={
                         'torso_lift_joint': 0.15, 'arm_1_joint': 1.3, 'arm_2_joint': 0.2,
                         'arm_3_joint': -1.5, 'arm_4_joint': 1.8})
DT = 0.01               # [s]
HAND = 'arm_tool_link'
FIRM = 1e4              # weight of the task that holds the base


def main():
    robot = Robot.load(TIAGO)
    q = robot.to_q(TIAGO.home)
    target = Configuration(robot, q).transform(HAND).copy()
    target[:3, 3] += [1.5, 0.3, 0.1]        # [m], beyond the arm's reach
    arm = [name for name in robot.joint_names if name.startswith(('arm', 'torso'))]
    program = VelocityProgram(robot, [
        frame_task(HAND, target, gain_per_second=5),
        posture_task(TIAGO.home, names=arm, weight=1e-4),
        damping_task(FIRM, names=['root_joint'], name='base')], DT)

    path = [q]
    for name, weight in (('held', FIRM), ('free', 0.0)):
        program.set_weight('base', weight)
        for _ in range(600):
            q = program.step(q).q
            path.append(q)
        away = np.linalg.norm(Configuration(robot, q).transform(HAND)[:3, 3] - target[:3, 3])
        print(f'base {name}: at {np.round(q[:3], 3) + 0.0}, '
              f'the hand is {1000 * away:.2f} mm from its target')
    return robot, np.array(path)


if __name__ == '__main__':
    main()
