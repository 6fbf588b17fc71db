"""The node's parameters: declared at the start, checked at every change."""

from collections.abc import Iterable
import math
from typing import Any, TYPE_CHECKING

from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from ros2_ik.core.errors import unknown_name
from ros2_ik.node.parameters.table import (
    controller_specs,
    joint_limit_specs,
    LIMIT,
    LIMITS,
    ParameterError,
    PARAMETERS,
    Spec,
)

if TYPE_CHECKING:   # types of the attributes: each field of Defaults is a parameter
    from ros2_ik.core.internals import Defaults as _Defaults
else:
    _Defaults = object

ROS_OWN = ('use_sim_time', 'start_type_description_service')   # parameters that rclpy declares


class Parameters(_Defaults):
    """
    The parameters of a node, with their values as attributes: `parameters.max_timeout`.

    The node must be created with automatically_declare_parameters_from_overrides; the parameters
    are then declared again, with descriptions. Raises ParameterError for an invalid value.
    """

    def __init__(self, node: Node) -> None:
        self.node = node
        self._given = {name: parameter.value for name, parameter
                       in node.get_parameters_by_prefix('').items() if name not in ROS_OWN}
        self._specs: dict[str, Spec] = {}
        # rclpy has declared the given parameters without description and range
        for name in self._given:
            node.undeclare_parameter(name)
        self._declare(PARAMETERS)
        vars(self)['controllers'] = [name for name in self.controllers if name]
        self._declare(controller_specs(self.controllers))
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
        # reached only for names that are no parameters: the values are instance attributes
        raise AttributeError(f"there is no parameter '{name}'")

    def limit(self, joint: str, kind: str) -> float | None:
        """Return joint_limits.<joint>.max_<kind>, None if the limit is unset or switched off."""
        counts = vars(self).get(f'joint_limits.{joint}.has_{kind}_limits', True)
        value = vars(self).get(f'joint_limits.{joint}.max_{kind}')
        return value if counts else None

    def limited_joints(self) -> set[str]:
        """Return the joints with a parameter joint_limits.<joint>.*."""
        return {found.group(1) for name in self._specs if (found := LIMIT.fullmatch(name))}

    def _declare(self, specs: Iterable[Spec]) -> None:
        for spec in specs:
            value = spec.parse(self._given.get(spec.name, spec.default))
            self._specs[spec.name] = spec
            vars(self)[spec.name] = value
            self.node.declare_parameter(spec.name, value, spec.descriptor(),
                                        ignore_override=True)

    def _warn_of_unknown(self) -> None:
        """Log a warning about misspelt parameters, which ROS ignores silently."""
        # joint_limits specs are made from the given names, which can be misspelt themselves
        right = [name for name in self._specs if not name.startswith('joint_limits.')]
        for name in self._given.keys() - self._specs.keys():
            self.node.get_logger().warning(
                f"'{name}' is ignored: {unknown_name('parameter', name, [*right, *LIMITS])}")

    # -- changes --------------------------------------------------------------------------

    def _parsed(self, parameters: list[Parameter]) -> dict[str, Any]:
        return {p.name: self._specs[p.name].parse(p.value)
                for p in parameters if p.name in self._specs}

    def _on_set(self, parameters: list[Parameter]) -> SetParametersResult:
        try:
            reason = _conflict({**vars(self), **self._parsed(parameters)})
        # an exception that leaves this callback would end the node
        except Exception as error:
            reason = str(error)
        return SetParametersResult(successful=not reason, reason=reason or '')


def _conflict(values: dict[str, Any]) -> str | None:
    if values['default_timeout'] > values['max_timeout']:
        return (f"default_timeout, {values['default_timeout']:g} s, is above max_timeout, "
                f"{values['max_timeout']:g} s")
    quaternion = values['base_pose'][3:]
    if abs(math.hypot(*quaternion) - 1) > 1e-2:
        return f'base_pose: the quaternion {quaternion} does not have norm 1'
    return None
