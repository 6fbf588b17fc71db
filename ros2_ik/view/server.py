"""viser's server behind access control."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
import errno
from http import HTTPStatus
import io
import os
import socket
from typing import Any, TYPE_CHECKING

import viser
from websockets.asyncio import server as websockets

from ros2_ik.view.access import Access, POLICY

if TYPE_CHECKING:
    from websockets.http11 import Request, Response

InputHandle = Any    # of viser 1.1, to whose type checkers find `value` read-only


def listening(access: Access, port: int) -> viser.ViserServer:
    """Return a server on a port of `access.host`; raises OSError if it cannot listen there."""
    host = access.host
    try:    # viser waits for ever if it cannot listen
        socket.create_server((host, port), family=socket.AF_INET6 if ':' in host
                             else socket.AF_INET).close()
    except OSError as error:
        raise OSError(error.errno,
                      f'cannot listen on {host}:{port}: {os.strerror(error.errno or 0)}') from None
    with redirect_stdout(io.StringIO()), _checked(access):    # viser prints its address
        server = viser.ViserServer(host=host, port=port, verbose=False)
    if server.get_port() != port:    # taken since, and viser has chosen another one
        stop(server)
        raise OSError(errno.EADDRINUSE, f'port {port} of {host} is taken')
    return server


def stop(server: viser.ViserServer) -> None:
    """Stop a server without its output."""
    with redirect_stdout(io.StringIO()):
        server.stop()


@contextmanager
def _checked(access: Access) -> Iterator[None]:
    """
    Make a server that starts to listen meanwhile refuse what `access` refuses.

    viser has no check and no option for one: `websockets.asyncio.server.serve` is replaced
    meanwhile. Raises RuntimeError if viser has not called the replacement.
    """
    usual, checked = websockets.serve, list[bool]()

    def serve(*arguments: Any, process_request: 'Callable[..., Response | None]',
              **options: Any) -> websockets.serve:
        def answer(connection: websockets.ServerConnection,
                   request: 'Request') -> 'Response | None':
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
