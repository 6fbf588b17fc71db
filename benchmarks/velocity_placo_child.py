"""
placo as a solver for velocity_ik.py, in a process with an interpreter that has placo.

It reads one line of JSON (URDF, tips, joints with their limits, speeds, start, targets, steps) and
writes one line: joint values after each step, the CPU time of each step [s], and the number of
steps that raised an exception.
"""

import json
import sys
import tempfile
import time

import numpy as np
from placo_child import Solver

POSTURE = 1e-3      # weight of the posture task
TRIGGER = 0.05      # pairs count up to this distance above the margin [m]


def keep_apart(placo: Solver, pairs: list[tuple[str, str]], margin: float) -> None:
    """Keep pairs of links apart, as convex shapes: distances of triangles take far longer."""
    shapes: dict[str, list[int]] = {}
    for i, item in enumerate(placo.robot.collision_model.geometryObjects):
        shapes.setdefault(placo.robot.model.frames[item.parentFrame].name, []).append(i)
        if item.meshPath.endswith('.stl'):
            item.geometry.buildConvexRepresentation(False)
            item.geometry = item.geometry.convex
    with tempfile.NamedTemporaryFile('w', suffix='.json') as file:
        json.dump([(i, k) for a, b in pairs for i in shapes[a] for k in shapes[b]], file)
        file.flush()
        placo.robot.load_collision_pairs(file.name)
    constraint = placo.solver.add_avoid_self_collisions_constraint()
    constraint.self_collisions_margin = margin
    constraint.self_collisions_trigger = margin + TRIGGER
    constraint.configure('apart', 'hard')


def main() -> None:
    request = json.loads(sys.stdin.readline())
    placo = Solver(request)
    robot, solver = placo.robot, placo.solver
    if request['pairs']:
        keep_apart(placo, request['pairs'], request['margin'])
    for name, speed in request['speeds'].items():
        robot.set_velocity_limit(name, speed)
    solver.dt = request['dt']
    solver.enable_velocity_limits(True)
    posture = solver.add_joints_task()
    posture.set_joints(dict(zip(request['joints'], request['start'], strict=True)))
    posture.configure('posture', 'soft', POSTURE)
    q = robot.state.q.copy()
    q[placo.index] = request['start']
    robot.state.q = q
    robot.update_kinematics()
    path, seconds, raised = [], [], 0
    for targets in request['targets']:
        for task, T in zip(placo.tasks, targets, strict=True):
            task.T_world_frame = np.array(T)
        for _ in range(request['steps']):
            begin = time.process_time()
            try:
                solver.solve(True)
                robot.update_kinematics()
            except RuntimeError:
                raised += 1
            seconds.append(time.process_time() - begin)
            path.append(robot.state.q[placo.index].tolist())
    print(json.dumps({'path': path, 'seconds': seconds, 'raised': raised}))


main()
