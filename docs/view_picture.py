"""
Draw the picture of the viewer in docs/viewer.md: a Panda whose target is in a table.

    tools/run python docs/view_picture.py    (needs chromium)
"""

from argparse import Namespace
from pathlib import Path
import sys
import tempfile
import time

from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[1] / 'test/view'))
from chromium import Browser, Tab, wait_for  # noqa: E402
from view_sessions import wait_for_jobs  # noqa: E402

from ros2_ik.cli.view import make_session  # noqa: E402
from ros2_ik.view.page import Page  # noqa: E402

PORT = 8099
PICTURE = Path(__file__).with_name('viewer.png')
FRAME = 10.0    # rendering time of one frame without a graphics card [s]
TIP, TARGET = 'panda_link7', (0.45, 0.05, 0.395)    # this tip's gizmo hides no contacts
JOINT1 = 1.3    # value that turns the robot away from the ghost [rad]
# camera near the robot; the right side of the image is free for the panel
POSITION, LOOK_AT = (1.45, -1.15, 0.95), (0.38, 0.16, 0.3)


def until_still(tab: Tab) -> None:
    """Take screenshots until two are equal, since the page fades in."""
    before = b''
    while not before or PICTURE.read_bytes() != before:
        before = PICTURE.read_bytes()
        time.sleep(FRAME)
        tab.screenshot(PICTURE)


def main() -> None:
    session = make_session(Namespace(robot='panda', srdf=None, package_dir=[], xacro_arg=[],
                                     tip=[TIP], scene='table', problem=None))
    session.set_joint('panda_joint1', JOINT1)
    page = Page(session, PORT)
    camera = page.server.initial_camera
    camera.position, camera.look_at = POSITION, LOOK_AT
    T = session.targets[TIP].copy()
    T[:3, 3] = TARGET
    with tempfile.TemporaryDirectory() as folder:
        browser = Browser(Path(folder), '1280,800')
        tab = browser.open(page.url)
        wait_for(lambda: 'Back to the robot' in tab.text(), 'the panel')
        page.worker.post(lambda: session.drag(TIP, T))
        wait_for_jobs(page)
        tab.evaluate("[...document.querySelectorAll('.mantine-Notification-root')]"
                     '.forEach(each => each.remove())')
        until_still(tab)
        Image.open(PICTURE).convert('RGB').quantize(
            256, Image.Quantize.MAXCOVERAGE).save(PICTURE, optimize=True)
        browser.close()
    page.stop()


if __name__ == '__main__':
    main()
