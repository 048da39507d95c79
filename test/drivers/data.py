"""The C SDK of Python's package openziti hosts and dials: echoes, half closes, many connections, a killed host.

    data.py drive JSON          everything; JSON names a service, two tokens of hosts and one of a client
    data.py host FILE SERVICE   one host that echoes
"""

import hashlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import openziti
from openziti import zitilib

PATIENCE = 60.0
MIB = 1024 * 1024
LARGE = 64 * MIB
BLOCK = 64 * 1024
MANY = 200
DIALERS = 8
SMALL = 20_000
#: Kept open to the end: the SDK refuses to dial on a descriptor that Python has closed and reused.
KEPT: list[socket.socket] = []
#: Sent by a host after the client has finished sending.
END = b"end"


def serve(connection: socket.socket) -> None:
    """Echoes until the client has finished sending, then sends END. The client closes first: on close, this SDK drops unsent data."""
    with connection:
        while data := connection.recv(BLOCK):
            connection.sendall(data)
        connection.sendall(END)
        time.sleep(PATIENCE)
        connection.shutdown(socket.SHUT_WR)


def load(file: str):
    """Newer releases return the context and an error code."""
    loaded = openziti.load(file)
    return loaded[0] if isinstance(loaded, tuple) else loaded


def host(file: str, service: str) -> None:
    listener = load(file).bind(service)
    listener.listen(2 * MANY)
    print("hosting", flush=True)
    while True:
        connection, _peer = listener.accept()
        plain = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, connection.detach())
        threading.Thread(target=serve, args=(plain,), daemon=True).start()


def echo(connection: socket.socket, size: int) -> str:
    """Describes how the echo differs from the sent data; empty if it is equal. The host answers a half close at the end."""
    block = os.urandom(min(BLOCK, size))
    sent, received = hashlib.sha256(), hashlib.sha256()

    def send() -> None:
        left = size
        while left > 0:
            part = block[: min(left, len(block))]
            connection.sendall(part)
            sent.update(part)
            left -= len(part)
        connection.shutdown(socket.SHUT_WR)

    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    count = 0
    wanted = size + len(END)
    while count < wanted and (data := connection.recv(min(BLOCK, wanted - count))):
        received.update(data)
        count += len(data)
    sender.join(PATIENCE)
    if count != wanted:
        return f"{count} of {wanted} bytes were echoed"
    sent.update(END)
    return "" if sent.digest() == received.digest() else f"{size} bytes were echoed with changes"


def connect(context, service: str) -> socket.socket:
    """Like the SDK's own function, which cannot dial without a terminator name."""
    descriptor = zitilib.ziti_socket(socket.SOCK_STREAM)
    zitilib.check_error(zitilib._ziti_connect(descriptor, context._ctx, service.encode(), None))
    return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, descriptor)


def dial(context, service: str) -> socket.socket:
    """Returns a connection, once there is a host."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            connection = connect(context, service)
            connection.settimeout(PATIENCE)
            return connection
        except Exception as refusal:  # the SDK raises whatever its code says
            if time.monotonic() > deadline:
                raise RuntimeError(f"no connection to {service}: {refusal}") from None
            time.sleep(0.2)


def check(context, service: str, size: int) -> str:
    with dial(context, service) as connection:
        return echo(connection, size)


def many(context, service: str) -> str:
    """Opens all connections before the first one is used. The SDK abandons dials if hundreds start at once."""
    with ThreadPoolExecutor(DIALERS) as pool:
        connections = list(pool.map(lambda _: dial(context, service), range(MANY)))
        problems = [each for each in pool.map(lambda connection: echo(connection, SMALL), connections) if each]
    KEPT.extend(connections)
    return f"{len(problems)} of {MANY} connections: {problems[0]}" if problems else ""


def start_host(file: str, service: str) -> subprocess.Popen:
    process = subprocess.Popen([sys.executable, __file__, "host", file, service], stdout=subprocess.PIPE, text=True)
    if process.stdout.readline().strip() != "hosting":
        raise RuntimeError("the host did not start")
    return process


def drive(wanted: dict) -> None:
    service = wanted["service"]
    with tempfile.TemporaryDirectory() as directory:
        files = {}
        for name in ("first", "second", "client"):
            files[name] = os.path.join(directory, f"{name}.json")
            with open(files[name], "w", encoding="utf-8") as out:
                out.write(openziti.enroll(wanted[name]))
        hosts = [start_host(files["first"], service)]
        try:
            context = load(files["client"])
            steps = {
                "a small echo": lambda: check(context, service, SMALL),
                "64 MiB both ways": lambda: check(context, service, LARGE),
                "200 connections at once": lambda: many(context, service),
            }
            for name, step in steps.items():
                if problem := step():
                    sys.exit(f"{name}: {problem}")
            hosts.append(start_host(files["second"], service))
            hosts[0].kill()
            hosts[0].wait()
            if problem := check(context, service, SMALL):
                sys.exit(f"after the first host was killed: {problem}")
        finally:
            for process in hosts:
                process.kill()
    print(f"SDK {openziti.version()} hosted and dialed")
    sys.stdout.flush()
    os._exit(0)  # the threads of the SDK do not end by themselves


if __name__ == "__main__":
    if sys.argv[1] == "host":
        host(sys.argv[2], sys.argv[3])
    else:
        drive(json.loads(sys.argv[2]))
