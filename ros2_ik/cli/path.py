"""`ros2_ik path`: joint values along a tool path, and a motion along the path."""

import argparse
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TYPE_CHECKING

from ros2_ik.cli.arguments import (
    add_robot_arguments,
    CommandError,
    Commands,
    Exit,
    in_range,
    load_robot,
    load_scene_of,
    make_checker,
    warn,
)
from ros2_ik.cli.values import read_start
from ros2_ik.cli.view import PORT, read_problem_file, serve, solving_command

if TYPE_CHECKING:
    from ros2_ik.core import Array, Motion, MotionLimits, Path, Robot, Scene, ToolPath

EXAMPLE = """examples:
  ros2_ik path examples/paths/valve.yaml --robot ur5 --output valve.csv
  ros2_ik path examples/paths/valve.yaml --robot ur5 --view

docs/paths.md has all fields of the file"""
# fields of the file besides PATH_OPTIONS
FIELDS = ('tip', 'tool', 'path', 'seed', 'tip_speed', 'limits')
# fields that are poses, by kind of path
POSES = {'line': ('start', 'end'), 'arc': ('start', 'end'), 'screw': ('start',)}
ACCELERATION = 3.0      # default limit of joints [rad/s^2, m/s^2]
JERK = 60.0             # default limit of joints [rad/s^3, m/s^3]
TIP_SPEED = 0.1         # default speed of the tool [m/s]
ROW_PERIOD = 0.01           # time between rows of a CSV file [s]


def add_parser(commands: Commands) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        'path', help='joint values along a path of the tool', epilog=EXAMPLE,
        description='Find continuous joint values along a path of the tool, and a motion with '
                    'constant speed of the tool.')
    parser.add_argument('file', metavar='FILE', help='the path as YAML')
    add_robot_arguments(parser, '--robot', required=True)
    parser.add_argument('--output', metavar='FILE.csv',
                        help=f'write times [s] and joint values, one row every {ROW_PERIOD:g} s')
    parser.add_argument('--view', action='store_true',
                        help='show the path and the robot in a browser')
    parser.add_argument('--port', type=in_range(int, 1, 65535), default=PORT,
                        help='port of the page (default: %(default)s)')
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Exit:
    """Solve and report a path; write a motion and show a page if asked; returns the exit code."""
    from ros2_ik.cli.goal_file import goal_of, read_content
    from ros2_ik.core import path_motion, solve_path
    from ros2_ik.core.errors import counted, unknown_name
    from ros2_ik.core.internals import Defaults, PATH_OPTIONS
    from ros2_ik.messages.constraints import needs_checker, read_constraints
    from ros2_ik.messages.frames import with_tool
    from ros2_ik.messages.request_error import error_context
    content = read_content(args.file)
    if not isinstance(content, dict) or 'path' not in content or (
            ('tip' in content) == ('tool' in content)):
        raise CommandError(f"'{args.file}' must have path, and either tip or tool")
    robot, shipped = load_robot(args)
    start = read_start([], robot, shipped, degrees=False)
    seed = content.pop('seed', None) or {}
    if not isinstance(seed, dict):
        raise CommandError(f"'{args.file}': seed must be joint values by name, not {seed!r}")
    start |= seed
    with error_context(f"'{args.file}': seed"):
        q = robot.to_q(start)
    scene = load_scene_of(args, robot, q)
    # these fields have the same form as in a goal of solve_constrained_ik
    goal = goal_of({name: content.pop(name) for name in ('tool', 'constraints', 'costs')
                    if name in content})
    robot, tool = with_tool(goal.tool, scene, scene.frame_names, '', Defaults())
    if not content.get('tip', tool):
        raise CommandError('tool must have a pose or a header with a frame_id')
    checker = make_checker(robot, scene) if needs_checker(goal) else None
    constraints, costs = read_constraints(goal, robot, checker)
    valid = (*FIELDS, *(name for name in PATH_OPTIONS if name != 'cancel'))
    if unknown := [name for name in content if name not in valid]:
        raise CommandError(f"'{args.file}': {unknown_name('field', unknown[0], valid)}")
    tip, tool_path = content.pop('tip', tool), read_path(content.pop('path'))
    tip_speed, limits = content.pop('tip_speed', TIP_SPEED), content.pop('limits', {})
    path = solve_path(robot, tip, tool_path, scene=scene if args.scene else None, seed=start,
                      constraints=constraints, costs=costs, **content)
    with error_context(f"'{args.file}'"):
        motion = path_motion(path, _limits(robot, path, limits), tip_speed) if path else None
    print('\n'.join([f'{path.status.name}: {path.message}', *path.not_checked]))
    print(f'fraction {path.fraction:.4g}, {counted(len(path.q), "configuration")}, '
          f'{path.seconds * 1e3:.0f} ms solving')
    if motion is not None:
        print(f'duration {motion.duration:.3f} s')
        if args.output:
            _write(motion, args.output)
    elif args.output:
        warn(f"'{args.output}' is not written: there is no motion")
    if args.view:
        _show(path, tip, q, scene, args)
    return Exit.NO_SOLUTION if motion is None else Exit.SUCCESS


def _show(path: 'Path', tip: str, q: 'Array', scene: 'Scene', args: argparse.Namespace) -> None:
    from ros2_ik.view.arm import Arm
    from ros2_ik.view.page import PathOnPage
    from ros2_ik.view.session import Session
    arm = Arm(scene.robot, path.q[0] if len(path.q) else q, scene, read_problem_file)
    # the page has no gizmo at an added frame: use the link to which the tip is fixed
    link, added = tip, path.problem.robot.added_frames
    while link in added:
        link = added[link][0] or scene.robot.root_frame
    serve(Session(arm, [link], read_problem_file, solving_command(args)), args.port,
          add=lambda page: PathOnPage(page, path, tip))


def read_path(content: Any) -> 'ToolPath':
    """Return the tool path of the field `path`; raises CommandError or InvalidTargetError."""
    from ros2_ik.core import Arc, Line, Screw, Spline, Waypoints
    kinds: dict[str, Callable[..., ToolPath]] = {
        'line': Line, 'arc': Arc, 'screw': Screw, 'spline': Spline, 'poses': Waypoints}
    kind, *others = content if isinstance(content, dict) and content else [None]
    if others or kind not in kinds:
        raise CommandError(f'path must be one of {", ".join(kinds)}, not {content!r}')
    given, make = content[kind], kinds[kind]
    if kind not in POSES:
        return make(_read_poses(given, kind))
    if not isinstance(given, dict) or not set(POSES[kind]) <= given.keys():
        raise CommandError(f'{kind} must have {" and ".join(POSES[kind])}')
    poses = _read_poses([given[name] for name in POSES[kind]], kind)
    # a missing or unknown field raises TypeError: drop the function's name from the error's text
    try:
        return make(**{**given, **dict(zip(POSES[kind], poses, strict=True))})
    except TypeError as error:
        raise CommandError(f'{kind}: {str(error).partition(" ")[2]}') from None


def _read_poses(content: object, kind: str) -> 'list[Array]':
    from ros2_ik.cli.goal_file import goal_of
    from ros2_ik.messages.poses import read_pose
    try:
        return [read_pose(target.pose, f'pose {i}') for i, target in enumerate(
            goal_of({'targets': content}).targets)]
    except CommandError as error:
        raise CommandError(f'{kind}: {str(error).replace("targets", "poses")}') from None


def _limits(robot: 'Robot', path: 'Path', given: object) -> 'MotionLimits':
    import numpy as np

    from ros2_ik.core import IKError, MotionLimits
    joints = [robot.joint(name) for name in path.problem.joint_names]
    own = np.array([joint.velocity_limit for joint in joints])
    defaults = {'velocity': own, 'acceleration': ACCELERATION, 'jerk': JERK}
    if not isinstance(given, dict) or not given.keys() <= defaults.keys():
        raise CommandError(f'limits are {{velocity: ..., acceleration: ..., jerk: ...}}, not '
                           f'{given!r}')
    if 'velocity' not in given and np.isinf(own).any():
        raise CommandError(f"joint '{joints[int(own.argmax())].name}' has no velocity limit in "
                           'the URDF: the file needs limits: {velocity: ...}')
    for name, value in given.items():
        if isinstance(value, list) and len(value) != len(joints):
            raise IKError(f'limits: {name} has {len(value)} numbers; valid: one for all joints, '
                          f'or one for each of {len(joints)}')
    limits = MotionLimits(*(np.repeat(value, len(joints)) if np.isscalar(value) else value
                            for value in {**defaults, **given}.values()))
    return replace(limits, velocity=np.minimum(limits.velocity, own))


def _write(motion: 'Motion', file: str) -> None:
    import numpy as np
    rows = [(time, *motion.at(time).position) for time in (0.0, *motion.times(ROW_PERIOD))]
    np.savetxt(file, rows, '%.9g', ',', header=','.join(('time', *motion.joints)), comments='')
