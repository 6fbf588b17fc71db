"""
Swap two hands over a table, and keep all links of the arms apart.

Counterpart of Pink's barriers/kukas_self_collision and of mink's dual_iiwa, dual_panda and
arm_aloha (with its table), with the two arms of a Baxter: the targets move through each other, the
hands move around each other.
"""

from itertools import combinations

import numpy as np

from ros2_ik.core import (
    Box,
    collision_checker,
    CollisionBarrier,
    Configuration,
    frame_task,
    posture_task,
    Robot,
    Scene,
    SceneObject,
    shipped_robots,
    VelocityProgram,
)

DT = 0.01                   # [s]
MARGIN = 0.05               # [m]
TABLE = (0.9, 0.0, -0.25)   # centre of a box of 0.8 x 1.6 x 0.1 [m]


def scene_of(robot):
    """Return a scene with a table, in which the parts of each gripper may touch."""
    pose = np.eye(4)
    pose[:3, 3] = TABLE
    scene = Scene(robot).add(SceneObject('table', [Box((0.8, 1.6, 0.1))], pose))
    for side in ('left', 'right'):
        fingers = [f'{side[0]}_gripper_{finger}_finger{tip}' for finger in 'lr'
                   for tip in ('', '_tip')]
        for pair in combinations([f'{side}_hand_link', f'{side}_gripper_base_link', *fingers], 2):
            scene = scene.allow(*pair)
    return scene


def main():
    robot = Robot.load('baxter')
    q = robot.to_q(shipped_robots()['baxter'].home)
    checker = collision_checker(robot, scene_of(robot))
    poses = {f'{side}_gripper': Configuration(robot, q).transform(f'{side}_gripper').copy()
             for side in ('left', 'right')}
    program = VelocityProgram(robot, [
        *(frame_task(hand, pose, orientation_weight=0.01, gain=0.1)
          for hand, pose in poses.items()),
        posture_task(q, weight=1e-4)], DT, barriers=[CollisionBarrier(checker, MARGIN)])

    path, gaps = [q], []
    for t in np.arange(0, 2 * np.pi, DT):
        for hand, y in (('left_gripper', 0.3), ('right_gripper', -0.3)):
            poses[hand][:3, 3] = 0.75, y * np.cos(t), 0.1 - 0.5 * y * np.sin(t / 2)
            program.set_target(hand, poses[hand])
        q = program.step(q).q
        path.append(q)
        gaps.append(checker.distances(q, 1.0, 1).distance.min())
    away = [1000 * np.linalg.norm(Configuration(robot, q).transform(hand)[:3, 3] - pose[:3, 3])
            for hand, pose in poses.items()]
    print(f'smallest gap {1000 * min(gaps):.1f} mm, required {1000 * MARGIN:.0f} mm; '
          f'final distances from the targets {away[0]:.1f} and {away[1]:.1f} mm')
    return robot, np.array(path)


if __name__ == '__main__':
    main()
