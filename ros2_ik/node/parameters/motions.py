"""Parameters whose names depend on others: of each controller, and limits of joints."""

from collections.abc import Iterable, Iterator, Sequence
import re

from ros2_ik.node.controllers.controller import controller_kinds
from ros2_ik.node.parameters.spec import ParameterError, Spec

_LIMITS = {'velocity': 'rad/s or m/s', 'acceleration': 'rad/s^2 or m/s^2',
           'jerk': 'rad/s^3 or m/s^3'}
_LIMIT = re.compile(r'joint_limits\.(.+)\.(max_(\w+)|has_(\w+)_limits)')   # MoveIt's names

LIMITS = tuple(f'joint_limits.<joint>.{name}' for kind in _LIMITS
               for name in (f'max_{kind}', f'has_{kind}_limits'))


def controller_specs(names: Sequence[str]) -> Iterator[Spec]:
    """Yield the parameters of the controllers called so; raises ParameterError for bad names."""
    for name in names:
        if not re.fullmatch('[A-Za-z][A-Za-z0-9_]*', name) or names.count(name) > 1:
            why = 'twice' if names.count(name) > 1 else 'which is no name'
            raise ParameterError(f"controllers has '{name}' {why}; valid: names such as "
                                 'arm_controller, each once')
        yield Spec(f'{name}.kind', 'joint_trajectory', f"What controller '{name}' listens to.",
                   choices=controller_kinds, read_only=True)
        yield Spec(f'{name}.group', '', f"Group that controller '{name}' moves. Empty: all "
                   'joints.', read_only=True)
        yield Spec(f'{name}.topic', '', f"Topic, or action, of controller '{name}', in the "
                   "node's namespace unless it begins with /. Empty: the usual one of its kind.",
                   read_only=True)


def joint_limit_specs(given: Iterable[str]) -> Iterator[Spec]:
    """Yield the parameters joint_limits.<joint>.* among the names that were given."""
    for name in given:
        found = _LIMIT.fullmatch(name)
        joint, _, most, has = found.groups() if found else ('', '', '', '')
        if most in _LIMITS:
            yield Spec(name, 1.0, f"Largest {most} of joint '{joint}' in motions; the URDF's "
                       'velocity is not exceeded.', _LIMITS[most], 1e-6, 1e9)
        elif has in _LIMITS:
            yield Spec(name, True, f'Whether joint_limits.{joint}.max_{has} counts.')


def limited_joints(names: Iterable[str]) -> set[str]:
    """Return the joints whose limits are among parameters called `names`."""
    return {found.group(1) for name in names if (found := _LIMIT.fullmatch(name))}
