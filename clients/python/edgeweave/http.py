"""Requests to the lab API with the standard library only."""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import urlencode

#: Seconds for an answer.
TIMEOUT = 60


class LabError(Exception):
    """The simulator rejects a request; the text is its reason."""

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
                return json.load(answer).get("data")
        except urllib.error.HTTPError as rejection:
            raise _error(rejection) from None


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _error(rejection: urllib.error.HTTPError) -> LabError:
    text = rejection.read().decode(errors="replace")
    try:
        error = json.loads(text).get("error") or {}
    except ValueError:
        error = {}
    cause = error.get("cause") or {}
    reason = cause.get("reason") or cause.get("message") or error.get("message") or text
    field = cause.get("field")
    return LabError(f"{field}: {reason}" if field else reason, rejection.code, error.get("code", ""))
