"""
Swing the tip of a double pendulum left and right, with a URDF in the script.

Counterpart of Pink's double_pendulum and load_custom_urdf.
"""

import numpy as np

from ros2_ik.core import Configuration, frame_task, posture_task, Robot, VelocityProgram

DT = 0.01           # [s]
PENDULUM = """<robot name="double_pendulum">
  <link name="base"/> <link name="upper"/> <link name="lower"/> <link name="tip"/>
  <joint name="joint1" type="revolute"> <parent link="base"/> <child link="upper"/>
    <axis xyz="1 0 0"/> <limit lower="-3" upper="3" velocity="5" effort="10"/> </joint>
  <joint name="joint2" type="revolute"> <parent link="upper"/> <child link="lower"/>
    <origin xyz="0 0 0.2"/> <axis xyz="1 0 0"/>
    <limit lower="-3" upper="3" velocity="5" effort="10"/> </joint>
  <joint name="end" type="fixed"> <parent link="lower"/> <child link="tip"/>
    <origin xyz="0 0 0.2"/> </joint>
</robot>"""


def main():
    robot = Robot.from_urdf(PENDULUM)       # or the path of a URDF file
    q = np.array([0.5, -1.0])
    target = Configuration(robot, q).transform('tip').copy()
    program = VelocityProgram(robot, [
        frame_task('tip', target, orientation_weight=0), posture_task(q, weight=1e-6)], DT)
    path, away = [q], []
    for t in np.arange(0, 2 * np.pi, DT):
        target[1, 3] = 0.1 * np.sin(t)
        program.set_target('tip', target)
        q = program.step(q).q
        path.append(q)
        away.append(np.linalg.norm(Configuration(robot, q).transform('tip')[:3, 3]
                                   - target[:3, 3]))
    print(f'{robot}: tip at most {1000 * max(away):.3f} mm from its target')
    return robot, np.array(path)


if __name__ == '__main__':
    main()
