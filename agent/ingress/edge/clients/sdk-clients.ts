// All connected SDK clients: checks their sessions, serves their messages, and revokes lost rights (reference fact:
// edge, sections 1.2, 2 and 9).

import type { X509Certificate } from 'node:crypto';
import { background } from '#lib/background.ts';
import { describeError, ProjectError } from '#lib/errors.ts';
import type { Log } from '#lib/log/log.ts';
import { Budget } from '#lib/queue/budget.ts';
import { CoalescedTask } from '#lib/queue/coalesced-task.ts';
import { inSlices } from '#lib/slices.ts';
import type { Timer } from '#lib/time/clock.ts';
import { isSignedToken } from '#model/session-tokens.ts';
import type { Channel } from '#wire/channel/channel.ts';
import { type PostureResponse, PostureResponsesSchema } from '#wire/gen/edge_client_pb.js';
import { EdgeErrorCode, RetryHint, SdkHeader, SdkType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import { type ApiSession, type ApiSessions, SessionRejectedError } from '../../../access/api-session.ts';
import { PostureStore } from '../../../access/posture-store.ts';
import { type SdkDialComponents, serveDial } from '../dial/sdk-dial.ts';
import { onLateAnswer } from '../hosting/host-dial.ts';
import type { SdkHosting } from '../hosting/sdk-hosting.ts';
import type { ConnectDetail } from './connect-events.ts';
import { FinishingClients } from './finishing-clients.ts';
import { type IdentityWork, IdentityWorks } from './identity-work.ts';
import { Rejections } from './rejections.ts';
import { CONTROL_LANE, SdkConnection } from './sdk-connection.ts';
import { errorHeaders, SdkRejection, stateClosed } from './sdk-messages.ts';
import { requireAccess } from './sdk-right.ts';
import { serveTraffic } from './sdk-traffic.ts';
import { ServiceSubscription } from './service-subscription.ts';
import { SessionClients } from './session-clients.ts';

export interface SdkClientsComponents extends SdkDialComponents {
  sessions: ApiSessions;
  hosting: SdkHosting;
  metrics: SdkMetrics;
  /** An identity opened a connection, or closed one. */
  onConnections(identityId: string, opened?: ConnectDetail): void;
}

export interface SdkMetrics {
  connected(): void;
  disconnected(): void;
  rejected(): void;
  /** The token of a client belongs to no session. */
  invalidToken(): void;
  /** Milliseconds that data of a client waited for its circuit; undefined unless `metrics.enableDataDelayMetric`. */
  readonly dataDelayed: ((milliseconds: number) => void) | undefined;
  /** A frame names a circuit of another client. */
  foreign(): void;
}

/** reference fact: milliseconds between checks of sessions that expire. */
const SESSION_INTERVAL = 5_000;
/** Milliseconds between checks of rights that expire, with the time limits of posture checks. */
const RECHECK_INTERVAL = 60_000;
/** Checks of the rights and services of one client that its posture, token or requests cause. */
const CHECKS = { burst: 20, perSecond: 10 };
/** Limit on connections of all clients of one identity, dialed and hosted; the sources are identities. */
const CONNECTIONS = { max: Number.POSITIVE_INFINITY, maxOfSource: 8_192 };
/** Limits on requests of one client in progress, and on the bytes of their bodies. */
const MAX_REQUESTS = 1_000;
const MAX_REQUEST_BYTES = 16 * 1024 * 1024;
const TOO_MANY = `more than ${MAX_REQUESTS} requests in progress, or ${MAX_REQUEST_BYTES} bytes of them`;

export class SdkClients {
  readonly #components: SdkClientsComponents;
  readonly #connections = new Set<SdkConnection>();
  readonly #finishing = new FinishingClients();
  readonly #places = new Budget(CONNECTIONS);
  readonly #works: IdentityWorks;
  readonly #bySession = new SessionClients();
  /** Channels of clients whose session is being checked. */
  readonly #pending = new Set<Channel>();
  readonly #postures = new PostureStore();
  readonly #timers: readonly Timer[];
  readonly #unsubscribe: readonly (() => void)[];
  /** Clients whose rights may have changed. */
  readonly #unchecked = new Set<SdkConnection>();
  readonly #rechecks: CoalescedTask;

  constructor(components: SdkClientsComponents) {
    this.#components = components;
    this.#works = new IdentityWorks(components);
    // In slices, one step for each circuit or hosted service: traffic continues in between.
    const recheck = () => inSlices(this.#recheckUnchecked(), () => components.clock.monotonic());
    this.#rechecks = new CoalescedTask(components.log, 'rights of SDK clients', recheck, { inNextTurn: true });
    this.#timers = [
      components.clock.every('sdk sessions', SESSION_INTERVAL, () => this.#closeEnded()),
      components.clock.every('sdk rights', RECHECK_INTERVAL, () => this.#recheckAll()),
    ];
    this.#unsubscribe = [
      components.model.onChange(() => this.#recheckAll()),
      components.legacySessions.onRemoved(() => this.#recheckAll()),
    ];
  }

  get count(): number {
    return this.#connections.size;
  }

  /** Number of circuit ends and hosted services of all clients. */
  get ends(): number {
    let count = 0;
    for (const connection of this.withFinishing()) count += connection.count;
    return count;
  }

  /** All open connections. */
  *connections(): Generator<ConnectDetail> {
    for (const connection of this.#connections) yield detailOf(connection);
  }

  /** The clients themselves, for inspections. */
  all(): Iterable<SdkConnection> {
    return this.#connections;
  }

  /** Also those that have disconnected and whose circuits are still finishing. */
  *withFinishing(): Generator<SdkConnection> {
    yield* this.#connections;
    yield* this.#finishing;
  }

  channelNames(): string[] {
    return [...this.#connections].map(({ channel }) => channel.name);
  }

  close(): void {
    for (const timer of this.#timers) timer.cancel();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#works.close();
    void this.#rechecks.close();
    for (const channel of this.#pending) channel.close();
    for (const connection of [...this.#connections]) connection.channel.close();
    this.#finishing.close();
  }

  /**
   * Accepts a client after its hello. Its requests wait until its session is checked; without a session its connection
   * is closed.
   */
  accept(channel: Channel, token: string, presented: readonly X509Certificate[], patience: number): void {
    const { log } = this.#components;
    const pending = new AbortController();
    this.#pending.add(channel);
    void channel.closed.then(() => pending.abort(new ProjectError('CLOSED', 'the client disconnected')));
    const served = this.#serve(channel, token, presented, patience, pending.signal);
    background(
      log,
      'SDK connection',
      served
        .finally(() => this.#pending.delete(channel))
        .catch((error: unknown) => {
          if (error === pending.signal.reason) return;
          this.#components.metrics.rejected();
          if (error instanceof SessionRejectedError) this.#components.metrics.invalidToken();
          if (!channel.isClosed)
            log.info({ channel: channel.name, error: describeError(error) }, 'SDK client rejected');
          channel.close();
        }),
    );
  }

  async #serve(
    channel: Channel,
    token: string,
    presented: readonly X509Certificate[],
    patience: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { sessions, legacySessions, clock, log, metrics, forwarder } = this.#components;
    channel.setReading(false);
    const session = await sessions.find(token, patience, signal);
    sessions.checkCertificate(session, presented);
    if (channel.isClosed) return;
    const { posture, release: releasePosture } = this.#postures.use(session.id);
    const [connectedAt, rejections] = [clock.now(), new Rejections(clock)];
    const places = this.#places;
    const { work, release: releaseWork } = this.#works.use(session.identityId);
    const check = () => this.#recheckSoon([connection]);
    const requestWork = () => work.request(connection, costOf(connection), check);
    const checks = new CoalescedTask(log, 'rights of an SDK client', requestWork, { pace: { clock, ...CHECKS } });
    const connection = new SdkConnection({
      channel,
      session,
      posture,
      presented,
      connectedAt,
      rejections,
      places,
      clock,
      ownerOf: ({ circuitId, address }) => forwarder.ownerOf(circuitId, address),
      onDataDelay: metrics.dataDelayed,
      requestCheck: () => checks.request(),
      onLastEnd: (ended) => this.#finishing.ended(ended),
    });
    seedMfa(connection, clock.now());
    this.#handle(connection, work);
    this.#connections.add(connection);
    const leaveSession = this.#bySession.add(connection);
    const release = session.controllerId === undefined ? undefined : legacySessions.use(token);
    metrics.connected();
    this.#components.onConnections(session.identityId, detailOf(connection));
    log.info({ channel: channel.name, identityId: session.identityId }, 'SDK client connected');
    void channel.closed.then(() => {
      this.#connections.delete(connection);
      connection.onClosed();
      release?.(); // the session of a client that is gone may time out: it bounds the time of its circuits
      this.#finishing.add(connection, () => {
        leaveSession();
        releasePosture();
        void checks.close();
        work.cancel(connection);
        releaseWork();
      });
      metrics.disconnected();
      this.#components.onConnections(session.identityId);
      log.info({ channel: channel.name, identityId: session.identityId }, 'SDK client disconnected');
    });
    channel.setReading(true);
  }

  // Messages ----------------------------------------------------------------------------------------------------------

  #handle(connection: SdkConnection, work: IdentityWork): void {
    const { channel } = connection;
    const { hosting, log } = this.#components;
    const circuits = limited(log, (request) => rejectAsTooMany(connection, request));
    const dial = circuits((request) => serveDial(this.#components, connection, request));
    channel.on(SdkType.Connect, dial);
    channel.on(SdkType.ConnectV2, dial);
    channel.on(
      SdkType.Bind,
      circuits((request) => hosting.bind(connection, request)),
    );
    // Separate from dials, which may wait for a slow controller: no client has many of these in progress.
    const reports = limited(log, () =>
      channel.close(new ProjectError('TOO_MANY_REQUESTS', `${channel.name} has ${TOO_MANY}`)),
    );
    channel.on(SdkType.Unbind, (request) => hosting.unbind(connection, request));
    channel.on(SdkType.UpdateBind, (request) => hosting.update(connection, request));
    channel.on(SdkType.HealthEvent, (request) => hosting.healthEvent(connection, request));
    channel.on(SdkType.DialSuccess, (answer) => onLateAnswer(connection, answer));
    channel.on(
      SdkType.UpdateToken,
      reports((request) => this.#updateToken(connection, request)),
    );
    channel.on(
      SdkType.PostureResponses,
      reports((request) => this.#onPosture(connection, request.decode(PostureResponsesSchema).responses)),
    );
    const subscription = new ServiceSubscription(this.#components, connection, work);
    connection.subscription = subscription;
    channel.on(SdkType.Subscribe, () => {
      subscription.start();
      connection.requestCheck();
    });
    channel.on(SdkType.Unsubscribe, () => subscription.stop());
    channel.on(SdkType.ResyncPosture, () => {
      subscription.resync();
      connection.requestCheck();
    });
    serveTraffic(connection, () => this.#components.metrics.foreign());
  }

  /** Replaces the token on all connections of the session that have no newer one. */
  async #updateToken(connection: SdkConnection, request: Message): Promise<void> {
    const { clock, sessions, log } = this.#components;
    const token = request.body.toString();
    try {
      if (!connection.session.claims || !isSignedToken(token))
        throw new SdkRejection('only token sessions can be updated', {
          code: EdgeErrorCode.InvalidApiSessionType,
        });
      const session = await sessions.verify(token);
      const isSame = session.id === connection.session.id && session.identityId === connection.session.identityId;
      if (!isSame) throw new SessionRejectedError('the token belongs to another API session');
      for (const each of this.#bySession.of(session.id))
        if (!each.isClosed && isUpdate(each.session, session)) each.session = session;
      seedMfa(connection, clock.now());
      this.#recheckSession(connection);
      connection.reply(request, new Message(SdkType.UpdateTokenSuccess));
    } catch (error) {
      const detail =
        error instanceof SdkRejection
          ? error.rejection
          : { code: EdgeErrorCode.InvalidApiSession, hint: RetryHint.NotRetriable };
      const text = describeError(error);
      log.info({ channel: connection.channel.name, error: text }, 'new token rejected');
      const answer = new Message(SdkType.UpdateTokenFailure, errorHeaders(text, detail), text);
      connection.channel.reply(request, answer, CONTROL_LANE);
      connection.channel.close();
    }
  }

  /** Stores the reports at once, in the order of their messages: verifying a token takes time. */
  async #onPosture(connection: SdkConnection, responses: readonly PostureResponse[]): Promise<void> {
    const { clock, tokens, log } = this.#components;
    const totpTokens: string[] = [];
    for (const response of responses) {
      if (response.type.case === 'totpToken') totpTokens.push(response.type.value.token);
      else connection.posture.report(response, clock.now());
    }
    for (const token of totpTokens) {
      try {
        connection.posture.passedMfa(await tokens.totp(token, connection.session.id));
      } catch (error) {
        log.info({ channel: connection.channel.name, error: describeError(error) }, 'TOTP token rejected');
      }
    }
    this.#recheckSession(connection);
  }

  /** Posture belongs to the API session, which may have several connections here. */
  #recheckSession({ session }: SdkConnection): void {
    for (const each of this.#bySession.of(session.id)) each.requestCheck();
  }

  // Rights ------------------------------------------------------------------------------------------------------------

  #recheckAll(): void {
    this.#recheckSoon(this.withFinishing());
  }

  /** Checks clients again, from the next turn on. */
  #recheckSoon(connections: Iterable<SdkConnection>): void {
    for (const connection of connections) this.#unchecked.add(connection);
    if (this.#unchecked.size > 0) this.#rechecks.request();
  }

  *#recheckUnchecked(): Generator<void> {
    for (const connection of this.#unchecked) {
      this.#unchecked.delete(connection);
      yield* this.#recheck(connection);
      yield;
    }
  }

  #closeEnded(): void {
    for (const connection of [...this.withFinishing()]) this.#closeIfEnded(connection);
  }

  /** Returns true if the session of the client has ended. */
  #closeIfEnded(connection: SdkConnection): boolean {
    const { session, channel } = connection;
    const ended = this.#components.sessions.endOf(session);
    if (ended === undefined) return false;
    if (channel.isClosed) {
      connection.cutRemaining();
      return true;
    }
    this.#components.log.info({ channel: channel.name, reason: ended }, 'SDK client disconnected: its session ended');
    channel.close();
    return true;
  }

  /** One client may have thousands of circuits. */
  *#recheck(connection: SdkConnection): Generator<void> {
    if (this.#closeIfEnded(connection)) return;
    for (const { end, right } of connection.rights()) {
      // Without the hint, a host binds again with the same session, in vain.
      const hint = right.permission === 'bind' ? RetryHint.StartOver : RetryHint.Default;
      try {
        requireAccess(this.#components, connection, right);
      } catch (error) {
        const code = error instanceof SdkRejection ? error.rejection.code : EdgeErrorCode.AccessDenied;
        end.cut(describeError(error), { ...(error instanceof SdkRejection && error.rejection), code, hint });
      }
      yield;
    }
    if (connection.isClosed) return;
    try {
      yield* connection.subscription?.refresh() ?? [];
    } catch (error) {
      const { log } = this.#components;
      log.error({ channel: connection.channel.name, error: describeError(error) }, 'services could not be sent');
    }
  }
}

/** The work of checking a client: its rights, and the services that it waits for. */
function costOf({ count, subscription }: SdkConnection): number {
  return 1 + count + (subscription?.cost ?? 0);
}

/** Limits the requests of one kind that a client has in progress. */
function limited(log: Log, onTooMany: (request: Message) => void) {
  let running = 0;
  let bytes = 0;
  return (serve: (request: Message) => Promise<void>) => (request: Message) => {
    if (running >= MAX_REQUESTS || bytes >= MAX_REQUEST_BYTES) {
      onTooMany(request);
      return;
    }
    const { length } = request.body;
    const served = serve(request);
    running++;
    bytes += length;
    const done = () => {
      running--;
      bytes -= length;
    };
    background(log, 'SDK request', served.finally(done));
  };
}

function detailOf({ session, connectedAt, channel }: SdkConnection): ConnectDetail {
  const [underlay] = channel.underlays;
  const { localAddress = '', remoteAddress = '' } = underlay ?? {};
  return { identityId: session.identityId, id: channel.connectionId, connectedAt, localAddress, remoteAddress };
}

/** Tokens are verified at the same time, so an older one may follow a newer one. */
function isUpdate(known: ApiSession, { id, identityId, claims }: ApiSession): boolean {
  if (!known.claims || known.id !== id || known.identityId !== identityId) return false;
  return (known.claims.iat ?? 0) <= (claims?.iat ?? 0);
}

/** A login with a one-time password is valid from the time of the login; a controller's clock may be ahead. */
function seedMfa({ posture, session: { claims } }: SdkConnection, now: number): void {
  const methods = Array.isArray(claims?.amr) ? claims.amr : [];
  if (methods.includes('totp') && typeof claims?.auth_time === 'number')
    posture.seedMfa(Math.min(claims.auth_time * 1000, now));
}

/** A slow controller must not cost a client its other circuits. */
function rejectAsTooMany(connection: SdkConnection, request: Message): void {
  const detail = { code: EdgeErrorCode.Internal, hint: RetryHint.TooBusy };
  connection.reply(request, stateClosed(request.uint32(SdkHeader.ConnectionId) ?? 0, TOO_MANY, detail));
}
