"""
Follow a figure eight with minimum kinetic energy.

Counterpart of mink's kinetic_energy_reg: the task constrains only the position of the tool, so the
arm is redundant, and moves its light links rather than its heavy links.
"""

import numpy as np
import pinocchio as pin

from ros2_ik.core import Configuration, frame_task, Robot, shipped_robots, VelocityProgram

DT = 0.02           # [s]


def energy(robot, q, v):
    """Return the kinetic energy of a velocity [J]."""
    return pin.computeKineticEnergy(robot.model, robot.model.createData(), q, v)


def main():
    robot = Robot.load('ur5')
    start = robot.to_q(shipped_robots()['ur5'].home)
    pose = Configuration(robot, start).transform('tool0')
    paths = {}
    for weight in (0.0, 1e-5):
        task = frame_task('tool0', pose, orientation_weight=0)
        program = VelocityProgram(robot, [task], DT, kinetic_energy=weight)
        path, spent, away, target = [start], [], [], pose.copy()
        for t in np.arange(0, 2 * np.pi, DT):
            target[:3, 3] = pose[:3, 3] + [0.1 * np.sin(2 * t), 0.2 * np.sin(t), 0]
            program.set_target('tool0', target)
            step = program.step(path[-1])
            path.append(step.q)
            spent.append(energy(robot, step.q, step.v))
            away.append(np.linalg.norm(Configuration(robot, step.q).transform('tool0')[:3, 3]
                                       - target[:3, 3]))
        print(f'weight {weight:g}: {np.mean(spent):.4f} J on average, '
              f'at most {1000 * max(away):.2f} mm from the target')
        paths[weight] = np.array(path)
    return robot, paths


if __name__ == '__main__':
    main()
