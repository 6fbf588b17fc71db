"""
Messages to core values and back, by field name.

Pure functions: no node, no clock. Whatever has the right fields will do, so that moveit_msgs'
types, whose fields have the same names, pass through the same functions.
"""
