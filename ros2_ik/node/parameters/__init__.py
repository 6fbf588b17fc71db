"""The node's parameters."""

from ros2_ik.node.parameters.parameters import Parameters
from ros2_ik.node.parameters.spec import ParameterError
from ros2_ik.node.parameters.table import PARAMETERS

__all__ = ['PARAMETERS', 'ParameterError', 'Parameters']
