"""viser's web server, with access control."""

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

InputHandle = Any    # a control of viser 1.1, whose types declare `value` as read-only


def listening(access: Access, port: int) -> viser.ViserServer:
    """Start a server on a port of `access.host`; raises OSError if it cannot listen there."""
    host = access.host
    # viser itself would wait forever if it could not listen
    try:
        socket.create_server((host, port), family=socket.AF_INET6 if ':' in host
                             else socket.AF_INET).close()
    except OSError as error:
        raise OSError(error.errno,
                      f'cannot listen on {host}:{port}: {os.strerror(error.errno or 0)}') from None
    # viser prints its address, which lacks the token
    with redirect_stdout(io.StringIO()), _checked(access):
        server = viser.ViserServer(host=host, port=port, verbose=False)
    # viser chooses another port if another process took this one after the check above
    if server.get_port() != port:
        stop(server)
        raise OSError(errno.EADDRINUSE, f'port {port} of {host} is in use')
    return server


def stop(server: viser.ViserServer) -> None:
    """Stop a server without its output."""
    with redirect_stdout(io.StringIO()):
        server.stop()


@contextmanager
def _checked(access: Access) -> Iterator[None]:
    """
    Context manager: a viser server started inside it refuses the requests that `access` refuses.

    viser has neither access control nor an option for it, so `websockets.asyncio.server.serve` is
    replaced inside the context. Raises RuntimeError if viser did not call the replacement.
    """
    original, checked = websockets.serve, list[bool]()

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
        return original(*arguments, process_request=answer, **options)
    websockets.serve = serve    # type: ignore[assignment, misc]
    try:
        yield
    finally:
        websockets.serve = original    # type: ignore[misc]
    if not checked:
        raise RuntimeError(f'viser {viser.__version__} starts its server differently from viser '
                           '1.1: the page would be open to every web page')
