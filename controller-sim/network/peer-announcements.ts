// Tells routers of each other: a new one of all others, the others of each that comes, changes or leaves. In a large
// network, changes wait a moment and each router is told of several at once, as in the reference: n routers that
// connect one after the other would otherwise cause n² messages.
//
//   change ─┬─ few routers ──► a message to each other router
//           └─ many ──► pending (the latest of each router) ── timer ──► a message with all of them to each router

import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import type { Clock, Timer } from '#lib/time/clock.ts';
import { PeerState, PeerStateChangeSchema, PeerStateChangesSchema } from '#wire/gen/control_pb.js';
import { ControlType } from '#wire/gen/numbers.ts';
import { Message } from '#wire/message.ts';
import type { ConnectedRouter } from './connected-router.ts';
import { ADVERTISED, type RouterAddresses } from './router-addresses.ts';

/** Routers from which on changes wait for each other. */
const BATCHED_ROUTERS = 50;
/** Milliseconds that a change waits, for each router: they connect as slowly as they are many. */
const WAIT_OF_ROUTER = 0.1;
const MAX_WAIT_MS = 500;

export interface PeerAnnouncementsInit {
  readonly clock: Clock;
  /** All connected routers. */
  readonly routers: ReadonlyMap<string, ConnectedRouter>;
  /** A version that routers receive for each other instead of the true one. */
  readonly linkVersion: string | undefined;
}

export class PeerAnnouncements {
  readonly #init: PeerAnnouncementsInit;
  /** The latest state of each router that others are not told yet. */
  readonly #pending = new Map<string, PeerState>();
  /** Encoded changes of connected routers with the addresses that they advertise: the same for all others. */
  readonly #encoded = new WeakMap<ConnectedRouter, { readonly listeners: unknown; readonly body: Uint8Array }>();
  #addresses = ADVERTISED;
  #timer: Timer | undefined;

  constructor(init: PeerAnnouncementsInit) {
    this.#init = init;
  }

  /** Tells other addresses of routers from now on. */
  use(addresses: RouterAddresses): void {
    this.#addresses = addresses;
  }

  close(): void {
    this.#timer?.cancel();
    this.#pending.clear();
  }

  /** A router connected: it learns of all others at once. */
  connected(router: ConnectedRouter): void {
    const others = [...this.#init.routers.values()].filter((other) => other !== router);
    send(
      router,
      others.map((other) => this.#healthy(other, router)),
    );
    this.changed(router.id, PeerState.HEALTHY);
  }

  /** A router connected, changed its listeners, left or was deleted. */
  changed(id: string, state: PeerState): void {
    this.#pending.delete(id); // the changes of a message are in the order of their time
    this.#pending.set(id, state);
    const { clock, routers } = this.#init;
    if (routers.size < BATCHED_ROUTERS && !this.#timer) this.#flush();
    else
      this.#timer ??= clock.after('changes of peers', Math.min(routers.size * WAIT_OF_ROUTER, MAX_WAIT_MS), () =>
        this.#flush(),
      );
  }

  #flush(): void {
    this.#timer = undefined;
    const changes = [...this.#pending];
    this.#pending.clear();
    const changed = new Set(changes.map(([id]) => id));
    const isCommon = this.#addresses === ADVERTISED;
    let common: Uint8Array[] | undefined; // the same for all routers that have not changed
    for (const router of this.#init.routers.values()) {
      const isOther = isCommon && !changed.has(router.id);
      const bodies = (isOther ? common : undefined) ?? this.#bodies(changes, router);
      if (isOther) common = bodies;
      if (bodies.length > 0) send(router, bodies);
    }
  }

  #bodies(changes: readonly (readonly [id: string, state: PeerState])[], to: ConnectedRouter): Uint8Array[] {
    const bodies = changes.flatMap(([id, state]) => (id === to.id ? [] : this.#change(id, state, to)));
    return bodies.length > 1 ? [Buffer.concat(bodies)] : bodies;
  }

  /** Empty if a router that connected has left meanwhile: that is a change of its own. */
  #change(id: string, state: PeerState, to: ConnectedRouter): Uint8Array | [] {
    if (state !== PeerState.HEALTHY) return encoded({ id, state });
    const router = this.#init.routers.get(id);
    return router ? this.#healthy(router, to) : [];
  }

  #healthy(router: ConnectedRouter, to: ConnectedRouter): Uint8Array {
    if (this.#addresses !== ADVERTISED) return this.#encode(router, to);
    const known = this.#encoded.get(router);
    if (known?.listeners === router.linkListeners) return known.body;
    const body = this.#encode(router, to);
    this.#encoded.set(router, { listeners: router.linkListeners, body });
    return body;
  }

  #encode(router: ConnectedRouter, to: ConnectedRouter): Uint8Array {
    const { id, version } = router;
    return encoded({
      id,
      version: this.#init.linkVersion ?? version.version,
      state: PeerState.HEALTHY,
      listeners: this.#addresses.links(router, to.id),
    });
  }
}

/** A message with one change. Several of them, one after the other, are a message with all changes. */
function encoded(change: MessageInitShape<typeof PeerStateChangeSchema>): Uint8Array {
  const changes = [create(PeerStateChangeSchema, change)];
  return toBinary(PeerStateChangesSchema, create(PeerStateChangesSchema, { changes }));
}

function send(router: ConnectedRouter, bodies: readonly Uint8Array[]): void {
  const [first = new Uint8Array(), ...others] = bodies;
  const body = others.length === 0 ? first : Buffer.concat(bodies);
  router.channel.trySend(new Message(ControlType.PeerStateChanges, [], body));
}
