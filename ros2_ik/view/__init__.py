"""
The robot, its goals and what is around it, to look at and to drag, in a browser.

What is where in which colour (`surface`, `robot_model`, `scene_model`) knows nothing of the page:
a `picture`, drawn by `raster`, comes from it, too. A `Session` is what a page shows, and works by
an `Arm`, which solves and moves; `page` puts it into viser.
"""
