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
    IKRequest,
    IKSolution,
    MotionLimits,
    Robot,
    Scene,
    StaticWorld,
    straight_motion,
)
from ros2_ik.view.answer import Answer, Reached
from ros2_ik.view.arm import Question, Reader, ReadProblem

DRAG_TIMEOUT = 0.02      # of a search while somebody drags [s]
JUMP = 0.5               # a change of a joint that a drag makes only if nothing nearer is found


class SimulatedArm:
    """An `Arm` without a robot: the library solves, and nothing moves by itself."""

    moving = False

    def __init__(self, robot: Robot, q: Array, scene: Scene, read: Reader) -> None:
        self._robot, self._q, self._scene, self._read = robot, q, scene, read
        self._woken = threading.Event()
        self._known: dict[str, tuple[object, BoundRequest, CollisionChecker | None]] = {}

    # -- where it stands -------------------------------------------------------------------

    @property
    def robot(self) -> Robot:
        """The robot."""
        return self._robot

    @property
    def q(self) -> Array:
        """Where it stands now, (nq,)."""
        return self._q

    @property
    def scene(self) -> Scene:
        """What is around it now."""
        return self._scene

    def change_scene(self, scene: Scene) -> None:
        """Have this around it from now on."""
        self._scene = scene

    def place(self, q: Array) -> None:
        """Take q (nq,) as where it stands, at rest."""
        self._q = self._robot.to_q(q)

    # -- questions -------------------------------------------------------------------------

    def read(self, problem: Mapping[str, Any]) -> IKRequest:
        """Read what a problem file has."""
        return self._read(problem, self._scene, self._q).request

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
        world = StaticWorld(self._robot, question.seed, checker)
        search = preparation.rebind(list(question.targets.values()),
                                   self._robot.to_joints(question.seed), world).search()
        search.run()
        return search.solution()

    def _prepared(self, question: Question,
                  options: Mapping[str, Any]) -> tuple[BoundRequest, CollisionChecker | None]:
        """Return the question worked out, as long as only poses and the seed are others."""
        key = (json.dumps({name: value for name, value in question.problem.items()
                           if name != 'targets'}), self._scene.version, question.dragging,
               question.solutions)
        kind = repr(options)
        known = self._known.get(kind)
        if known is None or known[0] != key or not known[1].can_rebind:
            read: ReadProblem = self._read(question.problem, self._scene, question.seed)
            chosen: dict[str, Any] = {'solutions': question.solutions}
            if question.dragging:
                chosen |= {'timeout': DRAG_TIMEOUT, 'select': 'first'}
            request = replace(
                read.request, seed=self._robot.to_joints(question.seed),
                more_seeds=() if question.dragging else read.request.more_seeds,
                options=replace(read.request.options, **{**chosen, **options}))
            world = StaticWorld(self._robot, question.seed, read.checker)
            known = self._known[kind] = key, bind_request(request, world), read.checker
        return known[1:]

    # -- motions ---------------------------------------------------------------------------

    def go_to(self, q: Array, avoid_collisions: bool) -> str:
        """
        Stand at q (nq,) from now on, if the straight way there in joint space is free.

        Raises IKError where something is in the way, and for a base that moves.
        """
        joints = [joint for joint in self._robot.joints if joint.is_scalar]
        places, count = [joint.index for joint in joints], len(joints)
        if np.abs(np.delete(q - self._q, places)).max(initial=0.0) > 1e-6:
            raise IKError('the base would have to move: only joints of one value can be moved')
        limits = MotionLimits(np.ones(count), np.ones(count), np.full(count, np.inf))
        motion = straight_motion(self._robot, [joint.name for joint in joints], self._q[places],
                                 q[places], limits)
        if avoid_collisions and (found := blocked(checker_of(self._scene), motion, self._q)):
            touching = '; '.join(f"'{one.first}' - '{one.second}'" for one in found.contacts[:3])
            raise IKError(f'the way there is not free: contact after {100 * found.fraction:.0f} % '
                          f'of it ({touching})')
        self._q = q
        return 'arrived'

    def follow(self, targets: Mapping[str, Array], avoid_collisions: bool) -> None:
        """Raise: only the servo of a node follows targets."""
        raise IKError('without a node there is no servo to follow the gizmo: start the viewer '
                      'with --node, or tools/demo --view')

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
