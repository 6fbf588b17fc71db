"""
Track the same pose by a soft task and by a hard task.

Counterpart of mink's arm_panda_elastic: a posture task pulls the tip off a soft task's target; a
hard task is exact, or comes as near as possible if the target is out of reach. Every step has a
result, so that neither penalties nor a second program are needed.
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

DT = 0.01           # [s]
TIP = 'panda_hand_tcp'


def main():
    robot = Robot.load('panda')
    start = robot.to_q(shipped_robots()['panda'].home)
    posture = posture_task(start, weight=1e-2)
    paths = {}
    for offset in ((0.15, -0.1, 0.1), (1.5, 0.0, 0.0)):         # [m]
        target = Configuration(robot, start).transform(TIP).copy()
        target[:3, 3] += offset
        pose = frame_task(TIP, target, gain=0.5)
        for name, tasks, hard in (('soft', [pose, posture], ()), ('hard', [posture], [pose])):
            program = VelocityProgram(robot, tasks, DT, constraints=hard)
            path = [start]
            for _ in range(500):
                step = program.step(path[-1])
                path.append(step.q)
            away = np.linalg.norm(step.errors[TIP][:3])
            print(f'{name}, target moved by {offset}: {1000 * away:.3f} mm away, '
                  f'{step.status.value}')
            paths[name, offset[0]] = np.array(path)
    return robot, paths


if __name__ == '__main__':
    main()
