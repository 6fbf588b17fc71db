"""Adapters that send motions to the robot's controllers, one class per kind of controller."""
