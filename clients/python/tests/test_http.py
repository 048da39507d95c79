"""A server that answers rubbish, without an end or too slowly: each is a LabError, soon and with bounded memory."""

import contextlib
import http.server
import threading

import pytest

import edgeweave.http
from edgeweave import LabError
from edgeweave.http import LabHttp


@contextlib.contextmanager
def answering(head, body=(), status=200):
    """A server that writes the head and then the parts; yields its address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.send_response(status)
            for name, value in head.items():
                self.send_header(name, value)
            self.end_headers()
            with contextlib.suppress(OSError):
                for part in body:
                    self.wfile.write(part)
            self.close_connection = True

        def log_message(self, *_arguments):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        server.block_on_close = False
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


@pytest.fixture
def ca(edgeweave_simulator):
    return edgeweave_simulator.ca


RUBBISH = [b"", b"\x00\xff", b"[]", b"null", b"5", b"<html>", b"[" * 100_000, b'{"error": 5}', b'{"error": {"cause": []}}']


@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("text", RUBBISH)
def test_rubbish_is_an_error(ca, text, status):
    with answering({"content-length": str(len(text))}, [text], status) as url:
        if status == 200 and text.startswith(b"{"):
            assert LabHttp(url, "t", ca)._call("GET", "/x") is None
            return
        with pytest.raises(LabError) as rejection:
            LabHttp(url, "t", ca)._call("GET", "/x")
        assert rejection.value.status == status
        assert len(str(rejection.value)) < 1_000


@pytest.mark.parametrize("status", [200, 500])
def test_an_endless_answer_is_an_error(ca, status, monkeypatch):
    monkeypatch.setattr(edgeweave.http, "MAX_ANSWER_BYTES", 1_000_000)
    endless = iter(lambda: b"x" * 65_536, None)
    with answering({}, endless, status) as url:
        with pytest.raises(LabError, match="more than 1000000 bytes"):
            LabHttp(url, "t", ca)._call("GET", "/x")


def test_a_slow_answer_is_an_error(ca, monkeypatch):
    monkeypatch.setattr(edgeweave.http, "TIMEOUT", 0.3)
    end = threading.Event()

    def slowly():
        while not end.wait(0.05):
            yield b" "

    with answering({}, slowly()) as url:
        with pytest.raises(LabError, match="not complete after 0.3 seconds|timed out"):
            LabHttp(url, "t", ca)._call("GET", "/x")
        end.set()


def test_no_answer_is_an_error(ca):
    with answering({"content-length": "100"}, [b"{"]) as url:
        with pytest.raises(LabError):
            LabHttp(url, "t", ca)._call("GET", "/x")
    with pytest.raises(LabError, match="no simulator answers"):
        LabHttp(url, "t", ca)._call("GET", "/x")
