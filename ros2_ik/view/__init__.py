"""
The viewer: a robot, its targets and its scene in a browser, in RViz or in a picture.

A `Session` has the state and the actions of a page; its `Arm` is a simulated robot or the robot of
a node. `page` shows a session in browsers with viser, `rviz_goals` shows a session in RViz.
`surfaces` defines the shapes, colours and poses of robots and objects in pages and pictures.
"""
