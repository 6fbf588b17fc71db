"""
Squat by moving the centre of mass up and down, with fixed feet and hands.

Counterpart of Pink's humanoid_g1_com and humanoid_jvrc_com and of mink's humanoid_g1, humanoid_h1
and humanoid_apollo. The tasks of the feet are hard, so that no other task moves the feet.
"""

import numpy as np

from ros2_ik.core import (
    com_task,
    Configuration,
    frame_task,
    posture_task,
    Robot,
    ShippedRobot,
    VelocityProgram,
)

G1 = ShippedRobot('g1', 'Unitree G1', 'g1_description/urdf/g1_29dof_rev_1_0.urdf',
                  root_joint='freeflyer', home={
                      f'{side}_{joint}_joint': value for side in ('left', 'right')
                      for joint, value in (('hip_pitch', -0.6), ('knee', 1.2),
                                           ('ankle_pitch', -0.6), ('elbow', 0.8))})
FEET = ('left_ankle_roll_link', 'right_ankle_roll_link')
HANDS = ('left_rubber_hand', 'right_rubber_hand')
DT = 0.005          # [s]


def main():
    robot = Robot.load(G1)
    q = robot.to_q(G1.home)
    at = Configuration(robot, q)
    middle = at.center_of_mass()
    hands = {hand: at.transform(hand).copy() for hand in HANDS}
    program = VelocityProgram(robot, [
        com_task(middle, weight=1000),
        frame_task('pelvis', at.transform('pelvis'), position_weight=0),
        *(frame_task(hand, pose, position_weight=100, orientation_weight=0)
          for hand, pose in hands.items()),
        posture_task(G1.home, names=robot.joint_names[1:], weight=1e-3)], DT,
        constraints=[frame_task(foot, at.transform(foot)) for foot in FEET])

    path, errors = [q], []
    for t in np.arange(0, 4, DT):
        wanted = middle + [0, 0, 0.06 * np.sin(np.pi * t)]
        program.set_target('com', wanted)
        q = program.step(q).q
        path.append(q)
        errors.append(np.linalg.norm(Configuration(robot, q).center_of_mass() - wanted))
    end = Configuration(robot, q)
    moved = [np.abs(end.transform(foot) - at.transform(foot)).max() for foot in FEET]
    print(f'centre of mass at most {1000 * max(errors):.2f} mm from its target')
    print(f'feet moved by {1e6 * max(moved):.3f} micrometres')
    return robot, np.array(path)


if __name__ == '__main__':
    main()
