"""
Track a target that suddenly moves, without and with smooth velocities.

Counterpart of Pink's arm_ur3_velocity_smoothing: a lower gain, a damping task and an acceleration
limit, which holds exactly in each step. An arm with this limit lags, since it must be able to stop
at the target. If the program is given the velocity of the target, the arm does not lag.
"""

import numpy as np

from ros2_ik.core import (
    AccelerationLimit,
    Configuration,
    ConfigurationLimit,
    damping_task,
    frame_task,
    posture_task,
    Robot,
    ShippedRobot,
    VelocityLimit,
    VelocityProgram,
)

UR3 = ShippedRobot('ur3', 'Universal Robots UR3', 'ur_description/urdf/ur3_robot.urdf')
DT = 0.005              # [s]
MOST = 5.0              # acceleration limit [rad/s^2]


def track(robot, program, q, knows_velocity):
    """Track a target that swings left and right; return q (n, 6) and the errors of each step."""
    pose, path, away = Configuration(robot, q).transform('tool0').copy(), [q], []
    middle = pose[1, 3]
    for t in np.arange(0, 4, DT):
        pose[1, 3] = middle + 0.1 * np.sin(2 * t)
        velocity = np.zeros(6)      # along the target's axes
        if knows_velocity:
            velocity[:3] = pose[:3, :3].T @ [0, 0.2 * np.cos(2 * t), 0]
        program.set_target('tool0', pose, velocity)
        step = program.step(path[-1])
        path.append(step.q)
        away.append(np.linalg.norm(step.errors['tool0'][:3]))
    return np.array(path), away


def main():
    robot = Robot.load(UR3)
    q = robot.to_q({'shoulder_lift_joint': -1.57, 'elbow_joint': 1.57, 'wrist_1_joint': -1.57,
                    'wrist_2_joint': -1.57})
    tool = Configuration(robot, q).transform('tool0')

    rough = VelocityProgram(robot, [frame_task('tool0', tool), posture_task(q, weight=1e-6)], DT)
    smooth = VelocityProgram(
        robot, [frame_task('tool0', tool, gain=0.4), damping_task(1e-7)], DT,
        limits=[ConfigurationLimit(), VelocityLimit(), AccelerationLimit(MOST)])
    paths = {}
    for name, program, knows in (('rough', rough, False), ('smooth', smooth, False),
                                 ('smooth, with the velocity of the target', smooth, True)):
        program.reset()
        path, away = track(robot, program, q, knows)
        velocity = np.diff(np.vstack([path[:1], path]), axis=0) / DT
        most = np.abs(np.diff(velocity, axis=0)).max() / DT
        print(f'{name}: largest acceleration {most:.2f} rad/s^2, '
              f'lag up to {1000 * max(away[200:]):.2f} mm')
        paths[name] = path
    return robot, paths


if __name__ == '__main__':
    main()
