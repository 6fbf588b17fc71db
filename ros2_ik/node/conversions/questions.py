"""ComputeIK requests: what is asked, with every default filled in."""

from collections.abc import Sequence
from itertools import combinations
import math
from typing import Any, NamedTuple

import pinocchio as pin

from ros2_ik.core import ALL_AXES, Robot, Status
from ros2_ik.node.conversions.blame import blamed, wrong
from ros2_ik.node.conversions.constraints import has_functions
from ros2_ik.node.conversions.frames import (
    default_tip,
    group_name,
    link_name,
    Lookup,
    Reference,
    reference,
)
from ros2_ik.node.conversions.poses import placement
from ros2_ik.node.conversions.robot_states import joint_values, Values
from ros2_ik.node.conversions.solver_options import read_options
from ros2_ik.node.refusal import Refusal

MAX_TARGETS = 100   # reading more would keep the node from other requests
MAX_CHANGES = 200
MAX_SEEDS = 100


class Question(NamedTuple):
    """A ComputeIK request in core's terms; one of tips, references, poses and weights a target."""

    group: str                          # '': the joints that move the tips
    tips: tuple[str, ...]
    references: tuple[Reference, ...]
    poses: tuple[pin.SE3, ...]          # in the references
    weights: tuple[Sequence[float], ...]
    position_tolerance: float
    orientation_tolerance: float
    follow_frames: bool
    seed: Values
    timeout: float
    solver: str
    select: str
    solutions: int
    allow_restarts: bool
    avoid_collisions: bool
    solver_options: dict[str, Any]
    random_state: int | None
    execute: bool
    default_group: bool                 # the request named none: the group is the default one
    max_joint_change: dict[str, float] | None     # by joint; None: not bounded
    bound_by_parameter: bool            # that is max_jump
    functions: bool                     # whether the request has constraints or costs
    locked: frozenset[str]              # joints that do not move
    more_seeds: tuple[Values, ...]
    max_iterations: int | None
    approximate: tuple[float, ...] | None    # [m], [rad]
    turns: str


def read_question(request: Any, robot: Robot, defaults: Any, lookup: Lookup) -> Question:
    """
    Read a ComputeIK request but for its constraints, costs and collision rules.

    `defaults` has the parameters as attributes. Raises Refusal. What only core can judge (solver
    names, weights) is left to it.
    """
    count = len(request.targets)
    group = '' if request.moving_joints else group_name(robot, request.group, defaults)
    functions = has_functions(request)
    if not count and not functions:
        raise Refusal(Status.INVALID_GOAL_CONSTRAINTS,
                      'there is no target, and no constraint or cost either')
    tips = _tips(request.tips, count, robot, group, defaults)
    if not (request.group or request.moving_joints) and not _moves(robot, group, tips):
        group = ''   # the default one is not meant: an arm that is named moves itself
    return Question(
        group, tips, _references(request, robot, lookup),
        tuple(placement(target.pose.position, target.pose.orientation, f"the target of '{tip}'")
              for tip, target in zip(tips, request.targets, strict=True)),
        _weights(request.weights, count),
        request.position_tolerance or defaults.position_tolerance,
        request.orientation_tolerance or defaults.orientation_tolerance,
        request.follow_frames, joint_values(request.seed, robot),
        _timeout(request.timeout, defaults),
        request.solver or defaults.default_solver, request.select or defaults.default_select,
        _solutions(request.solutions, defaults), request.allow_restarts,
        request.avoid_collisions, read_options(request.solver_options),
        _random_state(request.random_state, defaults), request.execute, not request.group,
        _max_joint_change(request, robot, defaults),
        request.execute and request.max_joint_change == 0 and defaults.max_jump > 0, functions,
        _locked(request, robot), _more_seeds(request, robot), request.max_iterations or None,
        tuple(request.approximate) or None, request.turns or 'seed')


def _references(request: Any, robot: Robot, lookup: Lookup) -> tuple[Reference, ...]:
    found = tuple(reference(robot, target.header.frame_id, lookup) for target in request.targets)
    for target, each in zip(request.targets, found, strict=True):
        if request.follow_frames and each.loose_on:
            raise Refusal(Status.FRAME_TRANSFORM_FAILURE,
                          f"follow_frames: frame '{target.header.frame_id}' hangs on link "
                          f"'{each.loose_on}' by a transform that /tf sends anew, so it is not "
                          'known whether it moves with the link; valid: frames of the robot, and '
                          'those that /tf_static fixes to them')
    return found


def _locked(request: Any, robot: Robot) -> frozenset[str]:
    """Return the joints that do not move because the request names them, or only others."""
    if request.moving_joints and request.group:
        raise Refusal(Status.INVALID_GROUP_NAME,
                      f"group '{request.group}' and moving_joints are both given; valid: one of "
                      'them')
    found = []
    for field in ('moving_joints', 'locked_joints'):
        names = getattr(request, field)
        if len(names) > MAX_CHANGES:
            raise wrong(f'{field} has {len(names)} names; at most {MAX_CHANGES} are read')
        with blamed(field):
            found.append({robot.joint(name).name for name in names})
    may, locked = found
    return frozenset(locked | (set(robot.joint_names) - may if may else set()))


def _more_seeds(request: Any, robot: Robot) -> tuple[Values, ...]:
    if len(request.more_seeds) > MAX_SEEDS:
        raise wrong(f'more_seeds has {len(request.more_seeds)} items; at most {MAX_SEEDS} are '
                    'read')
    return tuple(joint_values(state, robot, f'more_seeds[{index}]')
                 for index, state in enumerate(request.more_seeds))


def _tips(names: Sequence[str], count: int, robot: Robot, group: str,
          defaults: Any) -> tuple[str, ...]:
    if count > MAX_TARGETS:
        raise Refusal(Status.INVALID_GOAL_CONSTRAINTS,
                      f'{count} targets; at most {MAX_TARGETS} are read')
    if not names and count == 1:
        return (default_tip(robot, group, defaults),)
    if len(names) != count:
        raise Refusal(Status.INVALID_LINK_NAME,
                      f'{len(names)} tips but {count} targets; valid: one tip a target')
    return tuple(link_name(robot, name, 'tips') for name in names)


def _moves(robot: Robot, group: str, tips: Sequence[str]) -> bool:
    """Whether a group moves each tip, and any two against each other that joints move so."""
    joints = set(robot.group(group).joint_names) if group else set()
    between = (robot.moving_joints(*pair) - robot.passive_joints for pair in combinations(tips, 2))
    return (all(joints & robot.moving_joints(tip) for tip in tips)
            and all(not movers or joints & movers for movers in between))


def _weights(numbers: Sequence[float], count: int) -> tuple[Sequence[float], ...]:
    if not numbers:
        return (ALL_AXES,) * count
    if not count:
        raise Refusal(Status.INVALID_GOAL_CONSTRAINTS,
                      f'{len(numbers)} weights, which are about targets, but there is none')
    if len(numbers) not in (6, 6 * count):
        valid = f'6, or {6 * count} for {count} targets' if count > 1 else '6'
        raise Refusal(Status.INVALID_GOAL_CONSTRAINTS,
                      f'{len(numbers)} weights; valid: none, {valid}')
    rows = tuple(tuple(numbers[i:i + 6]) for i in range(0, len(numbers), 6))
    return rows if len(rows) == count else rows * count


def _timeout(duration: Any, defaults: Any) -> float:
    seconds = duration.sec + duration.nanosec * 1e-9
    if seconds < 0:
        raise Refusal(Status.INVALID_GOAL_CONSTRAINTS, f'the timeout is negative: {seconds:g} s')
    if seconds > defaults.max_timeout:
        raise Refusal(Status.INVALID_GOAL_CONSTRAINTS,
                      f'the timeout is {seconds:g} s; parameter max_timeout allows '
                      f'{defaults.max_timeout:g} s')
    return seconds or defaults.default_timeout


def _random_state(given: int, defaults: Any) -> int | None:
    """Return the start of the random numbers, None for a different one each time."""
    if given < -1:
        raise Refusal(Status.INVALID_GOAL_CONSTRAINTS,
                      f'random_state is {given}; valid: from 1, 0 (the parameter), -1 (different '
                      'each time)')
    number = given or defaults.random_state
    return None if number < 0 else number


def _max_joint_change(request: Any, robot: Robot, defaults: Any) -> dict[str, float] | None:
    """Return how far each joint may be from the seed, None where nothing is bounded."""
    if not request.max_joint_change >= 0:
        raise wrong(f'max_joint_change is {request.max_joint_change:g}; valid: above 0, or 0 '
                    '(not bounded; with execute: parameter max_jump)')
    most = request.max_joint_change or (defaults.max_jump if request.execute else 0) or math.inf
    single: dict[str, float] = {}
    if len(request.joint_changes) > MAX_CHANGES:
        raise wrong(f'joint_changes has {len(request.joint_changes)} items; at most '
                    f'{MAX_CHANGES} are read')
    for index, item in enumerate(request.joint_changes):
        with blamed(f'joint_changes[{index}]'):
            name = robot.joint(item.joint_name).name
        if not item.max_change > 0:
            raise wrong(f"joint_changes[{index}]: max_change of '{name}' is "
                        f'{item.max_change:g}; valid: above 0')
        single[name] = item.max_change
    if most == math.inf and not single:
        return None
    return {name: single.get(name, most) for name in robot.joint_names}


def _solutions(count: int, defaults: Any) -> int:
    if count > defaults.max_solutions:
        raise Refusal(Status.INVALID_GOAL_CONSTRAINTS,
                      f'{count} solutions are wanted; parameter max_solutions allows '
                      f'{defaults.max_solutions}')
    return max(1, count)

