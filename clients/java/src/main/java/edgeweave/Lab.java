// Generated from schemas/lab by `npm run generate`.

package edgeweave;

import java.util.List;
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
  public void rejoinMember(String id) {
    call("POST", "/cluster/members/" + quoted(id) + "/rejoin", null, null);
  }

  /**
   * POST /lab/v1/cluster/members/{id}/partition
   */
  public void partitionMember(String id) {
    call("POST", "/cluster/members/" + quoted(id) + "/partition", null, null);
  }

  /**
   * POST /lab/v1/cluster/members/{id}/heal
   */
  public void healMember(String id) {
    call("POST", "/cluster/members/" + quoted(id) + "/heal", null, null);
  }

  /**
   * POST /lab/v1/cluster/members/{id}/pause
   */
  public void pauseMember(String id, PauseMemberOptions options) {
    call("POST", "/cluster/members/" + quoted(id) + "/pause", with(options.fields()), null);
  }

  /** Without options. */
  public void pauseMember(String id) {
    pauseMember(id, new PauseMemberOptions());
  }

  /**
   * POST /lab/v1/cluster/members/{id}/kill
   */
  public void killMember(String id) {
    call("POST", "/cluster/members/" + quoted(id) + "/kill", null, null);
  }

  /**
   * GET /lab/v1/clock
   */
  public Clock detailClock() {
    return Answers.read(call("GET", "/clock", null, null), Clock.class);
  }

  /**
   * PATCH /lab/v1/clock
   */
  public Clock patchClock(PatchClockOptions options) {
    return Answers.read(call("PATCH", "/clock", with(options.fields()), null), Clock.class);
  }

  /** Without options. */
  public Clock patchClock() {
    return patchClock(new PatchClockOptions());
  }

  /**
   * POST /lab/v1/clock/advance
   */
  public Clock advanceClock(String duration) {
    return Answers.read(call("POST", "/clock/advance", with(Map.of(), "duration", duration), null), Clock.class);
  }

  /**
   * DELETE /lab/v1/faults
   */
  public void clearFaults(ClearFaultsOptions options) {
    call("DELETE", "/faults", null, options.fields());
  }

  /** Without options. */
  public void clearFaults() {
    clearFaults(new ClearFaultsOptions());
  }

  /**
   * GET /lab/v1/faults
   */
  public List<Fault> listFaults() {
    return Answers.list(call("GET", "/faults", null, null), Fault.class);
  }

  /**
   * POST /lab/v1/faults
   */
  public Fault createFault(String kind, CreateFaultOptions options) {
    return Answers.read(call("POST", "/faults", with(options.fields(), "kind", kind), null), Fault.class);
  }

  /** Without options. */
  public Fault createFault(String kind) {
    return createFault(kind, new CreateFaultOptions());
  }

  /**
   * DELETE /lab/v1/faults/{id}
   */
  public void deleteFault(String id) {
    call("DELETE", "/faults/" + quoted(id), null, null);
  }

  /**
   * DELETE /lab/v1/journal
   */
  public void clearJournal() {
    call("DELETE", "/journal", null, null);
  }

  /**
   * PATCH /lab/v1/journal
   */
  public JournalState patchJournal(boolean links) {
    return Answers.read(call("PATCH", "/journal", with(Map.of(), "links", links), null), JournalState.class);
  }

  /**
   * GET /lab/v1/journal
   */
  public List<JournalEntry> listJournal(ListJournalOptions options) {
    return Answers.list(call("GET", "/journal", null, options.fields()), JournalEntry.class);
  }

  /** Without options. */
  public List<JournalEntry> listJournal() {
    return listJournal(new ListJournalOptions());
  }

  /**
   * GET /lab/v1/journal/recording
   */
  public Recording recordJournal(RecordJournalOptions options) {
    return Answers.read(call("GET", "/journal/recording", null, options.fields()), Recording.class);
  }

  /** Without options. */
  public Recording recordJournal() {
    return recordJournal(new RecordJournalOptions());
  }

  /**
   * POST /lab/v1/journal/wait. @throws VerificationError that names the nearest entries, if the answer does not hold
   */
  public Waited waitForEntry(WaitForEntryOptions options) {
    return Answers.read(holding(call("POST", "/journal/wait", with(options.fields()), null), "entry"), Waited.class);
  }

  /** Without options. */
  public Waited waitForEntry() {
    return waitForEntry(new WaitForEntryOptions());
  }

  /**
   * POST /lab/v1/journal/wait. Like waitForEntry, but also returns an answer that does not hold.
   */
  public Waited findEntry(WaitForEntryOptions options) {
    return Answers.read(call("POST", "/journal/wait", with(options.fields()), null), Waited.class);
  }

  /** Without options. */
  public Waited findEntry() {
    return findEntry(new WaitForEntryOptions());
  }

  /**
   * POST /lab/v1/journal/verify. @throws VerificationError that names the nearest entries, if the answer does not hold
   */
  public Verified verifyJournal(VerifyJournalOptions options) {
    return Answers.read(holding(call("POST", "/journal/verify", with(options.fields()), null), "verified"), Verified.class);
  }

  /** Without options. */
  public Verified verifyJournal() {
    return verifyJournal(new VerifyJournalOptions());
  }

  /**
   * POST /lab/v1/journal/verify. Like verifyJournal, but also returns an answer that does not hold.
   */
  public Verified checkJournal(VerifyJournalOptions options) {
    return Answers.read(call("POST", "/journal/verify", with(options.fields()), null), Verified.class);
  }

  /** Without options. */
  public Verified checkJournal() {
    return checkJournal(new VerifyJournalOptions());
  }

  /**
   * POST /lab/v1/identities/{name}/enroll
   */
  public IdentityFile enrollIdentity(String name, EnrollIdentityOptions options) {
    return Answers.read(call("POST", "/identities/" + quoted(name) + "/enroll", with(options.fields()), null), IdentityFile.class);
  }

  /** Without options. */
  public IdentityFile enrollIdentity(String name) {
    return enrollIdentity(name, new EnrollIdentityOptions());
  }

  /**
   * POST /lab/v1/services
   */
  public Service createService(String name, String host, long port, CreateServiceOptions options) {
    return Answers.read(call("POST", "/services", with(options.fields(), "name", name, "host", host, "port", port), null), Service.class);
  }

  /** Without options. */
  public Service createService(String name, String host, long port) {
    return createService(name, host, port, new CreateServiceOptions());
  }

  /**
   * GET /lab/v1/tokens/{name}
   */
  public Token detailToken(String name) {
    return Answers.read(call("GET", "/tokens/" + quoted(name), null, null), Token.class);
  }

  /**
   * GET /lab/v1/network
   */
  public Topology detailNetwork() {
    return Answers.read(call("GET", "/network", null, null), Topology.class);
  }

  /**
   * POST /lab/v1/network/wait
   */
  public void waitForNetwork(WaitForNetworkOptions options) {
    call("POST", "/network/wait", with(options.fields()), null);
  }

  /** Without options. */
  public void waitForNetwork() {
    waitForNetwork(new WaitForNetworkOptions());
  }

  /**
   * GET /lab/v1/proxies
   */
  public List<Proxy> listProxies() {
    return Answers.list(call("GET", "/proxies", null, null), Proxy.class);
  }

  /**
   * POST /lab/v1/proxies
   */
  public Proxy createProxy(String name, String to, CreateProxyOptions options) {
    return Answers.read(call("POST", "/proxies", with(options.fields(), "name", name, "to", to), null), Proxy.class);
  }

  /** Without options. */
  public Proxy createProxy(String name, String to) {
    return createProxy(name, to, new CreateProxyOptions());
  }

  /**
   * DELETE /lab/v1/proxies/{name}
   */
  public void deleteProxy(String name) {
    call("DELETE", "/proxies/" + quoted(name), null, null);
  }

  /**
   * POST /lab/v1/routers/{id}/disconnect
   */
  public void disconnectRouter(String id) {
    call("POST", "/routers/" + quoted(id) + "/disconnect", null, null);
  }

  /**
   * GET /lab/v1/snapshots
   */
  public List<Snapshot> listSnapshots() {
    return Answers.list(call("GET", "/snapshots", null, null), Snapshot.class);
  }

  /**
   * POST /lab/v1/snapshots
   */
  public Snapshot createSnapshot(String name) {
    return Answers.read(call("POST", "/snapshots", with(Map.of(), "name", name), null), Snapshot.class);
  }

  /**
   * DELETE /lab/v1/snapshots/{name}
   */
  public void deleteSnapshot(String name) {
    call("DELETE", "/snapshots/" + quoted(name), null, null);
  }

  /**
   * POST /lab/v1/snapshots/load
   */
  public Snapshot loadSnapshot(String name, Object file, LoadSnapshotOptions options) {
    return Answers.read(call("POST", "/snapshots/load", with(options.fields(), "name", name, "file", file), null), Snapshot.class);
  }

  /** Without options. */
  public Snapshot loadSnapshot(String name, Object file) {
    return loadSnapshot(name, file, new LoadSnapshotOptions());
  }

  /**
   * GET /lab/v1/snapshots/{name}/file
   */
  public SnapshotFile saveSnapshot(String name, SaveSnapshotOptions options) {
    return Answers.read(call("GET", "/snapshots/" + quoted(name) + "/file", null, options.fields()), SnapshotFile.class);
  }

  /** Without options. */
  public SnapshotFile saveSnapshot(String name) {
    return saveSnapshot(name, new SaveSnapshotOptions());
  }

  /**
   * POST /lab/v1/snapshots/{name}/restore
   */
  public Restored restoreSnapshot(String name, RestoreSnapshotOptions options) {
    return Answers.read(call("POST", "/snapshots/" + quoted(name) + "/restore", with(options.fields()), null), Restored.class);
  }

  /** Without options. */
  public Restored restoreSnapshot(String name) {
    return restoreSnapshot(name, new RestoreSnapshotOptions());
  }

  /**
   * POST /lab/v1/reset
   */
  public Restored reset(ResetOptions options) {
    return Answers.read(call("POST", "/reset", with(options.fields()), null), Restored.class);
  }

  /** Without options. */
  public Restored reset() {
    return reset(new ResetOptions());
  }

  /**
   * POST /lab/v1/seed
   */
  public Seeded seed(Object document, SeedOptions options) {
    return Answers.read(call("POST", "/seed", document, options.fields()), Seeded.class);
  }

  /** Without options. */
  public Seeded seed(Object document) {
    return seed(document, new SeedOptions());
  }

  /**
   * POST /lab/v1/what-if
   */
  public WhatIf whatIf(Object document, WhatIfOptions options) {
    return Answers.read(call("POST", "/what-if", document, options.fields()), WhatIf.class);
  }

  /** Without options. */
  public WhatIf whatIf(Object document) {
    return whatIf(document, new WhatIfOptions());
  }

  /**
   * GET /lab/v1/export
   */
  public Map<String, Object> exportNetwork() {
    return Answers.document(call("GET", "/export", null, null));
  }

  /**
   * POST /lab/v1/why
   */
  public Why why(String identity, String service, String type, WhyOptions options) {
    return Answers.read(call("POST", "/why", with(options.fields(), "identity", identity, "service", service, "type", type), null), Why.class);
  }

  /** Without options. */
  public Why why(String identity, String service, String type) {
    return why(identity, service, type, new WhyOptions());
  }

  /**
   * POST /lab/v1/why/login
   */
  public Explanation whyLogin(String identity) {
    return Answers.read(call("POST", "/why/login", with(Map.of(), "identity", identity), null), Explanation.class);
  }

  /**
   * POST /lab/v1/why/session
   */
  public Explanation whySession(String session) {
    return Answers.read(call("POST", "/why/session", with(Map.of(), "session", session), null), Explanation.class);
  }

  /**
   * POST /lab/v1/why/posture
   */
  public Explanation whyPosture(String identity, WhyPostureOptions options) {
    return Answers.read(call("POST", "/why/posture", with(options.fields(), "identity", identity), null), Explanation.class);
  }

  /** Without options. */
  public Explanation whyPosture(String identity) {
    return whyPosture(identity, new WhyPostureOptions());
  }

  /**
   * POST /lab/v1/why/link
   */
  public Explanation whyLink(String router, String other) {
    return Answers.read(call("POST", "/why/link", with(Map.of(), "router", router, "other", other), null), Explanation.class);
  }

  /** Options of pauseMember. */
  public static final class PauseMemberOptions extends Options<PauseMemberOptions> {
    public PauseMemberOptions duration(String duration) {
      return set("duration", duration);
    }
  }

  /** Options of patchClock. */
  public static final class PatchClockOptions extends Options<PatchClockOptions> {
    /** The new time, such as 2027-01-31T12:00:00Z. */
    public PatchClockOptions time(String time) {
      return set("time", time);
    }

    /** How many times as fast as the real time it runs; 0: it stands still. */
    public PatchClockOptions rate(double rate) {
      return set("rate", rate);
    }
  }

  /** Options of clearFaults. */
  public static final class ClearFaultsOptions extends Options<ClearFaultsOptions> {
    public ClearFaultsOptions scope(String scope) {
      return set("scope", scope);
    }
  }

  /** Options of createFault. */
  public static final class CreateFaultOptions extends Options<CreateFaultOptions> {
    /** The method of the request. */
    public CreateFaultOptions method(String method) {
      return set("method", method);
    }

    /** The beginning of the path; with * for any characters, the whole path. */
    public CreateFaultOptions path(String path) {
      return set("path", path);
    }

    /** The id of an operation, such as listServices. */
    public CreateFaultOptions operation(String operation) {
      return set("operation", operation);
    }

    /** Id or name of the caller. */
    public CreateFaultOptions identity(String identity) {
      return set("identity", identity);
    }

    /** 200 to 599: the answer in place of the operation. */
    public CreateFaultOptions status(long status) {
      return set("status", status);
    }

    /** An error code of the APIs, such as NOT_FOUND. */
    public CreateFaultOptions code(String code) {
      return set("code", code);
    }

    /** The body of the answer: a text as it is, anything else as JSON. */
    public CreateFaultOptions body(Object body) {
      return set("body", body);
    }

    /** Headers of the answer, such as Retry-After. */
    public CreateFaultOptions headers(Map<String, String> headers) {
      return set("headers", headers);
    }

    /** The connection closes without an answer. */
    public CreateFaultOptions close(boolean close) {
      return set("close", close);
    }

    /** The connection closes after half of the answer. */
    public CreateFaultOptions truncate(boolean truncate) {
      return set("truncate", truncate);
    }

    /** A duration, such as 500ms, before the request, the message or the change is handled. */
    public CreateFaultOptions delay(String delay) {
      return set("delay", delay);
    }

    /** One answer for each request, in this order; afterwards requests are handled as usual. */
    public CreateFaultOptions answers(List<CreateFaultAnswer> answers) {
      return set("answers", answers);
    }

    /** Id or name of the router: of control channels, links or SDK connections. */
    public CreateFaultOptions router(String router) {
      return set("router", router);
    }

    /** Name of the router at the other end of the link. */
    public CreateFaultOptions peer(String peer) {
      return set("peer", peer);
    }

    /** Name of a proxy. */
    public CreateFaultOptions proxy(String proxy) {
      return set("proxy", proxy);
    }

    /** The name of a content type, such as Route. */
    public CreateFaultOptions message(String message) {
      return set("message", message);
    }

    /** Messages from the router (in) or to it (out); bytes from the side that dialed (up) or to it (down). One of in, out, up, down. */
    public CreateFaultOptions direction(String direction) {
      return set("direction", direction);
    }

    /** The message is lost. */
    public CreateFaultOptions drop(boolean drop) {
      return set("drop", drop);
    }

    /** The message arrives twice. */
    public CreateFaultOptions duplicate(boolean duplicate) {
      return set("duplicate", duplicate);
    }

    /** The message arrives after the next one. */
    public CreateFaultOptions reorder(boolean reorder) {
      return set("reorder", reorder);
    }

    /** New control channels are rejected. */
    public CreateFaultOptions reject(boolean reject) {
      return set("reject", reject);
    }

    /** A duration that bytes travel longer. */
    public CreateFaultOptions latency(String latency) {
      return set("latency", latency);
    }

    /** A duration that is added to the latency or taken from it, at random. */
    public CreateFaultOptions jitter(String jitter) {
      return set("jitter", jitter);
    }

    /** Bytes per second. */
    public CreateFaultOptions bandwidth(long bandwidth) {
      return set("bandwidth", bandwidth);
    }

    /** Bytes of the pieces in which everything is written. */
    public CreateFaultOptions slice(long slice) {
      return set("slice", slice);
    }

    /** The duration between two pieces; default 10ms. */
    public CreateFaultOptions sliceDelay(String sliceDelay) {
      return set("sliceDelay", sliceDelay);
    }

    /** The connection is closed after so many bytes. */
    public CreateFaultOptions limit(long limit) {
      return set("limit", limit);
    }

    /** A duration by which the end of a direction arrives later. */
    public CreateFaultOptions closeDelay(String closeDelay) {
      return set("closeDelay", closeDelay);
    }

    /** Bytes wait until the fault ends. */
    public CreateFaultOptions stall(boolean stall) {
      return set("stall", stall);
    }

    /** The far side is gone, and the near one does not learn of it. */
    public CreateFaultOptions halfOpen(boolean halfOpen) {
      return set("halfOpen", halfOpen);
    }

    /** Connections are reset, new ones too. */
    public CreateFaultOptions cut(boolean cut) {
      return set("cut", cut);
    }

    /** The store rejects changes. */
    public CreateFaultOptions fail(boolean fail) {
      return set("fail", fail);
    }

    /** The store rejects changes, as with a full disk. */
    public CreateFaultOptions full(boolean full) {
      return set("full", full);
    }

    /** How many requests, messages, connections or changes it affects; default: all. */
    public CreateFaultOptions times(long times) {
      return set("times", times);
    }

    /** 0 to 1: the share of the matching ones that it affects; default 1. */
    public CreateFaultOptions probability(double probability) {
      return set("probability", probability);
    }

    /** A duration, after which it affects nothing. */
    public CreateFaultOptions lasts(String lasts) {
      return set("lasts", lasts);
    }

    /** A name that several faults share, such as that of a test; they can be removed together. */
    public CreateFaultOptions scope(String scope) {
      return set("scope", scope);
    }
  }

  /** Options of listJournal. */
  public static final class ListJournalOptions extends Options<ListJournalOptions> {
    public ListJournalOptions limit(long limit) {
      return set("limit", limit);
    }

    public ListJournalOptions after(long after) {
      return set("after", after);
    }

    public ListJournalOptions kind(String kind) {
      return set("kind", kind);
    }

    public ListJournalOptions identity(String identity) {
      return set("identity", identity);
    }

    public ListJournalOptions router(String router) {
      return set("router", router);
    }

    public ListJournalOptions message(String message) {
      return set("message", message);
    }

    public ListJournalOptions path(String path) {
      return set("path", path);
    }

    public ListJournalOptions operation(String operation) {
      return set("operation", operation);
    }

    public ListJournalOptions method(String method) {
      return set("method", method);
    }

    public ListJournalOptions status(long status) {
      return set("status", status);
    }

    public ListJournalOptions fault(String fault) {
      return set("fault", fault);
    }

    public ListJournalOptions failed(boolean failed) {
      return set("failed", failed);
    }
  }

  /** Options of recordJournal. */
  public static final class RecordJournalOptions extends Options<RecordJournalOptions> {
    public RecordJournalOptions after(long after) {
      return set("after", after);
    }

    public RecordJournalOptions identity(String identity) {
      return set("identity", identity);
    }

    public RecordJournalOptions path(String path) {
      return set("path", path);
    }

    public RecordJournalOptions operation(String operation) {
      return set("operation", operation);
    }

    public RecordJournalOptions method(String method) {
      return set("method", method);
    }

    public RecordJournalOptions status(long status) {
      return set("status", status);
    }

    public RecordJournalOptions fault(String fault) {
      return set("fault", fault);
    }

    public RecordJournalOptions failed(boolean failed) {
      return set("failed", failed);
    }
  }

  /** Options of waitForEntry. */
  public static final class WaitForEntryOptions extends Options<WaitForEntryOptions> {
    /** One of http, control, link. */
    public WaitForEntryOptions kind(String kind) {
      return set("kind", kind);
    }

    /** Id or name of the caller. */
    public WaitForEntryOptions identity(String identity) {
      return set("identity", identity);
    }

    /** Id or name. */
    public WaitForEntryOptions router(String router) {
      return set("router", router);
    }

    /** The name of the content type of a message, such as Route. */
    public WaitForEntryOptions message(String message) {
      return set("message", message);
    }

    /** The beginning of the path; with * for any characters, the whole path. */
    public WaitForEntryOptions path(String path) {
      return set("path", path);
    }

    /** Such as listServices. */
    public WaitForEntryOptions operation(String operation) {
      return set("operation", operation);
    }

    public WaitForEntryOptions method(String method) {
      return set("method", method);
    }

    public WaitForEntryOptions status(long status) {
      return set("status", status);
    }

    /** The id of the fault that was applied. */
    public WaitForEntryOptions fault(String fault) {
      return set("fault", fault);
    }

    /** Only requests with a status of at least 400 or without an answer, and rejected routers. */
    public WaitForEntryOptions failed(boolean failed) {
      return set("failed", failed);
    }

    /** Only later entries than the one with this number. */
    public WaitForEntryOptions after(long after) {
      return set("after", after);
    }

    /** A duration, such as 5s; default 10s, at most 50s. */
    public WaitForEntryOptions timeout(String timeout) {
      return set("timeout", timeout);
    }
  }

  /** Options of verifyJournal. */
  public static final class VerifyJournalOptions extends Options<VerifyJournalOptions> {
    /** One of http, control, link. */
    public VerifyJournalOptions kind(String kind) {
      return set("kind", kind);
    }

    /** Id or name of the caller. */
    public VerifyJournalOptions identity(String identity) {
      return set("identity", identity);
    }

    /** Id or name. */
    public VerifyJournalOptions router(String router) {
      return set("router", router);
    }

    /** The name of the content type of a message, such as Route. */
    public VerifyJournalOptions message(String message) {
      return set("message", message);
    }

    /** The beginning of the path; with * for any characters, the whole path. */
    public VerifyJournalOptions path(String path) {
      return set("path", path);
    }

    /** Such as listServices. */
    public VerifyJournalOptions operation(String operation) {
      return set("operation", operation);
    }

    public VerifyJournalOptions method(String method) {
      return set("method", method);
    }

    public VerifyJournalOptions status(long status) {
      return set("status", status);
    }

    /** The id of the fault that was applied. */
    public VerifyJournalOptions fault(String fault) {
      return set("fault", fault);
    }

    /** Only requests with a status of at least 400 or without an answer, and rejected routers. */
    public VerifyJournalOptions failed(boolean failed) {
      return set("failed", failed);
    }

    /** Only later entries than the one with this number. */
    public VerifyJournalOptions after(long after) {
      return set("after", after);
    }

    /** The exact number of entries; default: at least one. */
    public VerifyJournalOptions times(long times) {
      return set("times", times);
    }

    /** A duration to wait for them, such as 5s. */
    public VerifyJournalOptions within(String within) {
      return set("within", within);
    }
  }

  /** Options of enrollIdentity. */
  public static final class EnrollIdentityOptions extends Options<EnrollIdentityOptions> {
    public EnrollIdentityOptions roleAttributes(List<String> roleAttributes) {
      return set("roleAttributes", roleAttributes);
    }
  }

  /** Options of createService. */
  public static final class CreateServiceOptions extends Options<CreateServiceOptions> {
    /** Host of the server, as the router reaches it; default 127.0.0.1. */
    public CreateServiceOptions address(String address) {
      return set("address", address);
    }

    /** Default: true. */
    public CreateServiceOptions encryptionRequired(boolean encryptionRequired) {
      return set("encryptionRequired", encryptionRequired);
    }
  }

  /** Options of waitForNetwork. */
  public static final class WaitForNetworkOptions extends Options<WaitForNetworkOptions> {
    /** A duration, such as 30s; default 15s, at most 50s. */
    public WaitForNetworkOptions timeout(String timeout) {
      return set("timeout", timeout);
    }
  }

  /** Options of createProxy. */
  public static final class CreateProxyOptions extends Options<CreateProxyOptions> {
    /** Where it listens; default: a free port. */
    public CreateProxyOptions port(long port) {
      return set("port", port);
    }
  }

  /** Options of loadSnapshot. */
  public static final class LoadSnapshotOptions extends Options<LoadSnapshotOptions> {
    /** Take credentials from the file, and identities that become administrators; default false. */
    public LoadSnapshotOptions credentials(boolean credentials) {
      return set("credentials", credentials);
    }
  }

  /** Options of saveSnapshot. */
  public static final class SaveSnapshotOptions extends Options<SaveSnapshotOptions> {
    public SaveSnapshotOptions credentials(boolean credentials) {
      return set("credentials", credentials);
    }
  }

  /** Options of restoreSnapshot. */
  public static final class RestoreSnapshotOptions extends Options<RestoreSnapshotOptions> {
    /** Parts that stay as they are. */
    public RestoreSnapshotOptions keep(List<String> keep) {
      return set("keep", keep);
    }
  }

  /** Options of reset. */
  public static final class ResetOptions extends Options<ResetOptions> {
    /** Parts that stay as they are. */
    public ResetOptions keep(List<String> keep) {
      return set("keep", keep);
    }
  }

  /** Options of seed. */
  public static final class SeedOptions extends Options<SeedOptions> {
    public SeedOptions apply(boolean apply) {
      return set("apply", apply);
    }

    public SeedOptions prune(boolean prune) {
      return set("prune", prune);
    }

    public SeedOptions plan(boolean plan) {
      return set("plan", plan);
    }
  }

  /** Options of whatIf. */
  public static final class WhatIfOptions extends Options<WhatIfOptions> {
    public WhatIfOptions prune(boolean prune) {
      return set("prune", prune);
    }
  }

  /** Options of why. */
  public static final class WhyOptions extends Options<WhyOptions> {
    public WhyOptions router(String router) {
      return set("router", router);
    }

    public WhyOptions session(String session) {
      return set("session", session);
    }
  }

  /** Options of whyPosture. */
  public static final class WhyPostureOptions extends Options<WhyPostureOptions> {
    /** Only in this API session; otherwise in all sessions of the identity. */
    public WhyPostureOptions session(String session) {
      return set("session", session);
    }
  }

  /** Part of the options of a call. */
  public static final class CreateFaultAnswer extends Options<CreateFaultAnswer> {
    /** 200 to 599: the answer in place of the operation. */
    public CreateFaultAnswer status(long status) {
      return set("status", status);
    }

    /** An error code of the APIs, such as NOT_FOUND. */
    public CreateFaultAnswer code(String code) {
      return set("code", code);
    }

    /** The body of the answer: a text as it is, anything else as JSON. */
    public CreateFaultAnswer body(Object body) {
      return set("body", body);
    }

    /** Headers of the answer, such as Retry-After. */
    public CreateFaultAnswer headers(Map<String, String> headers) {
      return set("headers", headers);
    }

    /** The connection closes without an answer. */
    public CreateFaultAnswer close(boolean close) {
      return set("close", close);
    }

    /** The connection closes after half of the answer. */
    public CreateFaultAnswer truncate(boolean truncate) {
      return set("truncate", truncate);
    }

    /** A duration, such as 500ms, before the request, the message or the change is handled. */
    public CreateFaultAnswer delay(String delay) {
      return set("delay", delay);
    }
  }

  /**
   * @param advanced The distance from the real time, such as 31m0s; negative in the past.
   * @param rate How many times as fast as the real time it runs; 0: it stands still.
   */
  public record Clock(
      String now,
      String advanced,
      double rate) {}

  /**
   * Missing parts are null.
   *
   * @param status 200 to 599: the answer in place of the operation.
   * @param code An error code of the APIs, such as NOT_FOUND.
   * @param body The body of the answer: a text as it is, anything else as JSON.
   * @param headers Headers of the answer, such as Retry-After.
   * @param close The connection closes without an answer.
   * @param truncate The connection closes after half of the answer.
   * @param delay A duration, such as 500ms, before the request, the message or the change is handled.
   */
  public record FaultAnswer(
      Long status,
      String code,
      Object body,
      Map<String, String> headers,
      Boolean close,
      Boolean truncate,
      String delay) {}

  /**
   * Missing parts are null.
   *
   * @param hits How many requests, messages, connections or changes it has affected.
   * @param kind Requests to the APIs, messages of control channels, links, SDK connections, connections of a proxy, changes in the store. One of http, control, link, sdk, proxy, store.
   * @param method The method of the request.
   * @param path The beginning of the path; with * for any characters, the whole path.
   * @param operation The id of an operation, such as listServices.
   * @param identity Id or name of the caller.
   * @param status 200 to 599: the answer in place of the operation.
   * @param code An error code of the APIs, such as NOT_FOUND.
   * @param body The body of the answer: a text as it is, anything else as JSON.
   * @param headers Headers of the answer, such as Retry-After.
   * @param close The connection closes without an answer.
   * @param truncate The connection closes after half of the answer.
   * @param delay A duration, such as 500ms, before the request, the message or the change is handled.
   * @param answers One answer for each request, in this order; afterwards requests are handled as usual.
   * @param router Id or name of the router: of control channels, links or SDK connections.
   * @param peer Name of the router at the other end of the link.
   * @param proxy Name of a proxy.
   * @param message The name of a content type, such as Route.
   * @param direction Messages from the router (in) or to it (out); bytes from the side that dialed (up) or to it (down). One of in, out, up, down.
   * @param drop The message is lost.
   * @param duplicate The message arrives twice.
   * @param reorder The message arrives after the next one.
   * @param reject New control channels are rejected.
   * @param latency A duration that bytes travel longer.
   * @param jitter A duration that is added to the latency or taken from it, at random.
   * @param bandwidth Bytes per second.
   * @param slice Bytes of the pieces in which everything is written.
   * @param sliceDelay The duration between two pieces; default 10ms.
   * @param limit The connection is closed after so many bytes.
   * @param closeDelay A duration by which the end of a direction arrives later.
   * @param stall Bytes wait until the fault ends.
   * @param halfOpen The far side is gone, and the near one does not learn of it.
   * @param cut Connections are reset, new ones too.
   * @param fail The store rejects changes.
   * @param full The store rejects changes, as with a full disk.
   * @param times How many requests, messages, connections or changes it affects; default: all.
   * @param probability 0 to 1: the share of the matching ones that it affects; default 1.
   * @param lasts A duration, after which it affects nothing.
   * @param scope A name that several faults share, such as that of a test; they can be removed together.
   */
  public record Fault(
      String id,
      long hits,
      String kind,
      String method,
      String path,
      String operation,
      String identity,
      Long status,
      String code,
      Object body,
      Map<String, String> headers,
      Boolean close,
      Boolean truncate,
      String delay,
      List<FaultAnswer> answers,
      String router,
      String peer,
      String proxy,
      String message,
      String direction,
      Boolean drop,
      Boolean duplicate,
      Boolean reorder,
      Boolean reject,
      String latency,
      String jitter,
      Long bandwidth,
      Long slice,
      String sliceDelay,
      Long limit,
      String closeDelay,
      Boolean stall,
      Boolean halfOpen,
      Boolean cut,
      Boolean fail,
      Boolean full,
      Long times,
      Double probability,
      String lasts,
      String scope) {}

  /**
   * @param links Whether it records the messages of links.
   */
  public record JournalState(
      boolean links) {}

  public record JournalEntryIdentity(
      String id,
      String name) {}

  /**
   * Missing parts are null.
   */
  public record JournalEntryRouter(
      String id,
      String name) {}

  /**
   * Missing parts are null.
   */
  public record JournalEntryPeer(
      String id,
      String name) {}

  /**
   * Missing parts are null.
   *
   * @param kind One of http, control, link.
   * @param sequence Increases by one with each entry; the parameter `after` excludes earlier ones.
   * @param status Null if the client got no answer.
   * @param code The code of the error.
   * @param reason Why a request or a router was rejected, or why a connection ended.
   * @param duration Milliseconds until the answer.
   * @param source The address of the client.
   * @param bytes Size of the answer, or of the body of a message.
   * @param body JSON of the request without secrets, cut after 4,096 characters.
   * @param headers Headers of the request without secrets; most have only their names.
   * @param answer JSON of a successful answer without secrets, if it has at most 4,096 bytes.
   * @param answerHeaders Headers of the answer without secrets.
   * @param event One of connected, disconnected, rejected, message.
   * @param direction One of in, out.
   * @param peer The router at the other end of a link.
   * @param link The id of the link of a message.
   * @param message The name of the content type.
   * @param content The fields of a message of at most 8,192 bytes, without secrets; never the data of a payload.
   * @param fault The id of the fault that was applied.
   */
  public record JournalEntry(
      String kind,
      long sequence,
      String time,
      String method,
      String path,
      String query,
      String api,
      String operation,
      Long status,
      String code,
      String reason,
      Double duration,
      String source,
      JournalEntryIdentity identity,
      Long bytes,
      String body,
      Map<String, String> headers,
      String answer,
      Map<String, String> answerHeaders,
      String event,
      JournalEntryRouter router,
      String direction,
      JournalEntryPeer peer,
      String link,
      String message,
      Object content,
      String fault) {}

  /**
   * @param requests Requests in it.
   * @param omitted Requests that it lacks: without an answer, or larger than the journal keeps.
   * @param text For a file that `sim replay` answers from.
   */
  public record Recording(
      long requests,
      long omitted,
      String text) {}

  /**
   * Missing parts are null.
   *
   * @param entry Missing if none came in time.
   * @param message Why it does not hold, with the nearest entries.
   */
  public record Waited(
      JournalEntry entry,
      String message) {}

  /**
   * Missing parts are null.
   *
   * @param count How many entries meet the filter.
   * @param message Why it does not hold, with the nearest entries.
   */
  public record Verified(
      boolean verified,
      long count,
      String message) {}

  public record IdentityFileId(
      String cert,
      String key,
      String ca) {}

  /**
   * @param ztAPI Address of the client API.
   */
  public record IdentityFile(
      String ztAPI,
      List<String> ztAPIs,
      IdentityFileId id) {}

  public record DialPlace(
      String host,
      long port) {}

  /**
   * Missing parts are null.
   *
   * @param host Name of the router that hosts it.
   */
  public record Service(
      String id,
      String name,
      String host,
      DialPlace dial) {}

  public record Token(
      String token) {}

  /**
   * Missing parts are null.
   *
   * @param startedAt Its last start.
   * @param index Index of the last change that it has.
   * @param behind How many changes it lacks.
   * @param problem Why it does not follow the changes of others; missing if it does.
   */
  public record Controller(
      String id,
      String url,
      String controlAddress,
      boolean connected,
      boolean leader,
      String startedAt,
      long index,
      long behind,
      String problem) {}

  /**
   * Missing parts are null.
   *
   * @param type One of edge, transit.
   * @param version Missing while it is offline.
   * @param identities How many identities are connected to it.
   */
  public record Router(
      String id,
      String name,
      boolean online,
      String type,
      boolean disabled,
      long cost,
      String version,
      long identities) {}

  /**
   * Missing parts are null.
   *
   * @param source Id of the dialing router.
   * @param state disabled by an administrator; disconnected: one of its routers is offline. One of up, disabled, disconnected.
   * @param latency Milliseconds, the mean of both ends; missing until both have measured it.
   */
  public record Link(
      String id,
      String source,
      String destination,
      String state,
      long cost,
      Double latency) {}

  /**
   * Missing parts are null.
   *
   * @param service Name; the id if it no longer exists.
   * @param client Name of the dialing identity; the id if it no longer exists.
   * @param path Ids of routers, from the client to the host.
   * @param age Milliseconds.
   * @param rate Bytes per second in both directions: since the last reading if the router of the client runs beside the simulator, else from its latest usage report (metrics.reportInterval); missing until it is known.
   */
  public record Circuit(
      String id,
      String service,
      String client,
      List<String> path,
      long age,
      Long rate) {}

  public record TopologyTotals(
      long routers,
      long online,
      long links,
      long circuits) {}

  /**
   * Missing parts are null.
   *
   * @param last Sequence number of the latest entry.
   * @param links Whether it records the messages of links; missing without routers in the process.
   */
  public record TopologyJournal(
      long entries,
      long last,
      Boolean links) {}

  /**
   * @param routers Online ones first; at most 1,000.
   * @param links At most 5,000.
   * @param circuits The newest first; at most 500.
   * @param entities How many, by kind.
   */
  public record Topology(
      List<Controller> controllers,
      List<Router> routers,
      List<Link> links,
      List<Circuit> circuits,
      TopologyTotals totals,
      Map<String, Long> entities,
      TopologyJournal journal) {}

  /**
   * @param port Where it listens.
   * @param to The host:port to which its connections lead; empty until the router has told its address.
   * @param connections Open connections.
   */
  public record Proxy(
      String name,
      String host,
      long port,
      String to,
      long connections) {}

  /**
   * @param controllerId The controller that keeps it in memory.
   */
  public record Snapshot(
      String name,
      String takenAt,
      long index,
      long entities,
      String controllerId) {}

  /**
   * @param advanced Milliseconds that were added to the real time.
   * @param now Milliseconds since the epoch.
   */
  public record SnapshotFileClock(
      double rate,
      double advanced,
      double now) {}

  /**
   * @param format One of edgeweave-snapshot/1.
   * @param credentials Whether it has passwords, certificates, second factors and one-time tokens.
   * @param entities By kind.
   */
  public record SnapshotFile(
      String format,
      String name,
      String takenAt,
      boolean credentials,
      SnapshotFileClock clock,
      Object entities) {}

  public record Restored(
      long created,
      long changed,
      long deleted) {}

  /**
   * @param kind Such as service policy.
   */
  public record SeededDifferent(
      String kind,
      String name,
      List<String> fields) {}

  /**
   * Missing parts are null.
   *
   * @param action One of create, change, delete.
   * @param kind Such as service policy.
   * @param fields The fields that change.
   */
  public record SeededStep(
      String action,
      String kind,
      String name,
      List<String> fields) {}

  /**
   * Missing parts are null.
   *
   * @param created How many, by section.
   * @param existing How many, by section.
   * @param different Without apply: the first 20 entities that exist with other values than the document.
   * @param changed How many, by section; only with apply.
   * @param deleted How many, by section; only with prune.
   * @param steps The first 1,000 changes, in their order; only with plan.
   */
  public record Seeded(
      Map<String, Long> created,
      Map<String, Long> existing,
      List<SeededDifferent> different,
      Map<String, Long> changed,
      Map<String, Long> deleted,
      List<SeededStep> steps) {}

  /**
   * @param type One of Dial, Bind.
   */
  public record Right(
      String identity,
      String service,
      String type) {}

  public record WhatIfTotals(
      long gained,
      long lost) {}

  /**
   * @param gained The first 1,000 new rights.
   * @param lost The first 1,000 lost rights.
   */
  public record WhatIf(
      List<Right> gained,
      List<Right> lost,
      WhatIfTotals totals,
      Seeded seeded) {}

  public record WhyIdentity(
      String id,
      String name) {}

  public record WhyService(
      String id,
      String name) {}

  /**
   * Missing parts are null.
   *
   * @param blocking Access is denied because of it.
   * @param repair A seed that does so, for `seed` with `apply`; missing where a seed cannot.
   */
  public record WhyFinding(
      boolean ok,
      Boolean blocking,
      String kind,
      String id,
      String name,
      String message,
      String remedy,
      Map<String, Object> repair) {}

  /**
   * @param type One of Dial, Bind.
   */
  public record Why(
      boolean allowed,
      WhyIdentity identity,
      WhyService service,
      String type,
      List<WhyFinding> reasons) {}

  /**
   * @param ok No reason blocks.
   */
  public record Explanation(
      boolean ok,
      String summary,
      List<WhyFinding> reasons) {}
}
