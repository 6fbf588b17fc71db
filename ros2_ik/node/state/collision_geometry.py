"""
The robot's collision geometry, made beside the node's callbacks.

Convex parts of meshes, which take seconds or a minute, are made in a process of their own.
"""

from collections.abc import Callable, Sequence
import multiprocessing
from multiprocessing import resource_tracker
import os
import signal
import threading
import time
import traceback
from typing import Any

from ros2_ik.core import (
    collision_checker,
    IKError,
    Mesh,
    Robot,
    Scene,
    self_pairs,
    Status,
    UNUSABLE,
)
from ros2_ik.messages.request_error import RequestError

SRDF_COMES = 1.0   # so long after a URDF it is not yet missing [s]
PATIENCE = 2.0   # so long questions wait for a new robot's geometry [s]
THREADS = 2      # a robot that takes long to be made must not keep the one after it waiting

GeometryKey = tuple[Robot, tuple[str, str]]


class CollisionGeometry:
    """
    What is known of how a robot collides.

    `ready(robot, options)` is called, in a thread, when it is made; `options` are the arguments
    meshes and missing of `collision_checker`.
    """

    def __init__(self, log: Any, ready: Callable[[Robot, tuple[str, str]], None]) -> None:
        self._log, self._ready = log, ready
        self._changing, self._threads = threading.Lock(), 0
        self._wanted: GeometryKey | None = None
        self._taken: GeometryKey | None = None   # the last that a thread has begun with,
        self._made: GeometryKey | None = None    # and that was made
        self._since, self._fault = 0.0, ''
        self._bodies = 0
        self._told = ''
        self._guess_pairs = True
        self.left_out: tuple[str, ...] = ()

    def make(self, robot: Robot, meshes: str, missing: str, guess_pairs: bool = True) -> None:
        """Begin with a robot."""
        self._guess_pairs = guess_pairs
        self._since, self._fault, self._bodies, self.left_out = time.monotonic(), '', 0, ()
        with self._changing:
            self._wanted = robot, (meshes, missing)
            if self._threads < THREADS:
                self._threads += 1
                threading.Thread(target=self._work, daemon=True,
                                 name='collision geometry').start()

    def _work(self) -> None:
        while wanted := self._next():
            self._make(*wanted)
            with self._changing:
                self._made = wanted if wanted is self._wanted else self._made

    def _next(self) -> GeometryKey | None:
        """Return what is wanted, unless a thread has taken it: then this one may end."""
        with self._changing:
            if self._taken is self._wanted:
                self._threads -= 1
                return None
            self._taken = self._wanted
            return self._wanted

    @property
    def is_making(self) -> bool:
        """Whether it is not yet that of the robot there is."""
        return self._made is not self._wanted

    @property
    def settling(self) -> bool:
        """Whether it has only just begun to be made: a question may wait for that."""
        return self.is_making and time.monotonic() < self._since + PATIENCE

    @property
    def options(self) -> tuple[str, str]:
        """The options it was made with."""
        return self._wanted[1] if self._wanted else ('exact', 'refuse')

    @property
    def usable(self) -> bool:
        """Whether collisions of the robot can be checked now."""
        return self._wanted is not None and not self._fault and not self.is_making \
            and self._bodies > 0

    def check(self) -> bool:
        """Return whether the robot has geometry; raises RequestError if that is not known yet."""
        if self.is_making:
            raise RequestError(Status.COLLISION_CHECKING_UNAVAILABLE,
                               "the robot's collision geometry is still being made, for "
                               f'{time.monotonic() - self._since:.0f} s so far; ask again')
        if self._fault:
            raise RequestError(
                Status.COLLISION_CHECKING_UNAVAILABLE,
                f'collisions cannot be checked: {self._fault}; parameter missing_meshes '
                "'skip' or avoid_collisions: false does without")
        return self._bodies > 0

    def _make(self, robot: Robot, options: tuple[str, str]) -> None:
        try:
            scene = Scene(robot, self._guess_pairs)
            geometry = collision_checker(robot, scene, *options).geometry
            pairs = self_pairs(robot, geometry, self._guess_pairs)
        except IKError as error:
            self._end(robot, options, str(error))
        except Exception as error:
            self._log.error(traceback.format_exc())
            self._end(robot, options, f'{type(error).__name__}: {error}')
        else:
            self._end(robot, options, '', len(geometry.bodies), geometry.warnings)
            self._tell(robot, f"robot '{robot.name}': {pairs.report()}" if pairs.report() else '')
            if meshes := geometry.without_parts:
                threading.Thread(target=self._refine, args=(robot, options, meshes),
                                 daemon=True, name='convex parts').start()

    def _refine(self, robot: Robot, options: tuple[str, str], meshes: Sequence[Mesh]) -> None:
        """Have convex parts made in another process."""
        began = time.monotonic()
        self._log.info(f"convex parts of {len(meshes)} meshes of robot '{robot.name}' are made in "
                       'the background; until then distances are those of their hulls')
        if not make_parts(meshes):
            self._log.warning(f"the convex parts of robot '{robot.name}' were not made: distances "
                              'stay those of the hulls')
        elif self._wanted == (robot, options):
            self._log.info(f"convex parts of robot '{robot.name}' made in "
                           f'{time.monotonic() - began:.1f} s')

    def _end(self, robot: Robot, options: tuple[str, str], fault: str, bodies: int = 0,
             warnings: tuple[str, ...] = ()) -> None:
        if self._wanted is None or self._wanted[0] is not robot or self._wanted[1] != options:
            return   # there is a newer one
        self._fault, self._bodies = _without_reason(fault), bodies
        self.left_out = tuple(f'{_without_reason(text)}; it is left out' for text in warnings
                              if text.endswith('left out'))
        if fault:
            self._log.error(f"collisions of robot '{robot.name}' cannot be checked: {fault}")
        for text in warnings:
            self._log.warning(f'collision geometry: {text}')
        if bodies:
            self._ready(robot, options)

    def _tell(self, robot: Robot, text: str) -> None:
        """Say once for each robot which pairs are left out though no SRDF says so."""
        def say() -> None:
            if self._wanted and self._wanted[0] is robot and text != self._told:
                self._told = text
                self._log.warning(text)
        if text:   # a robot is made anew when its SRDF comes after it, as it mostly does
            timer = threading.Timer(SRDF_COMES, say)
            timer.daemon = True
            timer.start()
        else:
            self._told = ''


def _without_reason(text: str) -> str:
    """Leave out why a mesh cannot be used: who asks must not learn which files there are."""
    what, unusable, _ = text.partition(UNUSABLE)
    return f"{what} cannot be used (the node's log says why)" if unusable else text


NICE = 10      # what the node answers comes first


def make_parts(meshes: Sequence[Mesh]) -> bool:
    """Make the parts that are not on disk yet, and wait; gives whether all are there then."""
    process = multiprocessing.get_context('spawn').Process(
        target=_make, args=(tuple(meshes),), daemon=True, name='convex parts')
    resource_tracker.ensure_running()   # first: it unblocks signals
    # Ctrl-C reaches the whole process group, and this one ends with the node.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
    process.start()
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    process.join()
    return all(mesh.has_parts for mesh in meshes)


def _make(meshes: Sequence[Mesh]) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.nice(NICE)
    for mesh in meshes:
        mesh.make_parts()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
