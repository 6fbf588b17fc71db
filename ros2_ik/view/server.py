"""viser's web server for this machine only, with access control."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from http import HTTPStatus
import io
import os
import secrets
import socket
from typing import Any, TYPE_CHECKING

import viser
from websockets.asyncio import server as websockets

if TYPE_CHECKING:
    from websockets.http11 import Request, Response

InputHandle = Any    # a control; Any, because viser 1.1 declares its `value` as read-only
HOST = '127.0.0.1'   # address to listen on
# Other web pages must not embed the page in a frame. The page may connect to its own server only,
# because viser's client accepts the address of another server in the URL.
POLICY = "frame-ancestors 'none'; connect-src 'self' data: blob:"


def rejection_reason(token: str, path: str, headers: Mapping[str, str]) -> str:
    """
    Return the reason why a request is refused, '' if the request is allowed.

    The path must begin with the token, and requests of other web pages are refused, because
    browsers let any web page send requests to any server.
    """
    first = path.partition('?')[0].lstrip('/').partition('/')[0]
    # constant time, so that response times reveal nothing about the token
    if not secrets.compare_digest(first.encode(errors='surrogateescape'), token.encode()):
        return 'the token is missing: open the address that the terminal shows'
    # browsers send Origin with CORS requests, and always with WebSocket requests (Upgrade)
    origin, own = headers.get('Origin'), f'://{headers.get("Host", "")}'.lower()
    if (origin is not None or 'Upgrade' in headers) and not (origin or '').lower().endswith(own):
        return f"a page of '{origin}' must not use this server"
    return ''


def start_server(token: str, port: int) -> viser.ViserServer:
    """Start a server on a port of this machine; raises OSError if it cannot listen there."""
    # viser itself would wait forever if it could not listen
    try:
        socket.create_server((HOST, port)).close()
    except OSError as error:
        reason = f'{os.strerror(error.errno or 0)}; choose another port (--port)'
        raise OSError(error.errno, reason, f'{HOST}:{port}') from None
    # viser prints its address, which lacks the token
    with redirect_stdout(io.StringIO()), _checked_requests(token):
        return viser.ViserServer(host=HOST, port=port, verbose=False)


def stop(server: viser.ViserServer) -> None:
    """Stop a server, and hide its output."""
    with redirect_stdout(io.StringIO()):
        server.stop()


@contextmanager
def _checked_requests(token: str) -> Iterator[None]:
    """
    Context manager: viser servers started in the body check each request with `rejection_reason`.

    viser has neither access control nor an option for it, so `websockets.asyncio.server.serve` is
    replaced inside the context. Raises RuntimeError if viser did not call the replacement.
    """
    original, checked = websockets.serve, list[bool]()

    def serve(*arguments: Any, process_request: 'Callable[..., Response | None]',
              **options: Any) -> websockets.serve:
        def answer(connection: websockets.ServerConnection,
                   request: 'Request') -> 'Response | None':
            if reason := rejection_reason(token, request.path, request.headers):
                return connection.respond(HTTPStatus.FORBIDDEN, f'Refused: {reason}\n')
            request.path = request.path.removeprefix(f'/{token}')
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
