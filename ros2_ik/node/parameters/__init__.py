"""The node's parameters."""

from ros2_ik.node.parameters.parameters import Parameters
from ros2_ik.node.parameters.table import ParameterError, PARAMETERS

__all__ = ['PARAMETERS', 'ParameterError', 'Parameters']
