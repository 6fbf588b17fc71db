"""A robot that exists only in ROS, with controllers that obey the rules of ros2_controllers."""
