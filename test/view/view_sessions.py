"""Sessions of `ros2_ik view`, created as by the command line."""

from argparse import Namespace
import threading
from typing import Any

from ros2_ik.cli.view import make_session

TIP = 'panda_hand_tcp'
TURN_AND_SLIDE = """<robot name="bare"><link name="base"/><link name="arm"/><link name="tip"/>
  <joint name="turn" type="continuous"><parent link="base"/><child link="arm"/>
    <axis xyz="{axis}"/></joint>
  <joint name="slide" type="prismatic"><parent link="arm"/><child link="tip"/>
    <axis xyz="1 0 0"/><limit lower="0.1" upper="1" velocity="1" effort="1"/></joint>
  </robot>"""


def session_of(robot: str = 'panda', scene: str | None = 'table', tips: tuple[str, ...] = (),
               problem: str | None = None) -> Any:
    """Return the session of a command line."""
    return make_session(Namespace(robot=robot, srdf=None, package_dir=[], xacro_arg=[],
                                  tip=list(tips), scene=scene, problem=problem))


def wait_for_jobs(page: Any) -> None:
    """Wait until a page has completed all posted jobs and shown their results."""
    done = threading.Event()
    page.worker.post(done.set)
    assert done.wait(10.0)
