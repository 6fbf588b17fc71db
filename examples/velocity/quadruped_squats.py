"""
Move the trunk of a quadruped sideways and up, within bounds.

Counterpart of Pink's barriers/go2_squat: the target of the trunk sways to both sides, then rises
and sinks by 20 cm; a barrier keeps the trunk at y <= 0 and below a height.
"""

import numpy as np

from ros2_ik.core import (
    Barrier,
    Configuration,
    frame_task,
    FramePosition,
    posture_task,
    Robot,
    ShippedRobot,
    VelocityProgram,
)

GO2 = ShippedRobot('go2', 'Unitree Go2', 'go2_description/urdf/go2.urdf',
                   root_joint='freeflyer', home={
                       f'{leg}_{joint}_joint': value for leg in ('FL', 'FR', 'RL', 'RR')
                       for joint, value in (('thigh', 0.8), ('calf', -1.57))})
FEET = ('FL_foot', 'FR_foot', 'RL_foot', 'RR_foot')
DT = 0.005                  # [s]
HIGHEST = 0.05              # of the trunk above its start [m]


def main():
    robot = Robot.load(GO2)
    q = robot.to_q(GO2.home)
    at = Configuration(robot, q)
    target = at.transform('base').copy()
    window = Barrier(FramePosition('base'), upper=[np.inf, 0.0, HIGHEST], gain_per_second=100)
    program = VelocityProgram(robot, [
        frame_task('base', target, orientation_weight=0.1),
        *(frame_task(foot, at.transform(foot), position_weight=16, orientation_weight=0)
          for foot in FEET),
        posture_task(GO2.home, names=robot.joint_names[1:], weight=1e-6)], DT, barriers=[window])

    path = [q]
    for t in np.arange(0, 8, DT):
        sway, rise = (0.1, 0.0) if t < 4 else (0.0, 0.2)
        target[1:3, 3] = np.sin(0.5 * np.pi * t) * np.array([sway, rise])
        program.set_target('base', target)
        q = program.step(q).q
        path.append(q)
    y, z = np.array(path)[:, 1], np.array(path)[:, 2]
    slip = max(np.linalg.norm(Configuration(robot, q).transform(foot)[:3, 3]
                              - at.transform(foot)[:3, 3]) for foot in FEET for q in path[::20])
    print(f'trunk: y from {y.min():.3f} to {y.max():.5f} m, z from {z.min():.3f} to '
          f'{z.max():.5f} m; feet slip {1000 * slip:.2f} mm')
    return robot, np.array(path)


if __name__ == '__main__':
    main()
