"""Who may use the page, by raw requests."""

from http.client import HTTPConnection
import socket

import pytest

from ros2_ik.view.access import Access, is_local, new_token

HOME = '127.0.0.1:8080'


def answer_of(access, path='/', **headers):
    return access.refusal(path, {name.capitalize(): value for name, value in headers.items()})


@pytest.mark.parametrize(('host', 'local'), [
    ('127.0.0.1', True), ('localhost', True), ('::1', True), ('127.8.0.1', True),
    ('0.0.0.0', False), ('192.168.1.4', False), ('::', False), ('my-machine', False)])
def test_what_only_this_machine_reaches(host, local):
    assert is_local(host) is local


@pytest.mark.parametrize(('host', 'own'), [
    (HOME, True), ('LocalHost:8080', True), ('localhost:9000', True),    # through a tunnel
    ('[::1]:8080', True), ('evil.example:8080', False), ('192.168.1.4:8080', False), ('', False),
    ('127.0.0.1.evil.example', False), ('[', False)])
def test_without_a_token_only_names_of_this_machine(host, own):
    """Where a name of somebody else leads here, a browser takes the page for theirs."""
    reason = answer_of(Access('127.0.0.1'), host=host)
    assert (reason == '') is own
    assert own or reason == f"this page is not at '{host}'; valid: localhost"


@pytest.mark.parametrize(('origin', 'same'), [
    (f'http://{HOME}', True), (f'https://{HOME}', True), ('http://127.0.0.1:3000', False),
    ('http://127.0.0.1', False), ('http://localhost:8080', False), ('null', False),
    ('https://evil.example', False), (f'http://evil.example/{HOME}', False), ('', False),
    ('http://[', False)])
def test_only_pages_of_its_own(origin, same):
    reason = answer_of(Access('127.0.0.1'), host=HOME, upgrade='websocket', origin=origin)
    assert (reason == '') is same
    assert same or reason == f"a page of '{origin}' cannot use this one"


def test_without_an_origin_there_is_a_page_but_no_connection():
    access = Access('127.0.0.1')
    assert answer_of(access, host=HOME) == ''
    assert answer_of(access, host=HOME, upgrade='websocket') != ''


@pytest.mark.parametrize(('path', 'known'), [
    ('/secret', True), ('/secret/', True), ('/secret/?a=b', True), ('/secret?a=b', True),
    ('/', False), ('', False), ('/secre', False), ('/secrets/', False), ('/x/secret', False),
    ('/?secret', False), ('/?/secret', False), ('/\udcff', False)])
def test_token_begins_the_path(path, known):
    access = Access('127.0.0.1', 'secret')
    assert (answer_of(access, path, host=HOME) == '') is known
    if known:
        assert access.inner_path(path) in ('', '/', '/?a=b', '?a=b')


def test_address_to_open():
    assert Access('127.0.0.1').url(8080) == 'http://127.0.0.1:8080/'
    assert Access('::1', 'abc').url(8080) == 'http://[::1]:8080/abc/'
    assert Access('0.0.0.0', 'abc').url(1) == f'http://{socket.gethostname()}:1/abc/'
    with pytest.raises(ValueError, match='needs a token'):
        Access('0.0.0.0')
    tokens = {new_token() for _ in range(50)}
    assert len(tokens) == 50 and min(map(len, tokens)) > 20


@pytest.fixture
def page(session, page_of):
    return page_of(session, 'secret')


def status_of(page, host=None, path='/secret/', **headers):
    """Return status, text and headers of a request for the page."""
    port = page.server.get_port()
    connection = HTTPConnection('127.0.0.1', port, timeout=20)
    connection.request('GET', path, headers={'Host': host or f'127.0.0.1:{port}', **headers})
    response = connection.getresponse()
    return response.status, response.read(), response.headers


def test_server_gives_its_page_to_those_who_may(page):
    status, text, headers = status_of(page)
    assert status == 200 and b'<html' in text
    assert "frame-ancestors 'none'" in headers['Content-Security-Policy']
    for wrong, reason in (({'host': 'evil.example', 'path': '/'}, b'the token is missing'),
                          ({'path': '/'}, b'the token is missing'),
                          ({'Origin': 'https://evil.example'}, b"a page of 'https://evil.ex")):
        status, text, _ = status_of(page, **wrong)
        assert status == 403 and reason in text
    assert status_of(page, path='/secret/../secret/index.html')[0] == 404


def test_server_talks_to_its_own_page_alone(page):
    from viser import __version__
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect
    place = f'127.0.0.1:{page.server.get_port()}'

    def talk(path='/secret', **options):
        with connect(f'ws://{place}{path}', max_size=None, subprotocols=[f'viser-v{__version__}'],
                     **options) as connection:
            return connection.recv(timeout=20)
    assert talk(origin=f'http://{place}')
    for wrong in ({'origin': 'https://evil.example'}, {'origin': 'http://127.0.0.1:3000'}, {},
                  {'origin': f'http://{place}', 'path': '/'},
                  {'origin': f'http://{place}', 'path': '/secre'}):
        with pytest.raises(InvalidStatus, match='403'):
            talk(**wrong)


def test_server_without_a_token_has_no_name_of_somebody_else(session, page_of):
    """Where such a name leads here, the browser takes page and connection for one."""
    page = page_of(session)
    assert status_of(page, 'evil.example', '/')[0] == 403
    with socket.create_connection(('127.0.0.1', page.server.get_port()), timeout=20) as raw:
        raw.sendall(b'GET / HTTP/1.1\r\nHost: evil.example\r\nUpgrade: websocket\r\n'
                    b'Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n'
                    b'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n'
                    b'Origin: http://evil.example\r\n\r\n')
        assert raw.recv(100).startswith(b'HTTP/1.1 403')


def test_server_that_cannot_be_checked_is_refused(session, page_of, monkeypatch):
    """A later viser may listen in another way: no page then, rather than an open one."""
    import viser

    class Other(viser.ViserServer):
        def __init__(self, **_):
            pass
    monkeypatch.setattr('ros2_ik.view.server.viser.ViserServer', Other)
    with pytest.raises(RuntimeError, match='open to every web page'):
        page_of(session)
