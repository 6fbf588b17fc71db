"""`ros2_ik robots`: what robots there are, and what a robot has."""

import argparse
import textwrap
from typing import Any, TYPE_CHECKING

from ros2_ik.cli.answer import add_json_argument, bound, table, to_json
from ros2_ik.cli.arguments import add_robot_arguments, load_robot
from ros2_ik.cli.question import Exit

if TYPE_CHECKING:
    from ros2_ik.core import Robot, ShippedRobot

EXAMPLE = """examples:
  ros2_ik robots
  ros2_ik robots panda
  ros2_ik robots my_arm.urdf --srdf my_arm.srdf --json"""


def add_parser(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        'robots', help='shipped robots; joints, groups and frames of a robot', epilog=EXAMPLE,
        description='List the shipped robots, or the joints, groups and frames of one robot.')
    add_robot_arguments(parser, nargs='?')
    add_json_argument(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Exit:
    """Print; returns the exit code."""
    if args.robot is None:
        _list(args.json)
        return Exit.ANSWERED
    robot, shipped = load_robot(args)
    content = describe(robot, shipped)
    print(to_json(content) if args.json else _text(robot, content))
    return Exit.ANSWERED


def _list(as_json: bool) -> None:
    from ros2_ik.core import shipped_robots
    robots = shipped_robots().values()
    if as_json:
        print(to_json({r.name: {'description': r.description, 'group': r.group, 'tip': r.tip}
                       for r in robots}))
        return
    print(table(('name', 'tip', 'group', 'description'),
                [(r.name, r.tip or '', r.group or '', r.description) for r in robots]))


def describe(robot: 'Robot', shipped: 'ShippedRobot | None') -> dict[str, Any]:
    """Return all of a robot that a question could name."""
    return {
        'name': robot.name, 'description': shipped.description if shipped else '',
        'root_frame': robot.root_frame,
        'joints': [{'name': j.name, 'kind': j.kind, 'lower': j.lower, 'upper': j.upper,
                    'velocity_limit': j.velocity_limit} for j in robot.joints],
        'mimics': {name: {'leader': m.leader, 'multiplier': m.multiplier, 'offset': m.offset}
                   for name, m in robot.mimics.items()},
        'groups': {g.name: {'joints': g.joint_names, 'tips': g.tips, 'base': g.base,
                            'states': sorted(robot.group_states.get(g.name, {}))}
                   for g in robot.groups.values()},
        'home': shipped.home if shipped else {}, 'frames': robot.frame_names}


def _text(robot: 'Robot', content: dict[str, Any]) -> str:
    joints = table(('joint', 'kind', 'lower', 'upper', 'velocity limit'),
                   [(j['name'], j['kind'], bound(j['lower']), bound(j['upper']),
                     bound(j['velocity_limit'])) for j in content['joints']])
    followers = [f'{name} = {m["multiplier"]:g} * {m["leader"]} + {m["offset"]:g}'
                 for name, m in content['mimics'].items()]
    groups = table(('group', 'joints', 'base', 'tips', 'states'),
                   [(name, str(len(g['joints'])), g['base'], ' '.join(g['tips']),
                     ' '.join(g['states'])) for name, g in content['groups'].items()])
    title = f'{robot.name}: {content["description"]}'.rstrip(': ')
    frames = f'{len(robot.frame_names)} frames: {" ".join(robot.frame_names)}'
    parts = [f'{title}; root frame {robot.root_frame}', joints, '\n'.join(followers), groups,
             textwrap.fill(frames, 99, break_on_hyphens=False, break_long_words=False)]
    return '\n\n'.join(part for part in parts if part)
