"""Requests a page, again and again until the network carries it: get.py HOST PORT [IDENTITY_FILE]. With an identity, through the SDK."""

import socket
import sys
import time

PATIENCE = 60.0


def get(connection: socket.socket, host: str) -> int:
    connection.sendall(f"GET / HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
    count = 0
    while data := connection.recv(16 * 1024):
        count += len(data)
    return count


def connect(host: str, port: int, identity: str) -> socket.socket:
    if not identity:
        return socket.create_connection((host, port), timeout=10)
    import openziti

    connection = openziti.socket(type=socket.SOCK_STREAM)
    connection.connect((host, port))
    return connection


def main(host: str, port: str, identity: str = "") -> None:
    if identity:
        import openziti

        openziti.load(identity)
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            with connect(host, int(port), identity) as connection:
                if (count := get(connection, host)) > 0:
                    print(f"{host}: {count} bytes", flush=True)
                    return
        except OSError as error:
            if time.monotonic() > deadline:
                sys.exit(f"{host}: {error}")
        time.sleep(0.2)


main(*sys.argv[1:])
