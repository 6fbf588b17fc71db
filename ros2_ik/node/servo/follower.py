"""The servo's control law: one step of the arm per call, within all limits. Imports no ROS."""

from collections.abc import Mapping
from dataclasses import dataclass
import math
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from ros2_ik.core import (
    AccelerationLimit,
    Array,
    CartesianVelocityLimit,
    CollisionBarrier,
    CollisionChecker,
    Configuration,
    ConfigurationLimit,
    damping_task,
    frame_task,
    joint_velocity_task,
    NearPair,
    Scene,
    Task,
    twist_task,
    VelocityLimit,
    VelocityProgram,
    VelocityResult,
)
from ros2_ik.core.errors import counted
from ros2_ik.node.servo.messages import SessionRequest

FOLLOWS = 'follows'
NO_WARNING, APPROACHING, SINGULAR, LEAVING, NEAR_CONTACT, CONTACT, BOUND = range(7)
# condition number of the Jacobian above which the arm slows down (default of MoveIt Servo)
SLOW_CONDITION = 17.0
HALT_CONDITION = 30.0    # condition number at which the arm halts (default of MoveIt Servo)
NEAR_GAP = 0.005    # gap (distance - margin) below which a pair explains a slow arm [m]
NEAR_BOUND = 0.02   # distance below which a position limit explains a slow arm [rad, m]
SLOW_FRACTION = 0.95    # fraction of the commanded velocity below which the arm is slow
HALT_FRACTION = 0.02    # fraction of the commanded velocity below which the arm is halted
GAIN = 8.0          # of the pose task [1/s]
# fraction of the tip's maximum velocity to aim at, since curved paths are longer than their chord
TIP_HEADROOM = 0.99
# singular value below which directions are damped [m/rad]; undamped, an arm near a singularity
# would oscillate instead of coming to rest
DAMPING = 0.05
REST_VELOCITY = 1e-6    # velocity below which a joint is at rest [rad/s, m/s]
MIN_GRADIENT = 1e-9  # smaller gradients of a distance count as 0 [m/rad, m/m]
LOOKAHEAD = 0.05    # time by which the check for singularities looks ahead [s]
MIN_FRACTION = 0.5  # fraction of a commanded twist below which the arm is too slow
SLOW_TIME = 0.2     # time for which the arm must be too slow before the status gives a reason [s]
PUSH_VELOCITY = 1e-4    # minimum speed away from obstacles that the status names [m/s]


class Step(NamedTuple):
    """The fields of ServoStatus that describe a step."""

    code: int
    message: str
    scale: float


@dataclass
class Command:
    """
    The last command: a pose (4, 4) or twist (6,) in the root frame, or joint velocities (n,).

    A twist is the requested one times `scale`, to stay within the maximum velocities.
    """

    value: Array
    until: float    # time of expiry on the motion clock [s]
    scale: float = 1.0


class Follower:
    """
    Computes the motion of a `SessionRequest`'s joints step by step; starts at rest.

    The joints follow the last command; without a valid command, they brake. In both cases they
    move away from approaching obstacles, if collisions are checked. The caller sets `q` and `v` of
    all other joints, which move at `v` during a step. Commands may refer to frames of `scene`.
    """

    def __init__(self, request: SessionRequest) -> None:
        self.robot, self.request, robot = request.robot, request, request.robot
        self.dt: float = 1 / request.parameters.servo_rate
        self.q, self.v = np.array(request.q), np.zeros(robot.nv)
        self.v_indices = np.array([robot.joint(name).velocity_index for name in request.joints])
        self.q_indices = np.array([robot.joint(name).index for name in request.joints])
        self.others = tuple(joint for joint in robot.joints if joint.name not in request.joints)
        self.command: Command | None = None
        self.scene, checker = request.scene, self._checker(request.scene)
        joints = request.joints
        # the controllers' joints outside of the group have the velocity limit 0
        self.moved = [name for name, limit in zip(joints, request.velocity, strict=True) if limit]
        self._frame, self._slow_time = robot.frame_id(request.tip or robot.root_frame), 0.0
        self._moved_v_indices = self.v_indices[request.velocity > 0]     # of `moved`
        self._under_six_dof = request.mode == 'twist' and len(
            {*self.moved} & robot.moving_joints(request.tip)) < 6
        # axes x y z rx ry rz in which the tip must follow; no rotations with fewer than six joints
        self._required_axes = np.array(request.dimensions)
        self._required_axes[3:] &= not self._under_six_dof
        # The limits of the tip's velocity apply per axis. With the factor 1/sqrt(3), the norm of
        # the velocity stays within them in all directions.
        self._brake = self._program([joint_velocity_task(0.0, names=joints, name='brake')],
                                    checker, math.sqrt(1 / 3))
        self._follow = self._program(self._tasks(), checker)

    def _tasks(self) -> list[Task]:
        request, dt, joints = self.request, self.dt, self.request.joints
        weights = np.array(request.dimensions, dtype=float)
        if request.mode == 'pose':
            return [frame_task(request.tip, position_weight=weights[:3],
                               orientation_weight=weights[3:], gain_per_second=GAIN, name='pose'),
                    damping_task((DAMPING * dt) ** 2, names=joints)]
        if request.mode == 'joint':
            return [joint_velocity_task(0.0, names=joints, scaled=True, name='joint')]
        tasks = [twist_task(request.tip, weight=self._required_axes.astype(float), name='twist')]
        # with fewer than six joints, the linear motion has priority over the rotation
        if self._under_six_dof:
            weights[:3] = 0.0
            tasks.append(damping_task((DAMPING * dt) ** 2, names=joints, priority=1))
            tasks.append(twist_task(request.tip, weight=weights, scaled=False, priority=1,
                                    name='turn'))
        return tasks

    def _program(self, tasks: list[Task], checker: CollisionChecker | None,
                 speed: float = 1.0) -> VelocityProgram:
        request, tip, joints = self.request, self.request.tip, self.request.joints
        tip_limits = [CartesianVelocityLimit(
            tip, speed * request.parameters.servo_linear_velocity,
            speed * request.parameters.servo_angular_velocity, self._carrier())] if tip else []
        # A gap d closes at a speed of gain * d at most. The joints then decelerate at gain times
        # their velocity, which is within their acceleration limits with this gain.
        moved = request.velocity > 0
        gain = float((request.acceleration[moved] / request.velocity[moved]).min())
        barriers = [CollisionBarrier(checker, request.parameters.servo_margin,
                                     gain_per_second=gain)] if checker else []
        # position limits with gain 1: a joint may reach its limit within one step
        program = VelocityProgram(
            self.robot, tasks, self.dt, barriers=barriers,
            driven=[joint.name for joint in self.others],
            limits=[ConfigurationLimit(1.0),
                    VelocityLimit(dict(zip(joints, request.velocity, strict=True))),
                    AccelerationLimit(dict(zip(joints, request.acceleration, strict=True))),
                    *tip_limits])
        if checker:
            program.set_scene(checker, owned=True)
        return program

    def _carrier(self) -> str | None:
        """Return the parent link of the first servoed joint from root to tip; None: the root."""
        # motion of the joints before the first servoed joint is not part of the tip's velocity
        moving = self.robot.moving_joints(self.request.tip)
        link = next(joint.parent for joint in self.robot.joints
                    if joint.name in moving and joint.name in self.request.joints)
        return link if self.robot.moving_joints(link) else None

    def _checker(self, scene: Scene) -> CollisionChecker | None:
        # not a cached checker, since `move_objects` changes the checker
        options = self.request.options
        return CollisionChecker(self.robot, scene, *options) if options else None

    def set_scene(self, scene: Scene) -> None:
        """Set the scene, with objects at rest; this may take seconds."""
        self.scene = scene
        if checker := self._checker(scene):
            for program in (self._brake, self._follow):
                program.set_scene(checker, owned=True)

    def move_objects(self, poses: Mapping[str, pin.SE3], velocities: Mapping[str, Array]) -> None:
        """Move world objects to poses in the root frame; replace all object velocities [m/s]."""
        for name, pose in poses.items():
            self.scene = self.scene.move(name, pose)
        if self.request.options:
            for program in (self._brake, self._follow):
                program.move_objects(poses, velocities)

    # -- commands -------------------------------------------------------------------------

    def set_command(self, command: Command) -> None:
        """Follow a command; on an InvalidTargetError, the previous command stays."""
        if self.request.mode == 'pose':
            self._follow.set_target('pose', command.value)
        # velocities of 0, as after a key is released: brake in the direction of the motion
        is_rest = self.request.mode != 'pose' and not command.value.any()
        self.command = None if is_rest else command

    def brake(self) -> None:
        """Drop the command, so that the next steps brake."""
        self.command = None

    @property
    def moving(self) -> bool:
        """True if any servoed joint moves."""
        return bool(self.v[self.v_indices].any())

    @property
    def braking_time(self) -> float:
        """Time for the joints to brake to rest at their acceleration limits [s]."""
        return float((np.abs(self.v[self.v_indices]) / self.request.acceleration).max(initial=0.0))

    # -- steps ----------------------------------------------------------------------------

    def restart_at_rest(self, position: Array) -> None:
        """Restart at rest, with the joints at positions (n,)."""
        self.q, self.v = self.q.copy(), np.zeros(self.robot.nv)
        self.q[self.q_indices] = position

    def step(self, now: float, speed: float = 1.0) -> Step:
        """Compute a step of dt from `now` (motion clock [s]); `speed` (0 to 1) scales commands."""
        if self.command is not None and now >= self.command.until:
            self.command = None
        result, step = (self._following_step(self.command.value, speed)
                        if self.command and speed > 0.0 else self._braking_step())
        self.q, self.v = result.q, result.v
        # rounding errors of the solver must not count as motion
        self.v[np.abs(self.v) < REST_VELOCITY] = 0.0
        if self.command and speed < 1.0:
            step = step._replace(
                message=f'{step.message}; the controller runs at {speed:.3g} of its speed')
        if self.command and self.command.scale < 1.0:
            step = step._replace(
                scale=step.scale * self.command.scale, message=f'{step.message}; the twist '
                'exceeds servo_linear_velocity or servo_angular_velocity')
        return step

    def _following_step(self, value: Array, speed: float) -> tuple[VelocityResult, Step]:
        # `fraction` is the factor by which a twist towards a singularity is reduced
        fraction, condition = 1.0, 1.0
        # a pose is approached with a gain; the other modes command a velocity
        if self.request.mode == 'pose':
            self._follow.set_gain('pose', speed * self._gain(value))
            result = self._solve()
        else:
            value = speed * value
            result = self._solve(value)
        if self.request.mode == 'twist':
            condition = self._condition(self.q)
            # slow down towards a singularity, and repeat the step with the smaller twist
            if condition > SLOW_CONDITION:
                fraction = self._singularity_scale(result, condition)
                if fraction < 1.0:
                    result = self._solve(fraction * value)
        code, text = self._diagnose(result, value, condition, fraction < 1.0)
        return result, Step(code, text, speed * fraction * result.scale)

    def _braking_step(self) -> tuple[VelocityResult, Step]:
        self._slow_time = 0.0
        # Braking is only the target of a task: the collision barriers can override it. One factor
        # for all joints keeps the direction in joint space.
        slower = self.v[self.v_indices] * (1.0 - self.dt / max(self.braking_time, self.dt))
        self._brake.set_target('brake', velocity=slower)
        self._brake.reset(self.v)
        result = self._brake.step(self.q)
        # pairs whose distance grows faster than it would by braking alone
        v, near = result.v[self.v_indices], self._near(self._brake)
        pushing = [pair for pair in near
                   if pair.gradient[self.v_indices] @ (v - slower) > PUSH_VELOCITY]
        text = 'brakes' if (np.abs(v) > REST_VELOCITY).any() else 'waits for commands'
        if pushing:
            text = f'moves away from an obstacle{_pair(pushing[0])}'
        code = NEAR_CONTACT if pushing or near and near[0].gap < NEAR_GAP else NO_WARNING
        return result, Step(code, text, 0.0)

    def _solve(self, velocity: Array | None = None) -> VelocityResult:
        """Return the step for the target pose, for a twist (6,) or for joint velocities (n,)."""
        if velocity is not None:
            self._follow.set_target(self.request.mode, velocity=velocity)
            if self._under_six_dof:
                self._follow.set_target('turn', velocity=velocity)
        self._follow.reset(self.v)
        return self._follow.step(self.q)

    def _near(self, program: VelocityProgram) -> list[NearPair]:
        """Return the near pairs whose distance servoed joints can change, the nearest first."""
        return [pair for pair in program.near_pairs(math.inf)
                if np.abs(pair.gradient[self.v_indices]).max() > MIN_GRADIENT]

    def _gain(self, target: Array) -> float:
        """Return the pose task's gain: the fraction of the way to a pose (4, 4) in one step."""
        # the time to the target at the maximum linear and angular velocity
        here = Configuration(self.robot, self.q).transform(self.request.tip)
        distance = math.dist(target[:3, 3], here[:3, 3])
        angle = math.hypot(*pin.log3(here[:3, :3].T @ target[:3, :3]))
        fastest = self.request.parameters
        left: float = max(distance / fastest.servo_linear_velocity,
                          angle / fastest.servo_angular_velocity)     # [s]
        # exponential approach with GAIN, bounded by the maximum velocities
        return min(-math.expm1(-GAIN * self.dt), TIP_HEADROOM * self.dt / max(left, self.dt))

    def _diagnose(self, result: VelocityResult, value: Array, condition: float,
                  is_approaching: bool) -> tuple[int, str]:
        """Return a status code and the reason why the arm is slow or halted, if it is."""
        halted = result.scale < HALT_FRACTION or not (
            np.abs(result.v[self.v_indices]) > REST_VELOCITY).any()
        # the status always has a reason if a twist is followed too slowly for SLOW_TIME
        lasting = self._slow_too_long(result, value)
        at_singularity = SINGULAR, 'halted by a singularity'
        if is_approaching:
            return at_singularity if halted else (APPROACHING, 'slow: near a singularity')
        # the arm is halted, more than 1e-3 m or rad from the commanded pose
        is_far = halted and self.request.mode == 'pose' and (
            np.abs(result.errors['pose']).max() > 1e-3)
        if not lasting and result.scale >= SLOW_FRACTION and not is_far:
            return NO_WARNING, FOLLOWS
        near = self._near(self._follow)
        gap, pair = (near[0].gap, _pair(near[0])) if near else (math.inf, '')
        slow_near = NEAR_CONTACT, f'slow: near an obstacle{pair}'
        if gap < NEAR_GAP:
            return (CONTACT, f'halted by an obstacle{pair}') if halted else slow_near
        # joints at a limit of position, velocity or acceleration
        held = [name for name in self.moved
                if {f'{name} lower', f'{name} upper'} & {*result.active_limits}]
        for name in held:
            joint = self.robot.joint(name)
            at = self.q[joint.index]
            if min(at - joint.lower, joint.upper - at) < NEAR_BOUND:
                return BOUND, f"slow: at the position limit of '{name}'"
        if condition > SLOW_CONDITION:
            return at_singularity if halted else (LEAVING, 'slow: leaves a singularity')
        if not lasting:
            return NO_WARNING, FOLLOWS
        if held:
            return NO_WARNING, f'slow: at the velocity or acceleration limit of {", ".join(held)}'
        # `lasting` can be True in mode twist only
        if self._under_six_dof and (value * self.request.dimensions)[3:].any():
            return SINGULAR, (f'slow: {counted(len(self.moved), "joint")} cannot turn the tip as '
                              'commanded; control_dimensions can free other axes')
        # even a distant pair can slow the arm, for example a wall that approaches fast
        return slow_near if near else (NO_WARNING, 'slow: at the velocity limit of the tip')

    def _slow_too_long(self, result: VelocityResult, value: Array) -> bool:
        """Return whether the tip has been slower than MIN_FRACTION of the twist for SLOW_TIME."""
        fractions = [1.0]
        if self.request.mode == 'twist':
            moved = self._jacobian(self.q) @ result.v[self._moved_v_indices]
            twist = value * self.request.dimensions
            # component of the motion along the twist, separately for its linear and angular part
            for rows in (slice(0, 3), slice(3, 6)):
                if squared := float(twist[rows] @ twist[rows]):
                    fractions.append(float(moved[rows] @ twist[rows]) / squared)
        self._slow_time = self._slow_time + self.dt if min(fractions) < MIN_FRACTION else 0.0
        return self._slow_time > SLOW_TIME

    # -- singularities --------------------------------------------------------------------

    def _jacobian(self, q: Array) -> Array:
        """Return the tip's Jacobian (6, k) at q (nq,) for the k `moved` joints, in root axes."""
        robot = self.robot
        J = pin.computeFrameJacobian(robot.model, robot.scratch_data(), q, self._frame,
                                     pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        moved: Array = J[:, self._moved_v_indices]
        return moved

    def _condition(self, q: Array) -> float:
        """Return the condition number of the Jacobian's rows for the required axes."""
        J = self._jacobian(q)[self._required_axes]
        return float(np.linalg.cond(J)) if len(J) else 1.0

    def _singularity_scale(self, result: VelocityResult, condition: float) -> float:
        """Return the allowed fraction of a twist, 1 if it leads away from the singularity."""
        ahead = np.array(pin.integrate(self.robot.model, self.q, LOOKAHEAD * result.v))
        if self._condition(ahead) <= condition:
            return 1.0
        # linear from 1 at SLOW_CONDITION to 0 at HALT_CONDITION
        left = (HALT_CONDITION - condition) / (HALT_CONDITION - SLOW_CONDITION)
        return max(left, 0.0)


def _pair(near: NearPair) -> str:
    return f": '{near.names[0]}' and '{near.names[1]}'"
