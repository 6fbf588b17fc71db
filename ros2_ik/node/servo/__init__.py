"""The servo: an arm that follows commands, step by step, in a process of its own."""
