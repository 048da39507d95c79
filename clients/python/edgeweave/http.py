"""Requests to the lab API with the standard library only."""

from __future__ import annotations

import http.client
import io
import json
import re
import socket
import ssl
import time
from typing import Any
from urllib.parse import urlencode, urlsplit

#: Seconds for a whole answer, however slowly it comes.
TIMEOUT = 60
#: Bytes of an answer, with its head.
MAX_ANSWER_BYTES = 64 * 1024 * 1024
PART_BYTES = 64 * 1024
#: Characters of an answer that is not JSON, in an error, and of a reason.
MAX_SHOWN = 200
MAX_REASON = 2_000
#: Control characters, marks that change the direction of writing, ends of lines, halves of characters.
UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")


class LabError(Exception):
    """The simulator rejects a request, or does not answer it; the text is the reason, and the status is then 0.

    The text has one line, and no character that a terminal obeys: it contains what a server says.
    """

    def __init__(self, message: str, status: int, code: str):
        super().__init__(_shown(message))
        self.status = status
        self.code = _shown(code)


class VerificationError(AssertionError):
    """The journal is not as the test expects; the text names the nearest entries, each in a line of its own."""


class LabHttp:
    """Sends requests with the lab token, which does not expire when a test advances the clock."""

    def __init__(self, url: str, token: str, ca: str):
        self.url = url
        self._token = token
        self._tls = ssl.create_default_context(cafile=ca)

    def _call(self, method: str, path: str, body: Any = None, query: dict[str, Any] | None = None) -> Any:
        """Returns the data of the answer; a text is sent as YAML. Raises LabError."""
        asked = {name: _text(value) for name, value in (query or {}).items() if value is not None}
        headers = {"authorization": f"Bearer {self._token}", "content-type": "application/json"}
        data = None
        if isinstance(body, str):
            headers["content-type"] = "application/yaml"
            data = body.encode()
        elif body is not None:
            data = json.dumps({name: value for name, value in body.items() if value is not None}).encode()
        target = path + (f"?{urlencode(asked)}" if asked else "")
        try:
            status, text = self._send(method, target, data, headers)
        except (OSError, http.client.HTTPException) as error:
            # Without the cause: a traceback would show its text, which may be the server's.
            raise LabError(f"no simulator answers at {self.url}: {error}", 0, "") from None
        answer = _map(text, status)
        if status >= 300:
            raise _error(answer, text, status)
        return answer.get("data")

    @staticmethod
    def _holds(answer: dict[str, Any], field: str) -> Any:
        """The answer, if it has the field and it is true. Raises VerificationError with its message otherwise."""
        if answer.get(field):
            return answer
        message = str(answer.get("message") or f"the answer has no {field}")[:MAX_REASON]
        # The lines of a server are indented, so that none looks like a line of the test runner.
        raise VerificationError("\n  ".join(_shown(line.strip()) for line in message.split("\n")))

    def _send(self, method: str, target: str, data: bytes | None, headers: dict[str, str]) -> tuple[int, str]:
        """The status and the body. Raises LabError for an answer that is too long or comes too slowly."""
        where = urlsplit(self.url)
        end = time.monotonic() + TIMEOUT
        if where.scheme == "https":
            connection = http.client.HTTPSConnection(where.netloc, timeout=TIMEOUT, context=self._tls)
        else:
            connection = http.client.HTTPConnection(where.netloc, timeout=TIMEOUT)
        connection.connect()
        own = connection.sock
        try:
            connection.sock = _LimitedSocket(own, end)  # type: ignore[assignment]
            connection.request(method, where.path + target, data, {**headers, "connection": "close"})
            answer = connection.getresponse()
            parts: list[bytes] = []
            while part := answer.read1(PART_BYTES):
                parts.append(part)
            return answer.status, b"".join(parts).decode(errors="replace")
        finally:
            own.close()


class _LimitedSocket:
    """A socket for http.client: its waits end together, and it reads a limited number of bytes.

    The timeout of a socket begins anew with each byte, and http.client reads any number of `100 Continue`.
    """

    def __init__(self, sock: Any, end: float):
        self._sock = sock
        self._end = end
        self._left = MAX_ANSWER_BYTES

    def sendall(self, data: Any) -> None:
        view = memoryview(data).cast("B")
        while view:
            view = view[self._in_time(self._sock.send, view) :]

    def recv_into(self, buffer: Any) -> int:
        size = self._in_time(self._sock.recv_into, buffer)
        self._left -= size
        if self._left < 0:
            raise LabError(f"the answer has more than {MAX_ANSWER_BYTES} bytes", 0, "")
        return size

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Reader(self), PART_BYTES)

    def close(self) -> None:
        """Does nothing: http.client calls it before the body is read. The caller closes the socket."""

    def _in_time(self, act: Any, argument: Any) -> int:
        left = self._end - time.monotonic()
        try:
            if left > 0:
                self._sock.settimeout(left)
                return act(argument)
        except TIMEOUTS:
            pass
        raise LabError(f"the answer is not complete after {TIMEOUT} seconds", 0, "")


#: Up to Python 3.9 the timeout of a socket is an error of its own.
TIMEOUTS = (TimeoutError, socket.timeout)


class _Reader(io.RawIOBase):
    def __init__(self, sock: _LimitedSocket):
        self._sock = sock

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._sock.recv_into(buffer)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _shown(text: str) -> str:
    return UNSEEN.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def _map(text: str, status: int) -> dict[str, Any]:
    """The fields of an answer. Raises LabError for another one."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return value
    raise LabError(f"the answer is not of a simulator: {text[:MAX_SHOWN]}", status, "")


def _error(answer: dict[str, Any], text: str, status: int) -> LabError:
    error = _fields(answer.get("error"))
    cause = _fields(error.get("cause"))
    reason = cause.get("reason") or cause.get("message") or error.get("message") or text[:MAX_SHOWN]
    field = cause.get("field")
    message = f"{field}: {reason}" if field else str(reason)
    return LabError(message[:MAX_REASON], status, str(error.get("code", ""))[:MAX_SHOWN])


def _fields(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
