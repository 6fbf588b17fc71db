"""Goals of the action solve_constrained_ik, read from YAML and converted to messages."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from reprlib import repr as brief
from types import SimpleNamespace
from typing import Any

from ros2_ik.cli.arguments import CommandError
from ros2_ik.cli.values import target_fields
from ros2_ik.core.errors import InvalidConstraintError, nearest
from ros2_ik.core.internals import field_value, read_yaml

# Fields of the messages and their defaults, for reading goals without ROS. Lists are empty by
# default; the one item written here shows the type. ROBOT_STATE lacks attached_collision_objects
# (attached objects belong to the scene) and fields that are never read (is_diff, twist, wrench).
HEADER = {'stamp': {'sec': 0, 'nanosec': 0}, 'frame_id': ''}
POINT = {'x': 0.0, 'y': 0.0, 'z': 0.0}
QUATERNION = {**POINT, 'w': 1.0}
ROBOT_STATE = {
    'joint_state': {'header': HEADER, 'name': [''], 'position': [0.0], 'velocity': [0.0],
                    'effort': [0.0]},
    'multi_dof_joint_state': {'header': HEADER, 'joint_names': [''],
                              'transforms': [{'translation': POINT, 'rotation': QUATERNION}]}}
BOUNDS = {'name': '', 'target': [0.0], 'lower': [0.0], 'upper': [0.0], 'soft': False,
          'tolerance': 0.0, 'weight': [0.0]}
FUNCTION = {'kind': '', 'frame': '', 'relative_to': '',
            'parameters': [{'name': '', 'numbers': [0.0], 'names': [''], 'columns': 0}],
            'bounds': BOUNDS}
GOAL = {
    'group': '', 'moving_joints': [''], 'locked_joints': [''], 'tips': [''],
    'tool': {'header': HEADER, 'pose': {'position': POINT, 'orientation': QUATERNION}},
    'targets': [{'header': HEADER, 'pose': {'position': POINT, 'orientation': QUATERNION}}],
    'follow_frames': False, 'constraints': [FUNCTION], 'costs': [FUNCTION], 'seed': ROBOT_STATE,
    'more_seeds': [ROBOT_STATE], 'weights': [0.0], 'position_tolerance': 0.0,
    'orientation_tolerance': 0.0, 'timeout': {'sec': 0, 'nanosec': 0}, 'max_iterations': 0,
    'approximate': [0.0], 'allow_restarts': True, 'avoid_collisions': True,
    'allowed_collisions': {'entry_names': [''], 'entry_values': [{'enabled': [False]}],
                           'default_entry_names': [''], 'default_entry_values': [False]},
    'solver': '', 'random_state': 0, 'select': '', 'solutions': 1, 'max_joint_change': 0.0,
    'joint_change_names': [''], 'joint_changes': [0.0], 'execute': False, 'straight': False,
    'tip_speed': 0.0}
# a target written with the command's options instead of message fields
TARGET = {'tip': '', 'xyz': [0.0], 'rpy': [0.0], 'quat': [0.0], 'relative_to': '',
          'weights': [0.0]}
SIZES = {'xyz': 3, 'rpy': 3, 'quat': 4, 'weights': 6}       # lengths of TARGET's lists
UNSIGNED = ('nanosec', 'columns', 'max_iterations', 'solutions')
LARGEST_INTEGER = 2**31 - 1


def read_content(path: str) -> Any:
    """Return the content of a YAML file; raises CommandError or OSError."""
    try:
        content = read_yaml(Path(path).read_text('utf-8'))
    except ValueError as error:
        raise CommandError(f"'{path}' is not YAML: {error}") from None
    return {} if content is None else content


def goal_of(content: object) -> SimpleNamespace:
    """Convert a file's content to an object with all fields of the goal; raises CommandError."""
    return _read_fields(GOAL, _with_poses(content), '')


def fill(message: Any, values: SimpleNamespace) -> Any:
    """Write `values` into the fields of a message, goal or request; returns the message."""
    for name, value in vars(values).items():
        if isinstance(value, SimpleNamespace):
            fill(getattr(message, name), value)
            continue
        # lists of messages: make items of the type that the message class declares
        if isinstance(value, list) and value and isinstance(value[0], SimpleNamespace):
            index = [*message.get_fields_and_field_types()].index(name)
            kind = message.SLOT_TYPES[index].value_type
            make = getattr(import_module('.'.join(kind.namespaces)), kind.name)
            value = [fill(make(), item) for item in value]
        setattr(message, name, value)
    return message


def _read(default: object, content: object, place: str) -> object:
    """Check that content has the type of `default`; return content with missing fields added."""
    if isinstance(default, dict):
        return _read_fields(default, content, place)
    if isinstance(default, list):
        if not isinstance(content, list):
            raise CommandError(f'{place} must be a list, not {brief(content)}')
        return [_read(default[0], item, f'{place}[{i}]') for i, item in enumerate(content)]
    if isinstance(default, float) and (number := _number(content)) is not None:
        return number
    # compare exact types, because a bool is an int in Python
    if type(content) is not type(default):
        raise CommandError(f'{place} must be {_form(default)}, not {brief(content)}')
    if type(content) is int:
        least = 0 if place.rpartition('.')[2] in UNSIGNED else -LARGEST_INTEGER
        if not least <= content <= LARGEST_INTEGER:
            raise CommandError(f'{place} is {content}; valid: {least} to {LARGEST_INTEGER}')
    return content


def _read_fields(defaults: Mapping[str, object], content: object, place: str) -> SimpleNamespace:
    if not isinstance(content, Mapping):
        raise CommandError(f'{place or "the file"} must be {_form(defaults)}, not '
                           f'{brief(content)}')
    if defaults is FUNCTION:
        content = _with_parameters(content, place)
    for name in content:
        if name not in defaults:
            hint = nearest(name, defaults) or f'valid: {", ".join(defaults)}'
            raise CommandError(f"{place or 'the goal'} has no field {brief(name)}; {hint}")
    return SimpleNamespace(**{
        name: _read(default, content.get(name, [] if isinstance(default, list) else
                                         {} if isinstance(default, dict) else default),
                    f'{place}.{name}'.lstrip('.'))
        for name, default in defaults.items()})


def _with_poses(content: Any) -> object:
    """Convert targets that are written as options (see TARGET) to message fields."""
    targets = content.get('targets') if isinstance(content, Mapping) else None
    if not isinstance(targets, list) or not any(
            isinstance(target, Mapping) and target.keys() & TARGET.keys() for target in targets):
        return content
    options = []
    for i, target in enumerate(targets):
        options.append(vars(_read_fields(TARGET, target, f'targets[{i}]')))
        for name, size in SIZES.items():
            if len(options[i][name]) not in (0, size):
                raise CommandError(f'targets[{i}].{name} must have {size} numbers, not '
                                   f'{len(options[i][name])}')
    # error texts contain option names such as --rpy: replace these by field names
    try:
        return {**content, **target_fields(options, degrees=False)}
    except CommandError as error:
        text = str(error).replace('; for degrees add --deg', '; angles are radians')
        raise CommandError(f'targets: {text.replace("--", "")}') from None


def _with_parameters(content: Mapping[str, object], place: str) -> Mapping[str, object]:
    """
    Convert a function from a file to the fields of the message.

    Fields not in FUNCTION become `parameters`. In `bounds`, a list may be given as one number.
    """
    if isinstance(bounds := content.get('bounds'), Mapping):
        content = {**content, 'bounds': {
            name: value if not isinstance(BOUNDS.get(name), list) or _number(value) is None
            else [_number(value)] for name, value in bounds.items()}}
    parameters = content.get('parameters', [])
    if not isinstance(parameters, list):
        return content
    for name in [name for name in content if name not in FUNCTION]:
        try:
            value = field_value(content[name])._asdict()
        except InvalidConstraintError as error:
            raise CommandError(f'{place}.{name}: {error}') from None
        parameters = [*parameters, {
            'name': str(name), **{part: given for part, given in value.items() if given}}]
    return {**{name: content[name] for name in FUNCTION if name in content},
            'parameters': parameters}


def _number(content: object) -> float | None:
    """Return content as a float, None if it is not a number."""
    # YAML reads some numbers, such as inf without a leading dot, as strings
    if isinstance(content, bool) or not isinstance(content, (int, float, str)):
        return None
    try:
        return float(content)
    except (ValueError, OverflowError):
        return None


def _form(default: object) -> str:
    if isinstance(default, Mapping):
        return '{' + ', '.join(f'{name}: ...' for name in default) + '}'
    return {str: 'a text', bool: 'true or false', float: 'a number', int: 'a whole number'}[
        type(default)]
