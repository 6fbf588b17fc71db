"""
Follow targets that are inside a wall and below a floor, without contact.

Counterpart of mink's arm_ur5e: all links keep 1 cm from the objects of the scene and from each
other, and no joint is faster than 180 degrees per second.
"""

import numpy as np

from ros2_ik.core import (
    Box,
    collision_checker,
    CollisionBarrier,
    Configuration,
    ConfigurationLimit,
    frame_task,
    posture_task,
    Robot,
    Scene,
    SceneObject,
    shipped_robots,
    VelocityLimit,
    VelocityProgram,
)

DT = 0.005                  # [s]
MARGIN = 0.01               # [m]
WALL, FLOOR = 0.6, -0.1     # x of the wall, z of the floor [m]


def placed(x, y, z):
    """Return a pose at a point, without rotation, (4, 4)."""
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def main():
    robot = Robot.load('ur5')
    q = robot.to_q(shipped_robots()['ur5'].home)
    scene = Scene(robot)
    scene = scene.add(SceneObject('wall', [Box((0.1, 2, 2))], placed(WALL + 0.05, 0, 0.5)))
    scene = scene.add(SceneObject('floor', [Box((3, 3, 0.1))], placed(0, 0, FLOOR - 0.05)))
    checker = collision_checker(robot, scene)

    target = Configuration(robot, q).transform('tool0').copy()
    program = VelocityProgram(
        robot, [frame_task('tool0', target, gain=0.1), posture_task(q, weight=1e-4)], DT,
        limits=[ConfigurationLimit(), VelocityLimit(np.pi)],
        barriers=[CollisionBarrier(checker, MARGIN)])
    path = [q]
    for place in ((0.8, 0.1, 0.4), (0.4, 0.3, -0.3), (0.4, -0.2, 0.3)):
        target[:3, 3] = place
        program.set_target('tool0', target)
        for _ in range(400):
            q = program.step(q).q
            path.append(q)
        tool = Configuration(robot, q).transform('tool0')[:3, 3]
        gap = checker.distances(q, 1.0, 1).distance.min()
        print(f'target {place}: tool at {np.round(tool, 3)}, smallest gap {1000 * gap:.1f} mm')
    return robot, np.array(path)


if __name__ == '__main__':
    main()
