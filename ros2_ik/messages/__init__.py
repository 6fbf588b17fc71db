"""
Conversion between ROS messages and objects of ros2_ik.core.

Pure functions without a node or a clock. They read fields by name, so that any object with the
fields of the message is accepted, such as a goal that `ros2_ik constrained` reads from a file.
"""
