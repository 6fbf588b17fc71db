"""
placo's side of velocity_ik.py: a process of its own, run by an interpreter that has placo.

Reads one line of JSON (URDF, frames, joints, targets, steps) and writes one: joint values after
each step, the CPU time of each [s], and how many steps raised an exception.
"""

import json
import sys
import time

import numpy as np
import placo

POSTURE = 1e-3


def main() -> None:
    given = json.loads(sys.stdin.readline())
    robot = placo.RobotWrapper(given['urdf'], placo.Flags.ignore_collisions)
    solver = placo.KinematicsSolver(robot)
    solver.mask_fbase(True)
    for name in robot.joint_names():
        if name in given['joints']:
            lower, upper, speed = given['joints'][name]
            robot.set_joint_limits(name, lower, upper)
            robot.set_velocity_limit(name, speed)
        else:
            solver.mask_dof(name)
    solver.dt = given['dt']
    solver.enable_velocity_limits(True)
    tasks = [solver.add_frame_task(frame, np.eye(4)) for frame in given['frames']]
    for task in tasks:
        task.configure('pose', 'soft', 1.0, 1.0)
    posture = solver.add_joints_task()
    posture.set_joints(dict(zip(given['joints'], given['start'], strict=True)))
    posture.configure('posture', 'soft', POSTURE)
    places = [robot.get_joint_offset(name) for name in given['joints']]
    q = robot.state.q.copy()
    q[places] = given['start']
    robot.state.q = q
    robot.update_kinematics()
    path, seconds, raised = [], [], 0
    for targets in given['targets']:
        for task, T in zip(tasks, targets, strict=True):
            task.T_world_frame = np.array(T)
        for _ in range(given['steps']):
            begin = time.process_time()
            try:
                solver.solve(True)
                robot.update_kinematics()
            except RuntimeError:
                raised += 1
            seconds.append(time.process_time() - begin)
            path.append(robot.state.q[places].tolist())
    print(json.dumps({'path': path, 'seconds': seconds, 'raised': raised}))


main()
