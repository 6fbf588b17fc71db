"""
Bend a planar arm to maximum manipulability, or stretch it to the minimum.

Counterpart of Pink's planar_2dof_manipulability. With a positive rate, Yoshikawa's measure of the
tip grows until the elbow is at 90 degrees; with a negative rate it shrinks until the arm is
stretched or folded. Only the rows x and y of the Jacobian count.
"""

import numpy as np

from ros2_ik.core import manipulability_task, Robot, VelocityProgram

DT = 0.01           # [s]
ARM = """<robot name="planar">
  <link name="base"/> <link name="upper"/> <link name="lower"/> <link name="tip"/>
  <joint name="shoulder" type="revolute"> <parent link="base"/> <child link="upper"/>
    <axis xyz="0 0 1"/> <limit lower="-3.14" upper="3.14" velocity="2" effort="10"/> </joint>
  <joint name="elbow" type="revolute"> <parent link="upper"/> <child link="lower"/>
    <origin xyz="0.2 0 0"/> <axis xyz="0 0 1"/>
    <limit lower="-3.14" upper="3.14" velocity="2" effort="10"/> </joint>
  <joint name="end" type="fixed"> <parent link="lower"/> <child link="tip"/>
    <origin xyz="0.2 0 0"/> </joint>
</robot>"""


def main():
    robot = Robot.from_urdf(ARM)
    paths = {}
    for rate in (0.05, -0.05):      # [m^2/s]
        program = VelocityProgram(robot, [manipulability_task('tip', rate, rows='xy')], DT)
        path = [np.array([1.0, 1.0])]
        for _ in range(400):
            path.append(program.step(path[-1]).q)
        print(f'rate {rate:+}: the elbow ends at {np.degrees(path[-1][1]):.1f} degrees')
        paths[rate] = np.array(path)
    return robot, paths


if __name__ == '__main__':
    main()
