"""
Track a target that suddenly moves, without and with smooth velocities.

The equal of Pink's arm_ur3_velocity_smoothing: a lower gain, a damping task and an acceleration
limit. The limit is kept exactly, in each step.
"""

import numpy as np

from ros2_ik.core import (
    AccelerationLimit,
    Configuration,
    ConfigurationLimit,
    damping_task,
    frame_task,
    load_kernels,
    posture_task,
    ShippedRobot,
    VelocityLimit,
    VelocityProgram,
)

UR3 = ShippedRobot('ur3', 'Universal Robots UR3', 'ur_description/urdf/ur3_robot.urdf')
DT = 0.005              # [s]
MOST = 5.0              # [rad/s^2]


def track(robot, program, q):
    """Return q of each step while the target swings left and right, (n, 6)."""
    pose, path = Configuration(robot, q).transform('tool0').copy(), [q]
    middle = pose[1, 3]
    for t in np.arange(0, 4, DT):
        pose[1, 3] = middle + 0.1 * np.sin(2 * t)
        program.set_target('tool0', pose)
        path.append(program.step(path[-1]).q)
    return np.array(path)


def main():
    load_kernels()
    robot = UR3.load()
    q = robot.to_q({'shoulder_lift_joint': -1.4, 'elbow_joint': 1.8, 'shoulder_pan_joint': 1.0,
                    'wrist_1_joint': 0.5, 'wrist_2_joint': 1.0})
    tool = Configuration(robot, q).transform('tool0')

    rough = VelocityProgram(robot, [frame_task('tool0', tool), posture_task(q, weight=1e-6)], DT)
    smooth = VelocityProgram(
        robot, [frame_task('tool0', tool, gain=0.4), damping_task(1e-7)], DT,
        limits=[ConfigurationLimit(), VelocityLimit(), AccelerationLimit(MOST)])
    paths = {'rough': track(robot, rough, q), 'smooth': track(robot, smooth, q)}
    for name, path in paths.items():
        velocity = np.diff(np.vstack([path[:1], path]), axis=0) / DT
        most = np.abs(np.diff(velocity, axis=0)).max() / DT
        print(f'{name}: largest acceleration {most:.2f} rad/s^2')
    return robot, paths


if __name__ == '__main__':
    main()
