"""A simulated robot without hardware, with controllers that follow ros2_controllers' rules."""
