"""A robot that is only drawn: it stands where it is told, and moves within its limits."""

from collections.abc import Callable, Mapping
from dataclasses import replace
import json
import threading
from typing import Any

import numpy as np

from ros2_ik.core import (
    AccelerationLimit,
    Array,
    bind_request,
    blocked,
    BoundRequest,
    braking_motion,
    collision_checker,
    CollisionBarrier,
    CollisionChecker,
    ConfigurationLimit,
    damping_task,
    frame_task,
    IKError,
    IKRequest,
    IKSolution,
    Motion,
    MotionLimits,
    Robot,
    Scene,
    StaticWorld,
    straight_motion,
    VelocityLimit,
    VelocityProgram,
)
from ros2_ik.view.answer import Answer, Reached
from ros2_ik.view.arm import PERIOD, Question, Reader, ReadProblem

DRAG_TIMEOUT = 0.02      # of a search while somebody drags [s]
JUMP = 0.5               # a change of a joint that a drag makes only if nothing nearer is found
USUAL_VELOCITY = 1.0     # of joints without a limit [rad/s, m/s]
ACCELERATION = 3.0       # of all joints: URDFs have no limits [rad/s^2, m/s^2]
GAIN = 6.0               # with which it follows poses [1/s]
DAMPED = 0.05            # directions of smaller singular values are damped
MARGIN = 0.005           # to what is around, while it follows [m]
STILL = 1e-4             # slower is at rest [rad/s, m/s]


class SimulatedArm:
    """An `Arm` without a robot: the library solves, and its motions are only drawn."""

    def __init__(self, robot: Robot, q: Array, scene: Scene, read: Reader) -> None:
        self._robot, self._q, self._scene, self._read = robot, q, scene, read
        self._v = np.zeros(robot.nv)
        self._woken = threading.Event()
        self._known: dict[str, tuple[object, BoundRequest, CollisionChecker | None]] = {}
        self._motion: Motion | None = None
        self._time = 0.0                  # since the begin of the motion [s]
        self._program: VelocityProgram | None = None
        self._followed: tuple[tuple[str, ...], bool] = ((), False)
        self._tasks: dict[str, str] = {}    # by tip
        self._single = [joint for joint in robot.joints if joint.is_scalar]
        self._columns = [joint.velocity_index for joint in self._single]
        self._places = [joint.index for joint in self._single]
        velocity = np.array([min(joint.velocity_limit, 1e3) if np.isfinite(joint.velocity_limit)
                             and joint.velocity_limit > 0 else USUAL_VELOCITY
                             for joint in self._single])
        count = len(self._single)
        self._limits = MotionLimits(velocity, np.full(count, ACCELERATION),
                                    np.full(count, np.inf))

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
        if self._program is not None and self._followed[1]:
            self._program.set_scene(self._checker())

    def place(self, q: Array) -> None:
        """Take q (nq,) as where it stands, at rest."""
        self._q, self._v = self._robot.to_q(q), np.zeros(self._robot.nv)
        self._motion = self._program = None

    def _checker(self) -> CollisionChecker:
        return checker_of(self._scene)

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
        first = self._searched(question)
        # all of the time for a nearer one: whether the first is near shows at once
        found = self._searched(question, select='nearest') if _jumps(first) else first
        found = found if found.success else first
        answer = Answer.of(found)
        if answer.reached is Reached.NO:    # the least bad of many would flicker
            answer = replace(Answer.of(near), message=answer.message)
        return replace(answer, seconds=near.seconds + first.seconds
                       + (found.seconds if found is not first else 0.0))

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
        Begin to go to q (nq,) on a straight way in joint space; returns how long it takes.

        Raises IKError where it moves, where something is in the way, and for a base that moves.
        """
        if self.moving:
            raise IKError('it moves: stop it first')
        rest = np.setdiff1d(np.arange(self._robot.nq), self._places)
        if np.abs(q[rest] - self._q[rest]).max(initial=0.0) > 1e-6:
            raise IKError('the base would have to move: only joints of one value can be moved')
        motion = straight_motion(self._robot, [joint.name for joint in self._single],
                                 self._q[self._places], q[self._places], self._limits)
        if avoid_collisions and (found := blocked(self._checker(), motion, self._q)):
            touching = '; '.join(f"'{one.first}' - '{one.second}'" for one in found.contacts[:3])
            raise IKError(f'the way there is not free: contact after {100 * found.fraction:.0f} % '
                          f'of it ({touching})')
        self._motion, self._time = motion, 0.0
        return f'moves there in {motion.duration:.2f} s'

    def follow(self, targets: Mapping[str, Array], avoid_collisions: bool) -> None:
        """Go after poses (4, 4) by tip from now on, or after others than before."""
        wanted = (tuple(targets), avoid_collisions)
        if self._program is None or self._followed != wanted:
            self._program, self._followed = self._program_for(targets, avoid_collisions), wanted
            self._motion = None
        for tip, target in targets.items():
            self._program.set_target(self._tasks[tip], target)

    def _program_for(self, targets: Mapping[str, Array],
                     avoid_collisions: bool) -> VelocityProgram:
        velocity = dict(zip((joint.name for joint in self._single),
                            self._limits.velocity.tolist(), strict=True))
        tasks = [frame_task(tip, target, gain_per_second=GAIN, name=f'pose of {tip}')
                 for tip, target in targets.items()]
        self._tasks = {tip: f'pose of {tip}' for tip in targets}
        program = VelocityProgram(
            self._robot, [*tasks, damping_task((DAMPED * PERIOD) ** 2)], PERIOD,
            limits=[ConfigurationLimit(), VelocityLimit(velocity),
                    AccelerationLimit(ACCELERATION)],
            barriers=[CollisionBarrier(self._checker(), MARGIN)] if avoid_collisions else [])
        program.reset(self._v)
        return program

    def stop(self) -> None:
        """Brake."""
        self._motion, self._program = None, None
        if not np.abs(self._v).max(initial=0.0) > STILL:
            self._v = np.zeros(self._robot.nv)
            return
        bounds = (np.array([joint.lower for joint in self._single]),
                  np.array([joint.upper for joint in self._single]))
        self._motion, self._time = braking_motion(
            [joint.name for joint in self._single], self._q[self._places],
            self._v[self._columns], self._limits, bounds=bounds), 0.0

    @property
    def moving(self) -> bool:
        """Whether it moves, or follows."""
        return self._motion is not None or self._program is not None

    def step(self) -> str:
        """Go on for a `PERIOD`; returns what is to be said of it, '' for nothing."""
        if self._program is not None:
            result = self._program.step(self._q)
            self._q, self._v = result.q, result.v
            return result.message
        if self._motion is None:
            return ''
        self._time += PERIOD
        at = self._motion.at(self._time)
        q, v = self._q.copy(), np.zeros(self._robot.nv)
        q[self._places], v[self._columns] = at.position, at.velocity
        self._q, self._v = q, v
        if self._time < self._motion.duration:
            return 'moves'
        self._motion, self._v = None, np.zeros(self._robot.nv)
        return 'arrived'


def _jumps(solution: IKSolution) -> bool:
    """Return whether a solution is far from the seed."""
    return solution.success and solution.travel is not None and solution.travel.change > JUMP


def checker_of(scene: Scene) -> CollisionChecker:
    """Return what tells what touches in a scene; what cannot be checked, the answers say."""
    return collision_checker(scene.robot, scene, missing='skip')
