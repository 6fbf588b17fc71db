"""
Controllers of the mock robot, by the rules of ros2_control's.

Each is a node named as the controller. It refuses what the real one refuses, with the reason in
its log, and takes what the real one takes unchecked (limits, NaN, jumps): the joints move
accordingly, and the log has a line with `defect:`.
"""
