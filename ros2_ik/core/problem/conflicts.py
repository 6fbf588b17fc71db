"""What can be shown to be impossible without searching."""

from collections import Counter
from collections.abc import Iterator
from itertools import permutations
from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core.functions import (
    CenterOfMass,
    KinematicFunction,
    RelativeFunction,
    SupportPolygon,
)
from ros2_ik.core.problem.ik_problem import IKProblem
from ros2_ik.core.problem.interval import exceeds, HAIR, Interval
from ros2_ik.core.problem.joint_conflicts import joints_apart
from ros2_ik.core.problem.placement_conflicts import placements_apart
from ros2_ik.core.problem.pose_target import PoseTarget
from ros2_ik.core.robot import Configuration


def conflict(problem: IKProblem, thorough: bool = False) -> str | None:
    """
    Return which demands exclude each other whatever the joint values, or None.

    Shown are demands on the same quantity without a common value, such as two boxes of one point
    that do not meet; joint values outside the joint's limits, or that couplings do not leave; two
    poses of one tip (or of frames fixed to each other); a bound on the change of a joint that
    keeps it outside its limits; and, where it is `thorough`, which takes some 0.1 ms, directions
    and points that a pose, or the reach and the limits of the joints, exclude. None proves
    nothing.
    """
    finds = [_kept_outside, _apart, joints_apart, _functions_apart]
    if thorough:
        finds.append(placements_apart)
    return next((text for find in finds for text in find(problem)), None)


def _kept_outside(problem: IKProblem) -> Iterator[str]:
    """Joints whose limits and bound on their change have no common value."""
    bound = problem.change_bound
    if bound is None:
        return
    for joint in problem.active.joints:
        if joint.is_scalar and exceeds(problem.lower[joint.index], problem.upper[joint.index]):
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


def _functions_apart(problem: IKProblem) -> Iterator[str]:
    """Constraints on the same function without a common value."""
    wanted: dict[Any, list[Interval]] = {}
    kinds = Counter(type(constraint.function) for constraint in problem.constraints)
    for constraint in problem.constraints:
        function, slack = constraint.function, constraint.tolerance
        if not isinstance(function, (RelativeFunction, CenterOfMass, SupportPolygon)):
            continue       # two of these are the same if their arguments are
        if kinds[type(function)] < 2:
            continue
        key = _key(function)
        for label, low, high in zip(constraint.labels, constraint.lower - slack,
                                    constraint.upper + slack, strict=True):
            interval = Interval(f'{constraint.name} ({label})', low, high)
            known = wanted.setdefault((key, label), [])
            yield from (other.against(interval) for other in known if other.excludes(interval))
            known.append(interval)


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
