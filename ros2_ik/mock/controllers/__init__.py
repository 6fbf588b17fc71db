"""
Controllers of the mock robot, which behave like those of ros2_controllers.

Each controller is a node of its own. It rejects the commands that the real controller rejects,
and logs the reason. Like the real controller, it accepts commands that exceed limits or jump, and
NaN in trajectories: the joints follow, and a log line with `defect:` reports the error.
"""
