"""Texts in ServoStatus messages that clients compare."""

NODE_HELD_UP = 'commands are ignored: the node is held up'
