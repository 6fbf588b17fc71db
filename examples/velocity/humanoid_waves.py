"""
Stand on both feet, move one foot forward, and wave with the right hand.

Counterpart of Pink's humanoid_jvrc, humanoid_sigmaban and humanoid_draco3 (with its coupled
knees), with a Talos on a free-flyer joint, or a Unitree G1: `python humanoid_waves.py g1`.
"""

import sys

import numpy as np

from ros2_ik.core import (
    Configuration,
    frame_task,
    joint_coupling_task,
    posture_task,
    Robot,
    shipped_robots,
    ShippedRobot,
    VelocityProgram,
)

G1 = ShippedRobot('g1', 'Unitree G1', 'g1_description/urdf/g1_29dof_rev_1_0.urdf',
                  root_joint='freeflyer', home={
                      f'{side}_{joint}_joint': value for side in ('left', 'right')
                      for joint, value in (('hip_pitch', -0.5), ('knee', 1.0),
                                           ('ankle_pitch', -0.5), ('elbow', 0.8))})
# frames of each robot: feet, pelvis, hand, knees
FRAMES = {'talos': ('left_sole_link', 'right_sole_link', 'base_link', 'gripper_right_base_link',
                    ('leg_left_4_joint', 'leg_right_4_joint')),
          'g1': ('left_ankle_roll_link', 'right_ankle_roll_link', 'pelvis', 'right_rubber_hand',
                 ('left_knee_joint', 'right_knee_joint'))}
DT = 0.005          # [s]


def main(name='talos'):
    robot = Robot.load(G1) if name == 'g1' else Robot.load(name, root_joint='freeflyer')
    home = G1.home if name == 'g1' else shipped_robots()[name].home
    left, right, pelvis, hand, knees = FRAMES[name]
    q = robot.to_q(home)
    poses = {frame: Configuration(robot, q).transform(frame).copy()
             for frame in (left, right, pelvis, hand)}
    poses[left][0, 3] += 0.1        # [m]
    poses[pelvis][:3, 3] += [0.05, 0, -0.03]
    program = VelocityProgram(robot, [
        frame_task(left, poses[left], gain_per_second=10),
        frame_task(right, poses[right], gain_per_second=10),
        frame_task(pelvis, poses[pelvis], orientation_weight=0, gain_per_second=10),
        frame_task(hand, poses[hand], orientation_weight=0.1, gain_per_second=10),
        posture_task(home, names=robot.joint_names[1:], weight=1e-6)], DT,
        constraints=[joint_coupling_task(dict(zip(knees, (1.0, -1.0), strict=True)))])

    path, middle = [q], poses[hand].copy()
    for t in np.arange(0, 4, DT):
        poses[hand][:3, 3] = middle[:3, 3] + [0.1, 0.05 * np.sin(3 * t), 0.2]
        program.set_target(hand, poses[hand],
                           velocity=[*(middle[:3, :3].T @ [0, 0.15 * np.cos(3 * t), 0]), 0, 0, 0])
        q = program.step(q).q
        path.append(q)
    at = Configuration(robot, q)
    for frame, pose in poses.items():
        away = np.linalg.norm(at.transform(frame)[:3, 3] - pose[:3, 3])
        print(f'{frame}: {1000 * away:.2f} mm from its target')
    return robot, np.array(path)


if __name__ == '__main__':
    main(*sys.argv[1:])
