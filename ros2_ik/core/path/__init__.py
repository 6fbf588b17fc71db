"""Tool paths, joint values that follow them, and the timing of the motion."""

from ros2_ik.core.path.branches import PathOptions
from ros2_ik.core.path.path_motion import path_motion, PathSearch, POINT_PERIOD, TimedPath
from ros2_ik.core.path.solve_path import Path, PATH_OPTIONS, solve_path
from ros2_ik.core.path.tool_paths import Arc, Line, Screw, Spline, ToolPath, Waypoints

__all__ = ['Arc', 'Line', 'PATH_OPTIONS', 'Path', 'PathOptions', 'POINT_PERIOD', 'PathSearch',
           'Screw', 'Spline', 'TimedPath', 'ToolPath', 'Waypoints', 'path_motion', 'solve_path']
