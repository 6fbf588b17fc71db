"""Adapters that send motions to the robot's controllers, by kind."""
