"""Reading of ComputeIK requests: defaults, options of the search, allowed collisions."""

from collections.abc import Callable, Sequence
from itertools import combinations
import math
from typing import TYPE_CHECKING, TypeVar

from ros2_ik.core import (
    AllowedCollisions,
    CollisionChecker,
    PoseTarget,
    Robot,
    Scene,
    SolveOptions,
    Status,
)
from ros2_ik.core.errors import counted, UnknownNameError
from ros2_ik.core.internals import ALL_AXES, Defaults, IKRequest, named_joints
from ros2_ik.messages.constraints import named_frames, needs_checker, read_constraints
from ros2_ik.messages.frames import (
    group_name,
    link_name,
    Lookup,
    Reference,
    reference,
    tip_name,
    with_tool,
    without_tf,
)
from ros2_ik.messages.poses import read_pose
from ros2_ik.messages.request_error import check_lengths, error_context, invalid, RequestError
from ros2_ik.messages.robot_states import joint_values, Values

if TYPE_CHECKING:
    from moveit_msgs.msg import AllowedCollisionMatrix

    from ros2_ik.srv import ComputeIK

T = TypeVar('T', int, float)
# maximum lengths of fields, because reading a request blocks the node
MAX_LENGTHS = {'targets': 100, 'more_seeds': 100, 'moving_joints': 200, 'locked_joints': 200,
               'joint_change_names': 200}


def read_request(message: 'ComputeIK.Request', scene: Scene, seed: Values, defaults: Defaults,
                 lookup: Lookup, checker_of: Callable[[Scene], CollisionChecker | None]
                 ) -> tuple[IKRequest, CollisionChecker | None]:
    """
    Read a ComputeIK request or goal, and its checker (None: not needed, or there is no geometry).

    The request may name frames of `scene`. `seed` has the joint values of the request's seed.
    `defaults` has the attributes of core's Defaults. If the request needs a checker, `checker_of`
    is called with a scene that includes the request's allowed collisions; it returns None if there
    is no geometry. Raises IKError. The search, not this function, checks the name of the solver.
    """
    robot = scene.robot
    check_lengths(message, MAX_LENGTHS)
    if message.moving_joints and message.group:
        raise RequestError(Status.INVALID_GROUP_NAME, f"group '{message.group}' and "
                           'moving_joints are both given; valid: one of them')
    count = len(message.targets)
    group = group_name(robot, message.group, defaults) if message.group else ''
    default = '' if group or message.moving_joints else group_name(robot, '', defaults)
    if message.tip_speed != 0 and not message.straight:
        raise invalid(f'tip_speed is {message.tip_speed:g}, but straight is false; valid: '
                      'straight: true, or a tip_speed of 0')
    if not (count or message.constraints or message.costs):
        raise invalid('there is no target, and no constraint or cost either')
    robot, tool = with_tool(message.tool, scene, [*message.tips, *named_frames(
        (*message.constraints, *message.costs))], group or default, defaults)
    # without tips, the tip of a single target is the tool, if any, else the default tip
    names = message.tips or [tool] * (count == 1 and tool != '')
    tips = [link_name(robot, name, 'tips', scene) for name in names]
    if not tips and count == 1:
        tips = [tip_name(robot, group or default, defaults)]
    if len(tips) != count:
        raise RequestError(Status.INVALID_LINK_NAME,
                           f'{counted(len(tips), "tip")} but {counted(count, "target")}; valid: '
                           'one tip per target')
    if message.follow_frames:
        lookup = without_tf('frames of TF are refused with follow_frames, as it is not known '
                            'whether they move with a link')
    references = [reference(robot, scene, target.header.frame_id, lookup)
                  for target in message.targets]
    measures, checker = needs_checker(message), None
    if message.avoid_collisions or measures:
        checker = checker_of(with_allowed_collisions(scene, message.allowed_collisions))
    if measures and checker is None:
        raise RequestError(Status.COLLISION_CHECKING_UNAVAILABLE,
                           'distances cannot be measured: neither robot nor scene has geometry')
    constraints, costs = read_constraints(message, robot, checker)
    return IKRequest(
        _targets(message, tips, references, defaults), constraints, costs, message.follow_frames,
        group=group, default_group=default, moving_joints=message.moving_joints,
        locked_joints=message.locked_joints, seed=seed,
        more_seeds=tuple(joint_values(state, robot, f'more_seeds[{index}]')
                         for index, state in enumerate(message.more_seeds)),
        avoid_collisions=message.avoid_collisions,
        options=_options(message, robot, defaults),
        frames=robot.added_frames), checker


def _options(message: 'ComputeIK.Request', robot: Robot, defaults: Defaults) -> SolveOptions:
    return SolveOptions(
        timeout=_check_maximum('timeout', message.timeout.sec + message.timeout.nanosec * 1e-9,
                               defaults.max_timeout, ' s') or defaults.default_timeout,
        max_iterations=message.max_iterations or None,
        solver=message.solver or 'auto',
        select=message.select or 'first',
        solutions=_check_maximum('solutions', message.solutions, defaults.max_solutions) or 1,
        allow_restarts=message.allow_restarts,
        random_state=message.random_state if message.random_state >= 0 else None,
        approximate=tuple(message.approximate) or None,
        max_joint_change=_max_joint_change(message, robot, defaults))


def _targets(message: 'ComputeIK.Request', tips: Sequence[str], references: Sequence[Reference],
             defaults: Defaults) -> tuple[PoseTarget, ...]:
    rows = zip(tips, message.targets, references, _weights(message.weights, len(tips)),
               strict=True)
    return tuple(PoseTarget(
        tip, frame.offset * read_pose(target.pose, f"the target of '{tip}'"), frame.frame, weights,
        message.position_tolerance or defaults.position_tolerance,
        message.orientation_tolerance or defaults.orientation_tolerance)
        for tip, target, frame, weights in rows)


def _weights(numbers: Sequence[float], count: int) -> tuple[Sequence[float], ...]:
    if not numbers:
        return (ALL_AXES,) * count
    if not count or len(numbers) not in (6, 6 * count):
        raise invalid(f'{counted(len(numbers), "weight")} for {counted(count, "target")}; valid: '
                      'none, 6 for all targets, or 6 for each')
    rows = tuple(tuple(numbers[i:i + 6]) for i in range(0, len(numbers), 6))
    return rows if len(rows) == count else rows * count


def _check_maximum(name: str, value: T, maximum: float, unit: str = '') -> T:
    """Return the value of a field; raise RequestError if it exceeds the parameter max_<name>."""
    if value > maximum:
        raise invalid(f'{name} is {value:g}{unit}; parameter max_{name} allows {maximum:g}{unit}')
    return value


def _max_joint_change(request: 'ComputeIK.Request', robot: Robot,
                      defaults: Defaults) -> dict[str, float] | None:
    """Return the maximum changes from the seed [rad, m], by joint name, or None if unlimited."""
    # max_jump applies only to requests with `execute` and without max_joint_change
    most = request.max_joint_change or (defaults.max_jump if request.execute else 0) or math.inf
    names, changes = request.joint_change_names, request.joint_changes
    if len(names) != len(changes):
        raise invalid(f'{len(names)} joint_change_names but {len(changes)} joint_changes; valid: '
                      'one per name')
    if most == math.inf and not names:
        return None
    named_joints('joint_change_names', names, robot)
    return {**dict.fromkeys(robot.joint_names, most), **dict(zip(names, changes, strict=True))}


def with_allowed_collisions(scene: Scene, matrix: 'AllowedCollisionMatrix') -> Scene:
    """
    Return the scene with the `allowed_collisions` of a request added.

    Entries with the value false change nothing. Raises RequestError.
    """
    if not (matrix.entry_names or matrix.entry_values or matrix.default_entry_names
            or matrix.default_entry_values):
        return scene    # reading an empty matrix would take 3 % of the time of an answer
    with error_context('allowed_collisions'):
        read = read_matrix(matrix)
        # unlike in a scene, names must exist: an entry for a mistyped name would have no effect
        known = {*scene.robot.frame_names, *scene.objects, *scene.attached}
        if unknown := sorted(read.names - known):
            raise RequestError(Status.INVALID_OBJECT_NAME,
                               UnknownNameError(unknown[0], sorted(known)))
    pairs = {pair: True for pair, allowed in read.pairs.items() if allowed}
    defaults = {name: True for name, allowed in read.defaults.items() if allowed}
    return scene.with_allowed(scene.allowed.updated(AllowedCollisions(pairs, defaults))) \
        if pairs or defaults else scene


def read_matrix(message: 'AllowedCollisionMatrix') -> AllowedCollisions:
    """
    Read a matrix; as in MoveIt, only entries above the diagonal count.

    Raises RequestError for rows or defaults of a wrong length.
    """
    names, rows = list(message.entry_names), [list(row.enabled) for row in message.entry_values]
    default_names, flags = list(message.default_entry_names), list(message.default_entry_values)
    if len(rows) != len(names):
        raise invalid(f'entry_values has length {len(rows)}; valid: {len(names)}')
    for row, name in zip(rows, names, strict=True):
        if len(row) != len(names):
            raise invalid(f"the row of '{name}' has length {len(row)}; valid: {len(names)}")
    if len(flags) != len(default_names):
        raise invalid(f'default_entry_values has length {len(flags)}; valid: {len(default_names)}')
    pairs = {(names[i], names[j]): rows[i][j] for i, j in combinations(range(len(names)), 2)}
    return AllowedCollisions(pairs, dict(zip(default_names, flags, strict=True)))
