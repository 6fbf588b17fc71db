"""
Close the fingers of a hand around a ball.

Counterpart of mink's hand_shadow, with an Allegro hand: each finger tip has a target position, and
a posture task determines the remaining degrees of freedom.
"""

import numpy as np

from ros2_ik.core import (
    Configuration,
    frame_task,
    posture_task,
    Robot,
    ShippedRobot,
    VelocityProgram,
)

ALLEGRO = ShippedRobot('allegro', 'Allegro hand, right',
                       'allegro_hand_description/urdf/allegro_right_hand.urdf')
TIPS = ('link_3.0_tip', 'link_7.0_tip', 'link_11.0_tip', 'link_15.0_tip')   # the last is the thumb
DT = 0.005          # [s]
CLOSED = {f'joint_{i}.0': value for i, value in enumerate(
    (0.1, 0.9, 0.8, 0.6, 0.0, 0.9, 0.8, 0.6, -0.1, 0.9, 0.8, 0.6, 1.2, 0.3, 0.5, 0.7))}


def main():
    robot = Robot.load(ALLEGRO)
    q = robot.to_q({'joint_12.0': 0.6})
    grasp = Configuration(robot, CLOSED)    # has the target positions of the tips
    program = VelocityProgram(robot, [
        *(frame_task(tip, grasp.transform(tip), orientation_weight=0, gain_per_second=5)
          for tip in TIPS),
        posture_task(q, weight=1e-6)], DT)

    path = [q]
    for _ in range(600):
        q = program.step(q).q
        path.append(q)
    for tip in TIPS:
        away = np.linalg.norm(Configuration(robot, q).transform(tip)[:3, 3]
                              - grasp.transform(tip)[:3, 3])
        print(f'{tip}: {1000 * away:.3f} mm from its target')
    return robot, np.array(path)


if __name__ == '__main__':
    main()
