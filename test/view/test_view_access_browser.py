"""Who may use the page: a web page from elsewhere in a Chromium."""

from http.server import BaseHTTPRequestHandler, HTTPServer
import threading

from chromium import wait_for
import pytest

ASKS = """<script>
const answers = [];
for (const place of ['PLACE', 'PLACE/secret']) {
    const socket = new WebSocket('ws://' + place, ['viser-vVERSION']);
    socket.onopen = () => answers.push('open');
    socket.onerror = () => answers.push('refused');
}
fetch('http://PLACE/secret/').then(_ => answers.push('open'), _ => answers.push('refused'));
const frame = document.createElement('iframe');
frame.src = 'http://PLACE/secret/';
document.documentElement.append(frame);
</script>"""


@pytest.mark.slow
def test_other_pages_cannot_connect(browser, session, page_of, shots):
    """Neither from another port of this machine nor from nowhere, even if they know the token."""
    from viser import __version__
    page = page_of(session, 'secret')
    place = f'127.0.0.1:{page.server.get_port()}'
    html = ASKS.replace('PLACE', place).replace('VERSION', __version__)

    class Other(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header('Content-Type', 'text/html')
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, *_):
            """Say nothing."""
    with HTTPServer(('127.0.0.1', 0), Other) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        for url in (f'http://127.0.0.1:{other.server_port}/', f'data:text/html,{html}'):
            tab = browser.open(url)
            wait_for(lambda tab=tab: len(tab.evaluate('answers') or ()) == 3, 'it has answers')
            assert tab.evaluate('answers') == ['refused'] * 3
            tab.close()
        other.shutdown()
    assert not page.server.get_clients()
    tab = browser.open(page.url)
    wait_for(lambda: page.server.get_clients(), 'its own page connects')
    wait_for(lambda: 'Back to the robot' in tab.text(), 'the panel is there')
    tab.close()
