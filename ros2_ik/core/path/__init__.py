"""Paths of a tool, and joint values that follow them."""

from ros2_ik.core.path.path import Path, PathBreak, PathOptions
from ros2_ik.core.path.solve_path import follow_path, solve_path
from ros2_ik.core.path.tool_paths import Arc, Line, Screw, Spline, ToolPath, Waypoints

__all__ = ['Arc', 'Line', 'Path', 'PathBreak', 'PathOptions', 'Screw', 'Spline', 'ToolPath',
           'Waypoints', 'follow_path', 'solve_path']
