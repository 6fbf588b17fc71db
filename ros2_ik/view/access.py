"""Access control of the page, because browsers let any web page send requests to any server."""

from collections.abc import Mapping
from dataclasses import dataclass, field
import ipaddress
import secrets
import socket

# Other web pages must not embed the page in a frame. The page may connect to its own server only,
# because viser's client accepts the address of another server in the URL.
POLICY = "frame-ancestors 'none'; connect-src 'self' data: blob:"


def is_local(host: str) -> bool:
    """Return whether a server that listens on `host` can be reached from this machine only."""
    try:
        return host == 'localhost' or ipaddress.ip_address(host).is_loopback
    except ValueError:    # a host name
        return False


@dataclass(frozen=True)
class Access:
    """
    Access rules for the page that listens on `host`: requests of other web pages are refused.

    The path of each URL must begin with the random `token`.
    """

    host: str
    token: str = field(default_factory=lambda: secrets.token_urlsafe(16))

    def url(self, port: int) -> str:
        """Return the URL to open in a browser."""
        host = socket.gethostname() if self.host in ('0.0.0.0', '::') else self.host
        return f'http://{f"[{host}]" if ":" in host else host}:{port}/{self.token}/'

    def refusal(self, path: str, headers: Mapping[str, str]) -> str:
        """Return the reason why a request is refused, '' if the request is allowed."""
        first = path.partition('?')[0].lstrip('/').partition('/')[0]
        # constant time, so that response times reveal nothing about the token
        if not secrets.compare_digest(first.encode(errors='surrogateescape'), self.token.encode()):
            return 'the token is missing: open the address that the terminal shows'
        # browsers send Origin with cross-site requests and always with WebSockets (Upgrade)
        origin, own = headers.get('Origin'), f'://{headers.get("Host", "")}'.lower()
        if (origin is not None or 'Upgrade' in headers) and not (
                origin or '').lower().endswith(own):
            return f"a page of '{origin}' must not use this server"
        return ''

    def inner_path(self, path: str) -> str:
        """Return a path without the token."""
        return path.removeprefix(f'/{self.token}')
