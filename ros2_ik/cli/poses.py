"""Poses on the command line: --tip opens a target, the pose options near it fill it in."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
import math
from typing import Any, TYPE_CHECKING

from ros2_ik.cli.arguments import FULL_TURN, in_radians
from ros2_ik.cli.question import BadQuestion

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass
class TargetOptions:
    """The options of one target as they were typed; None where not given."""

    tip: str | None = None
    xyz: list[float] | None = None
    rpy: list[float] | None = None
    quat: list[float] | None = None
    relative_to: str | None = None
    weights: list[float] | None = None


class TargetOption(argparse.Action):
    """Puts an option into the target that is open; a second --tip opens the next one."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace,
                 values: Any, option_string: str | None = None) -> None:
        targets = namespace.targets
        if not targets or (self.dest == 'tip' and targets[-1].tip is not None):
            targets = [*targets, TargetOptions()]   # a new list: the default one is shared
            namespace.targets = targets
        if getattr(targets[-1], self.dest) is not None:
            parser.error(f'{option_string} is given twice for one target; '
                         'several targets need a --tip each')
        setattr(targets[-1], self.dest, values)


def add_target_arguments(parser: argparse.ArgumentParser, frame_help: str) -> None:
    """Add --tip, the pose, its frame and weights; repeatable, each --tip opens a target."""
    parser.set_defaults(targets=[])
    group = parser.add_argument_group('targets', 'each further --tip opens another target')
    rows: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ('--tip', 'tip', {'metavar': 'T', 'help': 'frame that should go there'}),
        ('--xyz', 'xyz', {'nargs': 3, 'type': float, 'metavar': ('X', 'Y', 'Z'),
                          'help': 'position [m]; without it the orientation alone counts'}),
        ('--rpy', 'rpy', {'nargs': 3, 'type': float, 'metavar': ('R', 'P', 'Y'),
                          'help': 'turns [rad, or with --deg degrees] about the fixed axes x, '
                                  'y, z, as in a URDF'}),
        ('--quat', 'quat', {'nargs': 4, 'type': float, 'metavar': ('X', 'Y', 'Z', 'W'),
                            'help': 'instead of --rpy; without both the position alone counts'}),
        ('--relative-to', 'relative_to', {'metavar': 'FRAME', 'help': frame_help}),
        ('--weights', 'weights', {'nargs': 6, 'type': float, 'metavar': 'W',
                                  'help': "x y z rx ry rz along the target's own axes; "
                                          '0 frees an axis'}))
    for option, dest, options in rows:
        group.add_argument(option, dest=dest, action=TargetOption, default=argparse.SUPPRESS,
                           **options)


def target_fields(targets: Sequence[TargetOptions], degrees: bool) -> dict[str, Any]:
    """Return tips, targets and weights of a goal; raises BadQuestion, which names the target."""
    fields: dict[str, Any] = {'tips': [target.tip for target in targets if target.tip],
                              'targets': [], 'weights': []}
    for i, target in enumerate(targets, 1):
        try:
            pose, rows = _pose(target, degrees), _weights(target)
        except BadQuestion as error:
            place = f"target {i} of {len(targets)}, '{target.tip}': " if len(targets) > 1 else ''
            raise BadQuestion(f'{place}{error}') from None
        fields['targets'].append({'header': {'frame_id': target.relative_to or ''}, 'pose': pose})
        fields['weights'] += rows
    return fields


def with_tool(fields: dict[str, Any], tool: list[float], degrees: bool) -> dict[str, Any]:
    """Return fields of a goal whose only tip has a tool; raises BadQuestion."""
    if len(fields['targets']) != 1:
        raise BadQuestion(f'--tool with {len(fields["targets"])} targets; valid: with one')
    header = {'frame_id': ''.join(fields['tips'])}
    return {**fields, 'tips': ['tool'] * len(fields['tips']), 'tool': {
        'header': header, 'pose': _pose(TargetOptions(xyz=tool[:3], rpy=tool[3:]), degrees)}}


def _pose(target: TargetOptions, degrees: bool) -> dict[str, Any]:
    """Return the fields of a Pose, the identity for parts that were not given."""
    if target.rpy is not None and target.quat is not None:
        raise BadQuestion('--rpy and --quat are both given for one target')
    if target.xyz is None and target.rpy is None and target.quat is None:
        raise BadQuestion('a target needs --xyz, --rpy or --quat')
    pose = {}
    if target.xyz is not None:
        pose['position'] = dict(zip('xyz', target.xyz, strict=True))
    quaternion = target.quat
    if target.rpy is not None:
        import numpy as np
        import pinocchio as pin
        most = math.inf if degrees else FULL_TURN    # 720 degrees are no mistaken radians
        rpy = [in_radians('--rpy', angle, degrees, most, 'a full turn') for angle in target.rpy]
        quaternion = pin.Quaternion(pin.rpy.rpyToMatrix(np.array(rpy))).coeffs().tolist()
    if quaternion is not None:
        pose['orientation'] = dict(zip('xyzw', quaternion, strict=True))
    return pose


def _weights(target: TargetOptions) -> list[float]:
    """Return the six weights, zero for parts of the pose not given; raises BadQuestion."""
    turned = target.rpy is not None or target.quat is not None
    parts = []
    for given, rows, kind, options in ((target.xyz is not None, slice(3), 'positions', '--xyz'),
                                       (turned, slice(3, 6), 'rotations', '--rpy or --quat')):
        asked = (target.weights or [float(given)] * 6)[rows]
        if any(asked) and not given:
            raise BadQuestion(f'--weights: those of {kind}, {" ".join(f"{w:g}" for w in asked)}, '
                              f'need {options}; without it they must be 0')
        parts += asked
    return parts


def notes(targets: Sequence[TargetOptions]) -> list[str]:
    """Return a note for each target of which only a part of the pose counts."""
    found = []
    for target in targets:
        name = target.tip or 'the default tip'   # only a single target has none
        if target.xyz is None:
            found.append(f'{name}: orientation only (no --xyz given)')
        elif target.rpy is None and target.quat is None:
            found.append(f'{name}: position only (no --rpy or --quat given)')
    return found


def components(T: 'NDArray[Any]') -> dict[str, list[float]]:
    """Return a pose (4, 4) as xyz [m], rpy [rad] and quat (x y z w)."""
    import numpy as np
    import pinocchio as pin
    R = np.array(T[:3, :3])
    return {'xyz': [float(x) for x in T[:3, 3]],
            'rpy': [float(x) for x in pin.rpy.matrixToRpy(R)],
            'quat': [float(x) for x in pin.Quaternion(R).coeffs()]}
