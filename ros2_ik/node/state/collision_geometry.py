"""
The robot's collision geometry, created in a thread beside the node's callbacks.

Convex parts of meshes, which take seconds to a minute, are computed in a separate process.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
import multiprocessing
import os
import threading
import time
import traceback
from typing import Any, NamedTuple

from ros2_ik.core import collision_checker, IKError, Mesh, Robot, Scene, self_pairs, Status
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.process import end_with_parent, ensure_fork_server

SRDF_DELAY = 1.0         # time after a URDF within which an SRDF is expected [s]
GEOMETRY_TIMEOUT = 2.0   # time for which requests wait for a new robot's geometry [s]
NICENESS = 10            # of the process that computes convex parts
N_THREADS = 2    # so that the next robot does not wait for a robot whose geometry takes long


class _Geometry(NamedTuple):
    """Number of bodies and omitted collision elements, or the fault that prevented geometry."""

    fault: str = ''
    bodies: int = 0
    left_out: tuple[str, ...] = ()


class CollisionGeometry:
    """
    Creates the collision geometry of the current robot, and reports whether it is ready.

    `ready(robot, options)` is called in a thread when the geometry is complete. `options` are the
    arguments `meshes` and `missing` of `collision_checker`.
    """

    def __init__(self, log: Any, ready: Callable[[Robot, tuple[str, str]], None]) -> None:
        self._log, self._ready = log, ready
        self._executor = ThreadPoolExecutor(N_THREADS, 'collision geometry')
        self._future: Future[_Geometry] | None = None
        self._robot: Robot | None = None
        self._since = 0.0
        self.options = 'exact', 'refuse'

    def make(self, robot: Robot, meshes: str, missing: str) -> None:
        """Start to create the geometry of a robot."""
        if self._future:
            self._future.cancel()
        self._robot, self._since, self.options = robot, time.monotonic(), (meshes, missing)
        self._future = self._executor.submit(self._make, robot, self.options)

    @property
    def _made(self) -> _Geometry:
        return self._future.result() if self._future and self._future.done() else _Geometry()

    @property
    def is_making(self) -> bool:
        """True while the geometry of the current robot is being created."""
        return self._future is not None and not self._future.done()

    @property
    def settling(self) -> bool:
        """True in the first GEOMETRY_TIMEOUT seconds of the creation, while requests wait."""
        return self.is_making and time.monotonic() < self._since + GEOMETRY_TIMEOUT

    @property
    def usable(self) -> bool:
        """True if collisions of the robot can be checked now."""
        return self._made.bodies > 0

    @property
    def left_out(self) -> tuple[str, ...]:
        """Texts on the collision elements that cannot be read."""
        return self._made.left_out

    def check(self) -> bool:
        """Return whether the robot has geometry; RequestError if still being made or faulty."""
        if self.is_making:
            raise RequestError(Status.COLLISION_CHECKING_UNAVAILABLE,
                               "the robot's collision geometry is still being made, for "
                               f'{time.monotonic() - self._since:.0f} s so far; ask again')
        made = self._made
        if made.fault:
            raise RequestError(
                Status.COLLISION_CHECKING_UNAVAILABLE,
                f"collisions cannot be checked: {made.fault} (parameter missing_meshes 'skip' "
                'omits the element, avoid_collisions: false disables the check)')
        return made.bodies > 0

    # -- in a thread ----------------------------------------------------------------------

    def _make(self, robot: Robot, options: tuple[str, str]) -> _Geometry:
        try:
            checker = collision_checker(robot, Scene(robot), *options)
            checker.nearness    # noqa: B018 - loads convex parts into the cache of all checkers
            geometry = checker.geometry
            pairs = self_pairs(robot, geometry)
        except Exception as error:
            if not isinstance(error, IKError):
                self._log.error(traceback.format_exc())
            self._log.error(f"collisions of robot '{robot.name}' cannot be checked: {error}")
            return _Geometry(str(error) or type(error).__name__)
        for text in geometry.warnings:
            self._log.warning(f'collision geometry: {text}')
        # unless another robot was set meanwhile
        if geometry.bodies and robot is self._robot:
            self._ready(robot, options)
        # delayed, since an SRDF that names the pairs usually follows the URDF
        if report := pairs.report():
            threading.Timer(SRDF_DELAY, self._warn_of_pairs, (robot, report)).start()
        if meshes := geometry.without_parts:
            threading.Thread(target=self._refine, args=(robot, meshes), daemon=True,
                             name='convex parts').start()
        return _Geometry('', len(geometry.bodies), tuple(
            text for text in geometry.warnings if text.endswith('left out')))

    def _warn_of_pairs(self, robot: Robot, report: str) -> None:
        """Log the unchecked pairs, unless the robot was replaced meanwhile, e.g. by an SRDF."""
        if robot is self._robot:
            self._log.warning(f"robot '{robot.name}': {report}")

    def _refine(self, robot: Robot, meshes: Sequence[Mesh]) -> None:
        """Compute the convex parts that are not on disk, in another process; log the result."""
        began = time.monotonic()
        self._log.info(f"computing convex parts of {len(meshes)} meshes of robot '{robot.name}' "
                       'in the background; until then distances are those of convex hulls')
        ensure_fork_server()
        process = multiprocessing.get_context('forkserver').Process(
            target=_make, args=(tuple(meshes),), daemon=True)
        process.start()
        process.join()
        if all(mesh.has_parts for mesh in meshes):
            self._log.info(f"convex parts of robot '{robot.name}' computed in "
                           f'{time.monotonic() - began:.1f} s')
        else:
            self._log.warning(f"computing convex parts of robot '{robot.name}' failed: distances "
                              'remain those of convex hulls')


def _make(meshes: Sequence[Mesh]) -> None:
    # the parent is the fork server, which ends with the node
    end_with_parent()
    os.nice(NICENESS)
    for mesh in meshes:
        mesh.convex_parts   # noqa: B018
