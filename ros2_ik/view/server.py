"""viser's server, which answers only those who may use it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
import errno
from http import HTTPStatus
import io
import socket
from typing import Any

import viser
from websockets.asyncio import server as websockets

from ros2_ik.view.access import Access, POLICY


def listening(access: Access, port: int) -> viser.ViserServer:
    """Return a server that listens there; raises OSError where that cannot be."""
    host = access.host
    taken = f'port {port} of {host} is taken'
    try:    # viser waits for ever where it cannot listen
        socket.create_server((host, port), family=socket.AF_INET6 if ':' in host
                             else socket.AF_INET).close()
    except OSError as error:
        reason = taken if error.errno == errno.EADDRINUSE else (
            f'cannot listen on {host}:{port}: {error.strerror}')
        raise OSError(error.errno, reason) from None
    with redirect_stdout(io.StringIO()), _checked(access):    # viser tells where it listens
        server = viser.ViserServer(host=host, port=port, verbose=False)
    if server.get_port() != port:    # somebody was faster, and viser has taken the next one
        stop(server)
        raise OSError(errno.EADDRINUSE, taken)
    return server


def stop(server: viser.ViserServer) -> None:
    """Stop a server in silence."""
    with redirect_stdout(io.StringIO()):
        server.stop()


@contextmanager
def _checked(access: Access) -> Iterator[None]:
    """
    Have what begins to listen meanwhile refuse whom `access` refuses.

    viser has no option for it and no check of its own, so it is handed another
    `websockets.asyncio.server.serve`; raises RuntimeError where it has not taken that one.
    """
    usual, checked = websockets.serve, list[bool]()

    def serve(*arguments: Any, process_request: Callable[..., Any], **options: Any) -> Any:
        def answer(connection: Any, request: Any) -> Any:
            reason = access.refusal(request.path, request.headers)
            if reason:
                return connection.respond(HTTPStatus.FORBIDDEN, f'Refused: {reason}\n')
            request.path = access.inner_path(request.path)
            response = process_request(connection, request)
            if response is not None:
                response.headers['Content-Security-Policy'] = POLICY
            return response
        checked.append(True)
        return usual(*arguments, process_request=answer, **options)
    websockets.serve = serve    # type: ignore[assignment, misc]
    try:
        yield
    finally:
        websockets.serve = usual    # type: ignore[misc]
    if not checked:
        raise RuntimeError(f'viser {viser.__version__} serves in another way than 1.1: the page '
                           'would be open to every web page')
