"""
Move an arm with a hand, while the finger tips keep their positions relative to the palm.

Counterpart of mink's arm_hand_iiwa_allegro and arm_hand_xarm_leap and, with `--mobile`, of its
mobile_kinova_leap: an xArm 7 with an Allegro hand, with `--mobile` on a planar base. The finger
tips have tasks relative to the moving palm.
"""

import sys
from xml.etree import ElementTree

import numpy as np

from ros2_ik.core import (
    Configuration,
    frame_task,
    posture_task,
    Robot,
    shipped_robots,
    ShippedRobot,
    VelocityProgram,
)

ALLEGRO = ShippedRobot('allegro', 'Allegro hand, right',
                       'allegro_hand_description/urdf/allegro_right_hand.urdf')
TIPS = ('link_3.0_tip', 'link_7.0_tip', 'link_11.0_tip', 'link_15.0_tip')
BENT = {f'joint_{i}.0': 0.6 for i in (1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15)}
DT = 0.005          # [s]


def with_hand(arm, link, hand):
    """Return the URDF of an arm with a hand 0.1 m in front of a link."""
    root = ElementTree.fromstring(arm)
    palm = [child for child in ElementTree.fromstring(hand) if child.tag in ('link', 'joint')]
    root.extend(palm)
    mount = ElementTree.SubElement(root, 'joint', name='mount', type='fixed')
    ElementTree.SubElement(mount, 'parent', link=link)
    ElementTree.SubElement(mount, 'child', link='palm_link')
    ElementTree.SubElement(mount, 'origin', xyz='0 0 0.1')
    return ElementTree.tostring(root, encoding='unicode')


def main(*options):
    xarm = shipped_robots()['xarm7']
    mobile = '--mobile' in options
    robot = Robot.from_urdf(with_hand(Robot.load(xarm).urdf, xarm.tip, Robot.load(ALLEGRO).urdf),
                            root_joint='planar' if mobile else 'fixed')
    q = robot.to_q({**xarm.home, 'joint_12.0': 0.9, **BENT})
    at = Configuration(robot, q)
    target, fingers = at.transform('palm_link').copy(), {
        tip: at.transform(tip, 'palm_link').copy() for tip in TIPS}
    target[:3, 3] += [1.0, 0.2, 0.1] if mobile else [0.05, 0.2, 0.1]       # [m]
    names = [name for name in robot.joint_names if name != robot.base_joint]
    program = VelocityProgram(robot, [
        frame_task('palm_link', target, gain_per_second=5),
        *(frame_task(tip, pose, relative_to='palm_link', orientation_weight=0)
          for tip, pose in fingers.items()),
        posture_task(robot.to_joints(q, names), names=names, weight=1e-6)], DT)

    path, away = [q], []
    for t in np.arange(0, 4, DT):
        for tip, pose in fingers.items():
            bent = pose.copy()
            bent[2, 3] -= 0.01 * np.sin(2 * t)          # [m]
            program.set_target(tip, bent)
        step = program.step(q)
        q = step.q
        path.append(q)
        away.append(max(np.abs(step.errors[tip][:3]).max() for tip in TIPS))
    place = Configuration(robot, q).transform('palm_link')[:3, 3]
    print(f'palm {1000 * np.linalg.norm(place - target[:3, 3]):.3f} mm from its target, '
          f'finger tips after 1 s at most {1000 * max(away[200:]):.3f} mm from their targets')
    return robot, np.array(path)


if __name__ == '__main__':
    main(*sys.argv[1:])
