"""The servo: a separate process in which an arm follows a stream of commands."""
