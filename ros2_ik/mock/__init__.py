"""Simulated robot whose controllers behave like those of ros2_controllers."""
