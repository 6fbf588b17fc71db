"""
The viewer: a robot, its targets and its scene in a browser, in RViz or in a picture.

`surface`, `robot_model` and `scene_model` define what is drawn where. A `Session` has the state
and the actions of a page, and works on an `Arm`, which solves and moves; `page` shows it by viser.
"""
