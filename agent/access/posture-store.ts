// Posture data that SDK clients reported, by API session, in the form that the evaluation uses (reference fact: edge,
// section 9). All connections of a session share its data.

import { BoundedMap } from '#lib/queue/bounded-map.ts';
import type { PostureState, ProcessState } from '#model/posture.ts';
import type { PostureResponse } from '#wire/gen/edge_client_pb.js';

/** Limit on stored processes of one endpoint; no network queries more. */
const MAX_PROCESSES = 500;
/** Limit on stored MAC addresses of one endpoint. */
const MAX_ADDRESSES = 100;
/** Characters of one reported string. */
const MAX_TEXT_LENGTH = 4_096;

/** Limit on sessions without a connection whose events are remembered; nothing reports the end of a token session. */
const MAX_UNUSED = 10_000;

const NO_POSTURE: PostureState = { processes: [], comparesProcessOs: true };

type Mutable<T> = { -readonly [key in keyof T]: T[key] };
type Timestamp = { readonly seconds: bigint; readonly nanos: number };

export class PostureStore {
  readonly #used = new Map<string, { readonly posture: SessionPosture; connections: number }>();
  /** Sessions without a connection, in the order of their last one. */
  readonly #unused = new BoundedMap<string, SessionPosture>(MAX_UNUSED);

  /** Number of sessions with data. */
  get size(): number {
    return this.#used.size + this.#unused.size;
  }

  /**
   * The data of a session, for one of its connections. `release` ends the use; after the last one, only the times of
   * events remain: clients repeat all other reports on a new connection, but must not evade a prompt by reconnecting.
   */
  use(sessionId: string): { readonly posture: SessionPosture; release(): void } {
    const known = this.#used.get(sessionId);
    const use = known ?? { posture: this.#unused.get(sessionId) ?? new SessionPosture(), connections: 0 };
    this.#unused.delete(sessionId);
    this.#used.set(sessionId, use);
    use.connections++;
    return { posture: use.posture, release: () => this.#release(sessionId, use) };
  }

  #release(sessionId: string, use: { readonly posture: SessionPosture; connections: number }): void {
    if (--use.connections > 0) return;
    this.#used.delete(sessionId);
    use.posture.keepEvents();
    if (!use.posture.hasEvents) return;
    this.#unused.set(sessionId, use.posture);
  }
}

/** All reports of one API session. */
export class SessionPosture {
  #state: Mutable<PostureState> = { ...NO_POSTURE };

  get state(): PostureState {
    return this.#state;
  }

  /** Records a one-time password entered at `time` (milliseconds); a time before the known one is ignored. */
  passedMfa(time: number): void {
    this.#state = { ...this.#state, passedMfaAt: Math.max(time, this.#state.passedMfaAt ?? 0) };
  }

  /** As `passedMfa`, for a time that counts only while no other one is known: a new token must not extend it. */
  seedMfa(time: number): void {
    if (this.#state.passedMfaAt === undefined) this.passedMfa(time);
  }

  get hasEvents(): boolean {
    const { passedMfaAt, wokenAt, unlockedAt } = this.#state;
    return passedMfaAt !== undefined || wokenAt !== undefined || unlockedAt !== undefined;
  }

  /** Forgets everything but the times of events. */
  keepEvents(): void {
    const { passedMfaAt, wokenAt, unlockedAt } = this.#state;
    this.#state = {
      ...NO_POSTURE,
      ...(passedMfaAt !== undefined && { passedMfaAt }),
      ...(wokenAt !== undefined && { wokenAt }),
      ...(unlockedAt !== undefined && { unlockedAt }),
    };
  }

  /** Stores a report. The caller must verify TOTP tokens first: see `passedMfa`. */
  report({ type }: PostureResponse, now: number): void {
    const state = { ...this.#state };
    switch (type.case) {
      case 'macs':
        state.macAddresses = type.value.addresses.slice(0, MAX_ADDRESSES).map(text);
        break;
      case 'os': {
        const { type: name, version, build } = type.value;
        state.os = { type: text(name), version: text(version), build: text(build) };
        break;
      }
      case 'domain':
        state.domain = text(type.value.name);
        break;
      case 'processList':
        state.processes = merged(state.processes, type.value.processes.slice(0, MAX_PROCESSES).map(processOf));
        break;
      case 'woken':
        state.wokenAt = Math.max(milliseconds(type.value.time, now), state.wokenAt ?? 0);
        break;
      case 'unlocked':
        state.unlockedAt = Math.max(milliseconds(type.value.time, now), state.unlockedAt ?? 0);
        break;
      default:
    }
    this.#state = state;
  }
}

/**
 * The known processes and those of a report, which replace the earlier ones with their paths: the C SDK reports only
 * the processes that have changed. Those without a report for longest are the first to go.
 */
function merged(known: readonly ProcessState[], reported: readonly ProcessState[]): readonly ProcessState[] {
  const byPath = new Map(known.map((process) => [process.path, process]));
  for (const process of reported) {
    byPath.delete(process.path); // the newest is the last
    byPath.set(process.path, process);
  }
  return [...byPath.values()].slice(-MAX_PROCESSES);
}

function processOf(process: {
  path: string;
  isRunning: boolean;
  hash: string;
  signerFingerprints: readonly string[];
}): ProcessState {
  const { path, isRunning, hash, signerFingerprints } = process;
  const signers = signerFingerprints.slice(0, MAX_ADDRESSES).map(text);
  return { postureCheckId: '', path: text(path), isRunning, hash: text(hash), signerFingerprints: signers };
}

/** An event in the future would outlive every one-time password, so it counts as now. */
function milliseconds(time: Timestamp | undefined, now: number): number {
  return time ? Math.min(now, Number(time.seconds) * 1000 + Math.floor(time.nanos / 1e6)) : now;
}

function text(value: string): string {
  return value.slice(0, MAX_TEXT_LENGTH);
}
