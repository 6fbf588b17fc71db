"""
Controllers of the mock robot, which behave like those of ros2_control.

Each controller is a node of its own. It refuses the commands that the real controller refuses,
and logs the reason. As in the real controllers, limits and jumps are not checked (nor NaN in
trajectories): the joints follow the command, and a log line with `defect:` reports it.
"""
