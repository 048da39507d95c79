// A connection through a proxy of the lab: two sockets, one pump for each direction, and the effects on the whole.
//
//   dialer ═══ near ─► up ─► far ═══ target
//                   ◄─ down ◄─

import { Socket } from 'node:net';
import type { ClientSockets } from '#lib/net/client-sockets.ts';
import { resetSocket } from '#lib/net/reset-socket.ts';
import type { EndBudget } from '#lib/queue/holder-budgets.ts';
import type { Random } from '#lib/random.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { ConnectionRule } from '../faults/fault.ts';
import type { Faults, FaultyConnection } from '../faults/faults.ts';
import { Pump } from './pump.ts';

export interface ConnectionComponents {
  readonly clock: Clock;
  readonly random: Random;
  readonly faults: Pick<Faults, 'forConnection'>;
  readonly clientSockets: ClientSockets;
  /** The share of this connection in the bytes that proxies hold. */
  readonly budget: Pick<EndBudget, 'share' | 'fits' | 'add'>;
}

export interface Target {
  readonly host: string;
  readonly port: number;
}

export class ProxiedConnection {
  readonly closed: Promise<void>;
  /** Port of the side that dialed. */
  readonly dialerPort: number | undefined;
  readonly #components: ConnectionComponents;
  readonly #facts: FaultyConnection;
  readonly #near: Socket;
  readonly #far: Socket;
  readonly #pumps: readonly Pump[];
  #isHalfOpen = false;

  /** `near` is the accepted socket. */
  constructor(components: ConnectionComponents, facts: FaultyConnection, near: Socket, target: Target) {
    this.#components = components;
    this.#facts = facts;
    this.#near = near;
    this.dialerPort = near.remotePort;
    this.#far = new Socket({ allowHalfOpen: true });
    // Descriptors belong to the whole process, which serves its own clients too.
    const isAdmitted = [near, this.#far].every((socket) => components.clientSockets.admit(socket));
    if (isAdmitted) this.#far.connect(target);
    near.setNoDelay(true);
    this.#far.setNoDelay(true);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.closed = promise;
    let open = 2;
    for (const [socket, other] of [
      [this.#near, this.#far],
      [this.#far, this.#near],
    ] as const) {
      // A reset of one side is passed on to the other one.
      socket.on('error', () => void (this.#isHalfOpen || resetSocket(other)));
      socket.once('close', () => {
        // After an orderly end, what still waits for the other side goes there first.
        if (!this.#isHalfOpen && !socket.readableEnded) other.destroySoon();
        open -= 1;
        if (open > 0) return;
        for (const pump of this.#pumps) pump.close();
        resolve();
      });
    }
    const { clock, random, budget } = components;
    const common = { clock, random, budget, onExcess: () => this.reset() };
    const pump = (source: Socket, to: Socket, direction: 'up' | 'down') =>
      new Pump({ ...common, source, target: to, rule: () => this.#ruleOf(direction) });
    this.#pumps = [pump(near, this.#far, 'up'), pump(this.#far, near, 'down')];
    if (isAdmitted) this.update();
    else this.reset();
  }

  /** Whether both sides are open: a side that was reset is not, before its peer learns of it. */
  get isOpen(): boolean {
    return !this.#near.destroyed && !this.#far.destroyed;
  }

  /** The rules have changed. */
  update(): void {
    const rules = [this.#ruleOf('up'), this.#ruleOf('down')];
    if (rules.some((rule) => rule?.cut)) return this.reset();
    const halfOpen = rules.find((rule) => rule?.halfOpen);
    if (halfOpen) return this.#halfOpen(halfOpen);
    for (const pump of this.#pumps) pump.update();
  }

  /** Both sides see a reset. */
  reset(): void {
    resetSocket(this.#near);
    resetSocket(this.#far);
  }

  #ruleOf(direction: 'up' | 'down'): ConnectionRule | undefined {
    return this.#components.faults.forConnection(this.#facts, direction)?.rule;
  }

  /** The side to which the bytes go is gone; the other one does not learn of it, and its bytes are lost. */
  #halfOpen({ direction = 'up' }: ConnectionRule): void {
    if (this.#isHalfOpen) return;
    this.#isHalfOpen = true;
    const [left, gone] = direction === 'up' ? [this.#near, this.#far] : [this.#far, this.#near];
    for (const pump of this.#pumps) pump.close();
    resetSocket(gone);
    left.on('data', () => undefined);
    left.on('end', () => left.destroy());
    left.resume();
  }
}
