"""Fixtures: sessions of `ros2_ik view`, their pages, and a browser."""

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
    """Return a port that is not in use."""
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def page_of(free_port: int) -> Iterator[Callable[[Any], Any]]:
    """Return a function that serves a session until the test ends."""
    pytest.importorskip('viser')
    from ros2_ik.view.page import Page
    pages: list[Any] = []

    def serve(session: Any) -> Any:
        pages.append(Page(session, free_port))
        return pages[-1]
    yield serve
    for page in pages:
        page.stop()


@pytest.fixture(scope='module')
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Run a Chromium for the tests of a module."""
    yield from browser_in(tmp_path_factory.mktemp('chromium'))


@pytest.fixture
def screenshots(browser: Browser, request: pytest.FixtureRequest) -> Iterator[None]:
    """Write a screenshot of each open page after the test."""
    yield
    browser.save_screenshots(request.node.name)
