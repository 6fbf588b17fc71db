"""The servo's process: follows commands, and plays the motions of streaming controllers."""
