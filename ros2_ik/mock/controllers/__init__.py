"""
Controllers of the mock robot, which behave like those of ros2_control.

Each controller is a node of its own. It refuses the commands that the real controller refuses,
and logs the reason. Like the real controller, it does not check commands for limits, NaN and
jumps: the joints follow them, and the log has a line with `defect:`.
"""
