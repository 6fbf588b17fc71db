"""
placo's side of velocity_ik.py: a process of its own, run by an interpreter that has placo.

Reads one line of JSON (URDF, tips, joints with their limits, speeds, start, targets, steps) and
writes one: joint values after each step, the CPU time of each [s], and how many steps raised an
exception.
"""

import json
import sys
import time

import numpy as np
from placo_child import Solver

POSTURE = 1e-3


def main() -> None:
    given = json.loads(sys.stdin.readline())
    placo = Solver(given)
    robot, solver = placo.robot, placo.solver
    for name, speed in given['speeds'].items():
        robot.set_velocity_limit(name, speed)
    solver.dt = given['dt']
    solver.enable_velocity_limits(True)
    posture = solver.add_joints_task()
    posture.set_joints(dict(zip(given['joints'], given['start'], strict=True)))
    posture.configure('posture', 'soft', POSTURE)
    q = robot.state.q.copy()
    q[placo.places] = given['start']
    robot.state.q = q
    robot.update_kinematics()
    path, seconds, raised = [], [], 0
    for targets in given['targets']:
        for task, T in zip(placo.tasks, targets, strict=True):
            task.T_world_frame = np.array(T)
        for _ in range(given['steps']):
            begin = time.process_time()
            try:
                solver.solve(True)
                robot.update_kinematics()
            except RuntimeError:
                raised += 1
            seconds.append(time.process_time() - begin)
            path.append(robot.state.q[placo.places].tolist())
    print(json.dumps({'path': path, 'seconds': seconds, 'raised': raised}))


main()
