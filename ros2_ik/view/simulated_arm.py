"""Simulated robot for the viewer: the library solves, and a motion sets the robot's state."""

from collections.abc import Callable, Mapping
from dataclasses import replace
import threading

import numpy as np

from ros2_ik.core import (
    Array,
    blocked,
    collision_checker,
    CollisionChecker,
    IKError,
    MotionLimits,
    Robot,
    Scene,
    straight_motion,
)
from ros2_ik.core.internals import prepare, World
from ros2_ik.view.arm import Answer, Reader


class SimulatedArm:
    """`Arm` of a robot that exists only in the viewer; it does not move by itself."""

    moving = False

    def __init__(self, robot: Robot, q: Array, scene: Scene, read: Reader) -> None:
        self.robot, self.q, self.scene, self._read = robot, q, scene, read
        self._woken = threading.Event()

    def place(self, q: Array) -> None:
        """Set the robot's state to q (nq,)."""
        self.q = self.robot.to_q(q)

    def solve(self, problem: Mapping[str, object], seed: Array) -> Answer:
        """Solve a problem; the search starts at seed (nq,)."""
        request, checker = self._read(problem, self.scene, seed)
        search = prepare(replace(request, seed=self.robot.to_joints(seed)),
                         World(self.robot, seed, checker))
        search.run()
        return Answer.of(search.solution())

    def go_to(self, q: Array, avoid_collisions: bool) -> str:
        """
        Set the robot's state to q (nq,) if the straight path in joint space is free.

        Raises IKError if the path is not free, or if a floating or planar joint has to move.
        """
        joints = [joint for joint in self.robot.joints if joint.is_scalar]
        indices, count = [joint.index for joint in joints], len(joints)
        if np.abs(np.delete(q - self.q, indices)).max(initial=0.0) > 1e-6:
            raise IKError('the base would have to move: only joints of one value can be moved')
        # the limits do not matter: only the path is checked
        limits = MotionLimits(np.ones(count), np.ones(count), np.full(count, np.inf))
        motion = straight_motion(self.robot, [joint.name for joint in joints], self.q[indices],
                                 q[indices], limits)
        if avoid_collisions and (found := blocked(checker_of(self.scene), motion, self.q)):
            pairs = '; '.join(f"'{one.first}' - '{one.second}'" for one in found.contacts[:3])
            raise IKError(f'the path is not free: contact after {100 * found.fraction:.0f} % of '
                          f'the path ({pairs})')
        self.q = q
        return 'arrived'

    def give_up_when(self, true: Callable[[], bool]) -> None:
        """Do nothing: this arm waits for no responses."""

    def wait(self, seconds: float) -> None:
        """Wait for a call of `wake`, at most for `seconds`."""
        self._woken.wait(seconds)
        self._woken.clear()

    def wake(self) -> None:
        """End the present or the next call of `wait`; thread-safe."""
        self._woken.set()

    def stop(self) -> None:
        """Do nothing: this arm never moves by itself."""

    def step(self) -> str:
        """Do nothing: this arm never moves by itself."""
        return ''


def checker_of(scene: Scene) -> CollisionChecker:
    """Return the collision checker of a scene; answers list missing meshes as not checked."""
    return collision_checker(scene.robot, scene, missing='skip')
