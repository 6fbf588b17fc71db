"""A headless Chromium, controlled by the DevTools protocol."""

import base64
from collections.abc import Iterator
from itertools import count
import json
import math
import os
from pathlib import Path
import shutil
import subprocess
import time
from typing import Any, NamedTuple
from urllib.request import Request, urlopen

import numpy as np
import pytest

PROGRAMS = ('chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable')
FLAGS = ('--headless=new', '--no-sandbox', '--disable-gpu', '--use-angle=swiftshader',
         '--enable-unsafe-swiftshader', '--disable-dev-shm-usage', '--no-first-run',
         '--disable-background-networking', '--remote-debugging-port=0')
TIMEOUT = 40.0    # long enough for a busy machine [s]


def chromium() -> str | None:
    """Return the path of Chromium, or None if it is not installed."""
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


def wait_for(condition: Any, what: str, seconds: float = TIMEOUT) -> Any:
    """Call a condition until its result is true; return the result."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.05)
    raise AssertionError(f'not within {seconds} s: {what}')


class Tab:
    """A page in a browser: `requests` are the requested URLs, `exceptions` the thrown ones."""

    def __init__(self, address: str) -> None:
        from websockets.sync.client import connect
        self._socket = connect(address, max_size=None, open_timeout=TIMEOUT)
        self._numbers = count(1)
        self.closed = False
        self.requests: list[str] = []
        self.exceptions: list[str] = []
        for domain in ('Page', 'Network', 'Runtime'):
            self.call(f'{domain}.enable')

    def call(self, method: str, **parameters: Any) -> Any:
        """Return the result of a method of the protocol."""
        number = next(self._numbers)
        self._socket.send(json.dumps({'id': number, 'method': method, 'params': parameters}))
        while True:
            message = json.loads(self._socket.recv(timeout=TIMEOUT))
            if message.get('id') == number:
                assert 'error' not in message, f'{method}: {message["error"]}'
                return message['result']
            self._note(message)

    def _note(self, message: Any) -> None:
        if message['method'] == 'Network.requestWillBeSent':
            self.requests.append(message['params']['request']['url'])
        elif message['method'] == 'Network.webSocketCreated':
            self.requests.append(message['params']['url'])
        elif message['method'] == 'Runtime.exceptionThrown':
            self.exceptions.append(json.dumps(message['params']['exceptionDetails'])[:500])

    def text(self) -> str:
        """Return all text of the page."""
        return str(self.evaluate('document.body ? document.body.innerText : ""'))

    def evaluate(self, script: str) -> Any:
        """Return the value of an expression in the page."""
        return self.call('Runtime.evaluate', expression=script,
                         returnByValue=True)['result'].get('value')

    def draw(self, frames: int = 1) -> None:
        """Wait until the page has been drawn a number of times."""
        self.call('Runtime.evaluate', awaitPromise=True, expression=f"""new Promise(done => {{
            let left = {frames};
            const next = () => left-- > 0 ? requestAnimationFrame(next) : done();
            next(); }})""")

    def screenshot(self, path: Path) -> None:
        """Write a screenshot to a PNG file."""
        shot = self.call('Page.captureScreenshot', format='png')
        path.write_bytes(base64.b64decode(shot['data']))

    def mouse(self, kind: str, x: float, y: float, pressed: bool = False) -> None:
        """Send a mouse event: mouseMoved, mousePressed or mouseReleased."""
        self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y,
                  button='left' if pressed or kind != 'mouseMoved' else 'none',
                  buttons=int(pressed), clickCount=int(kind != 'mouseMoved'))

    def drag(self, start: Any, end: Any, steps: int = 6) -> None:
        """Drag from one point of the page to another, in steps."""
        self.mouse('mouseMoved', *start)
        self.draw(6)    # the gizmo picks what is under the mouse when it is drawn
        self.mouse('mousePressed', *start, pressed=True)
        for step in range(1, steps + 1):
            place = (a + step / steps * (b - a) for a, b in zip(start, end, strict=True))
            self.mouse('mouseMoved', *place, pressed=True)
            self.draw()
        self.mouse('mouseReleased', *end)

    def click(self, label: str, what: str = 'button:not([role=tab]), label') -> None:
        """Click the element with a label as soon as it exists: a button, or by a selector."""
        place = wait_for(lambda: self.evaluate(f"""(() => {{
            const found = [...document.querySelectorAll({json.dumps(what)})].find(
                each => each.innerText.trim() === {json.dumps(label)} && each.offsetParent);
            if (!found) return null;
            found.scrollIntoView({{block: 'center'}});
            const box = found.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2]; }})()"""),
                         f"a button '{label}' is there")
        self.mouse('mousePressed', *place, pressed=True)
        self.mouse('mouseReleased', *place)

    def close(self) -> None:
        self.call('Page.close')
        self._socket.close()
        self.closed = True


class Browser:
    """A Chromium without a window."""

    def __init__(self, folder: Path, size: str) -> None:
        program = chromium()
        assert program is not None
        self._tabs: list[Tab] = []
        self._shots = Path(os.environ.get('ROS2_IK_SCREENSHOTS') or folder)
        self._shots.mkdir(parents=True, exist_ok=True)
        with (folder / 'chromium.log').open('wb') as log:
            self._process = subprocess.Popen(
                [program, *FLAGS, f'--user-data-dir={folder / "profile"}',
                 f'--window-size={size}', 'about:blank'], stdout=log, stderr=log)
        port = folder / 'profile' / 'DevToolsActivePort'
        wait_for(lambda: port.exists() and port.read_text().count('\n'), 'chromium starts')
        self._address = f'127.0.0.1:{port.read_text().splitlines()[0]}'

    def open(self, url: str) -> Tab:
        request = Request(f'http://{self._address}/json/new?about:blank', method='PUT')
        with urlopen(request, timeout=TIMEOUT) as answer:
            tab = Tab(json.load(answer)['webSocketDebuggerUrl'])
        self._tabs.append(tab)
        tab.call('Page.navigate', url=url)
        return tab

    def save_screenshots(self, name: str) -> None:
        """Write a screenshot of each open page."""
        for number, tab in enumerate(tab for tab in self._tabs if not tab.closed):
            tab.screenshot(self._shots / f'{name}{f"_{number}" if number else ""}.png')

    def close(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def browser_in(folder: Path, size: str = '960,640') -> Iterator[Browser]:
    """Yield a browser and close it; skip without Chromium: the body of a fixture."""
    if chromium() is None:
        pytest.skip('no chromium is installed (apt-get install chromium)')
    browser = Browser(folder, size)
    try:
        yield browser
    finally:
        browser.close()


class Camera(NamedTuple):
    """Camera of a page: columns of `rotation` (3, 3) are the axes right, down and ahead."""

    position: Any
    rotation: Any
    angle: float = math.radians(45)    # of view, from top to bottom [rad]

    def pixel(self, tab: Tab, point: Any) -> tuple[float, float]:
        """Return the pixel of a point (3,) of the world."""
        x, y, width, height = tab.evaluate("""(() => {
            const box = document.querySelector('canvas').getBoundingClientRect();
            return [box.x, box.y, box.width, box.height]; })()""")
        right, down, ahead = np.subtract(point, self.position) @ self.rotation
        scale = height / 2 / math.tan(self.angle / 2) / ahead
        return float(x + width / 2 + scale * right), float(y + height / 2 + scale * down)
