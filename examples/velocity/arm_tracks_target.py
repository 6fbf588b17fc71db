"""
Track a target on a circle with the tool of an arm.

Counterpart of Pink's arm_ur3, arm_kinova_gen2 and arm_ur3_sparse_solver, and of mink's arm_iiwa,
arm_ur5e_actuators and arm_so101. The argument selects another robot: `python arm_tracks_target.py
kinova`. ros2_ik has one QP solver for problems of all sizes.
"""

import sys

import numpy as np

from ros2_ik.core import (
    Configuration,
    frame_task,
    posture_task,
    Robot,
    shipped_robots,
    VelocityProgram,
)

DT = 0.005          # [s]
RADIUS = 0.05       # [m]
RATE = 1.0          # [rad/s]
STARTS = {'kinova': {'j2s6s200_joint_1': 1.4, 'j2s6s200_joint_2': 1.3, 'j2s6s200_joint_3': 1.2,
                     'j2s6s200_joint_4': -0.4, 'j2s6s200_joint_5': 1.4}}    # others: home


def target_at(t, start):
    """Return the pose of the target, (4, 4), on a circle in a plane x = const."""
    pose = start.copy()
    pose[:3, 3] += RADIUS * np.array([0, np.sin(RATE * t), np.cos(RATE * t) - 1])
    return pose


def main(name='ur5'):
    robot, shipped = Robot.load(name), shipped_robots()[name]
    q = robot.to_q(STARTS.get(name, shipped.home))
    start = Configuration(robot, q).transform(shipped.tip)

    program = VelocityProgram(robot, [
        frame_task(shipped.tip, start), posture_task(q, weight=1e-6)], DT)
    path, errors = [q], []
    for t in np.arange(0, 2 * np.pi / RATE, DT):
        target = target_at(t + DT, start)
        program.set_target(shipped.tip, target)
        q = program.step(q).q
        path.append(q)
        tool = Configuration(robot, q).transform(shipped.tip)
        errors.append(np.linalg.norm(tool[:3, 3] - target[:3, 3]))
    print(f'{name}: {len(errors)} steps, largest distance from the target '
          f'{1000 * max(errors[1:]):.3f} mm')
    return robot, np.array(path)


if __name__ == '__main__':
    main(*sys.argv[1:])
