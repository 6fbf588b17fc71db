"""The parameters as the node has them: declared once, checked at every change."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
import difflib
import math
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.exceptions import ParameterException
from rclpy.node import Node
from rclpy.parameter import Parameter

from ros2_ik.core import check_scene_file, InvalidSceneError
from ros2_ik.node.parameters.spec import ParameterError, Spec
from ros2_ik.node.parameters.table import (
    controller_specs,
    joint_limit_specs,
    limited_joints,
    LIMITS,
    PARAMETERS,
)

Changed = Callable[[set[str]], None]
Check = Callable[[dict[str, Any]], str | None]


@dataclass
class Parameters:
    """
    The values as attributes: `parameters.max_timeout`.

    `check` is asked before a change (it gives the reason against it, or None), `changed` is told
    after it.
    """

    node: Node
    check: Check = field(default=lambda values: None)
    changed: Changed = field(default=lambda names: None)

    def __post_init__(self) -> None:
        self._specs: dict[str, Spec] = {}
        self._values: dict[str, Any] = {}
        self._declare_all(PARAMETERS)
        self._declare_all(controller_specs(self.controllers))
        self._declare_all(joint_limit_specs(getattr(self.node, '_parameter_overrides', {})))
        self._raise(_conflict(self._values))
        self.node.add_pre_set_parameters_callback(self._before_set)
        self.node.add_on_set_parameters_callback(self._on_set)
        self.node.add_post_set_parameters_callback(self._on_changed)
        self._warn_of_unknown()

    def __getitem__(self, name: str) -> Any:
        """Return the value of a parameter whose name has dots."""
        return self._values[name]

    def given(self, name: str) -> bool:
        """Return whether a parameter was given at the start."""
        return name in getattr(self.node, '_parameter_overrides', {})

    def limit(self, joint: str, kind: str) -> float | None:
        """Return joint_limits.<joint>.max_<kind>, or None where it does not count."""
        counts = self._values.get(f'joint_limits.{joint}.has_{kind}_limits', True)
        value = self._values.get(f'joint_limits.{joint}.max_{kind}')
        return value if counts else None

    def limited_joints(self) -> set[str]:
        """Return the joints that parameters joint_limits name."""
        return limited_joints(self._values)

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__['_values'][name]
        except KeyError:
            raise AttributeError(f"there is no parameter '{name}'") from None

    def _declare_all(self, specs: Iterable[Spec]) -> None:
        for spec in specs:
            self._specs[spec.name] = spec
            self._values[spec.name] = self._declare(spec)

    def _declare(self, spec: Spec) -> Any:
        override = getattr(self.node, '_parameter_overrides', {}).get(spec.name)
        try:
            value = spec.declared if override is None else spec.for_ros(override.value)
            given = self.node.declare_parameter(spec.name, value, spec.descriptor(),
                                                ignore_override=True)
        except (ParameterException, ValueError, TypeError) as error:
            if override is not None:
                spec.parse(override.value)   # says it better
            raise ParameterError(f'{spec.name}: {error}') from None
        return spec.parse(given.value)

    def _warn_of_unknown(self) -> None:
        """ROS passes over misspelt parameters without a word."""
        known = set(self._specs) | set(self.node._parameters)   # rclpy has no public way
        # those of joints are made of what was given, which may be misspelt
        right = [name for name in known if not name.startswith('joint_limits.')] + list(LIMITS)
        for name in set(getattr(self.node, '_parameter_overrides', {})) - known:
            near = difflib.get_close_matches(name, right, n=1)
            hint = f"; did you mean '{near[0]}'?" if near else ''
            self.node.get_logger().warning(f"unknown parameter '{name}' is ignored{hint}")

    def _parsed(self, parameters: list[Parameter]) -> dict[str, Any]:
        return {p.name: self._specs[p.name].parse(p.value)
                for p in parameters if p.name in self._specs}

    def _raise(self, reason: str | None) -> None:
        if reason:
            raise ParameterError(reason)

    def _before_set(self, parameters: list[Parameter]) -> list[Parameter]:
        with suppress(ParameterError):   # _on_set says what is wrong
            return [Parameter(p.name, value=self._specs[p.name].for_ros(p.value))
                    if p.name in self._specs else p for p in parameters]
        return parameters

    def _on_set(self, parameters: list[Parameter]) -> SetParametersResult:
        try:
            values = self._parsed(parameters)
            self._raise(_conflict({**self._values, **values}))
            self._raise(self.check(values))
        except Exception as error:   # out of here it would end the node
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _on_changed(self, parameters: list[Parameter]) -> None:
        values = self._parsed(parameters)
        self._values.update(values)
        self.changed(set(values))


def _conflict(values: dict[str, Any]) -> str | None:
    if values['default_timeout'] > values['max_timeout']:
        return (f"default_timeout, {values['default_timeout']:g} s, is above max_timeout, "
                f"{values['max_timeout']:g} s")
    quaternion = values['base_pose'][3:]
    if abs(math.hypot(*quaternion) - 1) > 1e-2:
        return f'base_pose: the quaternion {quaternion} does not have norm 1'
    return None


# -- what the node says, or refuses, at its start, before it knows a robot ---------------------

def scene_fault(scene: str) -> str:
    """Return why a value of parameter `scene` fits no robot at all, or ''."""
    try:
        if scene:
            check_scene_file(scene)
    except InvalidSceneError as error:
        return f"parameter scene, '{scene}': {error}"
    return ''


def start_notes(parameters: Any) -> list[str]:
    """Return what a person should know of a node that can move an arm."""
    if not parameters.controllers:
        return []
    notes = [f'motions use {parameters.velocity_scaling:g} of the velocity limits and '
             f'{parameters.acceleration_scaling:g} of the acceleration limits (parameters '
             'velocity_scaling, acceleration_scaling)']
    if not parameters.scene:
        notes.append('the scene is empty: nothing is around the robot, not even a floor '
                     '(parameter scene; scene:=floor adds one below the root frame)')
    return notes
