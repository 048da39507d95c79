// Generated from schemas/api by `npm run generate`.

package edgeweave;

import java.util.Map;
import javax.net.ssl.SSLContext;

/** The lab API: time, snapshots, faults, the journal, services and identities of a running simulator. */
public final class Lab extends LabHttp {
  Lab(String url, String token, SSLContext tls) {
    super(url, token, tls);
  }

  /**
   * POST /lab/v1/cluster/members/{id}/rejoin
   */
  public Object rejoinMember(String id) {
    return call("POST", "/cluster/members/" + quoted(id) + "/rejoin", null, null);
  }

  /**
   * POST /lab/v1/cluster/members/{id}/partition
   */
  public Object partitionMember(String id) {
    return call("POST", "/cluster/members/" + quoted(id) + "/partition", null, null);
  }

  /**
   * POST /lab/v1/cluster/members/{id}/heal
   */
  public Object healMember(String id) {
    return call("POST", "/cluster/members/" + quoted(id) + "/heal", null, null);
  }

  /**
   * POST /lab/v1/cluster/members/{id}/pause
   * Options:
   * <ul>
   * <li>duration
   * </ul>
   */
  public Object pauseMember(String id, Map<String, ?> options) {
    return call("POST", "/cluster/members/" + quoted(id) + "/pause", with(options), null);
  }

  /** Without options. */
  public Object pauseMember(String id) {
    return pauseMember(id, Map.of());
  }

  /**
   * POST /lab/v1/cluster/members/{id}/kill
   */
  public Object killMember(String id) {
    return call("POST", "/cluster/members/" + quoted(id) + "/kill", null, null);
  }

  /**
   * GET /lab/v1/clock
   */
  public Object detailClock() {
    return call("GET", "/clock", null, null);
  }

  /**
   * PATCH /lab/v1/clock
   * Options:
   * <ul>
   * <li>time: The new time, such as 2027-01-31T12:00:00Z.
   * <li>rate: How many times as fast as the real time it runs; 0: it stands still.
   * </ul>
   */
  public Object patchClock(Map<String, ?> options) {
    return call("PATCH", "/clock", with(options), null);
  }

  /** Without options. */
  public Object patchClock() {
    return patchClock(Map.of());
  }

  /**
   * POST /lab/v1/clock/advance
   */
  public Object advanceClock(String duration) {
    return call("POST", "/clock/advance", with(Map.of(), "duration", duration), null);
  }

  /**
   * DELETE /lab/v1/faults
   * Options:
   * <ul>
   * <li>scope
   * </ul>
   */
  public Object clearFaults(Map<String, ?> options) {
    return call("DELETE", "/faults", null, options);
  }

  /** Without options. */
  public Object clearFaults() {
    return clearFaults(Map.of());
  }

  /**
   * GET /lab/v1/faults
   */
  public Object listFaults() {
    return call("GET", "/faults", null, null);
  }

  /**
   * POST /lab/v1/faults
   * Options:
   * <ul>
   * <li>method: The method of the request.
   * <li>path: The beginning of the path; with * for any characters, the whole path.
   * <li>operation: The id of an operation, such as listServices.
   * <li>identity: Id or name of the caller.
   * <li>status: 200 to 599: the answer in place of the operation.
   * <li>code: An error code of the APIs, such as NOT_FOUND.
   * <li>body: The body of the answer: a text as it is, anything else as JSON.
   * <li>headers: Headers of the answer, such as Retry-After.
   * <li>close: The connection closes without an answer.
   * <li>truncate: The connection closes after half of the answer.
   * <li>delay: A duration, such as 500ms, before the request, the message or the change is handled.
   * <li>answers: One answer for each request, in this order; afterwards requests are handled as usual.
   * <li>router: Id or name of the router: of control channels, links or SDK connections.
   * <li>peer: Name of the router at the other end of the link.
   * <li>proxy: Name of a proxy.
   * <li>message: The name of a content type, such as Route.
   * <li>direction: Messages from the router (in) or to it (out); bytes from the side that dialed (up) or to it (down). One of in, out, up, down.
   * <li>drop: The message is lost.
   * <li>duplicate: The message arrives twice.
   * <li>reorder: The message arrives after the next one.
   * <li>reject: New control channels are rejected.
   * <li>latency: A duration that bytes travel longer.
   * <li>jitter: A duration that is added to the latency or taken from it, at random.
   * <li>bandwidth: Bytes per second.
   * <li>slice: Bytes of the pieces in which everything is written.
   * <li>sliceDelay: The duration between two pieces; default 10ms.
   * <li>limit: The connection is closed after so many bytes.
   * <li>closeDelay: A duration by which the end of a direction arrives later.
   * <li>stall: Bytes wait until the fault ends.
   * <li>halfOpen: The far side is gone, and the near one does not learn of it.
   * <li>cut: Connections are reset, new ones too.
   * <li>fail: The store rejects changes.
   * <li>full: The store rejects changes, as with a full disk.
   * <li>times: How many requests, messages, connections or changes it affects; default: all.
   * <li>probability: 0 to 1: the share of the matching ones that it affects; default 1.
   * <li>lasts: A duration, after which it affects nothing.
   * <li>scope: A name that several faults share, such as that of a test; they can be removed together.
   * </ul>
   */
  public Object createFault(String kind, Map<String, ?> options) {
    return call("POST", "/faults", with(options, "kind", kind), null);
  }

  /** Without options. */
  public Object createFault(String kind) {
    return createFault(kind, Map.of());
  }

  /**
   * DELETE /lab/v1/faults/{id}
   */
  public Object deleteFault(String id) {
    return call("DELETE", "/faults/" + quoted(id), null, null);
  }

  /**
   * DELETE /lab/v1/journal
   */
  public Object clearJournal() {
    return call("DELETE", "/journal", null, null);
  }

  /**
   * PATCH /lab/v1/journal
   */
  public Object patchJournal(boolean links) {
    return call("PATCH", "/journal", with(Map.of(), "links", links), null);
  }

  /**
   * GET /lab/v1/journal
   * Options:
   * <ul>
   * <li>limit
   * <li>after
   * <li>kind
   * <li>identity
   * <li>router
   * <li>message
   * <li>path
   * <li>operation
   * <li>method
   * <li>status
   * <li>fault
   * <li>failed
   * </ul>
   */
  public Object listJournal(Map<String, ?> options) {
    return call("GET", "/journal", null, options);
  }

  /** Without options. */
  public Object listJournal() {
    return listJournal(Map.of());
  }

  /**
   * GET /lab/v1/journal/recording
   * Options:
   * <ul>
   * <li>after
   * <li>identity
   * <li>path
   * <li>operation
   * <li>method
   * <li>status
   * <li>fault
   * <li>failed
   * </ul>
   */
  public Object recordJournal(Map<String, ?> options) {
    return call("GET", "/journal/recording", null, options);
  }

  /** Without options. */
  public Object recordJournal() {
    return recordJournal(Map.of());
  }

  /**
   * POST /lab/v1/journal/wait. @throws VerificationError that names the nearest entries, if the answer does not hold
   * Options:
   * <ul>
   * <li>kind: One of http, control, link.
   * <li>identity: Id or name of the caller.
   * <li>router: Id or name.
   * <li>message: The name of the content type of a message, such as Route.
   * <li>path: The beginning of the path; with * for any characters, the whole path.
   * <li>operation: Such as listServices.
   * <li>method
   * <li>status
   * <li>fault: The id of the fault that was applied.
   * <li>failed: Only requests with a status of at least 400 or without an answer, and rejected routers.
   * <li>after: Only later entries than the one with this number.
   * <li>timeout: A duration, such as 5s; default 10s, at most 50s.
   * </ul>
   */
  public Object waitForEntry(Map<String, ?> options) {
    return holding(call("POST", "/journal/wait", with(options), null), "entry");
  }

  /** Without options. */
  public Object waitForEntry() {
    return waitForEntry(Map.of());
  }

  /**
   * POST /lab/v1/journal/wait. Like waitForEntry, but also returns an answer that does not hold.
   * Options:
   * <ul>
   * <li>kind: One of http, control, link.
   * <li>identity: Id or name of the caller.
   * <li>router: Id or name.
   * <li>message: The name of the content type of a message, such as Route.
   * <li>path: The beginning of the path; with * for any characters, the whole path.
   * <li>operation: Such as listServices.
   * <li>method
   * <li>status
   * <li>fault: The id of the fault that was applied.
   * <li>failed: Only requests with a status of at least 400 or without an answer, and rejected routers.
   * <li>after: Only later entries than the one with this number.
   * <li>timeout: A duration, such as 5s; default 10s, at most 50s.
   * </ul>
   */
  public Object findEntry(Map<String, ?> options) {
    return call("POST", "/journal/wait", with(options), null);
  }

  /** Without options. */
  public Object findEntry() {
    return findEntry(Map.of());
  }

  /**
   * POST /lab/v1/journal/verify. @throws VerificationError that names the nearest entries, if the answer does not hold
   * Options:
   * <ul>
   * <li>kind: One of http, control, link.
   * <li>identity: Id or name of the caller.
   * <li>router: Id or name.
   * <li>message: The name of the content type of a message, such as Route.
   * <li>path: The beginning of the path; with * for any characters, the whole path.
   * <li>operation: Such as listServices.
   * <li>method
   * <li>status
   * <li>fault: The id of the fault that was applied.
   * <li>failed: Only requests with a status of at least 400 or without an answer, and rejected routers.
   * <li>after: Only later entries than the one with this number.
   * <li>times: The exact number of entries; default: at least one.
   * <li>within: A duration to wait for them, such as 5s.
   * </ul>
   */
  public Object verifyJournal(Map<String, ?> options) {
    return holding(call("POST", "/journal/verify", with(options), null), "verified");
  }

  /** Without options. */
  public Object verifyJournal() {
    return verifyJournal(Map.of());
  }

  /**
   * POST /lab/v1/journal/verify. Like verifyJournal, but also returns an answer that does not hold.
   * Options:
   * <ul>
   * <li>kind: One of http, control, link.
   * <li>identity: Id or name of the caller.
   * <li>router: Id or name.
   * <li>message: The name of the content type of a message, such as Route.
   * <li>path: The beginning of the path; with * for any characters, the whole path.
   * <li>operation: Such as listServices.
   * <li>method
   * <li>status
   * <li>fault: The id of the fault that was applied.
   * <li>failed: Only requests with a status of at least 400 or without an answer, and rejected routers.
   * <li>after: Only later entries than the one with this number.
   * <li>times: The exact number of entries; default: at least one.
   * <li>within: A duration to wait for them, such as 5s.
   * </ul>
   */
  public Object checkJournal(Map<String, ?> options) {
    return call("POST", "/journal/verify", with(options), null);
  }

  /** Without options. */
  public Object checkJournal() {
    return checkJournal(Map.of());
  }

  /**
   * POST /lab/v1/identities/{name}/enroll
   * Options:
   * <ul>
   * <li>roleAttributes
   * </ul>
   */
  public Object enrollIdentity(String name, Map<String, ?> options) {
    return call("POST", "/identities/" + quoted(name) + "/enroll", with(options), null);
  }

  /** Without options. */
  public Object enrollIdentity(String name) {
    return enrollIdentity(name, Map.of());
  }

  /**
   * POST /lab/v1/services
   * Options:
   * <ul>
   * <li>address: Host of the server, as the router reaches it; default 127.0.0.1.
   * <li>encryptionRequired: Default: true.
   * </ul>
   */
  public Object createService(String name, String host, long port, Map<String, ?> options) {
    return call("POST", "/services", with(options, "name", name, "host", host, "port", port), null);
  }

  /** Without options. */
  public Object createService(String name, String host, long port) {
    return createService(name, host, port, Map.of());
  }

  /**
   * GET /lab/v1/tokens/{name}
   */
  public Object detailToken(String name) {
    return call("GET", "/tokens/" + quoted(name), null, null);
  }

  /**
   * GET /lab/v1/network
   */
  public Object detailNetwork() {
    return call("GET", "/network", null, null);
  }

  /**
   * POST /lab/v1/network/wait
   * Options:
   * <ul>
   * <li>timeout: A duration, such as 30s; default 15s, at most 50s.
   * </ul>
   */
  public Object waitForNetwork(Map<String, ?> options) {
    return call("POST", "/network/wait", with(options), null);
  }

  /** Without options. */
  public Object waitForNetwork() {
    return waitForNetwork(Map.of());
  }

  /**
   * GET /lab/v1/proxies
   */
  public Object listProxies() {
    return call("GET", "/proxies", null, null);
  }

  /**
   * POST /lab/v1/proxies
   * Options:
   * <ul>
   * <li>port: Where it listens; default: a free port.
   * </ul>
   */
  public Object createProxy(String name, String to, Map<String, ?> options) {
    return call("POST", "/proxies", with(options, "name", name, "to", to), null);
  }

  /** Without options. */
  public Object createProxy(String name, String to) {
    return createProxy(name, to, Map.of());
  }

  /**
   * DELETE /lab/v1/proxies/{name}
   */
  public Object deleteProxy(String name) {
    return call("DELETE", "/proxies/" + quoted(name), null, null);
  }

  /**
   * POST /lab/v1/routers/{id}/disconnect
   */
  public Object disconnectRouter(String id) {
    return call("POST", "/routers/" + quoted(id) + "/disconnect", null, null);
  }

  /**
   * GET /lab/v1/snapshots
   */
  public Object listSnapshots() {
    return call("GET", "/snapshots", null, null);
  }

  /**
   * POST /lab/v1/snapshots
   */
  public Object createSnapshot(String name) {
    return call("POST", "/snapshots", with(Map.of(), "name", name), null);
  }

  /**
   * DELETE /lab/v1/snapshots/{name}
   */
  public Object deleteSnapshot(String name) {
    return call("DELETE", "/snapshots/" + quoted(name), null, null);
  }

  /**
   * POST /lab/v1/snapshots/load
   * Options:
   * <ul>
   * <li>credentials: Take credentials from the file, and identities that become administrators; default false.
   * </ul>
   */
  public Object loadSnapshot(String name, Object file, Map<String, ?> options) {
    return call("POST", "/snapshots/load", with(options, "name", name, "file", file), null);
  }

  /** Without options. */
  public Object loadSnapshot(String name, Object file) {
    return loadSnapshot(name, file, Map.of());
  }

  /**
   * GET /lab/v1/snapshots/{name}/file
   * Options:
   * <ul>
   * <li>credentials
   * </ul>
   */
  public Object saveSnapshot(String name, Map<String, ?> options) {
    return call("GET", "/snapshots/" + quoted(name) + "/file", null, options);
  }

  /** Without options. */
  public Object saveSnapshot(String name) {
    return saveSnapshot(name, Map.of());
  }

  /**
   * POST /lab/v1/snapshots/{name}/restore
   * Options:
   * <ul>
   * <li>keep: Parts that stay as they are.
   * </ul>
   */
  public Object restoreSnapshot(String name, Map<String, ?> options) {
    return call("POST", "/snapshots/" + quoted(name) + "/restore", with(options), null);
  }

  /** Without options. */
  public Object restoreSnapshot(String name) {
    return restoreSnapshot(name, Map.of());
  }

  /**
   * POST /lab/v1/reset
   * Options:
   * <ul>
   * <li>keep: Parts that stay as they are.
   * </ul>
   */
  public Object reset(Map<String, ?> options) {
    return call("POST", "/reset", with(options), null);
  }

  /** Without options. */
  public Object reset() {
    return reset(Map.of());
  }

  /**
   * POST /lab/v1/seed
   * Options:
   * <ul>
   * <li>apply
   * <li>prune
   * <li>plan
   * </ul>
   */
  public Object seed(Object document, Map<String, ?> options) {
    return call("POST", "/seed", document, options);
  }

  /** Without options. */
  public Object seed(Object document) {
    return seed(document, Map.of());
  }

  /**
   * POST /lab/v1/what-if
   * Options:
   * <ul>
   * <li>prune
   * </ul>
   */
  public Object whatIf(Object document, Map<String, ?> options) {
    return call("POST", "/what-if", document, options);
  }

  /** Without options. */
  public Object whatIf(Object document) {
    return whatIf(document, Map.of());
  }

  /**
   * GET /lab/v1/export
   */
  public Object exportNetwork() {
    return call("GET", "/export", null, null);
  }

  /**
   * POST /lab/v1/why
   * Options:
   * <ul>
   * <li>router
   * <li>session
   * </ul>
   */
  public Object why(String identity, String service, String type, Map<String, ?> options) {
    return call("POST", "/why", with(options, "identity", identity, "service", service, "type", type), null);
  }

  /** Without options. */
  public Object why(String identity, String service, String type) {
    return why(identity, service, type, Map.of());
  }

  /**
   * POST /lab/v1/why/login
   */
  public Object whyLogin(String identity) {
    return call("POST", "/why/login", with(Map.of(), "identity", identity), null);
  }

  /**
   * POST /lab/v1/why/session
   */
  public Object whySession(String session) {
    return call("POST", "/why/session", with(Map.of(), "session", session), null);
  }

  /**
   * POST /lab/v1/why/posture
   * Options:
   * <ul>
   * <li>session: Only in this API session; otherwise in all sessions of the identity.
   * </ul>
   */
  public Object whyPosture(String identity, Map<String, ?> options) {
    return call("POST", "/why/posture", with(options, "identity", identity), null);
  }

  /** Without options. */
  public Object whyPosture(String identity) {
    return whyPosture(identity, Map.of());
  }

  /**
   * POST /lab/v1/why/link
   */
  public Object whyLink(String router, String other) {
    return call("POST", "/why/link", with(Map.of(), "router", router, "other", other), null);
  }
}
