"""
Move two hands towards each other, and stop in time.

Counterpart of Pink's barriers/yumi_self_collision, with a Baxter: each hand is a sphere, and a
barrier bounds the distance between the centres of both spheres. Meshes are not used.
"""

import numpy as np

from ros2_ik.core import (
    Barrier,
    Configuration,
    frame_task,
    PointToPointDistance,
    posture_task,
    Robot,
    shipped_robots,
    VelocityProgram,
)

DT = 0.005          # [s]
APART = 0.25        # [m]


def main():
    robot = Robot.load('baxter')
    q = robot.to_q(shipped_robots()['baxter'].home)
    poses = {f'{side}_gripper': Configuration(robot, q).transform(f'{side}_gripper').copy()
             for side in ('left', 'right')}
    spheres = PointToPointDistance('left_gripper', (0, 0, 0), (0, 0, 0), 'right_gripper')
    program = VelocityProgram(robot, [
        *(frame_task(hand, pose, orientation_weight=0.01, gain=0.1)
          for hand, pose in poses.items()),
        posture_task(q, weight=1e-6)], DT, barriers=[Barrier(spheres, APART)])

    path, apart = [q], []
    for t in np.arange(0, 4 * np.pi, DT):
        for side, hand in ((1, 'left_gripper'), (-1, 'right_gripper')):
            poses[hand][:3, 3] = 0.7, side * (0.2 + 0.2 * np.cos(t)), 0.2 + 0.1 * np.sin(t)
            program.set_target(hand, poses[hand])
        q = program.step(q).q
        path.append(q)
        at = Configuration(robot, q)
        apart.append(np.linalg.norm(at.transform('left_gripper')[:3, 3]
                                    - at.transform('right_gripper')[:3, 3]))
    print(f'the targets meet; the smallest distance between the hands is {min(apart):.4f} m, '
          f'the barrier allows {APART:.4f} m')
    return robot, np.array(path)


if __name__ == '__main__':
    main()
