"""A robot that exists only in ROS, and the node that answers for it: python -m ros2_ik.demo."""
