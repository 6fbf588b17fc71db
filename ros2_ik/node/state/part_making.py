"""Convex parts of meshes, made in a process of their own: it takes seconds, or a minute."""

from collections.abc import Sequence
import multiprocessing
import os
import signal
import threading

from ros2_ik.core import Mesh

NICE = 10      # what the node answers comes first


def make_parts(meshes: Sequence[Mesh]) -> bool:
    """Make the parts that are not on disk yet, and wait; gives whether all are there then."""
    process = multiprocessing.get_context('spawn').Process(
        target=_make, args=(tuple(meshes),), daemon=True, name='convex parts')
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
