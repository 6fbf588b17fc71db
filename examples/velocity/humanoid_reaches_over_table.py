"""
Reach over a table with both wrists while standing, without contact with the table.

Counterpart of mink's humanoid_g1_teleop: a barrier on selected pairs only (wrists and table,
wrists and thighs). The right wrist's target is inside the table top, so the wrist stops above it.
"""

import numpy as np

from ros2_ik.core import (
    AllowedCollisions,
    Box,
    collision_checker,
    CollisionBarrier,
    com_task,
    Configuration,
    ConfigurationLimit,
    frame_task,
    posture_task,
    Robot,
    Scene,
    SceneObject,
    ShippedRobot,
    VelocityLimit,
    VelocityProgram,
)

G1 = ShippedRobot('g1', 'Unitree G1', 'g1_description/urdf/g1_29dof_rev_1_0.urdf',
                  root_joint='freeflyer', home={
                      f'{side}_{joint}_joint': value for side in ('left', 'right')
                      for joint, value in (('hip_pitch', -0.3), ('knee', 0.6),
                                           ('ankle_pitch', -0.3), ('elbow', 0.8))})
DT = 0.01                       # [s]
MARGIN = 0.05                   # [m]
TABLE = (0.45, 0.0, -0.1)       # centre, from the pelvis at the start [m]


def scene_of(robot):
    """Return a scene with a table, in which only the selected pairs are kept apart."""
    pose = np.eye(4)
    pose[:3, 3] = TABLE
    pairs = {(f'{side}_wrist_yaw_link', other): False for side in ('left', 'right')
             for other in ('table', f'{side}_hip_yaw_link')}
    rest = dict.fromkeys((*robot.frame_names, 'table'), True)
    return Scene(robot).add(SceneObject('table', [Box((0.4, 1.0, 0.04))], pose)).with_allowed(
        AllowedCollisions(pairs, rest))


def main():
    robot = Robot.load(G1)
    q = robot.to_q(G1.home)
    at = Configuration(robot, q)
    checker = collision_checker(robot, scene_of(robot))
    targets = {f'{side}_wrist_yaw_link': at.transform(f'{side}_wrist_yaw_link').copy()
               for side in ('left', 'right')}
    targets['left_wrist_yaw_link'][:3, 3] = 0.3, 0.2, 0.1       # [m]
    targets['right_wrist_yaw_link'][:3, 3] = 0.3, -0.2, -0.1
    program = VelocityProgram(robot, [
        com_task(at.center_of_mass(), weight=10),
        *(frame_task(hand, target, orientation_weight=0, gain_per_second=5)
          for hand, target in targets.items()),
        posture_task(G1.home, names=robot.joint_names[1:], weight=1e-5)], DT,
        limits=[ConfigurationLimit(), VelocityLimit(scale=0.1)],
        barriers=[CollisionBarrier(checker, MARGIN)],
        constraints=[frame_task(foot, at.transform(foot)) for foot in (
            'left_ankle_roll_link', 'right_ankle_roll_link')])

    path, gaps = [q], []
    for _ in range(300):
        q = program.step(q).q
        path.append(q)
        at = Configuration(robot, q)
        gaps.append(checker.distances(q, 1.0, 1).distance.min())
    for hand, target in targets.items():
        print(f'{hand} at {np.round(at.transform(hand)[:3, 3], 3)}, '
              f'target {np.round(target[:3, 3], 3)}')
    print(f'smallest distance {1000 * min(gaps):.1f} mm')
    return robot, np.array(path)


if __name__ == '__main__':
    main()
