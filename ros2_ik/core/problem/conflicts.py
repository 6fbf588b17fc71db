"""What can be shown to be impossible without searching."""

from collections.abc import Iterator
from itertools import permutations
import math
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array
from ros2_ik.core.functions import (
    CenterOfMass,
    JointPositions,
    KinematicFunction,
    RelativeFunction,
    SupportPolygon,
)
from ros2_ik.core.problem.active_joints import TURN
from ros2_ik.core.problem.ik_problem import IKProblem
from ros2_ik.core.problem.pose_target import PoseTarget
from ros2_ik.core.robot import Configuration, Joint

HAIR = 1e-9     # part of the numbers that rounding may come to: no proof rests on that


class Interval(NamedTuple):
    """Where something wants one row of a function to be; `fixed` says why it is at one value."""

    name: str
    lower: float
    upper: float
    fixed: str = ''

    def excludes(self, other: 'Interval') -> bool:
        """Return whether both have no common value, by more than rounding."""
        return (_exceeds(self.lower, other.upper) or _exceeds(other.lower, self.upper))

    def __str__(self) -> str:
        return f'{self.name} in [{self.lower:.6g}, {self.upper:.6g}]'


def conflict(problem: IKProblem) -> str | None:
    """
    Return which two demands exclude each other whatever the joint values, or None.

    Shown are demands on the same quantity without a common value, such as two boxes of one point
    that do not meet, joint values outside the joint's limits, two poses of one tip (or of frames
    fixed to each other), and a bound on the change of a joint that keeps it outside its limits.
    None proves nothing.
    """
    if found := next(_kept_outside(problem), None) or next(_apart(problem), None):
        return found
    wanted: dict[Any, list[Interval]] = {}
    for key, interval in _intervals(problem):
        for other in wanted.setdefault(key, []):
            if interval.excludes(other):
                if other.fixed:
                    return f'{other.fixed}, outside {interval}'
                return f'{other} and {interval} exclude each other'
        wanted[key].append(interval)
    return None


def _exceeds(value: float, most: float) -> bool:
    """Return whether a value is above another one by more than rounding."""
    if math.isinf(value) or math.isinf(most):
        return value > most
    return value > most + HAIR * (1 + abs(value) + abs(most))


def _kept_outside(problem: IKProblem) -> Iterator[str]:
    """Joints whose limits and bound on their change have no common value."""
    bound = problem.change_bound
    if bound is None:
        return
    for joint in problem.active.joints:
        if joint.is_scalar and _exceeds(problem.lower[joint.index], problem.upper[joint.index]):
            yield (f"joint '{joint.name}' begins at {bound.origin[joint.index]:.6g}, outside its "
                   f'limits [{joint.lower:.6g}, {joint.upper:.6g}], and max_joint_change allows '
                   f'{bound.most[joint.name]:g}')


def _apart(problem: IKProblem) -> Iterator[str]:
    """Pairs of targets that no pose of what carries their tips meets."""
    for one, other in permutations(problem.targets, 2):
        if one.whole and one.relative_to == other.relative_to and _fixed(problem, one, other):
            yield from _poses_apart(problem, one, other)


def _fixed(problem: IKProblem, one: PoseTarget, other: PoseTarget) -> bool:
    """Return whether two tips cannot move relative to each other."""
    moving = problem.robot.moving_joints(one.tip, other.tip)
    return not moving & set(problem.joint_names)


def _poses_apart(problem: IKProblem, one: PoseTarget, other: PoseTarget) -> Iterator[str]:
    """Compare where `one` puts the tip of `other` with where that should be."""
    at = Configuration(problem.robot, problem.start)
    between = at.placement(one.tip).actInv(at.placement(other.tip))
    error = other.function.reference.actInv(one.function.reference * between)
    shift = error.translation * other.counted[:3]
    turn = pin.log3(error.rotation) if other.counted[3:].all() else np.zeros(3)
    lever = float(np.linalg.norm(between.translation))
    size = lever + sum(float(np.linalg.norm(target.function.reference.translation))
                       for target in (one, other))
    off, most = float(np.linalg.norm(shift)), (one.position_tolerance + other.position_tolerance
                                               + lever * one.orientation_tolerance)
    if off > most + HAIR * (1 + size):
        yield _exclusion(problem, one, other, off, 'm', most)
    angle, most = float(np.linalg.norm(turn)), (one.orientation_tolerance
                                                + other.orientation_tolerance)
    if angle > most + HAIR:
        yield _exclusion(problem, one, other, angle, 'rad', most)


def _exclusion(problem: IKProblem, one: PoseTarget, other: PoseTarget, off: float, unit: str,
               most: float) -> str:
    if one.tip == other.tip:
        what = f"two targets of '{one.tip}'"
    else:
        if not problem.robot.moving_joints(one.tip, other.tip):
            why = 'are fixed to each other'
        elif problem.group is None:
            why = 'only joints at rest move relative to each other'
        else:
            why = f"group '{problem.group}' does not move relative to each other"
        what = f"the targets of '{one.tip}' and '{other.tip}', which {why},"
    return (f'{what} exclude each other: they are {off:.4g} {unit} apart, their tolerances allow '
            f'{most:.4g}')


def _intervals(problem: IKProblem) -> Iterator[tuple[Any, Interval]]:
    for constraint in problem.constraints:
        function, slack = constraint.function, constraint.tolerance
        lower, upper = constraint.lower - slack, constraint.upper + slack
        if isinstance(function.spec, JointPositions):
            yield from _of_joints(problem, function, function.spec, constraint.name, lower, upper)
            continue
        if not isinstance(function, (RelativeFunction, CenterOfMass, SupportPolygon)):
            continue       # two of these are the same if their arguments are
        key = _key(function)
        for label, low, high in zip(constraint.labels, lower, upper, strict=True):
            yield (key, label), Interval(f'{constraint.name} ({label})', low, high)


def _of_joints(problem: IKProblem, function: KinematicFunction, spec: JointPositions, name: str,
               lower: Array, upper: Array) -> Iterator[tuple[Any, Interval]]:
    """Where joints should be, and where they can be: within their limits, or held."""
    robot = problem.robot
    names = robot.joint_names if spec.names is None else spec.names
    if len(names) != len(lower) or not set(names) <= set(robot.joint_names):
        return     # joints of several numbers, followers
    value = function.value(Configuration(robot, problem.start))
    for row, joint in enumerate(map(robot.joint, names)):
        held = float(problem.start[joint.index])
        low, high = problem.lower[joint.index], problem.upper[joint.index]
        if joint.name not in problem.joint_names:
            low = high = held
        wraps = joint.kind == 'continuous' and spec.wrap
        if joint.rotary and not math.isfinite(high - low):
            continue       # as many turns as one likes
        bound = problem.change_bound
        if bound is not None and (low, high) != (joint.lower, joint.upper):
            within = f'max_joint_change {bound.most.get(joint.name, math.inf):g} of'
        else:
            within = 'limits of'
        fixed = _fixed_at(problem, joint, held)
        yield joint.name, Interval(f"{within} '{joint.name}'", low, high, fixed)
        shift = held - value[row]
        wanted = Interval(name, lower[row] + shift, upper[row] + shift)
        if not wraps:
            yield joint.name, wanted
        elif (turn := _only_turn(wanted, low, high)) is not None:
            yield joint.name, turn


def _fixed_at(problem: IKProblem, joint: Joint, value: float) -> str:
    """Return why a joint stays at a value; '' if it may move."""
    if joint.name in problem.joint_names:
        return ''
    group = problem.group
    if group is not None and joint.name not in problem.robot.group(group).joint_names:
        why = f"is not in group '{group}'"
    else:
        why = 'is locked' if joint.name in problem.locked_joints else 'is passive'
    return f"joint '{joint.name}' {why} and stays at {value:.6g}"


def _only_turn(wanted: Interval, low: float, high: float) -> Interval | None:
    """
    Return where a joint should be that may be so any number of turns away, within low .. high.

    None where more than one turn will do; one that is outside where none will.
    """
    if not math.isfinite(wanted.upper - wanted.lower):
        return None
    room = HAIR * (1 + abs(low) + abs(high))
    first = math.ceil((low - room - wanted.upper) / TURN - HAIR)
    last = math.floor((high + room - wanted.lower) / TURN + HAIR)
    if last > first:
        return None
    shift = first * TURN    # of the first that is not below: where it is above, none is between
    return Interval(wanted.name, wanted.lower + shift, wanted.upper + shift)


def _key(function: KinematicFunction) -> Any:
    """Return what two functions that measure the same share; labels tell axes apart."""
    # the others follow from the rest
    left_out = ('axes', 'labels', 'center', 'edges', 'parameters')
    parts = {name: value for name, value in vars(function).items() if name not in left_out}
    return type(function), tuple((name, _bytes(parts[name])) for name in sorted(parts))


def _bytes(value: Any) -> Any:
    if hasattr(value, 'homogeneous'):
        value = value.homogeneous
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    known = value is None or isinstance(value, (str, bool, int, float))
    return repr(value) if known else id(value)   # what others print need not say all
