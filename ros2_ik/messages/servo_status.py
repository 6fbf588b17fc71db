"""Texts of ServoStatus that clients act on."""

NODE_HELD_UP = 'commands are ignored: the node is held up'
