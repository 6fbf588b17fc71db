"""Motions of the robot, from the request to the end: planned, checked, sent, supervised."""
