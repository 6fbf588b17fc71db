"""
Drive a wheeled biped whose wheels roll without slipping.

Counterpart of Pink's upkie_rolling: hard tasks let two wheels roll on the floor, the body drives
forward, and each wheel swings in front of the body and behind it. The URDF in the script has a
free-flyer joint, and two legs with hip, knee and wheel.
"""

import numpy as np

from ros2_ik.core import Configuration, frame_task, Robot, rolling_task, VelocityProgram

DT = 0.005          # [s]
RADIUS = 0.06       # [m]
SPEED = 0.1         # [m/s]


def joint(name, parent, child, xyz, limit=None):
    """Return the URDF of a joint about y; without a limit the joint is continuous."""
    kind = 'continuous' if limit is None else 'revolute'
    bounds = '' if limit is None else f'lower="-{limit}" upper="{limit}"'
    return (f'<link name="{child}"/><joint name="{name}" type="{kind}"><parent link="{parent}"/>'
            f'<child link="{child}"/><origin xyz="{xyz}"/><axis xyz="0 1 0"/>'
            f'<limit {bounds} velocity="30" effort="10"/></joint>')


BIPED = '<robot name="biped"><link name="body"/>' + ''.join(
    joint(f'{side}_hip', 'body', f'{side}_thigh', f'0 {y} 0', 1.5)
    + joint(f'{side}_knee', f'{side}_thigh', f'{side}_shank', '0 0 -0.25', 2.5)
    + joint(f'{side}_axle', f'{side}_shank', f'{side}_wheel', '0 0 -0.25')
    for side, y in (('left', 0.15), ('right', -0.15))) + '</robot>'


def main():
    robot = Robot.from_urdf(BIPED, root_joint='freeflyer')
    q = robot.to_q({f'{side}_{name}': value for side in ('left', 'right')
                    for name, value in (('hip', 0.6), ('knee', -1.2))})
    q[2] = RADIUS + 0.5 * np.cos(0.6)       # the wheels touch the floor
    at = Configuration(robot, q)
    poses = {frame: at.transform(frame).copy() for frame in ('body', 'left_wheel', 'right_wheel')}
    for wheel in ('left_wheel', 'right_wheel'):
        poses[wheel][:3, :3] = np.eye(3)
    program = VelocityProgram(robot, [
        frame_task('body', poses['body']),
        *(frame_task(wheel, poses[wheel], orientation_weight=0)
          for wheel in ('left_wheel', 'right_wheel'))], DT, damping=1e-6,
        constraints=[rolling_task(wheel, RADIUS) for wheel in ('left_wheel', 'right_wheel')])

    path = [q]
    for t in np.arange(0, 2 * np.pi, DT):
        for frame, swing in (('body', 0.0), ('left_wheel', 0.1), ('right_wheel', -0.1)):
            poses[frame][0, 3] = SPEED * t + swing * np.sin(t)
            program.set_target(frame, poses[frame])
        q = program.step(q).q
        path.append(q)
    names = ['left_hip', 'left_knee', 'left_axle']      # the body does not pitch
    turned = sum(robot.to_joints(path[-1], names).values()) - sum(
        robot.to_joints(path[0], names).values())
    print(f'the body drove {q[0]:.4f} m, the left wheel turned {turned:.4f} rad '
          f'and rolled {turned * RADIUS:.4f} m')
    return robot, np.array(path)


if __name__ == '__main__':
    main()
