"""
The viewer: a robot, its targets and its scene in a browser, in RViz or in a picture.

`surfaces` defines shapes, colours and poses of everything drawn. A `Session` has the state and the
actions of a page; its `Arm` is a simulated robot or the robot of a node.
`page` shows a session in browsers with viser, `rviz_goals` shows a session in RViz.
"""
