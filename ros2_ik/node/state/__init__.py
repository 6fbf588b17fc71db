"""Current state of the robot: description, joint positions, base pose, frames and scene."""
