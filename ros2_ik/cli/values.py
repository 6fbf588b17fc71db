"""Joint values from the command line; target poses from the command line or problem files."""

import argparse
from collections.abc import Mapping, Sequence
from typing import Any, TYPE_CHECKING

from ros2_ik.cli.arguments import CommandError, in_radians

if TYPE_CHECKING:
    from ros2_ik.core import Array, Robot, ShippedRobot

HELP = ('joint=value ... [rad, m], or the name of a state: home of a shipped robot, or a state in '
        'the SRDF')
START = ('default of each joint: its home value; otherwise zero or, if its limits exclude zero, '
         'the middle of its range')


def read_start(arguments: Sequence[str], robot: 'Robot', shipped: 'ShippedRobot | None',
               degrees: bool, option: str = '--seed') -> 'dict[str, float | Array]':
    """Return the values in `arguments` by joint name; home values, if any, for other joints."""
    home = shipped.home if shipped else None
    first = ['home'] if 'home' in _states(robot, home) else []
    return read_joint_values([*first, *arguments], robot, home, degrees, option)


def read_joint_values(arguments: Sequence[str], robot: 'Robot', home: Mapping[str, float] | None,
                      degrees: bool, option: str = '--seed') -> 'dict[str, float | Array]':
    """Return the values in `arguments` by joint name; later arguments have precedence."""
    values: dict[str, float | Array] = {}
    states = _states(robot, home)
    for argument in arguments:
        name, equals, text = argument.partition('=')
        if equals:
            values[name] = _value(name, text, robot, degrees)
        elif argument in states:
            values.update(states[argument])
        else:
            raise CommandError(
                f"{option}: '{argument}' is neither joint=value nor a state; joints: "
                f'{", ".join(robot.joint_names)}; states: {", ".join(sorted(states)) or "none"}')
    return values


def _value(name: str, text: str, robot: 'Robot', degrees: bool) -> float:
    if name in robot.mimics:
        leader = robot.mimics[name].leader
        raise CommandError(f"joint '{name}' follows '{leader}': give the value of '{leader}'")
    joint = robot.joint(name)
    try:
        value = float(text)
    except ValueError:
        raise CommandError(f"'{name}={text}': '{text}' is not a number") from None
    # accept any value [rad] within the limits: the range of a joint may exceed a full turn
    if not joint.rotary or not degrees and joint.lower <= value <= joint.upper:
        return value
    return in_radians(name, value, degrees)


def _states(robot: 'Robot', home: Mapping[str, float] | None) -> dict[str, dict[str, Any]]:
    """Return the joint values of each state, merged over all groups, with `home` as a state."""
    states: dict[str, dict[str, Any]] = {}
    for group in robot.group_states.values():
        for name, joints in group.items():
            states.setdefault(name, {}).update(joints)
    return states if home is None else {**states, 'home': dict(home)}


# -- target poses ------------------------------------------------------------------------------

def add_target_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --tip, --xyz, --rpy, --quat, --relative-to and --weights."""
    group = parser.add_argument_group('target', 'for several targets: ros2_ik constrained')
    group.add_argument('--tip', help='frame to bring to the target')
    group.add_argument('--xyz', nargs=3, type=float, metavar=('X', 'Y', 'Z'),
                       help='position [m]; without --xyz the target is an orientation only')
    group.add_argument('--rpy', nargs=3, type=float, metavar=('R', 'P', 'Y'),
                       help='rotations about the fixed axes x, y, z, as in a URDF [rad; with '
                            '--deg degrees]')
    group.add_argument('--quat', nargs=4, type=float, metavar=('X', 'Y', 'Z', 'W'),
                       help='quaternion instead of --rpy; without both the target is a position '
                            'only')
    group.add_argument('--relative-to', metavar='FRAME', help='frame of the pose (default: the '
                       "root frame); call uses the frame's current pose")
    group.add_argument('--weights', nargs=6, type=float, metavar='W',
                       help="x y z rx ry rz along the target's own axes; 0 frees an axis")


def target_fields(targets: Sequence[Mapping[str, Any]], degrees: bool) -> dict[str, Any]:
    """Convert targets (mappings of the options above) to fields of a goal; raises CommandError."""
    return {
        'tips': [target['tip'] for target in targets if target['tip']],
        'targets': [{'header': {'frame_id': target['relative_to'] or ''},
                     'pose': _pose(target, degrees)} for target in targets],
        'weights': [weight for target in targets for weight in _weights(target)]}


def _pose(target: Mapping[str, Any], degrees: bool) -> dict[str, dict[str, float]]:
    """Return the fields of a Pose message; parts that were not given are left out."""
    xyz, rpy, quaternion = target['xyz'], target['rpy'], target['quat']
    if rpy and quaternion:
        raise CommandError('--rpy and --quat are both given for one target')
    if not (xyz or rpy or quaternion):
        raise CommandError('a target needs --xyz, --rpy or --quat')
    pose = {}
    if xyz:
        pose['position'] = dict(zip('xyz', xyz, strict=True))
    if rpy:
        import numpy as np
        import pinocchio as pin
        angles = np.array([in_radians('--rpy', angle, degrees) for angle in rpy])
        quaternion = pin.Quaternion(pin.rpy.rpyToMatrix(angles)).coeffs().tolist()
    if quaternion:
        pose['orientation'] = dict(zip('xyzw', quaternion, strict=True))
    return pose


def _weights(target: Mapping[str, Any]) -> list[float]:
    """Return the six weights, 0 for parts of the pose that were not given; raises CommandError."""
    given = [bool(target['xyz'])] * 3 + [bool(target['rpy'] or target['quat'])] * 3
    weights: list[float] = target['weights'] or [float(part) for part in given]
    if any(weight and not part for weight, part in zip(weights, given, strict=True)):
        raise CommandError('--weights: position weights need --xyz, rotation weights --rpy or '
                           '--quat; without these options the weights must be 0')
    return weights


def components(T: 'Array') -> dict[str, list[float]]:
    """Convert a pose (4, 4) to xyz [m], rpy [rad] and quat (x y z w)."""
    import numpy as np
    import pinocchio as pin
    R = np.array(T[:3, :3])
    return {'xyz': [float(x) for x in T[:3, 3]],
            'rpy': [float(x) for x in pin.rpy.matrixToRpy(R)],
            'quat': [float(x) for x in pin.Quaternion(R).coeffs()]}
