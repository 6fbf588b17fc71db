"""A robot that is only drawn: it stands where it is placed."""

from collections.abc import Callable
from dataclasses import replace
import threading
from typing import Any

import numpy as np

from ros2_ik.core import (
    Array,
    blocked,
    collision_checker,
    CollisionChecker,
    IKError,
    IKSolution,
    MotionLimits,
    Robot,
    Scene,
    straight_motion,
)
from ros2_ik.core.internals import IKRequest, prepare, StaticWorld
from ros2_ik.view.answer import Answer, Reached
from ros2_ik.view.arm import Question, Reader

DRAG_TIMEOUT = 0.02      # of a search during a drag [s]
JUMP = 0.5               # joint change above which a drag searches on for a nearer answer [rad, m]


class SimulatedArm:
    """An `Arm` without a robot: the library solves, and nothing moves by itself."""

    moving = False

    def __init__(self, robot: Robot, q: Array, scene: Scene, read: Reader) -> None:
        self.robot, self.q, self.scene, self._read = robot, q, scene, read
        self._woken = threading.Event()

    def change_scene(self, scene: Scene) -> None:
        """Replace the scene."""
        self.scene = scene

    def place(self, q: Array) -> None:
        """Set the robot's state to q (nq,)."""
        self.q = self.robot.to_q(q)

    def solve(self, question: Question) -> Answer:
        """Answer a question."""
        request, checker = self._read(question.problem, self.scene, question.seed)
        request = replace(request, seed=self.robot.to_joints(question.seed))
        world = StaticWorld(self.robot, question.seed, checker)
        if not question.dragging:
            return Answer.of(_searched(request, world, solutions=question.solutions))
        request = replace(request, more_seeds=())
        near = _searched(request, world, timeout=DRAG_TIMEOUT, select='first',
                         allow_restarts=False)
        if near.success and not (near.travel and near.travel.change > JUMP):
            return Answer.of(near)
        found = _searched(request, world, timeout=DRAG_TIMEOUT, select='nearest')
        answer = Answer.of(found)
        if answer.reached is Reached.NO:    # best attempts of a search with restarts would flicker
            answer = replace(Answer.of(near), message=answer.message)
        return replace(answer, seconds=near.seconds + found.seconds)

    def go_to(self, q: Array, avoid_collisions: bool) -> str:
        """
        Set the robot's state to q (nq,), if the straight path there in joint space is free.

        Raises IKError where it is not free, and for a base that moves.
        """
        joints = [joint for joint in self.robot.joints if joint.is_scalar]
        places, count = [joint.index for joint in joints], len(joints)
        if np.abs(np.delete(q - self.q, places)).max(initial=0.0) > 1e-6:
            raise IKError('the base would have to move: only joints of one value can be moved')
        limits = MotionLimits(np.ones(count), np.ones(count), np.full(count, np.inf))
        motion = straight_motion(self.robot, [joint.name for joint in joints], self.q[places],
                                 q[places], limits)
        if avoid_collisions and (found := blocked(checker_of(self.scene), motion, self.q)):
            touching = '; '.join(f"'{one.first}' - '{one.second}'" for one in found.contacts[:3])
            raise IKError(f'the way there is not free: contact after {100 * found.fraction:.0f} % '
                          f'of it ({touching})')
        self.q = q
        return 'arrived'

    def give_up_when(self, true: Callable[[], bool]) -> None:
        """Do nothing: no answer is waited for."""

    def wait(self, seconds: float) -> None:
        """Wait until `wake` is called or the time [s] is over."""
        self._woken.wait(seconds)
        self._woken.clear()

    def wake(self) -> None:
        """End the wait, or the next one; any thread may call."""
        self._woken.set()

    def stop(self) -> None:
        """Do nothing: it stands."""

    def step(self) -> str:
        """Do nothing: it stands."""
        return ''


def _searched(request: IKRequest, world: StaticWorld, **options: Any) -> IKSolution:
    """Return the solution of a search with other options."""
    search = prepare(replace(request, options=replace(request.options, **options)), world)
    search.run()
    return search.solution()


def checker_of(scene: Scene) -> CollisionChecker:
    """Return the checker of a scene; its answers name what it cannot check."""
    return collision_checker(scene.robot, scene, missing='skip')
