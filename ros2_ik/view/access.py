"""Access control of the page: a browser lets any web page send requests to any server."""

from collections.abc import Mapping
from dataclasses import dataclass, field
import ipaddress
import secrets
import socket

# No frame of another web page may show the page, and the page connects to its own server only:
# viser takes another server from the address.
POLICY = "frame-ancestors 'none'; connect-src 'self' data: blob:"


def is_local(host: str) -> bool:
    """Return whether only this machine reaches a server that listens on an address."""
    try:
        return host == 'localhost' or ipaddress.ip_address(host).is_loopback
    except ValueError:    # the name of a machine
        return False


@dataclass(frozen=True)
class Access:
    """
    Admits the requests of the page that listens on `host`, and refuses those of other web pages.

    The path of each address begins with the random `token`, and is answered only with it.
    """

    host: str
    token: str = field(default_factory=lambda: secrets.token_urlsafe(16))

    def url(self, port: int) -> str:
        """Return the address to open."""
        host = socket.gethostname() if self.host in ('0.0.0.0', '::') else self.host
        return f'http://{f"[{host}]" if ":" in host else host}:{port}/{self.token}/'

    def refusal(self, path: str, headers: Mapping[str, str]) -> str:
        """Return why a request is refused, '' where it is not."""
        first = path.partition('?')[0].lstrip('/').partition('/')[0]
        if not secrets.compare_digest(first.encode(errors='surrogateescape'), self.token.encode()):
            return 'the token is missing: open the address that the terminal shows'
        origin, own = headers.get('Origin'), f'://{headers.get("Host", "")}'.lower()
        if (origin is not None or 'Upgrade' in headers) and not (
                origin or '').lower().endswith(own):
            return f"a page of '{origin}' cannot use this one"
        return ''

    def inner_path(self, path: str) -> str:
        """Return a path without the token."""
        return path.removeprefix(f'/{self.token}')
