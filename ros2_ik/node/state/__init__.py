"""The robot as the node knows it now: description, joint values, base, frames."""
