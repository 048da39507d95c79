"""A server that answers rubbish, without an end or too slowly: each is a LabError, soon and with bounded memory."""

import contextlib
import http.server
import json
import socketserver
import threading
import traceback
import unicodedata

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


@contextlib.contextmanager
def dripping(start, part, pause):
    """A server that writes the start of an answer, and then its part again and again; yields its address."""
    end = threading.Event()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            with contextlib.suppress(OSError):
                self.request.recv(65_536)
                self.request.sendall(start)
                while not end.wait(pause):
                    self.request.sendall(part)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        server.block_on_close = False
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            end.set()
            server.shutdown()


HEAD = b"HTTP/1.1 200 OK\r\n"
DRIPS = {
    "status line": (b"HTTP/1.1 200 O", b"K"),
    "header": (HEAD + b"x: ", b"x"),
    "headers": (HEAD, b"x: y\r\n"),
    "100 Continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "header of 100 Continue": (b"HTTP/1.1 100 Continue\r\nx: ", b"x"),
    "body": (HEAD + b"content-length: 1000000\r\n\r\n", b" "),
    "body without a length": (HEAD + b"\r\n", b" "),
    "chunks": (HEAD + b"transfer-encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "trailers": (HEAD + b"transfer-encoding: chunked\r\n\r\n0\r\n", b"x: y\r\n"),
}


@pytest.mark.parametrize("name", DRIPS)
def test_an_answer_that_drips_is_an_error_after_its_time(ca, name, monkeypatch):
    monkeypatch.setattr(edgeweave.http, "TIMEOUT", 0.3)
    with dripping(*DRIPS[name], pause=0.02) as url:
        with pytest.raises(LabError, match="not complete after 0.3 seconds"):
            LabHttp(url, "t", ca)._call("GET", "/x")


@pytest.mark.parametrize("name", ["100 Continue", "trailers"])
def test_an_endless_head_and_end_are_errors(ca, name, monkeypatch):
    monkeypatch.setattr(edgeweave.http, "MAX_ANSWER_BYTES", 1_000_000)
    start, part = DRIPS[name]
    with dripping(start, part * 1_000, pause=0) as url:
        with pytest.raises(LabError, match="more than 1000000 bytes"):
            LabHttp(url, "t", ca)._call("GET", "/x")


EVIL = "\x1b]0;owned\x07\x1b[2J\nok: all well\u202e\u2066\r\x9b31m\ud800"
JSON = json.dumps({"error": {"code": EVIL, "message": EVIL, "cause": {"field": EVIL, "reason": EVIL}}}).encode()
TELLING = {
    "status line": EVIL.encode(errors="replace") + b"\r\n\r\n",
    "status": f"HTTP/1.1 {EVIL} OK\r\n\r\n".encode(errors="replace"),
    "reason of the status": f"HTTP/1.1 500 {EVIL[:20]}\r\n\r\n".encode(),
    "text": HEAD + b"\r\n" + EVIL.encode(errors="replace"),
    "JSON": b"HTTP/1.1 400 Bad\r\ncontent-length: %d\r\n\r\n%s" % (len(JSON), JSON),
    "length of a chunk": HEAD + b"transfer-encoding: chunked\r\n\r\n\x1b[2J\r\n",
    "location": b"HTTP/1.1 302 Found\r\nlocation: ftp://x/\x1b[2J\r\ncontent-length: 0\r\n\r\n",
}


@pytest.mark.parametrize("name", TELLING)
def test_errors_have_no_characters_that_a_terminal_obeys(ca, name):
    with sending(TELLING[name]) as url:
        with pytest.raises(LabError) as rejection:
            LabHttp(url, "t", ca)._call("GET", "/x")
    error = rejection.value
    report = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    for text in (str(error), error.code, report.replace("\n", "")):
        assert not [each for each in text if unicodedata.category(each) in ("Cc", "Cf", "Cs", "Zl", "Zp")]


@contextlib.contextmanager
def sending(answer):
    """A server that writes the answer, and closes the connection."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.recv(65_536)
            self.request.sendall(answer)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


def test_no_answer_is_an_error(ca):
    with answering({"content-length": "100"}, [b"{"]) as url:
        with pytest.raises(LabError):
            LabHttp(url, "t", ca)._call("GET", "/x")
    with pytest.raises(LabError, match="no simulator answers"):
        LabHttp(url, "t", ca)._call("GET", "/x")
