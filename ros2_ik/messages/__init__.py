"""
Messages to core values and back, by field name.

Pure functions: no node, no clock. Whatever has the right fields will do: messages, or what the
command has read from a file.
"""
