"""`ros2_ik picture`: draw a robot at given joint values, or at solutions, in a PNG file."""

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING

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
    with_options,
)
from ros2_ik.cli.solve import add_search_arguments, goal_fields
from ros2_ik.cli.values import add_target_arguments, HELP, read_start, START
from ros2_ik.cli.view import read_problem_file

if TYPE_CHECKING:
    from ros2_ik.core import Array, Scene
    from ros2_ik.view.picture import Panel

EXAMPLE = """examples:
  ros2_ik picture ur5 --joints elbow_joint=90 --deg --scene table --from 30 20 -o ur5.png
  ros2_ik picture panda --xyz 0.45 0.1 0.3 --rpy 180 0 0 --deg --solutions 4 -o answers.png"""


def add_parser(commands: Commands) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        'picture', help='write a picture of a robot, its scene and solutions', epilog=EXAMPLE,
        description='Draw a robot at joint values into a PNG file. With a target, draw up to '
                    '--solutions solutions, side by side. Needs pillow.')
    add_robot_arguments(parser)
    add_target_arguments(parser)
    parser.add_argument('--joints', nargs='+', metavar='J', default=[],
                        help=f'joint values to draw, or start of the search: {HELP}; {START}')
    add_search_arguments(parser)
    parser.add_argument('--from', dest='direction', nargs=2, type=in_range(float, -360, 360),
                        metavar=('AZ', 'EL'), help='viewpoint [deg]: azimuth from +x towards '
                        '+y, and elevation')
    parser.add_argument('--size', nargs=2, type=in_range(int, 100, 8000),
                        metavar=('W', 'H'), help='size of the picture in pixels (default: 900 '
                        '675; for several solutions 450 500 each, four in a row)')
    parser.add_argument('-o', '--output', metavar='FILE', type=Path, required=True,
                        help='file to write, with the ending .png')
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Exit:
    """Solve if there is a target; draw the picture; returns the exit code."""
    from ros2_ik.view.arm import checker_of
    from ros2_ik.view.picture import COLUMNS, Panel, write_picture
    from ros2_ik.view.surfaces import RobotModel
    path = args.output
    if path.suffix.lower() != '.png' or path.is_dir():
        raise CommandError(f"--output '{path}': only PNG files are written; valid: NAME.png")
    if not path.parent.is_dir():
        raise CommandError(f"--output '{path}': the folder '{path.parent}' does not exist")
    to_camera = _camera_direction(*args.direction) if args.direction else None
    robot, shipped = load_robot(args)
    start = read_start(args.joints, robot, shipped, args.deg, '--joints')
    scene, q = load_scene_of(args, robot, start), robot.to_q(start)
    panels, exit = _answers(args, scene, q) if args.tip or args.xyz or args.rpy or args.quat else (
        [Panel(q, contacts=checker_of(scene).in_collision(q))], Exit.SUCCESS)
    model = RobotModel(robot)
    for note in model.notes:
        warn(note)
    count = len(panels)
    rows, columns = math.ceil(count / COLUMNS), min(count, COLUMNS)
    width, height = args.size or ((900, 675) if count == 1 else (450 * columns, 500 * rows))
    write_picture(path, model, scene, panels, (width, height), to_camera)
    for panel in panels:
        for line, _ in panel.text():
            print(line)
    if 1 < args.solutions != count and exit is Exit.SUCCESS:
        print(f'{count} of {args.solutions} solutions found')
    print(f'wrote {path}: {width} x {height} pixels')
    return exit


def _camera_direction(azimuth: float, elevation: float) -> 'Array':
    """Return the unit vector (3,) from the robot to the camera; angles are in degrees."""
    import numpy as np
    # at an elevation of exactly 90 degrees, the picture would have no upward direction
    azimuth, elevation = np.radians([azimuth, np.clip(elevation, -89.9, 89.9)])
    return np.array([math.cos(elevation) * math.cos(azimuth),
                     math.cos(elevation) * math.sin(azimuth), math.sin(elevation)])


def _answers(args: argparse.Namespace, scene: 'Scene',
             q: 'Array') -> 'tuple[list[Panel], Exit]':
    """Search for solutions, starting at q (nq,); return a panel per answer, and the exit code."""
    from ros2_ik.core import Configuration, IKError
    from ros2_ik.view.arm import Arm
    from ros2_ik.view.picture import BLACK, Panel
    from ros2_ik.view.status import largest_change
    problem = {**goal_fields(args), 'follow_frames': True}
    # reject missing geometry here: the viewer's checker would only report it as not checked
    if not args.allow_collisions:
        make_checker(scene.robot, scene)
    try:
        best = Arm(scene.robot, q, scene, read_problem_file).solve(problem, q)
        request, _ = read_problem_file(problem, scene, q)
    except IKError as error:
        raise CommandError(f'{error.status.name}: {error}') from None
    robot, panels = scene.robot.with_frames(request.frames), []
    for number, answer in enumerate((best, *best.more), 1):
        color = None if answer.accepted else answer.quality.value
        at = Configuration(robot, answer.q)
        line = (f'solution {number}: {largest_change(scene.robot, q, answer.q)}'
                if answer.accepted else with_options(answer.message, args))
        panels.append(Panel(answer.q, line, color or BLACK, color, answer.contacts, [
            at.transform(target.relative_to or robot.root_frame) @ target.transform
            for target in request.targets]))
    return panels, Exit.SUCCESS if best.accepted else Exit.NO_SOLUTION
