"""The lab API of a simulator. Generated from schemas/lab by `npm run generate`."""

from __future__ import annotations

from typing import Any, Literal, TypedDict
from urllib.parse import quote

from .http import LabHttp


class Clock(TypedDict):
    now: str
    #: The distance from the real time, such as 31m0s; negative in the past.
    advanced: str
    #: How many times as fast as the real time it runs; 0: it stands still.
    rate: float


class FaultAnswer(TypedDict, total=False):
    #: 200 to 599: the answer in place of the operation.
    status: int
    #: An error code of the APIs, such as NOT_FOUND.
    code: str
    #: The body of the answer: a text as it is, anything else as JSON.
    body: Any
    #: Headers of the answer, such as Retry-After.
    headers: dict[str, str]
    #: The connection closes without an answer.
    close: bool
    #: The connection closes after half of the answer.
    truncate: bool
    #: A duration, such as 500ms, before the request, the message or the change is handled.
    delay: str


class _Fault(TypedDict):
    id: str
    #: How many requests, messages, connections or changes it has affected.
    hits: int
    #: Requests to the APIs, messages of control channels, links, SDK connections, connections of a proxy, changes in the store. One of http, control, link, sdk, proxy, store.
    kind: Literal["http", "control", "link", "sdk", "proxy", "store"]


class Fault(_Fault, total=False):
    #: The method of the request.
    method: str
    #: The beginning of the path; with * for any characters, the whole path.
    path: str
    #: The id of an operation, such as listServices.
    operation: str
    #: Id or name of the caller.
    identity: str
    #: 200 to 599: the answer in place of the operation.
    status: int
    #: An error code of the APIs, such as NOT_FOUND.
    code: str
    #: The body of the answer: a text as it is, anything else as JSON.
    body: Any
    #: Headers of the answer, such as Retry-After.
    headers: dict[str, str]
    #: The connection closes without an answer.
    close: bool
    #: The connection closes after half of the answer.
    truncate: bool
    #: A duration, such as 500ms, before the request, the message or the change is handled.
    delay: str
    #: One answer for each request, in this order; afterwards requests are handled as usual.
    answers: list[FaultAnswer]
    #: Id or name of the router: of control channels, links or SDK connections.
    router: str
    #: Name of the router at the other end of the link.
    peer: str
    #: Name of a proxy.
    proxy: str
    #: The name of a content type, such as Route.
    message: str
    #: Messages from the router (in) or to it (out); bytes from the side that dialed (up) or to it (down). One of in, out, up, down.
    direction: Literal["in", "out", "up", "down"]
    #: The message is lost.
    drop: bool
    #: The message arrives twice.
    duplicate: bool
    #: The message arrives after the next one.
    reorder: bool
    #: New control channels are rejected.
    reject: bool
    #: A duration that bytes travel longer.
    latency: str
    #: A duration that is added to the latency or taken from it, at random.
    jitter: str
    #: Bytes per second.
    bandwidth: int
    #: Bytes of the pieces in which everything is written.
    slice: int
    #: The duration between two pieces; default 10ms.
    sliceDelay: str
    #: The connection is closed after so many bytes.
    limit: int
    #: A duration by which the end of a direction arrives later.
    closeDelay: str
    #: Bytes wait until the fault ends.
    stall: bool
    #: The far side is gone, and the near one does not learn of it.
    halfOpen: bool
    #: Connections are reset, new ones too.
    cut: bool
    #: The store rejects changes.
    fail: bool
    #: The store rejects changes, as with a full disk.
    full: bool
    #: How many requests, messages, connections or changes it affects; default: all.
    times: int
    #: 0 to 1: the share of the matching ones that it affects; default 1.
    probability: float
    #: A duration, after which it affects nothing.
    lasts: str
    #: A name that several faults share, such as that of a test; they can be removed together.
    scope: str


class CreateFaultAnswer(TypedDict, total=False):
    #: 200 to 599: the answer in place of the operation.
    status: int
    #: An error code of the APIs, such as NOT_FOUND.
    code: str
    #: The body of the answer: a text as it is, anything else as JSON.
    body: Any
    #: Headers of the answer, such as Retry-After.
    headers: dict[str, str]
    #: The connection closes without an answer.
    close: bool
    #: The connection closes after half of the answer.
    truncate: bool
    #: A duration, such as 500ms, before the request, the message or the change is handled.
    delay: str


class JournalState(TypedDict):
    #: Whether it records the messages of links.
    links: bool


class JournalEntryIdentity(TypedDict):
    id: str
    name: str


class JournalEntryRouter(TypedDict, total=False):
    id: str
    name: str


class JournalEntryPeer(TypedDict, total=False):
    id: str
    name: str


class _JournalEntry(TypedDict):
    #: One of http, control, link.
    kind: Literal["http", "control", "link"]
    #: Increases by one with each entry; the parameter `after` excludes earlier ones.
    sequence: int
    time: str


class JournalEntry(_JournalEntry, total=False):
    method: str
    path: str
    query: str
    api: str
    operation: str
    #: Null if the client got no answer.
    status: int
    #: The code of the error.
    code: str
    #: Why a request or a router was rejected, or why a connection ended.
    reason: str
    #: Milliseconds until the answer.
    duration: float
    #: The address of the client.
    source: str
    identity: JournalEntryIdentity
    #: Size of the answer, or of the body of a message.
    bytes: int
    #: JSON of the request without secrets, cut after 4,096 characters.
    body: str
    #: Headers of the request without secrets; most have only their names.
    headers: dict[str, str]
    #: JSON of a successful answer without secrets, if it has at most 4,096 bytes.
    answer: str
    #: Headers of the answer without secrets.
    answerHeaders: dict[str, str]
    #: One of connected, disconnected, rejected, message.
    event: Literal["connected", "disconnected", "rejected", "message"]
    router: JournalEntryRouter
    #: One of in, out.
    direction: Literal["in", "out"]
    #: The router at the other end of a link.
    peer: JournalEntryPeer
    #: The id of the link of a message.
    link: str
    #: The name of the content type.
    message: str
    #: The fields of a message of at most 8,192 bytes, without secrets; never the data of a payload.
    content: Any
    #: The id of the fault that was applied.
    fault: str


class Recording(TypedDict):
    #: Requests in it.
    requests: int
    #: Requests that it lacks: without an answer, or larger than the journal keeps.
    omitted: int
    #: For a file that `sim replay` answers from.
    text: str


class Waited(TypedDict, total=False):
    #: Missing if none came in time.
    entry: JournalEntry
    #: Why it does not hold, with the nearest entries.
    message: str


class _Verified(TypedDict):
    verified: bool
    #: How many entries meet the filter.
    count: int


class Verified(_Verified, total=False):
    #: Why it does not hold, with the nearest entries.
    message: str


class IdentityFileId(TypedDict):
    cert: str
    key: str
    ca: str


class IdentityFile(TypedDict):
    #: Address of the client API.
    ztAPI: str
    ztAPIs: list[str]
    id: IdentityFileId


class DialPlace(TypedDict):
    host: str
    port: int


class _Service(TypedDict):
    id: str
    name: str
    #: Name of the router that hosts it.
    host: str


class Service(_Service, total=False):
    dial: DialPlace


class Token(TypedDict):
    token: str


class _Controller(TypedDict):
    id: str
    url: str
    controlAddress: str
    connected: bool
    leader: bool
    #: Its last start.
    startedAt: str
    #: Index of the last change that it has.
    index: int
    #: How many changes it lacks.
    behind: int


class Controller(_Controller, total=False):
    #: Why it does not follow the changes of others; missing if it does.
    problem: str


class _Router(TypedDict):
    id: str
    name: str
    online: bool
    #: One of edge, transit.
    type: Literal["edge", "transit"]
    disabled: bool
    cost: int
    #: How many identities are connected to it.
    identities: int


class Router(_Router, total=False):
    #: Missing while it is offline.
    version: str


class _Link(TypedDict):
    id: str
    #: Id of the dialing router.
    source: str
    destination: str
    #: disabled by an administrator; disconnected: one of its routers is offline. One of up, disabled, disconnected.
    state: Literal["up", "disabled", "disconnected"]
    cost: int


class Link(_Link, total=False):
    #: Milliseconds, the mean of both ends; missing until both have measured it.
    latency: float


class _Circuit(TypedDict):
    id: str
    #: Name; the id if it no longer exists.
    service: str
    #: Name of the dialing identity; the id if it no longer exists.
    client: str
    #: Ids of routers, from the client to the host.
    path: list[str]
    #: Milliseconds.
    age: int


class Circuit(_Circuit, total=False):
    #: Bytes per second in both directions: since the last reading if the router of the client runs beside the simulator, else from its latest usage report (metrics.reportInterval); missing until it is known.
    rate: int


class TopologyTotals(TypedDict):
    routers: int
    online: int
    links: int
    circuits: int


class _TopologyJournal(TypedDict):
    entries: int
    #: Sequence number of the latest entry.
    last: int


class TopologyJournal(_TopologyJournal, total=False):
    #: Whether it records the messages of links; missing without routers in the process.
    links: bool


class Topology(TypedDict):
    controllers: list[Controller]
    #: Online ones first; at most 1,000.
    routers: list[Router]
    #: At most 5,000.
    links: list[Link]
    #: The newest first; at most 500.
    circuits: list[Circuit]
    totals: TopologyTotals
    #: How many, by kind.
    entities: dict[str, int]
    journal: TopologyJournal


class Proxy(TypedDict):
    name: str
    host: str
    #: Where it listens.
    port: int
    #: The host:port to which its connections lead; empty until the router has told its address.
    to: str
    #: Open connections.
    connections: int


class Snapshot(TypedDict):
    name: str
    takenAt: str
    index: int
    entities: int
    #: The controller that keeps it in memory.
    controllerId: str


class SnapshotFileClock(TypedDict):
    rate: float
    #: Milliseconds that were added to the real time.
    advanced: float
    #: Milliseconds since the epoch.
    now: float


class SnapshotFile(TypedDict):
    #: One of edgeweave-snapshot/1.
    format: Literal["edgeweave-snapshot/1"]
    name: str
    takenAt: str
    #: Whether it has passwords, certificates, second factors and one-time tokens.
    credentials: bool
    clock: SnapshotFileClock
    #: By kind.
    entities: Any


class Restored(TypedDict):
    created: int
    changed: int
    deleted: int


class SeededDifferent(TypedDict):
    #: Such as service policy.
    kind: str
    name: str
    fields: list[str]


class _SeededStep(TypedDict):
    #: One of create, change, delete.
    action: Literal["create", "change", "delete"]
    #: Such as service policy.
    kind: str
    name: str


class SeededStep(_SeededStep, total=False):
    #: The fields that change.
    fields: list[str]


class _Seeded(TypedDict):
    #: How many, by section.
    created: dict[str, int]
    #: How many, by section.
    existing: dict[str, int]


class Seeded(_Seeded, total=False):
    #: Without apply: the first 20 entities that exist with other values than the document.
    different: list[SeededDifferent]
    #: How many, by section; only with apply.
    changed: dict[str, int]
    #: How many, by section; only with prune.
    deleted: dict[str, int]
    #: The first 1,000 changes, in their order; only with plan.
    steps: list[SeededStep]


class Right(TypedDict):
    identity: str
    service: str
    #: One of Dial, Bind.
    type: Literal["Dial", "Bind"]


class WhatIfTotals(TypedDict):
    gained: int
    lost: int


class WhatIf(TypedDict):
    #: The first 1,000 new rights.
    gained: list[Right]
    #: The first 1,000 lost rights.
    lost: list[Right]
    totals: WhatIfTotals
    seeded: Seeded


class WhyIdentity(TypedDict):
    id: str
    name: str


class WhyService(TypedDict):
    id: str
    name: str


class _WhyFinding(TypedDict):
    ok: bool
    kind: str
    id: str
    name: str
    message: str


class WhyFinding(_WhyFinding, total=False):
    #: Access is denied because of it.
    blocking: bool
    remedy: str
    #: A seed that does so, for `seed` with `apply`; missing where a seed cannot.
    repair: dict[str, list[Any]]


class Why(TypedDict):
    allowed: bool
    identity: WhyIdentity
    service: WhyService
    #: One of Dial, Bind.
    type: Literal["Dial", "Bind"]
    reasons: list[WhyFinding]


class Explanation(TypedDict):
    #: No reason blocks.
    ok: bool
    summary: str
    reasons: list[WhyFinding]


class Lab(LabHttp):
    """Time, snapshots, faults, the journal, services and identities of a running simulator."""

    def rejoin_member(self, id: str) -> None:
        """`POST /lab/v1/cluster/members/{id}/rejoin`"""
        self._call("POST", f"/cluster/members/{quote(id, safe='')}/rejoin")

    def partition_member(self, id: str) -> None:
        """`POST /lab/v1/cluster/members/{id}/partition`"""
        self._call("POST", f"/cluster/members/{quote(id, safe='')}/partition")

    def heal_member(self, id: str) -> None:
        """`POST /lab/v1/cluster/members/{id}/heal`"""
        self._call("POST", f"/cluster/members/{quote(id, safe='')}/heal")

    def pause_member(self, id: str, *, duration: str | None = None) -> None:
        """`POST /lab/v1/cluster/members/{id}/pause`"""
        self._call("POST", f"/cluster/members/{quote(id, safe='')}/pause", {"duration": duration})

    def kill_member(self, id: str) -> None:
        """`POST /lab/v1/cluster/members/{id}/kill`"""
        self._call("POST", f"/cluster/members/{quote(id, safe='')}/kill")

    def detail_clock(self) -> Clock:
        """`GET /lab/v1/clock`"""
        return self._call("GET", "/clock")

    def patch_clock(self, *, time: str | None = None, rate: float | None = None) -> Clock:
        """`PATCH /lab/v1/clock`

        time: The new time, such as 2027-01-31T12:00:00Z.
        rate: How many times as fast as the real time it runs; 0: it stands still.
        """
        return self._call("PATCH", "/clock", {"time": time, "rate": rate})

    def advance_clock(self, duration: str) -> Clock:
        """`POST /lab/v1/clock/advance`"""
        return self._call("POST", "/clock/advance", {"duration": duration})

    def clear_faults(self, *, scope: str | None = None) -> None:
        """`DELETE /lab/v1/faults`"""
        self._call("DELETE", "/faults", query={"scope": scope})

    def list_faults(self) -> list[Fault]:
        """`GET /lab/v1/faults`"""
        return self._call("GET", "/faults")

    def create_fault(self, kind: Literal["http", "control", "link", "sdk", "proxy", "store"], *, method: str | None = None, path: str | None = None, operation: str | None = None, identity: str | None = None, status: int | None = None, code: str | None = None, body: Any | None = None, headers: dict[str, str] | None = None, close: bool | None = None, truncate: bool | None = None, delay: str | None = None, answers: list[CreateFaultAnswer] | None = None, router: str | None = None, peer: str | None = None, proxy: str | None = None, message: str | None = None, direction: Literal["in", "out", "up", "down"] | None = None, drop: bool | None = None, duplicate: bool | None = None, reorder: bool | None = None, reject: bool | None = None, latency: str | None = None, jitter: str | None = None, bandwidth: int | None = None, slice: int | None = None, slice_delay: str | None = None, limit: int | None = None, close_delay: str | None = None, stall: bool | None = None, half_open: bool | None = None, cut: bool | None = None, fail: bool | None = None, full: bool | None = None, times: int | None = None, probability: float | None = None, lasts: str | None = None, scope: str | None = None) -> Fault:
        """`POST /lab/v1/faults`

        kind: Requests to the APIs, messages of control channels, links, SDK connections, connections of a proxy, changes in the store. One of http, control, link, sdk, proxy, store.
        method: The method of the request.
        path: The beginning of the path; with * for any characters, the whole path.
        operation: The id of an operation, such as listServices.
        identity: Id or name of the caller.
        status: 200 to 599: the answer in place of the operation.
        code: An error code of the APIs, such as NOT_FOUND.
        body: The body of the answer: a text as it is, anything else as JSON.
        headers: Headers of the answer, such as Retry-After.
        close: The connection closes without an answer.
        truncate: The connection closes after half of the answer.
        delay: A duration, such as 500ms, before the request, the message or the change is handled.
        answers: One answer for each request, in this order; afterwards requests are handled as usual.
        router: Id or name of the router: of control channels, links or SDK connections.
        peer: Name of the router at the other end of the link.
        proxy: Name of a proxy.
        message: The name of a content type, such as Route.
        direction: Messages from the router (in) or to it (out); bytes from the side that dialed (up) or to it (down). One of in, out, up, down.
        drop: The message is lost.
        duplicate: The message arrives twice.
        reorder: The message arrives after the next one.
        reject: New control channels are rejected.
        latency: A duration that bytes travel longer.
        jitter: A duration that is added to the latency or taken from it, at random.
        bandwidth: Bytes per second.
        slice: Bytes of the pieces in which everything is written.
        slice_delay: The duration between two pieces; default 10ms.
        limit: The connection is closed after so many bytes.
        close_delay: A duration by which the end of a direction arrives later.
        stall: Bytes wait until the fault ends.
        half_open: The far side is gone, and the near one does not learn of it.
        cut: Connections are reset, new ones too.
        fail: The store rejects changes.
        full: The store rejects changes, as with a full disk.
        times: How many requests, messages, connections or changes it affects; default: all.
        probability: 0 to 1: the share of the matching ones that it affects; default 1.
        lasts: A duration, after which it affects nothing.
        scope: A name that several faults share, such as that of a test; they can be removed together.
        """
        return self._call("POST", "/faults", {"kind": kind, "method": method, "path": path, "operation": operation, "identity": identity, "status": status, "code": code, "body": body, "headers": headers, "close": close, "truncate": truncate, "delay": delay, "answers": answers, "router": router, "peer": peer, "proxy": proxy, "message": message, "direction": direction, "drop": drop, "duplicate": duplicate, "reorder": reorder, "reject": reject, "latency": latency, "jitter": jitter, "bandwidth": bandwidth, "slice": slice, "sliceDelay": slice_delay, "limit": limit, "closeDelay": close_delay, "stall": stall, "halfOpen": half_open, "cut": cut, "fail": fail, "full": full, "times": times, "probability": probability, "lasts": lasts, "scope": scope})

    def delete_fault(self, id: str) -> None:
        """`DELETE /lab/v1/faults/{id}`"""
        self._call("DELETE", f"/faults/{quote(id, safe='')}")

    def clear_journal(self) -> None:
        """`DELETE /lab/v1/journal`"""
        self._call("DELETE", "/journal")

    def patch_journal(self, links: bool) -> JournalState:
        """`PATCH /lab/v1/journal`

        links: Whether to record the messages of the links between routers in the process of the simulator.
        """
        return self._call("PATCH", "/journal", {"links": links})

    def list_journal(self, *, limit: int | None = None, after: int | None = None, kind: str | None = None, identity: str | None = None, router: str | None = None, message: str | None = None, path: str | None = None, operation: str | None = None, method: str | None = None, status: int | None = None, fault: str | None = None, failed: bool | None = None) -> list[JournalEntry]:
        """`GET /lab/v1/journal`"""
        return self._call("GET", "/journal", query={"limit": limit, "after": after, "kind": kind, "identity": identity, "router": router, "message": message, "path": path, "operation": operation, "method": method, "status": status, "fault": fault, "failed": failed})

    def record_journal(self, *, after: int | None = None, identity: str | None = None, path: str | None = None, operation: str | None = None, method: str | None = None, status: int | None = None, fault: str | None = None, failed: bool | None = None) -> Recording:
        """`GET /lab/v1/journal/recording`"""
        return self._call("GET", "/journal/recording", query={"after": after, "identity": identity, "path": path, "operation": operation, "method": method, "status": status, "fault": fault, "failed": failed})

    def wait_for_entry(self, *, kind: Literal["http", "control", "link"] | None = None, identity: str | None = None, router: str | None = None, message: str | None = None, path: str | None = None, operation: str | None = None, method: str | None = None, status: int | None = None, fault: str | None = None, failed: bool | None = None, after: int | None = None, timeout: str | None = None) -> Waited:
        """`POST /lab/v1/journal/wait`. Raises VerificationError, which names the nearest entries.

        kind: One of http, control, link.
        identity: Id or name of the caller.
        router: Id or name.
        message: The name of the content type of a message, such as Route.
        path: The beginning of the path; with * for any characters, the whole path.
        operation: Such as listServices.
        fault: The id of the fault that was applied.
        failed: Only requests with a status of at least 400 or without an answer, and rejected routers.
        after: Only later entries than the one with this number.
        timeout: A duration, such as 5s; default 10s, at most 50s.
        """
        return self._holds(self._call("POST", "/journal/wait", {"kind": kind, "identity": identity, "router": router, "message": message, "path": path, "operation": operation, "method": method, "status": status, "fault": fault, "failed": failed, "after": after, "timeout": timeout}), "entry")

    def find_entry(self, *, kind: Literal["http", "control", "link"] | None = None, identity: str | None = None, router: str | None = None, message: str | None = None, path: str | None = None, operation: str | None = None, method: str | None = None, status: int | None = None, fault: str | None = None, failed: bool | None = None, after: int | None = None, timeout: str | None = None) -> Waited:
        """`POST /lab/v1/journal/wait`. Like wait_for_entry, but also returns an answer that does not hold.

        kind: One of http, control, link.
        identity: Id or name of the caller.
        router: Id or name.
        message: The name of the content type of a message, such as Route.
        path: The beginning of the path; with * for any characters, the whole path.
        operation: Such as listServices.
        fault: The id of the fault that was applied.
        failed: Only requests with a status of at least 400 or without an answer, and rejected routers.
        after: Only later entries than the one with this number.
        timeout: A duration, such as 5s; default 10s, at most 50s.
        """
        return self._call("POST", "/journal/wait", {"kind": kind, "identity": identity, "router": router, "message": message, "path": path, "operation": operation, "method": method, "status": status, "fault": fault, "failed": failed, "after": after, "timeout": timeout})

    def verify_journal(self, *, kind: Literal["http", "control", "link"] | None = None, identity: str | None = None, router: str | None = None, message: str | None = None, path: str | None = None, operation: str | None = None, method: str | None = None, status: int | None = None, fault: str | None = None, failed: bool | None = None, after: int | None = None, times: int | None = None, within: str | None = None) -> Verified:
        """`POST /lab/v1/journal/verify`. Raises VerificationError, which names the nearest entries.

        kind: One of http, control, link.
        identity: Id or name of the caller.
        router: Id or name.
        message: The name of the content type of a message, such as Route.
        path: The beginning of the path; with * for any characters, the whole path.
        operation: Such as listServices.
        fault: The id of the fault that was applied.
        failed: Only requests with a status of at least 400 or without an answer, and rejected routers.
        after: Only later entries than the one with this number.
        times: The exact number of entries; default: at least one.
        within: A duration to wait for them, such as 5s.
        """
        return self._holds(self._call("POST", "/journal/verify", {"kind": kind, "identity": identity, "router": router, "message": message, "path": path, "operation": operation, "method": method, "status": status, "fault": fault, "failed": failed, "after": after, "times": times, "within": within}), "verified")

    def check_journal(self, *, kind: Literal["http", "control", "link"] | None = None, identity: str | None = None, router: str | None = None, message: str | None = None, path: str | None = None, operation: str | None = None, method: str | None = None, status: int | None = None, fault: str | None = None, failed: bool | None = None, after: int | None = None, times: int | None = None, within: str | None = None) -> Verified:
        """`POST /lab/v1/journal/verify`. Like verify_journal, but also returns an answer that does not hold.

        kind: One of http, control, link.
        identity: Id or name of the caller.
        router: Id or name.
        message: The name of the content type of a message, such as Route.
        path: The beginning of the path; with * for any characters, the whole path.
        operation: Such as listServices.
        fault: The id of the fault that was applied.
        failed: Only requests with a status of at least 400 or without an answer, and rejected routers.
        after: Only later entries than the one with this number.
        times: The exact number of entries; default: at least one.
        within: A duration to wait for them, such as 5s.
        """
        return self._call("POST", "/journal/verify", {"kind": kind, "identity": identity, "router": router, "message": message, "path": path, "operation": operation, "method": method, "status": status, "fault": fault, "failed": failed, "after": after, "times": times, "within": within})

    def enroll_identity(self, name: str, *, role_attributes: list[str] | None = None) -> IdentityFile:
        """`POST /lab/v1/identities/{name}/enroll`"""
        return self._call("POST", f"/identities/{quote(name, safe='')}/enroll", {"roleAttributes": role_attributes})

    def create_service(self, name: str, host: str, port: int, *, address: str | None = None, encryption_required: bool | None = None) -> Service:
        """`POST /lab/v1/services`

        host: Name or id of the edge router that hosts the service.
        port: Port of the server, as the router reaches it.
        address: Host of the server, as the router reaches it; default 127.0.0.1.
        encryption_required: Default: true.
        """
        return self._call("POST", "/services", {"name": name, "host": host, "port": port, "address": address, "encryptionRequired": encryption_required})

    def detail_token(self, name: str) -> Token:
        """`GET /lab/v1/tokens/{name}`"""
        return self._call("GET", f"/tokens/{quote(name, safe='')}")

    def detail_network(self) -> Topology:
        """`GET /lab/v1/network`"""
        return self._call("GET", "/network")

    def wait_for_network(self, *, timeout: str | None = None) -> None:
        """`POST /lab/v1/network/wait`

        timeout: A duration, such as 30s; default 15s, at most 50s.
        """
        self._call("POST", "/network/wait", {"timeout": timeout})

    def list_proxies(self) -> list[Proxy]:
        """`GET /lab/v1/proxies`"""
        return self._call("GET", "/proxies")

    def create_proxy(self, name: str, to: str, *, port: int | None = None) -> Proxy:
        """`POST /lab/v1/proxies`

        name: 1 to 100 letters, digits, dots, colons, hyphens and underscores.
        to: The host:port to which its connections lead.
        port: Where it listens; default: a free port.
        """
        return self._call("POST", "/proxies", {"name": name, "to": to, "port": port})

    def delete_proxy(self, name: str) -> None:
        """`DELETE /lab/v1/proxies/{name}`"""
        self._call("DELETE", f"/proxies/{quote(name, safe='')}")

    def disconnect_router(self, id: str) -> None:
        """`POST /lab/v1/routers/{id}/disconnect`"""
        self._call("POST", f"/routers/{quote(id, safe='')}/disconnect")

    def list_snapshots(self) -> list[Snapshot]:
        """`GET /lab/v1/snapshots`"""
        return self._call("GET", "/snapshots")

    def create_snapshot(self, name: str) -> Snapshot:
        """`POST /lab/v1/snapshots`"""
        return self._call("POST", "/snapshots", {"name": name})

    def delete_snapshot(self, name: str) -> None:
        """`DELETE /lab/v1/snapshots/{name}`"""
        self._call("DELETE", f"/snapshots/{quote(name, safe='')}")

    def load_snapshot(self, name: str, file: Any, *, credentials: bool | None = None) -> Snapshot:
        """`POST /lab/v1/snapshots/load`

        name: The name of the snapshot; an earlier one with this name is replaced.
        file: The content of the file.
        credentials: Take credentials from the file, and identities that become administrators; default false.
        """
        return self._call("POST", "/snapshots/load", {"name": name, "file": file, "credentials": credentials})

    def save_snapshot(self, name: str, *, credentials: bool | None = None) -> SnapshotFile:
        """`GET /lab/v1/snapshots/{name}/file`"""
        return self._call("GET", f"/snapshots/{quote(name, safe='')}/file", query={"credentials": credentials})

    def restore_snapshot(self, name: str, *, keep: list[Literal["state", "clock", "faults", "journal"]] | None = None) -> Restored:
        """`POST /lab/v1/snapshots/{name}/restore`

        keep: Parts that stay as they are.
        """
        return self._call("POST", f"/snapshots/{quote(name, safe='')}/restore", {"keep": keep})

    def reset(self, *, keep: list[Literal["state", "clock", "faults", "journal"]] | None = None) -> Restored:
        """`POST /lab/v1/reset`

        keep: Parts that stay as they are.
        """
        return self._call("POST", "/reset", {"keep": keep})

    def seed(self, document: Any, *, apply: bool | None = None, prune: bool | None = None, plan: bool | None = None) -> Seeded:
        """`POST /lab/v1/seed`"""
        return self._call("POST", "/seed", document, query={"apply": apply, "prune": prune, "plan": plan})

    def what_if(self, document: Any, *, prune: bool | None = None) -> WhatIf:
        """`POST /lab/v1/what-if`"""
        return self._call("POST", "/what-if", document, query={"prune": prune})

    def export_network(self) -> dict[str, list[Any]]:
        """`GET /lab/v1/export`"""
        return self._call("GET", "/export")

    def why(self, identity: str, service: str, type: Literal["Dial", "Bind"], *, router: str | None = None, session: str | None = None) -> Why:
        """`POST /lab/v1/why`

        type: One of Dial, Bind.
        """
        return self._call("POST", "/why", {"identity": identity, "service": service, "type": type, "router": router, "session": session})

    def why_login(self, identity: str) -> Explanation:
        """`POST /lab/v1/why/login`

        identity: Its id or name.
        """
        return self._call("POST", "/why/login", {"identity": identity})

    def why_session(self, session: str) -> Explanation:
        """`POST /lab/v1/why/session`

        session: The id of an API session, also of one that has ended.
        """
        return self._call("POST", "/why/session", {"session": session})

    def why_posture(self, identity: str, *, session: str | None = None) -> Explanation:
        """`POST /lab/v1/why/posture`

        identity: Its id or name.
        session: Only in this API session; otherwise in all sessions of the identity.
        """
        return self._call("POST", "/why/posture", {"identity": identity, "session": session})

    def why_link(self, router: str, other: str) -> Explanation:
        """`POST /lab/v1/why/link`

        router: Its id or name.
        other: The id or name of the router at the other end.
        """
        return self._call("POST", "/why/link", {"router": router, "other": other})
