"""
Lock the first three joints of an arm for some time, then free them.

Counterpart of mink's arm_panda_dof_freezing: a target swings around the base. With locked joints
the arm does not reach the target, with free joints the arm reaches it. A second program, without
locked joints, starts with the last velocity of the first program.
"""

import numpy as np

from ros2_ik.core import (
    Configuration,
    frame_task,
    posture_task,
    Robot,
    shipped_robots,
    VelocityProgram,
)

DT = 0.005                  # [s]
TIP = 'panda_hand_tcp'
HELD = ('panda_joint1', 'panda_joint2', 'panda_joint3')


def swung(pose, t):
    """Return a pose that swings about the base's z axis by 60 degrees, with a period of 5 s."""
    angle = np.radians(60) * abs(np.sin(0.2 * np.pi * t))
    turn = np.eye(4)
    turn[:2, :2] = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
    turned = pose.copy()
    turned[:3, 3] = turn[:3, :3] @ pose[:3, 3]
    return turned


def main():
    robot = Robot.load('panda')
    q = robot.to_q(shipped_robots()['panda'].home)
    pose = Configuration(robot, q).transform(TIP)
    tasks = [frame_task(TIP, pose), posture_task(q, weight=1e-4)]
    programs = {'held': VelocityProgram(robot, tasks, DT, locked=HELD),
                'free': VelocityProgram(robot, tasks, DT)}

    path, velocity = [q], np.zeros(robot.nv)
    for k, (name, program) in enumerate(programs.items()):
        program.reset(velocity)
        away = []
        for t in 5 * k + np.arange(0, 5, DT):
            program.set_target(TIP, swung(pose, t))
            step = program.step(path[-1])
            path.append(step.q)
            away.append(np.linalg.norm(step.errors[TIP][:3]))
        velocity = step.v
        print(f'{name}: largest distance {1000 * max(away):.1f} mm')
    return robot, np.array(path)


if __name__ == '__main__':
    main()
