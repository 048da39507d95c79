"""Starts the simulator as a process on a free port, and stops it with the test."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import threading
from typing import Any, Sequence

from .lab import Lab

#: Names the executable; by default `edgeweave-sim` is searched on the PATH.
COMMAND_VARIABLE = "EDGEWEAVE_SIM"
#: Seconds until the program must be ready, and until it must have stopped.
START_TIME = 60
STOP_TIME = 20
#: Characters of the log in an error.
LOG_TAIL = 2_000


class StartError(Exception):
    """The program is missing, or did not become ready; the text has the end of its log."""


class Simulator:
    """A running simulator. Use it as a context manager, or call `close`.

    It stops with this process in any case, also if this is killed: its standard input ends then.
    """

    def __init__(self, *options: str, command: str | None = None):
        self._process: subprocess.Popen[str] | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="edgeweave-test-")
        self.log_file = os.path.join(self._folder.name, "simulator.log")
        try:
            self.ready = self._start([executable(command), *self._command(), *options])
        except BaseException:
            self.close()
            raise
        #: The path of the file with the authorities that clients should trust.
        self.ca: str = self.ready["ca"]
        self.management_url: str = self.ready["management"]
        self.client_url: str = self.ready["client"]
        #: `tls:host:port`, for routers.
        self.control_address: str = self.ready["ctrl"]
        self.username: str = self.ready["username"]
        self.password: str = self.ready["password"]
        self.lab = Lab(self.ready["lab"], self.ready["labToken"], self.ca)

    @staticmethod
    def _command() -> Sequence[str]:
        return ["start"]

    def _start(self, command: Sequence[str]) -> dict[str, Any]:
        with open(self.log_file, "w", encoding="utf8") as log:
            try:
                self._process = subprocess.Popen(
                    [*command, "--json", "--exit-with-stdin"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    text=True,
                )
            except OSError as error:
                raise StartError(f"{command[0]} cannot be started: {error.strerror}") from error
        late = threading.Timer(START_TIME, self._process.kill)
        late.start()
        try:
            line = self._process.stdout.readline()  # type: ignore[union-attr]
        finally:
            late.cancel()
        if line == "":
            raise StartError(f"{' '.join(command)} did not start:\n{self.log()[-LOG_TAIL:]}")
        return json.loads(line)

    def log(self) -> str:
        """The log so far."""
        with open(self.log_file, encoding="utf8") as log:
            return log.read()

    def identity(self, name: str, role_attributes: Sequence[str] = ()) -> str:
        """Enrolls an identity, which is created if it is missing. Returns the path of its file, which any SDK loads."""
        identity = self.lab.enroll_identity(name, role_attributes=list(role_attributes))
        descriptor, file = tempfile.mkstemp(suffix=".json", dir=self._folder.name)
        with os.fdopen(descriptor, "w", encoding="utf8") as output:
            json.dump(identity, output)
        return file

    def close(self) -> None:
        """Stops the program, and removes its files. A second call has no effect."""
        process, self._process = self._process, None
        if process is not None:
            process.stdin.close()  # type: ignore[union-attr]
            try:
                process.wait(STOP_TIME)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()  # type: ignore[union-attr]
        self._folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()


class Network(Simulator):
    """A simulator and real routers, named a, b, c and so on, with a link between each two."""

    def __init__(self, *options: str, routers: int | Sequence[str] = 2, command: str | None = None):
        names = str(routers) if isinstance(routers, int) else ",".join(routers)
        super().__init__("--routers", names, *options, command=command)
        #: The name of each router → `tls:host:port`, where SDKs connect.
        self.routers: dict[str, str] = {router["name"]: router["edge"] for router in self.ready["routers"]}

    @staticmethod
    def _command() -> Sequence[str]:
        return ["network"]

    def service(self, name: str, router: str, port: int, **options: Any) -> tuple[str, int]:
        """Creates a service that `router` forwards to a TCP server, and everybody may dial.

        Returns host and port of an address that leads to it, for clients without an SDK. Options are those of
        `lab.create_service`. Raises LabError.
        """
        place = self.lab.create_service(name, router, port, **options)["dial"]
        return place["host"], place["port"]

    def wait_until_ready(self, timeout: str | None = None) -> None:
        """Returns when routers, links and hosts are as the controller wants them, such as after the end of a fault.

        Raises LabError, which says what is missing and why, after `timeout` (default 15s).
        """
        self.lab.wait_for_network(timeout=timeout)


def executable(command: str | None = None) -> str:
    """The path of the program. Raises StartError if there is none."""
    wanted = command or os.environ.get(COMMAND_VARIABLE) or "edgeweave-sim"
    found = shutil.which(wanted)
    if found is None:
        raise StartError(f"{wanted} was not found; set {COMMAND_VARIABLE} to the path of edgeweave-sim")
    return found
