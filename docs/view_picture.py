"""
Draw the picture of the viewer in docs/viewer.md: a Panda whose target is in a table.

    tools/run pip install viser && tools/run python docs/view_picture.py    (needs chromium)
"""

from argparse import Namespace
from pathlib import Path
import sys
import tempfile
import time

from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[1] / 'test/view'))
from chromium import Browser, wait_for  # noqa: E402

from ros2_ik.cli.view import make_session  # noqa: E402
from ros2_ik.core import load_kernels  # noqa: E402
from ros2_ik.view.page import Page  # noqa: E402

PORT = 8099
PICTURE = Path(__file__).with_name('viewer.png')
DRAWN = 20.0    # time for a processor without graphics [s]


def main() -> None:
    load_kernels()
    session = make_session(Namespace(robot='panda', srdf=None, package_dir=[], root_joint=None,
                                     tip=[], scene='table', problem=None))
    page = Page(session, '127.0.0.1', PORT)
    tip = session.tips[0]
    T = session.problem.targets[tip].copy()
    T[:3, 3] = 0.45, 0.05, 0.185
    with tempfile.TemporaryDirectory() as folder:
        browser = Browser(Path(folder))
        tab = browser.open(page.url)
        wait_for(lambda: 'Back to the robot' in tab.text(), 'the panel')
        page.worker.post(lambda: session.drag(tip, T))
        page.worker.wait()
        time.sleep(DRAWN)
        tab.evaluate("[...document.querySelectorAll('.mantine-Notification-root')]"
                     '.forEach(each => each.remove())')
        tab.screenshot(PICTURE)
        Image.open(PICTURE).convert('RGB').quantize(128).save(PICTURE, optimize=True)
        browser.close()
    page.stop()


if __name__ == '__main__':
    main()
