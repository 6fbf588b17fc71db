"""
Compare velocity IK, which stops at a joint limit, with a search that finds the pose.

Counterpart of Pink's one_dof_configuration_limit: a pendulum may turn from 0 to 2 pi. From 0.5 rad
to 5.5 rad, the shorter direction leads through the limit at 0. Velocity IK moves in this direction
and rests at the limit; `solve_pose` restarts from other configurations and finds the solution.
"""

import numpy as np

from ros2_ik.core import Configuration, frame_task, Robot, solve_pose, VelocityProgram

DT = 0.01           # [s]
PENDULUM = """<robot name="pendulum"> <link name="base"/> <link name="body"/> <link name="tip"/>
  <joint name="joint" type="revolute"> <parent link="base"/> <child link="body"/>
    <axis xyz="1 0 0"/> <limit lower="0" upper="6.28" velocity="1" effort="1"/> </joint>
  <joint name="end" type="fixed"> <parent link="body"/> <child link="tip"/>
    <origin xyz="0 0 0.25"/> </joint>
</robot>"""


def main():
    robot = Robot.from_urdf(PENDULUM)
    goal = Configuration(robot, np.array([5.5])).transform('tip')
    program = VelocityProgram(robot, [frame_task('tip', goal)], DT)
    path = [np.array([0.5])]
    for _ in range(200):
        step = program.step(path[-1])
        path.append(step.q)
    print(f'velocity IK: rests at {step.q[0]:.4f} rad ({", ".join(step.active_limits)})')
    solution = solve_pose(robot, 'tip', goal, {'joint': 0.5}, collisions=False)
    print(f'search: {solution.status.name} at {solution.q[0]:.4f} rad')
    return robot, np.array(path)


if __name__ == '__main__':
    main()
