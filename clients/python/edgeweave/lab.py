"""The lab API of a simulator. Generated from schemas/api by `npm run generate`."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from .http import LabHttp


class Lab(LabHttp):
    """Time, snapshots, faults, the journal, services and identities of a running simulator."""

    def rejoin_member(self, id: str) -> Any:
        """`POST /lab/v1/cluster/members/{id}/rejoin`"""
        return self._call("POST", f"/cluster/members/{quote(id, safe='')}/rejoin")

    def detail_clock(self) -> Any:
        """`GET /lab/v1/clock`"""
        return self._call("GET", "/clock")

    def patch_clock(self, *, time: str | None = None, rate: float | None = None) -> Any:
        """`PATCH /lab/v1/clock`

        time: The new time, such as 2027-01-31T12:00:00Z.
        rate: How many times as fast as the real time it runs; 0: it stands still.
        """
        return self._call("PATCH", "/clock", {"time": time, "rate": rate})

    def advance_clock(self, duration: str) -> Any:
        """`POST /lab/v1/clock/advance`"""
        return self._call("POST", "/clock/advance", {"duration": duration})

    def clear_faults(self) -> Any:
        """`DELETE /lab/v1/faults`"""
        return self._call("DELETE", "/faults")

    def list_faults(self) -> Any:
        """`GET /lab/v1/faults`"""
        return self._call("GET", "/faults")

    def create_fault(self, kind: str, *, method: str | None = None, path: str | None = None, operation: str | None = None, identity: str | None = None, router: str | None = None, message: str | None = None, direction: str | None = None, delay: str | None = None, status: int | None = None, code: str | None = None, close: bool | None = None, truncate: bool | None = None, drop: bool | None = None, reject: bool | None = None, times: int | None = None, probability: float | None = None) -> Any:
        """`POST /lab/v1/faults`

        kind: One of http, control.
        path: The beginning of the path; with * for any characters, the whole path.
        identity: Id or name of the caller.
        router: Id or name.
        message: The name of a content type, such as Route.
        direction: One of in, out.
        delay: A duration, such as 500ms.
        code: An error code of the APIs.
        times: How many requests or messages it affects.
        """
        return self._call("POST", "/faults", {"kind": kind, "method": method, "path": path, "operation": operation, "identity": identity, "router": router, "message": message, "direction": direction, "delay": delay, "status": status, "code": code, "close": close, "truncate": truncate, "drop": drop, "reject": reject, "times": times, "probability": probability})

    def delete_fault(self, id: str) -> Any:
        """`DELETE /lab/v1/faults/{id}`"""
        return self._call("DELETE", f"/faults/{quote(id, safe='')}")

    def clear_journal(self) -> Any:
        """`DELETE /lab/v1/journal`"""
        return self._call("DELETE", "/journal")

    def list_journal(self, *, limit: int | None = None, after: int | None = None, kind: str | None = None, identity: str | None = None, router: str | None = None, path: str | None = None, operation: str | None = None, method: str | None = None, status: int | None = None, fault: str | None = None, failed: bool | None = None) -> Any:
        """`GET /lab/v1/journal`"""
        return self._call("GET", "/journal", query={"limit": limit, "after": after, "kind": kind, "identity": identity, "router": router, "path": path, "operation": operation, "method": method, "status": status, "fault": fault, "failed": failed})

    def verify_journal(self, *, kind: str | None = None, identity: str | None = None, router: str | None = None, path: str | None = None, operation: str | None = None, method: str | None = None, status: int | None = None, fault: str | None = None, failed: bool | None = None, after: int | None = None, times: int | None = None, within: str | None = None) -> Any:
        """`POST /lab/v1/journal/verify`

        kind: One of http, control.
        identity: Id or name of the caller.
        router: Id or name.
        path: The beginning of the path.
        operation: Such as listServices.
        fault: The id of the fault that was applied.
        failed: Only requests with a status of at least 400 or without an answer, and rejected routers.
        after: Only later entries than the one with this number.
        times: The exact number of entries; default: at least one.
        within: A duration to wait for them, such as 5s.
        """
        return self._call("POST", "/journal/verify", {"kind": kind, "identity": identity, "router": router, "path": path, "operation": operation, "method": method, "status": status, "fault": fault, "failed": failed, "after": after, "times": times, "within": within})

    def enroll_identity(self, name: str, *, role_attributes: list[str] | None = None) -> Any:
        """`POST /lab/v1/identities/{name}/enroll`"""
        return self._call("POST", f"/identities/{quote(name, safe='')}/enroll", {"roleAttributes": role_attributes})

    def create_service(self, name: str, host: str, port: int, *, address: str | None = None, encryption_required: bool | None = None) -> Any:
        """`POST /lab/v1/services`

        host: Name or id of the edge router that hosts the service.
        port: Port of the server, as the router reaches it.
        address: Host of the server, as the router reaches it; default 127.0.0.1.
        encryption_required: Default: true.
        """
        return self._call("POST", "/services", {"name": name, "host": host, "port": port, "address": address, "encryptionRequired": encryption_required})

    def detail_token(self, name: str) -> Any:
        """`GET /lab/v1/tokens/{name}`"""
        return self._call("GET", f"/tokens/{quote(name, safe='')}")

    def detail_network(self) -> Any:
        """`GET /lab/v1/network`"""
        return self._call("GET", "/network")

    def disconnect_router(self, id: str) -> Any:
        """`POST /lab/v1/routers/{id}/disconnect`"""
        return self._call("POST", f"/routers/{quote(id, safe='')}/disconnect")

    def list_snapshots(self) -> Any:
        """`GET /lab/v1/snapshots`"""
        return self._call("GET", "/snapshots")

    def create_snapshot(self, name: str) -> Any:
        """`POST /lab/v1/snapshots`"""
        return self._call("POST", "/snapshots", {"name": name})

    def delete_snapshot(self, name: str) -> Any:
        """`DELETE /lab/v1/snapshots/{name}`"""
        return self._call("DELETE", f"/snapshots/{quote(name, safe='')}")

    def restore_snapshot(self, name: str, *, keep: list[str] | None = None) -> Any:
        """`POST /lab/v1/snapshots/{name}/restore`

        keep: Parts that stay as they are.
        """
        return self._call("POST", f"/snapshots/{quote(name, safe='')}/restore", {"keep": keep})

    def reset(self, *, keep: list[str] | None = None) -> Any:
        """`POST /lab/v1/reset`

        keep: Parts that stay as they are.
        """
        return self._call("POST", "/reset", {"keep": keep})

    def seed(self, document: Any) -> Any:
        """`POST /lab/v1/seed`"""
        return self._call("POST", "/seed", document)

    def export_network(self) -> Any:
        """`GET /lab/v1/export`"""
        return self._call("GET", "/export")

    def why(self, identity: str, service: str, type: str, *, router: str | None = None, session: str | None = None) -> Any:
        """`POST /lab/v1/why`

        type: One of Dial, Bind.
        """
        return self._call("POST", "/why", {"identity": identity, "service": service, "type": type, "router": router, "session": session})

    def why_login(self, identity: str) -> Any:
        """`POST /lab/v1/why/login`

        identity: Its id or name.
        """
        return self._call("POST", "/why/login", {"identity": identity})

    def why_session(self, session: str) -> Any:
        """`POST /lab/v1/why/session`

        session: The id of an API session, also of one that has ended.
        """
        return self._call("POST", "/why/session", {"session": session})

    def why_posture(self, identity: str, *, session: str | None = None) -> Any:
        """`POST /lab/v1/why/posture`

        identity: Its id or name.
        session: Only in this API session; otherwise in all sessions of the identity.
        """
        return self._call("POST", "/why/posture", {"identity": identity, "session": session})

    def why_link(self, router: str, other: str) -> Any:
        """`POST /lab/v1/why/link`

        router: Its id or name.
        other: The id or name of the router at the other end.
        """
        return self._call("POST", "/why/link", {"router": router, "other": other})
