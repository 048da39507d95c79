// The attacks of an SDK client with a session: what it may ask for, and what it sends to its circuits.

import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { SystemClock } from '#lib/time/clock.ts';
import { dialTls } from '#wire/connection/dial.ts';
import { PayloadFlag, SdkHeader, SdkType } from '#wire/gen/numbers.ts';
import { encodeUint32, TRUE } from '#wire/header-values.ts';
import { Message } from '#wire/message.ts';
import { Payload } from '#wire/xgress-frames.ts';
import { SdkClient } from '../../test/support/clients/sdk-client.ts';
import type { ClientKind } from './attacks.ts';

/** A client certificate with its key as PEM, and the token of a session. */
export interface Credentials {
  readonly cert: string;
  readonly key: string;
  readonly token: string;
  /** The service to dial. */
  readonly service: string;
}

interface ClientJob {
  readonly kind: ClientKind;
  /** The port of the router for SDK clients, on this machine. */
  readonly port: number;
  readonly credentials: Credentials;
  readonly connections: number;
}

/** Circuits of a connection that ignores windows, and of one that does not. */
const CIRCUITS = 10;
const BULK_CIRCUITS = 60;
/** Milliseconds between two requests for a list. */
const PAUSE = 2;
/** Payloads to each circuit in one turn, unless the buffer of the connection is full. */
const PAYLOADS = 64;
/** Milliseconds to connect, and to wait for space in its buffer. */
const PATIENCE = 10_000;
const LARGE = Buffer.alloc(32 * 1024, 'x');

/** Returns an attempt of a connection, by its index. A connection that the router has closed is opened again. */
export function clientAttack(job: ClientJob): (index: number) => Promise<void> {
  const attackers: (Attacker | undefined)[] = [];
  return async (index) => {
    let attacker = attackers[index];
    if (!attacker?.isOpen) {
      attacker = await Attacker.open(job);
      attackers[index] = attacker;
    }
    await attacker.attempt();
  };
}

class Attacker {
  isOpen = true;
  readonly #kind: ClientKind;
  readonly #socket: Duplex;
  readonly #client: SdkClient;
  readonly #circuits: readonly string[];
  #sequence = 0;

  private constructor(kind: ClientKind, socket: Duplex, client: SdkClient, circuits: readonly string[]) {
    this.#kind = kind;
    this.#socket = socket;
    this.#client = client;
    this.#circuits = circuits;
    void client.channel.closed.then(() => {
      this.isOpen = false;
    });
  }

  static async open({ kind, port, credentials }: ClientJob): Promise<Attacker> {
    const { cert, key, token, service } = credentials;
    const socket = await dialTls({
      address: { type: 'tls', host: '127.0.0.1', port },
      context: { cert, key, rejectUnauthorized: false } as object,
      timeout: PATIENCE,
      clock: new SystemClock(),
    });
    const client = await SdkClient.over(socket, token);
    const circuits: string[] = [];
    const count = kind === 'bulk circuits' ? BULK_CIRCUITS : CIRCUITS;
    while (kind !== 'lists of services' && circuits.length < count) {
      // Without this header, the router is responsible for the windows.
      const { answer } = await client.dialByName(
        service,
        kind === 'bulk circuits' ? [] : [[SdkHeader.UseXgressToSdk, TRUE]],
      );
      if (answer.contentType !== SdkType.StateConnected) throw new Error(answer.body.toString());
      circuits.push(answer.string(SdkHeader.CircuitId) ?? '');
    }
    return new Attacker(kind, socket, client, circuits);
  }

  /** Sends until the buffer of the connection is full, and waits for space. */
  async attempt(): Promise<void> {
    const { channel, frames, conns } = this.#client;
    frames.length = 0; // nobody reads the answers
    for (const { received } of conns.values()) received.length = 0;
    if (this.#kind === 'lists of services') channel.send(new Message(SdkType.Subscribe));
    else if (!(this.#kind === 'bulk circuits' ? this.#sendData() : this.#sendPayloads()))
      await Promise.race([once(this.#socket, 'drain'), channel.closed, sleep(PATIENCE, undefined, { ref: false })]);
    await sleep(PAUSE);
  }

  /** Returns false if the buffer of the connection is full. */
  #sendData(): boolean {
    let isFree = true;
    for (const id of this.#client.conns.keys()) {
      const message = new Message(SdkType.Data, [[SdkHeader.ConnectionId, encodeUint32(id)]], LARGE);
      isFree = this.#socket.write(message.encode()) && isFree;
    }
    return isFree;
  }

  /** Returns false if the buffer of the connection is full. */
  #sendPayloads(): boolean {
    const data = this.#kind === 'ignored windows' ? LARGE : LARGE.subarray(0, 1);
    let isFree = true;
    for (let index = 0; index < PAYLOADS && isFree; index++) {
      const flags = this.#sequence === 0 ? PayloadFlag.CircuitStart : 0;
      // Directly: the queue of the channel would keep what the socket does not take.
      for (const circuit of this.#circuits)
        isFree = this.#socket.write(Payload.create(circuit, this.#sequence, flags, data).bytes) && isFree;
      this.#sequence++;
    }
    return isFree;
  }
}
