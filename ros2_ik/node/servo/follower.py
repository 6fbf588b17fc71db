"""An arm that follows commands: from step to step, within all limits. Knows no ROS."""

from collections.abc import Mapping
from dataclasses import dataclass
import math
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from ros2_ik.core import (
    AccelerationLimit,
    Array,
    CartesianVelocityLimit,
    collision_checker,
    CollisionBarrier,
    CollisionChecker,
    Configuration,
    ConfigurationLimit,
    damping_task,
    frame_task,
    joint_velocity_task,
    posture_task,
    Robot,
    Scene,
    twist_task,
    VelocityLimit,
    VelocityProgram,
    VelocityResult,
)
from ros2_ik.node.servo.messages import Begin

NO_WARNING, APPROACHING, SINGULAR, LEAVING, NEAR_CONTACT, CONTACT, BOUND = range(7)
NEAR_SINGULAR, VERY_SINGULAR = 17.0, 30.0   # condition numbers, as in MoveIt Servo
NEAR_GAP = 0.005    # so far above the margin something slows the arm [m]
NEAR_BOUND = 0.02   # and so near to its limit a joint [rad, m]
SLOWED = 0.95       # who goes with less than this part of what was commanded is slow,
HALTED = 0.02       # and with less than this one halted;
FREE = 0.2          # and with more is free again, if it was
GAIN = 8.0          # of poses [1/s]
NEARLY = 0.99       # of the tip's fastest speed is aimed at, as bent ways are longer
DAMPED = 0.05       # directions of smaller singular values are damped, so that poses end in rest
ESCAPE = 0.5        # of the posture that leads out of a singularity [1/s]
AHEAD = 0.05        # so far is looked whether a way leads there [s; part of that posture]
TOWARDS = 0.5       # cosine from which on a way leads where the command does
HELD = 0.1          # in a pause of so long the joints have come to rest [s]
USUAL = 2           # pauses of so many steps are usual
TEXTS = {
    NO_WARNING: 'follows',
    APPROACHING: 'slow: near a singularity', SINGULAR: 'halted by a singularity',
    LEAVING: 'slow: leaves a singularity',
    NEAR_CONTACT: 'slow: near something', CONTACT: 'halted by something near',
    BOUND: 'slow: at the position limit of '}


class Step(NamedTuple):
    """Where the joints go next, how fast, and how that is told to a person."""

    q: Array
    v: Array
    code: int
    message: str
    scale: float


@dataclass
class Command:
    """What was commanded last: a pose (4, 4), a twist (6,), or velocities by joint."""

    value: Any
    until: float    # on the clock of who calls [s]


class Follower:
    """
    The joints that a `Begin` names, from rest on.

    It brakes unless a command is fresh, and gives way to what comes near in any case.
    """

    def __init__(self, robot: Robot, begin: Begin, dt: float) -> None:
        self.robot, self.begin, self.dt = robot, begin, dt
        self.q, self.v = np.array(begin.q), np.zeros(robot.nv)
        self.columns = np.array([robot.joint(name).velocity_index for name in begin.joints])
        self.places = np.array([robot.joint(name).index for name in begin.joints])
        self.command: Command | None = None
        self._options = begin.options
        self._checker = self.checker(begin.scene)
        joints = begin.joints
        brake = joint_velocity_task(0.0, names=joints, name='brake')
        follow = {
            'pose': lambda: [frame_task(begin.tip, gain_per_second=GAIN, name='pose'),
                             damping_task((DAMPED * dt) ** 2, names=joints)],
            'twist': lambda: [twist_task(begin.tip, name='twist')],
            'joint': lambda: [joint_velocity_task(0.0, names=joints, scaled=True, name='joint')],
        }[begin.mode]()
        self._middle = self._middle_of(robot, joints)
        escape = posture_task(self._middle, names=joints, gain_per_second=ESCAPE, priority=1,
                              weight=1e-2, name='escape') if begin.mode == 'twist' else None
        self._brake = self._program([brake])
        self._follow = self._program([*follow, *([escape] if escape else [])])
        self._escapes = True
        self._let_escape(False)
        self._used = self._brake

    def _program(self, tasks: list[Any]) -> VelocityProgram:
        begin, robot = self.begin, self.robot
        limits: list[Any] = [
            ConfigurationLimit(1.0),
            VelocityLimit(dict(zip(begin.joints, begin.velocity, strict=True))),
            AccelerationLimit(dict(zip(begin.joints, begin.acceleration, strict=True)))]
        if begin.mode == 'pose':
            limits.append(CartesianVelocityLimit(
                begin.tip, begin.parameters['servo_linear_velocity'],
                begin.parameters['servo_angular_velocity']))
        # gaps close so slowly that joints which brake together for them need no more than they may
        calm = begin.velocity > 0
        gain = float((begin.acceleration[calm] / begin.velocity[calm]).min())
        barriers = [] if self._checker is None else [CollisionBarrier(
            self._checker, begin.parameters['servo_margin'], gain_per_second=gain)]
        locked = {*robot.joint_names} - {*begin.joints}
        return VelocityProgram(robot, tasks, self.dt, limits=limits, barriers=barriers,
                               locked=locked)

    def checker(self, scene: Scene) -> CollisionChecker | None:
        """Return the checker for a scene, whose making may take long."""
        if self._options is None:
            return None
        return collision_checker(self.robot, scene, *self._options)

    def look(self, checker: CollisionChecker | None,
             velocities: Mapping[str, Array] = MappingProxyType({})) -> None:
        """Take what is around the robot, where objects move with velocities (3,), by name."""
        if checker is not None:
            for program in (self._brake, self._follow):
                program.set_scene(checker, velocities)

    # -- commands -------------------------------------------------------------------------

    def obey(self, command: Command) -> None:
        """Take a command that `Commands` has read; raises InvalidTargetError and keeps the old."""
        task = self.begin.mode
        if task == 'pose':
            self._follow.set_target(task, command.value)
        else:
            self._follow.set_target(task, velocity=command.value)
        self.command = command

    def brake(self) -> None:
        """Forget the command."""
        self.command = None

    @property
    def moving(self) -> bool:
        """Whether it goes anywhere."""
        return bool(self.v.any())

    @property
    def braking_time(self) -> float:
        """How long joints take to come to rest, where nothing is in the way [s]."""
        return float((np.abs(self.v[self.columns]) / self.begin.acceleration).max(initial=0.0))

    # -- steps ----------------------------------------------------------------------------

    def pause(self, seconds: float) -> None:
        """Take down that nothing was commanded for so long: what stands where it was told does."""
        usual = USUAL * self.dt
        if seconds > usual:
            held = max(HELD, 2 * usual)
            self.v = self.v * max(held - seconds, 0.0) / (held - usual)

    def stand(self, q: Array) -> None:
        """Begin where the robot was measured at rest, (nq,)."""
        self.q, self.v = np.array(q), np.zeros(self.robot.nv)

    def step(self, now: float) -> Step:
        """Take the next step; it ends dt later."""
        if self.command is not None and now >= self.command.until:
            self.command = None
        program = self._brake if self.command is None else self._follow
        if self.command is None:
            program.set_target('brake', velocity=self._slower())
        elif self.begin.mode == 'pose':
            program.set_gain('pose', self._gain(self.command.value))
        program.reset(self.v)
        result, part, condition = program.step(self.q), 1.0, 1.0
        if self.command is not None:
            condition = self._condition(self.q)
            if condition > NEAR_SINGULAR and self.begin.mode == 'twist':
                part = self._part_towards(result, condition)
            if part < 1.0:
                result = self._twisted(part * self.command.value)
                program.set_target('twist', velocity=self.command.value)
        code, about = self._judge(program, result, condition, part)
        self.q, self.v = result.q, result.v
        self.v[np.abs(self.v) < STILL] = 0.0
        text = TEXTS[code] + about
        if program is self._brake:
            text = 'brakes' if self.moving else 'waits for commands'
        nearest = max(((by, name) for name, by in result.relaxed.items()
                       if name.startswith('collisions')), default=(0.0, ''))
        if nearest[0] > MISSED:
            text += f'; comes {nearest[0]:.2g} m too near: {nearest[1]}'
        scale = 0.0 if self.command is None else part * result.scale
        return Step(self.q, self.v, code, text, scale)

    def _twisted(self, twist: Array) -> VelocityResult:
        """Return the step for a slower twist (6,)."""
        self._follow.set_target('twist', velocity=twist)
        self._follow.reset(self.v)
        return self._follow.step(self.q)

    def _gain(self, target: Array) -> float:
        """Return the part of the way to a pose (4, 4) that the tip may go in a step."""
        here = Configuration(self.robot, self.q).transform(self.begin.tip)
        away = math.dist(target[:3, 3], here[:3, 3])
        angle = math.hypot(*pin.log3(here[:3, :3].T @ target[:3, :3]))
        fastest = self.begin.parameters
        left: float = max(away / fastest['servo_linear_velocity'],
                          angle / fastest['servo_angular_velocity'])     # [s]
        return min(-math.expm1(-GAIN * self.dt), NEARLY * self.dt / max(left, self.dt))

    def _slower(self) -> Array:
        """Return the next velocities (n,) of joints that brake together, and so keep their way."""
        v = self.v[self.columns]
        left = self.begin.acceleration * self.dt / np.maximum(np.abs(v), 1e-12)
        slower: Array = v * max(1.0 - left.min(), 0.0)
        return slower

    def _judge(self, program: VelocityProgram, result: VelocityResult, condition: float,
               part: float) -> tuple[int, str]:
        """Return the number of what slows the arm, and which joint if it is one."""
        halted = result.scale < HALTED or not (np.abs(result.v) > STILL).any()
        near = program.nearest_gap < NEAR_GAP
        if program is self._brake:
            return (NEAR_CONTACT if near else NO_WARNING), ''
        escape = (condition > NEAR_SINGULAR and result.scale < FREE and part == 1.0
                  and (self._escapes or halted and self._leads_out()))
        self._let_escape(escape)
        if part < 1.0:
            return (SINGULAR if halted else APPROACHING), ''
        if result.scale >= SLOWED and not (self.begin.mode == 'pose' and halted
                                           and self._far(result)):
            return NO_WARNING, ''
        if near:
            return (CONTACT if halted else NEAR_CONTACT), ''
        if joint := self._at_bound(result):
            return BOUND, joint
        if condition > NEAR_SINGULAR:
            return (SINGULAR if halted and not escape else LEAVING), ''
        return NO_WARNING, ''

    def _far(self, result: VelocityResult) -> bool:
        """Return whether a pose is not reached."""
        return bool(np.abs(result.errors['pose']).max() > 1e-3)

    def _at_bound(self, result: VelocityResult) -> str:
        """Return which joint is held by its position limit, or ''."""
        held = {one.rpartition(' ')[0] for one in result.active_limits}
        for name, place in zip(self.begin.joints, self.places, strict=True):
            joint, at = self.robot.joint(name), self.q[place]
            if name in held and min(at - joint.lower, joint.upper - at) < NEAR_BOUND:
                return f"'{name}'"
        return ''

    # -- singularities --------------------------------------------------------------------

    def _part_towards(self, result: VelocityResult, condition: float) -> float:
        """Return the part of a twist with which it may go on towards a singularity, else 1."""
        ahead = np.array(pin.integrate(self.robot.model, self.q, AHEAD * result.v))
        if self._condition(ahead) <= condition:
            return 1.0
        left = (VERY_SINGULAR - condition) / (VERY_SINGULAR - NEAR_SINGULAR)
        return max(left, 0.0)

    def _condition(self, q: Array) -> float:
        """Return the condition number of the tip's Jacobian, of the joints that move."""
        if self.begin.mode == 'joint':
            return 1.0
        values = np.linalg.svd(self._jacobian(q), compute_uv=False)
        return float(values[0] / values[-1]) if values[-1] > 0 else math.inf

    def _jacobian(self, q: Array) -> Array:
        robot = self.robot
        J = pin.computeFrameJacobian(robot.model, robot.scratch_data(), q,
                                     robot.frame_id(self.begin.tip),
                                     pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        chosen: Array = J[:, self.columns]
        return chosen

    def _leads_out(self) -> bool:
        """Return whether the way to the middle of the joints takes the tip where it shall go."""
        assert self.command is not None
        q = self.q.copy()
        q[self.places] += AHEAD * (self._middle - q[self.places])
        here, there = (Configuration(self.robot, each).transform(self.begin.tip)[:3, 3].copy()
                       for each in (self.q, q))
        value = self.command.value
        wanted = value[:3, 3] - here if self.begin.mode == 'pose' else value[:3]
        way = there - here
        return bool(way @ wanted > TOWARDS * np.linalg.norm(way) * np.linalg.norm(wanted))

    def _let_escape(self, escape: bool) -> None:
        if self.begin.mode == 'twist' and escape != self._escapes:
            self._escapes = escape
            self._follow.set_target('escape', self._middle if escape
                                    else np.full(len(self._middle), np.nan))

    @staticmethod
    def _middle_of(robot: Robot, joints: tuple[str, ...]) -> Array:
        limits = [robot.joint(name) for name in joints]
        return np.array([(one.lower + one.upper) / 2 if math.isfinite(one.upper - one.lower)
                         else 0.0 for one in limits])


MISSED = 1e-4  # less is not worth a word [m]
STILL = 1e-6   # slower is at rest [rad/s, m/s]
