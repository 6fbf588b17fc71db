"""
Lift and lower the feet of a suspended biped, as if it bent its knees.

Counterpart of Pink's upkie_crouching, visualize_in_meshcat and visualize_in_yourdfpy, with the
biped Bolt: the feet move up and down, and their sideways motion is free. The base is fixed; with
the argument `freeflyer` the base is free, and a task holds it.
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

BOLT = ShippedRobot('bolt', 'Bolt, a biped', 'bolt_description/robots/bolt.urdf', home={
    f'{leg}_{joint}': value for leg in ('FL', 'FR')
    for joint, value in (('HFE', 0.4), ('KFE', -0.8))})
FEET = ('FL_FOOT', 'FR_FOOT')
DT = 0.005          # [s]


def main(root_joint='fixed'):
    robot = Robot.load(BOLT, root_joint)
    q = robot.to_q(BOLT.home)
    at = Configuration(robot, q)
    targets = {foot: at.transform(foot).copy() for foot in FEET}
    tasks = [frame_task(foot, pose, position_weight=[1, 0, 1], orientation_weight=0)
             for foot, pose in targets.items()]
    if root_joint == 'freeflyer':
        tasks.append(frame_task('base_link', at.transform('base_link'), weight=100))
    joints = [joint.name for joint in robot.joints if joint.is_scalar]
    program = VelocityProgram(robot, [
        *tasks, posture_task(BOLT.home, names=joints, weight=1e-6)], DT)

    # weights apply along the target's axes, which must be those of the world
    path, away = [q], []
    for foot in FEET:
        targets[foot][:3, :3] = np.eye(3)
    height = {foot: pose[2, 3] for foot, pose in targets.items()}
    for t in np.arange(0, 2 * np.pi, DT):
        for foot, pose in targets.items():
            pose[2, 3] = height[foot] + 0.05 * (1 - np.cos(t))
            program.set_target(foot, pose)
        q = program.step(q).q
        path.append(q)
        at = Configuration(robot, q)
        away.append([abs(at.transform(foot)[2, 3] - targets[foot][2, 3]) for foot in FEET])
    print(f'feet at most {1000 * np.max(away):.3f} mm from their target height; '
          f'knees bent up to {np.degrees(np.abs(path).max(axis=0)[-1]):.1f} degrees')
    return robot, np.array(path)


if __name__ == '__main__':
    main(*sys.argv[1:])
