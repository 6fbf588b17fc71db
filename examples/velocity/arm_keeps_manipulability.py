"""
Track a target with and without a task that avoids singularities.

Counterpart of Pink's arm_panda_manipulability_comparison: a manipulability task of small weight
uses the arm's redundancy to keep its manipulability high.
"""

import numpy as np

from ros2_ik.core import (
    Configuration,
    damping_task,
    frame_task,
    manipulability_task,
    posture_task,
    Robot,
    shipped_robots,
    VelocityProgram,
)

DT = 0.01           # [s]
TIP = 'panda_hand_tcp'


def measure(robot, q):
    """Return Yoshikawa's measure, sqrt(det(J J^T))."""
    J = Configuration(robot, q).jacobian(TIP)
    return np.sqrt(np.linalg.det(J @ J.T))


def main():
    robot = Robot.load('panda')
    start = robot.to_q(shipped_robots()['panda'].home)
    pose = Configuration(robot, start).transform(TIP)
    common = [frame_task(TIP, pose), posture_task(start, weight=1e-6), damping_task(1e-6)]
    programs = {'without': VelocityProgram(robot, common, DT),
                'with': VelocityProgram(robot, [
                    *common, manipulability_task(TIP, 0.05, weight=1e-3)], DT)}

    paths = {}
    for name, program in programs.items():
        path, target = [start], pose.copy()
        for t in np.arange(0, 2 * np.pi, DT):
            target[:3, 3] = pose[:3, 3] + [0.1 * np.sin(t), 0.3 * np.sin(t), 0.1 * np.cos(t) - 0.1]
            program.set_target(TIP, target)
            path.append(program.step(path[-1]).q)
        away = np.linalg.norm(Configuration(robot, path[-1]).transform(TIP)[:3, 3]
                              - target[:3, 3])
        measures = [measure(robot, q) for q in path]
        print(f'{name} the task: mean manipulability {np.mean(measures):.4f}, '
              f'{1000 * away:.2f} mm from the target')
        paths[name] = np.array(path)
    return robot, paths


if __name__ == '__main__':
    main()
