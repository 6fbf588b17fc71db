"""Who may use the page: a browser lets any web page ask any server, also one of this machine."""

from collections.abc import Mapping
from dataclasses import dataclass
import ipaddress
import secrets
import socket
from urllib.parse import urlsplit

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


@dataclass(frozen=True)
class Access:
    """
    Tells the requests of the page that listens on `host` from those of other web pages.

    `token`, unless it is '', begins the path of each address: who does not know it gets nothing.
    """

    host: str
    token: str = ''

    @classmethod
    def by_token(cls, host: str) -> 'Access':
        """Return one with a new token."""
        return cls(host, secrets.token_urlsafe(16))

    @property
    def everywhere(self) -> bool:
        """Whether the page listens on all addresses of this machine."""
        return self.host in ('0.0.0.0', '::')

    def url(self, port: int) -> str:
        """Return the address to open."""
        host = socket.gethostname() if self.everywhere else self.host
        path = f'{self.token}/' if self.token else ''
        return f'http://{f"[{host}]" if ":" in host else host}:{port}/{path}'

    def refusal(self, path: str, headers: Mapping[str, str]) -> str:
        """Return why a request is refused, '' where it is not."""
        host, origin = headers.get('Host', ''), headers.get('Origin')
        if not self._is_own(_name(host)):    # else anybody's name with an address of ours would do
            return f"this page is not at '{host}'; valid: {', '.join(self._names)}"
        if (origin is not None or 'Upgrade' in headers) and _place(origin or '') != host.lower():
            return f"a page of '{origin}' cannot use this one"
        if self.token and not secrets.compare_digest(_first(path), self.token.encode()):
            return 'the token is missing: open the address that the terminal shows'
        return ''

    def inner_path(self, path: str) -> str:
        """Return a path without the token."""
        return path.removeprefix(f'/{self.token}') if self.token else path

    @property
    def _names(self) -> tuple[str, ...]:
        own = socket.gethostname().lower()
        others = (own, f'{own}.local', 'any address') if self.everywhere else (self.host.lower(),)
        return ('localhost', *others)

    def _is_own(self, name: str) -> bool:
        if is_local(name) or name in self._names:
            return True
        try:    # addresses are as they are: only names can be made to lead here
            return self.everywhere and bool(ipaddress.ip_address(name))
        except ValueError:
            return False


def _name(host: str) -> str:
    try:
        return urlsplit(f'//{host}').hostname or ''
    except ValueError:
        return ''


def _place(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ''


def _first(path: str) -> bytes:
    """Return the first part of a path."""
    return path.partition('?')[0].lstrip('/').partition('/')[0].encode(errors='surrogateescape')
