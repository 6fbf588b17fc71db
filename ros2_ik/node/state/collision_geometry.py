"""
The robot's collision geometry, made beside the node's callbacks.

Convex parts of meshes, which take seconds or a minute, are made in a process of their own.
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

SRDF_COMES = 1.0   # so long after a URDF it is not yet missing [s]
GEOMETRY_TIMEOUT = 2.0   # so long questions wait for a new robot's geometry [s]
NICE = 10        # niceness of the process that makes convex parts
THREADS = 2      # a robot that takes long to be made must not keep the one after it waiting


class _Geometry(NamedTuple):
    """The result: the number of bodies, the elements left out, or why there is none."""

    fault: str = ''
    bodies: int = 0
    left_out: tuple[str, ...] = ()


class CollisionGeometry:
    """
    Collision geometry of a robot, or the reason for which it is missing.

    `ready(robot, options)` is called, in a thread, when it is made; `options` are the arguments
    meshes and missing of `collision_checker`.
    """

    def __init__(self, log: Any, ready: Callable[[Robot, tuple[str, str]], None]) -> None:
        self._log, self._ready = log, ready
        self._executor = ThreadPoolExecutor(THREADS, 'collision geometry')
        self._future: Future[_Geometry] | None = None
        self._robot: Robot | None = None
        self._since = 0.0
        self.options = 'exact', 'refuse'    # that it is made with

    def make(self, robot: Robot, meshes: str, missing: str) -> None:
        """Begin with a robot."""
        if self._future:
            self._future.cancel()
        self._robot, self._since, self.options = robot, time.monotonic(), (meshes, missing)
        self._future = self._executor.submit(self._make, robot, self.options)

    @property
    def _made(self) -> _Geometry:
        return self._future.result() if self._future and self._future.done() else _Geometry()

    @property
    def is_making(self) -> bool:
        """True if it is not yet that of the robot there is."""
        return self._future is not None and not self._future.done()

    @property
    def settling(self) -> bool:
        """True if it has only just begun to be made: a question may wait for that."""
        return self.is_making and time.monotonic() < self._since + GEOMETRY_TIMEOUT

    @property
    def usable(self) -> bool:
        """True if collisions of the robot can be checked now."""
        return self._made.bodies > 0

    @property
    def left_out(self) -> tuple[str, ...]:
        """Elements of the robot that cannot be read, in words."""
        return self._made.left_out

    def check(self) -> bool:
        """Return whether the robot has geometry; raises RequestError if that is not known yet."""
        if self.is_making:
            raise RequestError(Status.COLLISION_CHECKING_UNAVAILABLE,
                               "the robot's collision geometry is still being made, for "
                               f'{time.monotonic() - self._since:.0f} s so far; ask again')
        made = self._made
        if made.fault:
            raise RequestError(
                Status.COLLISION_CHECKING_UNAVAILABLE,
                f"collisions cannot be checked: {made.fault}; parameter missing_meshes 'skip' or "
                'avoid_collisions: false does without')
        return made.bodies > 0

    # -- in a thread ----------------------------------------------------------------------

    def _make(self, robot: Robot, options: tuple[str, str]) -> _Geometry:
        try:
            checker = collision_checker(robot, Scene(robot), *options)
            checker.nearness    # noqa: B018 - reads the parts of meshes, for all checkers
            geometry = checker.geometry
            pairs = self_pairs(robot, geometry)
        except Exception as error:
            if not isinstance(error, IKError):
                self._log.error(traceback.format_exc())
            self._log.error(f"collisions of robot '{robot.name}' cannot be checked: {error}")
            return _Geometry(str(error) or type(error).__name__)
        for text in geometry.warnings:
            self._log.warning(f'collision geometry: {text}')
        if geometry.bodies and robot is self._robot:
            self._ready(robot, options)
        if report := pairs.report():
            threading.Timer(SRDF_COMES, self._warn_of_pairs, (robot, report)).start()
        if meshes := geometry.without_parts:
            threading.Thread(target=self._refine, args=(robot, meshes), daemon=True,
                             name='convex parts').start()
        return _Geometry('', len(geometry.bodies), tuple(
            text for text in geometry.warnings if text.endswith('left out')))

    def _warn_of_pairs(self, robot: Robot, report: str) -> None:
        """Warn of pairs left out, unless the robot has been replaced since, e.g. by an SRDF."""
        if robot is self._robot:
            self._log.warning(f"robot '{robot.name}': {report}")

    def _refine(self, robot: Robot, meshes: Sequence[Mesh]) -> None:
        """Make convex parts in another process."""
        began = time.monotonic()
        self._log.info(f"convex parts of {len(meshes)} meshes of robot '{robot.name}' are made in "
                       'the background; until then distances are those of their hulls')
        if make_parts(meshes):
            self._log.info(f"convex parts of robot '{robot.name}' made in "
                           f'{time.monotonic() - began:.1f} s')
        else:
            self._log.warning(f"the convex parts of robot '{robot.name}' were not made: distances "
                              'stay those of the hulls')


def make_parts(meshes: Sequence[Mesh]) -> bool:
    """Make the parts that are not on disk yet, and wait; return whether all are there then."""
    ensure_fork_server()
    context = multiprocessing.get_context('forkserver')
    process = context.Process(target=_make, args=(tuple(meshes),), daemon=True)
    process.start()
    process.join()
    return all(mesh.has_parts for mesh in meshes)


def _make(meshes: Sequence[Mesh]) -> None:
    end_with_parent()   # the fork server, which ends with the node
    os.nice(NICE)
    for mesh in meshes:
        mesh.make_parts()
