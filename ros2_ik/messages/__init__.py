"""
Conversion between ROS messages and objects of ros2_ik.core.

Functions that need no node and no clock. They read fields by name, and so accept any object with
the fields of the message, such as a goal that `ros2_ik constrained` reads from a file.
"""
