"""Motions of the robot: planning, collision checks, sending and supervision."""
