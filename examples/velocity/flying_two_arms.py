"""
Move the body of a flying robot up and down, while its hands track targets in the world.

Counterpart of Pink's flying_dual_arm_ur3 and mink's flying_dual_arm_ur5e, with a Baxter on a
free-flyer joint. In q the body has a position and a quaternion, in velocities a twist of six
numbers; steps are integrated on the manifold.
"""

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
HANDS = ('left_gripper', 'right_gripper')


def main():
    robot = Robot.load('baxter', root_joint='freeflyer')
    home = shipped_robots()['baxter'].home
    q = robot.to_q(home)
    poses = {frame: Configuration(robot, q).transform(frame) for frame in ('base', *HANDS)}
    program = VelocityProgram(robot, [
        *(frame_task(frame, pose) for frame, pose in poses.items()),
        posture_task(home, names=robot.joint_names[1:], weight=1e-6)], DT)

    path, errors = [q], []
    for t in np.arange(0, 2 * np.pi + 1, DT):
        targets = {frame: pose.copy() for frame, pose in poses.items()}
        targets['base'][2, 3] += 0.1 * np.sin(t)
        for hand in HANDS:
            targets[hand][:3, 3] += [-0.1, 0.05 * np.sin(t), 0.05 * np.sin(2 * t)]
        for frame, target in targets.items():
            program.set_target(frame, target)
        q = program.step(q).q
        path.append(q)
        at = Configuration(robot, q)
        errors.append([np.linalg.norm(at.transform(frame)[:3, 3] - target[:3, 3])
                       for frame, target in targets.items()])
    for frame, most in zip(poses, np.max(errors[200:], axis=0), strict=True):
        print(f'{frame}: after 1 s at most {1000 * most:.3f} mm from its target')
    return robot, np.array(path)


if __name__ == '__main__':
    main()
