"""Access to the page of `ros2_ik view`: origins and token, tested by raw requests."""

from http.client import HTTPConnection

import pytest

pytest.importorskip('viser')
from ros2_ik.view.server import rejection_reason  # noqa: E402

HOST = '127.0.0.1:8080'


@pytest.mark.parametrize(('origin', 'allowed'), [
    (f'http://{HOST}', True), ('http://127.0.0.1:3000', False), ('http://127.0.0.1', False),
    ('http://localhost:8080', False), ('null', False), (f'http://evil.example/{HOST}', False),
    ('', False), (None, False)])
def test_websocket_is_accepted_from_the_page_origin_only(origin, allowed):
    headers = {'Host': HOST, 'Upgrade': 'websocket'} | ({} if origin is None else {
        'Origin': origin})
    reason = rejection_reason('secret', '/secret', headers)
    assert reason == ('' if allowed else f"a page of '{origin}' must not use this server")


@pytest.mark.parametrize(('path', 'allowed'), [
    ('/secret', True), ('/secret/?a=b', True), ('/', False), ('', False), ('/secre', False),
    ('/secrets/', False), ('/x/secret', False), ('/?/secret', False), ('/\udcff', False)])
def test_request_is_accepted_with_the_token_in_its_path_only(path, allowed):
    assert (rejection_reason('secret', path, {'Host': HOST}) == '') is allowed


@pytest.fixture
def page(session, page_of):
    page = page_of(session)
    assert len(token(page)) > 20
    return page


def token(page):
    return page.url.split('/')[-2]


def status_of(page, path='/{}/', **headers):
    """Return status, text and headers of a request; {} in the path is the token."""
    port, path = page.server.get_port(), path.format(token(page))
    connection = HTTPConnection('127.0.0.1', port, timeout=20)
    connection.request('GET', path, headers={'Host': f'127.0.0.1:{port}', **headers})
    response = connection.getresponse()
    return response.status, response.read(), response.headers


def test_server_refuses_requests_without_token_or_from_other_origins(page):
    status, text, headers = status_of(page)
    assert status == 200 and b'<html' in text
    assert "frame-ancestors 'none'" in headers['Content-Security-Policy']
    for options, reason in (({'path': '/'}, b'the token is missing'),
                            ({'Origin': 'https://evil.example'}, b"a page of 'https://evil.ex")):
        status, text, _ = status_of(page, **options)
        assert status == 403 and reason in text
    assert status_of(page, path='/{0}/../{0}/index.html')[0] == 404


def test_server_refuses_websockets_without_token_or_from_other_origins(page):
    from viser import __version__
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect
    host = f'127.0.0.1:{page.server.get_port()}'

    def first_message(path='/{}', **options):
        with connect(f'ws://{host}{path.format(token(page))}', max_size=None,
                     subprotocols=[f'viser-v{__version__}'], **options) as connection:
            return connection.recv(timeout=20)
    assert first_message(origin=f'http://{host}')
    for options in ({'origin': 'https://evil.example'}, {},
                    {'origin': f'http://{host}', 'path': '/'}):
        with pytest.raises(InvalidStatus, match='403'):
            first_message(**options)


def test_viser_without_the_access_check_is_refused(session, page_of, monkeypatch):
    """A later viser may bypass the check: an error is better than an open page."""
    import viser

    class ChangedServer(viser.ViserServer):
        def __init__(self, **_):
            pass
    monkeypatch.setattr('ros2_ik.view.server.viser.ViserServer', ChangedServer)
    with pytest.raises(RuntimeError, match='open to every web page'):
        page_of(session)
