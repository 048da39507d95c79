"""Sends every field of every operation of the lab, and reads every field of its answer."""

import http.server
import json
import threading
import urllib.parse

import pytest

from edgeweave import Lab
from every_field_calls import CALLS


class Recording(http.server.BaseHTTPRequestHandler):
    """Keeps the request, and answers with the data of the call."""

    def answer(self):
        server = self.server
        target = urllib.parse.urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        server.received = {
            "method": self.command,
            "path": target.path,
            "query": dict(urllib.parse.parse_qsl(target.query)),
            "body": json.loads(body) if body else None,
        }
        text = json.dumps({"data": server.data}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = answer

    def log_message(self, *_arguments):
        pass


@pytest.mark.parametrize("call, sample, returns", CALLS)
def test_every_field_is_sent_and_read(edgeweave_simulator, call, sample, returns):
    with http.server.HTTPServer(("127.0.0.1", 0), Recording) as server:
        server.data = sample["answer"]
        threading.Thread(target=server.handle_request, daemon=True).start()
        lab = Lab(f"http://127.0.0.1:{server.server_port}", "token", edgeweave_simulator.ca)
        assert call(lab) == (sample["answer"] if returns else None)
        assert server.received == {name: sample[name] for name in ("method", "path", "query", "body")}
