"""Sessions as the command line makes them."""

from argparse import Namespace
from typing import Any

from ros2_ik.cli.view import make_session
from ros2_ik.core import load_kernels

TIP = 'panda_hand_tcp'


def session_of(robot: str = 'panda', scene: str | None = 'table', tips: tuple[str, ...] = (),
               problem: str | None = None) -> Any:
    """Return the session of a command line."""
    load_kernels()
    return make_session(Namespace(robot=robot, srdf=None, package_dir=[], root_joint=None,
                                  tip=list(tips), scene=scene, problem=problem))
