"""
Move a mechanism whose links form a closed loop.

Counterpart of mink's biped_cassie, whose legs have closed loops, and of Pink's humanoid_draco3,
where one joint follows another. A URDF is a tree, so the loop is cut at a pin, and a hard task
keeps the pin in its hole. The mechanism is a four-bar linkage, driven by one joint.
"""

import numpy as np

from ros2_ik.core import (
    Configuration,
    FramePosition,
    joint_velocity_task,
    Robot,
    Task,
    VelocityProgram,
)

DT = 0.005          # [s]


def bar(name, parent, child, xyz):
    """Return the URDF of a link on a pin that turns about y."""
    return (f'<link name="{child}"/><joint name="{name}" type="continuous">'
            f'<parent link="{parent}"/><child link="{child}"/><origin xyz="{xyz}"/>'
            '<axis xyz="0 1 0"/><limit velocity="10" effort="10"/></joint>')


def end(child, parent, xyz):
    """Return the URDF of a frame at the end of a bar."""
    return (f'<link name="{child}"/><joint name="to_{child}" type="fixed">'
            f'<parent link="{parent}"/><child link="{child}"/><origin xyz="{xyz}"/></joint>')


LINKAGE = '<robot name="four_bar"><link name="frame"/>' + ''.join([
    bar('crank', 'frame', 'short', '0 0 0'), bar('middle', 'short', 'coupler', '0 0 0.1'),
    end('pin', 'coupler', '0.3 0 0'),
    bar('rocker', 'frame', 'long', '0.3 0 0'), end('hole', 'long', '0 0 0.2')]) + '</robot>'


def main():
    robot = Robot.from_urdf(LINKAGE)
    loop = Task(FramePosition('pin', (0, 0, 0), 'hole'), 0.0, weight=[1, 0, 1], name='loop')
    program = VelocityProgram(robot, [joint_velocity_task(1.0, names=['crank'])], DT,
                              constraints=[loop])
    path, gaps = [robot.to_q({'middle': 0.3, 'rocker': 0.2})], []
    for _ in np.arange(0, 4 * np.pi, DT):
        path.append(program.step(path[-1]).q)
        at = Configuration(robot, path[-1])
        gaps.append(np.linalg.norm(at.transform('pin')[:3, 3] - at.transform('hole')[:3, 3]))
    joints = robot.to_joints(path[-1])
    print(f'the crank turned {joints["crank"] / (2 * np.pi):.3f} times, the rocker is at '
          f'{joints["rocker"]:.3f} rad, the pin at most {1000 * max(gaps[100:]):.4f} mm '
          'from its hole')
    return robot, np.array(path)


if __name__ == '__main__':
    main()
