"""The servo's process: an arm follows commands, and motions of streaming controllers."""
