"""The node's parameters: definitions, and checks of values at start-up and on changes."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
import math
import os
import re
from typing import Any, TYPE_CHECKING

from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from ros2_ik.core.errors import unknown_name
from ros2_ik.core.internals import Defaults

if TYPE_CHECKING:   # types of the attributes: each field of Defaults is a parameter
    _Defaults = Defaults
else:
    _Defaults = object

DEFAULTS = Defaults()
_TYPES = {bool: 'a truth value (true or false)', int: 'a whole number',
          float: 'a number, such as 0.5 or 1.0e-3', str: 'a text'}


class ParameterError(ValueError):
    """Invalid value of a parameter; the text states the reason."""


@dataclass(frozen=True)
class Spec:
    """
    Definition of a parameter; the type of its default is the type of the parameter.

    A list of numbers or booleans must be as long as the default. A list of names can have any
    length.
    """

    name: str
    default: Any
    description: str
    unit: str = ''
    lowest: float = -math.inf
    highest: float = math.inf
    choices: tuple[str, ...] = ()
    read_only: bool = False

    def parse(self, value: Any) -> Any:
        """Check a value and return it, an int as a float if needed; raises ParameterError."""
        if not isinstance(self.default, list):
            return self._checked(value, type(self.default))
        kind = type(self.default[0])
        # a string is iterable, but must not become a list of its characters
        if isinstance(value, str) or not hasattr(value, '__iter__') or (
                kind is not str and len(value) != len(self.default)):
            raise self._wrong(value)
        return [self._checked(each, kind) for each in value]

    def _checked(self, value: Any, kind: type) -> Any:
        if kind is float and type(value) is int:
            value = float(value)
        valid = type(value) is kind and (not self.choices or value in self.choices)
        if not valid or (kind in (int, float) and not self.lowest <= value <= self.highest):
            raise self._wrong(value)
        return value

    def _wrong(self, value: Any) -> ParameterError:
        return ParameterError(f'{self.name} is {value!r}; valid: {self._valid()}')

    def _valid(self) -> str:
        """Return the valid values in words."""
        if self.choices:
            return ', '.join(self.choices)
        if isinstance(self.default, list):
            many = 'any number' if isinstance(self.default[0], str) else len(self.default)
            return f'a list of {many} of: {_TYPES[type(self.default[0])]}'
        kind, unit = _TYPES[type(self.default)], f' {self.unit}' if self.unit else ''
        bounds = f', {self.lowest:g} to {self.highest:g}{unit}'
        return kind if math.isinf(self.lowest) else kind + bounds

    def descriptor(self) -> ParameterDescriptor:
        """Return the ROS descriptor, with dynamic typing so that `parse` can accept 1 for 1.0."""
        return ParameterDescriptor(
            name=self.name, read_only=self.read_only, dynamic_typing=True,
            description=self.description + (f' [{self.unit}]' if self.unit else ''),
            additional_constraints=self._valid())


PARAMETERS = (
    Spec('robot_description', '',
         'URDF of the robot. The topic robot_description is read as well; the newer URDF counts.',
         read_only=True),
    Spec('robot_description_semantic', '',
         'SRDF of the robot. The topic robot_description_semantic is read as well.',
         read_only=True),
    Spec('root_joint', 'fixed', 'Joint between the world and the root link. Requests must have '
         'the pose of a planar or freeflyer base; the node does not move such robots.',
         choices=('fixed', 'planar', 'freeflyer'), read_only=True),
    Spec('tf_timeout', 0.5, 'Maximum age of a TF transform in requests and for scene objects; '
         'older transforms are refused. Transforms of /tf_static have no age. 0: no maximum.',
         's', 0, 1e6),
    Spec('joint_state_timeout', 1.0,
         'Maximum age of a joint value that a request needs; older values are refused, or, where '
         'they only start the search or affect collisions, noted in the answer. 0: no maximum.',
         's', 0, 1e6),
    Spec('joint_state_speed', 1.5,
         'Two readings of a joint contradict each other, and block motions, if the joint would '
         'have to be faster than this multiple of its velocity limit; 0: no check.', '', 0, 1e6),
    Spec('scene', '',
         'Scene file (YAML), or name of a shipped scene, that the node starts with.',
         read_only=True),
    Spec('meshes', 'exact',
         'Collision geometry of the meshes of the robot and of messages. exact: triangles with '
         'their interior, and convex parts for distances. hull: the convex hull, without holes.',
         choices=('exact', 'hull'), read_only=True),
    Spec('missing_meshes', 'refuse',
         'Reaction to a collision element of the robot that cannot be read, or whose mesh is not '
         'found. refuse: refuse requests that avoid collisions. skip: leave the element out, and '
         'name its link in answers.',
         choices=('refuse', 'skip'), read_only=True),
    Spec('default_group', '',
         'Group of requests without a group, if this group moves all tips, and all frames and '
         'links of constraints and costs, and has all joints that these name. Empty: the group of '
         'the shipped robot of this name. Otherwise, the joints that move the tips, frames and '
         'links may move.'),
    Spec('default_tip', '',
         'Tip of requests without a tip. Empty: the tip of the shipped robot of this name, else '
         'the only tip of the group. A request with another group uses the only tip of that '
         'group.'),
    Spec('default_timeout', DEFAULTS.default_timeout,
         'Timeout of a search if the request has none.', 's', 1e-4, 3600),
    Spec('max_timeout', 10.0, 'Maximum timeout of a search; longer timeouts are refused.', 's',
         1e-4, 3600),
    Spec('position_tolerance', DEFAULTS.position_tolerance,
         'Position tolerance if the request has none.', 'm', 1e-12, 10),
    Spec('orientation_tolerance', DEFAULTS.orientation_tolerance,
         'Orientation tolerance if the request has none.', 'rad', 1e-12, 4),
    Spec('max_solutions', 64, 'Maximum number of solutions of a request; more are refused.', '',
         1, 10_000),
    Spec('moveit_names', False,
         "Offer services and a topic under MoveIt's names and with its types (docs/moveit.md), "
         'unless a move_group offers them.', read_only=True),
    Spec('workers', max(1, (os.cpu_count() or 2) - 1), 'Number of worker processes for long '
         'searches, which share their computing time.', '', 1, 256, read_only=True),
    Spec('controllers', [''],
         'Names of the controllers that may move the robot; each has parameters <name>.kind, '
         '<name>.group and <name>.topic. Empty: the node moves nothing.', read_only=True),
    Spec('velocity_scaling', 0.1, 'Scaling of the velocity limits in motions, if the request has '
         'none.', '', 1e-3, 1),
    Spec('acceleration_scaling', 0.1, 'Scaling of the acceleration and jerk limits in motions.',
         '', 1e-3, 1),
    Spec('default_max_velocity', 1.0, 'Velocity limit of a joint without one in the URDF and in '
         'joint_limits.', 'rad/s or m/s', 1e-6, 1e6),
    Spec('default_max_acceleration', 3.0, 'Acceleration limit of a joint without one in '
         'joint_limits.', 'rad/s^2 or m/s^2', 1e-6, 1e6),
    Spec('default_max_jerk', 60.0, 'Jerk limit of a joint without one in joint_limits.',
         'rad/s^3 or m/s^3', 1e-6, 1e9),
    Spec('execute_state_timeout', 0.5, 'Maximum age, before and during a motion, of joint_states '
         'of all joints of the controllers.', 's', 0.01, 60),
    Spec('path_resolution', 0.01, 'Maximum displacement of a joint between two collision checks '
         'along the path of a motion.', 'rad or m', 1e-4, 0.1),
    Spec('start_tolerance', 0.01, 'Maximum distance between the measured joints and the planned '
         'start when a motion is sent.', 'rad or m', 1e-6, 10),
    Spec('goal_tolerance', 1e-3, 'The robot has arrived if each moved joint is within this '
         'distance of its goal.', 'rad or m', 1e-6, 10),
    Spec('arrival_timeout', 2.0, 'Maximum time from the planned end of a motion to the arrival '
         'of the robot.', 's', 0.05, 600),
    Spec('max_tracking_error', 0.2, 'Maximum distance of a moved joint from its nearest command '
         'between 0.3 s ago and 0.06 s ahead; beyond that, the motion is stopped. 0: no maximum.',
         'rad or m', 0, 1e6),
    Spec('max_jump', 1.0, 'With execute, maximum displacement of a joint to the solution, unless '
         'the request sets max_joint_change; 0: no maximum. Does not apply to ~/execute.',
         'rad or m', 0, 1e6),
    Spec('servo_rate', 250.0, 'Steps per second of the servo.', 'Hz', 20, 1000),
    Spec('servo_velocity_scaling', 0.25, 'Scaling of the velocity limits in the servo, if the '
         'request has none.', '', 1e-3, 1),
    Spec('servo_acceleration_scaling', 0.5, 'Scaling of the acceleration limits in the servo.',
         '', 1e-3, 1),
    Spec('servo_linear_velocity', 0.25, 'Maximum linear velocity of the tip in the servo.', 'm/s',
         1e-3, 10),
    Spec('servo_angular_velocity', 0.8, 'Maximum angular velocity of the tip in the servo.',
         'rad/s', 1e-3, 20),
    Spec('servo_control_dimensions', [True] * 6, 'Directions x y z rx ry rz in which the tip '
         'follows commands, if the request has none.'),
    Spec('servo_command_timeout', 0.1, 'Maximum age of a servo command; without a newer one, the '
         'arm comes to rest.', 's', 0.02, 10),
    Spec('servo_margin', 0.01, 'Minimum distance that the servo keeps between the arm and itself, '
         'and between the arm and all objects.', 'm', 1e-4, 1),
    # read-only: the servo's process and motions under way keep the clock with which they started
    Spec('use_sim_time', False, 'Use the time of the topic /clock.', read_only=True),
    Spec('command_period', 0.01, 'Time between two commands to a controller of kind position or '
         'joint_state.', 's', 0.001, 0.05, read_only=True),
)


LIMIT_UNITS = {'velocity': 'rad/s or m/s', 'acceleration': 'rad/s^2 or m/s^2',
               'jerk': 'rad/s^3 or m/s^3'}
LIMIT_PATTERN = re.compile(r'joint_limits\.(.+)\.(max_(\w+)|has_(\w+)_limits)')   # MoveIt's names

LIMIT_NAMES = tuple(f'joint_limits.<joint>.{name}' for kind in LIMIT_UNITS
                    for name in (f'max_{kind}', f'has_{kind}_limits'))


def controller_specs(names: Sequence[str], kinds: Iterable[str]) -> Iterator[Spec]:
    """Yield the specs of each controller's parameters; raises ParameterError for bad names."""
    for name in names:
        # the name is part of the names of parameters and topics
        if not re.fullmatch('[A-Za-z][A-Za-z0-9_]*', name) or names.count(name) > 1:
            why = 'twice' if names.count(name) > 1 else 'which is not a name'
            raise ParameterError(f"controllers has '{name}' {why}; valid: names such as "
                                 'arm_controller, each once')
        yield Spec(f'{name}.kind', 'joint_trajectory', f"Interface of controller '{name}'.",
                   choices=tuple(kinds), read_only=True)
        yield Spec(f'{name}.group', '', f"Group that controller '{name}' moves. Empty: all "
                   'joints.', read_only=True)
        yield Spec(f'{name}.topic', '', f"Topic or action of controller '{name}', in the node's "
                   'namespace unless it begins with /. Empty: the default of its kind.',
                   read_only=True)


def joint_limit_specs(given: Iterable[str]) -> Iterator[Spec]:
    """Yield a spec for each parameter name in `given` that is a joint limit (LIMIT_NAMES)."""
    for name in given:
        found = LIMIT_PATTERN.fullmatch(name)
        joint, _, max_kind, has_kind = found.groups() if found else ('', '', '', '')
        if max_kind in LIMIT_UNITS:
            yield Spec(name, 1.0, f"Maximum {max_kind} of joint '{joint}' in motions, besides "
                       'limits of the URDF.', LIMIT_UNITS[max_kind], 1e-6, 1e9)
        elif has_kind in LIMIT_UNITS:
            yield Spec(name, True, f'Apply joint_limits.{joint}.max_{has_kind}.')


# -- the parameters of a node ------------------------------------------------------------------

class Parameters(_Defaults):
    """
    The parameters of a node, with their values as attributes: `parameters.max_timeout`.

    The node must be created with automatically_declare_parameters_from_overrides; the parameters
    are then declared again, with descriptions. Raises ParameterError for an invalid value.
    """

    def __init__(self, node: Node, controller_kinds: Iterable[str]) -> None:
        self.node = node
        # rclpy declares start_type_description_service as read-only: it cannot be undeclared
        self._given = {name: parameter.value for name, parameter
                       in node.get_parameters_by_prefix('').items()
                       if name != 'start_type_description_service'}
        self._specs: dict[str, Spec] = {}
        # rclpy has declared the given parameters without description and range
        for name in self._given:
            node.undeclare_parameter(name)
        self._declare(PARAMETERS)
        vars(self)['controllers'] = [name for name in self.controllers if name]
        self._declare(controller_specs(self.controllers, controller_kinds))
        self._declare(joint_limit_specs(self._given))
        if reason := _conflict(vars(self)):
            raise ParameterError(reason)
        node.add_on_set_parameters_callback(self._on_set)
        node.add_post_set_parameters_callback(
            lambda parameters: vars(self).update(self._parsed(parameters)))
        self._warn_of_unknown()

    def __getitem__(self, name: str) -> Any:
        """Return the value of a parameter whose name has dots."""
        return vars(self)[name]

    def __getattr__(self, name: str) -> Any:
        # not reached for names of parameters, whose values are instance attributes
        raise AttributeError(f"there is no parameter '{name}'")

    def limit(self, joint: str, kind: str) -> float | None:
        """Return joint_limits.<joint>.max_<kind>, None if the limit is unset or switched off."""
        counts = vars(self).get(f'joint_limits.{joint}.has_{kind}_limits', True)
        value = vars(self).get(f'joint_limits.{joint}.max_{kind}')
        return value if counts else None

    def limited_joints(self) -> set[str]:
        """Return the joints with a parameter joint_limits.<joint>.*."""
        return {found.group(1) for name in self._specs if (found := LIMIT_PATTERN.fullmatch(name))}

    def _declare(self, specs: Iterable[Spec]) -> None:
        for spec in specs:
            value = spec.parse(self._given.get(spec.name, spec.default))
            self._specs[spec.name] = spec
            vars(self)[spec.name] = value
            self.node.declare_parameter(spec.name, value, spec.descriptor(), ignore_override=True)

    def _warn_of_unknown(self) -> None:
        """Log a warning about misspelt parameters, which ROS ignores silently."""
        # do not suggest joint_limits.* of `_specs`: these given names may be misspelt themselves
        right = [name for name in self._specs if not name.startswith('joint_limits.')]
        for name in self._given.keys() - self._specs.keys():
            self.node.get_logger().warning(
                f"'{name}' is ignored: {unknown_name('parameter', name, [*right, *LIMIT_NAMES])}")

    # -- changes --------------------------------------------------------------------------

    def _parsed(self, parameters: list[Parameter]) -> dict[str, Any]:
        return {p.name: self._specs[p.name].parse(p.value)
                for p in parameters if p.name in self._specs}

    def _on_set(self, parameters: list[Parameter]) -> SetParametersResult:
        try:
            reason = _conflict({**vars(self), **self._parsed(parameters)})
        # an exception that leaves this callback would leave the request unanswered
        except Exception as error:
            reason = str(error)
        return SetParametersResult(successful=not reason, reason=reason or '')


def _conflict(values: dict[str, Any]) -> str | None:
    if values['default_timeout'] > values['max_timeout']:
        return (f"default_timeout, {values['default_timeout']:g} s, is above max_timeout, "
                f"{values['max_timeout']:g} s")
    return None
