"""The robot's collision geometry, made beside the node's callbacks."""

from collections.abc import Callable
import threading
import time
import traceback
from typing import Any

from ros2_ik.core import collision_checker, IKError, Robot, RobotGeometry, Scene, Status
from ros2_ik.node.refusal import Refusal

SAID_FROM = 0.01, 1e-3   # overestimates that are worth a line: share [1], distance [m]
PATIENCE = 2.0   # so long a new robot's geometry is waited for; pieces of meshes take minutes [s]


class CollisionGeometry:
    """
    What is known of how a robot collides.

    `ready(robot, options)` is called, in a thread, when it is made; `options` are the arguments
    meshes and missing of `collision_checker`.
    """

    def __init__(self, log: Any, ready: Callable[[Robot, tuple[str, str]], None]) -> None:
        self._log, self._ready = log, ready
        self._thread: threading.Thread | None = None
        self._wanted: tuple[Robot, tuple[str, str]] | None = None
        self._since, self._fault = 0.0, ''
        self._bodies = 0
        self._said = ''
        self.left_out: tuple[str, ...] = ()

    def make(self, robot: Robot, meshes: str, missing: str) -> None:
        """Begin with a robot, and wait a moment for the end."""
        self._wanted = robot, (meshes, missing)
        self._since, self._fault, self._bodies, self.left_out = time.monotonic(), '', 0, ()
        self._thread = threading.Thread(target=self._make, args=self._wanted, daemon=True,
                                        name='collision geometry')
        self._thread.start()
        self._thread.join(PATIENCE)

    @property
    def options(self) -> tuple[str, str]:
        """The options it was made with."""
        return self._wanted[1] if self._wanted else ('hull', 'refuse')

    @property
    def usable(self) -> bool:
        """Whether collisions of the robot can be checked now."""
        return self._wanted is not None and not self._fault and not self._busy \
            and self._bodies > 0

    @property
    def _busy(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def check(self) -> bool:
        """Give whether the robot has any geometry; raises Refusal if that is not known (yet)."""
        if self._busy:
            raise Refusal(Status.COLLISION_CHECKING_UNAVAILABLE,
                          "the robot's collision geometry is still being made, for "
                          f'{time.monotonic() - self._since:.0f} s so far; avoid_collisions: '
                          'false does without')
        if self._fault:
            raise Refusal(Status.COLLISION_CHECKING_UNAVAILABLE,
                          f'collisions cannot be checked: {self._fault}; parameter missing_meshes '
                          "'leave out' or avoid_collisions: false does without")
        return self._bodies > 0

    def _make(self, robot: Robot, options: tuple[str, str]) -> None:
        try:
            geometry = collision_checker(robot, Scene(robot), *options).geometry
        except IKError as error:
            self._end(robot, options, str(error))
        except Exception as error:
            self._log.error(traceback.format_exc())
            self._end(robot, options, f'{type(error).__name__}: {error}')
        else:
            self._end(robot, options, '', len(geometry.bodies), geometry.warnings)
            self._report(robot, geometry)

    def _end(self, robot: Robot, options: tuple[str, str], fault: str, bodies: int = 0,
             warnings: tuple[str, ...] = ()) -> None:
        if self._wanted is None or self._wanted[0] is not robot or self._wanted[1] != options:
            return   # there is a newer one
        self._fault, self._bodies = fault, bodies
        self.left_out = tuple(text for text in warnings if text.endswith('left out'))
        if fault:
            self._log.error(f"collisions of robot '{robot.name}' cannot be checked: {fault}")
        for text in warnings:
            self._log.warning(f'collision geometry: {text}')
        if bodies:
            self._ready(robot, options)

    def _report(self, robot: Robot, geometry: RobotGeometry) -> None:
        """Say how much larger than the meshes is what stands for them, once for each robot."""
        found = geometry.overestimates()
        share = max((more.share or 0.0 for more in found.values()), default=0.0)
        name, most = max(((name, more.distance) for name, more in found.items()),
                         key=lambda item: item[1], default=('', 0.0))
        if share < SAID_FROM[0] and most < SAID_FROM[1]:
            return
        text = (f"what stands for the meshes of robot '{robot.name}' is up to {100 * share:.0f} % "
                f"larger than they are, and reaches up to {100 * most:.1f} cm beyond ('{name}')")
        if text != self._said:   # a robot is made anew when its SRDF comes after it
            self._said = text
            self._log.info(text)
