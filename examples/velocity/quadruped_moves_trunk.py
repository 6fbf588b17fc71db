"""
Move the trunk of a quadruped over its fixed feet; the hand of its arm, if any, does not move.

Counterpart of mink's quadruped_go1, with a Unitree Go1, and with the argument `anymal` of its
quadruped_spot, with an ANYmal that has an arm.
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

GO1 = ShippedRobot('go1', 'Unitree Go1', 'go1_description/urdf/go1.urdf',
                   root_joint='freeflyer', home={
                       f'{leg}_{joint}_joint': value for leg in ('FL', 'FR', 'RL', 'RR')
                       for joint, value in (('thigh', 0.8), ('calf', -1.6))})
ANYMAL = ShippedRobot(
    'anymal', 'ANYmal with an arm', 'anymal_b_simple_description/robots/anymal-kinova.urdf',
    root_joint='freeflyer', home={
        **{f'{end}_{joint}': value
           for end, thigh in (('LF', 0.7), ('RF', 0.7), ('LH', -0.7), ('RH', -0.7))
           for joint, value in (('HFE', thigh), ('KFE', -1.4 * thigh))},
        'j2s6s200_joint_1': 1.4, 'j2s6s200_joint_2': 1.3, 'j2s6s200_joint_3': 1.2,
        'j2s6s200_joint_4': -0.4, 'j2s6s200_joint_5': 1.4})
FRAMES = {'go1': (GO1, 'trunk', ['FL_foot', 'FR_foot', 'RL_foot', 'RR_foot']),
          'anymal': (ANYMAL, 'base', ['LF_FOOT', 'RF_FOOT', 'LH_FOOT', 'RH_FOOT'])}
HAND = 'j2s6s200_end_effector'
DT = 0.005          # [s]


def main(name='go1'):
    shipped, trunk, feet = FRAMES[name]
    robot = Robot.load(shipped)
    q = robot.to_q(shipped.home)
    at = Configuration(robot, q)
    target, fixed = at.transform(trunk).copy(), list(feet)
    tasks = [frame_task(foot, at.transform(foot), orientation_weight=0) for foot in feet]
    if name == 'anymal':
        fixed.append(HAND)
        tasks.append(frame_task(HAND, at.transform(HAND)))
    program = VelocityProgram(robot, [
        frame_task(trunk, target, position_weight=0.1, orientation_weight=0.1), *tasks,
        posture_task(shipped.home, names=robot.joint_names[1:], weight=1e-6)], DT)

    path = [q]
    for t in np.arange(0, 2 * np.pi, DT):
        target[:3, 3] = 0.04 * np.sin(t), 0.04 * np.sin(2 * t), 0.03 * (np.cos(t) - 1)
        roll = 0.1 * np.sin(t)
        target[1:3, 1:3] = [[np.cos(roll), -np.sin(roll)], [np.sin(roll), np.cos(roll)]]
        program.set_target(trunk, target)
        q = program.step(q).q
        path.append(q)
    moved = [np.linalg.norm(Configuration(robot, q).transform(frame)[:3, 3]
                            - at.transform(frame)[:3, 3]) for frame in fixed for q in path[::20]]
    print(f'{name}: {", ".join(fixed)} moved by at most {1000 * max(moved):.2f} mm')
    return robot, np.array(path)


if __name__ == '__main__':
    main(*sys.argv[1:])
