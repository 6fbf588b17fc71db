"""A solved path on a page: the line of the tool, and a slider that moves the robot."""

import numpy as np
import viser

from ros2_ik.core import Array, Configuration, Path
from ros2_ik.view.page import Event, Page

REACHED, BEYOND = (40, 160, 60), (210, 40, 40)    # colours of the solved and the unsolved part
SPACING = 5e-3    # distance between points of the unsolved part [m]


class PathOnPage:
    """
    The line of a path on a page: green up to the last pose reached, red beyond.

    The slider places the robot at the configurations of the path.
    """

    def __init__(self, page: Page, path: Path, tip: str) -> None:
        self._page, self._path = page, path
        self.lines = dict[str, viser.LineSegmentsHandle]()
        reached = [Configuration(page.session.robot, q).transform(tip) for q in path.q]
        self._draw('reached', [T[:3, 3] for T in reached], REACHED)
        if reached:
            # the path may be relative to a moving frame: get that frame's pose now from the last
            # pose reached
            last = path.parameters[-1]
            frame = reached[-1] @ np.linalg.inv(path.tool_path.pose(last))
            self._draw('beyond', [
                (frame @ path.tool_path.pose(s))[:3, 3]
                for s in path.tool_path.samples(SPACING) if s >= last], BEYOND)
            self.slider = page.server.gui.add_slider('along the path', 0, len(path.q) - 1, 1, 0)
            page.bind(self.slider.on_update, self._place)

    def _draw(self, name: str, points: list[Array], color: tuple[int, int, int]) -> None:
        if len(points) > 1:
            line = np.stack([points[:-1], points[1:]], axis=1)
            self.lines[name] = self._page.server.scene.add_line_segments(
                f'/path/{name}', line, color, thickness=4.0)

    def _place(self, event: Event) -> None:
        self._page.session.arm.place(self._path.q[int(event.value)])
