"""
The robot's collision geometry, created in a thread beside the node's callbacks.

Convex parts of meshes, which take seconds to a minute, are computed in a separate process.
"""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
import multiprocessing
import os
import time
import traceback

from rclpy.impl.rcutils_logger import RcutilsLogger

from ros2_ik.core import (
    collision_checker,
    CollisionChecker,
    IKError,
    Mesh,
    Robot,
    Scene,
    self_pairs,
    Status,
)
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.process import end_with_parent, ensure_fork_server

GEOMETRY_TIMEOUT = 2.0   # time for which requests wait for a new robot's geometry [s]
NICENESS = 10            # of the process that computes convex parts
N_THREADS = 2    # so that the next robot does not wait for a robot whose geometry takes long


class CollisionGeometry:
    """
    Creates the collision geometry of the current robot, and reports whether it is ready.

    `options` are the arguments `meshes` and `missing` of `collision_checker`.
    """

    def __init__(self, options: tuple[str, str], log: RcutilsLogger) -> None:
        self.options, self._log = options, log
        self._executor = ThreadPoolExecutor(N_THREADS, 'collision geometry')
        self._future: Future[CollisionChecker] | None = None
        self._since = 0.0

    def make(self, robot: Robot) -> None:
        """Start to create the geometry of a robot."""
        if self._future:
            self._future.cancel()
        self._since, self._future = time.monotonic(), self._executor.submit(self._make, robot)

    @property
    def is_making(self) -> bool:
        """True while the geometry of the current robot is being created."""
        return self._future is not None and not self._future.done()

    @property
    def settling(self) -> bool:
        """True in the first GEOMETRY_TIMEOUT seconds of the creation, while requests wait."""
        return self.is_making and time.monotonic() < self._since + GEOMETRY_TIMEOUT

    def made(self) -> CollisionChecker:
        """Return a checker with the robot's geometry; RequestError if still made, or faulty."""
        assert self._future is not None
        if self.is_making:
            raise RequestError(Status.COLLISION_CHECKING_UNAVAILABLE,
                               "the robot's collision geometry is still being made, for "
                               f'{time.monotonic() - self._since:.0f} s so far; ask again')
        if fault := self._future.exception():
            raise RequestError(
                Status.COLLISION_CHECKING_UNAVAILABLE,
                f"collisions cannot be checked: {fault} (parameter missing_meshes 'skip' "
                'omits the element, avoid_collisions: false disables the check)')
        return self._future.result()

    # -- in a thread ----------------------------------------------------------------------

    def _make(self, robot: Robot) -> CollisionChecker:
        try:
            checker = collision_checker(robot, Scene(robot), *self.options)
            checker.nearness    # noqa: B018 - loads convex parts into the cache of all checkers
            geometry = checker.geometry
            report = self_pairs(robot, geometry).report()
        except Exception as error:
            if not isinstance(error, IKError):
                self._log.error(traceback.format_exc())
            self._log.error(f"collisions of robot '{robot.name}' cannot be checked: {error}")
            raise
        for text in geometry.warnings:
            self._log.warning(f'collision geometry: {text}')
        # no warning: the SRDF that names the pairs usually follows the URDF
        if report:
            self._log.info(f"robot '{robot.name}': {report}")
        if meshes := geometry.without_parts:
            self._log.info(f'computing convex parts of {len(meshes)} meshes of robot '
                           f"'{robot.name}' in the background; until then distances are those of "
                           'convex hulls')
            ensure_fork_server()
            multiprocessing.get_context('forkserver').Process(
                target=_make_parts, args=(meshes,), daemon=True).start()
        return checker


def _make_parts(meshes: Sequence[Mesh]) -> None:
    """Compute the convex parts that are not on disk, in another process."""
    # the parent is the fork server, which ends with the node
    end_with_parent()
    os.nice(NICENESS)
    for mesh in meshes:
        mesh.convex_parts   # noqa: B018
