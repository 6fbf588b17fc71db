"""Access to the page of `ros2_ik view`: origins and the token, by raw requests."""

from http.client import HTTPConnection
import socket

import pytest

from ros2_ik.view.access import Access, is_local

HOME = '127.0.0.1:8080'
ACCESS = Access('127.0.0.1', 'secret')


@pytest.mark.parametrize(('host', 'local'), [
    ('127.0.0.1', True), ('localhost', True), ('::1', True), ('0.0.0.0', False),
    ('192.168.1.4', False), ('::', False), ('my-machine', False)])
def test_loopback_addresses_are_local(host, local):
    assert is_local(host) is local


@pytest.mark.parametrize(('origin', 'same'), [
    (f'http://{HOME}', True), ('http://127.0.0.1:3000', False), ('http://127.0.0.1', False),
    ('http://localhost:8080', False), ('null', False), (f'http://evil.example/{HOME}', False),
    ('', False), (None, False)])
def test_websocket_of_another_origin_is_refused(origin, same):
    headers = {'Host': HOME, 'Upgrade': 'websocket'} | ({} if origin is None else {
        'Origin': origin})
    reason = ACCESS.refusal('/secret', headers)
    assert reason == ('' if same else f"a page of '{origin}' must not use this server")


@pytest.mark.parametrize(('path', 'known'), [
    ('/secret', True), ('/secret/?a=b', True), ('/', False), ('', False), ('/secre', False),
    ('/secrets/', False), ('/x/secret', False), ('/?/secret', False), ('/\udcff', False)])
def test_path_must_begin_with_the_token(path, known):
    assert (ACCESS.refusal(path, {'Host': HOME}) == '') is known
    if known:
        assert ACCESS.inner_path(path) in ('', '/?a=b')


def test_url_has_host_port_and_a_random_token():
    assert Access('::1', 'abc').url(8080) == 'http://[::1]:8080/abc/'
    assert Access('0.0.0.0', 'abc').url(1) == f'http://{socket.gethostname()}:1/abc/'
    tokens = {Access('127.0.0.1').token for _ in range(50)}
    assert len(tokens) == 50 and min(map(len, tokens)) > 20


@pytest.fixture
def page(session, page_of):
    return page_of(session, 'secret')


def status_of(page, path='/secret/', **headers):
    """Return status, text and headers of a request for the page."""
    port = page.server.get_port()
    connection = HTTPConnection('127.0.0.1', port, timeout=20)
    connection.request('GET', path, headers={'Host': f'127.0.0.1:{port}', **headers})
    response = connection.getresponse()
    return response.status, response.read(), response.headers


def test_server_refuses_requests_without_token_or_of_other_origins(page):
    status, text, headers = status_of(page)
    assert status == 200 and b'<html' in text
    assert "frame-ancestors 'none'" in headers['Content-Security-Policy']
    for wrong, reason in (({'path': '/'}, b'the token is missing'),
                          ({'Origin': 'https://evil.example'}, b"a page of 'https://evil.ex")):
        status, text, _ = status_of(page, **wrong)
        assert status == 403 and reason in text
    assert status_of(page, path='/secret/../secret/index.html')[0] == 404


def test_server_refuses_websockets_of_other_origins(page):
    from viser import __version__
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect
    place = f'127.0.0.1:{page.server.get_port()}'

    def talk(path='/secret', **options):
        with connect(f'ws://{place}{path}', max_size=None, subprotocols=[f'viser-v{__version__}'],
                     **options) as connection:
            return connection.recv(timeout=20)
    assert talk(origin=f'http://{place}')
    for wrong in ({'origin': 'https://evil.example'}, {},
                  {'origin': f'http://{place}', 'path': '/'}):
        with pytest.raises(InvalidStatus, match='403'):
            talk(**wrong)


def test_viser_without_the_access_check_is_refused(session, page_of, monkeypatch):
    """A later viser may listen in another way: an error, rather than an open page."""
    import viser

    class Other(viser.ViserServer):
        def __init__(self, **_):
            pass
    monkeypatch.setattr('ros2_ik.view.server.viser.ViserServer', Other)
    with pytest.raises(RuntimeError, match='open to every web page'):
        page_of(session)
