"""--scene on the command line: the name of a shipped scene, or a YAML file."""

import argparse
import sys
from typing import Any, TYPE_CHECKING

if TYPE_CHECKING:
    from ros2_ik.core import CollisionChecker, Robot, Scene


def add_scene_argument(parser: argparse.ArgumentParser, text: str) -> None:
    """Add --scene."""
    parser.add_argument('--scene', metavar='NAME|PATH', help=text)


def add_meshes_argument(parser: argparse.ArgumentParser) -> None:
    """Add --meshes."""
    parser.add_argument('--meshes', choices=('exact', 'hull', 'pieces'),
                        help="what collisions and distances take for the robot's meshes: the "
                        'triangles (exact, default), one convex hull each, or convex pieces')


def load_scene_of(args: argparse.Namespace, robot: 'Robot', seed: Any) -> 'Scene | None':
    """Return the scene for a robot that stands at `seed`, None without --scene."""
    from ros2_ik.core import Configuration, load_scene
    if args.scene is None:
        return None
    return load_scene(args.scene, robot, Configuration(robot, seed))


def make_checker(robot: 'Robot', scene: 'Scene', meshes: str | None) -> 'CollisionChecker':
    """Make the checker of a scene, and say what is wrong with the robot's geometry."""
    from ros2_ik.core import collision_checker
    checker = collision_checker(robot, scene, meshes or 'exact')
    for warning in checker.geometry.warnings:
        print(f'ros2_ik: {warning}', file=sys.stderr)
    return checker
