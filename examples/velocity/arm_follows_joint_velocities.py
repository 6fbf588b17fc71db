"""
Follow joint velocities within the joint limits.

Counterpart of Pink's arm_z1_joint_velocity_tracking: all joints should move with 2 sin(t) rad/s.
Joints brake before their limits, and rest there until the velocity changes sign.
"""

import numpy as np

from ros2_ik.core import joint_velocity_task, Robot, ShippedRobot, VelocityProgram

Z1 = ShippedRobot('z1', 'Unitree Z1', 'z1_description/urdf/z1.urdf')
DT = 0.005      # [s]


def main():
    robot = Robot.load(Z1)
    q = robot.neutral
    program = VelocityProgram(robot, [joint_velocity_task(0.0)], DT)

    path, waiting = [q], set()
    for t in np.arange(0, 2 * np.pi, DT):
        program.set_target('joint velocity', velocity=2.0 * np.sin(t))
        step = program.step(q)
        q = step.q
        path.append(q)
        waiting.update(step.active_limits)
    print('joints that rested at a limit: ' + ', '.join(sorted(waiting)))
    print(f'they stayed {np.min([q - robot.lower, robot.upper - q]):.2g} rad within their limits')
    return robot, np.array(path)


if __name__ == '__main__':
    main()
