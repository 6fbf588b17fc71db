"""Current state of the robot: description, joint positions, clock, TF frames and scene."""
