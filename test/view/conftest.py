"""Sessions of a Panda at a table, and the pages and browsers in which they are looked at."""

from collections.abc import Callable, Iterator
import socket
from typing import Any

from chromium import Browser, browser_in
import pytest
from view_sessions import session_of


@pytest.fixture
def session() -> Any:
    """Return the session of `ros2_ik view panda --scene table`."""
    return session_of()


@pytest.fixture
def free_port() -> int:
    """Return a port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def page_of(free_port: int) -> Iterator[Callable[[Any], Any]]:
    """Return what serves a session, until the test ends."""
    pytest.importorskip('viser')
    from ros2_ik.view.access import Access
    from ros2_ik.view.page import Page
    pages: list[Any] = []

    def serve(session: Any, token: str = 'token') -> Any:
        pages.append(Page(session, Access('127.0.0.1', token), free_port))
        return pages[-1]
    yield serve
    for page in pages:
        page.stop()


@pytest.fixture(scope='module')
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Run a Chromium as long as the tests of a module."""
    yield from browser_in(tmp_path_factory.mktemp('chromium'))


@pytest.fixture
def shots(browser: Browser, request: pytest.FixtureRequest) -> Iterator[None]:
    """Keep what the pages look like at the end of a test, also of one that fails."""
    yield
    browser.keep(request.node.name)
