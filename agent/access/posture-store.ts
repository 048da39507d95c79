// Posture data that SDK clients reported, by API session, in the form that the evaluation uses (reference fact: edge,
// section 9).

import type { PostureState, ProcessState } from '#model/posture.ts';
import type { PostureResponse } from '#wire/gen/edge_client_pb.js';

/** Limit on stored processes of one endpoint; no network queries more. */
const MOST_PROCESSES = 500;
/** Limit on stored MAC addresses of one endpoint. */
const MOST_ADDRESSES = 100;
/** Characters of one reported string. */
const LONGEST_TEXT = 4_096;

type Mutable<T> = { -readonly [key in keyof T]: T[key] };
type Timestamp = { readonly seconds: bigint; readonly nanos: number };

/** All reports of one API session. */
export class SessionPosture {
  #state: Mutable<PostureState> = { processes: [] };

  get state(): PostureState {
    return this.#state;
  }

  /** Records a one-time password entered at `time` (milliseconds); a time before the known one is ignored. */
  passedMfa(time: number): void {
    this.#state = { ...this.#state, passedMfaAt: Math.max(time, this.#state.passedMfaAt ?? 0) };
  }

  /** Stores a report. The caller must verify TOTP tokens first: see `passedMfa`. */
  report({ type }: PostureResponse, now: number): void {
    const state = { ...this.#state };
    switch (type.case) {
      case 'macs':
        state.macAddresses = type.value.addresses.slice(0, MOST_ADDRESSES).map(text);
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
        state.processes = type.value.processes.slice(0, MOST_PROCESSES).map(processOf);
        break;
      case 'woken':
        state.wokenAt = milliseconds(type.value.time, now);
        break;
      case 'unlocked':
        state.unlockedAt = milliseconds(type.value.time, now);
        break;
      default:
    }
    this.#state = state;
  }
}

function processOf(process: {
  path: string;
  isRunning: boolean;
  hash: string;
  signerFingerprints: readonly string[];
}): ProcessState {
  const { path, isRunning, hash, signerFingerprints } = process;
  const signers = signerFingerprints.slice(0, MOST_ADDRESSES).map(text);
  return { postureCheckId: '', path: text(path), isRunning, hash: text(hash), signerFingerprints: signers };
}

/** An event in the future would outlive every one-time password, so it counts as now. */
function milliseconds(time: Timestamp | undefined, now: number): number {
  return time ? Math.min(now, Number(time.seconds) * 1000 + Math.floor(time.nanos / 1e6)) : now;
}

function text(value: string): string {
  return value.slice(0, LONGEST_TEXT);
}
