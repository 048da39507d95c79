// The posture of endpoints: what clients reported about their machines, when they gave one-time passwords, and when
// they must give one again. It is in memory only: after a restart, clients must send it again. Controllers of one
// network tell each other.

import { Listeners } from '#lib/listeners.ts';
import { BoundedMap } from '#lib/queue/bounded-map.ts';
import type { Clock, Timer } from '#lib/time/clock.ts';
import { decideAccess } from '#model/access.ts';
import { evaluatePosture, mfaDeadline, type PostureState, PROMPT_GRACE, type ProcessState } from '#model/posture.ts';
import { ApiError } from '../errors/errors.ts';
import type { PermissionType } from '../state/entity.ts';
import type { ApiSession } from '../state/kinds/api-session.ts';
import type { PostureCheck } from '../state/kinds/posture-check.ts';
import type { Service } from '../state/kinds/service.ts';
import type { ServicePolicy } from '../state/kinds/service-policy.ts';
import type { State } from '../state/state.ts';
import { FailedRequests } from './failed-requests.ts';

/** A validated body. */
export interface PostureResponse {
  readonly id: string;
  readonly typeId: string;
  readonly [field: string]: unknown;
}

/**
 * Sent to a client whose machine woke up or was unlocked: when the service will require a one-time password. Seconds.
 */
export interface AffectedService {
  readonly id: string;
  readonly name: string;
  readonly postureQueryType: 'MFA';
  readonly timeout: number;
  readonly timeoutRemaining: number;
}

/** The posture data of an identity's machines, with times. */
interface IdentityPosture {
  os?: { type: string; version: string; build: string; checkId: string; at: number };
  mac?: { addresses: readonly string[]; checkId: string; at: number };
  domain?: { name: string; checkId: string; at: number };
  processes: Map<string, ProcessState & { readonly at: number }>;
  /** The oldest ones are evicted: nothing reports the end of a token session. */
  readonly sessions: Map<string, SessionPosture>;
}

interface SessionPosture {
  passedMfaAt?: number;
  wokenAt?: number;
  unlockedAt?: number;
}

/** A client's report to one controller, for the others. */
export interface PostureReport {
  readonly identityId: string;
  /** Id of the API session. */
  readonly sessionId: string;
  readonly responses: readonly PostureResponse[];
  /** When a one-time password was given, in milliseconds. */
  readonly passedMfaAt?: number;
}

/** Other controllers. `tell` resolves when they have a report, or are no longer waited for. */
export interface PostureReceiver {
  tell(report: PostureReport): Promise<void>;
}

/** The service policies of an identity and their checks: the room access tracks them. */
export interface ServicePolicies {
  granting(identityId: string, serviceId: string): readonly ServicePolicy[];
  checksOf(policy: ServicePolicy): readonly PostureCheck[];
  servicesOf(identityId: string): readonly Service[];
  policiesWith(kind: 'servicePolicy', side: 'left', identityId: string): readonly string[];
}

export interface PostureComponents {
  readonly state: State;
  readonly access: ServicePolicies;
  readonly clock: Clock;
}

/** Limit on reported processes, above the number that any checks ask for. Further ones are ignored. */
const MAX_PROCESSES = 500;
const MAX_SESSIONS = 100;

export class Posture {
  readonly failedRequests: FailedRequests;
  readonly #components: PostureComponents;
  readonly #identities = new Map<string, IdentityPosture>();
  readonly #listeners: Listeners<string>;
  readonly #deadlines = new Map<string, Timer>();
  readonly #unsubscribe: () => void;
  #others: PostureReceiver | undefined;

  constructor(components: PostureComponents) {
    this.#components = components;
    this.#listeners = new Listeners('changes of posture', components.state.log);
    this.failedRequests = new FailedRequests(components.clock);
    this.#unsubscribe = components.state.subscribe('access', ({ changes }) => {
      // The demands determine when a one-time password becomes too old.
      if (changes.some(({ kind }) => kind === 'postureCheck' || kind === 'servicePolicy'))
        for (const each of this.#identities.keys()) this.#watch(each);
      for (const { kind, id, before, after } of changes) {
        if (kind === 'identity' && !after) this.#forget(id);
        else if (kind === 'identity' && this.#identities.has(id)) this.#watch(id);
        if (kind === 'apiSession' && before && !after) this.#onSessionEnd(before);
        if (kind === 'mfa' && before && !after) this.#revokeMfa(before.identityId);
      }
    });
  }

  close(): void {
    this.#unsubscribe();
    this.#listeners.clear();
    for (const timer of this.#deadlines.values()) timer.cancel();
    this.#deadlines.clear();
  }

  /** Calls `listener` with each identity whose posture may have changed, until the returned function is called. */
  subscribe(listener: (identityId: string) => void): () => void {
    return this.#listeners.add(listener);
  }

  /** From now on other controllers receive the reports of clients, too. */
  shareWith(others: PostureReceiver): void {
    this.#others = others;
  }

  /** Stores a client's posture responses. Resolves with the services that will soon require a one-time password. */
  async accept({ id, identityId }: ApiSession, responses: readonly PostureResponse[]): Promise<AffectedService[]> {
    const report = { identityId, sessionId: id, responses };
    this.#take(report);
    const affected = this.#affected(report);
    await this.#others?.tell(report);
    return affected;
  }

  /** A client has told another controller. */
  acceptElsewhere(report: PostureReport): void {
    // Identities that end meanwhile leave no data.
    if (this.#components.state.tables.identity.has(report.identityId)) this.#take(report);
  }

  /** A one-time password was given in this session. */
  passedMfa({ id, identityId }: ApiSession): Promise<void> {
    return this.passedMfaAt(identityId, id, this.#components.clock.now());
  }

  /** As above, for a session in token form; `time` in milliseconds. */
  async passedMfaAt(identityId: string, sessionId: string, time: number): Promise<void> {
    const report = { identityId, sessionId, responses: [], passedMfaAt: time };
    this.#take(report);
    await this.#others?.tell(report);
  }

  #take({ identityId, sessionId, responses, passedMfaAt }: PostureReport): void {
    const known = this.#of(identityId);
    const session = this.#session(known, sessionId);
    if (passedMfaAt !== undefined) session.passedMfaAt = passedMfaAt;
    for (const response of responses) this.#note(known, session, response);
    this.#changed(identityId);
  }

  /** The posture data for the machine of an API session. */
  stateOf(identityId: string, sessionId: string): PostureState {
    const known = this.#identities.get(identityId);
    return {
      ...(known?.os && { os: known.os }),
      ...(known?.mac && { macAddresses: known.mac.addresses }),
      ...(known?.domain && { domain: known.domain.name }),
      processes: [...(known?.processes.values() ?? [])],
      ...known?.sessions.get(sessionId),
    };
  }

  /** The raw data of an identity, for administrators. */
  dataOf(identityId: string): IdentityPosture | undefined {
    return this.#identities.get(identityId);
  }

  isPassing(policy: ServicePolicy, identityId: string, sessionId: string): boolean {
    return this.#failing(policy, identityId, sessionId).length === 0;
  }

  /** Whether the posture passes one of the policies that grant the service. */
  mayUse({ id, identityId }: Pick<ApiSession, 'id' | 'identityId'>, serviceId: string, type: PermissionType): boolean {
    const { access, clock } = this.#components;
    const policies = access
      .granting(identityId, serviceId)
      .filter((policy) => policy.type === type)
      .map((policy) => ({ id: policy.id, checks: access.checksOf(policy) }));
    return decideAccess(policies, this.stateOf(identityId, id), clock.now()).granted;
  }

  /** Throws ApiError, and records the reasons, if the posture fails every policy that grants the service. */
  demand(session: ApiSession, service: Service, type: PermissionType): void {
    const { access } = this.#components;
    const policies = access.granting(session.identityId, service.id).filter((policy) => policy.type === type);
    const failures = policies.map((policy) => ({
      policy,
      checks: this.#failing(policy, session.identityId, session.id),
    }));
    if (failures.some(({ checks }) => checks.length === 0)) return;
    const state = this.stateOf(session.identityId, session.id);
    this.failedRequests.add(session, service, type, failures, state);
    throw new ApiError('INVALID_POSTURE', {
      message: `Failed to pass posture checks for service policies: [${policies.map(({ id }) => id).join(' ')}]`,
      data: Object.fromEntries(
        failures.map(({ policy, checks }) => [
          policy.id,
          checks.map(({ id, typeId }) => ({ id, typeId, isPassing: false })),
        ]),
      ),
    });
  }

  #failing(policy: ServicePolicy, identityId: string, sessionId: string): PostureCheck[] {
    const checks = this.#components.access.checksOf(policy);
    if (checks.length === 0) return [];
    const state = this.stateOf(identityId, sessionId);
    const now = this.#components.clock.now();
    return checks.filter((check) => !evaluatePosture(check, state, now).isPassing);
  }

  #note(known: IdentityPosture, session: SessionPosture, response: PostureResponse): void {
    const at = this.#components.clock.now();
    const text = (name: string) => String(response[name] ?? '');
    const texts = (name: string) => ((response[name] ?? []) as unknown[]).map(String);
    switch (response.typeId) {
      case 'OS':
        known.os = { type: text('type'), version: text('version'), build: text('build'), checkId: response.id, at };
        break;
      case 'MAC':
        known.mac = { addresses: texts('macAddresses'), checkId: response.id, at };
        break;
      case 'DOMAIN':
        known.domain = { name: text('domain'), checkId: response.id, at };
        break;
      case 'PROCESS':
      case 'PROCESS_MULTI':
        if (known.processes.size < MAX_PROCESSES || known.processes.has(text('path')))
          known.processes.set(text('path'), {
            postureCheckId: response.id,
            path: text('path'),
            isRunning: response.isRunning === true,
            hash: text('hash'),
            signerFingerprints: texts('signerFingerprints'),
            at,
          });
        break;
      case 'ENDPOINT_STATE':
        if (response.woken === true) session.wokenAt = at;
        if (response.unlocked === true) session.unlockedAt = at;
        break;
    }
  }

  /**
   * Services whose one-time passwords remain valid only for the grace period from now on (reference fact: only those
   * with more time left are listed).
   */
  #affected({ identityId, sessionId, responses }: PostureReport): AffectedService[] {
    const { access, clock } = this.#components;
    const woken = responses.some(({ typeId, woken: flag }) => typeId === 'ENDPOINT_STATE' && flag === true);
    const unlocked = responses.some(({ typeId, unlocked: flag }) => typeId === 'ENDPOINT_STATE' && flag === true);
    const passedAt = this.#identities.get(identityId)?.sessions.get(sessionId)?.passedMfaAt;
    if ((!woken && !unlocked) || passedAt === undefined) return [];
    const affected = new Map<string, AffectedService>();
    for (const service of access.servicesOf(identityId)) {
      for (const policy of access.granting(identityId, service.id)) {
        for (const { typeId, demands } of access.checksOf(policy)) {
          if (typeId !== 'MFA') continue;
          const { promptOnWake, promptOnUnlock, timeoutSeconds } = demands;
          if (!((woken && promptOnWake) || (unlocked && promptOnUnlock))) continue;
          const remaining = timeoutSeconds * 1000 - (clock.now() - passedAt);
          if (timeoutSeconds > 0 && remaining <= PROMPT_GRACE) continue;
          const known = affected.get(service.id);
          if (known && known.timeout <= timeoutSeconds) continue;
          affected.set(service.id, {
            id: service.id,
            name: service.name,
            postureQueryType: 'MFA',
            timeout: timeoutSeconds,
            timeoutRemaining: PROMPT_GRACE / 1000,
          });
        }
      }
    }
    return [...affected.values()];
  }

  /** Notifies listeners now, and again when the next one-time password becomes too old. */
  #changed(identityId: string): void {
    this.#listeners.call(identityId);
    this.#watch(identityId);
  }

  #watch(identityId: string): void {
    const { clock } = this.#components;
    this.#deadlines.get(identityId)?.cancel();
    this.#deadlines.delete(identityId);
    const next = this.#nextDeadline(identityId);
    if (next === undefined) return;
    // One millisecond more: a one-time password is still valid at the end of its time.
    const timer = clock.after('posture deadline', next - clock.now() + 1, () => this.#changed(identityId));
    this.#deadlines.set(identityId, timer);
  }

  #nextDeadline(identityId: string): number | undefined {
    const { access, clock, state } = this.#components;
    const sessions = [...(this.#identities.get(identityId)?.sessions.values() ?? [])];
    const passed = sessions.filter(({ passedMfaAt }) => passedMfaAt !== undefined);
    // Each change of a policy asks for all identities, of which few use one-time passwords.
    if (passed.length === 0) return undefined;
    const demands = access
      .policiesWith('servicePolicy', 'left', identityId)
      .flatMap((id) => state.tables.servicePolicy.get(id) ?? [])
      .flatMap((policy) => access.checksOf(policy))
      .flatMap((check) => (check.typeId === 'MFA' ? check.demands : []));
    const deadlines = passed.flatMap((session) => demands.flatMap((demand) => mfaDeadline(demand, session) ?? []));
    const open = deadlines.filter((deadline) => deadline >= clock.now());
    return open.length === 0 ? undefined : Math.min(...open);
  }

  #of(identityId: string): IdentityPosture {
    const known = this.#identities.get(identityId) ?? { processes: new Map(), sessions: new BoundedMap(MAX_SESSIONS) };
    this.#identities.set(identityId, known);
    return known;
  }

  #session(known: IdentityPosture, id: string): SessionPosture {
    const session = known.sessions.get(id) ?? {};
    known.sessions.set(id, session);
    return session;
  }

  /** The second factor was removed: its one-time passwords no longer count. */
  #revokeMfa(identityId: string): void {
    const sessions = this.#identities.get(identityId)?.sessions;
    if (!sessions) return;
    for (const session of sessions.values()) delete session.passedMfaAt;
    this.#changed(identityId);
  }

  /**
   * A session's posture data is removed with it, and the machine's data with the last session: the next may be from
   * another machine.
   */
  #onSessionEnd({ id, identityId }: ApiSession): void {
    const known = this.#identities.get(identityId);
    known?.sessions.delete(id);
    if (known?.sessions.size !== 0 || this.#components.state.tables.apiSession.refersTo('identityId', identityId))
      return;
    this.#identities.delete(identityId);
    this.#watch(identityId);
  }

  #forget(identityId: string): void {
    this.#identities.delete(identityId);
    this.failedRequests.forget(identityId);
    this.#deadlines.get(identityId)?.cancel();
    this.#deadlines.delete(identityId);
  }
}
