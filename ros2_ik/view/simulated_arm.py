"""A robot that is only drawn: it stands where it is told."""

from collections.abc import Callable, Mapping
from dataclasses import replace
import json
import threading
from typing import Any

import numpy as np

from ros2_ik.core import (
    Array,
    bind_request,
    blocked,
    BoundRequest,
    collision_checker,
    CollisionChecker,
    IKError,
    IKSolution,
    MotionLimits,
    Robot,
    Scene,
    StaticWorld,
    straight_motion,
)
from ros2_ik.view.answer import Answer, Reached
from ros2_ik.view.arm import Question, Reader

DRAG_TIMEOUT = 0.02      # of a search while somebody drags [s]
JUMP = 0.5               # a change of a joint that a drag makes only if nothing nearer is found


class SimulatedArm:
    """
    An `Arm` without a robot: the library solves, and nothing moves by itself.

    The robot stands at `q` (nq,).
    """

    moving = False

    def __init__(self, robot: Robot, q: Array, scene: Scene, read: Reader) -> None:
        self.robot, self.q, self.scene, self._read = robot, q, scene, read
        self._woken = threading.Event()
        self._known: dict[str, tuple[object, BoundRequest, CollisionChecker | None]] = {}

    def change_scene(self, scene: Scene) -> None:
        """Have this around it from now on."""
        self.scene = scene

    def place(self, q: Array) -> None:
        """Take q (nq,) as where it stands, at rest."""
        self.q = self.robot.to_q(q)

    # -- questions -------------------------------------------------------------------------

    def solve(self, question: Question) -> Answer:
        """Answer a question."""
        if not question.dragging:
            return Answer.of(self._searched(question))
        near = self._searched(question, allow_restarts=False)
        if near.success and not _jumps(near):
            return Answer.of(near)
        found = self._searched(question, select='nearest')
        answer = Answer.of(found)
        if answer.reached is Reached.NO:    # the least bad of many would flicker
            answer = replace(Answer.of(near), message=answer.message)
        return replace(answer, seconds=near.seconds + found.seconds)

    def give_up_when(self, true: Callable[[], bool]) -> None:
        """Do nothing: there is no robot that goes on meanwhile."""

    def wait(self, seconds: float) -> None:
        """Wait until `wake` is called, at most so long."""
        self._woken.wait(seconds)
        self._woken.clear()

    def wake(self) -> None:
        """End the wait, or the next one; any thread may call."""
        self._woken.set()

    def _searched(self, question: Question, **options: Any) -> IKSolution:
        preparation, checker = self._prepared(question, options)
        world = StaticWorld(self.robot, question.seed, checker)
        search = preparation.rebind(list(question.targets.values()),
                                   self.robot.to_joints(question.seed), world).search()
        search.run()
        return search.solution()

    def _prepared(self, question: Question,
                  options: Mapping[str, Any]) -> tuple[BoundRequest, CollisionChecker | None]:
        """Return the question worked out, as long as only poses and the seed are others."""
        key = (json.dumps({name: value for name, value in question.problem.items()
                           if name != 'targets'}), self.scene.version, question.dragging,
               question.solutions)
        kind = repr(options)
        known = self._known.get(kind)
        if known is None or known[0] != key or not known[1].can_rebind:
            request, checker = self._read(question.problem, self.scene, question.seed)
            chosen: dict[str, Any] = {'solutions': question.solutions}
            if question.dragging:
                chosen |= {'timeout': DRAG_TIMEOUT, 'select': 'first'}
            request = replace(
                request, seed=self.robot.to_joints(question.seed),
                more_seeds=() if question.dragging else request.more_seeds,
                options=replace(request.options, **{**chosen, **options}))
            world = StaticWorld(self.robot, question.seed, checker)
            known = self._known[kind] = key, bind_request(request, world), checker
        return known[1:]

    # -- motions ---------------------------------------------------------------------------

    def go_to(self, q: Array, avoid_collisions: bool) -> str:
        """
        Stand at q (nq,) from now on, if the straight way there in joint space is free.

        Raises IKError where something is in the way, and for a base that moves.
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

    def stop(self) -> None:
        """Do nothing: it stands."""

    def step(self) -> str:
        """Do nothing: it stands."""
        return ''


def _jumps(solution: IKSolution) -> bool:
    """Return whether a solution is far from the seed."""
    return solution.success and solution.travel is not None and solution.travel.change > JUMP


def checker_of(scene: Scene) -> CollisionChecker:
    """Return what tells what touches in a scene; what cannot be checked, the answers say."""
    return collision_checker(scene.robot, scene, missing='skip')
