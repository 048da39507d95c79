"""The C SDK of 2022 enrolls, logs in, and lists exactly the services that its identity may dial."""

import ctypes
import os
import sys
import tempfile
import time

import openziti
from openziti import zitilib
from simulator import Simulator

PATIENCE = 20.0


def enroll(simulator: Simulator, directory: str) -> str:
    """Creates an identity with two services to dial, one to bind and one without access. Returns the file of its key and certificate."""
    identity = simulator.create("identities", name="sdk", type="Device", isAdmin=False, enrollment={"ott": True})
    for name, role in (("one", "dial"), ("two", "dial"), ("hosted", "bind"), ("hidden", "none")):
        simulator.create("services", name=name, encryptionRequired=True, roleAttributes=[role])
    for kind in ("Dial", "Bind"):
        roles = {"identityRoles": [f"@{identity}"], "serviceRoles": [f"#{kind.lower()}"]}
        simulator.create("service-policies", name=kind, type=kind, semantic="AnyOf", **roles)
    token = simulator.call("GET", f"/identities/{identity}")["enrollment"]["ott"]["jwt"]
    file = os.path.join(directory, "identity.json")
    with open(file, "w", encoding="utf-8") as out:
        out.write(openziti.enroll(token))
    return file


def services(context: openziti.context.ZitiContext, file: str) -> dict[str, str]:
    """Names and rights of the services in the SDK's view. Its Python API has no such list: reads the report of its C code."""
    libc = ctypes.CDLL(None)
    libc.fopen.restype = ctypes.c_void_p
    libc.fclose.argtypes = [ctypes.c_void_p]
    dump = zitilib.ziti.ziti_dump
    dump.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    out = libc.fopen(file.encode(), b"w")
    dump(context._ctx, ctypes.cast(libc.fprintf, ctypes.c_void_p), out)
    libc.fclose(out)
    with open(file, encoding="utf-8") as report:
        lines = [line.strip() for line in report if " perm(" in line]
    return {line.split(":")[0]: line.split("perm")[1] for line in lines}


def main() -> None:
    simulator = Simulator(sys.argv[1])
    with tempfile.TemporaryDirectory() as directory:
        context = openziti.load(enroll(simulator, directory))
        deadline = time.monotonic() + PATIENCE
        seen: dict[str, str] = {}
        while len(seen) < 3 and time.monotonic() < deadline:
            seen = services(context, os.path.join(directory, "report"))
            time.sleep(0.1)
    both = {"one": "(dial=true,bind=false)", "two": "(dial=true,bind=false)", "hosted": "(dial=false,bind=true)"}
    if seen != both:
        sys.exit(f"the SDK sees {seen} instead of {both}")
    sessions = [each["identity"]["name"] for each in simulator.call("GET", "/api-sessions")]
    if "sdk" not in sessions:
        sys.exit(f"only these services have sessions: {sessions}")
    print(f"SDK {openziti.version()} enrolled, logged in and saw {len(seen)} services")


if __name__ == "__main__":
    main()
