"""
placo as a solver for whole_body_ik.py, in a process with an interpreter that has placo.

placo and ros2_ik need different releases of Pinocchio. The process reads lines of JSON: the robot
(URDF, tips, joints), then one problem per line. Each answer is one line, with the CPU time.
"""

from importlib.metadata import version
import json
import math
import sys
import time

import numpy as np
import placo

POSITION, ORIENTATION = 5e-6, 5e-5      # tolerances of placo: half of the judge's [m], [rad]
PROGRESS_RATIO = 0.8            # stalled: more than this fraction of the squared error is left
MAX_STALLED_ITERATIONS = 4      # after which an attempt ends
MAX_ITERATIONS = 40             # of an attempt
ORIENTATION_WEIGHT, REGULARIZATION = 1.0, 1e-6


class Solver:
    """placo's QP iterated on frame tasks, from the start and then from random configurations."""

    def __init__(self, request: dict) -> None:
        flags = 0 if request.get('pairs') else placo.Flags.ignore_collisions
        self.robot = placo.RobotWrapper(request['urdf'], flags)
        self.solver = placo.KinematicsSolver(self.robot)
        self.solver.mask_fbase(not request['free_base'])
        self.free_base, joints = request['free_base'], request['joints']
        for name in self.robot.joint_names():
            if name in joints:
                self.robot.set_joint_limits(name, *joints[name])
            else:
                self.solver.mask_dof(name)
        self.index = [self.robot.get_joint_offset(name) for name in joints]
        self.lower, self.upper = np.array(list(joints.values())).T
        self.tasks = [self.solver.add_frame_task(tip, np.eye(4)) for tip in request['tips']]
        for task in self.tasks:
            task.configure('pose', 'soft', 1.0, ORIENTATION_WEIGHT)
        self.parts = [(task.position(), task.orientation()) for task in self.tasks]
        self.solver.add_regularization_task(REGULARIZATION)

    def solve(self, request: dict) -> dict:
        """Return whether all poses are reached, the configuration, and the CPU time [s]."""
        targets = [np.array(T) for T in request['targets']]
        start, base = np.array(request['start']), np.array(request['base'])
        random, robot = np.random.default_rng(request['seed']), self.robot
        begin = time.process_time()
        for task, T in zip(self.tasks, targets, strict=True):
            task.T_world_frame = T
        q = robot.state.q.copy()
        q[:7], q[self.index] = base, start
        found, attempts = self.attempt(q), 1
        while not found and time.process_time() - begin < request['timeout']:
            q[self.index] = random.uniform(self.lower, self.upper)
            if self.free_base:
                # a random rotation is a normalized Gaussian quaternion
                q[:3], turn = base[:3] + random.uniform(-1, 1, 3), random.normal(size=4)
                q[3:7] = turn / np.linalg.norm(turn)
            found, attempts = self.attempt(q), attempts + 1
        seconds = time.process_time() - begin
        q = robot.state.q
        return {'found': found, 'q': q[self.index].tolist(), 'base': q[:7].tolist(),
                'seconds': seconds, 'attempts': attempts}

    def attempt(self, q: np.ndarray) -> bool:
        """Iterate from q; return True if every pose is reached, False if the error stalls."""
        robot, solver, parts = self.robot, self.solver, self.parts
        robot.state.q = q
        robot.update_kinematics()
        best, stall = math.inf, 0
        for _ in range(MAX_ITERATIONS):
            # convergence test on all poses
            error, reached = 0.0, True
            for position, orientation in parts:
                position.update()
                orientation.update()
                shift, turn = position.error_norm(), orientation.error_norm()    # [m], [rad]
                reached = reached and shift < POSITION and turn < ORIENTATION
                error += shift * shift + turn * turn
            if reached:
                return True
            # stall test
            if error < PROGRESS_RATIO * best:
                best, stall = error, 0
            else:
                stall += 1
                if stall >= MAX_STALLED_ITERATIONS:
                    return False
            # one Gauss-Newton step within the joint limits
            try:
                solver.solve(True)
            except RuntimeError:      # the QP has no solution
                return False
            robot.update_kinematics()
        return False


def main() -> None:
    read, write = sys.stdin, sys.stdout
    solver = Solver(json.loads(read.readline()))
    versions = {'placo': version('placo')}
    print(json.dumps(versions), file=write, flush=True)
    for line in read:
        print(json.dumps(solver.solve(json.loads(line))), file=write, flush=True)


if __name__ == '__main__':
    main()
