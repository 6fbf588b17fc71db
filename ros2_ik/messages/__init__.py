"""
Conversion between ROS messages and values of core.

Pure functions without a node or a clock. They read fields by name, so that any object with the
fields of the message is accepted, such as the goal file that `ros2_ik constrained` reads.
"""
