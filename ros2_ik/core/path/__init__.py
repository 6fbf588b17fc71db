"""Paths of a tool."""

from ros2_ik.core.path.tool_paths import Arc, Line, Screw, Spline, ToolPath, Waypoints

__all__ = ['Arc', 'Line', 'Screw', 'Spline', 'ToolPath', 'Waypoints']
