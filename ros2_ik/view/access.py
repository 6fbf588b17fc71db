"""Who may use the page: a browser lets any web page ask any server, also one of this machine."""

from collections.abc import Mapping
from dataclasses import dataclass
import ipaddress
import secrets
import socket
from urllib.parse import SplitResult, urlsplit

LOCAL = ('localhost', 'ip6-localhost')
# Nobody shows the page in a page of theirs, to have it clicked on unseen, and the page talks to
# its own server alone: viser takes another one from the address.
POLICY = "frame-ancestors 'none'; connect-src 'self' data: blob:"


def is_local(host: str) -> bool:
    """Return whether only this machine reaches what listens on an address."""
    try:
        return host in LOCAL or ipaddress.ip_address(host).is_loopback
    except ValueError:    # the name of a machine
        return False


def new_token() -> str:
    """Return a random token."""
    return secrets.token_urlsafe(16)


@dataclass(frozen=True)
class Access:
    """
    Tells the requests of the page that listens on `host` from those of other web pages.

    `token` begins the path of each address: who does not know it gets nothing. It is '' only for a
    page that only this machine reaches.
    """

    host: str
    token: str = ''

    def __post_init__(self) -> None:
        if not self.token and not is_local(self.host):
            raise ValueError(f"a page on '{self.host}' needs a token")

    def url(self, port: int) -> str:
        """Return the address to open."""
        host = socket.gethostname() if self.host in ('0.0.0.0', '::') else self.host
        path = f'{self.token}/' if self.token else ''
        return f'http://{f"[{host}]" if ":" in host else host}:{port}/{path}'

    def refusal(self, path: str, headers: Mapping[str, str]) -> str:
        """Return why a request is refused, '' where it is not."""
        host, origin = headers.get('Host', ''), headers.get('Origin')
        # another site's name may lead here; a browser would take this page for part of that site
        if not self.token and not is_local(_parts(f'//{host}').hostname or ''):
            return f"this page is not at '{host}'; valid: localhost"
        if (origin is not None or 'Upgrade' in headers) and (
                _parts(origin or '').netloc.lower() != host.lower()):
            return f"a page of '{origin}' cannot use this one"
        if self.token and not secrets.compare_digest(_first(path), self.token.encode()):
            return 'the token is missing: open the address that the terminal shows'
        return ''

    def inner_path(self, path: str) -> str:
        """Return a path without the token."""
        return path.removeprefix(f'/{self.token}') if self.token else path


def _parts(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit('')


def _first(path: str) -> bytes:
    """Return the first part of a path."""
    return path.partition('?')[0].lstrip('/').partition('/')[0].encode(errors='surrogateescape')
