"""
Drive a mobile manipulator on a circle, while its hand stays at a point.

Counterpart of Pink's mobile_stretch and stretch_world_target and of mink's mobile_stretch. With
`--relative`: of Pink's stretch_relative_target, where the target of the hand is relative to the
base, and moves up and down. The robot is a Tiago on a planar joint; the task of the hand has a
larger weight than that of the base.
"""

import sys

import numpy as np

from ros2_ik.core import (
    Configuration,
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
RADIUS = 0.3            # [m]


def turned(x, y, angle):
    """Return a pose on the floor, (4, 4)."""
    pose = np.eye(4)
    pose[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    pose[:2, 3] = x, y
    return pose


def main(*options):
    base = 'base_footprint' if '--relative' in options else None
    robot = Robot.load(TIAGO)
    q = robot.to_q(TIAGO.home)
    hand = Configuration(robot, q).transform(HAND, base).copy()
    names = [name for name in robot.joint_names[1:] if 'wheel' not in name]
    program = VelocityProgram(robot, [
        frame_task('base_footprint', np.eye(4), position_weight=0.01, orientation_weight=0.01),
        frame_task(HAND, hand, orientation_weight=0, relative_to=base),
        posture_task(TIAGO.home, names=names, weight=1e-4)], DT)

    path, away, height = [q], [], hand[2, 3]
    for t in np.arange(0, 4 * np.pi, DT):
        program.set_target('base_footprint', turned(
            RADIUS * (np.cos(t / 2) - 1), RADIUS * np.sin(t / 2), 0.3 * np.sin(t / 2)))
        if base is not None:
            hand[2, 3] = height + 0.05 * np.sin(t / 2)
        program.set_target(HAND, hand)
        q = program.step(q).q
        path.append(q)
        away.append(np.linalg.norm(Configuration(robot, q).transform(HAND, base)[:3, 3]
                                   - hand[:3, 3]))
    way = np.linalg.norm(np.diff(np.array(path)[:, :2], axis=0), axis=1).sum()
    print(f'the base drove {way:.2f} m, the hand was at most {1000 * max(away):.2f} mm '
          'from its target')
    return robot, np.array(path)


if __name__ == '__main__':
    main(*sys.argv[1:])
