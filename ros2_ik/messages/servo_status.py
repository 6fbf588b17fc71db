"""Text of ServoStatus messages while the servo process receives nothing from the node."""

NODE_HELD_UP = 'commands are ignored: the node is held up'
