"""The simulator for the drivers: the values in its ready line, and calls of its APIs with the standard library only."""

import json
import ssl
import urllib.error
import urllib.request


class Simulator:
    """A running simulator, and the session of its administrator."""

    def __init__(self, ready_line: str):
        ready = json.loads(ready_line)
        self.ca = ready["ca"]
        self.urls = {"management": ready["management"], "client": ready["client"]}
        self.token = ""
        self._tls = ssl.create_default_context(cafile=self.ca)
        credentials = {"username": ready["username"], "password": ready["password"]}
        self.session = self.call("POST", "/authenticate?method=password", credentials)
        self.token = self.session["token"]

    def call(self, method: str, path: str, body=None, api: str = "management"):
        """Returns the data of an answer; raises an error if the request is rejected."""
        request = urllib.request.Request(
            self.urls[api] + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"content-type": "application/json", "accept": "application/json", "zt-session": self.token},
        )
        try:
            with urllib.request.urlopen(request, context=self._tls) as response:
                return json.load(response)["data"]
        except urllib.error.HTTPError as refusal:
            raise RuntimeError(f"{method} {path}: {refusal.read().decode()}") from None

    def create(self, kind: str, **fields) -> str:
        """Creates an entity and returns its id."""
        return self.call("POST", f"/{kind}", fields)["id"]
