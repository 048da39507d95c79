"""Requests to the lab API with the standard library only."""

from __future__ import annotations

import http.client
import json
import ssl
import time
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import urlencode

#: Seconds for the head of an answer, and for its body.
TIMEOUT = 60
#: Bytes of an answer.
MAX_ANSWER_BYTES = 64 * 1024 * 1024
PART_BYTES = 64 * 1024
#: Characters of an answer that is not JSON, in an error.
MAX_SHOWN = 200


class LabError(Exception):
    """The simulator rejects a request, or does not answer it; the text is the reason, and the status is then 0."""

    def __init__(self, message: str, status: int, code: str):
        super().__init__(message)
        self.status = status
        self.code = code


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
        url = self.url + path + (f"?{urlencode(asked)}" if asked else "")
        request = urllib.request.Request(url, method=method, data=data, headers=headers)
        try:
            with urllib.request.urlopen(request, context=self._tls, timeout=TIMEOUT) as answer:
                return _map(_read(answer), answer.status).get("data")
        except urllib.error.HTTPError as rejection:
            with rejection:
                raise _error(rejection) from None
        except (OSError, http.client.HTTPException) as error:
            raise LabError(f"no simulator answers at {self.url}: {error}", 0, "") from error


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _read(answer: Any) -> str:
    """The body. Raises LabError for one that is too long or comes too slowly."""
    end = time.monotonic() + TIMEOUT
    parts: list[bytes] = []
    size = 0
    while part := answer.read1(PART_BYTES):
        size += len(part)
        if size > MAX_ANSWER_BYTES:
            raise LabError(f"the answer has more than {MAX_ANSWER_BYTES} bytes", answer.status, "")
        if time.monotonic() > end:
            raise LabError(f"the answer is not complete after {TIMEOUT} seconds", answer.status, "")
        parts.append(part)
    return b"".join(parts).decode(errors="replace")


def _map(text: str, status: int) -> dict[str, Any]:
    """The fields of an answer. Raises LabError for another one."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return value
    raise LabError(f"the answer is not of a simulator: {text[:MAX_SHOWN]}", status, "")


def _error(rejection: urllib.error.HTTPError) -> LabError:
    text = _read(rejection)
    try:
        error = _fields(_map(text, rejection.code).get("error"))
    except LabError as other:
        return other
    cause = _fields(error.get("cause"))
    reason = cause.get("reason") or cause.get("message") or error.get("message") or text[:MAX_SHOWN]
    field = cause.get("field")
    return LabError(f"{field}: {reason}" if field else str(reason), rejection.code, str(error.get("code", "")))


def _fields(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
