"""An arm that follows commands: from step to step, within all limits. Knows no ROS."""

from collections.abc import Mapping
from dataclasses import dataclass
import math
from types import MappingProxyType
from typing import NamedTuple

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
    NearPair,
    posture_task,
    Robot,
    Scene,
    Task,
    twist_task,
    VelocityLimit,
    VelocityProgram,
    VelocityResult,
)
from ros2_ik.node.servo.messages import Begin
from ros2_ik.node.servo.tip_motion import TipMotion

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
ESCAPE = 0.5        # of the posture that leads out of a singularity [1/s],
ESCAPE_WEIGHT = 1e-2    # and its weight
AHEAD = 0.05        # so far is looked whether a way leads there [s; part of that posture]
TOWARDS = 0.5       # cosine from which on a way leads where the command does
HELD = 0.1          # in a pause of so long the joints have come to rest [s]
HALF = 0.5          # part of a twist that the tip should get,
SLOW_FOR = 0.2      # or the reason is told after so long [s]
SURFACE = 0.03      # surfaces that are this near a tip can slide along [m]
PUSHED = 1e-4       # an obstacle pushes an arm that moves away from it by more than this [m/s]
SLIDES = 0.05       # part of a twist that must lead along a surface for the tip to slide there
USUAL = 2           # pauses of so many steps are usual
TEXTS = {
    NO_WARNING: 'follows',
    APPROACHING: 'slow: near a singularity', SINGULAR: 'halted by a singularity',
    LEAVING: 'slow: leaves a singularity',
    NEAR_CONTACT: 'slow: near something', CONTACT: 'halted by something near',
    BOUND: 'slow: at the position limit of '}


class Step(NamedTuple):
    """The next positions and velocities, and the status for people."""

    q: Array
    v: Array
    code: int
    message: str
    scale: float


@dataclass
class Command:
    """The last command: a pose (4, 4), a twist (6,), or velocities by joint."""

    value: Array
    until: float    # on the caller's clock [s]


class Follower:
    """
    Moves the joints that a `Begin` names, from rest on.

    It brakes unless a command is fresh, and gives way to what comes near in any case. All other
    joints are where `place_others` has put them, and keep their velocity during a step. Commands
    may be in frames of the `scene`.
    """

    def __init__(self, robot: Robot, begin: Begin, dt: float) -> None:
        self.robot, self.begin, self.dt = robot, begin, dt
        self.q, self.v = np.array(begin.q), np.zeros(robot.nv)
        self.columns = np.array([robot.joint(name).velocity_index for name in begin.joints])
        self.places = np.array([robot.joint(name).index for name in begin.joints])
        self.others = tuple(joint for joint in robot.joints if joint.name not in begin.joints)
        self.command: Command | None = None
        self._options = begin.options
        self.scene, self._checker = begin.scene, self.checker(begin.scene)
        joints = begin.joints
        moves = [robot.joint(name).velocity_index
                 for name, most in zip(joints, begin.velocity, strict=True) if most > 0]
        self._is_short = begin.mode == 'twist' and len(
            {*joints} & robot.moving_joints(begin.tip)) < 6
        self._tip = TipMotion(robot, begin.tip or robot.root_frame, np.array(moves), self._firm(),
                              np.array(begin.dimensions))
        self._slow_for = 0.0
        brake = joint_velocity_task(0.0, names=joints, name='brake')
        self._middle = self._middle_of(robot, joints)
        # limits are along axes: with this part of them no direction is faster
        self._brake = self._program([brake], math.sqrt(1 / 3))
        self._follow = self._program(self._tasks())
        self._escapes = True
        self._let_escape(False)

    def _firm(self) -> Array:
        """Return which of x y z rx ry rz the tip must follow, (6,); of few joints not to turn."""
        firm = np.array(self.begin.dimensions)
        if self._is_short:
            firm[3:] = False
        return firm

    def _tasks(self) -> list[Task]:
        begin, dt, weights = self.begin, self.dt, np.array(self.begin.dimensions, dtype=float)
        joints = begin.joints
        if begin.mode == 'pose':
            return [frame_task(begin.tip, position_weight=weights[:3],
                               orientation_weight=weights[3:], gain_per_second=GAIN, name='pose'),
                    damping_task((DAMPED * dt) ** 2, names=joints)]
        if begin.mode == 'joint':
            return [joint_velocity_task(0.0, names=joints, scaled=True, name='joint')]
        tasks = [twist_task(begin.tip, weight=self._firm().astype(float), name='twist'),
                 posture_task(self._middle, names=joints, gain_per_second=ESCAPE, priority=2,
                              weight=ESCAPE_WEIGHT, name='escape')]
        if self._is_short:    # it turns as far as its joints can: its place comes first
            weights[:3] = 0.0
            tasks.append(damping_task((DAMPED * dt) ** 2, names=joints, priority=1))
            tasks.append(twist_task(begin.tip, weight=weights, scaled=False, priority=1,
                                    name='turn'))
        return tasks

    def _program(self, tasks: list[Task], speed: float = 1.0) -> VelocityProgram:
        begin, robot = self.begin, self.robot
        limits: list[ConfigurationLimit | VelocityLimit | AccelerationLimit
                     | CartesianVelocityLimit] = [
            ConfigurationLimit(1.0),
            VelocityLimit(dict(zip(begin.joints, begin.velocity, strict=True))),
            AccelerationLimit(dict(zip(begin.joints, begin.acceleration, strict=True)))]
        if begin.tip:
            limits.append(CartesianVelocityLimit(
                begin.tip, speed * begin.parameters['servo_linear_velocity'],
                speed * begin.parameters['servo_angular_velocity'], self._carrier()))
        # gaps close so slowly that joints which brake together for them need no more than they may
        calm = begin.velocity > 0
        gain = self._gap_rate = float((begin.acceleration[calm] / begin.velocity[calm]).min())
        barriers = [] if self._checker is None else [CollisionBarrier(
            self._checker, begin.parameters['servo_margin'], gain_per_second=gain)]
        return VelocityProgram(robot, tasks, self.dt, limits=limits, barriers=barriers,
                               driven=[joint.name for joint in self.others])

    def _carrier(self) -> str | None:
        """Return the frame that carries the first servoed joint, None for the root frame."""
        model = self.robot.model
        chain = model.supports[model.frames[self.robot.frame_id(self.begin.tip)].parentJoint]
        first = next(i for i in chain if model.names[i] in self.begin.joints)
        carrier = model.names[model.parents[first]]
        return carrier if carrier in self.robot.frame_names else None

    def place_others(self, q: Array, v: Array) -> None:
        """Take where all other joints are (nq,) and how fast they move (nv,)."""
        for joint in self.others:
            part = slice(joint.index, joint.index + joint.size)
            self.q[part] = q[part]
            self.v[joint.columns] = v[joint.columns]

    def checker(self, scene: Scene) -> CollisionChecker | None:
        """Return the checker for a scene, whose making may take long."""
        if self._options is None:
            return None
        return collision_checker(self.robot, scene, *self._options)

    def set_scene(self, checker: CollisionChecker | None,
                  velocities: Mapping[str, Array] = MappingProxyType({})) -> None:
        """Set the robot's surroundings, with velocities (3,) of moving objects by name."""
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
            self._command_velocity(command.value)
        self.command = command

    def brake(self) -> None:
        """Forget the command."""
        self.command = None

    @property
    def moving(self) -> bool:
        """Return whether servoed joints move."""
        return bool(self.v[self.columns].any())

    @property
    def braking_time(self) -> float:
        """Time that joints take to come to rest, where nothing is in the way [s]."""
        return float((np.abs(self.v[self.columns]) / self.begin.acceleration).max(initial=0.0))

    # -- steps ----------------------------------------------------------------------------

    def pause(self, seconds: float) -> None:
        """Account for a pause without steps: after it the joints count as slower, or at rest."""
        usual = USUAL * self.dt
        if seconds > usual:
            held = max(HELD, 2 * usual)
            self.v = self.v * max(held - seconds, 0.0) / (held - usual)

    def stand(self, q: Array) -> None:
        """Begin where the robot was measured at rest, (nq,)."""
        self.q, self.v = np.array(q), np.zeros(self.robot.nv)

    def step(self, now: float, speed: float = 1.0) -> Step:
        """Take the next step, which ends dt later, at `speed` (0 to 1) times the commanded one."""
        if self.command is not None and now >= self.command.until:
            self.command = None
        if self.command is None:
            return self._braking_step()
        if speed == 1.0:
            return self._following_step(self.command.value, speed)
        step = (self._following_step(self.command.value, speed) if speed > 0.0
                else self._braking_step())
        return step._replace(
            message=f'{step.message}; the controller runs at {speed:.2g} of its speed')

    def _following_step(self, value: Array, speed: float) -> Step:
        part, condition, share = 1.0, 1.0, 1.0
        if self.begin.mode == 'pose':
            self._follow.set_gain('pose', speed * self._gain(value))
            result = self._stepped()
        else:
            value = speed * value
            result = self._commanded_step(value)
        if self.begin.mode == 'twist':
            condition = self._tip.condition(self.q)
            if condition > NEAR_SINGULAR:
                part = min(part, self._part_towards(result, condition))
                if part < 1.0:
                    result = self._commanded_step(part * value)
            result, share = self._slid(result, part * value)
        scale = share * result.scale
        code, text = self._judge(result, scale, condition, part < 1.0)
        if self._slow_too_long(result, value) and code == NO_WARNING:
            code, text = self._reason(result, value)
        return self._taken(self._follow, result, code, text, speed * part * scale)

    def _braking_step(self) -> Step:
        self._slow_for = 0.0
        slower = self._slower()
        self._brake.set_target('brake', velocity=slower)
        self._brake.reset(self.v)
        result = self._brake.step(self.q)
        v, near = result.v[self.columns], self._near(self._brake, math.inf)
        pushing = [pair for pair in near if pair.gradient[self.columns] @ (v - slower) > PUSHED]
        if pushing:
            text = f'gives way to something near{_pair(pushing[0])}'
        else:
            text = 'brakes' if (np.abs(v) > STILL).any() else 'waits for commands'
        code = NEAR_CONTACT if pushing or near and near[0].gap < NEAR_GAP else NO_WARNING
        return self._taken(self._brake, result, code, text, 0.0)

    def _commanded_step(self, value: Array) -> VelocityResult:
        """Return the step for a twist (6,) or joint velocities (n,)."""
        self._command_velocity(value)
        return self._stepped()

    def _command_velocity(self, value: Array) -> None:
        self._follow.set_target(self.begin.mode, velocity=value)
        if self._is_short:
            self._follow.set_target('turn', velocity=value)

    def _stepped(self) -> VelocityResult:
        self._follow.reset(self.v)
        return self._follow.step(self.q)

    def _slid(self, result: VelocityResult, twist: Array) -> tuple[VelocityResult, float]:
        """Return the step, if need be along near surfaces, and its part of the twist (6,)."""
        squared = float(twist @ twist)
        if result.scale >= SLOWED or squared == 0.0 \
                or not (near := self._near(self._follow, SURFACE)):
            return result, 1.0
        slid = self._tip.along_surfaces(self.q, twist, near, self._gap_rate)
        part = float(slid @ twist) / squared
        if part > SLOWED or part < SLIDES:
            return result, 1.0
        return self._commanded_step(slid), part

    def _taken(self, program: VelocityProgram, result: VelocityResult, code: int, text: str,
               scale: float) -> Step:
        """Take the step of a result, and say how it went."""
        self.q, self.v = result.q, result.v
        self.v[np.abs(self.v) < STILL] = 0.0
        inside = self._near(program, -TOO_NEAR * self.begin.parameters['servo_margin'])
        if inside:
            text += f'; {-inside[0].gap:.2g} m too near{_pair(inside[0])}'
        return Step(self.q, self.v, code, text, scale)

    def _near(self, program: VelocityProgram, within: float) -> list[NearPair]:
        """Return the pairs `within` [m] of the margin that the servoed joints can move apart."""
        return [pair for pair in program.near_pairs(within)
                if np.abs(pair.gradient[self.columns]).max() > UNMOVED]

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

    def _judge(self, result: VelocityResult, scale: float, condition: float,
               is_approaching: bool) -> tuple[int, str]:
        """Return what slows the arm: its number, and in words."""
        halted = scale < HALTED or not (np.abs(result.v[self.columns]) > STILL).any()
        escape = (condition > NEAR_SINGULAR and scale < FREE and not is_approaching
                  and (self._escapes or halted and self._leads_out()))
        self._let_escape(escape)
        if is_approaching:
            return _told(SINGULAR if halted else APPROACHING)
        if scale >= SLOWED and not (self.begin.mode == 'pose' and halted
                                           and self._far(result)):
            return _told(NO_WARNING)
        if near := self._near(self._follow, NEAR_GAP):
            return _told(CONTACT if halted else NEAR_CONTACT, _pair(near[0]))
        if joint := self._at_bound(result):
            return _told(BOUND, joint)
        if condition > NEAR_SINGULAR:
            return _told(SINGULAR if halted and not escape else LEAVING)
        return _told(NO_WARNING)

    def _slow_too_long(self, result: VelocityResult, value: Array) -> bool:
        """Return whether the tip has long had less than half of the twist that is commanded."""
        slow = self.begin.mode == 'twist' and self._tip.part(self.q, result.v, value) < HALF
        self._slow_for = self._slow_for + self.dt if slow else 0.0
        return self._slow_for > SLOW_FOR

    def _reason(self, result: VelocityResult, twist: Array) -> tuple[int, str]:
        """Return why the tip follows a twist too slowly although `_judge` found no warning."""
        if near := self._near(self._follow, SURFACE):
            return _told(NEAR_CONTACT, _pair(near[0]))
        if joint := self._at_bound(result):
            return _told(BOUND, joint)
        if axis := self._tip.missing_axis(self.q, twist):
            return SINGULAR, f'halted: no joint moves the tip along or about {axis} here'
        held = sorted({one.rpartition(' ')[0] for one in result.active_limits}
                      & {*self.begin.joints})
        if held:
            return NO_WARNING, f'slow: at the velocity or acceleration limit of {", ".join(held)}'
        wanted = np.array(self.begin.dimensions)
        if self._is_short and (twist * wanted)[3:].any():
            return SINGULAR, (f'slow: {len(self._tip.columns)} joints cannot turn the tip like '
                              'that' + (' and hold its place; control_dimensions can free axes'
                                        if wanted[:3].any() else ''))
        if near := self._near(self._follow, math.inf):  # as a wall that comes fast
            return _told(NEAR_CONTACT, _pair(near[0]))
        return NO_WARNING, 'slow: at the velocity limit of the tip'

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
        if self._tip.condition(ahead) <= condition:
            return 1.0
        left = (VERY_SINGULAR - condition) / (VERY_SINGULAR - NEAR_SINGULAR)
        return max(left, 0.0)

    def _leads_out(self) -> bool:
        """Return whether the way to the middle of the joints leads the tip as commanded."""
        assert self.command is not None
        q = self.q.copy()
        q[self.places] += AHEAD * (self._middle - q[self.places])
        here, there = (Configuration(self.robot, each).transform(self.begin.tip)[:3, 3].copy()
                       for each in (self.q, q))
        value = self.command.value
        wanted, way = value[:3], there - here
        return bool(way @ wanted > TOWARDS * np.linalg.norm(way) * np.linalg.norm(wanted))

    def _let_escape(self, escape: bool) -> None:
        if self.begin.mode == 'twist' and escape != self._escapes:
            self._escapes = escape
            self._follow.set_weight('escape', ESCAPE_WEIGHT if escape else 0.0)

    @staticmethod
    def _middle_of(robot: Robot, joints: tuple[str, ...]) -> Array:
        limits = [robot.joint(name) for name in joints]
        return np.array([(one.lower + one.upper) / 2 if math.isfinite(one.upper - one.lower)
                         else 0.0 for one in limits])


TOO_NEAR = 0.5     # part of the margin; obstacles come in jumps, and are inside it for a moment
STILL = 1e-6   # slower is at rest [rad/s, m/s]
UNMOVED = 1e-9     # [m/rad], [m/m]: a smaller gradient is that of a pair that does not move


def _pair(near: NearPair) -> str:
    return f": '{near.names[0]}' and '{near.names[1]}'"


def _told(code: int, about: str = '') -> tuple[int, str]:
    return code, TEXTS[code] + about
